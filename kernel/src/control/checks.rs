//! Checks of the transition table: at compile time that no two rows share an id or an edge, in tests that its columns agree.

use super::table::TRANSITIONS;
use super::transition::{Switch, Transition, TransitionSource};

const _: () = {
    let mut rows = TRANSITIONS;
    while let [row, below @ ..] = rows {
        let mut others = below;
        while let [other, rest @ ..] = others {
            assert!(!is_same_text(row.id, other.id), "two rows share an id");
            assert!(!is_same_edge(row, other), "two rows share switch, from, trigger and guard");
            others = rest;
        }
        rows = below;
    }
};

/// Whether both rows have the same switch, source, trigger and guard. Enums are compared by name: `==` is not available in a
/// constant function.
const fn is_same_edge(a: &Transition, b: &Transition) -> bool {
    let is_same_source = match (a.from, b.from) {
        (TransitionSource::Phase(a), TransitionSource::Phase(b)) => is_same_text(a.name(), b.name()),
        (TransitionSource::Region(a), TransitionSource::Region(b)) => is_same_text(a.name(), b.name()),
        (TransitionSource::Phase(_), TransitionSource::Region(_))
        | (TransitionSource::Region(_), TransitionSource::Phase(_)) => false,
    };
    let is_same_switch = match (a.switch, b.switch) {
        (Switch::Always, other) => matches!(other, Switch::Always),
        (Switch::BoundedRepairs, other) => matches!(other, Switch::BoundedRepairs),
        (Switch::AdditionalDebaters, other) => matches!(other, Switch::AdditionalDebaters),
        (Switch::RuleOn(a), other) => matches!(other, Switch::RuleOn(b) if is_same_text(a.name(), b.name())),
        (Switch::RuleOff(a), other) => {
            matches!(other, Switch::RuleOff(b) if is_same_text(a.name(), b.name()))
        }
    };
    is_same_source
        && is_same_switch
        && is_same_text(a.on.name(), b.on.name())
        && is_same_text(a.when.description(), b.when.description())
}

