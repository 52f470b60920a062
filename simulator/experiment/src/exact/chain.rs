//! Markov chains and Markov decision processes, with a reward for each choice.
//!
//! State 0 is the initial state. A state without choices is absorbing and has an ending. A state of a chain has one choice; more than one
//! are the choices of an adversary.

use super::number::{Fraction, to_float};
use num_traits::Zero;
use std::ops::Range;

/// How a run ends: the ending of its last request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// Every task succeeded.
    Completed,
    /// The plan did not run.
    Blocked,
    /// The effects were undone.
    RolledBack,
    /// The request was aborted.
    Aborted,
    /// The kernel refuses every next input.
    Halted,
    /// The request ended without a conclusion.
    Unconcluded,
}

impl Ending {
    /// Every ending.
    pub const ALL: [Self; 6] =
        [Self::Completed, Self::Blocked, Self::RolledBack, Self::Aborted, Self::Halted, Self::Unconcluded];

    /// Returns the name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::RolledBack => "rolled_back",
            Self::Aborted => "aborted",
            Self::Halted => "halted",
            Self::Unconcluded => "unconcluded",
        }
    }
}

/// A transition of a choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    /// The float that is nearest to the probability.
    pub(crate) probability: f64,
}

/// A finite Markov chain, or a decision process.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    /// The first choice of each state, and the end.
    choice_starts: Vec<u32>,
    /// The first edge and the first reward of each choice, and the end.
    choices: Vec<(u32, u32)>,
    edges: Vec<Edge>,
    /// The expected reward of a choice: the position of the reward, and the nearest float.
    rewards: Vec<(u8, f64)>,
    /// The exact probabilities of the edges and the exact rewards, unless the chain is too large.
    fractions: Option<(Vec<Fraction>, Vec<Fraction>)>,
    /// The absorbing states.
    endings: Vec<(u32, Ending)>,
}

/// A choice before it is part of a chain.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChoiceParts {
    pub(crate) edges: Vec<(u32, Fraction)>,
    pub(crate) rewards: Vec<(u8, Fraction)>,
}

impl Chain {
    /// Creates a chain without states. With `exact`, it keeps exact fractions.
    pub(crate) fn new(exact: bool) -> Self {
        let fractions = exact.then(|| (Vec::new(), Vec::new()));
        Self { choice_starts: vec![0], choices: vec![(0, 0)], fractions, ..Self::default() }
    }

    /// Appends the next state. One without choices has an ending.
    pub(crate) fn push_state(&mut self, choices: &[ChoiceParts], ending: Option<Ending>) {
        for choice in choices {
            for (to, probability) in &choice.edges {
                self.edges.push(Edge { to: *to, probability: to_float(probability) });
            }
            for (reward, value) in choice.rewards.iter().filter(|(_, value)| !value.is_zero()) {
                self.rewards.push((*reward, to_float(value)));
            }
            if let Some((probabilities, rewards)) = &mut self.fractions {
                probabilities.extend(choice.edges.iter().map(|(_, probability)| probability.clone()));
                let values = choice.rewards.iter().map(|(_, value)| value);
                rewards.extend(values.filter(|value| !value.is_zero()).cloned());
            }
            self.choices.push((self.edges.len() as u32, self.rewards.len() as u32));
        }
        if let Some(ending) = ending {
            self.endings.push((self.states() as u32, ending));
        }
        self.choice_starts.push(self.choices.len() as u32 - 1);
    }

    /// Appends the next state of a chain of floats, such as one of a benchmark.
    pub fn push_floats(&mut self, edges: &[(u32, f64)], rewards: &[(u8, f64)], ending: Option<Ending>) {
        self.fractions = None;
        if !edges.is_empty() {
            self.edges
                .extend(edges.iter().map(|(to, probability)| Edge { to: *to, probability: *probability }));
            self.rewards.extend_from_slice(rewards);
            self.choices.push((self.edges.len() as u32, self.rewards.len() as u32));
        }
        if let Some(ending) = ending {
            self.endings.push((self.states() as u32, ending));
        }
        self.choice_starts.push(self.choices.len() as u32 - 1);
    }

