//! The reasons of debate and decision: the scores, the thresholds that they are compared with, and findings of 004.

use super::phrases::{self, comparison};
use super::renderer::{Line, TextStyle};
use super::step_view::StepView;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::event::{Decision, DecisionLabel};
use orchestrion_kernel::module::{Role, Stance};
use orchestrion_kernel::policy::Thresholds;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{Phase, Policy, Revision, Score};

/// A veto of the current request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Veto {
    /// The debate pass; `None` in the review of a repaired or outdated plan.
    pub(super) pass: Option<u32>,
    pub(super) revision: Revision,
    pub(super) confidence: Score,
}

/// Returns the consequence of a consensus score.
pub(super) fn scored(view: &StepView<'_>, revision: Revision, score: Score) -> Line {
    let thresholds = &view.policy.thresholds;
    let (proceed_from, redebate_below) = (thresholds.proceed_from, thresholds.redebate_below);
    let (pass, passes) =
        (view.request_before().map_or(0, |request| request.debate.pass), view.policy.bounds.passes);
    match (view.before.control().phase(), view.transition().map(|row| row.when)) {
        (Phase::MultiPassCheck, Some(Guard::AnotherPass)) => {
            comparison(score, redebate_below).and(", another pass follows")
        }
        (Phase::MultiPassCheck, Some(Guard::Vetoed)) => Line::text(score).and(", but a veto ends the debate"),
        (Phase::MultiPassCheck, _) if score < redebate_below => {
            comparison(score, redebate_below).and(format_args!(", but pass {pass} of {passes} is the last"))
        }
        (Phase::MultiPassCheck, _) => comparison(score, redebate_below).and(", no further pass"),
        (Phase::RepairScoring, Some(Guard::RepairCleared)) => {
            comparison(score, proceed_from).and(format_args!(", the plan r{revision} may run"))
        }
        (Phase::RepairScoring, Some(Guard::Outdated)) => {
            comparison(score, proceed_from).and(format_args!(", but the plan r{revision} is outdated"))
        }
        (Phase::RepairScoring, _) if score >= proceed_from => {
            comparison(score, proceed_from).and(format_args!(", but the veto blocks the plan r{revision}"))
        }
        (Phase::RepairScoring, _) => {
            comparison(score, proceed_from).and(format_args!(", the plan r{revision} may not run"))
        }
        _ => Line::text(format_args!("{score} for plan r{revision}")),
    }
}

/// Returns the reasons of a decision, one per line.
pub(super) fn decided(view: &StepView<'_>, decision: &Decision, veto: Option<Veto>) -> Vec<Line> {
    let mut reasons = vec![main_reason(view, decision, veto)];
    let Some(request) = view.request_before() else { return reasons };
    // The main reason of a veto names the objection.
    if decision.label != DecisionLabel::Vetoed {
        reasons.extend(objection(view, request, decision));
    }
    if !decision.label.is_proceed() {
        return reasons;
    }
    if let Some(Veto { pass, revision, confidence }) = veto {
        reasons.push(Line::new().styled(
            TextStyle::Warn,
            format_args!(
                "the veto in {} ({confidence} on r{revision}) has no effect: only Security's latest argument counts (finding F6)",
                review_name(pass),
            ),
        ));
    }
    match request.debate.security_reviewed {
        Some(reviewed) if reviewed != decision.revision => reasons.push(Line::new().styled(
            TextStyle::Warn,
            format_args!("Security reviewed r{reviewed}, but r{} runs (finding F9)", decision.revision),
        )),
        _ => {}
    }
    reasons
}

