//! Why the debate went on, and why a plan may run or not: the numbers, the lines they are held against, and
//! what a reader should know beside them.

use super::phrases::{self, against};
use super::renderer::{Line, TextStyle};
use super::step_view::StepView;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::event::{Decision, DecisionLabel};
use orchestrion_kernel::policy::Thresholds;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{Phase, Revision, Score};

/// A veto that was raised in this request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Veto {
    /// The pass; none for the reading of a repaired plan.
    pub(super) pass: Option<u32>,
    pub(super) revision: Revision,
    pub(super) confidence: Score,
}

/// What a consensus that was scored in this step leads to.
pub(super) fn scored(scene: &StepView<'_>, revision: Revision, score: Score) -> Line {
    let thresholds = &scene.policy.thresholds;
    let (proceed, debate_again) = (thresholds.proceed_from, thresholds.redebate_below);
    let (pass, passes) =
        (scene.judged().map_or(0, |request| request.debate.pass), scene.policy.bounds.passes);
    let row = scene.row();
    match (scene.before.phase, row.map(|row| (row.when, row.to))) {
        (Phase::MultiPassCheck, Some((Guard::AnotherPass, _))) => {
            against(score, debate_again).and(", debate again")
        }
        (Phase::MultiPassCheck, Some((Guard::Vetoed, _))) => {
            Line::text(score).and(", but a veto ends the debate")
        }
        (Phase::MultiPassCheck, _) if score < debate_again => {
            against(score, debate_again).and(format_args!(", but pass {pass} of {passes} was the last"))
        }
        (Phase::MultiPassCheck, _) => against(score, debate_again).and(", no need to debate again"),
        (Phase::RepairScoring, Some((Guard::RepairCleared, _))) => {
            against(score, proceed).and(format_args!(", the repaired plan r{revision} may run"))
        }
        (Phase::RepairScoring, _) if score >= proceed => {
            against(score, proceed).and(", but a veto stands: the repaired plan may not run")
        }
        (Phase::RepairScoring, _) => {
            against(score, proceed).and(format_args!(", the repaired plan r{revision} may not run"))
        }
        _ => Line::text(format_args!("{score} for plan r{revision}")),
    }
}

/// The reasons for a decision, a line each.
pub(super) fn decided(scene: &StepView<'_>, decision: &Decision, veto: Option<Veto>) -> Vec<Line> {
    let mut reasons = vec![ground(scene, decision, veto)];
    let Some(request) = scene.judged() else { return reasons };
    // A veto has just been told as the ground.
    if decision.label != DecisionLabel::Vetoed {
        reasons.extend(objection(scene, request, decision));
    }
    if !decision.label.is_proceed() {
        return reasons;
    }
    if let Some(veto) = veto {
        reasons.push(Line::new().ink(
            TextStyle::Warn,
            format_args!(
                "The veto in {} ({} on r{}) no longer counts here: Security's latest argument decides (finding F6).",
                during(veto.pass),
                veto.confidence,
                veto.revision,
            ),
        ));
    }
    match request.debate.security_reviewed {
        Some(read) if read != decision.revision => reasons.push(Line::new().ink(
            TextStyle::Warn,
            format_args!("Security read r{read}, not r{}, which runs (finding F9).", decision.revision),
        )),
        _ => {}
    }
    reasons
}

fn ground(scene: &StepView<'_>, decision: &Decision, veto: Option<Veto>) -> Line {
    let thresholds = &scene.policy.thresholds;
    let (proceed, debate_again) = (thresholds.proceed_from, thresholds.redebate_below);
    let Decision { revision, label, score, .. } = *decision;
    let line = Line::text(format_args!("plan r{revision}: "));
    let spent = format!("the {} passes are spent", scene.policy.bounds.passes);
    match label {
        DecisionLabel::Vetoed => {
            let line = match veto {
                Some(Veto { pass, revision, confidence }) => line
                    .and(format_args!("Security objected to r{revision} in {}, ", during(pass)))
                    .join(over(confidence, thresholds.veto_from)),
                None => line.and("Security objected"),
            };
            line.and(format_args!("; a veto outweighs any consensus, here {score}"))
        }
        DecisionLabel::Rejected => line.join(against(score, proceed)).and(", too low to proceed"),
        _ if score >= debate_again => line.join(against(score, debate_again)).and("; the plan may run"),
        DecisionLabel::ProceedBelowThreshold if scene.before.phase == Phase::RepairScoring => line
            .join(against(score, proceed))
            .and(format_args!(", enough, though below {debate_again}; a repair is not debated again")),
        DecisionLabel::ProceedBelowThreshold => line
            .join(against(score, proceed))
            .and(format_args!(", enough, though below {debate_again}: {spent}")),
        DecisionLabel::ConsensusReached => line.join(against(score, proceed)).and(", enough, ").ink(
            TextStyle::Warn,
            format_args!("though below {debate_again}, where \"reached\" begins (finding F8): {spent}"),
        ),
    }
}

fn during(pass: Option<u32>) -> String {
    pass.map_or("its reading of the repair".to_string(), |pass| format!("pass {pass}"))
}

fn objection(scene: &StepView<'_>, request: &Request, decision: &Decision) -> Option<Line> {
    let confidence = request.objection()?;
    let Thresholds { veto_from, objection_from, .. } = scene.policy.thresholds;
    let line = Line::text("Security objects to it with ").ink(TextStyle::Warn, confidence);
    let line = if confidence >= objection_from {
        line.and(format_args!(", which weighs extra from {objection_from} on"))
    } else {
        line
    };
    Some(match (decision.objection, confidence < veto_from) {
        (Some(_), true) => line.and(format_args!(", below the veto at {veto_from}; the decision names it")),
        (Some(_), false) => line.and("; the decision names it"),
        (None, true) => line
            .and(format_args!(", below the veto at {veto_from}; "))
            .ink(TextStyle::Warn, "the decision does not name it (finding F7)"),
        (None, false) => line.and("; ").ink(TextStyle::Warn, "the decision does not name it (finding F7)"),
    })
}

/// A veto, as it is raised.
pub(super) fn veto(scene: &StepView<'_>, veto: Veto) -> Line {
    let line = Line::new()
        .ink(TextStyle::Bad, format_args!("VETO on plan r{}: ", veto.revision))
        .join(over(veto.confidence, scene.policy.thresholds.veto_from));
    if scene.policy.rules.sticky_veto {
        line.and(", it stands whatever follows")
    } else {
        line.and(", until Security speaks again")
    }
}

/// A danger over a line: what is high is bad here.
fn over(confidence: Score, line: Score) -> Line {
    Line::new().ink(TextStyle::Bad, confidence).and(format_args!(" ≥ {line}"))
}

/// Who spoke for the plan and who against it, as the consensus is calculated.
pub(super) fn voices(request: &Request) -> Line {
    use orchestrion_kernel::module::{Role, Stance};
    let of = |stance: Stance| {
        let side = |role: &Role| request.debate.latest.get(*role).is_some_and(|a| a.stance == stance);
        let names: Vec<String> = Role::ALL.into_iter().filter(side).map(|role| role.to_string()).collect();
        if names.is_empty() { "nobody".to_string() } else { names.join(", ") }
    };
    Line::new()
        .ink(phrases::stance(Stance::Pro), "PRO")
        .and(format_args!(" {}; ", of(Stance::Pro)))
        .ink(phrases::stance(Stance::Con), "CON")
        .and(format_args!(" {}", of(Stance::Con)))
}
