//! Claims about plans and decisions: which plan is adopted, and the consensus, the label and the objection that a decision records.

use super::prelude::*;
use orchestrion_kernel::module::Stance;
use orchestrion_kernel::plan::Plan;

pub(super) const DECISIONS: &[Claim] = &[
    Claim {
        id: "C-184",
        clause: "004-3.5",
        statement: "A decision records the latest consensus. A plan that may run has the label ConsensusReached from the re-debate \
                    threshold on, and another one below it.",
        formula: "□ (decided(r) = d ⇒ score(d) = latest score(r) ∧ (runs(d) ⇒ (label(d) = ConsensusReached ⇔ score(d) ≥ redebate_below)))",
        check: StepInvariant(|policy, before, events, _| {
            let debate = before.control().request().map(|request| &request.debate);
            let mut latest = debate.and_then(|debate| debate.scored).map(|scored| scored.score);
            events.iter().all(|event| match event {
                Event::ConsensusScored { score, .. } => {
                    latest = Some(*score);
                    true
                }
                Event::Decided { decision } => {
                    let is_reached = decision.score >= policy.thresholds.redebate_below
                        || !policy.rules.below_threshold_label;
                    Some(decision.score) == latest
                        && match decision.label {
                            DecisionLabel::ConsensusReached => is_reached,
                            DecisionLabel::ProceedBelowThreshold => !is_reached,
                            DecisionLabel::Vetoed | DecisionLabel::Rejected | DecisionLabel::Outdated => true,
                        }
                }
                _ => true,
            })
        }),
        premise: Premise::State(|_, state| decided(state, |label| label != DecisionLabel::ConsensusReached)),
        ..CLAIM
    },
    Claim {
        id: "C-185",
        clause: "004-1.22",
        statement: "Every decision names the confidence of Security's objection to the plan decided on, and no other: none \
                    without an objection, and none where the policy does not name objections.",
        formula: "□ (decided(r, rev) = d ⇒ objection(d) = confidence of Security's latest CON on rev, if there is one)",
        check: TraceInvariant(|policy, past, event| match event {
            Event::Decided { decision } => {
                decision.objection == past.objection().filter(|_| policy.rules.named_objections)
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            of_request(state, |request| request.decisions.iter().any(|decision| decision.objection.is_some()))
        }),
        not_applicable: |policy| {
            (!policy.rules.named_objections).then_some("decisions of the policy name no objection")
        },
        ..CLAIM
    },
    Claim {
        id: "C-187",
        clause: "004-1.22",
        statement: "An objection of Security to an earlier revision is no objection to the plan decided on.",
        formula: "□ (ResolvingDecision ∧ adopted(rev') after Security's review ⇒ objection(decided(r, rev')) = none)",
        // No policy of the project lets an unreviewed revision be decided on, so the claim adopts one: that a decision is right does not
        // depend on the rules of the debate before it.
        check: ResponseInvariant(|_, decide, state| {
            let plan = state.control().request().and_then(|request| request.plan.as_ref());
            let Some(plan) = plan.filter(|_| state.control().phase() == Phase::ResolvingDecision) else {
                return true;
            };
            let mut revised = state.clone();
            revised.apply(&Event::PlanAdopted { revision: plan.revision.next(), plan: plan.plan.clone() });
            decide(&revised, &Input::Step).is_ok_and(|events| {
                events.iter().all(|event| match event {
                    Event::Decided { decision } => decision.objection.is_none(),
                    _ => true,
                })
            })
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::ResolvingDecision
                && of_request(state, |request| {
                    let security = request.debate.latest.security;
                    security.is_some_and(|argument| argument.stance == Stance::Con)
                })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-190",
        clause: "004-1.12",
        statement: "A plan in a reply, and no other, becomes the plan of the request: the first of the planner has revision 1, and \
                    each revision and each repair the next number.",
        formula: "□ (ToolResult(c, p) ∈ σ ∧ p has a plan ⇔ PlanAdopted(rev + 1, p) ∈ σ)",
        check: StepInvariant(|_, before, events, _| {
            let planned = before.control().request().and_then(|request| request.plan.as_ref());
            let next = planned.map_or(Revision::FIRST, |plan| plan.revision.next());
            let replied = events.iter().filter_map(|event| match event {
                Event::ToolResult { report, .. } => report_plan(report),
                _ => None,
            });
            let adopted = events.iter().filter_map(|event| match event {
                Event::PlanAdopted { revision, plan } => Some((*revision, plan)),
                _ => None,
            });
            adopted.eq(replied.map(|plan| (next, plan)))
        }),
        premise: Premise::State(|_, state| revised(state)),
        ..CLAIM
    },
    Claim {
        id: "C-193",
        clause: "decision 0009",
        statement: "Each revision that runs has a decision of its own to proceed.",
        formula: "□ (run(r, rev) ⇒ decision(r, rev) = PROCEED)",
        check: TraceInvariant(|_, past, event| !starts_task(event) || past.revision_proceeds),
        premise: Premise::State(|_, state| state.control().phase() == Phase::RunningTasks && revised(state)),
        not_applicable: |policy| {
            (!policy.rules.cleared_revisions)
                .then_some("a repaired plan runs under the decision on the plan before")
        },
        ..CLAIM
    },
];

fn report_plan(report: &Report) -> Option<&Plan> {
    match report {
        Report::Plan(plan) | Report::Argument { plan: Some(plan), .. } | Report::Repaired { plan, .. } => {
            Some(plan)
        }
        _ => None,
    }
}
