//! Format of scope files. Every key is optional.

use miette::SourceSpan;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::{Phase, Score};
use orchestrion_model::scopes::{Bounds, MODELS, Model, PARTS, Part, SCOPES, Scope};
use orchestrion_scenario::policy_file::{EnumName, NamedEnum};
use orchestrion_yaml::{Decimal, LabeledError, Spanned, required_value, suggest_nearest};
use schemars::JsonSchema;
use serde::Deserialize;

/// Scope of the models of `check`: their bounds, and what the adversary chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScopeFile {
    /// Named scope that supplies what this file leaves out. Default: small.
    #[serde(default, deserialize_with = "required_value")]
    pub extends: Option<EnumName<BaseScope>>,
    /// Bounds that differ.
    #[serde(default, deserialize_with = "required_value")]
    pub bounds: Option<BoundsFile>,
    /// Parts that the adversary chooses: check explores one model in which these parts are open and the rest is fixed. Without it, the
    /// standard models are explored. debate: stance and confidence of every argument, and revisions. execution: results of tasks and
    /// compensations, repairs, and Security's reports on them. environment: identity, stores, sessions and further requests. failures:
    /// every call may fail, and the runtime may crash. cancel: the user may cancel at any time. facts: facts that change before and
    /// during a request. workflow: plans whose tasks run in parallel, with results and failures. network: nodes execute calls of the
    /// executor and the auditor, and remote calls may time out.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub open: Option<Spanned<Vec<Spanned<EnumName<OpenPart>>>>>,
    /// Confidences of every argument, instead of one in each cell around the thresholds of the policy. Needs debate.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1, max = 32))]
    pub confidences: Option<Spanned<Vec<Spanned<Decimal<Score>>>>>,
    /// Failures of every call that may fail, instead of one for each distinction of the kernel. Needs failures or workflow.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub failures: Option<Spanned<Vec<Spanned<EnumName<FailureName>>>>>,
}

