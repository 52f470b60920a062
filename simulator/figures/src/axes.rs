//! Axes: where their labels are, and what they say.

mod ticks;

use crate::chart::{GRID, INK, SIZE, TEXT_PX, padded, text};
use crate::drawing::{Area, DrawingError, Recorder};
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::prelude::Cartesian2d;
use plotters::style::Color;
use ticks::Ticks;

/// An axis: its name, and its range with the numbers that it labels.
pub(crate) struct Axis {
    name: String,
    ticks: Ticks,
}

/// The chart of a figure, on which series are drawn.
pub(crate) type Chart<'a> = ChartContext<'a, Recorder<'a>, Cartesian2d<Ticks, Ticks>>;

/// The mean width of a digit, in shares of the size of texts.
const DIGIT: f64 = 0.46;
/// The pixels between two labels of an axis.
const LABEL_GAP_PX: f64 = 8.0;
/// The width of a chart without the labels of its vertical axis, in pixels.
const CHART_PX: f64 = SIZE.0 as f64 - 90.0;
/// The largest number of round numbers that an axis labels.
const TICKS_MAX: usize = 7;

impl Axis {
    /// Labels round numbers.
    pub(crate) fn round(name: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        Self { name: name.into(), ticks: Ticks::round(padded(values), TICKS_MAX) }
    }

    /// Labels the values of a horizontal axis if there is room for all of them, and otherwise as many round numbers as there is room for.
    pub(crate) fn at_values(name: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let range = padded(values.iter().copied());
        let rounds = (1..=TICKS_MAX).rev().map(|count| Ticks::round(range.clone(), count));
        let mut candidates = std::iter::once(Ticks::new(range.clone(), values)).chain(rounds);
        let fits = |ticks: &Ticks| ticks.smallest_gap() * CHART_PX >= label_px(ticks);
        let ticks = candidates.find(fits).unwrap_or_else(|| Ticks::new(range.clone(), Vec::new()));
        Self { name: name.into(), ticks }
    }
}

/// Draws two axes with a grid, and returns the chart for series.
pub(crate) fn draw_axes<'a>(area: &Area<'a>, x: Axis, y: Axis) -> Result<Chart<'a>, DrawingError> {
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(3 * TEXT_PX + 6)
        .y_label_area_size(label_px(&y.ticks) + f64::from(TEXT_PX) * 2.0)
        .build_cartesian_2d(x.ticks, y.ticks)?;
    chart
        .configure_mesh()
        .label_style(text())
        .axis_desc_style(text())
        .axis_style(INK)
        .bold_line_style(GRID.mix(0.35))
        .x_desc(x.name)
        .y_desc(y.name)
        .draw()?;
    Ok(chart)
}

/// The width of the longest label with its gap.
fn label_px(ticks: &Ticks) -> f64 {
    let longest = ticks.labels().map(|label| label.chars().count()).max().unwrap_or(0);
    longest as f64 * DIGIT * f64::from(TEXT_PX) + LABEL_GAP_PX
}

#[cfg(test)]
mod tests {
    use super::Axis;

    fn labels(values: impl Iterator<Item = f64>) -> Vec<String> {
        Axis::at_values("setting", values).ticks.labels().collect()
    }

    #[test]
    fn few_values_have_their_own_labels() {
        assert_eq!(labels([1.0, 2.0, 3.0, 4.0, 2.0].into_iter()), ["1", "2", "3", "4"]);
        assert_eq!(labels([0.5, 0.75, 0.6].into_iter()), ["0.50", "0.60", "0.75"]);
    }

    #[test]
    fn many_budgets_have_round_labels() {
        let labels_of_budgets = labels((1..=64).map(|step| f64::from(step) * 2000.0));
        assert_eq!(labels_of_budgets, ["0", "20,000", "40,000", "60,000", "80,000", "100,000", "120,000"]);
        // Powers of two are too close at their start.
        let labels_of_powers = labels((0..12).map(|power| f64::from(1 << power) * 1024.0));
        assert_eq!(labels_of_powers, ["0", "500,000", "1,000,000", "1,500,000", "2,000,000"]);
    }
}
