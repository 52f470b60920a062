//! The figures that fit a result.

use crate::drawing::Drawing;
use crate::error::FigureError;
use crate::{flows, heat_map, lines, outcomes, tradeoff, trajectories};
use orchestrion_experiment::{Metric, MetricKind, Report, Summary};

/// A figure, with what it shows in words.
#[derive(Clone)]
pub struct Figure {
    /// The name, for a file.
    pub name: String,
    /// What the figure shows, in a sentence.
    pub title: String,
    pub(crate) drawing: Drawing,
}

impl Figure {
    /// Returns the SVG document without a ground, for a page.
    ///
    /// # Errors
    /// [`FigureError`], which is a bug.
    pub fn svg(&self) -> Result<String, FigureError> {
        self.drawing.svg()
    }

    /// Returns the SVG document on a white ground, for a reader that may show it on a dark one.
    ///
    /// # Errors
    /// [`FigureError`], which is a bug.
    pub fn svg_on_white(&self) -> Result<String, FigureError> {
        Ok(self.svg()?.replacen(">\n", ">\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n", 1))
    }

    /// Returns the PNG file on a white ground, at twice the size.
    ///
    /// # Errors
    /// [`FigureError`], which is a bug.
    pub fn png(&self) -> Result<Vec<u8>, FigureError> {
        self.drawing.png()
    }
}

/// The number of policies from which outcomes are not drawn as bars.
const BARS_MAX: usize = 24;

/// Draws the figures that fit a result with these statistics, for these metrics.
///
/// # Errors
/// [`FigureError`], which is a bug.
pub fn figures(
    summary: &Summary,
    report: &Report,
    metrics: &[&'static Metric],
) -> Result<Vec<Figure>, FigureError> {
    let mut all = Vec::new();
    if summary.policies.len() <= BARS_MAX {
        all.push(outcomes::draw(summary)?);
    }
    all.extend(flows::draw_all(summary)?);
    if summary.policies.len() > 1 {
        all.extend(tradeoff::draw(report)?);
    }
    // A metric with one value everywhere has no shape.
    let varies = |metric: &Metric| {
        let mut means = summary
            .policies
            .iter()
            .filter_map(|policy| policy.metrics.get(metric.name))
            .map(|tally| tally.mean());
        let first = means.next();
        means.any(|mean| Some(mean) != first)
    };
    for metric in metrics.iter().copied().filter(|metric| varies(metric)) {
        match lines::axes(summary).as_slice() {
            [axis] => all.extend(lines::draw(summary, metric, *axis)?),
            [first, second] => {
                all.extend(heat_map::draw(summary, metric, *first, *second)?);
                all.extend(lines::draw(summary, metric, *second)?);
            }
            _ => {}
        }
    }
    all.extend(trajectories::draw_all(summary, report)?);
    Ok(all)
}

/// Returns the name of a metric with its unit, for an axis.
pub(crate) fn label(metric: &Metric) -> String {
    let unit = match metric.kind {
        MetricKind::Requests => "share of requests",
        MetricKind::Amount => "for each request",
    };
    format!("{}, {unit}", metric.name)
}
