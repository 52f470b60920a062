//! The claims on the reasons of transitions: the phase before the last step, and its input.

use super::super::ast::Condition::{self, Can, Flag, Is, Less, Same};
use super::super::ast::{BoundName, StepFilter, Term, Var};
use orchestrion_kernel::module::Role;
use orchestrion_kernel::policy::Bound;
use orchestrion_kernel::{Phase, Policy, Trigger};

/// The property of a claim; none if it is not exported.
pub(super) fn form(policy: &Policy, id: &str) -> Option<Condition> {
    let is = Condition::is;
    let is_late = || was(&[Phase::RollbackActive, Phase::StoringMemory, Phase::Auditing]);
    let from = |phase| was(&[phase]);
    let cancelled = || is(Var::Input, "cancel");
    let argued = || Condition::all([replied("Argue"), Same(Term::Of(Var::Argued), Term::Number(5))]);
    let approved_outdated = || Condition::all([replied("Approve"), Flag(Var::Approved), Flag(Var::Outdated)]);
    let outdated = || is(Var::Decision, "OUTDATED");
    let unapproved = || Condition::all([replied("Approve"), !Flag(Var::Approved)]);
    let enough = || Is(Var::Scored, vec!["between", "above"]);
    let some = |on: bool| if on { Condition::True } else { Condition::False };
    Some(match id {
        "C-70" => Condition::all([
            enters(Phase::IdentityVerified, Condition::all([replied("VerifyIdentity"), Flag(Var::Verified)])),
            enters(Phase::Compacting, from(Phase::IdentityVerified)),
            enters(Phase::LoadingContext, was(&[Phase::IdentityVerified, Phase::Compacting])),
            enters(Phase::Classifying, replied("LoadContext")),
            enters(Phase::Planning, replied("Classify")),
            enters(Phase::Round(Role::Analyst), Condition::all([replied("DraftPlan"), has_new_plan()])),
        ]),
        "C-71" => {
            let unreviewed = if policy.rules.cleared_revisions { has_new_plan() } else { Condition::False };
            let debated = Condition::all([from(Phase::Round(Role::Optimizer)), argued(), !unreviewed]);
            let reviewed = Condition::all([from(Phase::PlanReview), replied("ReviewRevision")]);
            let argued_by_all = Condition::any([debated, reviewed]);
            let additional = Condition::all([from(Phase::AdditionalRounds), replied("ArgueAdditional")]);
            Condition::all([
                enters(Phase::AdditionalRounds, argued_by_all.clone()),
                enters(Phase::MultiPassCheck, Condition::any([argued_by_all, additional])),
                enters(Phase::PlanReview, Condition::all([argued(), has_new_plan()])),
            ])
        }
        "C-72" => {
            let passes_used = !Less(Term::Of(Var::Pass), Term::Limit(BoundName::Passes));
            let over = Condition::any([is(Var::Scored, "above"), passes_used, Flag(Var::Vetoed)]);
            let scored = Condition::all([from(Phase::CalculatingConsensus), Flag(Var::ScoreCurrent)]);
            Condition::all([
                enters(Phase::Aggregating, Condition::all([from(Phase::MultiPassCheck), over])),
                enters(Phase::CalculatingConsensus, from(Phase::Aggregating)),
                enters(Phase::EloDuels, scored),
                enters(
                    Phase::ResolvingDecision,
                    Condition::any([
                        from(Phase::EloDuels),
                        Condition::all([from(Phase::PlanApproval), approved_outdated()]),
                    ]),
                ),
            ])
        }
        "C-73" => {
            let rejected = Is(Var::Decision, vec!["VETO", "REJECT", "OUTDATED"]);
            let failed = call_failed(&["Argue", "ArgueAdditional", "ReviewRevision", "Approve"]);
            enters(Phase::Blocked, Condition::any([rejected, failed, unapproved()]))
        }
        "C-74" => {
            let all_ran = Same(Term::Of(Var::Task), Term::Limit(BoundName::Tasks));
            let over =
                Condition::all([from(Phase::RunningTasks), Condition::any([all_ran, Flag(Var::Failed)])]);
            let evaluated = |succeeded| Condition::all([from(Phase::AssertingOutcomes), succeeded]);
            Condition::all([
                enters(Phase::AssertingOutcomes, over),
                enters(Phase::Success, evaluated(Flag(Var::Succeeded))),
                enters(Phase::Failure, evaluated(!Flag(Var::Succeeded))),
            ])
        }
        "C-75" => {
            let allowed = match policy.bounds.repairs {
                Bound::AtMost(_) => !Less(Term::Limit(BoundName::Repairs), Term::Of(Var::Repairs)),
                Bound::Unbounded => Condition::True,
            };
            let reviewed = Condition::all([from(Phase::RepairReview), replied("ReviewRevision")]);
            let cleared = Condition::all([from(Phase::RepairScoring), enough(), some(policy.rules.approver)]);
            Condition::all([
                enters(Phase::SelfHealingActive, Condition::all([from(Phase::Failure), allowed])),
                enters(
                    Phase::RepairReview,
                    Condition::any([
                        Condition::all([replied("Diagnose"), has_new_plan()]),
                        Condition::all([from(Phase::RunningTasks), outdated()]),
                    ]),
                ),
                enters(
                    Phase::RepairScoring,
                    Condition::any([
                        reviewed,
                        Condition::all([from(Phase::RepairApproval), approved_outdated()]),
                    ]),
                ),
                enters(Phase::RepairApproval, cleared),
            ])
        }
        "C-76" => {
            let exhausted = match policy.bounds.repairs {
                Bound::AtMost(_) => !Less(Term::Of(Var::Repairs), Term::Limit(BoundName::Repairs)),
                Bound::Unbounded => Condition::False,
            };
            let uncleared = Condition::any([Flag(Var::Vetoed), !enough()]);
            let reason = Condition::any([
                cancelled(),
                call_failed(&["Diagnose", "ReviewRevision", "Approve"]),
                Condition::all([call_failed(&["RunTask"]), Flag(Var::OutcomeUnknown)]),
                Condition::all([from(Phase::Failure), exhausted]),
                Condition::all([from(Phase::SelfHealingActive), replied("Diagnose"), !has_new_plan()]),
                Condition::all([from(Phase::RepairScoring), Condition::any([uncleared, outdated()])]),
                Condition::all([from(Phase::RepairApproval), unapproved()]),
            ]);
            enters(Phase::RollbackActive, reason)
        }
        "C-77" => {
            let concluded = was(&[Phase::Success, Phase::Blocked, Phase::RollbackActive]);
            let preparation_failed = call_failed(&["LoadContext", "Classify", "DraftPlan"]);
            enters(Phase::StoringMemory, Condition::any([concluded, cancelled(), preparation_failed]))
        }
        "C-78" => {
            let both_called = Same(Term::Of(Var::Stores), Term::Number(2));
            let stored = Condition::all([from(Phase::StoringMemory), both_called]);
            let unverified = Condition::all([from(Phase::VerifyingIdentity), !Flag(Var::Verified)]);
            enters(Phase::Auditing, Condition::any([stored, unverified]))
        }
        "C-79" => {
            let attempts_used = !Less(Term::Of(Var::Attempts), Term::Limit(BoundName::Attempts));
            let undelivered = Condition::all([call_failed(&["DeliverAudit"]), attempts_used]);
            let delivered = Condition::any([replied("DeliverAudit"), undelivered]);
            let halted = Condition::all([from(Phase::VerifyingIdentity), some(!policy.rules.audited_abort)]);
            let reason = Condition::any([Condition::all([from(Phase::Auditing), delivered]), halted]);
            let quiescent =
                || Phase::ALL.into_iter().filter(|phase| phase.is_quiescent()).map(Phase::name).collect();
            Condition::all([Is(Var::Phase, quiescent()), !Is(Var::Before, quiescent())]).implies(reason)
        }
        "C-81" => {
            let left = Less(Term::Of(Var::Task), Term::Limit(BoundName::Tasks));
            is(Var::Call, "RunTask").implies(Condition::all([left, !Flag(Var::Failed)]))
        }
        "C-82" => Condition::all([
            is(Var::Request, "running").implies(Can(StepFilter::User(Trigger::Cancel))),
            cancelled().implies(!is_late()),
            is(Var::Input, "late_cancel").implies(is_late()),
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

/// The last step entered this phase from another one only for this reason.
fn enters(to: Phase, reason: Condition) -> Condition {
    Condition::all([Condition::is(Var::Phase, to.name()), !Condition::is(Var::Before, to.name())])
        .implies(reason)
}

/// The phase before the last step was one of these.
fn was(phases: &[Phase]) -> Condition {
    Is(Var::Before, phases.iter().map(|phase| phase.name()).collect())
}

/// The last input was a reply to this operation.
fn replied(operation: &'static str) -> Condition {
    Condition::all([Is(Var::Input, vec!["reply", "new_plan"]), Condition::is(Var::CallBefore, operation)])
}

/// The last input was the failure of a call with one of these operations.
fn call_failed(operations: &[&'static str]) -> Condition {
    Condition::all([Condition::is(Var::Input, "call_failed"), Is(Var::CallBefore, operations.to_vec())])
}

/// The last input was a reply with a new plan.
fn has_new_plan() -> Condition {
    Condition::is(Var::Input, "new_plan")
}
