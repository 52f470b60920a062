//! The debate and the aggregation (004-1.9 to 004-1.23, 004 §3).

use super::compaction::cluster;
use super::consensus::{consensus, objects_from};
use super::conversation::{Decision, ExpectedConversation};
use super::duels;
use super::encoding::{OracleOperation, Role, Stance, Task, Voice};
use super::fold::Fold;
use super::items::{ExpectedText, key};
use super::policy::Elo;
use serde_json::json;

impl ExpectedConversation {
    /// A role argued: in its round, or Security on a revision that came after its round.
    pub(super) fn argued(
        &mut self,
        question: OracleOperation,
        voice: Voice,
        text: &str,
        plan: Option<&[Task]>,
    ) {
        let role = if let OracleOperation::Argue(role) = question { role } else { Role::Security };
        // Decision 0016: a fact, the role's latest. Decision 0011: the latest argument counts.
        let argument = key("argument", &json!([self.requests, role]));
        self.expect_item(argument, ExpectedText::Verbatim(text.to_owned()), self.on_the_request());
        self.request.voices.insert(role, voice);
        if role == Role::Security {
            self.request.security_read = self.request.revision;
            if objects_from(&voice, self.lines.thresholds.veto_from) {
                self.request.veto_raised = true;
                self.expect_event(json!({ "veto_raised": { "revision": self.request.revision } })); // 004-1.14
            }
        }
        if let Some(plan) = plan {
            self.adopt(plan); // 004-1.12, 004-1.15
        }
        match self.phase {
            "Round_1_Analyst" => self.next_round("Round_2_Solution", Role::Solution), // 004-1.11
            "Round_2_Solution" => self.next_round("Round_3_Critic", Role::Critic),    // 004-1.12
            "Round_3_Critic" => self.next_round("Round_4_Security", Role::Security),  // 004-1.13
            "Round_4_Security" => self.next_round("Round_5_Optimizer", Role::Optimizer), // 004-1.14
            // 004-1.15, F9: a revision of the Optimizer is read by Security first.
            "Round_5_Optimizer" if plan.is_some() && self.lines.rules.cleared_revisions => {
                self.enter_phase("PlanReview");
                self.ask(OracleOperation::Reread);
            }
            "RepairReview" => self.enter_phase("RepairScoring"), // 004-1.30, F10
            _ => self.enter_phase("Multi_Pass_Check"),           // 004-1.15
        }
    }

    fn next_round(&mut self, phase: &'static str, role: Role) {
        self.enter_phase(phase);
        self.ask(OracleOperation::Argue(role));
    }

    /// The internal steps (000-4.5), state by state.
    pub(super) fn step(&mut self, known: &Fold) {
        match self.phase {
            // Decision 0021, K01: if it is due.
            "IdentityVerified" => match cluster(known, &self.lines, self.requests, self.session.as_deref()) {
                Some(cluster) => {
                    self.request.cluster = cluster;
                    self.enter_phase("Compacting");
                    self.ask(OracleOperation::Summarize);
                }
                None => self.load_context(),
            },
            "Multi_Pass_Check" => self.check_passes(),
            "Aggregating" => self.enter_phase("CalculatingConsensus"), // 004-1.19
            "CalculatingConsensus" => {
                self.score(); // 004-1.20
                self.enter_phase("ELODuels");
            }
            "ELODuels" => self.duel(),
            "ResolvingDecision" => self.decide(),
            "RepairScoring" => self.decide_on_repair(),
            "Blocked" | "Success" => self.store(), // 004-1.34, 004-1.33, 004-2.8
            "AssertingOutcomes" => self.assert_outcomes(),
            "Failure" => self.heal(),
            "RollbackActive" if self.lines.rules.rollback_ends => self.store(), // F2
            "RollbackActive" => self.enter_phase("RollbackComplete"),           // 004-1.32
            _ => {}
        }
    }

    fn score(&mut self) {
        self.request.consensus = consensus(&self.lines, &self.request.voices, &self.request.ratings);
        self.expect_event(json!({ "consensus_scored": {
            "revision": self.request.revision, "score": self.request.consensus,
        }}));
    }

    /// F6: under the rule a veto in any pass holds; otherwise Security's latest argument decides.
    fn vetoed(&self) -> bool {
        if self.lines.rules.sticky_veto {
            return self.request.veto_raised;
        }
        let line = self.lines.thresholds.veto_from;
        self.request.voices.get(&Role::Security).is_some_and(|voice| objects_from(voice, line))
    }

