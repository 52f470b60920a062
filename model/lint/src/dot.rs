//! A drawing of machines for Graphviz.

use crate::{Edge, Machine, StateKind};
use std::fmt::Write as _;

/// A machine in a drawing.
#[derive(Clone, Copy, Debug)]
pub struct Drawn<'a> {
    /// Its title.
    pub title: &'a str,
    /// The machine.
    pub machine: &'a Machine,
    /// The edges of a path, which is drawn in red.
    pub path: &'a [usize],
}

/// The first lines of each drawing, by which a program recognizes one.
pub const DOT_START: &str = "digraph machines {\n    rankdir=TB; fontname=\"sans-serif\";\n";

/// Draws the machines of a file below each other.
#[must_use]
pub fn dot(machines: &[Drawn<'_>]) -> String {
    let mut text = String::from(DOT_START);
    text.push_str(
        "    node [shape=box, style=rounded, fontname=\"sans-serif\"]; edge [fontname=\"sans-serif\", fontsize=10];\n",
    );
    for (number, drawn) in machines.iter().enumerate() {
        draw(number, drawn, &mut text);
    }
    text.push_str("}\n");
    text
}

fn draw(number: usize, Drawn { title, machine, path }: &Drawn<'_>, text: &mut String) {
    let id = |state: usize| format!("m{number}s{state}");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "    subgraph cluster_{number} {{\n        label={};", quoted(title));
    for (position, state) in machine.states.iter().enumerate() {
        let shape = match state.kind {
            StateKind::Automatic => "style=\"rounded,dashed\"",
            StateKind::Waiting => "style=rounded",
            StateKind::Fork => "shape=trapezium",
            StateKind::Idle => "style=\"rounded,bold\"",
            StateKind::Final => "peripheries=2",
        };
        let is_on_path = path.iter().any(|edge| machine.edges[*edge].to == position);
        let color = if is_on_path { ", color=red" } else { "" };
        let _ = writeln!(text, "        {} [label={}, {shape}{color}];", id(position), quoted(&state.name));
    }
    for start in &machine.starts {
        let _ = writeln!(text, "        {0}start [shape=point, label=\"\"]; {0}start -> {0};", id(*start));
    }
    for (position, edge) in machine.edges.iter().enumerate() {
        let color = if path.contains(&position) { ", color=red, penwidth=2" } else { "" };
        let (from, to, label) = (id(edge.from), id(edge.to), quoted(&edge_label(edge)));
        let _ = writeln!(text, "        {from} -> {to} [label={label}{color}];");
    }
    text.push_str("    }\n");
}

/// Returns the trigger and the guard of an edge, as a diagram writes them.
#[must_use]
pub fn edge_label(edge: &Edge) -> String {
    match (&edge.trigger, &edge.guard) {
        (Some(trigger), Some(guard)) => format!("{trigger} [{guard}]"),
        (Some(trigger), None) => trigger.clone(),
        (None, Some(guard)) => format!("[{guard}]"),
        (None, None) => String::new(),
    }
}

/// Returns a string of the DOT language.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            other if other.is_control() => {}
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
