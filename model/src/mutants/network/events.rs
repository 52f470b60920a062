//! Faults in the events about the network and its workflows, between `decide` and `apply`.

use crate::kernel_under_test::EventMutation;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::network::{
    HandoffReceipt, HandoffRefusal, NetworkEvent, NetworkInput, WorkflowStatus,
};
use orchestrion_kernel::{Event, Events, NodeId, State};

/// Drops every event of one kind.
macro_rules! lost {
    ($($variant:ident),*) => {
        &[$((stringify!($variant), "is lost", |_, events| {
            events.retain(|event| !matches!(event, Event::Network(NetworkEvent::$variant { .. })));
        })),*]
    };
}

const DROPPED_EVENTS: &[(&str, &str, EventMutation)] = lost!(
    SignalReceived,
    CallRouted,
    NoCandidates,
    HandoffAccepted,
    HandoffRefused,
    AttemptFailed,
    StepsAssigned,
    StepsUnroutable,
    ValidationFailed,
    ResultsAggregated,
    AggregationFailed,
    WorkflowEnded
);

/// Duplicates events that must occur once.
macro_rules! repeated {
    ($($variant:ident),*) => {
        &[$((stringify!($variant), "comes twice", |_, events| {
            let is_it = |event: &Event| matches!(event, Event::Network(NetworkEvent::$variant { .. }));
            if let Some(place) = events.iter().position(is_it) {
                events.insert(place, events[place].clone());
            }
        })),*]
    };
}

const DUPLICATED_EVENTS: &[(&str, &str, EventMutation)] = repeated!(
    SignalReceived,
    CallRouted,
    HandoffAccepted,
    HandoffRefused,
    AttemptFailed,
    StepsAssigned,
    ValidationFailed,
    ResultsAggregated,
    WorkflowEnded
);

/// Changes every event of one kind.
macro_rules! each {
    ($events:ident, $kind:pat => $change:expr) => {
        for event in $events {
            if let Event::Network($kind) = event {
                $change;
            }
        }
    };
}

fn some_node(state: &State, is_meant: impl Fn(&NodeId) -> bool) -> Option<NodeId> {
    let network = state.network()?;
    network.nodes().iter().map(|node| node.id.clone()).find(|node| is_meant(node))
}

/// Accepts handoffs that were refused for this reason.
fn accept(events: &mut Events, reason: HandoffRefusal) {
    for event in events {
        if let Event::Network(NetworkEvent::HandoffRefused { receipt: HandoffReceipt { call, .. }, refusal }) =
            event
            && *refusal == reason
        {
            *event = Event::Network(NetworkEvent::HandoffAccepted { call: *call });
        }
    }
}

