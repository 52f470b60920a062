//! The contexts of a run: what they cost, and what simpler rules would lose.

use crate::metrics::Measurements;
use orchestrion_kernel::context::{
    ContextBuilder, ContextError, ContextProblem, IncrementalContexts, ModuleContext,
    build_context_with_problem,
};
use orchestrion_kernel::module::{Failure, Operation};
use orchestrion_kernel::{Policy, State};
use orchestrion_optimizer::ExactSelector;
use orchestrion_selection::{Baseline, NamedProblem};
use orchestrion_text::{PolicyMeasure, StandardContexts};

/// What a run measures of its contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextUse {
    /// Calls get no contexts.
    None,
    /// Calls get the contexts of the policy.
    Selected,
    /// As `Selected`, and simpler rules select each context too.
    Compared,
}

/// Builds the contexts of one run.
#[derive(Debug)]
pub(crate) enum Contexts {
    None,
    Selected(Box<dyn IncrementalContexts>),
    Compared,
}

impl Contexts {
    pub(crate) fn new(used: ContextUse) -> Self {
        match used {
            ContextUse::None => Self::None,
            ContextUse::Selected => StandardContexts.create_incremental().map_or(Self::None, Self::Selected),
            ContextUse::Compared => Self::Compared,
        }
    }

    /// Builds the context of a call, and adds its measures.
    ///
    /// # Errors
    /// The failure of the call if the pinned items exceed the budget.
    pub(crate) fn build(
        &mut self,
        policy: &Policy,
        state: &State,
        operation: Operation,
        total: &mut Measurements,
    ) -> Result<(), Failure> {
        if !operation.takes_context() {
            return Ok(());
        }
        let built = match self {
            Self::None => return Ok(()),
            Self::Selected(contexts) => contexts.build(policy, state, operation),
            Self::Compared => compare(policy, state, operation, total),
        };
        let context = built.map_err(|_| Failure::OverBudget)?;
        total.context_tokens += whole(context.cost_tokens);
        total.context_utility += whole(context.utility);
        total.unproven_utility +=
            whole(context.status.bound(context.utility).saturating_sub(context.utility));
        Ok(())
    }
}

/// Builds a context, and adds the utility that each simpler rule would lose.
fn compare(
    policy: &Policy,
    state: &State,
    operation: Operation,
    total: &mut Measurements,
) -> Result<ModuleContext, ContextError> {
    let measure = PolicyMeasure::from_policy(policy)?;
    let selector = ExactSelector::from_policy(policy);
    let (problem, context): (ContextProblem, ModuleContext) =
        build_context_with_problem(policy, state, operation, &measure, &selector)?;
    let named = NamedProblem::from_context(problem, policy, state, operation.module());
    let loss = |rule: Baseline| whole(context.utility) - whole(rule.select(&named).utility);
    total.greedy_loss_utility += loss(Baseline::Greedy);
    total.ranked_loss_utility += loss(Baseline::Ranked);
    total.recent_loss_utility += loss(Baseline::Recent);
    Ok(context)
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
