//! Report of `route`.

use super::table::write_candidates;
use super::{Outcome, RouteReport};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{ReportStyle, write_hanging, write_summary};
use anstyle::{AnsiColor, Style};
use orchestrion_kernel::network::routing::{
    Candidate, Ensemble, Filter, FilteredNode, NoCandidates, RoutingExplanation,
};
use orchestrion_kernel::{CapabilityId, NodeId, Score};
use orchestrion_report::text::{count, sanitize};
use std::io::{self, Write};

pub(super) fn human(report: &RouteReport, style: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    if let Some(explanation) = report.explanation.as_ref().filter(|_| !style.quiet) {
        report.write_explanation(explanation, style.width, out)?;
    }
    report.write_outcome(style.width, out)
}

impl RouteReport {
    fn write_explanation(
        &self,
        explanation: &RoutingExplanation,
        width: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let RoutingExplanation { result: _, candidates, filtered } = explanation;
        let has_self = candidates.iter().any(|candidate| Some(&candidate.node) == self.from.as_ref());
        let heading = match &self.outcome {
            Outcome::Local if !has_self => "other candidates",
            Outcome::Local | Outcome::Selected(_) | Outcome::Ensemble(_) | Outcome::NoCandidates(_) => {
                "candidates"
            }
        };
        let text = if candidates.is_empty() {
            format!("{heading}: none of {}", self.nodes())
        } else {
            let number = candidates.len();
            format!("{heading}: {number} of {}, best first; the score is the product", self.nodes())
        };
        write_hanging(0, "", &text, width, out)?;
        if !candidates.is_empty() {
            write_candidates(candidates, width, out)?;
        }
        for candidate in candidates {
            if let Some(note) = self.overload_note(&candidate.node) {
                write_hanging(2, "", &format!("{}: {note}", candidate.node), width, out)?;
            }
        }
        writeln!(out)?;
        if !filtered.is_empty() {
            let names = filtered.iter().map(|other| sanitize(other.node.as_str()).chars().count());
            let column = names.max().unwrap_or_default().min(width / 3) + 4;
            writeln!(out, "no candidates: {}", filtered.len())?;
            for FilteredNode { node, filter } in filtered {
                let head = format!("  {}", sanitize(node.as_str()));
                let reason = self.reason(node, *filter);
                // A long name has its own line.
                if head.chars().count() + 2 > column {
                    write_hanging(2, "", head.trim_start(), width, out)?;
                    write_hanging(column, "", &reason, width, out)?;
                } else {
                    write_hanging(column, &head, &reason, width, out)?;
                }
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// Returns why a node is no candidate, with the numbers behind it.
    fn reason(&self, node: &NodeId, filter: Filter) -> String {
        let constraints = &self.requirements.constraints;
        let node = self.loaded.network.node(node);
        let state = self.requirements.required_capabilities.first().and_then(|id| node?.capabilities.get(id));
        let numbers = match filter {
            Filter::MinTrust => {
                node.map(|node| format!("trust {}, required {}", node.trust, constraints.min_trust))
            }
            Filter::MinQuality => {
                state.map(|state| format!("quality {}, required {}", state.quality, constraints.min_quality))
            }
            Filter::InputSize => state.and_then(|state| {
                let max = state.capability.constraints.max_input_size?;
                Some(format!("at most {max}, input {}", self.requirements.input_size))
            }),
            Filter::Timeout => state
                .and_then(|state| state.capability.constraints.timeout_ms)
                .zip(constraints.timeout_ms)
                .map(|(own, allowed)| format!("{own} ms, allowed {allowed} ms")),
            Filter::RoutingNode
            | Filter::Expelled
            | Filter::MissingCapability
            | Filter::Unavailable
            | Filter::Excluded
            | Filter::MissingOtherCapability
            | Filter::InputType
            | Filter::OutputType => None,
        };
        numbers.map_or_else(|| filter.to_string(), |numbers| format!("{filter}: {numbers}"))
    }

    /// Returns a note about a candidate that refuses the handoff. The routing node gets none.
    fn overload_note(&self, node: &NodeId) -> Option<String> {
        let max = self.loaded.policy.routing.overload_above;
        let load = self.overload(node)?;
        let is_self = self.from.as_ref() == Some(node);
        let reason = if is_self { "is overloaded" } else { "refuses the handoff" };
        Some(format!("{reason}: load {load}, at most {max}"))
    }

    /// Returns the refusals before the result, or of members of the ensemble, as the end of a sentence.
    fn refusals(&self) -> String {
        let notes = self.refused.iter().filter_map(|node| Some((node, self.overload_note(node)?)));
        notes.map(|(node, note)| format!("; {} {note}", sanitize(node.as_str()))).collect()
    }

    fn write_outcome(&self, width: usize, out: &mut impl Write) -> io::Result<()> {
        let (word, text) = match &self.outcome {
            Outcome::Local => {
                let node = self.from.as_ref().map_or_else(String::new, |from| sanitize(from.as_str()));
                let load = self.own_load().map_or_else(String::new, |load| format!(", load {load}"));
                let capabilities = self.capabilities();
                let text = format!("{node} executes the task itself ({capabilities}{load}), no handoff");
                ("LOCAL", text)
            }
            Outcome::Selected(best) => {
                let node = sanitize(best.node.as_str());
                ("SELECTED", format!("{node}, score {}, for {}", best.score, self.task()))
            }
            Outcome::Ensemble(ensemble) => {
                let members = ensemble.members.iter();
                let members: Vec<String> = members
                    .map(|member| format!("{} {}", sanitize(member.node.as_str()), member.score))
                    .collect();
                let clusters = match members.len() {
                    number if ensemble.is_diversified => {
                        format!("; the best {number} are of one cluster, so other clusters come first")
                    }
                    2.. if self.is_one_cluster(ensemble) => "; all candidates are of one cluster".to_owned(),
                    _ => String::new(),
                };
                let text = format!(
                    "{}, for {}; {} of {} wanted{clusters}",
                    members.join(", "),
                    self.task(),
                    members.len(),
                    ensemble.wanted,
                );
                ("ENSEMBLE", text)
            }
            Outcome::NoCandidates(removed) => ("NO_CANDIDATES", self.no_candidates(removed)),
        };
        let status = self.status();
        let color = if status == ExitStatus::Success { AnsiColor::Green } else { AnsiColor::Red };
        let style = Style::new().fg_color(Some(color.into())).bold();
        let rest = format!(": {text}{}. exit {}", self.refusals(), status.code());
        write_summary(style, word, &rest, width, out)
    }

    /// Whether every member is of the same declared cluster. Unless the ensemble is diversified, so is every candidate.
    fn is_one_cluster(&self, ensemble: &Ensemble) -> bool {
        let cluster = |member: &Candidate| self.loaded.network.node(&member.node)?.cluster.as_ref();
        let mut clusters = ensemble.members.iter().map(cluster);
        clusters.next().flatten().is_some_and(|first| clusters.all(|cluster| cluster == Some(first)))
    }

    fn no_candidates(&self, no_candidates: &NoCandidates) -> String {
        let NoCandidates { removed, emptied_by } = no_candidates;
        let task = self.task();
        let last = match emptied_by {
            Some(last) if self.refused.is_empty() => last,
            Some(_) => return format!("for {task}"),
            None if self.refused.is_empty() => return "the network has no nodes".to_owned(),
            None => {
                let max_retries = self.loaded.policy.workflow.max_retries;
                return format!("for {task}; no retry is left, max_retries is {max_retries}");
            }
        };
        let counted = |filter: &Filter, text: &str| {
            let number = removed.get(filter).copied().unwrap_or_default();
            format!("{text}{}", count(usize::try_from(number).unwrap_or(usize::MAX), "node"))
        };
        let earlier = removed.keys().filter(|filter| *filter != last);
        let earlier: Vec<String> =
            earlier.map(|filter| counted(filter, &format!("{} ", filter_name(*filter)))).collect();
        let after =
            if earlier.is_empty() { String::new() } else { format!(", after {}", earlier.join(", ")) };
        format!(
            "for {task}; emptied by the filter {}: \"{last}\", {}{after}",
            filter_name(*last),
            counted(last, "")
        )
    }

    fn task(&self) -> String {
        let from = match &self.from {
            Some(from) => format!("from {}", sanitize(from.as_str())),
            None => "from outside the network".to_owned(),
        };
        format!("{} {from}", self.capabilities())
    }

    fn capabilities(&self) -> String {
        let ids = self.requirements.required_capabilities.iter().map(CapabilityId::as_str);
        ids.map(sanitize).collect::<Vec<_>>().join(", ")
    }

    /// Returns the load of the routing node for the first required capability.
    fn own_load(&self) -> Option<Score> {
        let node = self.loaded.network.node(self.from.as_ref()?)?;
        Some(node.capabilities.get(self.requirements.required_capabilities.first()?)?.load())
    }

    fn nodes(&self) -> String {
        count(self.loaded.network.len(), "node")
    }
}

/// Returns the name of a filter in reports, which is that of its encoding.
pub(super) fn filter_name(filter: Filter) -> String {
    serde_json::to_value(filter).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}
