//! The state diagram of the control FSM, as Mermaid and Graphviz text.

use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::phase::Region;
use orchestrion_kernel::control::table::{TRANSITIONS, Transition, TransitionSource};
use orchestrion_kernel::{Phase, Policy, Trigger};
use std::fmt::Write;

/// Returns the diagram as Mermaid text; without transitions for failed calls and cancellation, unless `all`.
#[must_use]
pub fn mermaid(policy: &Policy, all: bool) -> String {
    let diagram = Diagram::new(policy, all);
    let mut text = String::from("stateDiagram-v2\n    [*] --> Idle : System Initialization\n");
    for (region, phases) in diagram.regions {
        let _ = writeln!(text, "    state {} {{", region.name());
        for phase in phases {
            let _ = writeln!(text, "        {phase}");
        }
        text.push_str("    }\n");
    }
    for Edge { from, to, labels } in diagram.edges {
        let from = match from {
            TransitionSource::Phase(phase) => phase.name(),
            TransitionSource::Region(region) => region.name(),
        };
        // Mermaid ends a label at a colon or a semicolon.
        let _ = writeln!(text, "    {from} --> {to} : {}", labels.join(" / ").replace([':', ';'], ","));
    }
    text
}

/// Returns the diagram as Graphviz text; without transitions for failed calls and cancellation, unless `all`.
#[must_use]
pub fn dot(policy: &Policy, all: bool) -> String {
    let diagram = Diagram::new(policy, all);
    let mut text = String::from(
        "digraph control {\n    compound=true; rankdir=TB; fontname=\"sans-serif\";\n    \
         node [shape=box, style=rounded, fontname=\"sans-serif\"];\n    \
         edge [fontname=\"sans-serif\", fontsize=10];\n    \
         start [shape=point]; start -> Idle [label=\"System Initialization\"];\n",
    );
    for (region, phases) in &diagram.regions {
        let name = region.name();
        let _ = writeln!(text, "    subgraph cluster_{name} {{\n        label=\"{name}\";");
        for phase in phases {
            let _ = writeln!(text, "        {phase};");
        }
        text.push_str("    }\n");
    }
    let position = |phase: Phase| Phase::ALL.into_iter().position(|other| other == phase);
    for Edge { from, to, labels } in &diagram.edges {
        let label = labels.join("\\n").replace('"', "\\\"");
        let _ = match from {
            // A back edge must not change the ranks of the layout.
            TransitionSource::Phase(phase) if position(*to) <= position(*phase) => {
                writeln!(text, "    {phase} -> {to} [constraint=false, label=\"{label}\"];")
            }
            TransitionSource::Phase(phase) => writeln!(text, "    {phase} -> {to} [label=\"{label}\"];"),
            // Graphviz clips an edge at a cluster; it needs a phase of the region as its start.
            TransitionSource::Region(region) => {
                let first = diagram.regions.iter().find(|(other, _)| other == region);
                let Some(phase) = first.and_then(|(_, phases)| phases.first()) else { continue };
                writeln!(text, "    {phase} -> {to} [ltail=cluster_{}, label=\"{label}\"];", region.name())
            }
        };
    }
    text.push_str("}\n");
    text
}

/// The nodes and edges of a diagram.
struct Diagram {
    /// The regions with their reachable phases.
    regions: Vec<(Region, Vec<Phase>)>,
    edges: Vec<Edge>,
}

/// All transitions between the same two ends. Many viewers show only the last one of several loops.
struct Edge {
    from: TransitionSource,
    to: Phase,
    labels: Vec<String>,
}

impl Diagram {
    fn new(policy: &Policy, all: bool) -> Self {
        let enabled = || TRANSITIONS.iter().filter(|row| row.switch.is_on(policy));
        // A transition is never taken after an unconditional one or one with the same guard.
        let shadowed = |row: &&Transition| {
            enabled().take_while(|above| above.id != row.id).any(|above| {
                (above.from, above.on) == (row.from, row.on)
                    && (above.when == Guard::Always || above.when == row.when)
            })
        };
        let is_included = |row: &&Transition| all || !matches!(row.on, Trigger::CallFailed | Trigger::Cancel);
        let included: Vec<&Transition> = enabled().filter(is_included).filter(|row| !shadowed(row)).collect();
        // Only transitions from reachable phases extend the reachable phases.
        let mut reached = vec![Phase::Idle];
        let starts =
            |row: &Transition, reached: &[Phase]| reached.iter().any(|phase| row.from.contains(*phase));
        while let Some(row) = included.iter().find(|row| starts(row, &reached) && !reached.contains(&row.to))
        {
            reached.push(row.to);
        }
        let within = |region| Phase::ALL.into_iter().filter(move |phase| phase.region() == Some(region));
        let regions = Region::ALL.into_iter().map(|region| {
            (region, within(region).filter(|phase| reached.contains(phase)).collect::<Vec<_>>())
        });
        let mut edges: Vec<Edge> = Vec::new();
        for row in included.iter().filter(|row| starts(row, &reached)) {
            let label = format!("{} {}", row.id, row.label);
            match edges.iter_mut().find(|edge| (edge.from, edge.to) == (row.from, row.to)) {
                Some(edge) => edge.labels.push(label),
                None => edges.push(Edge { from: row.from, to: row.to, labels: vec![label] }),
            }
        }
        Self { regions: regions.filter(|(_, phases)| !phases.is_empty()).collect(), edges }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagrams_contain_each_enabled_transition_once() {
        let hardened = Policy::hardened();
        let approved = Policy {
            rules: orchestrion_kernel::policy::Rules { approver: true, ..hardened.rules },
            ..hardened
        };
        // With an approver, these two transitions are never taken.
        for (policy, never) in [(approved, &["T20", "H08"][..]), (Policy::as_drawn(), &[])] {
            for text in [mermaid(&policy, true), dot(&policy, true)] {
                for row in TRANSITIONS {
                    let found = text.matches(&format!("{} ", row.id)).count();
                    let is_expected = row.switch.is_on(&policy) && !never.contains(&row.id);
                    assert_eq!(found, usize::from(is_expected), "{} of {text}", row.id);
                }
            }
        }
    }
}