const fn is_same_text(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([first, rest @ ..], [other, others @ ..]) = (a, b) {
        if *first != *other {
            return false;
        }
        (a, b) = (rest, others);
    }
    a.is_empty() && b.is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::guard::Guard;
    use super::super::phase::{Phase, Region};
    use super::super::transition::{CauseKind, DecisionKind, EntryAction, ExitAction};
    use super::super::trigger::Trigger;
    use super::*;
    use crate::module::{ConclusionKind, Role};
    use alloc::vec::Vec;

    fn sources(row: &Transition) -> impl Iterator<Item = Phase> {
        let from = row.from;
        Phase::ALL.into_iter().filter(move |phase| from.contains(*phase))
    }

    fn enters(row: &Transition) -> bool {
        row.from != TransitionSource::Phase(row.to)
    }

    fn calls(row: &Transition) -> bool {
        row.entry.iter().any(|action| match action {
            EntryAction::Call(_)
            | EntryAction::CallAdditionalDebater
            | EntryAction::StartTask
            | EntryAction::UndoNext
            | EntryAction::StoreMemory(_) => true,
            EntryAction::CountRepair | EntryAction::RecordMemory | EntryAction::RecordAudit => false,
        })
    }

    /// Whether the conclusion of the request is known in this phase.
    fn is_concluded(phase: Phase) -> bool {
        matches!(
            phase,
            Phase::Success
                | Phase::Blocked
                | Phase::RollbackActive
                | Phase::RollbackComplete
                | Phase::StoringMemory
                | Phase::Auditing
                | Phase::Done
                | Phase::Aborted
        )
    }

    #[test]
    fn entry_actions_agree_per_phase() {
        for phase in Phase::ALL {
            let rows: Vec<_> = TRANSITIONS.iter().filter(|row| row.to == phase && enters(row)).collect();
            for pair in rows.windows(2) {
                assert_eq!(pair[0].entry, pair[1].entry, "{} and {} enter {phase}", pair[0].id, pair[1].id);
            }
        }
    }

    #[test]
    fn rows_call_where_a_reply_is_expected() {
        for row in TRANSITIONS.iter().filter(|row| !row.ignores_cancel()) {
            let mut replies = TRANSITIONS.iter().filter(|next| next.on == Trigger::Reply);
            // Calls of other tasks are pending already.
            let awaits = row.when == Guard::TasksRunning;
            assert_eq!(calls(row) != awaits, replies.any(|next| next.from.contains(row.to)), "{}", row.id);
        }
    }

    #[test]
    fn ignored_cancels_have_no_actions() {
        for row in TRANSITIONS.iter().filter(|row| row.ignores_cancel()) {
            assert!(row.exit.is_empty() && row.conclusion.is_none() && row.entry.is_empty(), "{}", row.id);
        }
    }

    #[test]
    fn rows_into_concluded_phases_conclude() {
        for row in TRANSITIONS {
            if sources(row).any(|from| !from.is_quiescent() && !is_concluded(from)) {
                assert_eq!(row.conclusion.is_some(), is_concluded(row.to), "{}", row.id);
            } else {
                assert_eq!(row.conclusion, None, "{} concludes again", row.id);
            }
        }
    }

    #[test]
    fn conclusions_match_phase_and_trigger() {
        for row in TRANSITIONS {
            let Some(conclusion) = row.conclusion else { continue };
            let kind = match row.to {
                Phase::Success => ConclusionKind::Outcome,
                Phase::Blocked => ConclusionKind::Blocked,
                Phase::RollbackActive => ConclusionKind::RolledBack,
                _ => ConclusionKind::Aborted,
            };
            assert_eq!(conclusion.kind, kind, "{}", row.id);
            // The call of an earlier task may have failed.
            let follows_failure = row.on == Trigger::CallFailed || row.when == Guard::OutcomeUnknown;
            assert_eq!(conclusion.cause == CauseKind::CallFailed, follows_failure, "{}", row.id);
            assert_eq!(conclusion.cause == CauseKind::Cancelled, row.on == Trigger::Cancel, "{}", row.id);
        }
    }

    #[test]
    fn decisions_match_the_next_phase() {
        for row in TRANSITIONS {
            let decisions = row.exit.iter().filter_map(|action| {
                let ExitAction::Decide(kind) = action else { return None };
                Some(*kind)
            });
            let from = |phase| row.from == TransitionSource::Phase(phase) && row.on == Trigger::Step;
            let blocks = |cause| {
                row.to == Phase::Blocked && row.conclusion.is_some_and(|conclusion| conclusion.cause == cause)
            };
            let expected = if blocks(CauseKind::Vetoed) {
                Some(DecisionKind::Veto)
            } else if blocks(CauseKind::Rejected) {
                Some(DecisionKind::Reject)
            } else if row.when.reads_outdated()
                && !matches!(row.when, Guard::OutdatedApproved | Guard::TaskCanStart)
            {
                Some(DecisionKind::Outdate)
            } else {
                let clears = from(Phase::RepairScoring) && row.conclusion.is_none();
                (from(Phase::ResolvingDecision) || clears).then_some(DecisionKind::Proceed)
            };
            assert_eq!(decisions.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>(), "{}", row.id);
        }
    }

    #[test]
    fn exit_actions_match_the_phase() {
        for row in TRANSITIONS {
            let leaves = |phases: &[Phase], on: bool| on && sources(row).all(|from| phases.contains(&from));
            let step = row.on == Trigger::Step;
            for (action, expected) in [
                (
                    ExitAction::ScoreConsensus,
                    leaves(&[Phase::MultiPassCheck, Phase::CalculatingConsensus, Phase::RepairScoring], step),
                ),
                (ExitAction::UpdateRatings, leaves(&[Phase::EloDuels], step)),
                (
                    ExitAction::ReportExecution,
                    leaves(&[Phase::RunningTasks], row.to == Phase::AssertingOutcomes),
                ),
                (ExitAction::FinalAnswer, leaves(&[Phase::Auditing], row.to.is_quiescent())),
            ] {
                assert_eq!(row.exit.contains(&action), expected, "{}: {action}", row.id);
            }
        }
    }

    /// 004-1.9, 004-1.18. Phases that 004 does not draw are between its own.
    #[test]
    fn regions_contain_the_drawn_phases() {
        let drawn = |region, phases: &[Phase]| {
            for phase in Phase::ALL {
                let is_added =
                    matches!(phase, Phase::PlanReview | Phase::AdditionalRounds | Phase::PlanApproval);
                assert!(is_added || phases.contains(&phase) == (phase.region() == Some(region)), "{phase}");
            }
        };
        let rounds = Role::ALL.map(Phase::Round);
        drawn(Region::ArenaDebate, &[&[Phase::Planning][..], &rounds, &[Phase::MultiPassCheck]].concat());
        drawn(
            Region::AggregationEngine,
            &[Phase::Aggregating, Phase::CalculatingConsensus, Phase::EloDuels, Phase::ResolvingDecision],
        );
    }
}
