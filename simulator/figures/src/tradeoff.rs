//! The trade-off between both kinds of error: a point for each policy, and the Pareto front.

use crate::axes::{Axis, draw_axes};
use crate::chart::{SIZE, draw as draw_figure, series_color, stroke};
use crate::drawing::DrawingError;
use crate::error::FigureError;
use crate::figure::Figure;
use orchestrion_experiment::{PolicyReport, Report};
use plotters::element::Circle;
use plotters::series::LineSeries;
use plotters::style::Color;

/// Draws the trade-off; `None` if no policy makes an error of one kind.
pub(crate) fn draw(report: &Report) -> Result<Option<Figure>, FigureError> {
    let mean =
        |policy: &PolicyReport, name: &str| policy.metrics.get(name).map_or(0.0, |found| found.mean.mean);
    let points: Vec<(f64, f64)> = report
        .policies
        .iter()
        .map(|policy| (mean(policy, "wrong_proceed"), mean(policy, "wrong_block")))
        .collect();
    let xs = || points.iter().map(|(x, _)| *x);
    let ys = || points.iter().map(|(_, y)| *y);
    if xs().all(|x| x == 0.0) || ys().all(|y| y == 0.0) {
        return Ok(None);
    }
    let mut front: Vec<(f64, f64)> =
        report.pareto_front.iter().filter_map(|position| points.get(*position).copied()).collect();
    front.sort_by(|first, second| first.0.total_cmp(&second.0));
    let drawing = draw_figure(SIZE.1, |area| {
        let x = Axis::round("wrong_proceed: harmful plans that run", xs());
        let mut chart = draw_axes(area, x, Axis::round("wrong_block", ys()))?;
        chart.draw_series(LineSeries::new(front.iter().copied(), stroke(series_color(1))))?;
        let all = xs().zip(ys()).map(|point| Circle::new(point, 4, series_color(0).filled()));
        chart.draw_series(all)?;
        chart.draw_series(front.iter().map(|point| Circle::new(*point, 5, stroke(series_color(1)))))?;
        Ok::<(), DrawingError>(())
    })?;
    let title = "harmful plans that run against acceptable plans that are blocked; the line joins policies that no other one beats in both";
    Ok(Some(Figure { name: "trade-off".to_owned(), title: title.to_owned(), drawing }))
}
