//! Which inputs are refused, and as what. A refusal changes nothing (000-4.6).

use super::compaction::compact;
use super::conversation::ExpectedConversation;
use super::encoding::{OracleInput, OracleOperation, OracleReply, Task};
use super::facts;
use super::fold::Fold;

impl ExpectedConversation {
    /// The kind of refusal, or nothing if the input is taken.
    ///
    /// Where several kinds would fit no document says which one it is. We read it so: what the user does is first
    /// held against the state, then against the session; an answer first against the call that is out.
    pub(super) fn refusal(&self, came: &OracleInput, known: &Fold) -> Option<&'static str> {
        let idle = self.phase == "Idle";
        let expected = |there_is_a_row: bool| (!there_is_a_row).then_some("NotExpected"); // 004-1.1
        match came {
            // Decision 0004: no request runs when a session ends. DESIGN §2: a user message while busy is refused.
            OracleInput::SessionStart { .. } | OracleInput::SessionEnd | OracleInput::UserMessage { .. }
                if !idle =>
            {
                Some("NotExpected")
            }
            OracleInput::SessionStart { .. } => self.session.is_some().then_some("SessionOpen"),
            OracleInput::SessionEnd => self.session.is_none().then_some("NoSession"),
            OracleInput::UserMessage { user, .. } => match &self.session {
                None => Some("NoSession"),
                Some(session) => (session != user).then_some("WrongUser"), // 000-1.3
            },
            OracleInput::Reply { call, report, .. } => match self.waiting {
                // 000-7.6: an answer to any other call is refused, so an answer counts once.
                Some((waiting, question)) if waiting == *call => {
                    if !question.is_answered_by(report) {
                        Some("WrongReport") // 000-0.3
                    } else if self.forgets_too_much(report, known) {
                        Some("Misuse") // decision 0021
                    } else if self.changes_an_effect(report) {
                        Some("EffectChanged") // decision 0003
                    } else {
                        None
                    }
                }
                _ => Some("WrongCall"),
            },
            OracleInput::CallFailed { call, .. } => match self.waiting {
                // F14, decision 0001: without error rows the failure is refused, and the request waits for ever.
                // Decision 0021: but a failed summarizer never blocks a request.
                Some((waiting, question)) if waiting == *call => {
                    expected(self.lines.rules.error_rows || question == OracleOperation::Summarize)
                }
                _ => Some("WrongCall"),
            },
            // 000-4.5: refused while a call is waited for. 004-1.32, F2: nothing leads on from RollbackComplete.
            OracleInput::Step => {
                expected(self.waiting.is_none() && self.runs() && self.phase != "RollbackComplete")
            }
            // Decision 0002: in every state in which a request runs, under the rule.
            OracleInput::Cancel => expected(self.lines.rules.cancel && self.runs()),
            // Decision 0019: in every state and under every policy; what is about a session needs one.
            OracleInput::Write(wrote) if facts::is_of_session(wrote) && self.session.is_none() => {
                Some("NoSession")
            }
            OracleInput::Write(wrote) => {
                facts::write(known, self.lines.writes, wrote).is_err().then_some("Misuse")
            }
            // Decision 0015: while a request runs, under every policy.
            OracleInput::Resume => (!self.runs()).then_some("NothingToResume"),
        }
    }

    /// Decision 0021: one at least, and only of the cluster. No document says which kind of refusal it is.
    fn forgets_too_much(&self, report: &OracleReply, known: &Fold) -> bool {
        let OracleReply::Summary { text, forgets } = report else { return false };
        if self.request.outdated {
            return false;
        }
        compact(known, &self.lines, &self.request.cluster, text, forgets.as_deref()).is_none()
    }

    /// Decision 0003: a later plan that gives a started task another kind of effect.
    fn changes_an_effect(&self, report: &OracleReply) -> bool {
        let plan: &[Task] = match report {
            OracleReply::Plan(plan)
            | OracleReply::Repaired { plan, .. }
            | OracleReply::Argument { plan: Some(plan), .. } => plan,
            _ => &[],
        };
        plan.iter().any(|task| {
            self.request
                .ledger
                .iter()
                .any(|started| started.task == task.id && started.effect != task.effect.kind())
        })
    }
}
