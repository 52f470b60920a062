//! Named models and scopes: what is free and what is frozen, and how large it may grow.
//!
//! A model freezes what it is not about by giving the adversary one letter there. It never changes a step.

use orchestrion_kernel::ids::{TaskId, Text};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::policy::CompactionPolicy;

/// What a model leaves to the adversary. Everything else answers in one fixed, agreeable way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nondeterminism {
    /// Every confidence cell of every role, revisions of the plan included.
    pub debate: bool,
    /// Task results, compensations, repairs, and what Security says of them.
    pub execution: bool,
    /// Identity, stores and sessions.
    pub environment: bool,
    /// Every call may fail in every way.
    pub failures: bool,
    /// The user may cancel at any moment.
    pub cancel: bool,
    /// What is written while no request runs.
    pub writes: bool,
}

/// Nothing is left.
const FROZEN: Nondeterminism = Nondeterminism {
    debate: false,
    execution: false,
    environment: false,
    failures: false,
    cancel: false,
    writes: false,
};

/// A part of the system, explored with everything else frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Its name.
    pub name: &'static str,
    /// What it is about, in a sentence.
    pub about: &'static str,
    /// What it leaves free.
    pub free: Nondeterminism,
}

/// The models, in the order in which they are checked.
pub const MODELS: [Model; 4] = [
    Model {
        name: "debate",
        about: "every argument of every role around every threshold, with revisions of the plan",
        free: Nondeterminism { debate: true, ..FROZEN },
    },
    Model {
        name: "execution",
        about: "every task result, repair, veto and compensation, with failing calls and cancel",
        free: Nondeterminism { execution: true, failures: true, cancel: true, ..FROZEN },
    },
    Model {
        name: "lifecycle",
        about: "identity, stores, audit and sessions over several requests, with failing calls and cancel",
        free: Nondeterminism { environment: true, failures: true, cancel: true, ..FROZEN },
    },
    Model {
        name: "semantic",
        about: "what is written by name: facts, scopes, ranks, signals, the time, what supersedes what, and compaction",
        free: Nondeterminism { writes: true, ..FROZEN },
    },
];

/// All of it at once: nothing is frozen. Too large for every day.
pub const COMPOSED: Model = Model {
    name: "composed",
    about: "everything at once: every argument, task result, store, failure and cancel",
    free: Nondeterminism {
        debate: true,
        execution: true,
        environment: true,
        failures: true,
        cancel: true,
        writes: false,
    },
};

/// How large a model may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// Requests in one conversation, where sessions are free; 1 elsewhere.
    pub requests: usize,
    /// Tasks of a plan, where execution is free; 1 elsewhere.
    pub tasks: u32,
    /// Items written at most, where writes are free.
    pub items: usize,
    /// When what is known is compacted, where writes are free.
    pub compaction: CompactionPolicy,
    /// The tokens of a context, where writes are free: too few for all that can be written, and such that what must be shown
    /// comes to just so many, and to one more.
    pub context_tokens: u32,
}

/// Limits of compaction that a handful of items reaches, each on its own.
pub(crate) const SMALL_COMPACTION: CompactionPolicy =
    CompactionPolicy { from_items: 3, from_tokens: 8, cluster_items: 2 };

/// The scopes, the default first.
pub const SCOPES: [Scope; 2] = [
    Scope {
        name: "small",
        requests: 2,
        tasks: 4,
        items: 4,
        compaction: SMALL_COMPACTION,
        context_tokens: 22,
    },
    Scope { name: "tiny", requests: 1, tasks: 3, items: 3, compaction: SMALL_COMPACTION, context_tokens: 22 },
];

impl Model {
    /// The model of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        MODELS.into_iter().chain([COMPOSED]).find(|model| model.name == name)
    }

    /// How many requests one conversation may see.
    #[must_use]
    pub const fn requests(&self, scope: &Scope) -> usize {
        match self.free {
            Nondeterminism { environment: true, .. } => scope.requests,
            _ => 1,
        }
    }

    /// When what is known is compacted here; nothing where the policy's own limits will do, for they are out of reach.
    #[must_use]
    pub const fn compaction(&self, scope: &Scope) -> Option<CompactionPolicy> {
        if self.free.writes { Some(scope.compaction) } else { None }
    }

    /// The plan that every planner drafts. Its first task is pure, so that a run may be given up before anything
    /// can be undone; two are undoable, so that undoing has an order; the last one is irreversible.
    ///
    /// # Panics
    /// Never: the tasks are numbered apart.
    #[must_use]
    pub fn plan(&self, scope: &Scope) -> Plan {
        let tasks = if self.free.execution { scope.tasks } else { 1 };
        let effect = |number| match number {
            1 if tasks > 1 => Effect::Pure,
            1..=3 => Effect::Undoable { compensation: Text::from("undo") },
            _ => Effect::Irreversible,
        };
        let task =
            |number| Task { id: TaskId::new(number), text: Text::from("task"), effect: effect(number) };
        Plan::new((1..=tasks.max(1)).map(task).collect()).unwrap_or_else(|error| unreachable!("{error}"))
    }
}

impl Scope {
    /// The scope of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        SCOPES.into_iter().find(|scope| scope.name == name)
    }
}
