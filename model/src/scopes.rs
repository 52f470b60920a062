//! Named models and scopes: what is free, what is frozen, and the size.
//!
//! A model freezes a component by giving the adversary a single input there. It never changes a step.

mod parts;
pub(crate) mod steps;

pub use parts::{PARTS, Part};

use crate::adversary::network::{attempts, ensembles};
use orchestrion_kernel::ids::{TaskId, Text};
use orchestrion_kernel::module::{Failure, Role};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::policy::{CompactionPolicy, EloMethod};
use orchestrion_kernel::{Phase, Score};
use std::borrow::Cow;

/// The calls that other nodes than the orchestrator execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    /// None: the conversation has no network.
    Nowhere,
    /// Those of the executor, over a channel with a forger and a replayer, in a network that changes.
    Handoffs,
    /// The steps of workflows.
    Steps,
    /// Those of the executor and the auditor.
    Modules,
    /// Those of the executor, with every judgement of a result.
    Interactions,
    /// Those of the executor, with up to three attempts, validations and repairs, between nodes of which some have too little quality,
    /// and a fact that is superseded during the run.
    Attempts,
    /// The members of ensembles, between nodes in clusters.
    Ensembles,
}

/// A part of a request that a model explores in detail, with an alphabet of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// None.
    Nothing,
    /// Stances against unequal past ratings.
    Ratings,
    /// The same, by the standard method of duels.
    Duels,
    /// Outputs, aggregates and past requests, over plans that change and over two requests.
    Answers,
}

/// What a model leaves to the adversary. Everything else has one fixed, agreeing reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nondeterminism {
    /// Every confidence cell of every role, and revisions of the plan.
    pub debate: bool,
    /// Task results, compensations, repairs, and Security's reports on them.
    pub execution: bool,
    /// Identity, stores and sessions.
    pub environment: bool,
    /// Every call may fail in every way.
    pub failures: bool,
    /// The user may cancel at any time.
    pub cancel: bool,
    /// Writes while no request runs.
    pub writes: bool,
    /// Facts in scopes, promotions, and the scopes of requests and tasks.
    pub scopes: bool,
    /// Facts that are superseded in every phase of a request, task results, and Security's reports on the plan.
    pub facts: bool,
    /// Plans whose tasks run in parallel, their outcomes, and a fact that is superseded while they run.
    pub workflow: bool,
    /// Contexts under small budgets: what their lines state, and the reviews of two passes.
    pub contexts: bool,
    /// Action records and updates of the summary.
    pub situation: bool,
    /// Handoffs and nodes.
    pub network: Remote,
    /// One part in detail. Everything else is frozen.
    pub detail: Detail,
}

/// Nothing is free.
pub(crate) const FROZEN: Nondeterminism = Nondeterminism {
    debate: false,
    execution: false,
    environment: false,
    failures: false,
    cancel: false,
    writes: false,
    scopes: false,
    facts: false,
    workflow: false,
    contexts: false,
    situation: false,
    network: Remote::Nowhere,
    detail: Detail::Nothing,
};

/// A part of the system, explored with everything else frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// The name.
    pub name: &'static str,
    /// The subject, as a sentence.
    pub about: &'static str,
    /// What is free.
    pub free: Nondeterminism,
}

