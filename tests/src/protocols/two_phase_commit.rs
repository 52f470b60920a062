//! Two-phase commit: a manager commits a transaction once every participant is prepared (Gray and Lamport, "Consensus on
//! Transaction Commit").

use stateright::{Model, Property};
use std::collections::BTreeSet;

/// Two-phase commit with a number of participants.
#[derive(Clone, Copy, Debug)]
pub struct TwoPhaseCommit {
    /// The number of participants.
    pub participants: usize,
}

/// The phase of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Participant {
    /// Works on the transaction.
    Working,
    /// Is ready to commit.
    Prepared,
    /// Committed.
    Committed,
    /// Aborted.
    Aborted,
}

/// The decision of the manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Not decided.
    Open,
    /// Committed.
    Commit,
    /// Aborted.
    Abort,
}

/// A message. A sent message stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Message {
    /// A participant is prepared.
    Prepared(usize),
    /// The manager committed.
    Commit,
    /// The manager aborted.
    Abort,
}

/// Participants, manager and messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    participants: Vec<Participant>,
    decision: Decision,
    /// The participants of which the manager knows that they are prepared.
    known_prepared: Vec<bool>,
    sent: BTreeSet<Message>,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The manager commits.
    Commit,
    /// The manager aborts.
    Abort,
    /// The manager learns that a participant is prepared.
    LearnPrepared(usize),
    /// A participant prepares.
    Prepare(usize),
    /// A participant gives up.
    GiveUp(usize),
    /// A participant reads that the manager committed.
    ReadCommit(usize),
    /// A participant reads that the manager aborted.
    ReadAbort(usize),
}

impl Model for TwoPhaseCommit {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            participants: vec![Participant::Working; self.participants],
            decision: Decision::Open,
            known_prepared: vec![false; self.participants],
            sent: BTreeSet::new(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let open = state.decision == Decision::Open;
        if open {
            if state.known_prepared.iter().all(|known| *known) {
                actions.push(Action::Commit);
            }
            actions.push(Action::Abort);
        }
        for (participant, phase) in state.participants.iter().enumerate() {
            if open && state.sent.contains(&Message::Prepared(participant)) {
                actions.push(Action::LearnPrepared(participant));
            }
            if *phase == Participant::Working {
                actions.extend([Action::Prepare(participant), Action::GiveUp(participant)]);
            }
            if state.sent.contains(&Message::Commit) {
                actions.push(Action::ReadCommit(participant));
            }
            if state.sent.contains(&Message::Abort) {
                actions.push(Action::ReadAbort(participant));
            }
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Commit => {
                next.decision = Decision::Commit;
                next.sent.insert(Message::Commit);
            }
            Action::Abort => {
                next.decision = Decision::Abort;
                next.sent.insert(Message::Abort);
            }
            Action::LearnPrepared(participant) => next.known_prepared[participant] = true,
            Action::Prepare(participant) => {
                next.participants[participant] = Participant::Prepared;
                next.sent.insert(Message::Prepared(participant));
            }
            Action::GiveUp(participant) | Action::ReadAbort(participant) => {
                next.participants[participant] = Participant::Aborted;
            }
            Action::ReadCommit(participant) => next.participants[participant] = Participant::Committed,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::sometimes("all abort", |_, state: &State| {
                state.participants.iter().all(|phase| *phase == Participant::Aborted)
            }),
            Property::sometimes("all commit", |_, state: &State| {
                state.participants.iter().all(|phase| *phase == Participant::Committed)
            }),
            Property::always("participants agree", |_, state: &State| {
                let any = |phase| state.participants.contains(&phase);
                !(any(Participant::Aborted) && any(Participant::Committed))
            }),
        ]
    }
}
