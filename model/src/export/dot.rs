//! The explored graph as a picture, in the language of Graphviz, summarised by control state.
//!
//! Thousands of states cannot be looked at; the few dozen control states that they are in can. What distinguishes edges
//! does so without colour too: width, line and arrowhead.

use crate::transition_counts::TransitionEdge;
use orchestrion_kernel::control::phase::Region;
use orchestrion_kernel::control::table::{TRANSITIONS, Transition, TransitionSource};
use orchestrion_kernel::{Phase, Policy};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What an exploration came to, by control state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// What was explored, as the title of the picture.
    pub title: String,
    /// How many states are in each control state.
    pub states: BTreeMap<Phase, u64>,
    /// How many steps go each way.
    pub steps: BTreeMap<TransitionEdge, u64>,
    /// A run that is to be seen, as a counterexample is; empty if there is none.
    pub run: Vec<TransitionEdge>,
}

/// How a row is drawn, by the first letter of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EdgeStyle {
    /// T, S: as the document draws it, and sessions.
    Specified,
    /// H, A: what closes a finding, or asks an approver.
    Added,
    /// E: a call that gives no answer.
    Error,
    /// X: the user cancels.
    Cancel,
}

impl EdgeStyle {
    const ALL: [Self; 4] = [Self::Specified, Self::Added, Self::Error, Self::Cancel];

    fn of(row: usize) -> Self {
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

    /// What the legend says of it: a colour, a line, a meaning.
    const fn key(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Specified => ("#222222", "──▶", "T, S: as drawn by 004"),
            Self::Added => ("#1b5e9c", "──&gt;", "H, A: closes a finding, or asks an approver"),
            Self::Error => ("#b5540a", "····▷", "E: no answer came"),
            Self::Cancel => ("#6a3d9a", "- - ◇", "X: cancelled"),
        }
    }
}

/// Rows that are drawn as one edge.
struct Edge {
    from: TransitionSource,
    to: Phase,
    look: EdgeStyle,
    rows: Vec<usize>,
    count: u64,
    /// The numbers of the steps of the run that go this way.
    steps: Vec<usize>,
}

impl Edge {
    /// Whether it leads nowhere else: that is told in the box of its state.
    fn stays(&self) -> bool {
        self.from == TransitionSource::Phase(self.to) && self.count > 0
    }
}

