//! Cross-check: solves the problem of each recorded context again as the 0-1 program, and compares.
//!
//! The tie-break makes the optimal selection unique, so a context that is recorded as optimal must be equal. For one that is not
//! proven, the optimum must lie between its utility and its bound. Deliberately absent: the optimizer. The problem, the check and
//! the text of a selection are the kernel's.

use super::ilp::{self, IlpError};
use orchestrion_kernel::context::{ContextError, Selected, SelectionStatus, Selector};
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::selection::{Problem, Selection};
use orchestrion_kernel::{CallId, ModuleContext, State};
use orchestrion_text::build_context_with_selector;
use orchestrion_trace::{ContextRecord, Reader, TraceError, digest, emitted_context_call};
use std::cell::RefCell;
use std::fmt;
use std::io::BufRead;
use std::time::Duration;

/// The result of a cross-check.
#[derive(Debug, Default)]
pub struct CrossCheck {
    /// The number of contexts.
    pub contexts: usize,
    /// The number of contexts that are proven optimal, and equal.
    pub equal: usize,
    /// The number of contexts that are not proven optimal, with the optimum within their bound.
    pub within_bound: usize,
    /// Contexts that differ.
    pub differences: Vec<CheckedContext<Difference>>,
    /// Contexts that the solver did not solve.
    pub unsolved: Vec<CheckedContext<IlpError>>,
}

/// The result for one context.
#[derive(Debug)]
pub struct CheckedContext<T> {
    /// The step that emits the call.
    pub step: u64,
    /// The call.
    pub call: CallId,
    /// The operation of the call.
    pub operation: Operation,
    /// The result.
    pub result: T,
}

/// The difference between a recorded context and the solution of the 0-1 program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A context that is recorded as optimal is not the optimum.
    Selection {
        /// The recorded utility.
        recorded_utility: u64,
        /// The utility of the optimum.
        optimal_utility: u64,
        /// The recorded cost in tokens.
        recorded_tokens: u64,
        /// The cost of the optimum in tokens.
        optimal_tokens: u64,
        /// Items that only the record contains.
        only_recorded: Vec<ItemId>,
        /// Items that only the optimum contains.
        only_optimal: Vec<ItemId>,
    },
    /// The optimum is not between the recorded utility and its bound.
    Bound {
        /// The recorded utility.
        recorded_utility: u64,
        /// The recorded bound.
        recorded_bound: u64,
        /// The utility of the optimum.
        optimal_utility: u64,
    },
    /// A context is recorded as optimal, but no single selection uses its whole budget: its joined text exceeds the budget.
    Status,
    /// Only one of the record and the program has a context.
    Missing {
        /// Whether the record has it.
        is_recorded: bool,
    },
    /// The text has another digest.
    Text,
    /// The kernel refuses the solution.
    Refused(ContextError),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Selection {
                recorded_utility,
                optimal_utility,
                recorded_tokens,
                optimal_tokens,
                only_recorded,
                only_optimal,
            } => {
                write!(
                    f,
                    "expected the optimum with utility {optimal_utility} in {optimal_tokens} tokens, found utility \
                     {recorded_utility} in {recorded_tokens} tokens"
                )?;
                write_items(f, "missing", only_optimal)?;
                write_items(f, "superfluous", only_recorded)
            }
            Self::Bound { recorded_utility, recorded_bound, optimal_utility } => write!(
                f,
                "expected an optimal utility from {recorded_utility} to the bound {recorded_bound}, found {optimal_utility}"
            ),
            Self::Status => f.write_str(
                "expected the status not_proven, because the joined text of the optimum exceeds the budget; found optimal",
            ),
            Self::Missing { is_recorded: true } => {
                f.write_str("expected no context, because its pinned items exceed the budget; found one")
            }
            Self::Missing { is_recorded: false } => f.write_str("expected a recorded context, found none"),
            Self::Text => f.write_str("expected the digest of the text of the optimum, found another"),
            Self::Refused(error) => write!(f, "expected a context, found an error: {error}"),
        }
    }
}

fn write_items(f: &mut fmt::Formatter<'_>, label: &str, items: &[ItemId]) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    let items: Vec<String> = items.iter().map(ItemId::to_string).collect();
    write!(f, "; {label} items: {}", items.join(", "))
}

impl CrossCheck {
    /// Whether no context differs and every context was solved.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.differences.is_empty() && self.unsolved.is_empty()
    }

    fn push(&mut self, context: CheckedContext<Result<Agreement, Disagreement>>) {
        let CheckedContext { step, call, operation, result } = context;
        self.contexts += 1;
        match result {
            Ok(Agreement::Equal) => self.equal += 1,
            Ok(Agreement::WithinBound) => self.within_bound += 1,
            Err(Disagreement::Differs(result)) => {
                self.differences.push(CheckedContext { step, call, operation, result });
            }
            Err(Disagreement::Unsolved(result)) => {
                self.unsolved.push(CheckedContext { step, call, operation, result });
            }
        }
    }
}

