//! The context of a module after a step of a trace, as a problem.

use super::format::LayerFile;
use super::id::Id;
use super::problem::NamedProblem;
use orchestrion_kernel::context::{ContextError, ContextProblem, build_context_with_problem};
use orchestrion_kernel::ids::{ItemId, TaskId};
use orchestrion_kernel::module::{Module, Operation};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::policy::{ModuleContextPolicy, Tokenizer};
use orchestrion_kernel::{Policy, State};
use orchestrion_optimizer::ExactSelector;
use orchestrion_text::PolicyMeasure;
use orchestrion_trace::{Reader, TraceError, TraceErrorKind, emitted_context_call};
use std::collections::BTreeMap;
use std::io::BufRead;
use thiserror::Error;

/// A context of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TracePoint {
    /// The step whose resulting state is used.
    pub step: u64,
    /// The module; `None` for the module of the pending call.
    pub module: Option<Module>,
    /// The budget in tokens, reply included; `None` for that of the recorded policy.
    pub budget: Option<u32>,
    /// The tokenizer; `None` for that of the recorded policy.
    pub tokenizer: Option<Tokenizer>,
}

/// Error in reading a problem from a trace.
#[derive(Debug, Error)]
pub enum TracePointError {
    /// The trace cannot be read up to the step.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The trace has no such step.
    #[error("no such step: expected 1 to {steps}, found {step}")]
    NoSuchStep {
        /// The requested step.
        step: u64,
        /// Number of steps of the trace.
        steps: u64,
    },
    /// No call that reads a context is pending after the step.
    #[error("no call with a context is pending after step {step}")]
    NoPendingCall {
        /// The step.
        step: u64,
        /// The last step before it that emits such a call.
        previous_call: Option<u64>,
    },
    /// The module reads no context.
    #[error("no context: expected a module that reads a context, found {module}", module = .0.name())]
    NoContext(Module),
    /// The tokens reserved for the reply exceed the budget.
    #[error("budget too small: expected at least the {reserved} reserved tokens, found {budget}")]
    Reserved {
        /// Reserved tokens.
        reserved: u32,
        /// Budget in tokens.
        budget: u32,
    },
    /// The context cannot be built.
    #[error("{module}: {error}", module = module.name())]
    Context {
        /// The module.
        module: Module,
        /// The error of the kernel.
        error: ContextError,
    },
}

impl NamedProblem {
    /// Reads the problem of a context from a trace. If the joined text exceeded the budget, this is the last problem that was
    /// solved, with the reduced budget.
    ///
    /// # Errors
    /// [`TracePointError`].
    pub fn from_trace<R: BufRead>(reader: Reader<R>, point: TracePoint) -> Result<Self, TracePointError> {
        let mut policy = reader.header().policy.clone();
        let (state, previous_call) = state_after(reader, point.step)?;
        let pending = state
            .control()
            .pending_calls()
            .last()
            .map(|call| call.operation)
            .filter(|one| one.takes_context());
        let operation = match point.module {
            Some(module) => pending
                .filter(|operation| operation.module() == module)
                .or_else(|| default_operation(module))
                .ok_or(TracePointError::NoContext(module))?,
            None => pending.ok_or(TracePointError::NoPendingCall { step: point.step, previous_call })?,
        };
        let module = operation.module();
        override_policy(&mut policy, module, point)?;
        let context_error = |error| TracePointError::Context { module, error };
        let measure =
            PolicyMeasure::from_policy(&policy).map_err(|unavailable| context_error(unavailable.into()))?;
        let (context, _) = build_context_with_problem(
            &policy,
            &state,
            operation,
            &measure,
            &ExactSelector::from_policy(&policy),
        )
        .map_err(context_error)?;
        Ok(Self::from_context(context, &policy, &state, module))
    }

    /// Names the problem of a context of this module in this state.
    #[must_use]
    pub fn from_context(context: ContextProblem, policy: &Policy, state: &State, module: Module) -> Self {
        let ids: Vec<Id<'static>> = context.ids.iter().map(|id| Id::Number(id.number())).collect();
        let layer = |at| if context.is_working(at) { LayerFile::Working } else { LayerFile::Fact };
        let key = |id: &ItemId| state.semantic().get(*id).map(|entry| entry.item.key.to_string());
        Self {
            module: Some(module),
            reserved: u64::from(policy.contexts.reserved_tokens),
            keys: context.ids.iter().map(|id| key(id).unwrap_or_default()).collect(),
            layers: (0..ids.len()).map(layer).collect(),
            groups: vec![None; context.problem.candidates().len()],
            by_age: (0..ids.len()).collect(),
            problem: context.problem,
            ids,
        }
    }
}

/// Returns the state after a step, and the last step before it that emits a call with a context. A placeholder for an erased text has
/// another cost and another relevance, so no context is built with one.
fn state_after<R: BufRead>(
    mut reader: Reader<R>,
    target: u64,
) -> Result<(State, Option<u64>), TracePointError> {
    let mut state = State::new(reader.header().conversation.clone());
    let (mut steps, mut previous_call) = (0, None);
    while let Some(step) = reader.next() {
        let step = step?;
        if reader.erased_texts() > 0 {
            let reason = format!("expected none up to step {target}, found {}", reader.erased_texts());
            return Err(reader.error(TraceErrorKind::ErasedText(reason)).into());
        }
        steps = step.n;
        step.events.iter().for_each(|event| state.apply(event));
        if step.n == target {
            return Ok((state, previous_call));
        }
        if emitted_context_call(&step.events).is_some() {
            previous_call = Some(step.n);
        }
    }
    Err(TracePointError::NoSuchStep { step: target, steps })
}

/// Applies the options of the point to the policy.
fn override_policy(policy: &mut Policy, module: Module, point: TracePoint) -> Result<(), TracePointError> {
    let contexts = &mut policy.contexts;
    contexts.tokenizer = point.tokenizer.unwrap_or(contexts.tokenizer);
    let Some(budget) = point.budget else { return Ok(()) };
    let reserved = contexts.reserved_tokens;
    if reserved > budget {
        return Err(TracePointError::Reserved { reserved, budget });
    }
    match contexts.module_overrides.iter_mut().find(|entry| entry.module == module) {
        Some(entry) => entry.budget_tokens = Some(budget),
        None => contexts.module_overrides.push(ModuleContextPolicy {
            module,
            budget_tokens: Some(budget),
            weights: BTreeMap::new(),
        }),
    }
    Ok(())
}

/// Returns an operation with a context of a module without a pending call. The number of the task or the debater does not affect the
/// context.
fn default_operation(module: Module) -> Option<Operation> {
    const TASK: TaskId = TaskId::new(1);
    Some(match module {
        Module::Memory => Operation::LoadContext,
        Module::Summarizer => Operation::Summarize,
        Module::Classifier => Operation::Classify,
        Module::Planner => Operation::DraftPlan,
        Module::Debater(role) => Operation::Argue(role),
        Module::AdditionalDebater => Operation::ArgueAdditional { debater: 0 },
        Module::Approver => Operation::Approve,
        Module::Executor => Operation::RunTask { task: TASK, effect: EffectKind::Pure },
        Module::IdentityGuard | Module::Store(_) | Module::Auditor => return None,
    })
}
