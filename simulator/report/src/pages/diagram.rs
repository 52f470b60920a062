//! The diagram of the control FSM, in two languages.

use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::phase::Region;
use orchestrion_kernel::control::table::{TRANSITIONS, Transition, TransitionSource};
use orchestrion_kernel::{Phase, Policy, Trigger};
use std::fmt::Write;

/// The diagram as Mermaid text. Rows for calls that fail and for cancelling are left out unless `all`.
#[must_use]
pub fn mermaid(policy: &Policy, all: bool) -> String {
    let drawing = Drawing::of(policy, all);
    let mut text = String::from("stateDiagram-v2\n    [*] --> Idle : System Initialization\n");
    for (region, phases) in drawing.regions {
        let _ = writeln!(text, "    state {} {{", region.name());
        for phase in phases {
            let _ = writeln!(text, "        {phase}");
        }
        text.push_str("    }\n");
    }
    for Edge { from, to, labels } in drawing.edges {
        let from = match from {
            TransitionSource::Phase(phase) => phase.name(),
            TransitionSource::Region(region) => region.name(),
        };
        // A colon or a semicolon would end the label.
        let _ = writeln!(text, "    {from} --> {to} : {}", labels.join(" / ").replace([':', ';'], ","));
    }
    text
}

/// The diagram in the language of Graphviz. Rows for calls that fail and for cancelling are left out unless `all`.
#[must_use]
pub fn dot(policy: &Policy, all: bool) -> String {
    let drawing = Drawing::of(policy, all);
    let mut text = String::from(
        "digraph control {\n    compound=true; rankdir=TB; fontname=\"sans-serif\";\n    \
         node [shape=box, style=rounded, fontname=\"sans-serif\"];\n    \
         edge [fontname=\"sans-serif\", fontsize=10];\n    \
         start [shape=point]; start -> Idle [label=\"System Initialization\"];\n",
    );
    for (region, phases) in &drawing.regions {
        let name = region.name();
        let _ = writeln!(text, "    subgraph cluster_{name} {{\n        label=\"{name}\";");
        for phase in phases {
            let _ = writeln!(text, "        {phase};");
        }
        text.push_str("    }\n");
    }
    let place = |phase: Phase| Phase::ALL.into_iter().position(|other| other == phase);
    for Edge { from, to, labels } in &drawing.edges {
        let label = labels.join("\\n").replace('"', "\\\"");
        let _ = match from {
            // What leads back does not push its end further down.
            TransitionSource::Phase(phase) if place(*to) <= place(*phase) => {
                writeln!(text, "    {phase} -> {to} [constraint=false, label=\"{label}\"];")
            }
            TransitionSource::Phase(phase) => writeln!(text, "    {phase} -> {to} [label=\"{label}\"];"),
            // An edge of a region starts at one of its states and is cut at the region's border.
            TransitionSource::Region(region) => {
                let first = drawing.regions.iter().find(|(other, _)| other == region);
                let Some(phase) = first.and_then(|(_, phases)| phases.first()) else { continue };
                writeln!(text, "    {phase} -> {to} [ltail=cluster_{}, label=\"{label}\"];", region.name())
            }
        };
    }
    text.push_str("}\n");
    text
}

/// What a diagram shows.
struct Drawing {
    /// The regions, with those of their states that are reached.
    regions: Vec<(Region, Vec<Phase>)>,
    edges: Vec<Edge>,
}

/// All rows between the same two ends: of two loops, many drawings would show only the last.
struct Edge {
    from: TransitionSource,
    to: Phase,
    labels: Vec<String>,
}

impl Drawing {
    fn of(policy: &Policy, all: bool) -> Self {
        let on = || TRANSITIONS.iter().filter(|row| row.switch.is_on(policy));
        // Below a row that always holds, or holds when it does, a row is never taken.
        let shadowed = |row: &&Transition| {
            on().take_while(|above| above.id != row.id).any(|above| {
                (above.from, above.on) == (row.from, row.on)
                    && (above.when == Guard::Always || above.when == row.when)
            })
        };
        let told = |row: &&Transition| all || !matches!(row.on, Trigger::CallFailed | Trigger::Cancel);
        let shown: Vec<&Transition> = on().filter(told).filter(|row| !shadowed(row)).collect();
        // A row leads somewhere only where its own start is reached.
        let mut reached = vec![Phase::Idle];
        let starts =
            |row: &Transition, reached: &[Phase]| reached.iter().any(|phase| row.from.contains(*phase));
        while let Some(row) = shown.iter().find(|row| starts(row, &reached) && !reached.contains(&row.to)) {
            reached.push(row.to);
        }
        let within = |region| Phase::ALL.into_iter().filter(move |phase| phase.region() == Some(region));
        let regions = Region::ALL.into_iter().map(|region| {
            (region, within(region).filter(|phase| reached.contains(phase)).collect::<Vec<_>>())
        });
        let mut edges: Vec<Edge> = Vec::new();
        for row in shown.iter().filter(|row| starts(row, &reached)) {
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
    fn both_diagrams_draw_every_row_that_may_be_taken_once() {
        let hardened = Policy::hardened();
        let approved = Policy {
            rules: orchestrion_kernel::policy::Rules { approver: true, ..hardened.rules },
            ..hardened
        };
        // An approver comes before these two.
        for (policy, never) in [(approved, &["T20", "H08"][..]), (Policy::as_drawn(), &[])] {
            for text in [mermaid(&policy, true), dot(&policy, true)] {
                for row in TRANSITIONS {
                    let drawn = text.matches(&format!("{} ", row.id)).count();
                    let may = row.switch.is_on(&policy) && !never.contains(&row.id);
                    assert_eq!(drawn, usize::from(may), "{} of {text}", row.id);
                }
            }
        }
    }
}
