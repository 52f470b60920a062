//! A problem out of a trace: what a module might be shown after a step, and how much of it fits.

use super::format::{Id, LayerFile};
use super::problem::NamedProblem;
use orchestrion_kernel::context::{ContextError, build_context_with_problem};
use orchestrion_kernel::ids::{ItemId, TaskId};
use orchestrion_kernel::module::{ConclusionKind, Module, Operation};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::policy::{ModuleContextPolicy, Tokenizer};
use orchestrion_kernel::{Event, Policy, State};
use orchestrion_optimizer::ExactSelector;
use orchestrion_text::PolicyMeasure;
use orchestrion_trace::{Reader, TraceError};
use std::collections::BTreeMap;
use std::io::BufRead;
use thiserror::Error;

/// Which context of a trace is meant.
#[derive(Clone, Copy, Debug)]
pub struct TracePoint {
    /// The step after which it is given.
    pub step: u64,
    /// The module that it is given to; left out: the one that is waited for.
    pub module: Option<Module>,
    /// The tokens of the context and of the answer to it, if not those of the recorded policy.
    pub budget: Option<u32>,
    /// What counts them, if not what the recorded policy wants.
    pub tokenizer: Option<Tokenizer>,
}

/// Why a trace has no such problem.
#[derive(Debug, Error)]
pub enum TracePointError {
    /// The trace cannot be read up to there.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// There is no such step.
    #[error("no step {step}: the trace has {steps}")]
    NoSuchStep {
        /// The step that was asked for.
        step: u64,
        /// How many there are.
        steps: u64,
    },
    /// Nobody is asked for anything then.
    #[error("after step {step} no module is waited for")]
    NobodyAsked {
        /// The step.
        step: u64,
        /// The latest step before it that asks a module.
        before: Option<u64>,
    },
    /// The answer takes all of the budget.
    #[error("{reserved} tokens are reserved of a budget of {budget}")]
    Reserved {
        /// What is reserved.
        reserved: u32,
        /// The budget.
        budget: u32,
    },
    /// The context cannot be built.
    #[error("{module}: {error}", module = module.name())]
    Context {
        /// The module.
        module: Module,
        /// Why.
        error: ContextError,
    },
}

impl NamedProblem {
    /// The problem of a context in a trace: the last one that was posed, if joined lines cost more than they do one by one.
    ///
    /// # Errors
    /// [`MomentError`].
    pub fn from_trace<R: BufRead>(reader: Reader<R>, moment: TracePoint) -> Result<Self, TracePointError> {
        let mut policy = reader.header().policy.clone();
        let (state, before) = folded(reader, moment.step)?;
        let waiting = state.control.pending_call().map(|call| call.operation);
        let ask = match moment.module {
            Some(module) => waiting.filter(|ask| ask.module() == module).unwrap_or_else(|| asking(module)),
            None => waiting.ok_or(TracePointError::NobodyAsked { step: moment.step, before })?,
        };
        set(&mut policy, ask.module(), moment)?;
        let error = |error| TracePointError::Context { module: ask.module(), error };
        let measure = PolicyMeasure::of(&policy).map_err(|unavailable| error(unavailable.into()))?;
        let (question, _) =
            build_context_with_problem(&policy, &state, ask, &measure, &ExactSelector::default())
                .map_err(error)?;
        let ids: Vec<Id<'static>> = question.ids.iter().map(|id| Id::Number(id.number())).collect();
        let layer = |at| if question.is_working(at) { LayerFile::Working } else { LayerFile::Fact };
        let key = |id: &ItemId| state.semantic.get(*id).map(|entry| entry.item.key.to_string());
        Ok(Self {
            module: Some(ask.module()),
            reserved: u64::from(policy.contexts.reserved_tokens),
            keys: question.ids.iter().map(|id| key(id).unwrap_or_default()).collect(),
            layers: (0..ids.len()).map(layer).collect(),
            groups: vec![None; question.problem.candidates().len()],
            by_age: (0..ids.len()).collect(),
            problem: question.problem,
            ids,
        })
    }
}

/// The state after a step, and the latest step before it that asks a module.
fn folded<R: BufRead>(mut reader: Reader<R>, at: u64) -> Result<(State, Option<u64>), TracePointError> {
    let mut state = State::new(reader.header().conversation.clone());
    let (mut steps, mut before) = (0, None);
    for step in &mut reader {
        let step = step?;
        steps = step.n;
        step.events.iter().for_each(|event| state.apply(event));
        if step.n == at {
            return Ok((state, before));
        }
        if step.events.iter().any(|event| matches!(event, Event::ToolCall { .. })) {
            before = Some(step.n);
        }
    }
    Err(TracePointError::NoSuchStep { step: at, steps })
}

/// The policy, for this moment.
fn set(policy: &mut Policy, module: Module, moment: TracePoint) -> Result<(), TracePointError> {
    let contexts = &mut policy.contexts;
    contexts.tokenizer = moment.tokenizer.unwrap_or(contexts.tokenizer);
    let Some(budget) = moment.budget else { return Ok(()) };
    let reserved = contexts.reserved_tokens;
    if reserved > budget {
        return Err(TracePointError::Reserved { reserved, budget });
    }
    match contexts.module_overrides.iter_mut().find(|view| view.module == module) {
        Some(view) => view.budget_tokens = Some(budget),
        None => contexts.module_overrides.push(ModuleContextPolicy {
            module,
            budget_tokens: Some(budget),
            weights: BTreeMap::new(),
        }),
    }
    Ok(())
}

/// A question to a module that is not waited for. Which task it would be about does not matter to what it is shown.
const fn asking(module: Module) -> Operation {
    const TASK: TaskId = TaskId::new(1);
    match module {
        Module::IdentityGuard => Operation::VerifyIdentity,
        Module::Memory => Operation::LoadContext,
        Module::Summarizer => Operation::Summarize,
        Module::Classifier => Operation::Classify,
        Module::Planner => Operation::DraftPlan,
        Module::Debater(role) => Operation::Argue(role),
        Module::Approver => Operation::Approve,
        Module::Executor => Operation::RunTask { task: TASK, effect: EffectKind::Pure },
        Module::Store(store) => Operation::StoreMemory { store, kind: ConclusionKind::Outcome },
        Module::Auditor => Operation::DeliverAudit,
    }
}
