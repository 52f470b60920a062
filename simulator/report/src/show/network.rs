//! The network in words: nodes, handoffs, interactions, and the run of a plan as a workflow (001, decision 0042).

use super::renderer::{Line, Renderer, TextStyle};
use super::step_view::StepView;
use crate::text::count;
use orchestrion_kernel::network::aggregation::{Aggregate, AggregateAnswer};
use orchestrion_kernel::network::{
    Exchange, Feedback, HandoffReceipt, InteractionReport, NetworkEvent, NetworkInput, Node, WorkflowStatus,
};
use orchestrion_kernel::{Event, NodeId};
use std::fmt::Display;
use std::io;

/// Returns an input of the network: who acts, and what happens.
pub(super) fn input(input: &NetworkInput) -> (Line, Line) {
    let actor = |name: &dyn Display| Line::new().styled(TextStyle::Actor, name);
    match input {
        NetworkInput::Create { orchestrator, nodes, .. } => {
            let line = format_args!("{} around {orchestrator}", count(nodes.len(), "node")).to_string();
            (actor(&"network"), Line::text(line))
        }
        NetworkInput::Join { node } => (actor(&node.id), Line::text("joins the network")),
        NetworkInput::Leave { node } => (actor(node), Line::text("leaves the network")),
        NetworkInput::SetAvailable { node, capability, available } => {
            let verb = if *available { "offers" } else { "withdraws" };
            (actor(node), Line::text(format_args!("{verb} {capability}")))
        }
        NetworkInput::ReportLoad { node, load } => {
            let line = match load {
                Some(load) => format!("reports load {load}"),
                None => "reports no load".to_owned(),
            };
            (actor(node), Line::text(line))
        }
        NetworkInput::RotateKey { node, .. } => (actor(node), Line::text("has a new key")),
        NetworkInput::Signal { receiver, signal } => {
            let line = format!("receives a warning about {} from {}", signal.subject, signal.sender);
            (actor(receiver), Line::text(line))
        }
        NetworkInput::ResolveThreat { node, subject } => {
            (actor(node), Line::text(format_args!("no longer believes that {subject} is a threat")))
        }
        NetworkInput::Tick => (actor(&"network"), Line::text("time passes for connections and priming")),
        NetworkInput::Handoff(receipt) => (actor(&receipt.to), handoff(receipt)),
    }
}

fn handoff(HandoffReceipt { call, from, .. }: &HandoffReceipt) -> Line {
    Line::text(format_args!("receives the handoff of call {call} from {from}"))
}

/// Returns the name of an event, and its fields.
pub(super) fn describe(event: &NetworkEvent) -> (&'static str, Line) {
    let name = match event {
        NetworkEvent::Changed(_) => "NetworkChanged",
        NetworkEvent::SignalReceived { .. } => "SignalReceived",
        NetworkEvent::CallRouted { .. } => "CallRouted",
        NetworkEvent::NoCandidates { .. } => "NoCandidates",
        NetworkEvent::HandoffAccepted { .. } => "HandoffAccepted",
        NetworkEvent::HandoffRefused { .. } => "HandoffRefused",
        NetworkEvent::AttemptFailed { .. } => "AttemptFailed",
        NetworkEvent::Exchanged(_) => "Exchanged",
        NetworkEvent::Affirmed { .. } => "Affirmed",
        NetworkEvent::StepsAssigned { .. } => "StepsAssigned",
        NetworkEvent::StepsUnroutable { .. } => "StepsUnroutable",
        NetworkEvent::ValidationFailed { .. } => "ValidationFailed",
        NetworkEvent::ResultsAggregated { .. } => "ResultsAggregated",
        NetworkEvent::AggregationFailed { .. } => "AggregationFailed",
        NetworkEvent::WorkflowEnded { .. } => "WorkflowEnded",
    };
    (name, line(event))
}

