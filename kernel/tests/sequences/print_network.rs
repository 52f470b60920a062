//! Events and states of the network as lines.

use crate::print::{print_name, print_text};
use orchestrion_kernel::State;
use orchestrion_kernel::module::Module;
use orchestrion_kernel::network::aggregation::AggregateAnswer;
use orchestrion_kernel::network::{
    Contribution, DefenseStatus, Millionths, NetworkEvent, NetworkInput, Node,
};
use orchestrion_kernel::state::Assignment;

/// Joins values with commas between them; an empty list is `none`.
fn join(values: impl IntoIterator<Item = impl ToString>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    if values.is_empty() { "none".to_owned() } else { values.join(",") }
}

pub(crate) fn print_network_event(event: &NetworkEvent) -> String {
    match event {
        NetworkEvent::Changed(change) => print_change(change),
        NetworkEvent::SignalReceived { receiver, signal } => format!(
            "SignalReceived {receiver}: {} from {} via {}, {} after {} hops",
            signal.subject, signal.origin, signal.sender, signal.confidence, signal.hops
        ),
        NetworkEvent::CallRouted { call, from, to, capability, attempt, tried } => {
            let repeated = match attempt {
                1 => String::new(),
                attempt => format!(" attempt={attempt} tried={}", join(tried)),
            };
            format!("CallRouted {call} {from} to {to} {capability}{repeated}")
        }
        NetworkEvent::NoCandidates { call, capability, removed } => {
            let filters =
                removed.removed.iter().map(|(filter, count)| format!("{count} {}", print_name(filter)));
            let emptied_by = join(removed.emptied_by.iter().map(print_name));
            format!(
                "NoCandidates {call} {} removed={} emptied_by={emptied_by}",
                join(capability),
                join(filters)
            )
        }
        NetworkEvent::HandoffAccepted { call } => format!("HandoffAccepted {call}"),
        NetworkEvent::HandoffRefused { receipt, refusal } => {
            format!("HandoffRefused {} to {}: {refusal}", receipt.call, receipt.to)
        }
        NetworkEvent::AttemptFailed { call, failure, .. } => {
            format!("AttemptFailed {call} {}", print_name(failure))
        }
        NetworkEvent::Exchanged(exchange) => format!(
            "Exchanged {} to {} {} at {}, {} task {}, result {}",
            exchange.sender,
            exchange.receiver,
            exchange.capability,
            exchange.at.millis(),
            short(exchange.volume),
            print_contribution(&exchange.task),
            print_contribution(&exchange.result)
        ),
        NetworkEvent::Affirmed { node, partner } => format!("Affirmed {partner} by {node}"),
        NetworkEvent::StepsAssigned { assigned, left_out } => {
            let nodes = assigned.iter().map(|step| format!("{} to {}", step.task, step.node));
            format!("StepsAssigned {} left_out={}", join(nodes), join(left_out))
        }
        NetworkEvent::StepsUnroutable { task } => format!("StepsUnroutable {task}"),
        NetworkEvent::ValidationFailed { task, repeated } => {
            format!("ValidationFailed {task} repeated={}", join(repeated))
        }
        NetworkEvent::ResultsAggregated { aggregate } => {
            let answer = match &aggregate.answer {
                AggregateAnswer::Text(text) => print_text(text.as_str()),
                AggregateAnswer::Number(number) => short(*number),
            };
            let dissenting = join(&aggregate.dissenting);
            format!("ResultsAggregated {answer} confidence={} dissenting={dissenting}", aggregate.confidence)
        }
        NetworkEvent::AggregationFailed { error } => format!("AggregationFailed: {error}"),
        NetworkEvent::WorkflowEnded { status, lineage, return_path } => {
            let (status, lineage) = (print_name(status), join(lineage));
            format!("WorkflowEnded {status} lineage={lineage} return_path={}", join(return_path))
        }
    }
}

