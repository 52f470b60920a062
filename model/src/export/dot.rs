//! The explored graph for Graphviz, summarized by phase.
//!
//! Edges differ by width, line and arrowhead, so that the picture is readable without color.

use crate::transition_counts::TransitionEdge;
use orchestrion_kernel::control::phase::Region;
use orchestrion_kernel::control::table::{TRANSITIONS, Transition, TransitionSource};
use orchestrion_kernel::{Phase, Policy};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The result of an exploration, by phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The title of the picture.
    pub title: String,
    /// The number of states in each phase.
    pub states: BTreeMap<Phase, u64>,
    /// The number of steps along each edge.
    pub steps: BTreeMap<TransitionEdge, u64>,
    /// A highlighted run, such as a counterexample; empty if there is none.
    pub run: Vec<TransitionEdge>,
}

/// The style of a row, by the first character of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EdgeStyle {
    /// T, S, K: 004's edges, sessions, and compaction.
    Specified,
    /// H, A: closes a finding, or calls an approver.
    Added,
    /// E: a call fails.
    Error,
    /// X: the user cancels.
    Cancel,
}

impl EdgeStyle {
    const ALL: [Self; 4] = [Self::Specified, Self::Added, Self::Error, Self::Cancel];

    fn from_row(row: usize) -> Self {
        match TRANSITIONS[row].id.chars().next() {
            Some('H' | 'A') => Self::Added,
            Some('E') => Self::Error,
            Some('X') => Self::Cancel,
            _ => Self::Specified,
        }
    }

    const fn style(self) -> &'static str {
        match self {
            Self::Specified => "color=\"#222222\", fontcolor=\"#222222\"",
            Self::Added => "color=\"#1b5e9c\", fontcolor=\"#1b5e9c\", arrowhead=vee",
            Self::Error => "color=\"#b5540a\", fontcolor=\"#b5540a\", style=dotted, arrowhead=empty",
            Self::Cancel => "color=\"#6a3d9a\", fontcolor=\"#6a3d9a\", style=dashed, arrowhead=odiamond",
        }
    }

    /// The entry of the legend: color, line, meaning.
    const fn key(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Specified => ("#222222", "──▶", "T, S: as drawn by 004"),
            Self::Added => ("#1b5e9c", "──&gt;", "H, A: closes a finding, or calls an approver"),
            Self::Error => ("#b5540a", "····▷", "E: the call failed"),
            Self::Cancel => ("#6a3d9a", "- - ◇", "X: cancelled"),
        }
    }
}

/// Rows that are drawn as one edge.
struct Edge {
    from: TransitionSource,
    to: Phase,
    style: EdgeStyle,
    rows: Vec<usize>,
    count: u64,
    /// The step numbers of the run along this edge.
    steps: Vec<usize>,
}

impl Edge {
    /// Whether the edge is a self-loop, which is shown in the box of its phase.
    fn is_self_loop(&self) -> bool {
        self.from == TransitionSource::Phase(self.to) && self.count > 0
    }
}

/// Prints the picture. Enabled rows without a step and phases without a state are gray. Phases that only disabled rows reach
/// are omitted.
#[must_use]
pub fn dot(policy: &Policy, summary: &Summary) -> String {
    let edges = edges(policy, summary);
    let mut text = [DOT_START, HEAD].concat();
    let _ = writeln!(text, "    label=\"{}\";", quoted(&summary.title));
    let is_drawn = |phase: &Phase| is_drawn(policy, summary, *phase);
    let drawn: Vec<Phase> = Phase::ALL.into_iter().filter(is_drawn).collect();
    let node = |text: &mut String, phase: Phase| node(text, phase, &edges, summary);
    for phase in drawn.iter().filter(|phase| phase.region().is_none()) {
        node(&mut text, *phase);
    }
    for region in Region::ALL {
        let inside: Vec<Phase> =
            drawn.iter().copied().filter(|phase| phase.region() == Some(region)).collect();
        if inside.is_empty() {
            continue;
        }
        let name = region.name();
        let _ = writeln!(
            text,
            "    subgraph cluster_{name} {{\n        label=\"{}\"; {CLUSTER}",
            name.replace('_', " ")
        );
        inside.iter().for_each(|phase| node(&mut text, *phase));
        text.push_str("    }\n");
    }
    for edge in edges.iter().filter(|edge| !edge.is_self_loop()) {
        let inside = |region| drawn.iter().copied().filter(move |phase| phase.region() == Some(region));
        let (from, tail) = match edge.from {
            TransitionSource::Phase(phase) => (Some(phase), String::new()),
            // Graphviz clips an edge only at a boundary that it crosses.
            TransitionSource::Region(region) if edge.to.region() == Some(region) => {
                (inside(region).find(|phase| *phase != edge.to), "taillabel=\"any\", ".to_string())
            }
            TransitionSource::Region(region) => {
                (inside(region).next_back(), format!("ltail=cluster_{}, ", region.name()))
            }
        };
        if let Some(from) = from.filter(|from| drawn.contains(from)) {
            let _ = writeln!(text, "    \"{from}\" -> \"{}\" [{tail}{}];", edge.to, attributes(edge, from));
        }
    }
    legend(&mut text, summary);
    text.push_str("}\n");
    text
}