fn main_reason(view: &StepView<'_>, decision: &Decision, veto: Option<Veto>) -> Line {
    let thresholds = &view.policy.thresholds;
    let (proceed_from, redebate_below) = (thresholds.proceed_from, thresholds.redebate_below);
    let Decision { revision, label, score, .. } = *decision;
    let line = Line::text(format_args!("plan r{revision}: "));
    let passes = view.policy.bounds.passes;
    let exhausted = format!("all {passes} passes are done");
    match label {
        DecisionLabel::Vetoed => {
            let line = match veto {
                Some(Veto { pass, revision, confidence }) => line
                    .and(format_args!("Security objected to r{revision} in {}, ", review_name(pass)))
                    .join(dangerous(confidence, thresholds.veto_from)),
                None => line.and("Security objected"),
            };
            line.and(format_args!("; a veto overrides any consensus, here {score}"))
        }
        DecisionLabel::Rejected => line.join(comparison(score, proceed_from)).and(", too low to proceed"),
        DecisionLabel::Outdated => {
            let row = view.transition();
            let next = match row.map(|row| row.to) {
                Some(Phase::Blocked) => "blocked, since no pass is left",
                Some(Phase::RepairReview) => "Security reviews it before the next task",
                Some(Phase::RollbackActive) => "outdated again, so what ran is undone",
                _ => "another pass follows",
            };
            line.and(next)
        }
        _ if score >= redebate_below => {
            line.join(comparison(score, redebate_below)).and("; the plan may run")
        }
        DecisionLabel::ProceedBelowThreshold if view.before.control().phase() == Phase::RepairScoring => line
            .join(comparison(score, proceed_from))
            .and(format_args!(", sufficient although below {redebate_below}; a repair has no further pass")),
        DecisionLabel::ProceedBelowThreshold => line
            .join(comparison(score, proceed_from))
            .and(format_args!(", sufficient although below {redebate_below}; {exhausted}")),
        DecisionLabel::ConsensusReached => {
            line.join(comparison(score, proceed_from)).and(", sufficient, ").styled(
                TextStyle::Warn,
                format_args!(
                    "although below {redebate_below}, the threshold of this label (finding F8); {exhausted}"
                ),
            )
        }
    }
}

fn review_name(pass: Option<u32>) -> String {
    pass.map_or("the review of the plan".to_string(), |pass| format!("pass {pass}"))
}

fn objection(view: &StepView<'_>, request: &Request, decision: &Decision) -> Option<Line> {
    let confidence = request.objection()?;
    let Thresholds { veto_from, objection_from, .. } = view.policy.thresholds;
    let mut line = Line::text("Security objects with ").styled(TextStyle::Warn, confidence);
    if confidence >= objection_from {
        line = line.and(format_args!(", extra weight from {objection_from}"));
    }
    if confidence < veto_from {
        line = line.and(format_args!(", below the veto threshold {veto_from}"));
    }
    Some(match decision.objection {
        Some(_) => line.and("; the decision records it"),
        None => line.and("; ").styled(TextStyle::Warn, "the decision does not record it (finding F7)"),
    })
}

/// Returns a veto with its threshold and duration.
pub(super) fn veto(view: &StepView<'_>, veto: Veto) -> Line {
    let line = Line::new()
        .styled(TextStyle::Bad, format_args!("VETO on plan r{}: ", veto.revision))
        .join(dangerous(veto.confidence, view.policy.thresholds.veto_from));
    if view.policy.rules.sticky_veto {
        line.and(", valid until the request ends")
    } else {
        line.and(", valid until Security argues again")
    }
}

/// Returns the comparison of a score that is bad if it reaches the threshold.
fn dangerous(score: Score, threshold: Score) -> Line {
    Line::new().styled(TextStyle::Bad, score).and(format_args!(" ≥ {threshold}"))
}

/// Returns the debaters on each side when the consensus is calculated.
pub(super) fn sides(policy: &Policy, request: &Request) -> Line {
    let debaters = |stance: Stance| {
        let has_stance =
            |role: &Role| request.debate.latest.get(*role).is_some_and(|latest| latest.stance == stance);
        let roles = Role::ALL.into_iter().filter(has_stance).map(|role| role.to_string());
        let additional = policy.additional_debaters.iter().zip(&request.debate.additional);
        let additional = additional.filter(|(_, latest)| latest.stance == stance);
        let names: Vec<String> =
            roles.chain(additional.map(|(debater, _)| debater.name.to_string())).collect();
        if names.is_empty() { "none".to_string() } else { names.join(", ") }
    };
    Line::new()
        .styled(phrases::stance_style(Stance::Pro), "PRO")
        .and(format_args!(" {}; ", debaters(Stance::Pro)))
        .styled(phrases::stance_style(Stance::Con), "CON")
        .and(format_args!(" {}", debaters(Stance::Con)))
}