    /// 004-1.15 to 004-1.17, 004-2.4.
    fn check_passes(&mut self) {
        self.score();
        let ended_by_veto = self.vetoed() && self.lines.rules.veto_ends_debate; // F11
        let below = self.request.consensus < self.lines.thresholds.redebate_below;
        if !ended_by_veto && below && self.request.pass < self.lines.bounds.passes {
            self.request.pass += 1;
            // Decision 0010: the arguments of the pass before go, but for the Analyst's.
            self.request.voices.retain(|role, _| *role == Role::Analyst);
            self.next_round("Round_2_Solution", Role::Solution);
        } else {
            self.enter_phase("Aggregating");
        }
    }

    /// 004-1.21, decisions 0011 and 0014.
    fn duel(&mut self) {
        let request = &self.request;
        let ratings = match self.lines.elo {
            Elo::Incremental => duels::incremental(&self.lines.thresholds, &request.voices, &request.ratings),
            Elo::Standard => {
                let proceeds = !self.vetoed() && request.consensus >= self.lines.thresholds.proceed_from;
                duels::standard(&request.voices, proceeds, &request.ratings)
            }
        };
        self.expect_event(json!({ "ratings_updated": { "ratings": ratings } }));
        self.request.ratings_after = Some(ratings);
        self.enter_phase("ResolvingDecision");
    }

    /// 004 §3, in the order of decision 0007: the veto, the line, and else PROCEED.
    fn decide(&mut self) {
        if self.vetoed() {
            self.decided("vetoed"); // 004-2.5, 004-2.13, 004-3.1
            self.conclude("blocked", json!("vetoed"));
            self.enter_phase("Blocked");
        } else if self.request.consensus < self.lines.thresholds.proceed_from {
            self.decided("rejected"); // 004-3.2
            self.conclude("blocked", json!("rejected"));
            self.enter_phase("Blocked");
        } else {
            self.decided(self.proceeding_label()); // 004-3.3
            if self.lines.rules.approver {
                self.enter_phase("PlanApproval"); // decision 0013
                self.ask(OracleOperation::Approve);
            } else {
                self.run(); // 004-1.22
            }
        }
    }

    /// 004-1.30, F10, decision 0009: a repaired revision is scored, and decided on if it is cleared.
    fn decide_on_repair(&mut self) {
        self.score();
        if self.vetoed() || self.request.consensus < self.lines.thresholds.proceed_from {
            self.roll_back(json!("repair_rejected"));
            return;
        }
        self.decided(self.proceeding_label());
        if self.lines.rules.approver {
            self.enter_phase("RepairApproval"); // decision 0013
            self.ask(OracleOperation::Approve);
        } else {
            self.run();
        }
    }

    /// F8: proceeding below the line has a label of its own.
    const fn proceeding_label(&self) -> &'static str {
        if self.lines.rules.below_threshold_label
            && self.request.consensus < self.lines.thresholds.redebate_below
        {
            "proceed_below_line"
        } else {
            "consensus_reached"
        }
    }

    fn decided(&mut self, label: &'static str) {
        let request = &mut self.request;
        // F7: Security's objection to the revision decided on.
        let objection = request
            .voices
            .get(&Role::Security)
            .filter(|voice| voice.stance == Stance::Con && request.security_read == request.revision)
            .map(|voice| voice.confidence)
            .filter(|_| self.lines.rules.named_objections);
        let decision = Decision { revision: request.revision, label, score: request.consensus, objection };
        self.batch.events.push(json!({ "decided": { "decision": decision } })); // 004-3.5
        // Decision 0009: every different decision is kept, with the latest revision that it was taken on. No document
        // says where: we read the latest taken as the last, as in the ledger.
        let of = |decision: &Decision| (decision.label, decision.score, decision.objection);
        request.decisions.retain(|before| of(before) != of(&decision));
        request.decisions.push(decision);
    }

    /// Decision 0013: what the approver says; a yes lets the plan run, a no blocks it or rolls the request back.
    pub(super) fn approval(&mut self, approved: bool, text: &str) {
        let approval = key("approval", &json!(self.requests));
        self.expect_item(approval, ExpectedText::Verbatim(text.to_owned()), self.on_the_request());
        if approved {
            self.run();
        } else if self.phase == "PlanApproval" {
            self.conclude("blocked", json!("not_approved"));
            self.enter_phase("Blocked");
        } else {
            self.roll_back(json!("not_approved"));
        }
    }
}
