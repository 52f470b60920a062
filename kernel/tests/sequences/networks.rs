//! Commands about the network of a conversation: its nodes, their handoffs, and plans that run as workflows.

use crate::arguments::{Arguments, parse_list, parse_value, parse_variant};
use crate::inputs::parse_score;
use orchestrion_kernel::module::{Module, Report};
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::{
    Capability, CapabilityState, Feedback, HandoffReceipt, InteractionReport, Millionths, NetworkInput, Node,
    NodeStatus, Requirements, SignatureStatus, TrustPolicy,
};
use orchestrion_kernel::plan::{Aggregation, Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{CallId, CapabilityId, NodeId, Score, State, TaskId};

/// Parses an input about the network. `None` if the command is none.
pub(crate) fn parse_network_input(
    state: &State,
    command: &str,
    args: &mut Arguments,
) -> Result<Option<NetworkInput>, String> {
    Ok(Some(match command {
        "create_network" => {
            let orchestrator = next_node(args)?;
            let mut policy = TrustPolicy::default();
            if let Some(max_retries) = args.field("max_retries", parse_value)? {
                policy.workflow.max_retries = max_retries;
            }
            if let Some(order) = args.field("order", parse_variant)? {
                policy.routing.order = order;
            }
            if let Some(local_preference) = args.field("local_preference", parse_value)? {
                policy.routing.local_preference = local_preference;
            }
            let nodes = args.field("nodes", parse_list(parse_node_id))?;
            let executor = args.field("executor_capacity", parse_value)?;
            let nodes = nodes.unwrap_or_else(|| vec![orchestrator.clone()]).into_iter();
            let nodes = nodes.map(|id| orchestrator_node(id, executor)).collect();
            NetworkInput::Create { orchestrator, policy, nodes }
        }
        "join" => NetworkInput::Join { node: parse_node(args)? },
        "leave" => NetworkInput::Leave { node: next_node(args)? },
        "set_available" => NetworkInput::SetAvailable {
            node: next_node(args)?,
            capability: CapabilityId::new(args.next("capability")?),
            available: parse_value(&args.next("true or false")?)?,
        },
        "report_load" => NetworkInput::ReportLoad {
            node: next_node(args)?,
            load: args.next_optional().map(|load| parse_score(&load)).transpose()?,
        },
        "rotate_key" => {
            NetworkInput::RotateKey { node: next_node(args)?, public_key: args.next("key")?.into_bytes() }
        }
        "signal" => {
            let (receiver, subject) = (next_node(args)?, next_node(args)?);
            let sender = args.field("sender", parse_node_id)?.unwrap_or_else(|| NodeId::new("guard"));
            let origin = args.field("origin", parse_node_id)?.unwrap_or_else(|| sender.clone());
            let confidence = args.field("confidence", parse_score)?.unwrap_or(Score::ONE);
            let hops = args.field("hops", parse_value)?.unwrap_or(0);
            NetworkInput::Signal { receiver, signal: Signal { origin, sender, subject, confidence, hops } }
        }
        "resolve_threat" => NetworkInput::ResolveThreat { node: next_node(args)?, subject: next_node(args)? },
        "tick_network" => NetworkInput::Tick,
        "handoff" => parse_handoff(state, args)?,
        _ => return Ok(None),
    }))
}

fn next_node(args: &mut Arguments) -> Result<NodeId, String> {
    args.next("node").map(NodeId::new)
}

fn parse_node_id(text: &str) -> Result<NodeId, String> {
    Ok(NodeId::new(text))
}

fn parse_capabilities(text: &str) -> Result<Vec<CapabilityId>, String> {
    parse_list(|id| Ok(CapabilityId::new(id)))(text)
}

/// A node that executes the calls of every module, and as many tasks as its executor can.
fn orchestrator_node(id: NodeId, executor_capacity: Option<u32>) -> Node {
    let mut node = Node::new(&TrustPolicy::default().start, id);
    for module in Module::ALL.into_iter().filter(|module| *module != Module::Executor) {
        node.add_capability(capability(module.capability(), 100, Score::ONE));
    }
    if let Some(max_capacity) = executor_capacity {
        node.add_capability(capability(Module::Executor.capability(), max_capacity, Score::ONE));
    }
    node
}

fn capability(id: CapabilityId, max_capacity: u32, quality: Score) -> CapabilityState {
    CapabilityState::new(Capability::new(id, max_capacity), quality)
}

/// Parses a member with capabilities of equal capacity and quality.
fn parse_node(args: &mut Arguments) -> Result<Node, String> {
    let mut node = Node::new(&TrustPolicy::default().start, next_node(args)?);
    let capabilities = parse_capabilities(&args.next("capabilities")?)?;
    let max_capacity = args.field("max_capacity", parse_value)?.unwrap_or(2);
    let quality = args.field("quality", parse_score)?.unwrap_or(Score::ONE);
    node.trust = args.field("trust", parse_score)?.unwrap_or(node.trust);
    node.status = args.field("status", parse_variant)?.unwrap_or(NodeStatus::Member);
    capabilities.into_iter().for_each(|id| node.add_capability(capability(id, max_capacity, quality)));
    Ok(node)
}

/// Parses the receipt of a handoff: of the first call that waits for one, if no call is stated.
fn parse_handoff(state: &State, args: &mut Arguments) -> Result<NetworkInput, String> {
    let assignments = state.network().map(|network| network.assignments()).unwrap_or_default();
    let call = args.field("call", |text| parse_value(text).map(CallId::new))?;
    let is_meant = |call: Option<CallId>, id: CallId, runs: bool| call.map_or(!runs, |call| call == id);
    let found = assignments.iter().find(|one| is_meant(call, one.call, one.is_running()));
    let missing = |what| format!("no call waits for a handoff: expected {what}=");
    let from = args.field("from", parse_node_id)?.or_else(|| found.map(|one| one.from.clone()));
    let to = args.field("to", parse_node_id)?.or_else(|| found.map(|one| one.to.clone()));
    Ok(NetworkInput::Handoff(HandoffReceipt {
        call: call.or_else(|| found.map(|one| one.call)).ok_or_else(|| missing("call"))?,
        from: from.ok_or_else(|| missing("from"))?,
        to: to.ok_or_else(|| missing("to"))?,
        signature: args.field("signature", parse_variant)?.unwrap_or(SignatureStatus::Valid),
    }))
}

/// Parses how both ends of a call judge it. A feedback is one number for all ratings; 5 is used again.
pub(crate) fn parse_interaction(args: &mut Arguments) -> Result<Option<Box<InteractionReport>>, String> {
    let rating = |text: &str| {
        let all: u8 = parse_value(text)?;
        Ok(Feedback { help: all, accuracy: all, relevance: all, timeliness: all, reuse: all == 5 })
    };
    let tone = |text: &str| parse_value(text).map(Millionths::new);
    let report = InteractionReport {
        feedback: args.field("feedback", rating)?,
        tone: args.field("tone", tone)?.unwrap_or_default(),
        task_feedback: args.field("task_feedback", rating)?,
        task_tone: args.field("task_tone", tone)?.unwrap_or_default(),
    };
    Ok(Some(report).filter(|report| *report != InteractionReport::default()).map(Box::new))
}

/// Parses a plan of a pattern. `None` if the report is none.
pub(crate) fn parse_pattern(name: &str, args: &mut Arguments) -> Result<Option<Report>, String> {
    let text = "do it".into();
    let next = |args: &mut Arguments| args.next("capability").map(CapabilityId::new);
    let plan = match name {
        "chain" => Plan::chain(&text, parse_capabilities(&args.next("capabilities")?)?),
        "fan_out" => {
            let (parallel, width) = (next(args)?, parse_value(&args.next("width")?)?);
            Plan::fan_out_fan_in(&text, &parallel, width, next(args)?)
        }
        "pipeline" => Plan::pipeline_with_validation(&text, next(args)?, next(args)?),
        "redundant" => Plan::redundant_execution(&text, &next(args)?, parse_value(&args.next("size")?)?),
        "tasks" => {
            let texts = std::iter::from_fn(|| args.next_optional());
            Plan::new(
                (1..).zip(texts).map(|(number, text)| parse_task(number, &text)).collect::<Result<_, _>>()?,
            )
        }
        _ => return Ok(None),
    };
    let plan = plan.map_err(|error| error.to_string())?;
    let Some(strategy) = args.field("strategy", parse_variant)? else { return Ok(Some(Report::Plan(plan))) };
    let aggregation = Aggregation {
        strategy,
        criticality: args.field("criticality", parse_score)?.unwrap_or(Score::ZERO),
        is_ensemble: args.field("is_ensemble", parse_value)?.unwrap_or(false),
    };
    Ok(Some(Report::Plan(plan.with_aggregation(aggregation))))
}

/// Parses `CAPABILITY[:DEPENDENCIES[:VALIDATED]]`, with `+` between dependencies.
fn parse_task(number: u32, text: &str) -> Result<Task, String> {
    let mut parts = text.splitn(3, ':');
    let capability = CapabilityId::new(parts.next().unwrap_or_default());
    let dependencies = parts.next().unwrap_or_default().split('+').filter(|id| !id.is_empty());
    let parse_id = |id: &str| parse_value(id).map(TaskId::new);
    let requirements = Requirements { required_capabilities: vec![capability], ..Requirements::default() };
    Ok(Task {
        id: TaskId::new(number),
        text: "do it".into(),
        effect: Effect::Pure,
        depends_on: Some(dependencies.map(parse_id).collect::<Result<_, _>>()?),
        scope: None,
        step: StepOptions {
            requirements: Some(requirements.into()),
            validates: parts.next().map(parse_id).transpose()?,
            ..StepOptions::default()
        },
    })
}