/// The models, in the order in which they are checked.
pub const MODELS: [Model; 18] = [
    Model {
        name: "debate",
        about: "every argument of every role around every threshold, with revisions of the plan",
        free: Nondeterminism { debate: true, ..FROZEN },
    },
    Model {
        name: "ratings",
        about: "every stance of every role, with unequal ratings from memory",
        free: Nondeterminism { detail: Detail::Ratings, ..FROZEN },
    },
    Model {
        name: "duels",
        about: "every stance of every role, with unequal ratings from memory, by the standard method of duels",
        free: Nondeterminism { detail: Detail::Duels, ..FROZEN },
    },
    Model {
        name: "answers",
        about: "outputs, aggregates and past requests, with plans that change, over two requests",
        free: Nondeterminism { detail: Detail::Answers, ..FROZEN },
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
    Model {
        name: "scopes",
        about: "requests, plans and tasks in scopes, with the facts of these scopes and their promotion",
        free: Nondeterminism { scopes: true, ..FROZEN },
    },
    Model {
        name: "facts",
        about: "facts that change in every phase of a request, and the plan that depends on them",
        free: Nondeterminism { facts: true, ..FROZEN },
    },
    Model {
        name: "contexts",
        about: "what the text of a context states of items, time and reviews, and what a small budget omits",
        free: Nondeterminism { contexts: true, ..FROZEN },
    },
    Model {
        name: "situation",
        about: "action records and updates of the summary, and the contexts of modules that reason",
        free: Nondeterminism { situation: true, ..FROZEN },
    },
    Model {
        name: "workflow",
        about: "tasks that run in parallel and end in every order, with failing calls, cancel, and a fact that changes meanwhile",
        free: Nondeterminism { workflow: true, cancel: true, ..FROZEN },
    },
    Model {
        name: "handoffs",
        about: "handoffs that are lost, duplicated, reordered, forged and replayed, between nodes that come, go and are loaded",
        free: Nondeterminism { network: Remote::Handoffs, ..FROZEN },
    },
    Model {
        name: "nodes",
        about: "workflows of every type whose steps nodes execute, with failures, timeouts and every order of completion",
        free: Nondeterminism { network: Remote::Steps, ..FROZEN },
    },
    Model {
        name: "attempts",
        about: "three attempts of a call, validations, repaired plans, runs that a changed fact interrupts, and nodes that have too little \
                quality, are expelled or leave",
        free: Nondeterminism { network: Remote::Attempts, ..FROZEN },
    },
    Model {
        name: "ensembles",
        about: "ensembles of every strategy, with nodes in clusters, whose order by trust and by quality differs, and tasks that are routed in \
                every order",
        free: Nondeterminism { network: Remote::Ensembles, ..FROZEN },
    },
    Model {
        name: "interactions",
        about: "results that nodes judge, and signals: reciprocity, trust, the status of nodes and connections, and the defense",
        free: Nondeterminism { network: Remote::Interactions, ..FROZEN },
    },
    Model {
        name: "network",
        about: "calls of several modules that nodes execute, with repairs, failing calls and cancel",
        free: Nondeterminism {
            execution: true,
            failures: true,
            cancel: true,
            network: Remote::Modules,
            ..FROZEN
        },
    },
];

/// Everything at once that does not need limits of its own. Too large to exhaust.
pub const COMPOSED: Model = Model {
    name: "composed",
    about: "everything at once: every argument, task result, store, scope, changed fact, handoff, failure and cancel",
    free: Nondeterminism {
        debate: true,
        execution: true,
        environment: true,
        failures: true,
        cancel: true,
        scopes: true,
        facts: true,
        workflow: true,
        network: Remote::Modules,
        ..FROZEN
    },
};

/// The size of a model, and finer alphabets of the adversary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The name, or the path of the file that states it.
    pub name: Cow<'static, str>,
    /// The bounds.
    pub bounds: Bounds,
    /// What replaces the standard alphabet.
    pub alphabet: Alphabet,
}

/// Parts of the alphabet that a scope states. What it does not state follows from the policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alphabet {
    /// The confidences of every argument, where the debate is free.
    pub confidences: Option<Vec<Score>>,
    /// The failures of every call that may fail, where failures or workflows are free.
    pub failures: Option<Vec<Failure>>,
}

/// The bounds of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The requests in one conversation, where sessions are free; 1 elsewhere.
    pub requests: usize,
    /// The tasks of a plan, where execution is free and in workflows; 2 where facts change, 1 elsewhere.
    pub tasks: u32,
    /// The tasks of a plan where nodes execute the calls of several modules.
    pub network_tasks: u32,
    /// The tasks of a workflow whose steps nodes execute, at most.
    pub workflow_tasks: u32,
    /// The number of plans whose tasks run in parallel, in the model of workflows.
    pub workflows: usize,
    /// The bound on tasks that run at once, in the model of workflows.
    pub parallel_tasks: u32,
    /// The changes of the network, in the model of handoffs, for a plan of one task and for one of two: 0 for the availability of a
    /// node, 1 also for its load and for signals about it, 2 also for nodes that leave and join.
    pub environment: [u32; 2],
    /// Whether calls that no other node executes may fail, where nodes execute those of several modules.
    pub local_failures: bool,
    /// The maximum number of written items, where writes are free.
    pub items: usize,
    /// The first phase of a request in which facts change, where they do.
    pub facts_from: Phase,
    /// The compaction policy, where writes are free.
    pub compaction: CompactionPolicy,
    /// The token budget of a context, where writes are free: too small for all that can be written. The pinned items
    /// reach exactly this number, and one more.
    pub context_tokens: u32,
}

/// Compaction thresholds that a few items reach, each on its own.
pub(crate) const SMALL_COMPACTION: CompactionPolicy =
    CompactionPolicy { from_items: 3, from_tokens: 8, cluster_items: 2, session_items_max: 2 };

const SMALL: Bounds = Bounds {
    requests: 2,
    tasks: 4,
    // A second task makes 67,381 states of the default scope 162,172, and those of the tiny one 14,010 instead of 8,319.
    network_tasks: 1,
    workflow_tasks: 3,
    workflows: 2,
    parallel_tasks: 2,
    environment: [2, 0],
    local_failures: false,
    items: 3,
    facts_from: Phase::VerifyingIdentity,
    compaction: SMALL_COMPACTION,
    context_tokens: 22,
};

/// A scope with the standard alphabet.
pub(crate) const fn named(name: &'static str, bounds: Bounds) -> Scope {
    Scope { name: Cow::Borrowed(name), bounds, alphabet: Alphabet { confidences: None, failures: None } }
}

