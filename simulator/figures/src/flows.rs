//! The flows of requests: from the truth about the plan, through passes and decision, to the outcome. The width of a band is its share.

use crate::chart::{INK, TEXT_PX, draw as draw_figure, series_color, text};
use crate::drawing::{Area, DrawingError};
use crate::error::FigureError;
use crate::figure::Figure;
use crate::outcomes::short_name;
use orchestrion_experiment::{Flow, FlowCount, PlanStage, PolicySummary, Summary};
use plotters::element::{Polygon, Rectangle, Text};
use plotters::style::{Color, RGBColor};
use std::collections::BTreeMap;

/// With more policies, only the flows of the baseline are drawn.
const POLICIES_MAX: usize = 6;
/// The stages of a flow.
const STAGES: usize = 4;
/// The height of all requests in a column, in pixels.
const HEIGHT_PX: f64 = 190.0;
/// The space between two values of a stage, in pixels.
const GAP_PX: f64 = 18.0;
/// The width of a column, in pixels.
const COLUMN_PX: i32 = 8;
/// The upper end of the columns, in pixels.
const TOP_PX: f64 = 34.0;
/// The names of the stages.
const TITLES: [&str; STAGES] = ["plan", "passes", "decision", "outcome"];
/// The number of pieces of the curved side of a band.
const PIECES: i32 = 16;

