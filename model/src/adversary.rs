//! The adversary: every input that may occur next.
//!
//! Its alphabet follows from the policy. For each role it has one confidence in each cell between the thresholds that
//! the role's guards read, each threshold itself, and its neighbours by one millionth: both results of every comparison
//! occur. The consensus reaches both sides of its thresholds by the sums of these confidences, not at every value. Text
//! never decides, so all texts are alike, except in the models of what is kept and answered.

mod answers;
mod changing_facts;
pub(crate) mod contexts;
pub(crate) mod knowledge;
pub(crate) mod network;
mod ratings;
mod scoped;
pub(crate) mod situation;

use crate::scopes::{Detail, Model, Remote, Scope};
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::knowledge::compaction;
use orchestrion_kernel::module::{Argument, Failure, Operation, Rating, Ratings, Report, Role, Stance};
use orchestrion_kernel::plan::Plan;
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{CallId, Input, Phase, Policy, RequestId, Score, State, Text, UserId};

/// The inputs of one policy in one model and scope.
#[derive(Clone, Debug)]
pub struct Adversary {
    model: Model,
    policy: Policy,
    requests: usize,
    /// The maximum number of items.
    items: usize,
    /// The first phase of a request in which facts change.
    facts_from: Phase,
    /// The changes of the network.
    environment: [u32; 2],
    /// Calls that no other node executes may fail, where nodes execute those of several modules.
    local_failures: bool,
    /// The plans of the planner. The first is also that of every revision and repair.
    plans: Vec<Plan>,
    /// The confidences of the roles without thresholds, of the Critic, and of Security.
    plain: Vec<Score>,
    critic: Vec<Score>,
    security: Vec<Score>,
    /// The failures of a call that may fail, if the scope states them.
    failures: Option<Vec<Failure>>,
    veto: Score,
    objection: Score,
    below_objection: Score,
}

impl Adversary {
    /// Builds the adversary of a policy.
    #[must_use]
    pub fn new(policy: &Policy, model: Model, scope: &Scope) -> Self {
        let t = &policy.thresholds;
        let below = |score: Score| neighbour(score, -1).unwrap_or(Score::ZERO);
        let of_role = |thresholds: &[Score]| match &scope.alphabet.confidences {
            Some(stated) => stated.clone(),
            None => confidences(thresholds),
        };
        Self {
            model,
            policy: policy.clone(),
            requests: model.requests(scope),
            items: scope.bounds.items,
            facts_from: scope.bounds.facts_from,
            environment: scope.bounds.environment,
            local_failures: scope.bounds.local_failures,
            plans: model.plans(scope),
            plain: of_role(&[]),
            critic: of_role(&[t.critique_above]),
            security: of_role(&[t.objection_from, t.veto_from]),
            failures: scope.alphabet.failures.clone(),
            veto: t.veto_from,
            objection: t.objection_from,
            below_objection: below(t.objection_from),
        }
    }

    /// Returns every input to try in this state. The kernel may refuse some of them.
    #[must_use]
    pub fn inputs(&self, state: &State) -> Vec<Input> {
        let control = state.control();
        if self.model.free.network != Remote::Nowhere && state.network().is_none() {
            return network::creation(self.model);
        }
        let replies = control.pending_calls().iter().flat_map(|call| self.reply_inputs(state, *call));
        let mut inputs: Vec<Input> = replies.collect();
        if inputs.is_empty() && control.phase().is_quiescent() {
            inputs = self.user_inputs(state);
        } else if control.pending_calls().is_empty() || control.phase() == Phase::RunningTasks {
            inputs.push(Input::Step);
        }
        if self.model.free.cancel && !control.phase().is_quiescent() {
            inputs.push(Input::Cancel);
        }
        if self.model.free.failures && control.request().is_some() {
            inputs.push(Input::Resume);
        }
        if self.model.free.writes {
            inputs.extend(knowledge::tick(state));
        }
        if self.model.free.facts && control.session().is_some() {
            inputs.extend(changing_facts::writes(self.facts_from, state));
        }
        let may_interrupt_run = self.model.free.workflow || self.model.free.network == Remote::Attempts;
        if may_interrupt_run && control.session().is_some() {
            inputs.extend(changing_facts::change_during_run(state));
        }
        if self.model.free.contexts {
            inputs.extend(contexts::change_during_debate(state));
        }
        if self.model.free.situation {
            inputs.extend(situation::time_between_updates(state));
            inputs.extend(situation::dependent_on_situation(state));
        }
        if let Some(nodes) = state.network() {
            let pending: Vec<CallId> = control.pending_calls().iter().map(|call| call.id).collect();
            inputs.extend(network::handoffs(self.model, nodes, &pending));
            match self.model.free.network {
                Remote::Handoffs => inputs.extend(network::changes(self.environment, nodes, state)),
                Remote::Interactions => inputs.extend(network::interactions::changes(nodes, state)),
                Remote::Ensembles => inputs.extend(network::ensembles::changes(nodes, state)),
                Remote::Attempts => inputs.extend(network::attempts::changes(state)),
                Remote::Nowhere | Remote::Steps | Remote::Modules => {}
            }
        }
        inputs
    }

