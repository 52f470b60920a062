//! Report of `route` as JSON.

use super::report::filter_name;
use super::{Outcome, RouteReport};
use orchestrion_kernel::network::routing::{Candidate, Factors, Filter, FilteredNode, RoutingExplanation};
use orchestrion_kernel::{CapabilityId, NodeId, Score, Weight};
use orchestrion_report::text::escape_json;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Keys without a value in a result are null, so that every report has the same ones.
#[derive(Serialize)]
struct Report<'a> {
    /// selected, local, ensemble or no_candidates.
    result: &'static str,
    /// The routing node; null for a stranger.
    from: Option<&'a str>,
    required_capabilities: Vec<&'a str>,
    nodes: usize,
    /// The node that executes the task: the selected one, or the routing node.
    node: Option<&'a str>,
    score: Option<f64>,
    /// The overloaded nodes that do not get the task: those before the result in their order, or members of the ensemble.
    refused: Vec<RefusalReport<'a>>,
    ensemble: Option<EnsembleReport<'a>>,
    no_candidates: Option<NoCandidatesReport>,
    /// With --explain.
    explanation: Option<ExplanationReport<'a>>,
}

#[derive(Serialize)]
struct RefusalReport<'a> {
    node: &'a str,
    load: Option<f64>,
    /// The load above which a node refuses.
    overload_above: f64,
}

#[derive(Serialize)]
struct EnsembleReport<'a> {
    members: Vec<CandidateReport<'a>>,
    wanted: u32,
    is_diversified: bool,
}

#[derive(Serialize)]
struct NoCandidatesReport {
    /// The filter that removed the last nodes; null in a network without nodes, and if no retry is left.
    emptied_by: Option<Filter>,
    /// The number of nodes that each filter removed. A node that refused the handoff is excluded.
    removed: BTreeMap<String, u32>,
}

#[derive(Serialize)]
struct ExplanationReport<'a> {
    /// Best first.
    candidates: Vec<CandidateReport<'a>>,
    filtered: Vec<FilteredReport<'a>>,
}

#[derive(Serialize)]
struct CandidateReport<'a> {
    node: &'a str,
    score: f64,
    factors: FactorsReport,
    /// Whether the node refuses the handoff.
    is_overloaded: bool,
}

#[derive(Serialize)]
struct FactorsReport {
    trust: f64,
    quality: f64,
    /// 1 - load.
    availability: f64,
    connection: f64,
    /// 1 - threat.
    safety: f64,
    preference: f64,
}

#[derive(Serialize)]
struct FilteredReport<'a> {
    node: &'a str,
    filter: Filter,
    reason: &'static str,
}

pub(super) fn json(report: &RouteReport, out: &mut impl Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(&report.to_json())?;
    writeln!(out, "{}", escape_json(&text))
}

impl RouteReport {
    fn to_json(&self) -> Report<'_> {
        let from = self.from.as_ref().map(NodeId::as_str);
        let capabilities = &self.requirements.required_capabilities;
        let report = Report {
            result: "local",
            from,
            required_capabilities: capabilities.iter().map(CapabilityId::as_str).collect(),
            nodes: self.loaded.network.len(),
            node: None,
            score: None,
            refused: self.refused.iter().map(|node| self.refusal(node)).collect(),
            ensemble: None,
            no_candidates: None,
            explanation: self.explanation.as_ref().map(|explanation| self.explanation(explanation)),
        };
        match &self.outcome {
            Outcome::Local => Report { node: from, ..report },
            Outcome::Selected(best) => Report {
                result: "selected",
                node: Some(best.node.as_str()),
                score: Some(weight(best.score)),
                ..report
            },
            Outcome::Ensemble(ensemble) => {
                let ensemble = EnsembleReport {
                    members: ensemble.members.iter().map(|member| self.candidate(member)).collect(),
                    wanted: ensemble.wanted,
                    is_diversified: ensemble.is_diversified,
                };
                Report { result: "ensemble", ensemble: Some(ensemble), ..report }
            }
            Outcome::NoCandidates(none) => {
                let removed = none.removed.iter().map(|(filter, number)| (filter_name(*filter), *number));
                let none = NoCandidatesReport { emptied_by: none.emptied_by, removed: removed.collect() };
                Report { result: "no_candidates", no_candidates: Some(none), ..report }
            }
        }
    }

    fn refusal<'a>(&self, node: &'a NodeId) -> RefusalReport<'a> {
        RefusalReport {
            node: node.as_str(),
            load: self.overload(node).map(score),
            overload_above: score(self.loaded.policy.routing.overload_above),
        }
    }

    fn explanation<'a>(&self, explanation: &'a RoutingExplanation) -> ExplanationReport<'a> {
        let RoutingExplanation { result: _, candidates, filtered } = explanation;
        let filtered = filtered.iter().map(|FilteredNode { node, filter }| FilteredReport {
            node: node.as_str(),
            filter: *filter,
            reason: filter.reason(),
        });
        ExplanationReport {
            candidates: candidates.iter().map(|candidate| self.candidate(candidate)).collect(),
            filtered: filtered.collect(),
        }
    }

    fn candidate<'a>(&self, candidate: &'a Candidate) -> CandidateReport<'a> {
        let Candidate { node, score: total, factors } = candidate;
        let Factors { trust, quality, availability, connection, safety, preference } = factors;
        CandidateReport {
            node: node.as_str(),
            score: weight(*total),
            factors: FactorsReport {
                trust: score(*trust),
                quality: score(*quality),
                availability: score(*availability),
                connection: score(*connection),
                safety: score(*safety),
                preference: weight(*preference),
            },
            is_overloaded: self.overload(node).is_some(),
        }
    }
}

fn score(score: Score) -> f64 {
    decimal(score.millionths())
}

fn weight(weight: Weight) -> f64 {
    decimal(weight.millionths())
}

/// Returns millionths as a number. It prints as the same decimal: both operands are whole and below 2^53.
fn decimal(millionths: u32) -> f64 {
    f64::from(millionths) / 1e6
}