fn print_change(change: &NetworkInput) -> String {
    match change {
        NetworkInput::Create { orchestrator, .. } => format!("Created {orchestrator}"),
        NetworkInput::Join { node } => format!("Joined {}", node.id),
        NetworkInput::Leave { node } => format!("Left {node}"),
        NetworkInput::SetAvailable { node, capability, available } => {
            format!("AvailabilitySet {node} {capability} {available}")
        }
        NetworkInput::ReportLoad { node, load } => format!("LoadReported {node} {}", join(load)),
        NetworkInput::RotateKey { node, .. } => format!("KeyRotated {node}"),
        NetworkInput::ResolveThreat { node, subject } => format!("ThreatResolved {subject} by {node}"),
        NetworkInput::Tick => "TimePassed".to_owned(),
        NetworkInput::Signal { .. } | NetworkInput::Handoff(_) => panic!("unexpected change {change:?}"),
    }
}

/// Prints a number without zeros at its end.
fn short(number: Millionths) -> String {
    number.to_string().trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn print_contribution(contribution: &Contribution) -> String {
    let Contribution { quality, is_rated, tone, tokens } = contribution;
    let rated = if *is_rated { "rated" } else { "unrated" };
    format!("{quality} {rated} tone={} tokens={}", short(*tone), short(*tokens))
}

/// Prints the nodes of the network, or those with these names. Of the capabilities of modules, only that of the executor is shown.
pub(crate) fn print_nodes(state: &State, names: Option<&str>) -> Vec<String> {
    let is_named =
        |node: &&Node| names.is_none_or(|names| names.split(',').any(|name| node.id.as_str() == name));
    let nodes = state.network().into_iter().flat_map(|network| network.nodes().iter());
    nodes.filter(is_named).map(print_node).collect()
}

fn print_node(node: &Node) -> String {
    let mut fields = vec![("trust", node.trust.to_string()), ("computed", node.computed_trust.to_string())];
    let is_shown = |id| !Module::ALL.into_iter().any(|one| one != Module::Executor && one.capability() == id);
    let shown = node.capabilities.iter().filter(|(id, _)| is_shown((*id).clone()));
    let shown = shown.map(|(id, state)| {
        let available = if state.available { "" } else { ":unavailable" };
        format!("{id}:{}:uses={}:tasks={}{available}", state.quality, state.volume, state.current_tasks)
    });
    fields.push(("capabilities", join(shown)));
    let connections = node.connections.iter().map(|(partner, connection)| {
        let status = print_name(&connection.status);
        format!("{partner}:{}:{}:{status}:{}", connection.weight, connection.quality, connection.interactions)
    });
    fields.push(("connections", join(connections)));
    let beliefs = node.threat_beliefs.iter().map(|(subject, belief)| {
        format!("{subject}:{}{}", belief.level, if belief.is_confirmed { ":confirmed" } else { "" })
    });
    fields.push(("threats", join(beliefs)));
    if node.defense.status != DefenseStatus::Normal || node.defense.priming.millionths() > 0 {
        fields.push(("defense", format!("{}:{}", print_name(&node.defense.status), node.defense.priming)));
    }
    fields.push(("load", join(node.reported_load)));
    let key = String::from_utf8_lossy(&node.public_key).into_owned();
    fields.push(("key", if key.is_empty() { "none".to_owned() } else { key }));
    let fields = fields.iter().filter(|(_, value)| value != "none");
    let fields: String = fields.map(|(name, value)| format!(" {name}={value}")).collect();
    format!("| {} {}{fields}", node.id, print_name(&node.status))
}

/// Prints the calls that nodes execute.
pub(crate) fn print_assignments(state: &State) -> Vec<String> {
    let assignments = state.network().map(|network| network.assignments()).unwrap_or_default();
    let print = |one: &Assignment| {
        let place = if one.is_local() { "local" } else { "handed off" };
        format!("call {} {} to {} {}, {place}", one.call, one.from, one.to, print_name(&one.status))
    };
    let printed: Vec<String> = assignments.iter().map(print).collect();
    if printed.is_empty() { vec!["no calls".to_owned()] } else { printed }
}
