//! Edges from one state that may be taken on the same trigger.

use super::guards::are_exclusive;
use super::{Linter, diagnostic, join_and, normalize_label};
use crate::{Edge, LintDiagnostic, StateKind};
use std::collections::BTreeMap;

impl Linter<'_> {
    /// Reports equal guards with different targets, then, as a doubt, guards that are not known to exclude each other. An
    /// edge without a guard applies only if no guard holds.
    pub(super) fn check_ambiguous_edges(&self) -> Vec<LintDiagnostic> {
        let states = || self.states().filter(|(_, state)| state.kind != StateKind::Fork).map(|(i, _)| i);
        let equal = states().flat_map(|state| self.find_equal_guards(state));
        let doubtful = states().flat_map(|state| self.find_doubtful_guards(state));
        equal.chain(doubtful).collect()
    }

    fn find_equal_guards(&self, state: usize) -> Vec<LintDiagnostic> {
        let mut groups: BTreeMap<(String, String), Vec<&Edge>> = BTreeMap::new();
        for edge in &self.out[state] {
            groups
                .entry((normalize_label(edge.trigger.as_deref()), normalize_label(edge.guard.as_deref())))
                .or_default()
                .push(edge);
        }
        let ambiguous = groups.into_values().filter(|edges| edges.iter().any(|edge| edge.to != edges[0].to));
        ambiguous
            .map(|edges| {
                let mut targets: Vec<usize> = edges.iter().map(|edge| edge.to).collect();
                targets.sort_unstable();
                targets.dedup();
                let on = match (&edges[0].trigger, &edges[0].guard) {
                    (None, None) => "without a trigger".to_string(),
                    (None, Some(guard)) => format!("when `{guard}`"),
                    (Some(trigger), None) => format!("on `{trigger}`"),
                    (Some(trigger), Some(guard)) => format!("on `{trigger}` when `{guard}`"),
                };
                diagnostic(
                    edges.iter().map(|edge| edge.location),
                    format!(
                        "ambiguous edges: `{}` leads {on} to {}",
                        self.state(state).name,
                        self.format_states(&targets)
                    ),
                    "give each edge a distinct trigger or guard",
                )
            })
            .collect()
    }

    /// Reports the edges of each trigger whose guards differ and may hold at once, with different targets.
    fn find_doubtful_guards(&self, state: usize) -> Vec<LintDiagnostic> {
        let mut groups: BTreeMap<String, Vec<(&Edge, &str)>> = BTreeMap::new();
        for edge in &self.out[state] {
            if let Some(guard) = &edge.guard {
                groups.entry(normalize_label(edge.trigger.as_deref())).or_default().push((edge, guard));
            }
        }
        let doubtful = |edges: Vec<(&Edge, &str)>| {
            let conflicts = |(one, guard): &(&Edge, &str)| {
                edges.iter().any(|(other, other_guard)| {
                    one.to != other.to
                        && normalize_label(Some(guard)) != normalize_label(Some(other_guard))
                        && !are_exclusive(guard, other_guard)
                })
            };
            let edges: Vec<_> = edges.iter().filter(|edge| conflicts(edge)).copied().collect();
            let (first, _) = edges.first()?;
            let on = first.trigger.as_ref().map_or("without a trigger".into(), |on| format!("on `{on}`"));
            let targets: Vec<String> = edges
                .iter()
                .map(|(edge, guard)| format!("`{}` when `{guard}`", self.state(edge.to).name))
                .collect();
            let message = format!(
                "possibly ambiguous edges: `{}` leads {on} to {}, and more than one guard may hold",
                self.state(state).name,
                join_and(&targets)
            );
            let help = "remove the guard of the default edge, or write guards that exclude each other, such as \
                        `x > 1` and `x <= 1`";
            let locations = edges.iter().map(|(edge, _)| edge.location);
            Some(LintDiagnostic { is_doubt: true, ..diagnostic(locations, message, help) })
        };
        groups.into_values().filter_map(doubtful).collect()
    }
}
