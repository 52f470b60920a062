//! A plan as a workflow without a network: members and their aggregate, optional tasks, validations (001 §5, §8.3, §9; decision
//! 0042).
//!
//! Without a network the orchestrator is the only node, so that every result has the same weight. The constants are those of
//! `TRUST.md`.

use super::conversation::ExpectedConversation;
use super::encoding::{Effect, OracleOperation, OraclePlan, Task};
use super::items::{ExpectedText, key};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// MAX_RETRIES of 001 §11.3: the repetitions of a failed validation in a run.
const MAX_RETRIES: u32 = 2;

/// What a run knows beside the outcomes of its tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Workflow {
    /// The result of each task that succeeded: its text, and its number in millionths.
    answers: BTreeMap<u32, (String, Option<i64>)>,
    /// Whether the members' results have an aggregate; `None` before the last member ended.
    is_aggregated: Option<bool>,
    /// How often each validation repeated its task.
    repetitions: BTreeMap<u32, u32>,
}

/// The aggregate that a step must emit.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExpectedAggregate {
    /// One of these texts: of equal votes the smallest, of equal results any. With the least and the greatest share of the weight.
    Text(BTreeSet<String>, [f64; 2]),
    /// This number of millionths, and the least score of convergence.
    Number(f64, f64),
    /// A member's answer is no number.
    NotNumeric,
}

impl Workflow {
    pub(super) fn is_aggregated(&self) -> bool {
        self.is_aggregated == Some(true)
    }
}

impl OraclePlan {
    /// The tasks without dependencies, if the plan has an aggregation.
    pub(super) fn members(&self) -> Vec<u32> {
        let members = self.dependencies().into_iter().filter(|(_, dependencies)| dependencies.is_empty());
        let members = members.map(|(task, _)| task).collect();
        if self.aggregation().is_some() { members } else { Vec::new() }
    }

    /// Decision 0040: the dependencies of each task in plan order. Without a declaration the plan is a sequence.
    pub(super) fn dependencies(&self) -> Vec<(u32, Vec<u32>)> {
        let mut before: Option<u32> = None;
        let mut all = Vec::new();
        for task in self.tasks() {
            all.push((task.id, task.depends_on.clone().unwrap_or_else(|| before.into_iter().collect())));
            before = Some(task.id);
        }
        all
    }

    /// Decision 0042: "members of an ensemble, and all members under BEST_EFFORT, may fail while one succeeds".
    fn members_may_fail(&self) -> bool {
        let aggregation = self.aggregation();
        aggregation.is_some_and(|is| is["is_ensemble"] == true || is["strategy"] == "best_effort")
    }
}

impl Task {
    fn is_optional(&self) -> bool {
        self.step["optional"] == true
    }

    fn validates(&self) -> Option<u32> {
        self.step["validates"].as_u64().and_then(|task| u32::try_from(task).ok())
    }

    /// LOW to CRITICAL as a number (001 §3.2); a task without requirements is NORMAL.
    fn priority(&self) -> u32 {
        match self.step["requirements"]["constraints"]["priority"].as_str() {
            Some("low") => 0,
            Some("high") => 2,
            Some("critical") => 3,
            _ => 1,
        }
    }
}

impl ExpectedConversation {
    fn has_succeeded(&self, task: u32) -> bool {
        self.request.task_outcomes.get(&task).is_some_and(|outcome| *outcome == "succeeded")
    }

    fn is_task_running(&self, id: u32) -> bool {
        let mut operations = self.pending_calls.iter().map(|call| call.operation);
        operations.any(|operation| matches!(operation, OracleOperation::RunTask { task, .. } if task == id))
    }

    /// Decision 0042: "satisfied if the task succeeded, or if it is a member and the members are aggregated".
    fn is_satisfied(&self, members: &[u32], dependency: u32) -> bool {
        self.has_succeeded(dependency)
            || self.request.workflow.is_aggregated() && members.contains(&dependency)
    }