/// Declares the bounds: their keys, types, ranges, and the field of [`Bounds`].
macro_rules! bounds {
    ($($(#[$doc:meta])* $key:ident: $type:ty [$min:literal, $max:literal] = $($field:ident)+ $([$at:literal])? ;)*) => {
        /// Bounds of the models.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct BoundsFile {
            $($(#[$doc])*
            #[serde(default, deserialize_with = "required_value")]
            #[schemars(range(min = $min, max = $max))]
            pub $key: Option<Spanned<u32>>,)*
            /// Whether local calls may fail too, where nodes execute calls of several modules.
            #[serde(default, deserialize_with = "required_value")]
            pub local_failures: Option<Spanned<bool>>,
            /// First phase of a request in which facts change, such as Running_Tasks.
            #[serde(default, deserialize_with = "required_value")]
            pub facts_from: Option<Spanned<EnumName<RequestPhase>>>,
            /// Thresholds of compaction, where writes are free.
            #[serde(default, deserialize_with = "required_value")]
            pub compaction: Option<CompactionBoundsFile>,
        }

        impl BoundsFile {
            /// Writes the stated bounds.
            fn apply(&self, bounds: &mut Bounds) -> Result<(), LabeledError> {
                $(if let Some(number) = &self.$key {
                    bounds$(.$field)+$([$at])? = in_range(stringify!($key), number, $min, $max)? as $type;
                })*
                if let Some(may_fail) = &self.local_failures {
                    bounds.local_failures = may_fail.value;
                }
                if let Some(phase) = &self.facts_from {
                    bounds.facts_from = phase.value.0.0;
                }
                match &self.compaction {
                    Some(compaction) => compaction.apply(bounds),
                    None => Ok(()),
                }
            }

            /// Returns the name and place of each stated bound, and how to take its value from other bounds.
            pub(super) fn settings(&self) -> Vec<BoundSetting> {
                let mut settings: Vec<BoundSetting> = Vec::new();
                $(if let Some(number) = &self.$key {
                    settings.push((stringify!($key), number.span(), |to, from| {
                        to$(.$field)+$([$at])? = from$(.$field)+$([$at])?;
                    }));
                })*
                if let Some(may_fail) = &self.local_failures {
                    settings.push(("local_failures", may_fail.span(), |to, from| {
                        to.local_failures = from.local_failures;
                    }));
                }
                if let Some(phase) = &self.facts_from {
                    settings.push(("facts_from", phase.span(), |to, from| to.facts_from = from.facts_from));
                }
                settings.extend(self.compaction.iter().flat_map(CompactionBoundsFile::settings));
                settings
            }
        }
    };
}

/// Name and place of a bound, and how to take its value from other bounds.
pub(super) type BoundSetting = (&'static str, Option<SourceSpan>, fn(&mut Bounds, &Bounds));

bounds! {
    /// Requests in one conversation, where the environment is free or requests have scopes.
    requests: usize [1, 4] = requests;
    /// Tasks of a plan, where execution is free, and in workflows.
    tasks: u32 [1, 4] = tasks;
    /// Tasks of a plan, where nodes execute the calls of several modules.
    network_tasks: u32 [1, 4] = network_tasks;
    /// Tasks of a workflow whose steps nodes execute, at most.
    workflow_tasks: u32 [2, 4] = workflow_tasks;
    /// Plans whose tasks run in parallel.
    workflows: usize [1, 2] = workflows;
    /// Tasks that run at once, at most.
    parallel_tasks: u32 [1, 4] = parallel_tasks;
    /// What changes in the network during a plan of one handed-off task: 0 availability, 1 also load and signals, 2 also which nodes
    /// exist.
    changes_during_one_task: u32 [0, 2] = environment [0];
    /// The same during a plan of two tasks.
    changes_during_two_tasks: u32 [0, 2] = environment [1];
    /// Written items, where writes are free.
    items: usize [1, 6] = items;
    /// Token budget of a context, where writes are free.
    context_tokens: u32 [1, 1000] = context_tokens;
}

/// Thresholds of compaction, as in a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompactionBoundsFile {
    /// Items from which compaction is due.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(range(min = 1, max = 1000))]
    pub from_items: Option<Spanned<u32>>,
    /// Tokens from which compaction is due.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(range(min = 1, max = 1000))]
    pub from_tokens: Option<Spanned<u32>>,
    /// Items of a cluster, at least.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(range(min = 2, max = 1000))]
    pub cluster_items: Option<Spanned<u32>>,
    /// Items of a session that are kept, at most.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(range(min = 1, max = 1000))]
    pub session_items_max: Option<Spanned<u32>>,
}

impl CompactionBoundsFile {
    fn apply(&self, bounds: &mut Bounds) -> Result<(), LabeledError> {
        let Self { from_items, from_tokens, cluster_items, session_items_max } = self;
        let compaction = &mut bounds.compaction;
        for (name, stated, min, field) in [
            ("from_items", from_items, 1, &mut compaction.from_items),
            ("from_tokens", from_tokens, 1, &mut compaction.from_tokens),
            ("cluster_items", cluster_items, 2, &mut compaction.cluster_items),
            ("session_items_max", session_items_max, 1, &mut compaction.session_items_max),
        ] {
            if let Some(number) = stated {
                *field = in_range(name, number, min, 1000)?;
            }
        }
        Ok(())
    }

    fn settings(&self) -> Vec<BoundSetting> {
        let Self { from_items, from_tokens, cluster_items, session_items_max } = self;
        type Take = fn(&mut Bounds, &Bounds);
        let all: [(&'static str, &Option<Spanned<u32>>, Take); 4] = [
            ("from_items", from_items, |to, from| to.compaction.from_items = from.compaction.from_items),
            ("from_tokens", from_tokens, |to, from| to.compaction.from_tokens = from.compaction.from_tokens),
            ("cluster_items", cluster_items, |to, from| {
                to.compaction.cluster_items = from.compaction.cluster_items;
            }),
            ("session_items_max", session_items_max, |to, from| {
                to.compaction.session_items_max = from.compaction.session_items_max;
            }),
        ];
        let stated = all.into_iter().filter_map(|(name, number, take)| Some((name, number.as_ref()?, take)));
        stated.map(|(name, number, take)| (name, number.span(), take)).collect()
    }
}

impl ScopeFile {
    /// Returns the scope that differs from its base by this file.
    pub(super) fn scope(&self, base: &Scope) -> Result<Scope, LabeledError> {
        let mut scope = base.clone();
        if let Some(bounds) = &self.bounds {
            bounds.apply(&mut scope.bounds)?;
        }
        scope.alphabet.confidences =
            self.confidences.as_ref().map(|list| list.value.iter().map(|entry| entry.value.0).collect());
        scope.alphabet.failures =
            self.failures.as_ref().map(|list| list.value.iter().map(|entry| entry.value.0.0).collect());
        Ok(scope)
    }

    /// Returns the open parts.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> {
        self.open.iter().flat_map(|open| &open.value).map(|part| part.value.0.part())
    }

    /// Returns the model of the open parts, if the file names any.
    pub(super) fn model(&self) -> Option<Model> {
        self.open.as_ref().map(|_| Model::of_parts(&self.parts().collect::<Vec<_>>()))
    }
}

fn in_range(name: &str, number: &Spanned<u32>, min: u32, max: u32) -> Result<u32, LabeledError> {
    if (min..=max).contains(&number.value) {
        return Ok(number.value);
    }
    Err(LabeledError::new(
        format!(
            "`{name}` is out of range: expected a whole number from {min} to {max}, found {}",
            number.value
        ),
        format!("write a number from {min} to {max}"),
    )
    .with_label(number.span(), "out of range"))
}

/// Returns two bounds that differ in every field.
pub(super) fn unlike_bounds() -> [Bounds; 2] {
    let mut other = SCOPES[0].bounds;
    let one = other;
    let Bounds {
        requests,
        tasks,
        network_tasks,
        workflow_tasks,
        workflows,
        parallel_tasks,
        environment,
        local_failures,
        items,
        facts_from,
        compaction,
        context_tokens,
    } = &mut other;
    for number in [requests, workflows, items] {
        *number += 1;
    }
    let [of_one, of_two] = environment;
    for number in [
        tasks,
        network_tasks,
        workflow_tasks,
        parallel_tasks,
        of_one,
        of_two,
        context_tokens,
        &mut compaction.from_items,
        &mut compaction.from_tokens,
        &mut compaction.cluster_items,
        &mut compaction.session_items_max,
    ] {
        *number += 1;
    }
    *local_failures = !*local_failures;
    *facts_from = Phase::RunningTasks;
    [one, other]
}

/// Named scope, by its position in [`SCOPES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BaseScope(pub usize);

impl NamedEnum for BaseScope {
    const ALL: &'static [Self] = &[Self(0), Self(1), Self(2)];
    const KIND: &'static str = "scope";

    fn name(self) -> &'static str {
        ["small", "tiny", "large"][self.0]
    }
}

/// Part that combines with others, by its position in [`PARTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenPart(usize);

impl OpenPart {
    /// Returns every part.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied()
    }

    /// Returns the names of the parts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PARTS.iter().map(|part| part.name)
    }

    /// Returns the part.
    #[must_use]
    pub const fn part(self) -> Part {
        PARTS[self.0]
    }
}

