//! A metric over one setting: a line for each combination of the others, with the interval of each point.

use crate::axes::{Axis, draw_axes};
use crate::chart::{Legend, SIZE, draw as draw_figure, series_color, stroke};
use crate::drawing::DrawingError;
use crate::error::FigureError;
use crate::figure::{Figure, label};
use orchestrion_experiment::statistics::{Estimate, estimate};
use orchestrion_experiment::{Metric, Summary};
use plotters::element::{Circle, ErrorBar};
use plotters::series::LineSeries;
use plotters::style::Color;
use std::collections::BTreeMap;

/// The largest number of lines of a figure.
const LINES_MAX: usize = 6;

/// Returns the positions of the settings with several numeric values.
pub(crate) fn axes(summary: &Summary) -> Vec<usize> {
    let values =
        |position: usize| summary.policies.iter().filter_map(move |policy| policy.values.get(position));
    let is_axis = |position: &usize| {
        let is_numeric = values(*position).all(|value| value.parse::<f64>().is_ok());
        let first = values(*position).next();
        is_numeric && values(*position).any(|value| Some(value) != first)
    };
    (0..summary.settings.len()).filter(is_axis).collect()
}

/// A line: what distinguishes it, and its points.
type Lines = BTreeMap<String, Vec<(f64, Estimate)>>;

fn lines(summary: &Summary, metric: &Metric, axis: usize) -> Lines {
    let mut lines = Lines::new();
    let mut bases: Vec<&str> = summary.policies.iter().map(|policy| policy.base.as_str()).collect();
    bases.dedup();
    for policy in &summary.policies {
        let Some(tally) = policy.metrics.get(metric.name) else { continue };
        let Some(x) = policy.values.get(axis).and_then(|value| value.parse().ok()) else { continue };
        let others =
            summary.settings.iter().zip(&policy.values).enumerate().filter(|(position, _)| *position != axis);
        let varies = |position: usize| {
            summary.policies.iter().any(|other| other.values.get(position) != policy.values.get(position))
        };
        let short = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        let mut name: Vec<String> = others
            .filter(|(position, _)| varies(*position))
            .map(|(_, (setting, value))| format!("{} {value}", short(setting)))
            .collect();
        if bases.len() > 1 {
            name.insert(0, policy.base.clone());
        }
        lines.entry(name.join(", ")).or_default().push((x, estimate(metric, tally, summary.requests)));
    }
    lines.values_mut().for_each(|points| points.sort_by(|(first, _), (second, _)| first.total_cmp(second)));
    lines
}

/// Draws a metric over a setting; `None` if there are too many lines.
pub(crate) fn draw(
    summary: &Summary,
    metric: &'static Metric,
    axis: usize,
) -> Result<Option<Figure>, FigureError> {
    let lines = lines(summary, metric, axis);
    let Some(setting) = summary.settings.get(axis).filter(|_| lines.len() <= LINES_MAX) else {
        return Ok(None);
    };
    let names = lines.keys().enumerate().filter(|_| lines.len() > 1);
    let legend = Legend::new(names.map(|(number, name)| (name.clone(), series_color(number))));
    let drawing = draw_figure(SIZE.1 + legend.height().unsigned_abs(), |area| {
        let (top, below) = area.split_vertically(legend.height());
        legend.draw(&top)?;
        let points = || lines.values().flatten();
        let x = Axis::at_values(setting, points().map(|(x, _)| *x));
        let y =
            Axis::round(label(metric), points().flat_map(|(_, found)| [found.low, found.mean, found.high]));
        let mut chart = draw_axes(&below, x, y)?;
        for (number, points) in lines.values().enumerate() {
            let color = series_color(number);
            let means = points.iter().map(|(x, y)| (*x, y.mean));
            chart.draw_series(LineSeries::new(means, stroke(color)))?;
            chart.draw_series(
                points
                    .iter()
                    .filter(|(_, y)| y.has_interval())
                    .map(|(x, y)| ErrorBar::new_vertical(*x, y.low, y.mean, y.high, color.filled(), 6)),
            )?;
            chart.draw_series(points.iter().map(|(x, y)| Circle::new((*x, y.mean), 3, color.filled())))?;
        }
        Ok::<(), DrawingError>(())
    })?;
    Ok(Some(Figure {
        name: format!("{}-by-{}", metric.name, file_part(setting)),
        title: format!("{} by {setting}, with 95 % intervals", metric.name),
        drawing,
    }))
}

/// Returns a name from a result as a part of a file name, without folders and control characters.
fn file_part(name: &str) -> String {
    let is_kept = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    name.chars().map(|c| if is_kept(c) { c } else { '-' }).collect()
}