    fn user_inputs(&self, state: &State) -> Vec<Input> {
        // Named as a declared source of the same rank, so that the facts of both are alike, and the states are fewer.
        let user = || UserId::new(Rank::Employee.name());
        if self.model.free.contexts {
            return match state.control().session() {
                Some(user) => contexts::user_inputs(&self.policy, user, state),
                None => contexts::session_starts(&user()),
            };
        }
        if let (Some(user), true) = (state.control().session(), self.model.free.situation) {
            let is_first = state.control().next_request() == RequestId::FIRST;
            return if is_first { situation::messages(user) } else { Vec::new() };
        }
        let Some(session) = state.control().session() else {
            let is_free = self.model.free.writes && knowledge::has_room(self.items, state);
            let identities = knowledge::identities().into_iter().filter(|_| is_free);
            let with_identity = |new| Input::SessionStart { user: user(), identity: Some(Box::new(new)) };
            // Another user, who must not read the requests of the first one.
            let is_second = self.model.free.environment
                && self.requests > 1
                && state.control().next_request() > RequestId::FIRST;
            let other = is_second.then(|| Input::session_start(UserId::new("other")));
            let starts = [Input::session_start(user())].into_iter().chain(other);
            return starts.chain(identities.map(with_identity)).collect();
        };
        // The nodes have connections when time passes, and handoffs and results come later.
        if self.model.free.network == Remote::Interactions
            && let Some(input) = knowledge::first_passage_of_time(state)
        {
            return vec![input];
        }
        let mut inputs = Vec::new();
        // Where writes are free, a request only serves the compaction of what was written, or a context beside an expired item.
        let asks = !self.model.free.writes
            || compaction::is_due(&self.policy, state)
            || knowledge::has_expired_item(state);
        // The fact that changes during a run comes first.
        let is_ready =
            self.model.free.network != Remote::Attempts || changing_facts::change_during_run(state).is_none();
        let is_only_promoted = self.model.free.scopes && scoped::has_dependent(state);
        if asks
            && is_ready
            && !is_only_promoted
            && state.control().next_request().number() <= u32::try_from(self.requests).unwrap_or(u32::MAX)
        {
            inputs.push(Input::user_message(session.clone(), text()));
            if self.model.free.scopes {
                inputs.extend(scoped::messages(&user()));
            }
        }
        if self.model.free.writes {
            inputs.extend(knowledge::writes(&self.policy, self.items, state));
        }
        if self.model.free.scopes {
            inputs.extend(scoped::writes(self.items, state));
        }
        // Where sessions are frozen, the session stays open.
        if (self.model.free.environment || self.model.free.writes) && state.control().phase() == Phase::Idle {
            inputs.push(Input::SessionEnd);
        }
        inputs
    }

