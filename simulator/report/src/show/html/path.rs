//! The path of a request through the control FSM: a row for each phase that it enters, a column for each transition.

use super::super::step_view::StepView;
use maud::{Markup, html};
use orchestrion_kernel::Phase;

/// The most transitions of a drawing. The timeline has all of them.
const TRANSITIONS_MAX: usize = 400;
const COLUMN: usize = 26;
const ROW: usize = 26;
/// Room for the name of a phase.
const NAMES: usize = 210;
const TOP: usize = 24;

/// The transitions of a request, in order.
#[derive(Debug, Default)]
pub(super) struct ControlPath {
    transitions: Vec<Taken>,
    omitted: usize,
}

/// A transition that was taken.
#[derive(Clone, Copy, Debug)]
struct Taken {
    step: u64,
    id: &'static str,
    from: Phase,
    to: Phase,
}

impl ControlPath {
    /// Adds the transition of a step, if it takes one.
    pub(super) fn push_step(&mut self, view: &StepView<'_>) {
        let Some(row) = view.transition() else { return };
        if self.transitions.len() == TRANSITIONS_MAX {
            self.omitted += 1;
            return;
        }
        let from = view.before.control().phase();
        self.transitions.push(Taken { step: view.step.n, id: row.id, from, to: row.to });
    }

    /// Returns the drawing; nothing without a transition.
    pub(super) fn figure(&self) -> Markup {
        let Some(first) = self.transitions.first() else { return html! {} };
        // In the order in which the request enters them, so that the line falls while the request goes forward.
        let mut phases = vec![first.from];
        for taken in &self.transitions {
            if !phases.contains(&taken.to) {
                phases.push(taken.to);
            }
        }
        let y = |phase: Phase| TOP + ROW * phases.iter().position(|known| *known == phase).unwrap_or(0);
        let x = |column: usize| NAMES + COLUMN * column;
        let (width, height) = (x(self.transitions.len()) + 20, TOP + ROW * phases.len());
        // Relative moves: a page contains thousands of transitions.
        let mut line = format!("M{} {}", x(0), y(first.from));
        for taken in &self.transitions {
            line.push_str(&format!("h{COLUMN}V{}", y(taken.to)));
        }
        let rows: String = phases.iter().map(|phase| format!("M{NAMES} {}H{width}", y(*phase))).collect();
        html! {
            div.scroll tabindex="0" role="region" aria-label="Path through the control FSM" {
                svg.path viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img"
                    aria-label={ "The phases that " (self.transitions.len()) " transitions enter" } {
                    @for phase in &phases { text y=(y(*phase) + 4) { (phase) } }
                    path.rows d=(rows) {}
                    path d=(line) {}
                    @for (column, taken) in self.transitions.iter().enumerate() {
                        a href={ "#s" (taken.step) } {
                            title { (taken.id) }
                            circle cx=(x(column + 1)) cy=(y(taken.to)) r="6" {}
                        }
                    }
                }
            }
            p.faint {
                "Each point is a transition, and links to its step. "
                @if self.omitted > 0 { "The drawing omits " (self.omitted) " more transitions." }
            }
        }
    }
}
