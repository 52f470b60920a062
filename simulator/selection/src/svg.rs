//! The budget curve as a self-contained SVG, for light and dark color schemes.

use super::curve::{Curve, Point};
use maud::{Markup, PreEscaped, Render, html};
use orchestrion_report::text::{grouped, sanitize};

/// Prefix of every SVG file.
pub const SVG_PREFIX: &str = "<svg class=\"orchestrion-curve\"";

/// Size of the drawing, and the area of the curve.
const WIDTH: u64 = 960;
const HEIGHT: u64 = 600;
const LEFT: u64 = 120;
const RIGHT: u64 = 920;
const TOP: u64 = 100;
const BOTTOM: u64 = 520;

/// Ticks of an axis, without that at 0.
const TICKS_MAX: u64 = 6;

const STYLE: &str = "
.orchestrion-curve {
  --paper: #fbfaf8; --edge: #dedad3; --ink: #1d2430; --faint: #5d6675; --curve: #0b5f8a; --here: #b3261e;
  background: var(--paper); color-scheme: light dark;
  font: 14px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif;
}
@media (prefers-color-scheme: dark) {
  .orchestrion-curve { --paper: #14171c; --edge: #343b46; --ink: #e6e8ec; --faint: #a3acba; --curve: #7cc7ee; --here: #ff9a90; }
}
.paper { fill: var(--paper); }
text { fill: var(--ink); }
.title { font-size: 20px; font-weight: 600; }
.faint { fill: var(--faint); }
.figure { font-variant-numeric: tabular-nums; }
.grid { stroke: var(--edge); stroke-width: 1; }
.axis { stroke: var(--faint); stroke-width: 1; }
.below { fill: var(--curve); opacity: .1; }
.open { fill: var(--curve); opacity: .22; }
.curve { fill: none; stroke: var(--curve); stroke-width: 2; stroke-linejoin: round; }
.drop { stroke: var(--here); stroke-width: 1.5; stroke-dasharray: 5 4; }
.dot { fill: var(--here); stroke: var(--paper); stroke-width: 2; }
.here { fill: var(--here); font-weight: 600; }
";

/// Length in tenths of a pixel.
#[derive(Clone, Copy)]
struct Tenths(u64);

impl Render for Tenths {
    fn render_to(&self, out: &mut String) {
        out.push_str(&self.0.to_string());
        out.insert(out.len() - 1, '.');
    }
}

/// Maps numbers to coordinates.
struct Scale {
    tokens_max: u64,
    utility_max: u64,
}

impl Scale {
    fn x(&self, tokens: u64) -> Tenths {
        Tenths(10 * LEFT + scale_length(tokens.min(self.tokens_max), self.tokens_max, 10 * (RIGHT - LEFT)))
    }

    fn y(&self, utility: u64) -> Tenths {
        Tenths(10 * BOTTOM - scale_length(utility, self.utility_max, 10 * (BOTTOM - TOP)))
    }
}

/// Returns `length · number / whole`, rounded down.
fn scale_length(number: u64, whole: u64, length: u64) -> u64 {
    let scaled = u128::from(number) * u128::from(length) / u128::from(whole.max(1));
    u64::try_from(scaled).unwrap_or(length)
}

/// Draws the curve of a problem and marks its budget.
#[must_use]
pub fn curve_svg(name: &str, budget: u64, curve: &Curve) -> String {
    let last = curve.points.last();
    let scale = Scale {
        tokens_max: axis_max(last.map_or(0, |point| point.cost).max(budget)),
        utility_max: axis_max(last.map_or(0, |point| point.utility)),
    };
    let here = curve.points.iter().rev().find(|point| point.cost <= budget && budget <= point.budget);
    let svg = html! {
        (PreEscaped(SVG_PREFIX)) (PreEscaped(format!(
            " xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\">"
        )))
        title { "Budget curve of " (sanitize(name)) }
        style { (PreEscaped(STYLE)) }
        rect.paper width=(WIDTH) height=(HEIGHT) {}
        text.title x=(LEFT) y="40" { "Maximum utility by budget" }
        text.faint x=(LEFT) y="64" { (sanitize(name)) ": " (description(curve)) }
        (axes(&scale))
        (steps(&scale, &curve.points))
        @if let Some(here) = here { (marker(&scale, budget, here)) }
        (PreEscaped("</svg>\n"))
    };
    svg.into_string()
}

/// Describes the drawn points.
fn description(curve: &Curve) -> String {
    let count = curve.points.len();
    match (curve.is_complete, curve.hit_limit) {
        (true, _) => format!("all {count} steps"),
        (false, false) => format!("{count} points; the curve is within the shaded boxes"),
        (false, true) => format!("{count} points; searches hit the node limit, so the curve may be higher"),
    }
}

/// Returns the end of an axis: the maximum with a margin, rounded up to half a tick.
fn axis_max(most: u64) -> u64 {
    let most = most.max(1);
    let step = tick_distance(most).div_ceil(2);
    (most + most / 20).div_ceil(step) * step
}

/// Returns the distance of ticks: 1, 2 or 5 times a power of ten.
fn tick_distance(most: u64) -> u64 {
    let mut unit = 1;
    loop {
        if let Some(step) =
            [1, 2, 5].map(|times| unit * times).into_iter().find(|step| most / step <= TICKS_MAX)
        {
            return step;
        }
        unit *= 10;
    }
}

/// Returns the unit of an axis, which limits the digits of its labels, and its notation.
fn axis_unit(most: u64) -> (u64, &'static str) {
    const ROOM: u64 = 10_000_000;
    const UNITS: [(u64, &str); 4] =
        [(1, ""), (1_000, " ×10³"), (1_000_000, " ×10⁶"), (1_000_000_000, " ×10⁹")];
    let unit = UNITS.into_iter().find(|(unit, _)| most / unit < ROOM);
    unit.unwrap_or((1_000_000_000_000, " ×10¹²"))
}

fn axes(scale: &Scale) -> Markup {
    let (utility_unit, utility_notation) = axis_unit(scale.utility_max);
    let (tokens_unit, tokens_notation) = axis_unit(scale.tokens_max);
    let of = |most: u64| (0..=most / tick_distance(most)).map(move |tick| tick * tick_distance(most));
    html! {
        @for utility in of(scale.utility_max) {
            @let y = scale.y(utility);
            line.grid x1=(LEFT) x2=(RIGHT) y1=(y) y2=(y) {}
            text.faint.figure x=(LEFT - 12) y=(y) dy="5" text-anchor="end" { (grouped(utility / utility_unit)) }
        }
        @for tokens in of(scale.tokens_max) {
            @let x = scale.x(tokens);
            line.axis x1=(x) x2=(x) y1=(BOTTOM) y2=(BOTTOM + 6) {}
            text.faint.figure x=(x) y=(BOTTOM + 24) text-anchor="middle" { (grouped(tokens / tokens_unit)) }
        }
        line.axis x1=(LEFT) x2=(RIGHT) y1=(BOTTOM) y2=(BOTTOM) {}
        text.faint x=(LEFT - 12) y=(TOP - 18) text-anchor="end" { "utility" (utility_notation) }
        text.faint x=(RIGHT) y=(BOTTOM + 52) text-anchor="end" { "budget, tokens" (tokens_notation) }
    }
}

/// Draws the steps, and a box for each gap that was not searched.
fn steps(scale: &Scale, points: &[Point]) -> Markup {
    let mut line = String::new();
    let mut to = |x: Tenths, y: Tenths| {
        line.push_str(if line.is_empty() { "M" } else { "L" });
        x.render_to(&mut line);
        line.push(' ');
        y.render_to(&mut line);
    };
    let mut boxes = Vec::new();
    for (n, point) in points.iter().enumerate() {
        let y = scale.y(point.utility);
        to(scale.x(point.cost), y);
        let end = points.get(n + 1).map_or(scale.tokens_max, |above| {
            let is_adjacent = above.cost.saturating_sub(point.budget) <= 1;
            if !is_adjacent {
                boxes.push((scale.x(point.budget), scale.x(above.cost), scale.y(above.utility), y));
            }
            if is_adjacent { above.cost } else { point.budget }
        });
        to(scale.x(end), y);
    }
    let base = format!("L{RIGHT} {BOTTOM}");
    html! {
        @if let Some(first) = points.first() {
            path.below d={ (line) (base) "L" (scale.x(first.cost)) " " (BOTTOM) "Z" } {}
        }
        @for (left, right, top, bottom) in boxes {
            rect.open x=(left) y=(top) width=(Tenths(right.0 - left.0)) height=(Tenths(bottom.0.saturating_sub(top.0))) {}
        }
        path.curve d=(line) {}
    }
}

/// Draws the budget of the problem with its utility.
fn marker(scale: &Scale, budget: u64, here: &Point) -> Markup {
    let (x, y) = (scale.x(budget), scale.y(here.utility));
    let is_left = x.0 < 5 * (LEFT + RIGHT);
    // The label is below the curve in the left half, and above it in the right half.
    let (dx, dy, anchor) = if is_left { (12, 24, "start") } else { (-12_i64, -14_i64, "end") };
    html! {
        line.drop x1=(x) x2=(x) y1=(y) y2=(BOTTOM) {}
        circle.dot cx=(x) cy=(y) r="6" {}
        text.here.figure x=(x) y=(y) dx=(dx) dy=(dy) text-anchor=(anchor) {
            (grouped(budget)) " tokens: utility " (grouped(here.utility))
        }
    }
}