/// The first lines of each drawing, by which a program recognizes one.
pub const DOT_START: &str = "digraph explored {\n    compound=true; rankdir=TB; nodesep=0.35; ranksep=0.55;";
const HEAD: &str = " newrank=true; splines=true;\n    \
    fontname=\"Helvetica,Arial,sans-serif\"; fontsize=20; labelloc=t; labeljust=l; pad=0.3; bgcolor=white;\n    \
    node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, margin=\"0.14,0.07\"];\n    \
    edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, arrowsize=0.8];\n";
const CLUSTER: &str = "labelloc=t; labeljust=l; fontsize=13; fontcolor=\"#666666\"; style=rounded; color=\"#bbbbbb\"; margin=14;";

/// Whether a phase is drawn: it has a state, or an enabled row leads there.
fn is_drawn(policy: &Policy, summary: &Summary, phase: Phase) -> bool {
    let leads = |(_, row): (usize, &Transition)| row.to == phase && row.switch.is_on(policy);
    summary.states.contains_key(&phase) || (0..).zip(TRANSITIONS).any(leads)
}

/// The edges. Rows with the same ends and the same style share one.
fn edges(policy: &Policy, summary: &Summary) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut add = |from: TransitionSource, row: usize, to: Phase, count: u64, steps: Vec<usize>| {
        let style = EdgeStyle::from_row(row);
        let same = |edge: &&mut Edge| {
            (edge.from, edge.to, edge.style, edge.count > 0) == (from, to, style, count > 0)
        };
        match edges.iter_mut().find(same) {
            Some(edge) => {
                edge.count += count;
                edge.steps.extend(steps);
                if !edge.rows.contains(&row) {
                    edge.rows.push(row);
                }
            }
            None => edges.push(Edge { from, to, style, rows: vec![row], count, steps }),
        }
    };
    for (edge, count) in &summary.steps {
        let (from, row, to) = *edge;
        let steps = (1..).zip(&summary.run).filter(|(_, step)| *step == edge).map(|(n, _)| n).collect();
        // A row of a region starts at the region's boundary.
        let source = if TRANSITIONS[row].from.contains(from) {
            TRANSITIONS[row].from
        } else {
            TransitionSource::Phase(from)
        };
        add(source, row, to, *count, steps);
    }
    let taken = |id: usize| summary.steps.keys().any(|(_, row, _)| *row == id);
    let starts = |row: &Transition| {
        Phase::ALL.into_iter().any(|phase| row.from.contains(phase) && is_drawn(policy, summary, phase))
    };
    for (id, row) in
        (0..).zip(TRANSITIONS).filter(|(id, row)| row.switch.is_on(policy) && !taken(*id) && starts(row))
    {
        add(row.from, id, row.to, 0, Vec::new());
    }
    edges
}

