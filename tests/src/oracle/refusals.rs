//! The inputs that are refused, and the kind of each refusal. A refusal changes nothing (000-4.6).

use super::authority;
use super::compaction::compact;
use super::conversation::ExpectedConversation;
use super::encoding::{OracleInput, OracleOperation, OraclePlan, OracleReply, Task};
use super::facts;
use super::fold::{Entry, Fold};
use serde_json::Value;

impl ExpectedConversation {
    /// Returns the kind of the refusal, or `None` if the input is accepted.
    ///
    /// No document orders the kinds where several apply. The oracle reads them in this order: an input of the user is
    /// first compared with the phase, then with the session; a reply is first compared with the pending call, then with
    /// its operation, then with the budget.
    pub(super) fn refusal(&self, input: &OracleInput, semantic: &Fold) -> Option<&'static str> {
        let is_idle = self.phase == "Idle";
        let unexpected_unless = |row_exists: bool| (!row_exists).then_some("UnexpectedInput"); // 004-1.1
        match input {
            // Decision 0004: no request runs when a session ends. DESIGN §2: a user message while busy is refused.
            OracleInput::SessionStart { .. } | OracleInput::SessionEnd | OracleInput::UserMessage { .. }
                if !is_idle =>
            {
                Some("UnexpectedInput")
            }
            OracleInput::SessionStart { .. } if self.session.is_some() => Some("SessionAlreadyOpen"),
            // Decision 0028.
            OracleInput::SessionStart { identity, .. } => identity.as_ref().and_then(|new| {
                authority::identity_layer(&self.policy, new).is_err().then_some("InvalidWrite")
            }),
            OracleInput::SessionEnd => self.session.is_none().then_some("NoSession"),
            OracleInput::UserMessage { user, scope, .. } => match &self.session {
                None => Some("NoSession"),
                Some(session) if session != user => Some("WrongUser"), // 000-1.3
                Some(_) => (!is_usable(semantic, scope)).then_some("UnknownScope"), // decision 0037
            },
            OracleInput::Reply { call, report, .. } => match self.pending_call(*call) {
                // 000-7.6: a reply to any other call is refused, so each reply counts once.
                Some(pending) => {
                    if !pending.operation.accepts(report) {
                        Some("WrongReport") // 000-0.3
                    } else if pending.over_budget {
                        Some("CallNotMade") // decision 0024
                    } else if self.forgets_outside_cluster(report, semantic) {
                        Some("InvalidWrite") // decision 0021
                    } else if self.changes_effect(report) {
                        Some("EffectChanged") // decision 0003
                    } else {
                        let tasks = plan_of(report).iter();
                        let refused = tasks.clone().find_map(|task| self.scope_refusal(task, semantic));
                        refused.or_else(|| self.member_scope_refusal(report))
                    }
                }
                None => Some("WrongCall"),
            },
            OracleInput::CallFailed { call, .. } => match self.pending_call(*call) {
                // F14, decision 0001: without error rows the failure is refused, and the request stays.
                // Decision 0021: a failed summarizer never blocks a request.
                Some(pending) => unexpected_unless(
                    self.policy.rules.error_rows || pending.operation == OracleOperation::Summarize,
                ),
                None => Some("WrongCall"),
            },
            OracleInput::Step => unexpected_unless(self.accepts_step()),
            // Decision 0002: under the rule, in every phase of a running request.
            OracleInput::Cancel => unexpected_unless(self.policy.rules.cancel && self.is_running()),
            // Decision 0019: in every phase and under every policy; a write about a session requires one.
            OracleInput::Write(write) if facts::requires_session(write) && self.session.is_none() => {
                Some("NoSession")
            }
            OracleInput::Write(write) => {
                let session = self.session.as_deref();
                let decided = facts::decide_write(semantic, &self.policy, session, write);
                decided.is_err().then_some("InvalidWrite")
            }
            // Decision 0036: whether an item expires is checked before.
            OracleInput::Tick => None,
            // Decision 0015: while a request runs, under every policy.
            OracleInput::Resume => (!self.is_running()).then_some("NothingToResume"),
        }
    }

    /// Returns whether an internal step is accepted.
    pub(super) fn accepts_step(&self) -> bool {
        if self.pending_calls.is_empty() {
            // 004-1.32, F2: RollbackComplete has no transition.
            self.is_running() && self.phase != "RollbackComplete"
        } else {
            // 000-4.5: refused while a call is pending, except where it starts a further task (decision 0040).
            self.phase == "RunningTasks" && self.starts_further_task()
        }
    }

    /// Returns whether a summary forgets no item, or an item outside the cluster (decision 0021). No document defines
    /// the kind of this refusal.
    fn forgets_outside_cluster(&self, report: &OracleReply, semantic: &Fold) -> bool {
        let OracleReply::Summary { text, forgets } = report else { return false };
        if self.request.outdated {
            return false;
        }
        compact(semantic, &self.policy, &self.request.cluster, text, forgets.as_deref()).is_none()
    }

    /// Returns whether a later plan gives a started task another kind of effect (decision 0003).
    fn changes_effect(&self, report: &OracleReply) -> bool {
        plan_of(report).iter().any(|task| {
            self.request
                .ledger
                .iter()
                .any(|started| started.task == task.id && started.effect != task.effect.kind())
        })
    }

    /// Decision 0042: a member runs in the scope of the request, which continues in the scope that all tasks declare (decision 0037).
    fn member_scope_refusal(&self, report: &OracleReply) -> Option<&'static str> {
        let plan = whole_plan_of(report)?;
        let declared = |task: &Task| task.scope.clone().unwrap_or_else(|| self.request.scope.clone());
        let scopes: Vec<Value> = plan.tasks().iter().map(declared).collect();
        let is_same = scopes.iter().all(|scope| Some(scope) == scopes.first());
        let members = plan.members();
        let is_stray = |task: &Task| members.contains(&task.id) && declared(task) != self.request.scope;
        (!is_same && plan.tasks().iter().any(is_stray)).then_some("OtherScope")
    }

    /// Decision 0037: scopes do not nest, and nothing runs in a scope that no write opened.
    fn scope_refusal(&self, task: &Task, semantic: &Fold) -> Option<&'static str> {
        let scope = task.scope.as_ref()?;
        if self.request.scope != "global" && *scope != self.request.scope {
            return Some("OtherScope");
        }
        (!is_usable(semantic, scope)).then_some("UnknownScope")
    }
}

/// Returns the plan in a report.
const fn whole_plan_of(report: &OracleReply) -> Option<&OraclePlan> {
    match report {
        OracleReply::Plan(plan)
        | OracleReply::Repaired { plan, .. }
        | OracleReply::Argument { plan: Some(plan), .. } => Some(plan),
        _ => None,
    }
}

/// Returns the tasks of the plan in a report.
fn plan_of(report: &OracleReply) -> &[Task] {
    whole_plan_of(report).map_or(&[], OraclePlan::tasks)
}

/// Returns whether something can run in a scope (decision 0037): a scope with a name needs a fact that was not denied.
fn is_usable(semantic: &Fold, scope: &Value) -> bool {
    let opens =
        |entry: &Entry| entry.item["layer"]["fact"]["scope"] == *scope && entry.item["validity"] != "denied";
    scope == "global" || scope.is_object() && semantic.entries().any(|(_, entry)| opens(entry))
}
