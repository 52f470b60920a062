//! The inputs of the adversary about ratings: past ratings that differ, and every stance against them (decisions 0006, 0014).

use super::{argument, unheard_security};
use orchestrion_kernel::Score;
use orchestrion_kernel::module::{Operation, Rating, Ratings, Report, Role, Stance};
use orchestrion_kernel::policy::Thresholds;

/// The reports of memory and of the roles; none for other operations.
pub(super) fn reports(thresholds: &Thresholds, ask: Operation) -> Option<Vec<Report>> {
    match ask {
        Operation::LoadContext => {
            let report = |ratings| Report::Context { ratings, traces: Vec::new() };
            Some([unequal(), unheard_security(), extreme()].map(report).into())
        }
        Operation::Argue(role) => Some(arguments(thresholds, role)),
        Operation::VerifyIdentity
        | Operation::Summarize
        | Operation::Classify
        | Operation::DraftPlan
        | Operation::ArgueAdditional { .. }
        | Operation::ReviewRevision
        | Operation::Approve
        | Operation::RunTask { .. }
        | Operation::Diagnose
        | Operation::UndoTask { .. }
        | Operation::StoreMemory { .. }
        | Operation::DeliverAudit => None,
    }
}

/// One argument for the plan, and one against it for each rule of the ratings: Security objects without a veto and with one, and a
/// critique of the Critic is strong or not.
fn arguments(thresholds: &Thresholds, role: Role) -> Vec<Report> {
    let objections = match role {
        Role::Critic => vec![thresholds.critique_above, Score::ONE],
        Role::Security => vec![thresholds.objection_from, thresholds.veto_from],
        Role::Analyst | Role::Solution | Role::Optimizer => vec![Score::ONE],
    };
    let objections = objections.into_iter().map(|confidence| argument(Stance::Con, confidence, None));
    [argument(Stance::Pro, Score::ONE, None)].into_iter().chain(objections).collect()
}

/// No two roles have the same points or the same accuracy, and duels have several outcomes.
fn unequal() -> Ratings {
    Ratings {
        analyst: Rating { elo: 1_450, successes: 3, matches: 4 },
        solution: Rating { elo: 1_040, successes: 1, matches: 3 },
        critic: Rating { elo: 1_290, successes: 0, matches: 0 },
        security: Rating { elo: 980, successes: 2, matches: 2 },
        optimizer: Rating { elo: 1_180, successes: 1, matches: 2 },
    }
}

/// Points at both ends of their range, where a gain or a loss saturates; one role has more successes than matches.
fn extreme() -> Ratings {
    let of = |elo| Rating { elo, successes: 0, matches: 0 };
    Ratings {
        analyst: of(u32::MAX),
        solution: Rating { successes: 5, matches: 2, ..of(3) },
        critic: of(u32::MAX),
        security: of(u32::MAX - 1),
        optimizer: of(0),
    }
}
