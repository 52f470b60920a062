//! The claims on why control moves: what was so before the last step, and what came.

use super::super::words::Cond::{self, Can, Flag, Is, Less, Same};
use super::super::words::{Limit, Term, Var, Who};
use orchestrion_kernel::module::Role;
use orchestrion_kernel::policy::Bound;
use orchestrion_kernel::{Phase, Policy, Trigger};

/// What a claim of this name comes to; none if it is left out.
pub(super) fn form(policy: &Policy, id: &str) -> Option<Cond> {
    let is = Cond::is;
    let late = || was(&[Phase::RollbackActive, Phase::StoringMemory, Phase::Auditing]);
    let from = |phase| was(&[phase]);
    let cancelled = || is(Var::Came, "cancel");
    let argued = || Cond::all([answered("Argue"), Same(Term::Of(Var::Heard), Term::Number(5))]);
    let unapproved = || Cond::all([answered("Approve"), !Flag(Var::Approved)]);
    let enough = || Is(Var::Scored, vec!["between", "above"]);
    let some = |on: bool| if on { Cond::True } else { Cond::False };
    Some(match id {
        "C-70" => Cond::all([
            enters(Phase::IdentityVerified, Cond::all([answered("VerifyIdentity"), Flag(Var::Verified)])),
            enters(Phase::Compacting, from(Phase::IdentityVerified)),
            enters(Phase::LoadingContext, was(&[Phase::IdentityVerified, Phase::Compacting])),
            enters(Phase::Classifying, answered("LoadContext")),
            enters(Phase::Planning, answered("Classify")),
            enters(Phase::Round(Role::Analyst), Cond::all([answered("DraftPlan"), planned()])),
        ]),
        "C-71" => {
            let unread = if policy.rules.cleared_revisions { planned() } else { Cond::False };
            let debated = Cond::all([from(Phase::Round(Role::Optimizer)), argued(), !unread]);
            let reread = Cond::all([from(Phase::PlanReread), answered("Reread")]);
            Cond::all([
                enters(Phase::MultiPassCheck, Cond::any([debated, reread])),
                enters(Phase::PlanReread, Cond::all([argued(), planned()])),
            ])
        }
        "C-72" => {
            let passes_used = !Less(Term::Of(Var::Pass), Term::Limit(Limit::Passes));
            let over = Cond::any([is(Var::Scored, "above"), passes_used, Flag(Var::Vetoed)]);
            let scored = Cond::all([from(Phase::CalculatingConsensus), Flag(Var::Current)]);
            Cond::all([
                enters(Phase::Aggregating, Cond::all([from(Phase::MultiPassCheck), over])),
                enters(Phase::CalculatingConsensus, from(Phase::Aggregating)),
                enters(Phase::EloDuels, scored),
                enters(Phase::ResolvingDecision, from(Phase::EloDuels)),
            ])
        }
        "C-73" => {
            let refused = Is(Var::Decision, vec!["VETO", "REJECT"]);
            let missing = unanswered(&["Argue", "Reread", "Approve"]);
            enters(Phase::Blocked, Cond::any([refused, missing, unapproved()]))
        }
        "C-74" => {
            let all_ran = Same(Term::Of(Var::Task), Term::Limit(Limit::Tasks));
            let over = Cond::all([from(Phase::RunningTasks), Cond::any([all_ran, Flag(Var::Failed)])]);
            let judged = |succeeded| Cond::all([from(Phase::AssertingOutcomes), succeeded]);
            Cond::all([
                enters(Phase::AssertingOutcomes, over),
                enters(Phase::Success, judged(Flag(Var::Succeeded))),
                enters(Phase::Failure, judged(!Flag(Var::Succeeded))),
            ])
        }
        "C-75" => {
            let allowed = match policy.bounds.repairs {
                Bound::AtMost(_) => !Less(Term::Limit(Limit::Repairs), Term::Of(Var::Repairs)),
                Bound::Unbounded => Cond::True,
            };
            let reread = Cond::all([from(Phase::RepairReread), answered("Reread")]);
            let cleared = Cond::all([from(Phase::RepairScoring), enough(), some(policy.rules.approver)]);
            Cond::all([
                enters(Phase::SelfHealingActive, Cond::all([from(Phase::Failure), allowed])),
                enters(Phase::RepairReread, Cond::all([answered("Diagnose"), planned()])),
                enters(Phase::RepairScoring, reread),
                enters(Phase::RepairApproval, cleared),
            ])
        }
        "C-76" => {
            let spent = match policy.bounds.repairs {
                Bound::AtMost(_) => !Less(Term::Of(Var::Repairs), Term::Limit(Limit::Repairs)),
                Bound::Unbounded => Cond::False,
            };
            let uncleared = Cond::any([Flag(Var::Vetoed), !enough()]);
            let why = Cond::any([
                cancelled(),
                unanswered(&["Diagnose", "Reread", "Approve"]),
                Cond::all([unanswered(&["RunTask"]), Flag(Var::Lost)]),
                Cond::all([from(Phase::Failure), spent]),
                Cond::all([from(Phase::SelfHealingActive), answered("Diagnose"), !planned()]),
                Cond::all([from(Phase::RepairScoring), uncleared]),
                Cond::all([from(Phase::RepairApproval), unapproved()]),
            ]);
            enters(Phase::RollbackActive, why)
        }
        "C-77" => {
            let settled = was(&[Phase::Success, Phase::Blocked, Phase::RollbackActive]);
            let unprepared = unanswered(&["LoadContext", "Classify", "DraftPlan"]);
            enters(Phase::StoringMemory, Cond::any([settled, cancelled(), unprepared]))
        }
        "C-78" => {
            let both_asked = Same(Term::Of(Var::Stores), Term::Number(2));
            let stored = Cond::all([from(Phase::StoringMemory), both_asked]);
            let turned_away = Cond::all([from(Phase::VerifyingIdentity), !Flag(Var::Verified)]);
            enters(Phase::Auditing, Cond::any([stored, turned_away]))
        }
        "C-79" => {
            let tries_used = !Less(Term::Of(Var::Tries), Term::Limit(Limit::Attempts));
            let undelivered = Cond::all([unanswered(&["DeliverAudit"]), tries_used]);
            let delivered = Cond::any([answered("DeliverAudit"), undelivered]);
            let halted = Cond::all([from(Phase::VerifyingIdentity), some(!policy.rules.audited_abort)]);
            let why = Cond::any([Cond::all([from(Phase::Auditing), delivered]), halted]);
            let rest = || Phase::ALL.into_iter().filter(|phase| phase.is_rest()).map(Phase::name).collect();
            Cond::all([Is(Var::Phase, rest()), !Is(Var::Before, rest())]).implies(why)
        }
        "C-81" => {
            let left = Less(Term::Of(Var::Task), Term::Limit(Limit::Tasks));
            is(Var::Asked, "RunTask").implies(Cond::all([left, !Flag(Var::Failed)]))
        }
        "C-82" => Cond::all([
            is(Var::Request, "running").implies(Can(Who::User(Trigger::Cancel))),
            cancelled().implies(!late()),
            is(Var::Came, "late_cancel").implies(late()),
        ]),
        "C-83" => {
            let idle = |session| Cond::all([is(Var::Phase, Phase::Idle.name()), session]);
            Cond::all([
                idle(Flag(Var::Session)).implies(Can(Who::User(Trigger::SessionEnd))),
                idle(!Flag(Var::Session)).implies(Can(Who::User(Trigger::SessionStart))),
            ])
        }
        _ => return None,
    })
}

/// If the last step led here from another state, it was for this reason.
fn enters(to: Phase, reason: Cond) -> Cond {
    Cond::all([Cond::is(Var::Phase, to.name()), !Cond::is(Var::Before, to.name())]).implies(reason)
}

/// Control stood in one of these states before the last step.
fn was(phases: &[Phase]) -> Cond {
    Is(Var::Before, phases.iter().map(|phase| phase.name()).collect())
}

/// This call was answered.
fn answered(ask: &'static str) -> Cond {
    Cond::all([Is(Var::Came, vec!["answer", "new_plan"]), Cond::is(Var::WasAsked, ask)])
}

/// One of these calls was not.
fn unanswered(asks: &[&'static str]) -> Cond {
    Cond::all([Cond::is(Var::Came, "no_answer"), Is(Var::WasAsked, asks.to_vec())])
}

/// With the answer came a plan.
fn planned() -> Cond {
    Cond::is(Var::Came, "new_plan")
}
