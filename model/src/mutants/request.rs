//! Faults in the state of a running request, after a batch was applied.

use super::mutant::{Mutant, Part};
use crate::kernel_under_test::KernelUnderTest;
use orchestrion_kernel::event::{EffectOutcome, StoreStatus, StoreStatuses, TaskOutcome, TaskResult};
use orchestrion_kernel::module::{PerRole, Ratings};
use orchestrion_kernel::state::{Request, StartedTask};
use orchestrion_kernel::{Phase, Policy, State};

type Spoil = fn(&State, &mut Request);

/// The dropped or overwritten fields. Most faults apply at every step. Where that would only blind the kernel, they
/// apply at the step that a careless change would get wrong.
const REQUEST_MUTATIONS: &[(&str, &str, Spoil)] = &[
    ("request.verified", "is never remembered", |_, request| request.verified = false),
    ("request.verified", "is taken for granted", |_, request| request.verified = true),
    ("request.ratings", "are forgotten", |_, request| request.ratings = Ratings::default()),
    ("request.ratings_after", "are forgotten", |_, request| request.ratings_after = None),
    ("request.plan", "is forgotten when it failed", |before, request| {
        if before.control().phase() == Phase::Failure {
            request.plan = None;
        }
    }),
    ("debate.pass", "is not counted", |_, request| request.debate.pass = request.debate.pass.min(1)),
    ("debate.latest", "keeps the arguments of the pass before", |before, request| {
        if let (Phase::MultiPassCheck, Some(earlier)) = (before.control().phase(), before.control().request())
        {
            request.debate.latest = earlier.debate.latest;
        }
    }),
    ("debate.latest", "forgets the Analyst in a new pass", |before, request| {
        if before.control().phase() == Phase::MultiPassCheck {
            request.debate.latest.analyst = None;
        }
    }),
    ("debate.latest", "forgets Security", |_, request| request.debate.latest.security = None),
    ("debate.latest", "forgets the Critic", |_, request| request.debate.latest.critic = None),
    ("debate.latest", "forgets everybody once decided", |before, request| {
        if before.control().phase() == Phase::ResolvingDecision {
            request.debate.latest = PerRole::default();
        }
    }),
    ("debate.security_read", "is forgotten", |_, request| request.debate.security_reviewed = None),
    ("debate.security_read", "follows the plan unread", |_, request| {
        request.debate.security_reviewed = request.plan.as_ref().map(|plan| plan.revision);
    }),
    ("debate.vetoed", "is forgotten at once", |_, request| request.debate.vetoed = false),
    ("debate.vetoed", "is forgotten when a repair is asked for", |before, request| {
        request.debate.vetoed &= before.control().phase() != Phase::Failure;
    }),
    ("debate.vetoed", "is overwritten by Security's next word", |_, request| {
        request.debate.vetoed = request.debate.latest.security.is_some_and(|argument| {
            argument.is_objection_at_least(
                orchestrion_kernel::Score::from_millionths(900_000).unwrap_or_default(),
            )
        });
    }),
    ("debate.outdated", "is forgotten", |_, request| request.debate.outdated = false),
    ("debate.outdated", "is taken for granted", |_, request| request.debate.outdated = true),
    ("debate.outdated", "is kept when Security reviews again", |before, request| {
        request.debate.outdated |= before.control().request().is_some_and(|earlier| earlier.debate.outdated);
    }),
    ("debate.scored", "is forgotten", |_, request| request.debate.scored = None),
    ("request.decisions", "are forgotten", |_, request| request.decisions.clear()),
    ("request.decisions", "keep the first only", |_, request| request.decisions.truncate(1)),
    ("request.outcomes", "are forgotten", |_, request| request.outcomes.clear()),
    ("request.outcomes", "are all taken for successes", |_, request| {
        let succeeded = |ended: &TaskResult| TaskResult { outcome: TaskOutcome::Succeeded, ..*ended };
        request.outcomes = request.outcomes.iter().map(succeeded).collect();
    }),
    ("request.outcomes", "of a failed run are kept for the next", |before, request| {
        if let (Phase::Failure, Some(earlier)) = (before.control().phase(), before.control().request()) {
            request.outcomes.clone_from(&earlier.outcomes);
        }
    }),
    ("request.repairs", "are not counted", |_, request| request.repairs = 0),
    ("request.ledger", "is forgotten", |_, request| request.ledger.clear()),
    ("request.ledger", "is forgotten when a repair is asked for", |before, request| {
        if before.control().phase() == Phase::Failure {
            request.ledger.clear();
        }
    }),
    ("request.ledger", "is kept in another order", |_, request| {
        let mut started: Vec<StartedTask> = request.ledger.iter().cloned().collect();
        started.sort_by_key(|started| started.task);
        request.ledger = started.into_iter().collect();
    }),
    ("request.ledger", "takes every failed undo for done", |_, request| {
        replace_failed_undo(request, EffectOutcome::Undone);
    }),
    ("request.ledger", "tries a failed undo again", |_, request| {
        replace_failed_undo(request, EffectOutcome::Kept);
    }),
    ("request.ending", "is forgotten", |_, request| request.conclusion = None),
    ("request.ending", "stays what it was first", |before, request| {
        let first = before.control().request().and_then(|earlier| earlier.conclusion);
        request.conclusion = first.or(request.conclusion);
    }),
    ("request.holdings", "are forgotten", |_, request| request.store_statuses = StoreStatuses::default()),
    ("request.holdings", "are taken for granted", |_, request| {
        request.store_statuses = StoreStatuses { local: StoreStatus::Held, cloud: StoreStatus::Held };
    }),
    ("request.holdings", "mix up the two stores", |before, request| {
        if before.control().phase() == Phase::StoringMemory {
            request.store_statuses =
                StoreStatuses { local: request.store_statuses.cloud, cloud: request.store_statuses.local };
        }
    }),
    ("request.outdated", "is forgotten", |_, request| request.outdated = false),
    ("request.outdated", "is taken for granted", |_, request| request.outdated = true),
    ("request.audit_attempts", "are not counted", |_, request| request.audit_attempts = 0),
];

/// The faults that change something only under a policy with additional debaters.
const DEBATER_MUTATIONS: &[(&str, &str, Spoil)] = &[
    ("debate.additional", "is forgotten", |_, request| request.debate.additional.clear()),
    ("debate.additional", "keeps the arguments of the pass before", |before, request| {
        if let (Phase::MultiPassCheck, Some(earlier)) = (before.control().phase(), before.control().request())
        {
            request.debate.additional.clone_from(&earlier.debate.additional);
        }
    }),
];

/// Gives every failed undo this outcome.
fn replace_failed_undo(request: &mut Request, outcome: EffectOutcome) {
    let replaced = |started: &StartedTask| match started.outcome {
        EffectOutcome::UndoFailed => StartedTask { outcome, ..started.clone() },
        _ => started.clone(),
    };
    request.ledger = request.ledger.iter().map(replaced).collect();
}

/// Each field dropped or overwritten.
pub(super) fn mutants(policy: &Policy) -> Vec<Mutant> {
    let of_debaters = if policy.additional_debaters.is_empty() { &[] } else { DEBATER_MUTATIONS };
    let spoilt = REQUEST_MUTATIONS.iter().chain(of_debaters).map(|(place, fault, spoil)| Mutant {
        location: (*place).to_string(),
        fault: (*fault).to_string(),
        subject: KernelUnderTest {
            mutate_request: Some(*spoil),
            ..KernelUnderTest::unmodified(policy.clone())
        },
        row: None,
        part: Part::Core,
    });
    spoilt.collect()
}
