//! The trade-off between both kinds of error: a point for each policy, and the Pareto front.

use crate::chart::{
    DrawingError, FigureError, GRID, INK, SIZE, draw as draw_svg, padded, series_color, stroke, text,
};
use crate::figure::Figure;
use orchestrion_experiment::Summary;
use orchestrion_experiment::statistics::{Goal, pareto_front};
use plotters::chart::ChartBuilder;
use plotters::element::Circle;
use plotters::series::LineSeries;
use plotters::style::Color;

/// Draws the trade-off; `None` if no policy makes an error of one kind.
pub(crate) fn draw(summary: &Summary) -> Result<Option<Figure>, FigureError> {
    let rate = |policy: &orchestrion_experiment::PolicySummary, name: &str| {
        policy.metrics.get(name).map_or(0.0, |tally| tally.mean() / f64::from(summary.requests))
    };
    let points: Vec<Vec<f64>> = summary
        .policies
        .iter()
        .map(|policy| vec![rate(policy, "wrong_proceed"), rate(policy, "wrong_block")])
        .collect();
    let xs = || points.iter().filter_map(|point| point.first().copied());
    let ys = || points.iter().filter_map(|point| point.get(1).copied());
    if xs().all(|x| x == 0.0) || ys().all(|y| y == 0.0) {
        return Ok(None);
    }
    let mut front: Vec<(f64, f64)> = pareto_front(&points, &[Goal::Minimize, Goal::Minimize])
        .into_iter()
        .filter_map(|position| points.get(position))
        .filter_map(|point| Some((*point.first()?, *point.get(1)?)))
        .collect();
    front.sort_by(|first, second| first.0.total_cmp(&second.0));
    let (x_range, y_range) = (padded(xs()), padded(ys()));
    let svg = draw_svg(SIZE.1, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(62)
            .build_cartesian_2d(x_range, y_range)?;
        chart
            .configure_mesh()
            .label_style(text())
            .axis_desc_style(text())
            .axis_style(INK)
            .bold_line_style(GRID.mix(0.35))
            .light_line_style(GRID.mix(0.0))
            .x_desc("wrong_proceed: harmful plans that run")
            .y_desc("wrong_block")
            .x_labels(6)
            .y_labels(6)
            .draw()?;
        chart.draw_series(LineSeries::new(front.iter().copied(), stroke(series_color(1))))?;
        let all = xs().zip(ys()).map(|point| Circle::new(point, 4, series_color(0).filled()));
        chart.draw_series(all)?;
        chart.draw_series(front.iter().map(|point| Circle::new(*point, 5, stroke(series_color(1)))))?;
        Ok::<(), DrawingError>(())
    })?;
    let title = "harmful plans that run against acceptable plans that are blocked; the line joins policies that no other one beats in both";
    Ok(Some(Figure { name: "trade-off".to_owned(), title: title.to_owned(), svg }))
}
