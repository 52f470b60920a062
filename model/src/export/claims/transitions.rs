//! The claims on why control moves: what was so before the last step, and what came.

use super::super::ast::Condition::{self, Can, Flag, Is, Less, Same};
use super::super::ast::{BoundName, StepFilter, Term, Var};
use orchestrion_kernel::module::Role;
use orchestrion_kernel::policy::Bound;
use orchestrion_kernel::{Phase, Policy, Trigger};

/// What a claim of this name comes to; none if it is left out.
pub(super) fn form(policy: &Policy, id: &str) -> Option<Condition> {
    let is = Condition::is;
    let late = || was(&[Phase::RollbackActive, Phase::StoringMemory, Phase::Auditing]);
    let from = |phase| was(&[phase]);
    let cancelled = || is(Var::Came, "cancel");
    let argued = || Condition::all([answered("Argue"), Same(Term::Of(Var::Heard), Term::Number(5))]);
    let unapproved = || Condition::all([answered("Approve"), !Flag(Var::Approved)]);
    let enough = || Is(Var::Scored, vec!["between", "above"]);
    let some = |on: bool| if on { Condition::True } else { Condition::False };
    Some(match id {
        "C-70" => Condition::all([
            enters(
                Phase::IdentityVerified,
                Condition::all([answered("VerifyIdentity"), Flag(Var::Verified)]),
            ),
            enters(Phase::Compacting, from(Phase::IdentityVerified)),
            enters(Phase::LoadingContext, was(&[Phase::IdentityVerified, Phase::Compacting])),
            enters(Phase::Classifying, answered("LoadContext")),
            enters(Phase::Planning, answered("Classify")),
            enters(Phase::Round(Role::Analyst), Condition::all([answered("DraftPlan"), planned()])),
        ]),
        "C-71" => {
            let unread = if policy.rules.cleared_revisions { planned() } else { Condition::False };
            let debated = Condition::all([from(Phase::Round(Role::Optimizer)), argued(), !unread]);
            let reread = Condition::all([from(Phase::PlanReview), answered("Reread")]);
            Condition::all([
                enters(Phase::MultiPassCheck, Condition::any([debated, reread])),
                enters(Phase::PlanReview, Condition::all([argued(), planned()])),
            ])
        }
        "C-72" => {
            let passes_used = !Less(Term::Of(Var::Pass), Term::Limit(BoundName::Passes));
            let over = Condition::any([is(Var::Scored, "above"), passes_used, Flag(Var::Vetoed)]);
            let scored = Condition::all([from(Phase::CalculatingConsensus), Flag(Var::Current)]);
            Condition::all([
                enters(Phase::Aggregating, Condition::all([from(Phase::MultiPassCheck), over])),
                enters(Phase::CalculatingConsensus, from(Phase::Aggregating)),
                enters(Phase::EloDuels, scored),
                enters(Phase::ResolvingDecision, from(Phase::EloDuels)),
            ])
        }
        "C-73" => {
            let refused = Is(Var::Decision, vec!["VETO", "REJECT"]);
            let missing = unanswered(&["Argue", "Reread", "Approve"]);
            enters(Phase::Blocked, Condition::any([refused, missing, unapproved()]))
        }
        "C-74" => {
            let all_ran = Same(Term::Of(Var::Task), Term::Limit(BoundName::Tasks));
            let over =
                Condition::all([from(Phase::RunningTasks), Condition::any([all_ran, Flag(Var::Failed)])]);
            let judged = |succeeded| Condition::all([from(Phase::AssertingOutcomes), succeeded]);
            Condition::all([
                enters(Phase::AssertingOutcomes, over),
                enters(Phase::Success, judged(Flag(Var::Succeeded))),
                enters(Phase::Failure, judged(!Flag(Var::Succeeded))),
            ])
        }
        "C-75" => {
            let allowed = match policy.bounds.repairs {
                Bound::AtMost(_) => !Less(Term::Limit(BoundName::Repairs), Term::Of(Var::Repairs)),
                Bound::Unbounded => Condition::True,
            };
            let reread = Condition::all([from(Phase::RepairReview), answered("Reread")]);
            let cleared = Condition::all([from(Phase::RepairScoring), enough(), some(policy.rules.approver)]);
            Condition::all([
                enters(Phase::SelfHealingActive, Condition::all([from(Phase::Failure), allowed])),
                enters(Phase::RepairReview, Condition::all([answered("Diagnose"), planned()])),
                enters(Phase::RepairScoring, reread),
                enters(Phase::RepairApproval, cleared),
            ])
        }
        "C-76" => {
            let spent = match policy.bounds.repairs {
                Bound::AtMost(_) => !Less(Term::Of(Var::Repairs), Term::Limit(BoundName::Repairs)),
                Bound::Unbounded => Condition::False,
            };
            let uncleared = Condition::any([Flag(Var::Vetoed), !enough()]);
            let why = Condition::any([
                cancelled(),
                unanswered(&["Diagnose", "Reread", "Approve"]),
                Condition::all([unanswered(&["RunTask"]), Flag(Var::Lost)]),
                Condition::all([from(Phase::Failure), spent]),
                Condition::all([from(Phase::SelfHealingActive), answered("Diagnose"), !planned()]),
                Condition::all([from(Phase::RepairScoring), uncleared]),
                Condition::all([from(Phase::RepairApproval), unapproved()]),
            ]);
            enters(Phase::RollbackActive, why)
        }
        "C-77" => {
            let settled = was(&[Phase::Success, Phase::Blocked, Phase::RollbackActive]);
            let unprepared = unanswered(&["LoadContext", "Classify", "DraftPlan"]);
            enters(Phase::StoringMemory, Condition::any([settled, cancelled(), unprepared]))
        }
        "C-78" => {
            let both_asked = Same(Term::Of(Var::Stores), Term::Number(2));
            let stored = Condition::all([from(Phase::StoringMemory), both_asked]);
            let turned_away = Condition::all([from(Phase::VerifyingIdentity), !Flag(Var::Verified)]);
            enters(Phase::Auditing, Condition::any([stored, turned_away]))
        }
        "C-79" => {
            let tries_used = !Less(Term::Of(Var::Tries), Term::Limit(BoundName::Attempts));
            let undelivered = Condition::all([unanswered(&["DeliverAudit"]), tries_used]);
            let delivered = Condition::any([answered("DeliverAudit"), undelivered]);
            let halted = Condition::all([from(Phase::VerifyingIdentity), some(!policy.rules.audited_abort)]);
            let why = Condition::any([Condition::all([from(Phase::Auditing), delivered]), halted]);
            let rest =
                || Phase::ALL.into_iter().filter(|phase| phase.is_quiescent()).map(Phase::name).collect();
            Condition::all([Is(Var::Phase, rest()), !Is(Var::Before, rest())]).implies(why)
        }
        "C-81" => {
            let left = Less(Term::Of(Var::Task), Term::Limit(BoundName::Tasks));
            is(Var::Asked, "RunTask").implies(Condition::all([left, !Flag(Var::Failed)]))
        }
        "C-82" => Condition::all([
            is(Var::Request, "running").implies(Can(StepFilter::User(Trigger::Cancel))),
            cancelled().implies(!late()),
            is(Var::Came, "late_cancel").implies(late()),
        ]),
        "C-83" => {
            let idle = |session| Condition::all([is(Var::Phase, Phase::Idle.name()), session]);
            Condition::all([
                idle(Flag(Var::Session)).implies(Can(StepFilter::User(Trigger::SessionEnd))),
                idle(!Flag(Var::Session)).implies(Can(StepFilter::User(Trigger::SessionStart))),
            ])
        }
        _ => return None,
    })
}

/// If the last step led here from another state, it was for this reason.
fn enters(to: Phase, reason: Condition) -> Condition {
    Condition::all([Condition::is(Var::Phase, to.name()), !Condition::is(Var::Before, to.name())])
        .implies(reason)
}

/// Control stood in one of these states before the last step.
fn was(phases: &[Phase]) -> Condition {
    Is(Var::Before, phases.iter().map(|phase| phase.name()).collect())
}

/// This call was answered.
fn answered(ask: &'static str) -> Condition {
    Condition::all([Is(Var::Came, vec!["answer", "new_plan"]), Condition::is(Var::WasAsked, ask)])
}

/// One of these calls was not.
fn unanswered(asks: &[&'static str]) -> Condition {
    Condition::all([Condition::is(Var::Came, "no_answer"), Is(Var::WasAsked, asks.to_vec())])
}

/// With the answer came a plan.
fn planned() -> Condition {
    Condition::is(Var::Came, "new_plan")
}