    fn reply_inputs(&self, state: &State, call: Call) -> Vec<Input> {
        let reply = |report| Input::reply(call.id, report);
        let fail = |failure: &Failure| Input::CallFailed { call: call.id, failure: *failure };
        let failures = || failures(call.operation).iter().map(fail);
        if let Some(failure) = call.not_made {
            let refused = self.reports(call.operation).into_iter().take(1).map(reply);
            return refused.chain([fail(&failure)]).collect();
        }
        if let Some(reports) = self.detailed_reports(state, call.operation) {
            let replies = reports.into_iter().map(reply);
            return replies.chain(self.detailed_failures(state, call)).collect();
        }
        if self.model.free.writes {
            return match call.operation {
                Operation::Summarize => {
                    let summaries = knowledge::summaries(&self.policy, state).into_iter().map(reply);
                    summaries.chain(failures()).chain(knowledge::writes_while_summarizing(state)).collect()
                }
                // This request ends at once. Other models explore the rest. Under a policy without a transition for the failure, it
                // takes the agreeing path to its end: here the failure would be a dead end of this model alone.
                Operation::LoadContext if self.policy.rules.error_rows => failures().collect(),
                ask => {
                    let mut inputs: Vec<Input> = self.reports(ask).into_iter().map(reply).collect();
                    if ask == Operation::VerifyIdentity {
                        inputs.push(knowledge::reply_with_situation(call.id));
                    }
                    inputs
                }
            };
        }
        if self.model.free.contexts {
            let is_earlier = contexts::has_earlier_request(&self.policy)
                && state.control().next_request() == RequestId::FIRST.next();
            if call.operation == Operation::LoadContext && is_earlier {
                return failures().collect();
            }
            let fails = call.operation == Operation::Summarize;
            let reports = contexts::reports(state, call).into_iter().map(reply);
            let more = failures().filter(|_| fails).chain(contexts::reply_in_scope(state, call));
            return reports.chain(more).collect();
        }
        if self.model.free.network == Remote::Interactions && call.operation.task().is_some() {
            return network::interactions::ends(state, call);
        }
        let mut inputs: Vec<Input> = self.reports(call.operation).into_iter().map(reply).collect();
        if self.model.free.situation {
            inputs = inputs.into_iter().flat_map(|reply| situation::replies(state, call, reply)).collect();
        }
        if self.model.free.scopes {
            inputs.extend(scoped::plan_with_narrow_member(state, call));
            if matches!(call.operation, Operation::RunTask { .. }) {
                inputs.push(scoped::reply_with_situation(call.id));
            }
        }
        let assignment = state.network().and_then(|network| network.assignment(call.id));
        let is_remote = assignment.is_some_and(|assignment| !assignment.is_local());
        let may_fail = self.model.free.failures
            && (self.local_failures || is_remote || self.model.free.network != Remote::Modules)
            || self.model.free.workflow && matches!(call.operation, Operation::RunTask { .. })
            // A policy with small limits may refuse the summary.
            || call.operation == Operation::Summarize;
        if may_fail {
            match &self.failures {
                Some(stated) => inputs.extend(stated.iter().map(fail)),
                None => inputs.extend(failures()),
            }
        }
        match (self.model.free.network, assignment) {
            // A handoff that is lost, refused replies before it arrived, and a node that fails or does not reply in time.
            (Remote::Handoffs | Remote::Steps, Some(_)) if call.operation.task().is_some() => {
                let all = [Failure::Error, Failure::Timeout, Failure::OutcomeUnknown];
                // The host recovers only calls with an effect.
                let is_free = |failure: &Failure| {
                    *failure != Failure::OutcomeUnknown
                        || self.model.free.network == Remote::Handoffs && call.operation.is_effectful()
                };
                inputs.extend(all.iter().filter(|failure| is_free(failure)).map(fail));
            }
            (Remote::Modules, Some(assignment)) if !assignment.is_local() => {
                inputs.push(fail(&Failure::Timeout));
            }
            _ => {}
        }
        inputs
    }

    /// The reports of a model that explores one part in detail; none where they are the same as elsewhere.
    fn detailed_reports(&self, state: &State, ask: Operation) -> Option<Vec<Report>> {
        match (self.model.free.detail, self.model.free.network) {
            (Detail::Ratings | Detail::Duels, _) => ratings::reports(&self.policy.thresholds, ask),
            (Detail::Answers, _) => answers::reports(state, ask),
            (Detail::Nothing, Remote::Attempts) => network::attempts::reports(state, ask),
            (Detail::Nothing, Remote::Ensembles) => network::ensembles::reports(state, ask),
            (
                Detail::Nothing,
                Remote::Nowhere | Remote::Handoffs | Remote::Steps | Remote::Modules | Remote::Interactions,
            ) => None,
        }
    }

    /// The failures of a call in such a model.
    fn detailed_failures(&self, state: &State, call: Call) -> Vec<Input> {
        match self.model.free.network {
            Remote::Attempts => network::attempts::failures(state, call),
            Remote::Nowhere
            | Remote::Handoffs
            | Remote::Steps
            | Remote::Modules
            | Remote::Interactions
            | Remote::Ensembles => Vec::new(),
        }
    }

