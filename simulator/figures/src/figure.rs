//! The figures that fit a result.

use crate::chart::FigureError;
use crate::{heat_map, lines, outcomes, tradeoff};
use orchestrion_experiment::{Metric, MetricKind, Summary};

/// A figure: an SVG image, with what it shows in words.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name, for a file.
    pub name: String,
    /// What the figure shows, in a sentence.
    pub title: String,
    /// The SVG document, without a ground.
    pub svg: String,
}

impl Figure {
    /// Returns the SVG document on a white ground, for a reader that may show it on a dark one.
    #[must_use]
    pub fn on_white(&self) -> String {
        self.svg.replacen(">\n", ">\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n", 1)
    }
}

/// The number of policies from which outcomes are not drawn as bars.
const BARS_MAX: usize = 24;

/// Draws the figures that fit a result, for these metrics.
///
/// # Errors
/// [`FigureError`], which is a bug.
pub fn figures(summary: &Summary, metrics: &[&'static Metric]) -> Result<Vec<Figure>, FigureError> {
    let mut all = Vec::new();
    if summary.policies.len() <= BARS_MAX {
        all.push(outcomes::draw(summary)?);
    }
    if summary.policies.len() > 1 {
        all.extend(tradeoff::draw(summary)?);
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
