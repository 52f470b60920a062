//! Scores from 0 to 1 as charts, beside their numbers.

use maud::{Markup, html};
use orchestrion_kernel::Score;
use orchestrion_kernel::module::{Argument, Stance};
use orchestrion_kernel::policy::Thresholds;

/// The width of a chart in SVG units.
const WIDTH: u32 = 1000;

const fn x(score: Score) -> u32 {
    score.millionths() / (1_000_000 / WIDTH)
}

/// Returns the confidence of an argument as a bar with its number.
pub(super) fn confidence(argument: Argument) -> Markup {
    let stance = match argument.stance {
        Stance::Pro => "good",
        Stance::Con => "bad",
    };
    html! { (bar(x(argument.confidence), stance)) span.figure { (argument.confidence) } }
}

/// Returns a bar of this many thousandths. Screen readers skip it: the number follows.
pub(super) fn bar(thousandths: u32, class: &str) -> Markup {
    html! {
        svg.bar.(class) aria-hidden="true" {
            rect width={ (thousandths / 10) "%" } height="9" {}
        }
    }
}

/// Returns the thousandths of a bar that is drawn with ten characters; `None` for another text.
pub(super) fn thousandths_of_text(text: &str) -> Option<u32> {
    let value = |character| match character {
        '█' => Some(100),
        '▌' => Some(50),
        '·' => Some(0),
        _ => None,
    };
    let values: Option<Vec<u32>> = text.chars().map(value).collect();
    values.filter(|values| values.len() == 10).map(|values| values.into_iter().sum())
}

/// Returns a consensus score on an axis with the thresholds `proceed_from` and `redebate_below`.
pub(super) fn consensus(score: Score, thresholds: &Thresholds) -> Markup {
    let (proceed_from, redebate_below) = (x(thresholds.proceed_from), x(thresholds.redebate_below));
    html! {
        svg.axis viewBox={ "0 0 " (WIDTH) " 120" } preserveAspectRatio="none" aria-hidden="true" {
            rect.empty y="40" width=(WIDTH) height="40" {}
            rect.low y="40" width=(proceed_from) height="40" {}
            rect.middle x=(proceed_from) y="40" width=(redebate_below.saturating_sub(proceed_from)) height="40" {}
            rect.high x=(redebate_below) y="40" width=(WIDTH - redebate_below.min(WIDTH)) height="40" {}
            rect.threshold x=(proceed_from) y="20" width="4" height="80" {}
            rect.threshold x=(redebate_below) y="20" width="4" height="80" {}
            rect.score x=(x(score).saturating_sub(6)) width="12" height="120" {}
        }
    }
}
