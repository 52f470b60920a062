//! `route`: the node of a trust network that gets a task, and why.

mod json;
mod report;
mod table;

use super::args::{Format, GlobalArgs};
use super::exit_status::ExitStatus;
use super::output::{self, ReportStyle};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::network::routing::{Candidate, Ensemble, NoCandidates, RoutingExplanation};
use orchestrion_kernel::network::{Requirements, RoutingResult, explain_route, route, route_ensemble};
use orchestrion_kernel::{NodeId, Score};
use orchestrion_network::LoadedNetwork;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Select the node of a trust network that gets a task.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion route specs/networks/invoices.yaml --from desk \\
    --capability translate --explain                each factor of each score
  orchestrion route specs/networks/invoices.yaml --from desk \\
    --task specs/networks/urgent-translation.task.yaml
  orchestrion route specs/networks/invoices.yaml --from desk \\
    --capability translate --ensemble 2             the best two nodes
  orchestrion route specs/networks/invoices.yaml --from desk \\
    --capability extract                            LOCAL: desk does it itself

A network is YAML. It needs capabilities, each with a name and a category, and
nodes; every other key has a default:
  capabilities:
    translate: {name: Translate an invoice, category: transformation}
  nodes:
    desk:
      connections: {ana: {w: 0.8}, cleo: {w: 0.6}}
      threats: {cleo: 0.5}
    ana:
      trust: 0.85
      capabilities:
        translate: {quality: 0.9, tasks: 1, max_capacity: 4}
    cleo:
      trust: 0.7
      capabilities:
        translate: {quality: 0.88, max_capacity: 2}

The score of a node is the product of its trust, its quality for the first
required capability, 1 - load, the weight of the connection to it, 1 - threat
and the bonus of a preferred node. Here ana has 0.85 * 0.9 * 0.75 * 0.8 * 1
= 0.459, cleo 0.7 * 0.88 * 1 * 0.6 * 0.5 = 0.1848: ana gets the task. A node
without a connection has the weight of a new one, 0.3. Under the policy setting
`order: quality` or `order: round_robin` a factor that does not count is 1.

A node whose load is above `routing.overload_above` refuses the handoff. As in
a conversation, the next-best node then gets the task, and the report names the
nodes that refused. This happens at most `workflow.max_retries` times.

The schemas: `orchestrion export schema --schema network`, and `--schema task`.

Exit codes: 0 a node gets the task; 1 NO_CANDIDATES, or every member of the
ensemble refuses the handoff; 2 error.")]
pub(super) struct Args {
    /// Read the trust network from this file.
    #[arg(value_name = "NETWORK")]
    network: PathBuf,
    /// Read the requirements from this task file.
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// Require this capability; with --task, instead of its capabilities. The first one is scored.
    #[arg(long, value_name = "ID")]
    capability: Vec<String>,
    /// Route as this node sees the network [default: as a stranger, without connections].
    #[arg(long, value_name = "NODE")]
    from: Option<String>,
    /// Select this number of nodes for the same task.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    ensemble: Option<u32>,
    /// Print the factors of each candidate, and why each other node is none.
    #[arg(long)]
    explain: bool,
    /// Print the result in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// A routing decision with everything that its reports show.
struct RouteReport {
    loaded: LoadedNetwork,
    /// The routing node; none for a stranger.
    from: Option<NodeId>,
    requirements: Requirements,
    outcome: Outcome,
    /// The overloaded nodes that do not get the task, in their order: those before the result, or members of the ensemble.
    refused: Vec<NodeId>,
    explanation: Option<RoutingExplanation>,
}

/// The result of routing to one node or to several.
enum Outcome {
    /// The routing node executes the task itself.
    Local,
    Selected(Candidate),
    Ensemble(Ensemble),
    NoCandidates(NoCandidates),
}

impl RouteReport {
    fn status(&self) -> ExitStatus {
        match &self.outcome {
            Outcome::NoCandidates(_) => ExitStatus::Failure,
            Outcome::Ensemble(ensemble) if ensemble.members.len() == self.refused.len() => {
                ExitStatus::Failure
            }
            Outcome::Local | Outcome::Selected(_) | Outcome::Ensemble(_) => ExitStatus::Success,
        }
    }

