//! Claims on why control moves: every state is entered for a reason that the events before it tell.

use super::*;
use crate::claims::history::News;

/// Whether a move of a running request is one that a claim speaks of, and if so whether its reason is there.
fn moves(
    past: &History,
    event: &Event,
    to: impl Fn(Phase) -> bool,
    reason: impl Fn(Phase, Phase) -> bool,
) -> bool {
    // A request begins in Idle.
    match (event, past.phase.unwrap_or(Phase::Idle)) {
        (Event::Moved { row }, from) if to(row.row().to) && row.row().to != from => {
            reason(from, row.row().to)
        }
        _ => true,
    }
}

/// The module that was to answer gave no answer.
fn unanswered(news: &News, by: impl Fn(Ask) -> bool) -> bool {
    news.unanswered.is_some_and(|(ask, _)| by(ask))
}

/// As many repairs were started as the policy allows.
fn repairs_spent(policy: &Policy, past: &History) -> bool {
    matches!(policy.bounds.repairs, Bound::AtMost(most) if past.repairs >= most)
}

pub(super) const TURNS: &[Claim] = &[
    Claim {
        id: "C-70",
        clause: "004-1.4",
        statement: "Preparation goes step by step: identity, compaction if it is due, context, classification, plan, each after the answer before.",
        formula: "□ (move to s ⇒ what s rests on was answered)",
        check: Trace(|_, past, event| {
            let prepares = |to| {
                matches!(
                    to,
                    Phase::IdentityVerified
                        | Phase::Compacting
                        | Phase::LoadingContext
                        | Phase::Classifying
                        | Phase::Planning
                ) || to == Phase::Round(Role::Analyst)
            };
            moves(past, event, prepares, |from, to| match to {
                Phase::IdentityVerified => past.news.answered == Some(Ask::VerifyIdentity) && past.verified,
                Phase::LoadingContext => matches!(from, Phase::IdentityVerified | Phase::Compacting),
                Phase::Compacting => from == Phase::IdentityVerified,
                Phase::Classifying => past.news.answered == Some(Ask::LoadContext),
                Phase::Planning => past.news.answered == Some(Ask::Classify),
                _ => past.news.answered == Some(Ask::DraftPlan) && past.news.planned,
            })
        }),
        premise: |_, state| state.control.phase() == Phase::Planning,
        ..CLAIM
    },
    Claim {
        id: "C-71",
        clause: "004-1.16",
        statement: "A debate is judged only after every role argued and Security read the Optimizer's revision, if it wants that.",
        formula: "□ (judged(pass) ⇒ argued(Optimizer, pass)) ∧ □ (re-read ⇒ a new revision)",
        check: Trace(|policy, past, event| {
            let argued = Some(Ask::Argue(Role::Optimizer));
            moves(
                past,
                event,
                |to| matches!(to, Phase::MultiPassCheck | Phase::PlanReread),
                |from, to| match (from, to) {
                    (Phase::Round(Role::Optimizer), Phase::MultiPassCheck) => {
                        past.news.answered == argued && !(policy.rules.cleared_revisions && past.news.planned)
                    }
                    (Phase::PlanReread, Phase::MultiPassCheck) => past.news.answered == Some(Ask::Reread),
                    (_, to) => to == Phase::PlanReread && past.news.answered == argued && past.news.planned,
                },
            )
        }),
        premise: |_, state| state.control.phase() == Phase::MultiPassCheck,
        ..CLAIM
    },
    Claim {
        id: "C-72",
        clause: "004-1.17",
        statement: "A debate ends when the consensus is above the line, the passes are used up, or a veto stands; then it is weighed, rated and decided in this order.",
        formula: "□ (aggregate ⇒ score ≥ redebate_below ∨ pass = bounds.passes ∨ veto) ∧ order of the aggregation engine",
        check: Trace(|policy, past, event| {
            let engine = |to| {
                matches!(
                    to,
                    Phase::Aggregating
                        | Phase::CalculatingConsensus
                        | Phase::EloDuels
                        | Phase::ResolvingDecision
                )
            };
            moves(past, event, engine, |from, to| match to {
                Phase::Aggregating => {
                    from == Phase::MultiPassCheck
                        && ((past.news.scored && !past.below_line)
                            || past.pass >= policy.bounds.passes
                            || past.vetoed)
                }
                Phase::CalculatingConsensus => from == Phase::Aggregating,
                Phase::EloDuels => from == Phase::CalculatingConsensus && past.news.scored,
                _ => from == Phase::EloDuels && past.news.rated,
            })
        }),
        premise: |policy, state| {
            state.control.phase() == Phase::MultiPassCheck
                && of_request(state, |request| request.debate.pass == policy.bounds.passes)
        },
        ..CLAIM
    },
    Claim {
        id: "C-73",
        clause: "004-3.1",
        statement: "A plan is blocked for a reason: it was vetoed or rejected, a voice is missing, or the approver did not agree.",
        formula: "□ (blocked(r) ⇒ decision ∈ {VETO, REJECT} ∨ a voice gave no answer ∨ ¬approved)",
        check: Trace(|_, past, event| {
            moves(
                past,
                event,
                |to| to == Phase::Blocked,
                |_, _| {
                    let voice = |ask: Ask| ask.arguing().is_some() || ask == Ask::Approve;
                    past.news.decided.is_some_and(|label| !label.proceeds())
                        || unanswered(&past.news, voice)
                        || (past.news.answered == Some(Ask::Approve) && !past.approved)
                },
            )
        }),
        premise: |_, state| state.control.phase() == Phase::Blocked,
        ..CLAIM
    },
    Claim {
        id: "C-74",
        clause: "004-1.27",
        statement: "A run is judged by its tasks: success if all succeeded, failure otherwise, and only once it is over and reported.",
        formula: "□ (judge ⇒ (last task ended ∨ a task failed) ∧ reported) ∧ □ (success(r) ⇔ every task succeeded)",
        check: Trace(|_, past, event| {
            let judged = |to| matches!(to, Phase::AssertingOutcomes | Phase::Success | Phase::Failure);
            let over = || {
                past.outcomes.len() >= past.planned.len()
                    || past.outcomes.last().is_some_and(|last| last.ended != TaskEnd::Succeeded)
            };
            moves(past, event, judged, |from, to| match to {
                Phase::AssertingOutcomes => from == Phase::RunningTasks && over() && past.news.reported,
                Phase::Success => from == Phase::AssertingOutcomes && past.succeeded,
                _ => from == Phase::AssertingOutcomes && !past.succeeded,
            })
        }),
        premise: |_, state| state.control.phase() == Phase::AssertingOutcomes,
        ..CLAIM
    },
    Claim {
        id: "C-75",
        clause: "004-1.29",
        statement: "A repair is tried after a failed run, while the bound allows one; what it brings is read again and scored.",
        formula: "□ (repair ⇒ failed(run) ∧ repairs < bounds.repairs) ∧ □ (re-read, scored, asked about ⇒ a repaired plan)",
        check: Trace(|policy, past, event| {
            let repairs = |to| {
                matches!(
                    to,
                    Phase::SelfHealingActive
                        | Phase::RepairReread
                        | Phase::RepairScoring
                        | Phase::RepairApproval
                )
            };
            moves(past, event, repairs, |from, to| match to {
                Phase::SelfHealingActive => from == Phase::Failure && !repairs_spent(policy, past),
                Phase::RepairReread => past.news.answered == Some(Ask::Diagnose) && past.news.planned,
                Phase::RepairScoring => {
                    from == Phase::RepairReread && past.news.answered == Some(Ask::Reread)
                }
                _ => from == Phase::RepairScoring && past.enough && policy.rules.approver,
            })
        }),
        premise: |_, state| state.control.phase() == Phase::SelfHealingActive,
        ..CLAIM
    },
    Claim {
        id: "C-76",
        clause: "004-2.7",
        statement: "A run is rolled back for a reason: no repair is left or found, the repaired plan is not let run, a task was lost, or the user cancels.",
        formula: "□ (rollback(r) ⇒ repairs spent ∨ no repair ∨ repair not cleared ∨ lost(t) ∨ cancelled(r))",
        check: Trace(|policy, past, event| {
            moves(
                past,
                event,
                |to| to == Phase::RollbackActive,
                |from, _| {
                    let news = &past.news;
                    let asked = |ask| match ask {
                        Ask::RunTask { .. } => past.lost,
                        ask => matches!(ask, Ask::Diagnose | Ask::Reread | Ask::Approve),
                    };
                    news.cancelled
                        || unanswered(news, asked)
                        || match from {
                            Phase::Failure => repairs_spent(policy, past),
                            Phase::SelfHealingActive => news.answered == Some(Ask::Diagnose) && !news.planned,
                            Phase::RepairScoring => past.vetoed || !past.enough,
                            Phase::RepairApproval => news.answered == Some(Ask::Approve) && !past.approved,
                            _ => false,
                        }
                },
            )
        }),
        premise: |_, state| state.control.phase() == Phase::RollbackActive,
        ..CLAIM
    },
    Claim {
        id: "C-77",
        clause: "004-1.34",
        statement: "A request is stored when it succeeded, was blocked or rolled back, was cancelled, or could not be prepared.",
        formula: "□ (store(r) ⇒ success ∨ blocked ∨ rolled back ∨ cancelled ∨ no answer in preparation)",
        check: Trace(|_, past, event| {
            moves(
                past,
                event,
                |to| to == Phase::StoringMemory,
                |from, _| {
                    let prepares = |ask| matches!(ask, Ask::LoadContext | Ask::Classify | Ask::DraftPlan);
                    matches!(from, Phase::Success | Phase::Blocked | Phase::RollbackActive)
                        || past.news.cancelled
                        || unanswered(&past.news, prepares)
                },
            )
        }),
        premise: |_, state| state.control.phase() == Phase::StoringMemory,
        ..CLAIM
    },
    Claim {
        id: "C-78",
        clause: "004-1.35",
        statement: "A verified request is audited after both stores were asked and answered or failed; another one when it is turned away.",
        formula: "□ (audit(r) ⇒ both stores asked ∨ ¬verified(r))",
        check: Trace(|_, past, event| {
            moves(
                past,
                event,
                |to| to == Phase::Auditing,
                |from, _| match from {
                    Phase::StoringMemory => past.stores_asked == (true, true),
                    from => from == Phase::VerifyingIdentity && !past.verified,
                },
            )
        }),
        premise: |_, state| state.control.phase() == Phase::Auditing,
        ..CLAIM
    },
    Claim {
        id: "C-79",
        clause: "004-1.36",
        statement: "A request ends when its audit was delivered or may not be tried again; as drawn, also where it halts.",
        formula: "□ (ended(r) ⇒ delivered(audit(r)) ∨ tries = bounds.audit_attempts ∨ halted)",
        check: Trace(|policy, past, event| {
            !ends(past, event)
                || match past.phase {
                    Some(Phase::Auditing) => {
                        past.news.answered == Some(Ask::DeliverAudit)
                            || (past.audit_failed && past.audit_attempts >= policy.bounds.audit_attempts)
                    }
                    from => from == Some(Phase::VerifyingIdentity) && !policy.rules.audited_abort,
                }
        }),
        premise: |_, state| state.control.phase() == Phase::Auditing,
        ..CLAIM
    },
    Claim {
        id: "C-80",
        clause: "004-1.36",
        statement: "The cause with which a request is concluded is what happened, and the audit gives it.",
        formula: "□ (concluded(r) = c ⇒ c happened) ∧ □ (audit(r).cause = concluded(r))",
        check: Trace(|policy, past, event| match event {
            Event::Concluded { ending } => happened(policy, past, ending.cause),
            Event::Audited { record } => past.ending == Some(record.ending),
            Event::Memorized { .. } => past.ending.is_some(),
            _ => true,
        }),
        premise: |_, state| of_request(state, |request| request.ending.is_some()),
        ..CLAIM
    },
    Claim {
        id: "C-81",
        clause: "004-1.24",
        statement: "Tasks run in the order of the plan, each after the one before succeeded, as the kind of effect it declares.",
        formula: "□ (run(t) ⇒ t is the first of the plan without an answer ∧ every one before it succeeded)",
        check: Trace(|_, past, event| match event {
            Event::ToolCall { ask: Ask::RunTask { task, effect }, .. } => {
                past.planned.get(past.outcomes.len()) == Some(&(*task, *effect))
                    && past.outcomes.iter().all(|outcome| outcome.ended == TaskEnd::Succeeded)
            }
            _ => true,
        }),
        premise: |_, state| {
            state.control.phase() == Phase::RunningTasks
                && of_request(state, |request| !request.outcomes.is_empty())
        },
        ..CLAIM
    },
    Claim {
        id: "C-82",
        clause: "000-4.4",
        statement: "While a request runs, the user may cancel; once it is being undone, stored or audited, that goes on as it was.",
        formula: "□ (running(r) ⇒ decide(o, cancel) is no refusal, and cancels unless r is undone, stored or audited)",
        check: Reaction(|decide, state| {
            let phase = state.control.phase();
            let too_late = matches!(phase, Phase::RollbackActive | Phase::StoringMemory | Phase::Auditing);
            state.control.request().is_none()
                || decide(state, &Input::Cancel)
                    .is_ok_and(|events| events.contains(&Event::Cancelled) != too_late)
        }),
        premise: running,
        not_under: |policy| (!policy.rules.cancel).then_some("the policy has no cancel"),
        ..CLAIM
    },
    Claim {
        id: "C-83",
        clause: "000-1.3",
        statement: "In Idle a session may be opened if none is open, and else be closed.",
        formula: "□ (Idle ⇒ (session ⇒ end accepted) ∧ (¬session ⇒ start accepted))",
        check: Reaction(|decide, state| {
            let input = match state.control.session() {
                Some(_) => Input::SessionEnd,
                None => Input::SessionStart { user: crate::ids::UserId::new("u") },
            };
            state.control.phase() != Phase::Idle || decide(state, &input).is_ok()
        }),
        premise: |_, state| state.control.phase() == Phase::Idle && state.control.session().is_some(),
        ..CLAIM
    },
];

/// Whether what a cause names is what the latest events tell.
fn happened(policy: &Policy, past: &History, cause: Cause) -> bool {
    let news = &past.news;
    match cause {
        Cause::Completed => past.succeeded,
        Cause::IdentityMismatch => news.answered == Some(Ask::VerifyIdentity) && !past.verified,
        Cause::NoAnswer(module, failure) => {
            news.unanswered.is_some_and(|(ask, how)| ask.module() == module && how == failure)
        }
        Cause::Vetoed => news.decided == Some(Label::Vetoed),
        Cause::Rejected => news.decided == Some(Label::Rejected),
        Cause::NoRepair => news.answered == Some(Ask::Diagnose) && !news.planned,
        Cause::RepairsSpent => repairs_spent(policy, past),
        Cause::RepairRejected => past.phase == Some(Phase::RepairScoring) && (past.vetoed || !past.enough),
        Cause::NotApproved => news.answered == Some(Ask::Approve) && !past.approved,
        Cause::Cancelled => news.cancelled,
    }
}
