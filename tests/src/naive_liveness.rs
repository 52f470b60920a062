//! A naive definition of a violated leads-to claim: it enumerates every set of edges that a run can take infinitely
//! often.
//!
//! A fair cycle need not be simple: it may combine several simple cycles. Only the set of edges taken infinitely often
//! matters. Such a set is not empty and strongly connected, and every such set belongs to some run. The enumeration is
//! feasible for graphs of a dozen edges. It shares no code with `liveness`.

use std::collections::{BTreeSet, VecDeque};

/// A small graph with one leads-to claim. Sets of states and of classes are bit sets.
#[derive(Clone, Debug)]
pub struct SmallGraph {
    /// The number of states; the first ones are initial.
    pub states: usize,
    /// The number of initial states.
    pub initial: usize,
    /// The edges: source, class, target.
    pub edges: Vec<(usize, u8, usize)>,
    /// The trigger states.
    pub triggers: u32,
    /// Whether a trigger counts only in an initial state.
    pub is_initial_only: bool,
    /// The response states.
    pub responses: u32,
    /// The unexpanded states, which may have further edges of any class to any state.
    pub unexpanded: u32,
}

/// The fairness assumptions: sets of classes.
#[derive(Clone, Copy, Debug)]
pub struct FairnessSets {
    /// Taken infinitely often, or disabled infinitely often.
    pub weak: u32,
    /// Taken infinitely often if enabled infinitely often.
    pub strong: u32,
    /// Taken finitely often.
    pub finitely: u32,
}

/// The states and classes that a run meets infinitely often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InfiniteBehavior {
    /// The states.
    pub states: u32,
    /// The classes of edges taken.
    pub taken: u32,
    /// The classes enabled in one of the states.
    pub enabled: u32,
    /// The classes enabled in all of the states.
    pub always: u32,
}

impl SmallGraph {
    /// Returns every repeatable set of edges of the graph.
    #[must_use]
    pub fn infinite_behaviors(&self) -> BTreeSet<InfiniteBehavior> {
        (1..1_u32 << self.edges.len()).filter_map(|set| self.repeated_part(set)).collect()
    }

    /// Returns the repeated part of a run with this set of edges; `None` if no run repeats it.
    #[must_use]
    pub fn repeated_part(&self, set: u32) -> Option<InfiniteBehavior> {
        let steps =
            || self.edges.iter().enumerate().filter(move |(i, _)| contains(set, *i)).map(|(_, step)| *step);
        let (from, to) = steps().fold((0, 0), |(from, to), step| (from | 1 << step.0, to | 1 << step.2));
        let reached = |start: usize| {
            let mut reached = 1_u32 << start;
            for _ in 0..self.states {
                reached = steps()
                    .fold(reached, |all, step| if contains(all, step.0) { all | 1 << step.2 } else { all });
            }
            reached
        };
        let states = from | to;
        let within = || (0..self.states).filter(move |&state| contains(states, state));
        within().all(|state| reached(state) == states).then(|| InfiniteBehavior {
            states,
            taken: steps().fold(0, |all, step| all | 1 << step.1),
            enabled: within().fold(0, |all, state| all | self.enabled(state)),
            always: within().fold(u32::MAX, |all, state| all & self.enabled(state)),
        })
    }

    /// Returns the classes enabled in a state. In an unexpanded state they are those that exclude a counterexample.
    fn enabled(&self, state: usize) -> u32 {
        if contains(self.unexpanded, state) {
            return u32::MAX;
        }
        self.edges.iter().filter(|step| step.0 == state).fold(0, |all, step| all | 1 << step.1)
    }

    /// Returns, for each state, the least number of edges to it with a pending obligation.
    #[must_use]
    pub fn pending_depths(&self) -> Vec<Option<usize>> {
        let mut after = vec![[None; 2]; self.states];
        let mut queue = VecDeque::new();
        let mut visit = |queue: &mut VecDeque<_>, state: usize, was_pending: bool, steps: usize| {
            let is_triggered = contains(self.triggers, state) && (steps == 0 || !self.is_initial_only);
            let pending = (was_pending || is_triggered) && !contains(self.responses, state);
            if after[state][usize::from(pending)].is_none() {
                after[state][usize::from(pending)] = Some(steps);
                queue.push_back((state, pending, steps));
            }
        };
        (0..self.initial).for_each(|state| visit(&mut queue, state, false, 0));
        while let Some((state, pending, steps)) = queue.pop_front() {
            for step in self.edges.iter().filter(|step| step.0 == state) {
                visit(&mut queue, step.2, pending, steps + 1);
            }
        }
        after.into_iter().map(|[_, pending]| pending).collect()
    }

    /// Returns the dead ends.
    #[must_use]
    pub fn dead_ends(&self) -> u32 {
        let is_dead_end = |state: &usize| {
            !contains(self.unexpanded, *state) && self.edges.iter().all(|step| step.0 != *state)
        };
        (0..self.states).filter(is_dead_end).fold(0, |all, state| all | 1 << state)
    }
}

impl FairnessSets {
    /// Returns whether a run that repeats this part is fair.
    #[must_use]
    pub fn is_fair(&self, repeated: &InfiniteBehavior) -> bool {
        let each = |set: u32, holds: &dyn Fn(usize) -> bool| (0..32).filter(|&i| contains(set, i)).all(holds);
        each(self.weak, &|class| contains(repeated.taken, class) || !contains(repeated.always, class))
            && each(self.strong, &|class| {
                contains(repeated.taken, class) || !contains(repeated.enabled, class)
            })
            && each(self.finitely, &|class| !contains(repeated.taken, class))
    }
}

/// Returns whether a set contains a member.
#[must_use]
pub fn contains(set: u32, member: usize) -> bool {
    set & 1 << member != 0
}
