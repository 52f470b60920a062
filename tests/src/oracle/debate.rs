//! The debate, the aggregation and the decision (004-1.9 to 004-1.23, 004 §3).

use super::compaction::cluster;
use super::consensus::{consensus, is_con_from};
use super::conversation::{Decision, ExpectedConversation};
use super::duels;
use super::encoding::{OracleArgument, OracleOperation, OraclePlan, Role, Stance};
use super::fold::Fold;
use super::items::{ExpectedText, key};
use super::policy::Elo;
use serde_json::json;

impl ExpectedConversation {
    /// Takes the argument of a role: in its round, or Security's on a revision after its round.
    pub(super) fn take_argument(
        &mut self,
        operation: OracleOperation,
        argument: OracleArgument,
        text: &str,
        plan: Option<&OraclePlan>,
    ) {
        let role = if let OracleOperation::Argue(role) = operation { role } else { Role::Security };
        // Decision 0016: a fact, the role's latest. Decision 0011: the latest argument counts.
        let item = key("argument", &json!([self.requests, role]));
        self.expect_fact(item, ExpectedText::Verbatim(text.to_owned()), self.request_dependency());
        self.request.arguments.insert(role, argument);
        if role == Role::Solution {
            self.request.pinned_reviews.clear(); // decision 0024
        }
        if role == Role::Security {
            self.request.security_revision = self.request.revision;
            if is_con_from(&argument, self.policy.thresholds.veto_from) {
                self.request.veto_raised = true;
                self.expect_event(json!({ "veto_raised": { "revision": self.request.revision } })); // 004-1.14
            }
        }
        if let Some(plan) = plan {
            self.adopt_plan(plan); // 004-1.12, 004-1.15
        }
        match self.phase {
            "Round_1_Analyst" => self.enter_round("Round_2_Solution", Role::Solution), // 004-1.11
            "Round_2_Solution" => self.enter_round("Round_3_Critic", Role::Critic),    // 004-1.12
            "Round_3_Critic" => self.enter_round("Round_4_Security", Role::Security),  // 004-1.13
            "Round_4_Security" => self.enter_round("Round_5_Optimizer", Role::Optimizer), // 004-1.14
            // 004-1.15, F9: Security reviews a revision of the Optimizer first.
            "Round_5_Optimizer" if plan.is_some() && self.policy.rules.cleared_revisions => {
                self.enter_phase("PlanReview");
                self.expect_call(OracleOperation::ReviewRevision);
            }
            "RepairReview" => self.enter_phase("RepairScoring"), // 004-1.30, F10
            _ => self.continue_additional_rounds(),
        }
    }

    /// Decision 0039: the additional debaters argue in the order of the policy, then the pass is evaluated (004-1.15).
    fn continue_additional_rounds(&mut self) {
        let debater = self.request.additional.len();
        if debater < self.policy.additional_debaters.len() {
            self.enter_phase("AdditionalRounds");
            self.expect_call(OracleOperation::ArgueAdditional { debater });
        } else {
            self.enter_phase("Multi_Pass_Check");
        }
    }

    /// Takes the argument of an additional debater.
    pub(super) fn take_additional_argument(&mut self, debater: usize, argument: OracleArgument, text: &str) {
        let name = self.policy.additional_debaters[debater].name.clone();
        let item = key("additional_argument", &json!([self.requests, name]));
        self.expect_fact(item, ExpectedText::Verbatim(text.to_owned()), self.request_dependency());
        self.request.additional.push(argument);
        self.continue_additional_rounds();
    }

    fn enter_round(&mut self, phase: &'static str, role: Role) {
        self.enter_phase(phase);
        self.expect_call(OracleOperation::Argue(role));
    }