    /// Decisions 0040 and 0042: of the tasks that did not start in this run and whose dependencies are satisfied, the first of the
    /// highest priority.
    pub(super) fn next_ready_task(&self) -> Option<Task> {
        let plan = &self.request.plan;
        let members = plan.members();
        let mut next: Option<&Task> = None;
        for (task, (id, dependencies)) in plan.tasks().iter().zip(plan.dependencies()) {
            let is_started = self.request.task_outcomes.contains_key(&id) || self.is_task_running(id);
            let is_ready =
                !is_started && dependencies.iter().all(|dependency| self.is_satisfied(&members, *dependency));
            if is_ready && next.is_none_or(|next| task.priority() > next.priority()) {
                next = Some(task);
            }
        }
        next.cloned()
    }

    /// Decision 0042: whether the run succeeds. A failed optional task does not fail it, and neither does a task that depends on it or
    /// on a skipped one.
    pub(super) fn run_succeeds(&self) -> bool {
        let plan = &self.request.plan;
        let members = plan.members();
        let mut skipped: BTreeSet<u32> = BTreeSet::new();
        for (task, (id, dependencies)) in plan.tasks().iter().zip(plan.dependencies()) {
            if self.has_succeeded(id) {
                continue;
            }
            let is_missing = |dependency: &u32| {
                let is_optional =
                    plan.tasks().iter().any(|other| other.id == *dependency && other.is_optional());
                (is_optional || skipped.contains(dependency)) && !self.is_satisfied(&members, *dependency)
            };
            if dependencies.iter().any(is_missing) {
                skipped.insert(id);
            } else if !(task.is_optional() || members.contains(&id) && plan.members_may_fail()) {
                return false;
            }
        }
        // "Results without an aggregate fail the run."
        plan.aggregation().is_none() || self.request.workflow.is_aggregated()
    }

    /// Takes the end of a task: a failed validation repeats tasks, and the last member's end aggregates the results.
    pub(super) fn end_step(&mut self, task: u32, answer: Option<(String, Option<i64>)>) {
        if let Some(answer) = answer.filter(|_| self.has_succeeded(task)) {
            self.request.workflow.answers.insert(task, answer);
        }
        let has_exited = self.request.task_outcomes.get(&task).is_some_and(|it| it.get("exited").is_some());
        if has_exited {
            self.repeat_validated(task);
        }
        self.aggregate(task);
    }

    /// Decision 0042: a failed validation repeats the task that it validates, and every task that depends on it, "if all of them are
    /// pure", "none is running" and no outcome in the run is unknown.
    fn repeat_validated(&mut self, validation: u32) {
        let plan = self.request.plan.clone();
        let validated = plan.tasks().iter().find(|task| task.id == validation).and_then(Task::validates);
        let Some(validated) = validated else { return };
        let mut repeated = BTreeSet::from([validated]);
        for (task, dependencies) in plan.dependencies() {
            if dependencies.iter().any(|dependency| repeated.contains(dependency)) {
                repeated.insert(task);
            }
        }
        let tasks: Vec<&Task> = plan.tasks().iter().filter(|task| repeated.contains(&task.id)).collect();
        let is_repeatable = |task: &&Task| task.effect == Effect::Pure && !self.is_task_running(task.id);
        let repetitions = self.request.workflow.repetitions.get(&validation).copied().unwrap_or(0);
        if repetitions >= MAX_RETRIES || !tasks.iter().all(is_repeatable) || self.has_unknown_outcome() {
            return;
        }
        let ids: Vec<u32> = tasks.iter().map(|task| task.id).collect();
        for id in &ids {
            self.request.task_outcomes.remove(id);
            self.request.workflow.answers.remove(id);
        }
        if plan.members().iter().any(|member| ids.contains(member)) {
            self.request.workflow.is_aggregated = None;
        }
        self.request.workflow.repetitions.insert(validation, repetitions + 1);
        self.expect_event(
            json!({ "network": { "validation_failed": { "task": validation, "repeated": ids } } }),
        );
    }

