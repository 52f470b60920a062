//! Progress of the runs, on a terminal only: rate and remaining time.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress that is removed at the end.
pub(super) struct RunProgress(ProgressBar);

impl RunProgress {
    /// Shows the number of runs, from those that are done already.
    pub(super) fn start(runs: u64, done: u64, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(
            Some(runs),
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(5) },
        );
        if let Ok(style) =
            ProgressStyle::with_template("{bar:24} {human_pos} of {human_len} runs  {per_sec}  {eta} left")
        {
            bar.set_style(style);
        }
        bar.set_position(done);
        bar.reset_eta();
        Self(bar)
    }

    /// Sets the number of runs that are done.
    pub(super) fn set_position(&self, runs: u64) {
        self.0.set_position(runs);
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