const ALTERED_EVENTS: &[(&str, &str, EventMutation)] = &[
    ("CallRouted", "goes to the first other node", |state, events| {
        each!(events, NetworkEvent::CallRouted { from, to, .. } => {
            if let Some(other) = some_node(state, |node| node != from && node != to) { *to = other; }
        });
    }),
    ("CallRouted", "goes to the last node", |state, events| {
        let last =
            state.network().and_then(|network| network.nodes().iter().last().map(|node| node.id.clone()));
        each!(events, NetworkEvent::CallRouted { to, .. } => if let Some(last) = &last { to.clone_from(last); });
    }),
    ("CallRouted", "goes to a node that was tried", |_, events| {
        each!(events, NetworkEvent::CallRouted { to, tried, .. } => if let Some(first) = tried.first() { to.clone_from(first); });
    }),
    ("CallRouted", "is executed by the node that routes", |_, events| {
        each!(events, NetworkEvent::CallRouted { from, to, .. } => to.clone_from(from));
    }),
    ("CallRouted", "is routed by another node", |state, events| {
        each!(events, NetworkEvent::CallRouted { from, to, .. } => {
            if let Some(other) = some_node(state, |node| node != from && node != to) { *from = other; }
        });
    }),
    ("CallRouted", "is always the first attempt", |_, events| {
        each!(events, NetworkEvent::CallRouted { attempt, .. } => *attempt = 1);
    }),
    ("CallRouted", "forgets the nodes that were tried", |_, events| {
        each!(events, NetworkEvent::CallRouted { tried, .. } => tried.clear());
    }),
    ("CallRouted", "loads another capability", |_, events| {
        each!(events, NetworkEvent::CallRouted { capability, .. } => *capability = orchestrion_kernel::CapabilityId::new("?"));
    }),
    ("HandoffRefused", "is accepted without a signature", |_, events| {
        accept(events, HandoffRefusal::InvalidSignature);
    }),
    ("HandoffRefused", "is accepted again, or from a forger", |_, events| {
        accept(events, HandoffRefusal::NotExpected);
    }),
    ("HandoffRefused", "is accepted by a node without the capability", |_, events| {
        accept(events, HandoffRefusal::MissingCapability);
    }),
    ("HandoffRefused", "is accepted by an unavailable node", |_, events| {
        accept(events, HandoffRefusal::Unavailable);
    }),
    ("HandoffRefused", "is accepted by an overloaded node", |_, events| {
        accept(events, HandoffRefusal::Overloaded);
    }),
    ("HandoffRefused", "names another reason", |_, events| {
        each!(events, NetworkEvent::HandoffRefused { refusal, .. } => {
            *refusal = match refusal {
                HandoffRefusal::InvalidSignature => HandoffRefusal::NotExpected,
                _ => HandoffRefusal::InvalidSignature,
            };
        });
    }),
    ("HandoffAccepted", "is of another call", |_, events| {
        each!(events, NetworkEvent::HandoffAccepted { call } => *call = call.next());
    }),
    ("AttemptFailed", "is a timeout", |_, events| {
        each!(events, NetworkEvent::AttemptFailed { failure, .. } => *failure = Failure::Timeout);
    }),
    ("AttemptFailed", "is final", |_, events| {
        // The call fails, and no other attempt follows.
        let is_it = |event: &Event| matches!(event, Event::Network(NetworkEvent::AttemptFailed { .. }));
        let Some(at) = events.iter().position(is_it) else { return };
        if let Event::Network(NetworkEvent::AttemptFailed { module, call, failure }) = events[at] {
            events.truncate(at);
            events.push(Event::CallFailed { module, call, failure });
        }
    }),
    ("AttemptFailed", "is followed by no call", |_, events| {
        let is_it = |event: &Event| matches!(event, Event::Network(NetworkEvent::AttemptFailed { .. }));
        let Some(at) = events.iter().position(is_it) else { return };
        let is_call = |event: &Event| {
            matches!(event, Event::ToolCall { .. } | Event::Network(NetworkEvent::CallRouted { .. }))
        };
        let mut place = 0;
        events.retain(|event| {
            place += 1;
            place <= at || !is_call(event)
        });
    }),
    ("Exchanged", "is lost", |_, events| {
        events.retain(|event| !matches!(event, Event::Network(NetworkEvent::Exchanged(_))));
    }),
    ("Exchanged", "comes twice", |_, events| {
        let is_it = |event: &Event| matches!(event, Event::Network(NetworkEvent::Exchanged(_)));
        if let Some(place) = events.iter().position(is_it) {
            events.insert(place, events[place].clone());
        }
    }),
    ("Exchanged", "names the ends the other way round", |_, events| {
        each!(events, NetworkEvent::Exchanged(exchange) => {
            let sender = exchange.sender.clone();
            exchange.sender = std::mem::replace(&mut exchange.receiver, sender);
        });
    }),
    ("Changed", "is lost", |_, events| {
        events.retain(|event| match event {
            Event::Network(NetworkEvent::Changed(change)) => matches!(**change, NetworkInput::Create { .. }),
            _ => true,
        });
    }),
    ("Changed", "is lost, the creation included", |_, events| {
        events.retain(|event| !matches!(event, Event::Network(NetworkEvent::Changed(_))));
    }),
    ("StepsAssigned", "assigns every member to one node", |_, events| {
        each!(events, NetworkEvent::StepsAssigned { assigned, .. } => {
            if let Some(last) = assigned.last().map(|assigned| assigned.node.clone()) {
                assigned.iter_mut().for_each(|assigned| assigned.node.clone_from(&last));
            }
        });
    }),
    ("StepsAssigned", "leaves out the last member", |_, events| {
        each!(events, NetworkEvent::StepsAssigned { assigned, .. } => drop(assigned.pop()));
    }),
    ("ValidationFailed", "repeats only the validated task", |_, events| {
        each!(events, NetworkEvent::ValidationFailed { repeated, .. } => repeated.truncate(1));
    }),
    ("WorkflowEnded", "is always completed", |_, events| {
        each!(events, NetworkEvent::WorkflowEnded { status, .. } => *status = WorkflowStatus::Completed);
    }),
    ("WorkflowEnded", "has always failed", |_, events| {
        each!(events, NetworkEvent::WorkflowEnded { status, .. } => *status = WorkflowStatus::Failed);
    }),
    ("WorkflowEnded", "does not return to the originator", |_, events| {
        each!(events, NetworkEvent::WorkflowEnded { return_path, .. } => drop(return_path.pop()));
    }),
];

/// The faults in events of the network: dropped, duplicated, altered.
pub(super) fn faults() -> impl Iterator<Item = &'static (&'static str, &'static str, EventMutation)> {
    DROPPED_EVENTS.iter().chain(DUPLICATED_EVENTS).chain(ALTERED_EVENTS)
}
