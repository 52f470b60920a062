//! The parts that a scope file can leave to the adversary together, and the bounds that a model reads.

use super::{Bounds, FROZEN, Model, Nondeterminism, Remote, SCOPES};

/// A part of the system that a scope file can leave to the adversary, with any of the others.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The name.
    pub name: &'static str,
    /// What the adversary chooses.
    pub about: &'static str,
    open: fn(&mut Nondeterminism),
}

/// The parts. Each of the other models has an alphabet of its own, which does not combine.
pub const PARTS: [Part; 8] = [
    Part {
        name: "debate",
        about: "the stance and confidence of every argument, and revisions of the plan",
        open: |free| free.debate = true,
    },
    Part {
        name: "execution",
        about: "results of tasks and compensations, repairs, and Security's reports on them",
        open: |free| free.execution = true,
    },
    Part {
        name: "environment",
        about: "identity, stores, sessions, and further requests",
        open: |free| free.environment = true,
    },
    Part {
        name: "failures",
        about: "every call may fail, and the runtime may crash and resume",
        open: |free| free.failures = true,
    },
    Part { name: "cancel", about: "the user may cancel at any time", open: |free| free.cancel = true },
    Part {
        name: "facts",
        about: "facts that change before and during a request",
        open: |free| free.facts = true,
    },
    Part {
        name: "workflow",
        about: "plans whose tasks run in parallel, their results and failures",
        open: |free| free.workflow = true,
    },
    Part {
        name: "network",
        about: "nodes execute the calls of the executor and the auditor",
        open: |free| free.network = Remote::Modules,
    },
];

impl Model {
    /// The name of a model that leaves chosen parts to the adversary.
    pub const CUSTOM: &'static str = "custom";

    /// The subject of such a model.
    pub const CUSTOM_ABOUT: &'static str =
        "the parts that the scope file leaves open, with everything else fixed";

    /// A model that leaves exactly these parts to the adversary.
    #[must_use]
    pub fn of_parts(parts: &[Part]) -> Self {
        let mut free = FROZEN;
        parts.iter().for_each(|part| (part.open)(&mut free));
        Self { name: Self::CUSTOM, about: Self::CUSTOM_ABOUT, free }
    }
}

impl Bounds {
    /// The bounds that a model reads; the others are those of the default scope. Two bounds of which the model reads the same give the
    /// same states.
    #[must_use]
    pub fn read_by(&self, model: Model) -> Self {
        let free = model.free;
        let default = SCOPES[0].bounds;
        let modules = free.network == Remote::Modules;
        let pick = |reads: bool| if reads { self } else { &default };
        Self {
            requests: pick(free.environment || free.scopes).requests,
            tasks: pick(free.workflow || free.execution && !modules).tasks,
            network_tasks: pick(modules && !free.workflow).network_tasks,
            workflow_tasks: pick(free.network == Remote::Steps).workflow_tasks,
            workflows: pick(free.workflow).workflows,
            parallel_tasks: pick(
                free.workflow || matches!(free.network, Remote::Handoffs | Remote::Steps | Remote::Ensembles),
            )
            .parallel_tasks,
            environment: pick(free.network == Remote::Handoffs).environment,
            local_failures: pick(modules && free.failures).local_failures,
            items: pick(free.writes || free.scopes).items,
            facts_from: pick(free.facts).facts_from,
            compaction: pick(free.writes).compaction,
            context_tokens: pick(free.writes).context_tokens,
        }
    }
}