    fn reports(&self, ask: Operation) -> Vec<Report> {
        let free = self.model.free;
        match ask {
            Operation::VerifyIdentity => {
                let locks = if free.environment {
                    vec![(true, true), (true, false), (false, true), (false, false)]
                } else {
                    vec![(true, true)]
                };
                locks.into_iter().map(|(gcp, mongodb)| Report::Identity { gcp, mongodb }).collect()
            }
            Operation::LoadContext => {
                let context = |ratings| Report::Context { ratings, traces: Vec::new() };
                let mut reports = vec![context(Ratings::default())];
                if free.execution && free.network == Remote::Nowhere {
                    reports.push(context(unheard_security()));
                }
                reports
            }
            // Where writes are free, every summary is tried.
            Operation::Summarize => vec![Report::Summary { text: Text::from("s"), forgets: None }],
            Operation::Classify => vec![Report::Classification { tags: Vec::new(), similarity: Score::ZERO }],
            Operation::DraftPlan if free.scopes => scoped::plans().into_iter().map(Report::Plan).collect(),
            Operation::DraftPlan => self.plans.iter().cloned().map(Report::Plan).collect(),
            Operation::Argue(role) => self.arguments(role),
            Operation::ArgueAdditional { .. } => self.additional_arguments(),
            Operation::ReviewRevision => self.revision_review_reports(),
            Operation::RunTask { task, .. } if free.network == Remote::Steps => network::answers(task),
            Operation::RunTask { .. } | Operation::UndoTask { .. } => {
                // An output without content would be no part of an answer.
                let exit = |code| Report::Exit { code, text: Text::from("output"), number: None };
                let fails = free.execution
                    || free.scopes
                    || free.facts
                    || free.workflow
                    || free.situation
                    || matches!(free.network, Remote::Handoffs | Remote::Steps);
                if fails { vec![exit(0), exit(1)] } else { vec![exit(0)] }
            }
            // Other models explore repairs.
            Operation::Diagnose
                if !free.execution
                    && (free.scopes
                        || free.facts
                        || free.workflow
                        || free.situation
                        || matches!(
                            free.network,
                            Remote::Handoffs | Remote::Steps | Remote::Interactions
                        )) =>
            {
                vec![Report::NoRepair { text: text() }]
            }
            Operation::Diagnose => {
                let repaired = self.revised_plan().map(|plan| Report::Repaired { text: text(), plan });
                repaired.into_iter().chain([Report::NoRepair { text: text() }]).collect()
            }
            Operation::StoreMemory { .. } if free.environment => {
                vec![Report::Stored { held: true }, Report::Stored { held: false }]
            }
            Operation::StoreMemory { .. } => vec![Report::Stored { held: true }],
            Operation::DeliverAudit => vec![Report::Delivered],
            Operation::Approve => {
                let approval = |approved| Report::Approval { approved, text: text() };
                vec![approval(true), approval(false)]
            }
        }
    }

    /// The plan of every revision and repair.
    fn revised_plan(&self) -> Option<Plan> {
        self.plans.first().cloned()
    }

    fn arguments(&self, role: Role) -> Vec<Report> {
        if !self.model.free.debate {
            let agreeable = argument(Stance::Pro, Score::ONE, None);
            // Against the Critic alone, the others reach the proceed threshold, but not the re-debate threshold.
            let critique = argument(Stance::Con, Score::ONE, None);
            let objects = (self.model.free.facts || self.model.free.situation) && role == Role::Critic;
            return [agreeable].into_iter().chain(objects.then_some(critique)).collect();
        }
        let confidences = match role {
            Role::Critic => &self.critic,
            Role::Security => &self.security,
            Role::Analyst | Role::Solution | Role::Optimizer => &self.plain,
        };
        let plans = if role.revises_plan() { vec![None, self.revised_plan()] } else { vec![None] };
        let mut reports = Vec::new();
        for stance in [Stance::Pro, Stance::Con] {
            for confidence in confidences {
                reports.extend(plans.iter().map(|plan| argument(stance, *confidence, plan.clone())));
            }
        }
        reports
    }

    /// An additional debater's reports. Its confidence changes only the consensus, as that of the Analyst.
    fn additional_arguments(&self) -> Vec<Report> {
        let stances = if self.model.free.debate { &[Stance::Pro, Stance::Con][..] } else { &[Stance::Pro] };
        stances.iter().map(|stance| argument(*stance, Score::ONE, None)).collect()
    }

