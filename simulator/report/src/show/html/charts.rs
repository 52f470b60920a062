//! Numbers from 0 to 1 as pictures, with the figures beside them.

use maud::{Markup, html};
use orchestrion_kernel::Score;
use orchestrion_kernel::module::{Argument, Stance};
use orchestrion_kernel::policy::Thresholds;

/// How wide a picture is, in its own units.
const WIDTH: u32 = 1000;

const fn at(score: Score) -> u32 {
    score.millionths() / (1_000_000 / WIDTH)
}

/// How surely something was said.
pub(super) fn confidence(argument: Argument) -> Markup {
    let stance = match argument.stance {
        Stance::Pro => "good",
        Stance::Con => "bad",
    };
    html! {
        svg.confidence viewBox={ "0 0 " (WIDTH) " 60" } preserveAspectRatio="none" aria-hidden="true" {
            rect.empty width=(WIDTH) height="60" rx="30" {}
            rect.filled.(stance) width=(at(argument.confidence)) height="60" rx="30" {}
        }
        span.figure { (argument.confidence) }
    }
}

/// A consensus against the two lines: from the one on the plan may run, below the other it is debated again.
pub(super) fn consensus(score: Score, thresholds: &Thresholds) -> Markup {
    let (proceed, again) = (at(thresholds.proceed_from), at(thresholds.redebate_below));
    html! {
        svg.lines viewBox={ "0 0 " (WIDTH) " 120" } preserveAspectRatio="none" aria-hidden="true" {
            rect.empty y="40" width=(WIDTH) height="40" {}
            rect.low y="40" width=(proceed) height="40" {}
            rect.middle x=(proceed) y="40" width=(again.saturating_sub(proceed)) height="40" {}
            rect.high x=(again) y="40" width=(WIDTH - again.min(WIDTH)) height="40" {}
            rect.line x=(proceed) y="20" width="4" height="80" {}
            rect.line x=(again) y="20" width="4" height="80" {}
            rect.mark x=(at(score).saturating_sub(6)) width="12" height="120" {}
        }
    }
}
