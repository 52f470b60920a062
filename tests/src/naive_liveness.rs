//! What it means that a promise is broken, told naively: every set of steps that a run could take for ever is tried.
//!
//! A fair run need not go round one simple loop: it may have to take several, one after the other, again and again. What
//! matters is only which steps it takes infinitely often. Such a set is not empty and hangs together, each of its steps
//! leading to each; and each such set is taken infinitely often by some run. So all of them are tried, which is for graphs
//! of a dozen steps. Deliberately absent: anything clever, and anything that `liveness` has.

use std::collections::{BTreeSet, VecDeque};

/// A small graph and one promise on it. Sets of states and of classes are bits.
#[derive(Clone, Debug)]
pub struct SmallGraph {
    /// How many states there are; the first of them are initial.
    pub states: usize,
    /// How many are initial.
    pub initial: usize,
    /// Every step: from, class, to.
    pub steps: Vec<(usize, u8, usize)>,
    /// The states that open the promise.
    pub opens: u32,
    /// They do so only where a run begins.
    pub only_at_the_start: bool,
    /// The states that keep it.
    pub keeps: u32,
    /// The states that may have further steps, of any class and to anywhere.
    pub unknown: u32,
}

/// Which runs count: sets of classes.
#[derive(Clone, Copy, Debug)]
pub struct FairnessSets {
    /// From some point on infinitely often taken, or infinitely often disabled.
    pub weak: u32,
    /// Infinitely often taken if infinitely often enabled.
    pub strong: u32,
    /// Only finitely often taken.
    pub finitely: u32,
}

/// What a run takes, and where it comes, infinitely often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InfiniteBehavior {
    /// States.
    pub states: u32,
    /// Classes of steps.
    pub taken: u32,
    /// Classes that are enabled in one of the states.
    pub enabled: u32,
    /// Classes that are enabled in all of them.
    pub always: u32,
}

impl SmallGraph {
    /// Everything that a run can do for ever.
    #[must_use]
    pub fn infinite_behaviors(&self) -> BTreeSet<InfiniteBehavior> {
        (1..1_u32 << self.steps.len()).filter_map(|set| self.forever(set)).collect()
    }

    /// What it means to take a set of steps for ever; nothing if no run can.
    #[must_use]
    pub fn forever(&self, set: u32) -> Option<InfiniteBehavior> {
        let steps =
            || self.steps.iter().enumerate().filter(move |(i, _)| has(set, *i)).map(|(_, step)| *step);
        let (from, to) = steps().fold((0, 0), |(from, to), step| (from | 1 << step.0, to | 1 << step.2));
        let reached = |start: usize| {
            let mut reached = 1_u32 << start;
            for _ in 0..self.states {
                reached =
                    steps().fold(reached, |all, step| if has(all, step.0) { all | 1 << step.2 } else { all });
            }
            reached
        };
        let states = from | to;
        let within = || (0..self.states).filter(move |&state| has(states, state));
        within().all(|state| reached(state) == states).then(|| InfiniteBehavior {
            states,
            taken: steps().fold(0, |all, step| all | 1 << step.1),
            enabled: within().fold(0, |all, state| all | self.enabled(state)),
            always: within().fold(u32::MAX, |all, state| all & self.enabled(state)),
        })
    }

    /// The classes of the steps out of a state. Where there may be more, they are the ones that hurt a counterexample.
    fn enabled(&self, state: usize) -> u32 {
        if has(self.unknown, state) {
            return u32::MAX;
        }
        self.steps.iter().filter(|step| step.0 == state).fold(0, |all, step| all | 1 << step.1)
    }

    /// For each state, how few steps lead to it so that the promise is open there.
    #[must_use]
    pub fn open_after(&self) -> Vec<Option<usize>> {
        let mut after = vec![[None; 2]; self.states];
        let mut queue = VecDeque::new();
        let mut come = |queue: &mut VecDeque<_>, state: usize, was_open: bool, steps: usize| {
            let opens = has(self.opens, state) && (steps == 0 || !self.only_at_the_start);
            let open = (was_open || opens) && !has(self.keeps, state);
            if after[state][usize::from(open)].is_none() {
                after[state][usize::from(open)] = Some(steps);
                queue.push_back((state, open, steps));
            }
        };
        (0..self.initial).for_each(|state| come(&mut queue, state, false, 0));
        while let Some((state, open, steps)) = queue.pop_front() {
            for step in self.steps.iter().filter(|step| step.0 == state) {
                come(&mut queue, step.2, open, steps + 1);
            }
        }
        after.into_iter().map(|[_, open]| open).collect()
    }

    /// The states where a run ends.
    #[must_use]
    pub fn dead_ends(&self) -> u32 {
        let ends =
            |state: &usize| !has(self.unknown, *state) && self.steps.iter().all(|step| step.0 != *state);
        (0..self.states).filter(ends).fold(0, |all, state| all | 1 << state)
    }
}

impl FairnessSets {
    /// Whether a run that does this for ever counts.
    #[must_use]
    pub fn counts(&self, forever: &InfiniteBehavior) -> bool {
        let each = |set: u32, holds: &dyn Fn(usize) -> bool| (0..32).filter(|&i| has(set, i)).all(holds);
        each(self.weak, &|class| has(forever.taken, class) || !has(forever.always, class))
            && each(self.strong, &|class| has(forever.taken, class) || !has(forever.enabled, class))
            && each(self.finitely, &|class| !has(forever.taken, class))
    }
}

/// Whether a set has a member.
#[must_use]
pub fn has(set: u32, member: usize) -> bool {
    set & 1 << member != 0
}