fn node(text: &mut String, phase: Phase, edges: &[Edge], summary: &Summary) {
    let count = summary.states.get(&phase).copied().unwrap_or(0);
    let most = summary.states.values().copied().max().unwrap_or(1);
    let is_on_run = summary.run.iter().any(|(from, _, to)| *from == phase || *to == phase);
    let style = match (count, is_on_run) {
        (0, _) => "color=\"#aaaaaa\", fontcolor=\"#888888\", style=\"rounded,dashed\"".to_string(),
        // From white to a light blue, by order of magnitude: readable in gray, and under black text.
        (_, is_on_run) => {
            let shade = 250 - 55 * magnitude(count) / magnitude(most).max(1);
            let border = if is_on_run { ", color=\"#c00000\", penwidth=3, peripheries=2" } else { "" };
            format!("fillcolor=\"#{shade:02x}{:02x}ff\"{border}", shade + (255 - shade) / 3)
        }
    };
    let states = if count == 0 { "not reached".to_string() } else { grouped(count) };
    let loops =
        edges.iter().filter(|edge| edge.is_self_loop() && edge.to == phase).flat_map(|edge| &edge.rows);
    let loops: Vec<&str> = loops.map(|row| TRANSITIONS[*row].id).collect();
    let loops = if loops.is_empty() { String::new() } else { format!("\\n↺ {}", loops.join(" ")) };
    let _ = writeln!(text, "        \"{phase}\" [label=\"{phase}\\n{states}{loops}\", {style}];");
}

fn attributes(edge: &Edge, from: Phase) -> String {
    let names: Vec<&str> = edge.rows.iter().map(|row| TRANSITIONS[*row].id).collect();
    // A long label is broken, so that it does not widen the layout.
    let names: Vec<String> = names.chunks(4).map(|names| names.join(" ")).collect();
    let names = names.join("\\n");
    // Backward edges and error edges do not affect the ranks.
    let is_plain = matches!(edge.style, EdgeStyle::Specified | EdgeStyle::Added) && edge.to > from;
    let weight = if is_plain { "weight=4" } else { "constraint=false" };
    if edge.count == 0 {
        return format!(
            "label=\"{names}\", {weight}, style=dashed, color=\"#b0b0b0\", fontcolor=\"#888888\", penwidth=0.8"
        );
    }
    let width = 8 + 3 * magnitude(edge.count);
    let (whole, tenths) = (width / 10, width % 10);
    let mut style = format!("{}, penwidth={whole}.{tenths}", edge.style.style());
    let mut label = format!("{names}\\n{}", grouped(edge.count));
    if !edge.steps.is_empty() {
        let steps: Vec<String> = edge.steps.iter().map(ToString::to_string).collect();
        label = format!("step {}: {label}", steps.join(", "));
        style = "color=\"#c00000\", fontcolor=\"#c00000\", penwidth=4".to_string();
    }
    format!("label=\"{label}\", {weight}, {style}")
}

/// Twice the number of binary digits over three: about twice the order of magnitude.
const fn magnitude(count: u64) -> u64 {
    (u64::BITS - count.leading_zeros()) as u64 * 2 / 3
}

fn legend(text: &mut String, summary: &Summary) {
    let mut lines: Vec<(&str, &str, &str)> = EdgeStyle::ALL.iter().map(|style| style.key()).collect();
    lines.push(("#999999", "- - ▶", "enabled, not taken"));
    if !summary.run.is_empty() {
        lines.push(("#c00000", "━━▶", "the run, with its step numbers"));
    }
    text.push_str("    legend [shape=box, style=rounded, color=\"#bbbbbb\", fontsize=11, label=<<table border=\"0\" cellspacing=\"2\">");
    for (color, line, meaning) in lines {
        let _ = write!(
            text,
            "<tr><td align=\"left\"><font color=\"{color}\">{line}</font></td><td align=\"left\">{meaning}</td></tr>"
        );
    }
    for note in [
        "A box is a phase, with the number of its states: the darker, the more.",
        "An edge is labeled with its rows and the number of their steps: the wider, the more.",
        "↺ marks self-loops. An edge from the boundary of a group, or an edge marked",
        "“any”, is a row for every phase in the group.",
    ] {
        let _ = write!(text, "<tr><td colspan=\"2\" align=\"left\">{note}</td></tr>");
    }
    text.push_str("</table>>];\n");
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// A number with grouped digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests;
