//! A metric over two settings: a cell for each combination, with its mean.

use crate::chart::{INK, SIZE, TEXT_PX, draw as draw_figure, text, text_color_on};
use crate::drawing::DrawingError;
use crate::error::FigureError;
use crate::figure::Figure;
use orchestrion_experiment::{Metric, MetricKind, Summary};
use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, RGBColor, TextStyle};

/// The largest number of rows and columns.
const CELLS_MAX: usize = 12;
/// The colors of the smallest and the largest mean: both carry dark and light text.
const LOW: (f64, f64, f64) = (247.0, 251.0, 255.0);
const HIGH: (f64, f64, f64) = (8.0, 69.0, 148.0);

/// Returns the distinct values of a setting, in ascending order.
fn values(summary: &Summary, axis: usize) -> Vec<String> {
    let mut values: Vec<String> =
        summary.policies.iter().filter_map(|policy| policy.values.get(axis).cloned()).collect();
    let number = |value: &String| value.parse::<f64>().unwrap_or(f64::INFINITY);
    values.sort_by(|first, second| number(first).total_cmp(&number(second)));
    values.dedup();
    values
}

/// Draws a metric over two settings; `None` if there are too many cells, or several policies for a cell.
pub(crate) fn draw(
    summary: &Summary,
    metric: &'static Metric,
    first: usize,
    second: usize,
) -> Result<Option<Figure>, FigureError> {
    let (rows, columns) = (values(summary, first), values(summary, second));
    let names = (summary.settings.get(first), summary.settings.get(second));
    let (Some(row_name), Some(column_name)) = names else { return Ok(None) };
    let is_small = rows.len() <= CELLS_MAX && columns.len() <= CELLS_MAX;
    if !is_small || rows.len() * columns.len() != summary.policies.len() {
        return Ok(None);
    }
    let mean = |row: &String, column: &String| {
        let is_here = |policy: &&orchestrion_experiment::PolicySummary| {
            policy.values.get(first) == Some(row) && policy.values.get(second) == Some(column)
        };
        let policy = summary.policies.iter().find(is_here)?;
        policy.metrics.get(metric.name).map(|tally| tally.mean() / f64::from(summary.requests))
    };
    let all: Vec<f64> =
        rows.iter().flat_map(|row| columns.iter().filter_map(move |column| mean(row, column))).collect();
    let (low, high) = all
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
    let (left, top, bottom, right) = (96, 12, 56, 12);
    let width = (SIZE.0 as i32 - left - right) / columns.len().max(1) as i32;
    let height = (SIZE.1 as i32 - top - bottom) / rows.len().max(1) as i32;
    let drawing = draw_figure(SIZE.1, |area| {
        for (y, row) in rows.iter().rev().enumerate() {
            let at = top + y as i32 * height;
            area.draw(&Text::new(row.clone(), (left - 26, at + height / 2), centered(text())))?;
            for (x, column) in columns.iter().enumerate() {
                let Some(value) = mean(row, column) else { continue };
                let share = if high > low { (value - low) / (high - low) } else { 0.0 };
                let corner = left + x as i32 * width;
                let cell = [(corner, at), (corner + width - 1, at + height - 1)];
                area.draw(&Rectangle::new(cell, blend(share).filled()))?;
                let ink = text_color_on(blend(share));
                let style = centered(text().color(&ink));
                area.draw(&Text::new(number(metric, value), (corner + width / 2, at + height / 2), style))?;
            }
        }
        let below = top + height * rows.len() as i32;
        for (x, column) in columns.iter().enumerate() {
            area.draw(&Text::new(
                column.clone(),
                (left + x as i32 * width + width / 2, below + TEXT_PX),
                centered(text()),
            ))?;
        }
        let middle = left + width * columns.len() as i32 / 2;
        area.draw(&Text::new(column_name.clone(), (middle, below + 3 * TEXT_PX - 4), centered(text())))?;
        let turned = centered(text().color(&INK)).transform(plotters::style::FontTransform::Rotate270);
        area.draw(&Text::new(row_name.clone(), (20, top + height * rows.len() as i32 / 2), turned))?;
        Ok::<(), DrawingError>(())
    })?;
    Ok(Some(Figure {
        name: format!("{}-heat-map", metric.name),
        title: format!("{} by {row_name} and {column_name}", metric.name),
        drawing,
    }))
}

fn centered(style: TextStyle<'_>) -> TextStyle<'_> {
    style.pos(Pos::new(HPos::Center, VPos::Center))
}

fn blend(share: f64) -> RGBColor {
    let mix = |low: f64, high: f64| (low + (high - low) * share).round().clamp(0.0, 255.0) as u8;
    RGBColor(mix(LOW.0, HIGH.0), mix(LOW.1, HIGH.1), mix(LOW.2, HIGH.2))
}

fn number(metric: &Metric, value: f64) -> String {
    match metric.kind {
        MetricKind::Requests => format!("{value:.3}"),
        MetricKind::Amount if value >= 100.0 => format!("{value:.0}"),
        MetricKind::Amount => format!("{value:.2}"),
    }
}