    /// Decision 0042: when the last member ended, the results of those that succeeded are aggregated.
    fn aggregate(&mut self, ended: u32) {
        let plan = &self.request.plan;
        let members = plan.members();
        let has_ended = |member: &u32| self.request.task_outcomes.contains_key(member);
        let is_last = members.contains(&ended) && members.iter().all(has_ended);
        if !is_last || self.request.workflow.is_aggregated.is_some() {
            return;
        }
        let succeeded = members.iter().filter(|member| self.has_succeeded(**member)).count();
        if succeeded == 0 || succeeded < members.len() && !plan.members_may_fail() {
            return; // the run fails
        }
        let answers: Vec<(String, Option<i64>)> =
            members.iter().filter_map(|member| self.request.workflow.answers.get(member).cloned()).collect();
        let strategy = plan.aggregation().and_then(|aggregation| aggregation["strategy"].as_str());
        let expected = expected_aggregate(strategy.unwrap_or_default(), &answers);
        let is_aggregated = expected != ExpectedAggregate::NotNumeric;
        self.request.workflow.is_aggregated = Some(is_aggregated);
        if is_aggregated {
            let text = match &expected {
                ExpectedAggregate::Text(texts, _) if texts.len() == 1 => {
                    ExpectedText::Verbatim(texts.iter().next().cloned().unwrap_or_default())
                }
                _ => ExpectedText::Composed { from: json!(answers), parts: Vec::new() },
            };
            let deps = self.request_dependency();
            self.expect_fact(key("aggregate", &json!(self.requests)), text, deps);
        }
        self.batch.aggregate = Some(expected);
    }
}

/// The aggregate of results with equal weights (001 §8.3).
fn expected_aggregate(strategy: &str, answers: &[(String, Option<i64>)]) -> ExpectedAggregate {
    let count = answers.len() as f64;
    let texts = || answers.iter().map(|(text, _)| text.clone());
    match strategy {
        "voting" => {
            let votes = |text: &String| texts().filter(|other| other == text).count();
            let most = texts().map(|text| votes(&text)).max().unwrap_or(0);
            // TRUST.md: of equal votes the smallest answer by canonical bytes.
            let winner = texts().filter(|text| votes(text) == most).min();
            let share = most as f64 / count;
            ExpectedAggregate::Text(winner.into_iter().collect(), [share, share])
        }
        "best_effort" => ExpectedAggregate::Text(texts().collect(), [1.0 / count, 1.0]),
        _ => {
            let numbers: Option<Vec<f64>> =
                answers.iter().map(|(_, number)| number.map(|number| number as f64)).collect();
            let Some(numbers) = numbers else { return ExpectedAggregate::NotNumeric };
            let mean = numbers.iter().sum::<f64>() / count;
            // One round of deliberation moves each position to 0.3 own + 0.7 mean, so that the variance falls to 9 % and the score
            // rises above 0.85. The mean stays, and nodes never disagree.
            let least_score = if strategy == "consensus" { 0.85 } else { 0.0 };
            ExpectedAggregate::Number(mean, least_score)
        }
    }
}

/// Compares an aggregate, or its absence, with the expected one. Returns the text of the answer if it is a text.
pub(super) fn compare_aggregate(
    expected: &ExpectedAggregate,
    found: &Value,
) -> Result<Option<String>, String> {
    let wrong = || format!("wrong aggregate: expected {expected:?}, found {found}");
    let aggregate = &found["results_aggregated"]["aggregate"];
    let confidence = aggregate["confidence"].as_f64().unwrap_or(-1.0) / 1e6;
    let is_between = |[least, most]: [f64; 2]| confidence > least - 2e-6 && confidence < most + 2e-6;
    match expected {
        ExpectedAggregate::Text(texts, shares) => {
            let text = aggregate["answer"]["text"].as_str().map(str::to_owned);
            let is_expected = text.as_ref().is_some_and(|text| texts.contains(text)) && is_between(*shares);
            // Only a consensus has nodes that dissent.
            let has_dissent = aggregate["dissenting"] != json!([]);
            if is_expected && !has_dissent { Ok(text) } else { Err(wrong()) }
        }
        ExpectedAggregate::Number(number, least_score) => {
            let is_expected =
                aggregate["answer"]["number"].as_f64().is_some_and(|found| (found - number).abs() <= 1.0);
            if is_expected && is_between([*least_score, 1.0]) { Ok(None) } else { Err(wrong()) }
        }
        // No document says which of several members is named.
        ExpectedAggregate::NotNumeric => {
            let error = &found["aggregation_failed"]["error"];
            if error.get("not_numeric").is_some() { Ok(None) } else { Err(wrong()) }
        }
    }
}
