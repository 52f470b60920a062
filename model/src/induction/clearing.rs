//! What lets a plan run: the review, the consensus and the decision on its revision, in every phase of an execution.

use super::log::{Log, Review, TaskEnd, con, each, optional, plan, pro, scores};
use orchestrion_kernel::event::{Cause, Conclusion, DecisionLabel};
use orchestrion_kernel::ids::TaskId;
use orchestrion_kernel::module::{ConclusionKind, Operation, Ratings, Report, Role};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::{Event, Phase, Policy, Score};

const TASK: TaskId = TaskId::new(1);

/// The phases of an execution, with the pending call.
const PHASES: [(Phase, Option<Operation>); 10] = [
    (Phase::PlanApproval, Some(Operation::Approve)),
    (Phase::RunningTasks, None),
    (Phase::AssertingOutcomes, None),
    (Phase::Success, None),
    (Phase::Failure, None),
    (Phase::SelfHealingActive, Some(Operation::Diagnose)),
    (Phase::RepairReview, Some(Operation::ReviewRevision)),
    (Phase::RepairScoring, None),
    (Phase::RepairApproval, Some(Operation::Approve)),
    (Phase::RollbackActive, None),
];

const LABELS: [Option<DecisionLabel>; 6] = [
    None,
    Some(DecisionLabel::ConsensusReached),
    Some(DecisionLabel::ProceedBelowThreshold),
    Some(DecisionLabel::Rejected),
    Some(DecisionLabel::Vetoed),
    Some(DecisionLabel::Outdated),
];

/// The order of Security's review, the consensus, and the adoption of the current revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Scored,
    ScoredBeforeReview,
    Revised,
}

pub(super) fn starts(policy: &Policy) -> Vec<Vec<Event>> {
    let one = plan(&[(EffectKind::Undoable, None)]);
    let planned = vec![Log::planned(Ratings::default(), &one)];
    let vetoed = each(planned, &[false, true], |log, is_vetoed| {
        if *is_vetoed {
            log.argue(policy, Role::Security, con(policy.thresholds.veto_from));
            log.adopt(&one);
        }
        for role in Role::ALL {
            log.enter(Phase::Round(role));
            if role != Role::Security {
                log.argue(policy, role, pro());
            }
        }
        log.agree_additional(policy);
    });
    let scores: Vec<Option<Score>> = [None].into_iter().chain(scores(policy).map(Some)).collect();
    let orders = [Order::Scored, Order::ScoredBeforeReview, Order::Revised];
    let reviewed = Review::ALL.into_iter().flat_map(|review| orders.map(|order| (review, order)));
    let reviewed: Vec<_> = reviewed
        .flat_map(|(review, order)| scores.iter().map(move |score| (review, order, *score)))
        .collect();
    let cleared = each(vetoed, &reviewed, |log, (review, order, score)| {
        let score = |log: &mut Log| score.iter().for_each(|score| log.score(*score));
        if *order == Order::ScoredBeforeReview {
            score(log);
        }
        review.argument(policy).into_iter().for_each(|argument| log.argue(policy, Role::Security, argument));
        if *order != Order::ScoredBeforeReview {
            score(log);
        }
        if *order == Order::Revised {
            log.adopt(&one);
        }
    });
    let changed = optional(cleared, Log::outdate);
    let decided = each(changed, &LABELS, |log, label| {
        label.iter().for_each(|label| log.decide(*label));
    });
    let approvals: &[bool] = if policy.rules.approver { &[false, true] } else { &[false] };
    let approved = each(decided, approvals, |log, approved| {
        if *approved {
            log.reply(Operation::Approve, Report::Approval { approved: true, text: "".into() });
        }
    });
    let is_entered = |phase: &Phase| match phase {
        Phase::PlanApproval | Phase::RepairApproval => policy.rules.approver,
        _ => true,
    };
    let phases: Vec<_> = PHASES.into_iter().filter(|(phase, _)| is_entered(phase)).collect();
    let entered = each(approved, &phases, |log, (phase, operation)| {
        match phase {
            Phase::Success => log.run(TASK, TaskEnd::Exit(0)),
            Phase::AssertingOutcomes | Phase::Failure => log.run(TASK, TaskEnd::Exit(1)),
            _ => {}
        }
        conclusion_of(*phase).into_iter().for_each(|conclusion| log.emit(Event::Concluded { conclusion }));
        if *phase == Phase::SelfHealingActive {
            log.repair();
        } else {
            log.enter(*phase);
        }
        match operation {
            Some(operation) => log.call(*operation),
            None if *phase == Phase::RunningTasks => log.run(TASK, TaskEnd::Running),
            None => {}
        }
    });
    entered.into_iter().map(Log::into_events).collect()
}

/// The conclusion of a request in this phase.
const fn conclusion_of(phase: Phase) -> Option<Conclusion> {
    match phase {
        Phase::Success => Some(Conclusion { kind: ConclusionKind::Outcome, cause: Cause::Completed }),
        Phase::RollbackActive => {
            Some(Conclusion { kind: ConclusionKind::RolledBack, cause: Cause::NoRepair })
        }
        _ => None,
    }
}
