//! Progress on standard error: a line of the terminal, or else messages at intervals.

use super::output;
use indicatif::{HumanCount, HumanDuration, MultiProgress, ProgressBar, ProgressStyle};
use orchestrion_report::text::sanitize;
use std::time::Duration;

/// Interval timer for progress messages where no progress bar is drawn.
#[derive(Debug, Default)]
pub(in crate::cli) struct ProgressTimer {
    last: Duration,
}

impl ProgressTimer {
    const EVERY: Duration = Duration::from_secs(30);

    /// Whether a message is due, this long after the start.
    pub(in crate::cli) fn is_due(&mut self, elapsed: Duration) -> bool {
        let is_due = elapsed.saturating_sub(self.last) >= Self::EVERY;
        if is_due {
            self.last = elapsed;
        }
        is_due
    }
}

/// The progress of one model: a line of the terminal, or else messages at intervals.
pub(in crate::cli) struct ProgressLine {
    name: String,
    bar: ProgressBar,
    timer: ProgressTimer,
    quiet: bool,
}

impl ProgressLine {
    /// The line of a model. A quiet one writes no messages.
    pub(in crate::cli) fn new(name: impl Into<String>, quiet: bool) -> Self {
        let name = sanitize(&name.into());
        Self { bar: progress_bar(name.clone()), name, timer: ProgressTimer::default(), quiet }
    }

    /// The line of a model beside those of others that are explored at the same time.
    pub(in crate::cli) fn beside(others: &MultiProgress, name: impl Into<String>, quiet: bool) -> Self {
        let line = Self::new(name, quiet);
        Self { bar: others.add(line.bar), ..line }
    }

    /// Shows the progress, this long after the start.
    pub(in crate::cli) fn show(&mut self, elapsed: Duration, text: String) {
        if self.bar.is_hidden() && !self.quiet && self.timer.is_due(elapsed) {
            output::print_error(&format!("{}: {text}", self.name));
        }
        self.bar.set_message(text);
        self.bar.tick();
    }

    /// Removes the line.
    pub(in crate::cli) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

fn progress_bar(name: String) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {wide_msg}") {
        bar.set_style(style);
    }
    bar.set_prefix(name);
    bar
}

/// Returns the progress of runs of which the number is known, with their rate and the remaining time.
pub(in crate::cli) fn runs_text(ended: u64, runs: u64, elapsed: Duration) -> String {
    let mut text = format!("{} of {} runs", HumanCount(ended), HumanCount(runs));
    let rate = ended as f64 / elapsed.as_secs_f64();
    if ended > 0 && rate.is_finite() {
        let left = Duration::from_secs_f64((runs.saturating_sub(ended)) as f64 / rate);
        text.push_str(&format!(", {}/s, {} left", HumanCount(rate as u64), HumanDuration(left)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{ProgressTimer, runs_text};
    use std::time::Duration;

    #[test]
    fn timer_is_due_every_half_minute() {
        let mut timer = ProgressTimer::default();
        let seconds = [0, 12, 29, 30, 31, 59, 61, 90, 91, 500, 501];
        let due = seconds.into_iter().filter(|at| timer.is_due(Duration::from_secs(*at)));
        assert_eq!(due.collect::<Vec<_>>(), [30, 61, 91, 500]);
    }

    #[test]
    fn remaining_time_follows_rate() {
        let text = |ended, secs| runs_text(ended, 10_000, Duration::from_secs(secs));
        assert_eq!(text(0, 3), "0 of 10,000 runs");
        assert_eq!(text(0, 0), "0 of 10,000 runs");
        assert_eq!(text(2_500, 5), "2,500 of 10,000 runs, 500/s, 15 seconds left");
        assert_eq!(text(10_000, 20), "10,000 of 10,000 runs, 500/s, 0 seconds left");
    }
}
