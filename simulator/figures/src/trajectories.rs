//! Trajectories: a value over the requests of a run, or over the passes of a debate, with the interval of each mean as a band.

use crate::axes::{Axis, draw_axes};
use crate::chart::{Legend, SIZE, draw as draw_figure, series_color, stroke};
use crate::drawing::DrawingError;
use crate::error::FigureError;
use crate::figure::{Figure, label};
use crate::outcomes::short_name;
use orchestrion_experiment::statistics::Estimate;
use orchestrion_experiment::{Report, Summary, Trajectory};
use plotters::element::{Circle, Polygon};
use plotters::series::LineSeries;
use plotters::style::Color;

/// The largest number of lines of a figure, and of figures with a line for each node.
const LINES_MAX: usize = 6;
/// Up to this number of positions, each has a mark.
const MARKS_MAX: usize = 12;

/// The estimates of a line, from the first position on.
type Line<'a> = (String, &'a [Estimate]);

/// Draws every trajectory: one figure with a line for each policy, or for each policy one with a line for each node.
pub(crate) fn draw_all(summary: &Summary, report: &Report) -> Result<Vec<Figure>, FigureError> {
    let mut all = Vec::new();
    let Some(first) = report.policies.first() else { return Ok(all) };
    if report.policies.len() > LINES_MAX {
        return Ok(all);
    }
    for trajectory in first.trajectories.keys().filter_map(|name| Trajectory::from_name(name)) {
        let (shown, position) = (words(trajectory), trajectory.position());
        let file = format!("{}-by-{position}", trajectory.name());
        let policies = summary.policies.iter().zip(&report.policies).filter_map(|(summarized, policy)| {
            Some((short_name(summary, summarized), policy.trajectories.get(trajectory.name())?))
        });
        if trajectory.is_of_nodes() {
            for (number, (name, nodes)) in policies.enumerate() {
                // Nodes beyond the colors would share one.
                let lines: Vec<Line<'_>> =
                    nodes.iter().take(LINES_MAX).map(|(node, points)| (node.clone(), &points[..])).collect();
                let title = format!("{shown} of each node by {position}, {name}");
                all.push(draw(format!("{file}-{}", number + 1), title, trajectory, &lines)?);
            }
        } else {
            let lines: Vec<Line<'_>> =
                policies.filter_map(|(name, lines)| Some((name, &lines.get("")?[..]))).collect();
            let title = format!("{shown} by {position}, with 95 % intervals");
            all.push(draw(file, title, trajectory, &lines)?);
        }
    }
    Ok(all)
}

/// Returns the name of a trajectory in a title.
fn words(trajectory: Trajectory) -> &'static str {
    match trajectory {
        Trajectory::Consensus => "consensus",
        Trajectory::Trust => "trust",
        Trajectory::Tasks => "tasks",
        Trajectory::Metric(metric) => metric.name,
    }
}

/// Returns the name of the vertical axis.
fn axis_name(trajectory: Trajectory) -> String {
    match trajectory {
        Trajectory::Consensus => "consensus, mean".to_owned(),
        Trajectory::Trust => "trust, mean".to_owned(),
        Trajectory::Tasks => "tasks, for each request".to_owned(),
        Trajectory::Metric(metric) => label(metric),
    }
}

fn draw(
    name: String,
    title: String,
    trajectory: Trajectory,
    lines: &[Line<'_>],
) -> Result<Figure, FigureError> {
    let names = lines.iter().enumerate().filter(|_| lines.len() > 1);
    let legend = Legend::new(names.map(|(number, (name, _))| (name.clone(), series_color(number))));
    let drawing = draw_figure(SIZE.1 + legend.height().unsigned_abs(), |area| {
        let (top, below) = area.split_vertically(legend.height());
        legend.draw(&top)?;
        let points = || lines.iter().flat_map(|(_, points)| points.iter());
        let longest = lines.iter().map(|(_, points)| points.len()).max().unwrap_or(0);
        let x = Axis::at_values(trajectory.position(), (1..=longest).map(|position| position as f64));
        let ends = points().flat_map(|found| [found.low, found.high, found.mean]);
        let y = Axis::round(axis_name(trajectory), ends);
        let mut chart = draw_axes(&below, x, y)?;
        for (number, (_, points)) in lines.iter().enumerate() {
            let color = series_color(number);
            let at = |value: fn(&Estimate) -> f64| {
                let positions = points.iter().enumerate();
                positions.map(move |(index, found)| ((index + 1) as f64, value(found)))
            };
            let is_bounded = points.iter().all(Estimate::has_interval);
            if is_bounded && points.len() > 1 {
                let lower: Vec<(f64, f64)> = at(|found| found.low).collect();
                let band = at(|found| found.high).chain(lower.into_iter().rev()).collect::<Vec<_>>();
                chart.draw_series([Polygon::new(band, color.mix(0.2))])?;
            }
            chart.draw_series(LineSeries::new(at(|found| found.mean), stroke(color)))?;
            if longest <= MARKS_MAX {
                chart
                    .draw_series(at(|found| found.mean).map(|point| Circle::new(point, 3, color.filled())))?;
            }
        }
        Ok::<(), DrawingError>(())
    })?;
    Ok(Figure { name, title, drawing })
}