/// The scopes, the default first. The large one is for long runs.
pub const SCOPES: [Scope; 3] = [
    named("small", SMALL),
    named(
        "tiny",
        Bounds { requests: 1, tasks: 3, workflows: 1, facts_from: Phase::Round(Role::Security), ..SMALL },
    ),
    named(
        "large",
        Bounds { workflow_tasks: 4, environment: [2, 1], local_failures: true, items: 4, ..SMALL },
    ),
];

impl Model {
    /// The model of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        MODELS.into_iter().chain([COMPOSED]).find(|model| model.name == name)
    }

    /// The number of requests in one conversation.
    #[must_use]
    pub const fn requests(&self, scope: &Scope) -> usize {
        match self.free {
            Nondeterminism { environment: true, .. } | Nondeterminism { scopes: true, .. } => {
                scope.bounds.requests
            }
            Nondeterminism { detail: Detail::Answers, .. } => 2,
            _ => 1,
        }
    }

    /// The compaction policy of the scope; `None` where the policy's own thresholds are out of reach.
    #[must_use]
    pub const fn compaction(&self, scope: &Scope) -> Option<CompactionPolicy> {
        if self.free.writes { Some(scope.bounds.compaction) } else { None }
    }

    /// The bound on tasks that run at once; `None` where the policy's own bound is out of reach.
    #[must_use]
    pub const fn parallel_tasks(&self, scope: &Scope) -> Option<u32> {
        match self.free.network {
            Remote::Handoffs | Remote::Steps | Remote::Ensembles => Some(scope.bounds.parallel_tasks),
            Remote::Interactions | Remote::Attempts => Some(1),
            Remote::Nowhere | Remote::Modules if self.free.workflow => Some(scope.bounds.parallel_tasks),
            Remote::Nowhere if matches!(self.free.detail, Detail::Answers) => Some(1),
            Remote::Nowhere | Remote::Modules => None,
        }
    }

    /// The method of ratings; `None` where the policy's own is used.
    #[must_use]
    pub const fn elo(&self) -> Option<EloMethod> {
        match self.free.detail {
            Detail::Duels => Some(EloMethod::Standard),
            Detail::Nothing | Detail::Ratings | Detail::Answers => None,
        }
    }

    /// The plans that the planner drafts, at least one.
    ///
    /// # Panics
    ///
    /// Never: the task ids are distinct, and each task comes after its dependencies.
    #[must_use]
    pub fn plans(&self, scope: &Scope) -> Vec<Plan> {
        match self.free.network {
            Remote::Handoffs => {
                return vec![
                    steps::handed_off(1),
                    steps::handed_off(2),
                    steps::twins(),
                    steps::exclusive_twins(),
                ];
            }
            Remote::Steps => return steps::workflows(scope.bounds.workflow_tasks),
            Remote::Interactions => return vec![steps::independent(3)],
            Remote::Attempts => return attempts::plans(),
            Remote::Ensembles => return ensembles::plans(),
            Remote::Nowhere | Remote::Modules => {}
        }
        if !self.free.workflow {
            return vec![self.plan(scope)];
        }
        // Three tasks that can start at once, and one that joins two of them; then a fan-out after the first task. The last
        // task of the second plan follows the one before it.
        let shapes: [[Option<&[u32]>; 4]; 2] =
            [[Some(&[]), Some(&[]), Some(&[]), Some(&[1, 2])], [Some(&[]), Some(&[1]), Some(&[1]), None]];
        let plan = |shape: [Option<&[u32]>; 4]| {
            let tasks = (1..=scope.bounds.tasks).zip(shape).map(|(number, depends_on)| Task {
                depends_on: depends_on.map(|tasks| tasks.iter().copied().map(TaskId::new).collect()),
                ..task(number, scope.bounds.tasks)
            });
            steps::plan_of(tasks)
        };
        shapes.into_iter().take(scope.bounds.workflows).map(plan).collect()
    }

    /// The plan of a model without parallel tasks. Its first task is pure, so that a run can be given up before anything can be
    /// undone. Two tasks are undoable, so that undoing has an order. The last one is irreversible.
    ///
    /// # Panics
    ///
    /// Never: the task ids are distinct.
    #[must_use]
    pub fn plan(&self, scope: &Scope) -> Plan {
        let tasks = match self.free {
            Nondeterminism { network: Remote::Modules, .. } => scope.bounds.network_tasks,
            Nondeterminism { execution: true, .. } => scope.bounds.tasks,
            Nondeterminism { facts: true, .. } => 2,
            _ => 1,
        };
        let tasks = (1..=tasks.max(1)).map(|number| task(number, tasks));
        steps::plan_of(tasks)
    }
}

/// A task of a plan with so many tasks.
fn task(number: u32, tasks: u32) -> Task {
    let effect = match number {
        1 if tasks > 1 => Effect::Pure,
        1..=3 => Effect::Undoable { compensation: Text::from("undo") },
        _ => Effect::Irreversible,
    };
    Task {
        id: TaskId::new(number),
        text: Text::from("task"),
        effect,
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    }
}

impl Scope {
    /// The scope of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        SCOPES.into_iter().find(|scope| scope.name == name)
    }
}
