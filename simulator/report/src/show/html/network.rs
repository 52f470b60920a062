//! The drawing of the network: nodes with their trust over the trace, and handoffs as arrows.

use super::super::network::short;
use super::super::network_activity::{Drawing, DrawnNode};
use crate::text::{count, sanitize};
use maud::{Markup, html};

const COLUMN: usize = 260;
const ROW: usize = 90;
const BOX_WIDTH: usize = 170;
const BOX_HEIGHT: usize = 60;

fn x(node: &DrawnNode) -> usize {
    10 + node.column * COLUMN
}

fn y(node: &DrawnNode) -> usize {
    10 + node.row * ROW
}

/// Returns the drawing as a figure.
pub(super) fn figure(Drawing { nodes, handoffs }: &Drawing) -> Markup {
    let width = nodes.iter().map(|node| x(node) + BOX_WIDTH).max().unwrap_or(0) + 10;
    let height = nodes.iter().map(|node| y(node) + BOX_HEIGHT).max().unwrap_or(0) + 40;
    html! {
        figure.network {
            svg viewBox={ "0 0 " (width) " " (height) } width=(width) role="img" aria-label="Handoffs between nodes, and the trust in each node over the trace" {
                @for (from, to, number) in handoffs {
                    (arrow(&nodes[*from], &nodes[*to], *number))
                }
                @for node in nodes { (drawn(node)) }
            }
            figcaption {
                "Handoffs between nodes; the number at an arrow counts them. The line in a box is the trust in its node over the trace, between \
                 0 and 1; the number is the last value."
            }
        }
    }
}

/// Returns an arrow from the right side of one box to the left side of the other; within a column or backwards, below the boxes.
fn arrow(from: &DrawnNode, to: &DrawnNode, number: usize) -> Markup {
    // The page refers to nothing by address, so that an arrow head is a triangle, not a marker.
    let (label, path, head) = if to.column > from.column {
        let start = (x(from) + BOX_WIDTH, y(from) + BOX_HEIGHT / 2);
        let end = (x(to), y(to) + BOX_HEIGHT / 2);
        let path = format!("M {} {} L {} {}", start.0, start.1, end.0, end.1);
        let head = format!("{0},{1} {2},{3} {2},{4}", end.0, end.1, end.0 - 9, end.1 - 5, end.1 + 5);
        // Near the receiver, where the arrows of one sender are apart.
        let label = ((start.0 + 2 * end.0) / 3, (start.1 + 2 * end.1) / 3 + 4);
        (label, path, head)
    } else {
        let start = (x(from) + BOX_WIDTH / 2, y(from) + BOX_HEIGHT);
        let end = (x(to) + BOX_WIDTH / 2, y(to) + BOX_HEIGHT);
        let below = start.1.max(end.1) + 30;
        let middle = (start.0 + end.0) / 2;
        let path = format!("M {} {} Q {middle} {below} {} {}", start.0, start.1, end.0, end.1);
        let head = format!("{0},{1} {2},{4} {3},{4}", end.0, end.1, end.0 - 5, end.0 + 5, end.1 + 9);
        // The lowest point of the curve.
        let label = (middle, (start.1 + 2 * below + end.1) / 4 + 4);
        (label, path, head)
    };
    html! {
        polygon.head points=(head) {}
        path.handoff d=(path) {
            title { (sanitize(&from.name)) " to " (sanitize(&to.name)) ": " (count(number, "handoff")) }
        }
        text.count x=(label.0) y=(label.1) { (number) "×" }
    }
}

fn drawn(node: &DrawnNode) -> Markup {
    let (left, top) = (x(node), y(node));
    let last = node.trust.last();
    // A point for each value, from the left to the right side of the box; trust 1 is 20 units above trust 0.
    // A constant trust is a line, too.
    let constant = last.filter(|_| node.trust.len() == 1);
    let steps = node.trust.len().saturating_sub(1).max(1);
    let point = |(at, trust): (usize, &orchestrion_kernel::Score)| {
        let rise = usize::try_from(trust.millionths() / 50_000).unwrap_or(0);
        format!("{},{}", left + 10 + at * (BOX_WIDTH - 70) / steps, top + BOX_HEIGHT - 8 - rise)
    };
    let points: Vec<String> = node.trust.iter().chain(constant).enumerate().map(point).collect();
    html! {
        g.node {
            rect x=(left) y=(top) width=(BOX_WIDTH) height=(BOX_HEIGHT) rx="6" {}
            text x=(left + 10) y=(top + 22) { (sanitize(&node.name)) }
            polyline.trust points=(points.join(" ")) {}
            @if let Some(last) = last { text.figure x=(left + BOX_WIDTH - 52) y=(top + BOX_HEIGHT - 12) { (short(last.millionths())) } }
        }
    }
}