    /// Creates a chain of floats without states.
    #[must_use]
    pub fn of_floats() -> Self {
        Self::new(false)
    }

    /// Forgets the exact fractions.
    pub(crate) fn forget_fractions(&mut self) {
        self.fractions = None;
    }

    /// Returns the number of states.
    #[must_use]
    pub fn states(&self) -> usize {
        self.choice_starts.len() - 1
    }

    /// Returns the number of transitions of all choices.
    #[must_use]
    pub fn transitions(&self) -> usize {
        self.edges.len()
    }

    /// Returns the number of choices of all states.
    #[must_use]
    pub fn choice_count(&self) -> usize {
        self.choices.len() - 1
    }

    /// Returns whether no state has more than one choice.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.choice_starts.windows(2).all(|pair| matches!(pair, [start, end] if end - start <= 1))
    }

    /// Returns the absorbing states.
    #[must_use]
    pub fn endings(&self) -> &[(u32, Ending)] {
        &self.endings
    }

    /// Returns whether exact fractions are known.
    pub(crate) const fn is_exact(&self) -> bool {
        self.fractions.is_some()
    }

    /// Returns the choices of a state.
    pub(crate) fn choices(&self, state: u32) -> Range<u32> {
        let at = |index: usize| self.choice_starts.get(index).copied().unwrap_or(0);
        at(state as usize)..at(state as usize + 1)
    }

    fn edge_range(&self, choice: u32) -> Range<usize> {
        let at = |index: usize| self.choices.get(index).map_or(0, |(edge, _)| *edge as usize);
        at(choice as usize)..at(choice as usize + 1)
    }

    fn reward_range(&self, choice: u32) -> Range<usize> {
        let at = |index: usize| self.choices.get(index).map_or(0, |(_, reward)| *reward as usize);
        at(choice as usize)..at(choice as usize + 1)
    }

    /// Returns the transitions of a choice.
    pub(crate) fn edges(&self, choice: u32) -> &[Edge] {
        self.edges.get(self.edge_range(choice)).unwrap_or_default()
    }

    /// Returns the expected rewards of a choice, by position.
    pub(crate) fn rewards(&self, choice: u32) -> &[(u8, f64)] {
        self.rewards.get(self.reward_range(choice)).unwrap_or_default()
    }

    /// Returns one expected reward of a choice.
    pub(crate) fn reward(&self, choice: u32, position: u8) -> f64 {
        self.rewards(choice).iter().find(|(other, _)| *other == position).map_or(0.0, |(_, value)| *value)
    }

    /// Returns the exact probabilities of the transitions of a choice.
    pub(crate) fn exact_edges(&self, choice: u32) -> impl Iterator<Item = (u32, &Fraction)> {
        let range = self.edge_range(choice);
        let exact = self.fractions.as_ref().and_then(|(edges, _)| edges.get(range)).unwrap_or_default();
        self.edges(choice).iter().map(|edge| edge.to).zip(exact)
    }

    /// Returns the exact rewards of a choice.
    pub(crate) fn exact_rewards(&self, choice: u32) -> impl Iterator<Item = (u8, &Fraction)> {
        let range = self.reward_range(choice);
        let exact = self.fractions.as_ref().and_then(|(_, rewards)| rewards.get(range)).unwrap_or_default();
        self.rewards(choice).iter().map(|(position, _)| *position).zip(exact)
    }

    /// Returns the successors of a state under any choice, with repetitions. Only edges of positive probability exist.
    pub(crate) fn successors(&self, state: u32) -> &[Edge] {
        let Range { start, end } = self.choices(state);
        let first = self.edge_range(start).start;
        let last = if end > start { self.edge_range(end - 1).end } else { first };
        self.edges.get(first..last).unwrap_or_default()
    }
}