/// Returns what an event says.
fn line(event: &NetworkEvent) -> Line {
    let good = |text: String| Line::new().styled(TextStyle::Good, text);
    let bad = |text: String| Line::new().styled(TextStyle::Bad, text);
    match event {
        NetworkEvent::Changed(change) => {
            let (actor, line) = input(change);
            actor.and(" ").join(line)
        }
        NetworkEvent::SignalReceived { receiver, signal } => Line::text(format_args!(
            "{receiver} hears from {} that {} is a threat, confidence {}",
            signal.sender, signal.subject, signal.confidence
        )),
        NetworkEvent::CallRouted { call, from, to, capability, attempt, .. } => {
            let line = if from == to {
                Line::text(format_args!("call {call}: {from} executes {capability} itself"))
            } else {
                Line::text(format_args!("call {call}: {from} hands {capability} to "))
                    .styled(TextStyle::Actor, to)
            };
            if *attempt > 1 { line.and(format_args!(", attempt {attempt}")) } else { line }
        }
        NetworkEvent::NoCandidates { call, capability, removed } => {
            let capability =
                capability.as_ref().map_or_else(|| "no capability".to_owned(), ToString::to_string);
            let filters: Vec<String> = removed
                .removed
                .iter()
                .map(|(filter, nodes)| {
                    format!("{} {filter}", count(usize::try_from(*nodes).unwrap_or(usize::MAX), "node"))
                })
                .collect();
            bad(format!("call {call}: no candidate for {capability} ({})", filters.join("; ")))
        }
        NetworkEvent::HandoffAccepted { call } => good(format!("call {call}: handoff accepted")),
        NetworkEvent::HandoffRefused { receipt, refusal } => {
            bad(format!("call {}: {} refuses the handoff: {refusal}", receipt.call, receipt.to))
        }
        NetworkEvent::AttemptFailed { call, failure, .. } => {
            bad(format!("call {call}: the attempt failed ({failure})")).and(", the next-best node is tried")
        }
        NetworkEvent::Exchanged(exchange) => exchanged(exchange),
        NetworkEvent::Affirmed { node, partner } => good(format!("{node} affirms {partner}")),
        NetworkEvent::StepsAssigned { assigned, left_out } => {
            let tasks = assigned.iter().map(|step| format!("task {} to {}", step.task, step.node));
            let left_out = left_out.iter().map(|task| format!("task {task} to no node"));
            Line::text(tasks.chain(left_out).collect::<Vec<_>>().join(", "))
        }
        NetworkEvent::StepsUnroutable { task } => {
            bad(format!("no candidate for task {task}: no task starts"))
        }
        NetworkEvent::ValidationFailed { task, repeated } => {
            let repeated: Vec<String> = repeated.iter().map(ToString::to_string).collect();
            Line::new().styled(
                TextStyle::Warn,
                format_args!("validation by task {task} failed, repeated: {}", repeated.join(", ")),
            )
        }
        NetworkEvent::ResultsAggregated { aggregate } => aggregated(aggregate),
        NetworkEvent::AggregationFailed { error } => bad(error.to_string()),
        NetworkEvent::WorkflowEnded { status, lineage, return_path } => {
            let style = match status {
                WorkflowStatus::Completed => TextStyle::Good,
                WorkflowStatus::Pending | WorkflowStatus::Running | WorkflowStatus::Cancelled => {
                    TextStyle::Warn
                }
                WorkflowStatus::Failed => TextStyle::Bad,
            };
            let line = Line::new().styled(style, workflow_status(*status));
            if lineage.is_empty() {
                return line;
            }
            line.and(format_args!(
                ", executed by {}; results back along {}",
                hops(lineage),
                hops(return_path)
            ))
        }
    }
}

const fn workflow_status(status: WorkflowStatus) -> &'static str {
    match status {
        WorkflowStatus::Pending => "pending",
        WorkflowStatus::Running => "running",
        WorkflowStatus::Completed => "completed",
        WorkflowStatus::Failed => "failed",
        WorkflowStatus::Cancelled => "cancelled",
    }
}

fn hops(nodes: &[NodeId]) -> String {
    nodes.iter().map(NodeId::as_str).collect::<Vec<_>>().join(" → ")
}

fn exchanged(exchange: &Exchange) -> Line {
    let Exchange { sender, receiver, capability, result, .. } = exchange;
    if sender == receiver {
        return Line::text(format_args!("{sender} used its {capability}"));
    }
    Line::text(format_args!(
        "{sender} and {receiver}: {capability}, quality {}, tone {}",
        short(result.quality.millionths()),
        short_signed(result.tone.get())
    ))
}

fn aggregated(aggregate: &Aggregate) -> Line {
    let line = match &aggregate.answer {
        AggregateAnswer::Text(text) => Line::text("answer ").quote(text.as_str()),
        AggregateAnswer::Number(number) => Line::text(format_args!("answer {number}")),
    };
    let line = line.and(format_args!(", confidence {}", aggregate.confidence));
    if aggregate.dissenting.is_empty() {
        return line;
    }
    let nodes: Vec<&str> = aggregate.dissenting.iter().map(NodeId::as_str).collect();
    line.styled(TextStyle::Warn, format_args!(", {} disagree", nodes.join(" and ")))
}

