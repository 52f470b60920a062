//! The outcomes of each policy: a bar with the share of each.

use crate::chart::{Legend, SIZE, TEXT_PX, draw as draw_figure, series_color, text, text_color_on};
use crate::drawing::DrawingError;
use crate::error::FigureError;
use crate::figure::Figure;
use orchestrion_experiment::{PolicySummary, Summary};
use plotters::element::{Rectangle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The outcomes, which partition the requests, with the position of their color.
const OUTCOMES: [(&str, usize); 5] =
    [("completed", 2), ("blocked", 0), ("rolled_back", 5), ("aborted", 1), ("halted", 3)];

/// The height of a bar with its name, in pixels.
const ROW_PX: i32 = 42;

pub(crate) fn draw(summary: &Summary) -> Result<Figure, FigureError> {
    let height = ROW_PX * summary.policies.len() as i32 + 52;
    let width = SIZE.0 as i32 - 24;
    let drawing = draw_figure(height.unsigned_abs(), |area| {
        Legend::new(OUTCOMES.iter().map(|(name, color)| ((*name).to_owned(), series_color(*color))))
            .draw(area)?;
        for (number, policy) in summary.policies.iter().enumerate() {
            let top = 40 + ROW_PX * number as i32;
            area.draw(&Text::new(short_name(summary, policy), (12, top), text()))?;
            let mut left = 12.0;
            for (outcome, color) in OUTCOMES {
                let share = policy
                    .metrics
                    .get(outcome)
                    .map_or(0.0, |tally| tally.mean() / f64::from(summary.requests));
                let right = left + share * f64::from(width);
                let bar = [(left.round() as i32, top + 16), (right.round() as i32, top + 34)];
                area.draw(&Rectangle::new(bar, series_color(color).filled()))?;
                if share >= 0.09 {
                    let ink = text_color_on(series_color(color));
                    let style = text().color(&ink).pos(Pos::new(HPos::Center, VPos::Center));
                    let middle = (f64::midpoint(left, right).round() as i32, top + 19 + TEXT_PX / 2);
                    area.draw(&Text::new(format!("{:.0} %", share * 100.0), middle, style))?;
                }
                left = right;
            }
        }
        Ok::<(), DrawingError>(())
    })?;
    Ok(Figure {
        name: "outcomes".to_owned(),
        title: "outcomes of the requests, by policy".to_owned(),
        drawing,
    })
}

/// Returns the values of the settings that vary, or the name of the policy.
pub(crate) fn short_name(summary: &Summary, policy: &PolicySummary) -> String {
    let short = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let settings: Vec<String> = summary
        .settings
        .iter()
        .zip(&policy.values)
        .map(|(setting, value)| format!("{} {value}", short(setting)))
        .collect();
    let has_one_base = summary.policies.iter().all(|other| other.base == policy.base);
    match (settings.is_empty(), has_one_base) {
        (true, _) => policy.policy.clone(),
        (false, true) => settings.join(", "),
        (false, false) => format!("{}: {}", policy.base, settings.join(", ")),
    }
}