/// The picture. Grey are rows that the policy switches on and no step took, and control states in which no state is. What
/// only a row leads to that is switched off is left out.
#[must_use]
pub fn dot(policy: &Policy, summary: &Summary) -> String {
    let edges = edges(policy, summary);
    let mut text = String::from(HEAD);
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
    for edge in edges.iter().filter(|edge| !edge.stays()) {
        let inside = |region| drawn.iter().copied().filter(move |phase| phase.region() == Some(region));
        let (from, tail) = match edge.from {
            TransitionSource::Phase(phase) => (Some(phase), String::new()),
            // Nothing can be cut at a border that it does not cross.
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

const HEAD: &str = "digraph explored {\n    \
    compound=true; rankdir=TB; nodesep=0.35; ranksep=0.55; newrank=true; splines=true;\n    \
    fontname=\"Helvetica,Arial,sans-serif\"; fontsize=20; labelloc=t; labeljust=l; pad=0.3; bgcolor=white;\n    \
    node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, margin=\"0.14,0.07\"];\n    \
    edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, arrowsize=0.8];\n";
const CLUSTER: &str = "labelloc=t; labeljust=l; fontsize=13; fontcolor=\"#666666\"; style=rounded; color=\"#bbbbbb\"; margin=14;";

/// Whether a control state belongs to the picture: a state is in it, or a row that the policy switches on leads there.
fn is_drawn(policy: &Policy, summary: &Summary, phase: Phase) -> bool {
    let leads = |(_, row): (usize, &Transition)| row.to == phase && row.switch.is_on(policy);
    summary.states.contains_key(&phase) || (0..).zip(TRANSITIONS).any(leads)
}

/// The edges of the picture: those between the same two ends that look alike are one.
fn edges(policy: &Policy, summary: &Summary) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut add = |from: TransitionSource, row: usize, to: Phase, count: u64, steps: Vec<usize>| {
        let look = EdgeStyle::of(row);
        let same =
            |edge: &&mut Edge| (edge.from, edge.to, edge.look, edge.count > 0) == (from, to, look, count > 0);
        match edges.iter_mut().find(same) {
            Some(edge) => {
                edge.count += count;
                edge.steps.extend(steps);
                if !edge.rows.contains(&row) {
                    edge.rows.push(row);
                }
            }
            None => edges.push(Edge { from, to, look, rows: vec![row], count, steps }),
        }
    };
    for (way, count) in &summary.steps {
        let (from, row, to) = *way;
        let steps = (1..).zip(&summary.run).filter(|(_, step)| *step == way).map(|(n, _)| n).collect();
        // A row of a whole region is drawn from its border.
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
    let look = match (count, is_on_run) {
        (0, _) => "color=\"#aaaaaa\", fontcolor=\"#888888\", style=\"rounded,dashed\"".to_string(),
        // From white to a light blue, by order of magnitude: readable in grey, and under black letters.
        (_, is_on_run) => {
            let shade = 250 - 55 * magnitude(count) / magnitude(most).max(1);
            let border = if is_on_run { ", color=\"#c00000\", penwidth=3, peripheries=2" } else { "" };
            format!("fillcolor=\"#{shade:02x}{:02x}ff\"{border}", shade + (255 - shade) / 3)
        }
    };
    let told = if count == 0 { "not reached".to_string() } else { grouped(count) };
    let staying = edges.iter().filter(|edge| edge.stays() && edge.to == phase).flat_map(|edge| &edge.rows);
    let staying: Vec<&str> = staying.map(|row| TRANSITIONS[*row].id).collect();
    let stays = if staying.is_empty() { String::new() } else { format!("\\n↺ {}", staying.join(" ")) };
    let _ = writeln!(text, "        \"{phase}\" [label=\"{phase}\\n{told}{stays}\", {look}];");
}

fn attributes(edge: &Edge, from: Phase) -> String {
    let names: Vec<&str> = edge.rows.iter().map(|row| TRANSITIONS[*row].id).collect();
    // A long label is broken, or it would push everything apart.
    let names: Vec<String> = names.chunks(4).map(|names| names.join(" ")).collect();
    let names = names.join("\\n");
    // What leads back, or out of turn, pushes nothing down.
    let is_plain = matches!(edge.look, EdgeStyle::Specified | EdgeStyle::Added) && edge.to > from;
    let weight = if is_plain { "weight=4" } else { "constraint=false" };
    if edge.count == 0 {
        return format!(
            "label=\"{names}\", {weight}, style=dashed, color=\"#b0b0b0\", fontcolor=\"#888888\", penwidth=0.8"
        );
    }
    let width = 8 + 3 * magnitude(edge.count);
    let (whole, tenths) = (width / 10, width % 10);
    let mut look = format!("{}, penwidth={whole}.{tenths}", edge.look.style());
    let mut label = format!("{names}\\n{}", grouped(edge.count));
    if !edge.steps.is_empty() {
        let steps: Vec<String> = edge.steps.iter().map(ToString::to_string).collect();
        label = format!("step {}: {label}", steps.join(", "));
        look = "color=\"#c00000\", fontcolor=\"#c00000\", penwidth=4".to_string();
    }
    format!("label=\"{label}\", {weight}, {look}")
}

/// Twice the number of binary digits over three: about twice the order of magnitude.
const fn magnitude(count: u64) -> u64 {
    (u64::BITS - count.leading_zeros()) as u64 * 2 / 3
}

fn legend(text: &mut String, summary: &Summary) {
    let mut lines: Vec<(&str, &str, &str)> = EdgeStyle::ALL.iter().map(|look| look.key()).collect();
    lines.push(("#999999", "- - ▶", "switched on by the policy, and not taken"));
    if !summary.run.is_empty() {
        lines.push(("#c00000", "━━▶", "the run, with its steps"));
    }
    text.push_str("    legend [shape=box, style=rounded, color=\"#bbbbbb\", fontsize=11, label=<<table border=\"0\" cellspacing=\"2\">");
    for (colour, line, about) in lines {
        let _ = write!(
            text,
            "<tr><td align=\"left\"><font color=\"{colour}\">{line}</font></td><td align=\"left\">{about}</td></tr>"
        );
    }
    for about in [
        "A box is a control state, with how many states are in it: the darker, the more.",
        "An edge has its rows, and how many steps took them: the wider, the more.",
        "↺ are the rows that lead nowhere else. An edge from the border of a group,",
        "or marked “any”, is a row for every state in the group.",
    ] {
        let _ = write!(text, "<tr><td colspan=\"2\" align=\"left\">{about}</td></tr>");
    }
    text.push_str("</table>>];\n");
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// A number with its thousands apart.
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