/// A value of a stage: its position in the order of the stage, and its name.
type Value = (u8, &'static str);

fn values(flow: &Flow) -> [Value; STAGES] {
    [
        (flow.plan as u8, flow.plan.name()),
        (flow.passes as u8, flow.passes.name()),
        (flow.decision as u8, flow.decision.name()),
        (flow.outcome as u8, flow.outcome.name()),
    ]
}

/// Draws the flows of each policy, or of the baseline alone if there are many.
pub(crate) fn draw_all(summary: &Summary) -> Result<Vec<Figure>, FigureError> {
    let count = if summary.policies.len() > POLICIES_MAX { 1 } else { POLICIES_MAX };
    let drawn = summary.policies.iter().take(count).enumerate();
    drawn.map(|(number, policy)| draw(summary, number, policy)).collect()
}

fn draw(summary: &Summary, number: usize, policy: &PolicySummary) -> Result<Figure, FigureError> {
    let counts: Vec<FlowCount> = policy.flows.iter().collect();
    let total = counts.iter().map(|count| count.requests).sum::<u64>().max(1) as f64;
    let columns: [Column; STAGES] = std::array::from_fn(|stage| Column::new(stage, &counts, total));
    let lowest = columns.iter().map(Column::bottom).fold(0.0, f64::max);
    let drawing = draw_figure((lowest + 14.0) as u32, |area| {
        bands(area, &counts, &columns, total)?;
        for column in &columns {
            column.draw(area, total)?;
        }
        Ok::<(), DrawingError>(())
    })?;
    Ok(Figure {
        name: format!("flows-{}", number + 1),
        title: format!("flows of the requests, {}", short_name(summary, policy)),
        drawing,
    })
}

/// A stage with the place of each of its values.
struct Column {
    stage: usize,
    /// The upper end and the number of requests of each value.
    places: BTreeMap<Value, (f64, u64)>,
}

impl Column {
    fn new(stage: usize, counts: &[FlowCount], total: f64) -> Self {
        let mut sums: BTreeMap<Value, u64> = BTreeMap::new();
        for count in counts {
            let Some(value) = values(&count.flow).get(stage).copied() else { continue };
            *sums.entry(value).or_default() += count.requests;
        }
        let mut top = TOP_PX;
        let mut place = |requests: u64| {
            let at = top;
            top += requests as f64 / total * HEIGHT_PX + GAP_PX;
            (at, requests)
        };
        Self { stage, places: sums.into_iter().map(|(value, requests)| (value, place(requests))).collect() }
    }

    /// The left side, in pixels.
    fn left(&self) -> i32 {
        let widths = [0, 122, 238, 350];
        12 + widths.get(self.stage).copied().unwrap_or(0)
    }

    fn bottom(&self) -> f64 {
        TOP_PX + HEIGHT_PX + GAP_PX * self.places.len().saturating_sub(1) as f64
    }

    /// The color of a value: in the first stage that of its bands.
    fn color(&self, position: u8) -> RGBColor {
        let plans = [PlanStage::None, PlanStage::Acceptable, PlanStage::Harmful];
        let plan = plans.into_iter().find(|plan| self.stage == 0 && *plan as u8 == position);
        plan.map_or(INK, color)
    }

    fn draw(&self, area: &Area<'_>, total: f64) -> Result<(), DrawingError> {
        let left = self.left();
        area.draw(&Text::new(TITLES.get(self.stage).copied().unwrap_or_default(), (left, 8), text()))?;
        for ((position, name), (top, requests)) in &self.places {
            let share = *requests as f64 / total;
            let (from, to) = (top.round() as i32, (top + (share * HEIGHT_PX).max(1.0)).round() as i32);
            area.draw(&Rectangle::new(
                [(left, from), (left + COLUMN_PX, to)],
                self.color(*position).filled(),
            ))?;
            let middle = (from + to) / 2 - TEXT_PX / 2;
            let shown = format!("{name} {}", percent(share));
            area.draw(&Text::new(shown, (left + COLUMN_PX + 4, middle), text()))?;
        }
        Ok(())
    }
}

/// Formats a share, with a decimal only where it matters.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// The color of a band: that of the truth about the plan.
fn color(plan: PlanStage) -> RGBColor {
    series_color(match plan {
        PlanStage::Acceptable => 0,
        PlanStage::Harmful => 1,
        PlanStage::None => 3,
    })
}

/// Draws a band from each value of a stage to each value of the next one.
fn bands(
    area: &Area<'_>,
    counts: &[FlowCount],
    columns: &[Column; STAGES],
    total: f64,
) -> Result<(), DrawingError> {
    for (stage, pair) in columns.windows(2).enumerate() {
        let [from, to] = pair else { continue };
        let mut widths: BTreeMap<(Value, Value, PlanStage), u64> = BTreeMap::new();
        for count in counts {
            let found = values(&count.flow);
            let (Some(start), Some(end)) = (found.get(stage), found.get(stage + 1)) else { continue };
            *widths.entry((*start, *end, count.flow.plan)).or_default() += count.requests;
        }
        // Where the next band of each value starts.
        let tops = |column: &Column| -> BTreeMap<Value, f64> {
            column.places.iter().map(|(value, (top, _))| (*value, *top)).collect()
        };
        let (mut starts, mut ends) = (tops(from), tops(to));
        let (left, right) = (from.left() + COLUMN_PX, to.left());
        for ((start, end, plan), requests) in widths {
            let height = requests as f64 / total * HEIGHT_PX;
            let (Some(first), Some(last)) = (starts.get_mut(&start), ends.get_mut(&end)) else { continue };
            let band = Polygon::new(sides((left, *first), (right, *last), height), color(plan).mix(0.45));
            area.draw(&band)?;
            *first += height;
            *last += height;
        }
    }
    Ok(())
}

/// Returns the outline of a band between two points, with curved sides.
fn sides((left, start): (i32, f64), (right, end): (i32, f64), height: f64) -> Vec<(i32, i32)> {
    let at = |piece: i32, lower: f64| {
        let t = f64::from(piece) / f64::from(PIECES);
        let smooth = t * t * (3.0 - 2.0 * t);
        let x = f64::from(left) + t * f64::from(right - left);
        (x.round() as i32, (start + (end - start) * smooth + lower).round() as i32)
    };
    let upper = (0..=PIECES).map(|piece| at(piece, 0.0));
    upper.chain((0..=PIECES).rev().map(|piece| at(piece, height))).collect()
}