    /// Takes an internal step (000-4.5), by phase.
    pub(super) fn take_step(&mut self, semantic: &Fold) {
        match self.phase {
            // Decision 0021, K01: compaction, if it is due.
            "IdentityVerified" => {
                match cluster(
                    semantic,
                    &self.policy,
                    self.requests,
                    self.session.as_deref(),
                    &self.request.scope,
                ) {
                    Some(cluster) => {
                        self.request.cluster = cluster;
                        self.enter_phase("Compacting");
                        self.expect_call(OracleOperation::Summarize);
                    }
                    None => self.load_context(),
                }
            }
            "RunningTasks" => self.run_plan(), // decision 0040: a task beside the running ones
            "Multi_Pass_Check" => self.check_passes(),
            "Aggregating" => self.enter_phase("CalculatingConsensus"), // 004-1.19
            "CalculatingConsensus" => {
                self.score(); // 004-1.20
                self.enter_phase("ELODuels");
            }
            "ELODuels" => self.update_ratings(),
            "ResolvingDecision" => self.decide(),
            "RepairScoring" => self.decide_repair(),
            "Blocked" | "Success" => self.store(), // 004-1.34, 004-1.33, 004-2.8
            "AssertingOutcomes" => self.assert_outcomes(),
            "Failure" => self.heal(),
            "RollbackActive" if self.policy.rules.rollback_ends => self.store(), // F2
            "RollbackActive" => self.enter_phase("RollbackComplete"),            // 004-1.32
            _ => {}
        }
    }

    fn score(&mut self) {
        let request = &self.request;
        self.request.consensus =
            consensus(&self.policy, &request.arguments, &request.additional, &request.ratings);
        self.expect_event(json!({ "consensus_scored": {
            "revision": self.request.revision, "score": self.request.consensus,
        }}));
    }

    /// F6: under the rule a veto of any pass counts; otherwise Security's latest argument decides.
    fn is_vetoed(&self) -> bool {
        if self.policy.rules.sticky_veto {
            return self.request.veto_raised;
        }
        let threshold = self.policy.thresholds.veto_from;
        self.request.arguments.get(&Role::Security).is_some_and(|argument| is_con_from(argument, threshold))
    }

    /// 004-1.15 to 004-1.17, 004-2.4.
    fn check_passes(&mut self) {
        self.score();
        let ends_by_veto = self.is_vetoed() && self.policy.rules.veto_ends_debate; // F11
        let is_below = self.request.consensus < self.policy.thresholds.redebate_below;
        if !ends_by_veto && is_below && self.request.pass < self.policy.bounds.passes {
            self.start_next_pass();
        } else {
            self.enter_phase("Aggregating");
        }
    }

    fn start_next_pass(&mut self) {
        self.request.pass += 1;
        self.pin_reviews();
        // Decision 0010: a new pass keeps only the Analyst's argument.
        self.request.arguments.retain(|role, _| *role == Role::Analyst);
        self.request.additional.clear();
        // Decision 0038: every fact is read again, and the ratings are those of the last pass.
        self.request.plan_outdated = false;
        self.request.ratings_after = None;
        self.enter_round("Round_2_Solution", Role::Solution);
    }

    /// F18, decision 0038.
    pub(super) const fn is_plan_outdated(&self) -> bool {
        self.policy.rules.current_facts && self.request.plan_outdated
    }

    /// Decision 0024: the Critic's review and Security's objection are pinned in Solution's next context.
    fn pin_reviews(&mut self) {
        let arguments = &self.request.arguments;
        let objects = |argument: &OracleArgument| argument.stance == Stance::Con;
        let reviews = [
            arguments.contains_key(&Role::Critic).then_some(Role::Critic),
            arguments.get(&Role::Security).is_some_and(objects).then_some(Role::Security),
        ];
        self.request.pinned_reviews = reviews.into_iter().flatten().collect();
    }

    /// 004-1.21, decisions 0011 and 0014.
    fn update_ratings(&mut self) {
        let request = &self.request;
        let ratings = match self.policy.elo {
            Elo::Incremental => {
                duels::incremental(&self.policy.thresholds, &request.arguments, &request.ratings)
            }
            Elo::Standard => {
                let proceeds = !self.is_vetoed() && request.consensus >= self.policy.thresholds.proceed_from;
                duels::standard(&request.arguments, proceeds, &request.ratings)
            }
        };
        self.expect_event(json!({ "ratings_updated": { "ratings": ratings } }));
        self.request.ratings_after = Some(ratings);
        self.enter_phase("ResolvingDecision");
    }