/// Returns how both ends judge an interaction.
pub(super) fn judgement(judged: &InteractionReport) -> Line {
    let InteractionReport { feedback, tone, task_feedback, task_tone } = judged;
    let line = match feedback {
        Some(feedback) => Line::text(format_args!("result: {}, tone {tone}", ratings(feedback))),
        None => Line::text(format_args!("result: not rated, tone {tone}")),
    };
    match task_feedback {
        Some(feedback) => line.and(format_args!("; task: {}, tone {task_tone}", ratings(feedback))),
        None => line,
    }
}

fn ratings(Feedback { help, accuracy, relevance, timeliness, reuse }: &Feedback) -> String {
    let reuse = if *reuse { ", used again" } else { "" };
    format!("help {help}, accuracy {accuracy}, relevance {relevance}, timeliness {timeliness}{reuse}")
}

/// Writes what the step did in the network, below its first line.
pub(super) fn write_effects(out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
    for event in &view.step.events {
        let Event::Network(event) = event else { continue };
        if is_local(event) {
            continue;
        }
        let label = match event {
            // The first line of the step says it.
            NetworkEvent::Changed(_) => continue,
            NetworkEvent::SignalReceived { .. } => "warning",
            NetworkEvent::CallRouted { .. } | NetworkEvent::NoCandidates { .. } => "routing",
            NetworkEvent::HandoffAccepted { .. } | NetworkEvent::HandoffRefused { .. } => "handoff",
            NetworkEvent::AttemptFailed { .. } => "attempt",
            NetworkEvent::Exchanged(_) | NetworkEvent::Affirmed { .. } => "interaction",
            NetworkEvent::StepsAssigned { .. } | NetworkEvent::StepsUnroutable { .. } => "assignment",
            NetworkEvent::ValidationFailed { .. } => "validation",
            NetworkEvent::ResultsAggregated { .. } | NetworkEvent::AggregationFailed { .. } => "aggregate",
            NetworkEvent::WorkflowEnded { .. } => "workflow",
        };
        let line = line(event);
        let line = match event {
            NetworkEvent::Exchanged(exchange) => line.join(trust_changes(view, exchange)),
            _ => line,
        };
        out.write_line(label, line)?;
    }
    Ok(())
}

/// Whether a node executes or executed its own call, which is no interaction.
fn is_local(event: &NetworkEvent) -> bool {
    match event {
        NetworkEvent::CallRouted { from, to, .. } => from == to,
        NetworkEvent::Exchanged(exchange) => exchange.sender == exchange.receiver,
        _ => false,
    }
}

/// Returns the changes that an interaction made: the weight of the connection at the sender, and the trust of the receiver.
fn trust_changes(view: &StepView<'_>, Exchange { sender, receiver, .. }: &Exchange) -> Line {
    let (Some(before), Some(after)) = (view.before.network(), view.after.network()) else {
        return Line::new();
    };
    let weight = |node: Option<&Node>| Some(node?.connections.get(receiver)?.weight);
    let weights = weight(before.node(sender)).zip(weight(after.node(sender)));
    let trusts = before.node(receiver).zip(after.node(receiver));
    let line = match weights {
        Some((from, to)) if from != to => {
            Line::dim(format_args!(", weight {} → {}", short(from.millionths()), short(to.millionths())))
        }
        Some(_) | None => Line::new(),
    };
    match trusts {
        Some((from, to)) if from.trust != to.trust => {
            let (from, to) = (short(from.trust.millionths()), short(to.trust.millionths()));
            line.styled(TextStyle::Dim, format_args!(", trust of {receiver} {from} → {to}"))
        }
        Some(_) | None => line,
    }
}

/// Returns a number of millionths with three decimals, enough to see that it changes.
pub(super) fn short(millionths: u32) -> String {
    let thousandths = (millionths + 500) / 1_000;
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}

fn short_signed(millionths: i64) -> String {
    let sign = if millionths < -499 { "−" } else { "" };
    let size = u32::try_from(millionths.unsigned_abs()).unwrap_or(u32::MAX - 500);
    format!("{sign}{}", short(size))
}
