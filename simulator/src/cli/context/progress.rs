//! Progress of a search, on a terminal only. It appears once the search takes longer than a reader notices.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Progress that is shown every half second, and removed at the end.
pub(super) struct SearchProgress(ProgressBar);

impl SearchProgress {
    /// Shows what is searched, with the elapsed time.
    pub(super) fn start(text: &'static str) -> Self {
        Self::with_bar(ProgressBar::new_spinner(), "{spinner} {prefix}  {elapsed}", text)
    }

    /// Shows the number of searches too.
    pub(super) fn start_of(text: &'static str, searches: usize) -> Self {
        Self::with_bar(
            ProgressBar::new(searches as u64),
            "{spinner} {prefix} {pos} of {len} points  {elapsed}",
            text,
        )
    }

    fn with_bar(bar: ProgressBar, template: &str, text: &'static str) -> Self {
        bar.set_draw_target(ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(text);
        bar.enable_steady_tick(Duration::from_millis(500));
        Self(bar)
    }

    /// Sets the number of searches so far.
    pub(super) fn set_position(&self, searches: usize) {
        self.0.set_position(searches as u64);
    }
}

impl Drop for SearchProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