    /// 004 §3, in the order of decision 0007: the veto, the threshold, otherwise PROCEED.
    fn decide(&mut self) {
        if self.is_vetoed() {
            self.record_decision("vetoed"); // 004-2.5, 004-2.13, 004-3.1
            self.conclude("blocked", json!("vetoed"));
            self.enter_phase("Blocked");
        } else if self.request.consensus < self.policy.thresholds.proceed_from {
            self.record_decision("rejected"); // 004-3.2
            self.conclude("blocked", json!("rejected"));
            self.enter_phase("Blocked");
        } else if self.is_plan_outdated() {
            self.record_decision("outdated");
            if self.request.pass < self.policy.bounds.passes {
                self.start_next_pass();
            } else {
                self.conclude("blocked", json!("plan_outdated"));
                self.enter_phase("Blocked");
            }
        } else {
            self.record_decision(self.proceed_label()); // 004-3.3
            if self.policy.rules.approver {
                self.enter_phase("PlanApproval"); // decision 0013
                self.expect_call(OracleOperation::Approve);
            } else {
                self.run_plan(); // 004-1.22
            }
        }
    }

    /// 004-1.30, F10, decision 0009: a repaired revision is scored, and decided if it is cleared.
    fn decide_repair(&mut self) {
        self.score();
        if self.is_plan_outdated() {
            self.record_decision("outdated"); // decision 0038: outdated again
            self.roll_back(json!("plan_outdated"));
            return;
        }
        if self.is_vetoed() || self.request.consensus < self.policy.thresholds.proceed_from {
            self.roll_back(json!("plan_not_cleared"));
            return;
        }
        self.record_decision(self.proceed_label());
        if self.policy.rules.approver {
            self.enter_phase("RepairApproval"); // decision 0013
            self.expect_call(OracleOperation::Approve);
        } else {
            self.run_plan();
        }
    }

    /// F8: proceeding below the threshold has a label of its own.
    const fn proceed_label(&self) -> &'static str {
        if self.policy.rules.below_threshold_label
            && self.request.consensus < self.policy.thresholds.redebate_below
        {
            "proceed_below_threshold"
        } else {
            "consensus_reached"
        }
    }

    pub(super) fn record_decision(&mut self, label: &'static str) {
        let request = &mut self.request;
        // F7: Security's objection to the decided revision.
        let objection = request
            .arguments
            .get(&Role::Security)
            .filter(|argument| {
                argument.stance == Stance::Con && request.security_revision == request.revision
            })
            .map(|argument| argument.confidence)
            .filter(|_| self.policy.rules.named_objections);
        let decision = Decision { revision: request.revision, label, score: request.consensus, objection };
        self.batch.events.push(json!({ "decided": { "decision": decision } })); // 004-3.5
        // Decision 0009: every different decision is kept, with the latest revision that it was taken on. No document
        // defines its position: the oracle reads the latest decision as the last, as in the ledger.
        let content = |decision: &Decision| (decision.label, decision.score, decision.objection);
        request.decisions.retain(|earlier| content(earlier) != content(&decision));
        request.decisions.push(decision);
    }

    /// Decision 0013: an approval runs the plan; otherwise the plan is blocked, or the request is rolled back.
    pub(super) fn take_approval(&mut self, approved: bool, text: &str) {
        let item = key("approval", &json!(self.requests));
        self.expect_fact(item, ExpectedText::Verbatim(text.to_owned()), self.request_dependency());
        if approved && self.is_plan_outdated() {
            // Decision 0038: decided again.
            self.enter_phase(if self.phase == "PlanApproval" {
                "ResolvingDecision"
            } else {
                "RepairScoring"
            });
        } else if approved {
            self.run_plan();
        } else if self.phase == "PlanApproval" {
            self.conclude("blocked", json!("not_approved"));
            self.enter_phase("Blocked");
        } else {
            self.roll_back(json!("not_approved"));
        }
    }
}