    fn overload(&self, node: &NodeId) -> Option<Score> {
        overload(&self.loaded, &self.requirements, node)
    }
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let report = decide(args)?;
    let status = report.status();
    let style = ReportStyle { quiet: global.quiet, width: output::width() };
    let mut out = BufWriter::new(output::stdout());
    match args.format {
        Format::Human => report::human(&report, style, &mut out),
        Format::Json => json::json(&report, &mut out),
    }
    .and_then(|()| out.flush())
    .into_diagnostic()?;
    Ok(status)
}

fn decide(args: &Args) -> Result<RouteReport> {
    let loaded = LoadedNetwork::read(&args.network)?;
    let from = args.from.as_deref().map(|name| loaded.find_node(name)).transpose();
    let from = from.map_err(|error| error.into_file_error())?;
    let requirements = requirements(args, &loaded)?;
    let LoadedNetwork { policy, network, .. } = &loaded;
    // No node of a file has the empty id, so this one has no connections and no beliefs.
    let viewer = from.clone().unwrap_or_else(|| NodeId::new(""));
    let (outcome, refused) = match args.ensemble {
        None => route_to_accepting(&loaded, &viewer, &requirements),
        Some(size) => match route_ensemble(policy, network, &viewer, &requirements, size) {
            Ok(ensemble) => {
                let members = ensemble.members.iter().map(|member| member.node.clone());
                let refused =
                    members.filter(|node| overload(&loaded, &requirements, node).is_some()).collect();
                (Outcome::Ensemble(ensemble), refused)
            }
            Err(removed) => (Outcome::NoCandidates(removed), Vec::new()),
        },
    };
    let explanation = args.explain.then(|| {
        let mut policy = *policy;
        // The routing node competes in an ensemble as any other.
        policy.routing.local_preference &= args.ensemble.is_none();
        explain_route(&policy, network, &viewer, &requirements)
    });
    Ok(RouteReport { loaded, from, requirements, outcome, refused, explanation })
}

/// Routes as a conversation does: without a node that refused the handoff, until a node accepts it or no retry is left. Returns the
/// refusing nodes, too. A routing node that competes and is overloaded gets no handoff, so this takes no retry.
fn route_to_accepting(
    loaded: &LoadedNetwork,
    viewer: &NodeId,
    requirements: &Requirements,
) -> (Outcome, Vec<NodeId>) {
    let mut requirements = requirements.clone();
    let (mut refused, mut handoffs) = (Vec::new(), 0);
    loop {
        let (node, outcome) = match route(&loaded.policy, &loaded.network, viewer, &requirements) {
            RoutingResult::Local => (viewer.clone(), Outcome::Local),
            RoutingResult::Selected(candidate) => (candidate.node.clone(), Outcome::Selected(candidate)),
            RoutingResult::NoCandidates(removed) => return (Outcome::NoCandidates(removed), refused),
        };
        let is_refused = overload(loaded, &requirements, &node).is_some();
        match outcome {
            Outcome::Local if is_refused => {}
            _ if handoffs > loaded.policy.workflow.max_retries => {
                return (Outcome::NoCandidates(NoCandidates::default()), refused);
            }
            outcome if !is_refused => return (outcome, refused),
            _ => handoffs += 1,
        }
        requirements.constraints.excluded_nodes.push(node.clone());
        refused.push(node);
    }
}

/// Returns the load at which a node refuses the handoff; none where it accepts.
fn overload(loaded: &LoadedNetwork, requirements: &Requirements, node: &NodeId) -> Option<Score> {
    let capability = requirements.required_capabilities.first()?;
    let node = loaded.network.node(node)?;
    let load = node.capabilities.get(capability)?.load();
    node.check_handoff(&loaded.policy.routing, capability).is_err().then_some(load)
}

fn requirements(args: &Args, loaded: &LoadedNetwork) -> Result<Requirements> {
    let mut requirements = match &args.task {
        Some(task) => loaded.read_task(task)?,
        None => Requirements::default(),
    };
    if !args.capability.is_empty() {
        let known = args.capability.iter().map(|name| loaded.find_capability(name));
        requirements.required_capabilities =
            known.collect::<Result<_, _>>().map_err(|error| error.into_file_error())?;
    }
    if requirements.required_capabilities.is_empty() {
        return Err(miette!(
            help = "name one with --capability ID, or a task with --task FILE",
            "no capability required"
        ));
    }
    Ok(requirements)
}
