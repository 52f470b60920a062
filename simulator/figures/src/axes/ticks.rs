//! The labelled numbers of an axis.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

/// A range of numbers, some of which have labels.
pub(crate) struct Ticks {
    range: Range<f64>,
    values: Vec<f64>,
    /// The decimals of every label.
    decimals: usize,
}

impl Ticks {
    /// Labels these values.
    pub(super) fn new(range: Range<f64>, values: Vec<f64>) -> Self {
        Self { range, decimals: decimals(&values), values }
    }

    /// Labels at most `count` round numbers.
    pub(super) fn round(range: Range<f64>, count: usize) -> Self {
        let values = round_numbers(&range, count);
        Self::new(range, values)
    }

    /// Returns the smallest distance of two labelled numbers, as a share of the range; infinite if there are less than two.
    pub(super) fn smallest_gap(&self) -> f64 {
        let pairs = self.values.iter().zip(self.values.iter().skip(1));
        let span = self.range.end - self.range.start;
        pairs.map(|(first, second)| (second - first) / span).fold(f64::INFINITY, f64::min)
    }

    /// Returns the labels.
    pub(super) fn labels(&self) -> impl Iterator<Item = String> {
        self.values.iter().map(|value| number(*value, self.decimals))
    }
}

impl Ranged for Ticks {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range.clone()).map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.values.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Ticks {
    fn format_ext(&self, value: &f64) -> String {
        number(*value, self.decimals)
    }
}

/// Returns multiples of 1, 2 or 5 times a power of ten within a range, at most `count` of them unless that is 0.
fn round_numbers(range: &Range<f64>, count: usize) -> Vec<f64> {
    let span = range.end - range.start;
    let power = 10_f64.powf((span / count.max(1) as f64).log10().floor());
    let multiples = |step: f64| -> Vec<f64> {
        let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
        (first..=last).map(|multiple| multiple as f64 * step).collect()
    };
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|factor| factor * power);
    steps.into_iter().map(multiples).find(|ticks| ticks.len() <= count.max(1)).unwrap_or_default()
}

/// Returns the smallest number of decimals that distinguishes all ticks from each other and from their neighbors.
fn decimals(ticks: &[f64]) -> usize {
    let is_exact = |decimals: &usize| {
        let power = 10_f64.powi(*decimals as i32);
        ticks.iter().all(|tick| (tick * power - (tick * power).round()).abs() < 1e-6 * power.max(1.0))
    };
    (0..6).find(is_exact).unwrap_or(6)
}

/// Formats a number with groups of three digits.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let digits = text.trim_start_matches('-');
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut grouped = String::new();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let is_negative = value < 0.0 && text.contains(|digit: char| ('1'..='9').contains(&digit));
    format!("{}{grouped}{rest}", if is_negative { "-" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::{number, round_numbers};

    #[test]
    fn round_numbers_are_within_range() {
        assert_eq!(round_numbers(&(0.0..1.06), 7), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        for (low, high) in [(0.0, 1e-4), (0.031, 0.0317), (-3.0, 4.0), (1e6, 1.1e6), (5.0, 5.0 + 1e-9)] {
            for count in 1..=9 {
                let found = round_numbers(&(low..high), count);
                assert!(found.len() <= count, "{low}..{high}: {found:?}");
                assert!(found.iter().all(|value| (low..=high).contains(value)), "{low}..{high}: {found:?}");
            }
            assert!(round_numbers(&(low..high), 9).len() > 2, "{low}..{high}");
        }
    }

    #[test]
    fn numbers_are_grouped() {
        let texts = [(0.0, 0), (-0.0, 1), (999.0, 0), (1000.0, 0), (-1234567.5, 1), (0.25, 2)]
            .map(|(value, decimals)| number(value, decimals));
        assert_eq!(texts, ["0", "0.0", "999", "1,000", "-1,234,567.5", "0.25"]);
    }
}
