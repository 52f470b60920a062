//! The budget curve as a picture: SVG that needs nothing else, light or dark as its reader likes it.

use super::curve::{Curve, Point};
use maud::{Markup, PreEscaped, Render, html};
use orchestrion_report::show::{grouped, sanitize};

/// What every picture begins with.
pub const PICTURE_BEGINS: &str = "<svg class=\"orchestrion-curve\"";

/// The picture, and within it the ground on which the curve is drawn.
const WIDTH: u64 = 960;
const HEIGHT: u64 = 600;
const LEFT: u64 = 120;
const RIGHT: u64 = 920;
const TOP: u64 = 100;
const BOTTOM: u64 = 520;

/// So many marks an axis has at most, the one at 0 not counted.
const MARKS_MAX: u64 = 6;

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

/// A length in tenths of a pixel.
#[derive(Clone, Copy)]
struct Tenths(u64);

impl Render for Tenths {
    fn render_to(&self, out: &mut String) {
        out.push_str(&self.0.to_string());
        out.insert(out.len() - 1, '.');
    }
}

/// How numbers become places.
struct Scale {
    tokens_max: u64,
    utility_max: u64,
}

impl Scale {
    fn x(&self, tokens: u64) -> Tenths {
        Tenths(10 * LEFT + part(tokens.min(self.tokens_max), self.tokens_max, 10 * (RIGHT - LEFT)))
    }

    fn y(&self, utility: u64) -> Tenths {
        Tenths(10 * BOTTOM - part(utility, self.utility_max, 10 * (BOTTOM - TOP)))
    }
}

/// `length · number / whole`, rounded down.
fn part(number: u64, whole: u64, length: u64) -> u64 {
    let part = u128::from(number) * u128::from(length) / u128::from(whole.max(1));
    u64::try_from(part).unwrap_or(length)
}

/// Draws the curve of a problem, with the budget that it has.
#[must_use]
pub fn picture(name: &str, budget: u64, curve: &Curve) -> String {
    let last = curve.points.last();
    let scale = Scale {
        tokens_max: with_room(last.map_or(0, |point| point.cost).max(budget)),
        utility_max: with_room(last.map_or(0, |point| point.utility)),
    };
    let here = curve.points.iter().rev().find(|point| point.cost <= budget && budget <= point.budget);
    let drawn = html! {
        (PreEscaped(PICTURE_BEGINS)) (PreEscaped(format!(
            " xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\">"
        )))
        title { "Budget curve of " (sanitize(name)) }
        style { (PreEscaped(STYLE)) }
        rect.paper width=(WIDTH) height=(HEIGHT) {}
        text.title x=(LEFT) y="40" { "What a budget buys" }
        text.faint x=(LEFT) y="64" { (sanitize(name)) ": " (told(curve)) }
        (marks(&scale))
        (staircase(&scale, &curve.points))
        @if let Some(here) = here { (marker(&scale, budget, here)) }
        (PreEscaped("</svg>\n"))
    };
    drawn.into_string()
}

/// What the picture has in it, in words.
fn told(curve: &Curve) -> String {
    let count = curve.points.len();
    match (curve.is_complete, curve.hit_node_limit) {
        (true, _) => format!("all {count} steps of the curve"),
        (false, false) => format!("{count} points; the curve runs within the shaded boxes"),
        (false, true) => format!("{count} points; searches were cut short, so there may be more utility"),
    }
}

/// A tenth more than what is to be shown, rounded up to a mark.
fn with_room(most: u64) -> u64 {
    let most = most.max(1);
    let step = step(most).div_ceil(2);
    (most + most / 20).div_ceil(step) * step
}

/// The distance of marks: 1, 2 or 5 and zeros.
fn step(most: u64) -> u64 {
    let mut unit = 1;
    loop {
        if let Some(step) =
            [1, 2, 5].map(|times| unit * times).into_iter().find(|step| most / step <= MARKS_MAX)
        {
            return step;
        }
        unit *= 10;
    }
}

/// The unit in which an axis is marked, so that its numbers keep their room, and how that is told.
fn unit(most: u64) -> (u64, &'static str) {
    const ROOM: u64 = 10_000_000;
    const UNITS: [(u64, &str); 4] =
        [(1, ""), (1_000, " ×10³"), (1_000_000, " ×10⁶"), (1_000_000_000, " ×10⁹")];
    let unit = UNITS.into_iter().find(|(unit, _)| most / unit < ROOM);
    unit.unwrap_or((1_000_000_000_000, " ×10¹²"))
}

fn marks(scale: &Scale) -> Markup {
    let (utility_unit, utility_told) = unit(scale.utility_max);
    let (tokens_unit, tokens_told) = unit(scale.tokens_max);
    let of = |most: u64| (0..=most / step(most)).map(move |mark| mark * step(most));
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
        text.faint x=(LEFT - 12) y=(TOP - 18) text-anchor="end" { "utility" (utility_told) }
        text.faint x=(RIGHT) y=(BOTTOM + 52) text-anchor="end" { "budget, tokens" (tokens_told) }
    }
}

/// The steps, and a box wherever some may be that nobody looked for.
fn staircase(scale: &Scale, points: &[Point]) -> Markup {
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
            let meets = above.cost.saturating_sub(point.budget) <= 1;
            if !meets {
                boxes.push((scale.x(point.budget), scale.x(above.cost), scale.y(above.utility), y));
            }
            if meets { above.cost } else { point.budget }
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

/// The budget of the problem, and what it buys.
fn marker(scale: &Scale, budget: u64, here: &Point) -> Markup {
    let (x, y) = (scale.x(budget), scale.y(here.utility));
    let is_left = x.0 < 5 * (LEFT + RIGHT);
    // Below the curve there is room to its right, above it to its left.
    let (dx, dy, anchor) = if is_left { (12, 24, "start") } else { (-12_i64, -14_i64, "end") };
    html! {
        line.drop x1=(x) x2=(x) y1=(y) y2=(BOTTOM) {}
        circle.dot cx=(x) cy=(y) r="6" {}
        text.here.figure x=(x) y=(y) dx=(dx) dy=(dy) text-anchor=(anchor) {
            (grouped(budget)) " tokens buy " (grouped(here.utility))
        }
    }
}