    /// Security's reports on a revision after its round.
    fn revision_review_reports(&self) -> Vec<Report> {
        if self.model.free.debate {
            return self.arguments(Role::Security);
        }
        let free = self.model.free;
        let agreeable = argument(Stance::Pro, Score::ONE, None);
        let objections = if free.execution && free.network == Remote::Nowhere {
            vec![self.below_objection, self.objection, self.veto]
        } else if free.facts || free.workflow || matches!(free.network, Remote::Modules | Remote::Attempts) {
            vec![self.veto]
        } else {
            Vec::new()
        };
        let objections = objections.into_iter().map(|confidence| argument(Stance::Con, confidence, None));
        std::iter::once(agreeable).chain(objections).collect()
    }
}

/// Whether this is the plan of the running request.
fn is_planned(state: &State, plan: &Plan) -> bool {
    let planned = state.control().request().and_then(|request| request.plan.as_ref());
    planned.is_some_and(|planned| planned.plan == *plan)
}

/// One failure for each distinction of the kernel: a store status depends on the failure, and a task with an unknown
/// outcome is undone. Elsewhere all failures are alike, so each kind occurs somewhere. Claim C-14 covers that each has
/// a transition everywhere.
const fn failures(ask: Operation) -> &'static [Failure] {
    match ask {
        Operation::StoreMemory { .. } => &[Failure::Error, Failure::Timeout],
        Operation::RunTask { .. } => &[Failure::Error, Failure::OutcomeUnknown],
        Operation::VerifyIdentity | Operation::LoadContext | Operation::Classify => &[Failure::NoCandidates],
        Operation::DraftPlan
        | Operation::Argue(_)
        | Operation::ArgueAdditional { .. }
        | Operation::ReviewRevision
        | Operation::Diagnose => &[Failure::Malformed],
        Operation::UndoTask { .. } | Operation::DeliverAudit | Operation::Approve | Operation::Summarize => {
            &[Failure::Error]
        }
    }
}

/// Ratings that give Security little weight: a veto alone does not lower the consensus.
fn unheard_security() -> Ratings {
    let loud = Rating { elo: 1800, successes: 1, matches: 1 };
    let unheard = Rating { elo: 600, successes: 0, matches: 1 };
    Ratings { analyst: loud, solution: loud, critic: loud, security: unheard, optimizer: loud }
}

fn text() -> Text {
    Text::from("")
}

fn argument(stance: Stance, confidence: Score, plan: Option<Plan>) -> Report {
    Report::Argument { argument: Argument { stance, confidence }, text: text(), plan }
}

fn argument_with_text(stance: Stance, confidence: Score, text: &str) -> Report {
    Report::Argument { argument: Argument { stance, confidence }, text: text.into(), plan: None }
}

fn neighbour(score: Score, by: i64) -> Option<Score> {
    u32::try_from(i64::from(score.millionths()) + by).ok().and_then(Score::from_millionths)
}

/// One confidence in each cell between the thresholds, and each threshold with its neighbours.
fn confidences(thresholds: &[Score]) -> Vec<Score> {
    let mut corners = vec![Score::ZERO, Score::ONE];
    corners.extend_from_slice(thresholds);
    corners.sort_unstable();
    let middle =
        |pair: &[Score]| Score::from_millionths(pair.iter().map(|s| s.millionths()).sum::<u32>() / 2);
    let mut all: Vec<Score> = corners.windows(2).filter_map(middle).collect();
    for threshold in thresholds {
        all.extend([-1, 0, 1].into_iter().filter_map(|by| neighbour(*threshold, by)));
    }
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidences_cover_cells_and_thresholds() {
        let millionths = |thresholds: &[u32]| -> Vec<u32> {
            let thresholds: Vec<_> = thresholds.iter().filter_map(|t| Score::from_millionths(*t)).collect();
            confidences(&thresholds).into_iter().map(Score::millionths).collect()
        };
        assert_eq!(millionths(&[]), [500_000]);
        assert_eq!(millionths(&[700_000]), [350_000, 699_999, 700_000, 700_001, 850_000]);
        assert_eq!(
            millionths(&[800_000, 900_000]),
            [400_000, 799_999, 800_000, 800_001, 850_000, 899_999, 900_000, 900_001, 950_000]
        );
        assert_eq!(millionths(&[1_000_000]), [500_000, 999_999, 1_000_000]);
    }
}