/// A context that passes the check.
enum Agreement {
    Equal,
    WithinBound,
}

/// A context that does not pass the check.
enum Disagreement {
    Differs(Difference),
    Unsolved(IlpError),
}

impl From<Difference> for Disagreement {
    fn from(difference: Difference) -> Self {
        Self::Differs(difference)
    }
}

/// Solves each context of a trace again, for at most the time limit each.
///
/// # Errors
/// [`TraceError`] if the trace cannot be read to its end.
pub fn cross_check<R: BufRead>(reader: Reader<R>, time_limit: Duration) -> Result<CrossCheck, TraceError> {
    let policy = reader.header().policy.clone();
    let mut state = State::new(reader.header().conversation.clone());
    let mut checked = CrossCheck::default();
    for step in reader {
        let step = step?;
        step.events.iter().for_each(|event| state.apply(event));
        let Some(call) = emitted_context_call(&step.events) else { continue };
        let selector = IlpSelector::new(time_limit);
        let built = build_context_with_selector(&policy, &state, call.operation, &selector);
        let log = selector.log.into_inner();
        let result = match (log.error, built, &step.context) {
            (Some(error), _, _) => Err(Disagreement::Unsolved(error)),
            (None, Err(ContextError::OverBudget(_)), None) => continue,
            (None, Err(ContextError::OverBudget(_)), Some(_)) => {
                Err(Difference::Missing { is_recorded: true }.into())
            }
            (None, Err(error), _) => Err(Difference::Refused(error).into()),
            (None, Ok(_), None) => Err(Difference::Missing { is_recorded: false }.into()),
            (None, Ok(optimum), Some(recorded)) => {
                compare(recorded, &optimum, log.whole_budget_utility.unwrap_or_default())
                    .map_err(Disagreement::Differs)
            }
        };
        checked.push(CheckedContext { step: step.n, call: call.id, operation: call.operation, result });
    }
    Ok(checked)
}

/// Compares a record with the context of the 0-1 program. `optimal_utility` is the maximum for the whole budget.
fn compare(
    recorded: &ContextRecord,
    optimum: &ModuleContext,
    optimal_utility: u64,
) -> Result<Agreement, Difference> {
    if !recorded.is_proven() {
        let (recorded_utility, recorded_bound) = (recorded.utility, recorded.bound());
        return if (recorded_utility..=recorded_bound).contains(&optimal_utility) {
            Ok(Agreement::WithinBound)
        } else {
            Err(Difference::Bound { recorded_utility, recorded_bound, optimal_utility })
        };
    }
    if optimum.status != SelectionStatus::Optimal {
        return Err(Difference::Status);
    }
    let is_equal = recorded.items == optimum.ids
        && (recorded.utility, recorded.cost_tokens, recorded.payload_tokens)
            == (optimum.utility, optimum.cost_tokens, optimum.payload_tokens);
    if !is_equal {
        let without = |items: &[ItemId], others: &[ItemId]| -> Vec<ItemId> {
            items.iter().filter(|item| !others.contains(item)).copied().collect()
        };
        return Err(Difference::Selection {
            recorded_utility: recorded.utility,
            optimal_utility: optimum.utility,
            recorded_tokens: recorded.cost_tokens,
            optimal_tokens: optimum.cost_tokens,
            only_recorded: without(&recorded.items, &optimum.ids),
            only_optimal: without(&optimum.ids, &recorded.items),
        });
    }
    if recorded.digest == digest(optimum.text.as_bytes()) {
        Ok(Agreement::Equal)
    } else {
        Err(Difference::Text)
    }
}

/// Selects by the 0-1 program.
struct IlpSelector {
    time_limit: Duration,
    log: RefCell<IlpLog>,
}

/// What the selections of one context left.
#[derive(Default)]
struct IlpLog {
    /// The utility of the first selection, which alone uses the whole budget.
    whole_budget_utility: Option<u64>,
    error: Option<IlpError>,
}

impl IlpSelector {
    fn new(time_limit: Duration) -> Self {
        Self { time_limit, log: RefCell::default() }
    }
}

impl Selector for IlpSelector {
    fn select(&self, problem: &Problem) -> Selected {
        let mut log = self.log.borrow_mut();
        match ilp::solve(problem, Some(self.time_limit)) {
            Ok(selection) => {
                log.whole_budget_utility.get_or_insert(selection.utility);
                Selected { selection, status: SelectionStatus::Optimal }
            }
            // The caller reads the error before it reads a context.
            Err(error) => {
                log.error = Some(error);
                Selected {
                    selection: Selection::default(),
                    status: SelectionStatus::NotProven { bound: u64::MAX },
                }
            }
        }
    }
}
