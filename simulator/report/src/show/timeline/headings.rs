//! The header and the end of the timeline, and the headings of sessions, requests and their parts.

use super::super::fold::ShowSummary;
use super::super::phrases;
use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use crate::text::count;
use orchestrion_kernel::control::phase::Region;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::{Input, Phase, Policy, State, Trigger};
use orchestrion_trace::{Header, RequestFacts};
use std::io;

/// The part of a request under the current heading.
#[derive(Debug, Default)]
pub(super) struct Headings {
    part: Option<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Region(Region),
    Plan,
    Pass(u32),
    Run(u32),
    Repair(u32),
    Review,
    Rollback,
}

/// Writes the conversation, policy, kernel version and scenario of a trace.
pub(in super::super) fn write_header(out: &mut dyn Renderer, header: &Header) -> io::Result<()> {
    let mut line = Line::new()
        .styled(TextStyle::Heading, format_args!("Conversation {}", header.conversation))
        .and(format_args!("  policy {}, kernel {}", header.policy.name, header.kernel));
    if let Some(scenario) = &header.scenario {
        line = line.and(format_args!(", scenario {}", scenario.name));
    }
    out.write_paragraph(line, 2)?;
    if let Some(lineage) = &header.lineage {
        out.write_paragraph(Line::text("  ").and(phrases::lineage(lineage)), 4)?;
    }
    for difference in orchestrion_trace::replay::header_differences(header, None) {
        out.write_paragraph(Line::new().styled(TextStyle::Warn, format_args!("  note: {difference}")), 8)?;
    }
    Ok(())
}

/// Writes the phase in which the trace ends, and the counts of its steps.
pub(in super::super) fn write_end(
    out: &mut dyn Renderer,
    policy: &Policy,
    state: &State,
    summary: &ShowSummary,
) -> io::Result<()> {
    let control = state.control();
    let phase = control.phase();
    let line = match control.pending_calls() {
        [call] => {
            let reply = call.operation.expected_reply();
            format!("The trace ends in {phase}; call {} is pending, for {reply}.", call.id)
        }
        [_, _, ..] => {
            let ids: Vec<String> = control.pending_calls().iter().map(|call| call.id.to_string()).collect();
            format!(
                "The trace ends in {phase}; calls {} are pending, each for a task result.",
                ids.join(", ")
            )
        }
        [] if phase == Phase::Idle => match control.session() {
            Some(user) => format!("The trace ends in Idle; the session of {user} is open."),
            None => "The trace ends in Idle; no session is open.".to_string(),
        },
        [] if !has_successor(policy, phase) => {
            format!(
                "The trace ends in {phase}, a dead end: policy {} has no transition from it.",
                policy.name
            )
        }
        [] => format!("The trace ends in {phase}, before the next internal step."),
    };
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let ShowSummary { steps, requests, refused, unproven_contexts } = *summary;
    let mut counts = format!("{}, {}", count(number(steps), "step"), count(number(requests), "request"));
    if refused > 0 {
        counts.push_str(&format!(", {}", count(number(refused), "refused input")));
    }
    out.write_blank()?;
    out.write_paragraph(Line::text(line), 0)?;
    out.write_paragraph(Line::dim(counts), 0)?;
    match unproven_contexts {
        0 => Ok(()),
        unproven => {
            let text = format!("{} not proven optimal", count(number(unproven), "context"));
            out.write_paragraph(Line::new().styled(TextStyle::Warn, text), 0)
        }
    }
}

/// Returns whether a row starts in this phase for a trigger other than a cancel.
fn has_successor(policy: &Policy, phase: Phase) -> bool {
    TRANSITIONS.iter().any(|row| row.on != Trigger::Cancel && row.is_enabled(policy, phase, row.on))
}

impl Headings {
    /// Writes a heading if the step starts a session, a request or another part of the request.
    pub(super) fn write(&mut self, out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
        match &view.step.input {
            Input::SessionStart { user, .. } => {
                out.write_blank()?;
                let title = Line::new().styled(TextStyle::Heading, "Session of ");
                return out.write_heading(title.rest(TextStyle::Heading, user.as_str()));
            }
            Input::SessionEnd => return out.write_blank(),
            _ => {}
        }
        let Some(facts) = view.facts else { return Ok(()) };
        if facts.first_step == view.step.n {
            self.part = None;
            out.write_blank()?;
            let title = Line::new().styled(TextStyle::Heading, format_args!("Request {}", facts.id));
            return out.write_heading(title.and(" of ").rest(TextStyle::Text, facts.user.as_str()));
        }
        let Some(part) = Part::of_step(view, facts) else { return Ok(()) };
        if self.part != Some(part) {
            self.part = Some(part);
            out.write_region(&part.title(view))?;
        }
        Ok(())
    }
}

impl Part {
    /// Returns the part that contains the step.
    fn of_step(view: &StepView<'_>, facts: &RequestFacts) -> Option<Self> {
        Some(match view.before.control().phase() {
            Phase::Planning => Self::Plan,
            Phase::Round(_) | Phase::PlanReview | Phase::AdditionalRounds | Phase::MultiPassCheck => {
                Self::Pass(view.request_before()?.debate.pass)
            }
            Phase::RunningTasks | Phase::AssertingOutcomes | Phase::Success | Phase::Failure => {
                Self::Run(facts.runs)
            }
            Phase::RepairReview | Phase::RepairScoring | Phase::RepairApproval
                if view.request_before().is_some_and(|request| !request.outcomes.is_empty()) =>
            {
                Self::Review
            }
            Phase::SelfHealingActive | Phase::RepairReview | Phase::RepairScoring => {
                Self::Repair(facts.visits(Phase::SelfHealingActive))
            }
            Phase::RollbackActive | Phase::RollbackComplete => Self::Rollback,
            phase => Self::Region(phase.region()?),
        })
    }

    fn title(self, view: &StepView<'_>) -> String {
        let debate = Region::ArenaDebate.name();
        let execution = Region::SandboxedExecution.name();
        match self {
            Self::Region(region) => region.name().to_string(),
            Self::Plan => format!("{debate}, baseline plan"),
            Self::Pass(pass) => format!("{debate}, pass {pass} of {}", view.policy.bounds.passes),
            Self::Run(run) => {
                let plan = view.request_before().and_then(|request| request.plan.as_ref());
                let plan = plan.map(|plan| format!(", plan r{}", plan.revision)).unwrap_or_default();
                format!("{execution}, run {run}{plan}")
            }
            Self::Repair(repair) => {
                format!("{execution}, repair {repair}{}", phrases::repair_limit(view.policy))
            }
            Self::Review => format!("{execution}, review of an outdated plan"),
            Self::Rollback => format!("{execution}, rollback"),
        }
    }
}