impl NamedEnum for OpenPart {
    const ALL: &'static [Self] = &[Self(0), Self(1), Self(2), Self(3), Self(4), Self(5), Self(6), Self(7)];
    const KIND: &'static str = "part";

    fn name(self) -> &'static str {
        self.part().name
    }

    fn parse(name: &str) -> Result<Self, (String, String)> {
        if let Some(part) = Self::all().find(|part| part.name() == name) {
            return Ok(part);
        }
        let names: Vec<&str> = Self::names().collect();
        let names = names.join(", ");
        if MODELS.iter().any(|model| model.name == name) {
            return Err((
                format!("`{name}` does not combine with other parts: its model has an alphabet of its own"),
                format!("expected one of {names}; or remove `open`, and check it with --model {name}"),
            ));
        }
        let near = suggest_nearest(name, Self::names());
        Err((format!("unknown part `{}`", name.escape_debug()), format!("{near}expected one of {names}")))
    }
}

/// Failure that a call may have, by its name in scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureName(pub Failure);

impl FailureName {
    const fn position(self) -> usize {
        match self.0 {
            Failure::Error => 0,
            Failure::Timeout => 1,
            Failure::Malformed => 2,
            Failure::NoCandidates => 3,
            Failure::OutcomeUnknown => 4,
            Failure::OverBudget => 5,
            Failure::Forbidden => 6,
        }
    }
}

impl PartialOrd for FailureName {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FailureName {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.position().cmp(&other.position())
    }
}

impl NamedEnum for FailureName {
    /// The kernel itself produces the failure of a call that exceeds its budget, and the runtime that of a forbidden one.
    const ALL: &'static [Self] = &[
        Self(Failure::Error),
        Self(Failure::Timeout),
        Self(Failure::Malformed),
        Self(Failure::NoCandidates),
        Self(Failure::OutcomeUnknown),
    ];
    const KIND: &'static str = "failure";

    fn name(self) -> &'static str {
        ["error", "timeout", "malformed", "no_candidates", "unknown", "over_budget", "forbidden"]
            [self.position()]
    }
}

/// Phase of a running request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestPhase(pub Phase);

impl NamedEnum for RequestPhase {
    const ALL: &'static [Self] = &{
        let mut all = [Self(Phase::Idle); Phase::ALL.len()];
        let mut position = 0;
        while position < all.len() {
            all[position] = Self(Phase::ALL[position]);
            position += 1;
        }
        all
    };
    const KIND: &'static str = "phase";

    fn name(self) -> &'static str {
        self.0.name()
    }
}
