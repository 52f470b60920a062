//! The context of a pending call (000 §5, 003 §7, decision 0024): candidates, sections, costs, utilities and text.

use super::compaction::{SUMMARY, request_of};
use super::conversation::ExpectedConversation;
use super::encoding::{OracleOperation, Role};
use super::facts::persists;
use super::fold::{Entry, Fold};
use super::selection::{Candidate, Problem};
use super::visible_items::{largest_closed_subset, readable_ids};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The headings of the sections, in their order (003-7.1 to 003-7.4). The situation follows as the last section.
const HEADINGS: [&str; 4] = ["Identity", "Environment", "Facts", "Working set"];
const IDENTITY: usize = 0;
const ENVIRONMENT: usize = 1;
const FACTS: usize = 2;
const WORKING_SET: usize = 3;

/// The context that a module must receive.
#[derive(Clone, Debug)]
pub(super) struct ExpectedContext {
    problem: Problem,
    /// The tokens of the payload, which every selection leaves room for (decision 0033).
    payload_tokens: u64,
    /// The first line of the environment section (003-4.5, decision 0036).
    time: Option<String>,
    /// The text of the last section, for modules that reason.
    situation: Option<String>,
}

/// A context of the kernel under test.
#[derive(Clone, Debug)]
pub(super) struct ObservedContext {
    pub(super) ids: Vec<u64>,
    pub(super) cost_tokens: u64,
    pub(super) payload_tokens: u64,
    pub(super) text: String,
    pub(super) utility: u64,
    /// The proven limit of the utility of any selection.
    pub(super) bound: u64,
    /// Whether the selection is stated to be optimal.
    pub(super) is_proven: bool,
}

/// Pinned content and payload that exceed the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverBudget {
    pub(super) required_tokens: u64,
    pub(super) budget_tokens: u64,
}

impl ExpectedContext {
    /// Returns the context of an operation for the present S.
    pub(super) fn new(expected: &ExpectedConversation, semantic: &Fold, operation: OracleOperation) -> Self {
        let limits = &expected.policy.situation;
        let mode = limits.mode(operation).filter(|_| !expected.situation.is_empty());
        let situation = mode.map(|mode| expected.situation.build_reasoning_context(limits, mode));
        let is_summarizer = operation == OracleOperation::Summarize;
        // Decision 0021: the summarizer receives the cluster, whatever its items depend on.
        let readable = if is_summarizer {
            expected.request.cluster.clone()
        } else {
            let scope = expected.call_scope(operation);
            let mut readable = readable_ids(semantic, expected.session.as_deref(), &scope);
            // Decision 0030: a policy excludes the facts that need review.
            readable.retain(|id| expected.policy.contexts.needs_review || !needs_review(semantic, *id));
            readable
        };
        let closed =
            if is_summarizer { readable.clone() } else { largest_closed_subset(semantic, readable.clone()) };
        let candidate = |(index, id): (usize, &u64)| {
            let entry = semantic.get(*id).filter(|_| closed.contains(id))?;
            let is_situation = entry.is_situation() && situation.is_some();
            let line =
                format!("[{id}] {}: {}\n", label(entry, expected.policy.contexts.provenance), entry.text);
            let candidate = Candidate {
                section: (!is_situation).then(|| section(entry, expected.requests)),
                cost: if is_situation { 0 } else { tokens(&line) },
                line,
                utility: utility(expected, operation, entry, readable.len() - index),
                is_pinned: is_summarizer || is_situation || is_pinned(expected, operation, entry),
                deps: if is_summarizer { Vec::new() } else { entry.deps.clone() },
            };
            Some((*id, candidate))
        };
        let shows_time = expected.policy.contexts.provenance
            && semantic.now > 0
            && operation != OracleOperation::Summarize;
        let time = shows_time.then(|| format!("time: {}\n", iso_8601(semantic.now)));
        let heading_cost = |(index, name): (usize, &&str)| match &time {
            // It is part of every selection.
            Some(_) if index == ENVIRONMENT => 0,
            _ => tokens(&format!("\n# {name}\n")),
        };
        let time_cost = time.as_ref().map_or(0, |line| tokens(&format!("\n# Environment\n{line}")));
        let situation_cost =
            situation.as_ref().map_or(0, |text| tokens(&format!("\n{}", situation_section(text))));
        let payload_tokens = expected.payload(operation).map_or(0, |payload| tokens(&payload.to_string()));
        let problem = Problem {
            budget: expected.policy.contexts.token_limit(&operation.module()),
            base_cost: time_cost + situation_cost + payload_tokens,
            heading_costs: HEADINGS.iter().enumerate().map(heading_cost).collect(),
            candidates: readable.iter().enumerate().filter_map(candidate).collect(),
        };
        Self { problem, payload_tokens, time, situation }
    }

    /// Returns the tokens of the pinned content with the payload and the budget, if the budget is less.
    pub(super) fn over_budget(&self) -> Option<OverBudget> {
        let required_tokens = self.problem.cost(&self.problem.required());
        let budget_tokens = self.problem.budget;
        (required_tokens > budget_tokens).then_some(OverBudget { required_tokens, budget_tokens })
    }

    /// Checks a context of the kernel. If the candidates are too many to enumerate, only necessary conditions of the
    /// optimum are checked.
    pub(super) fn check(&self, observed: &ObservedContext) -> Result<(), String> {
        let problem = &self.problem;
        let selected: BTreeSet<u64> = observed.ids.iter().copied().collect();
        if !observed.ids.is_sorted_by(|a, b| a < b) {
            return Err(format!("context ids not in order: {:?}", observed.ids));
        }
        if let Some(id) = selected.iter().find(|id| problem.get(**id).is_none()) {
            return Err(format!("item {id} is not a candidate of the context: found {selected:?}"));
        }
        let closure = problem.closure(selected.iter().copied());
        if selected != closure {
            return Err(format!("context not closed: expected {closure:?}, found {selected:?} (000-5.7)"));
        }
        let required = problem.required();
        if !required.is_subset(&selected) {
            return Err(format!("context lacks pinned items: expected {required:?}, found {selected:?}"));
        }
        let utility = problem.utility(&selected);
        expect_equal("utility of the context", &utility, &observed.utility)?;
        let text = self.text(&selected);
        expect_equal("text of the context", &text, &observed.text)?;
        // 000-5.13: the joined text is counted again, and fits.
        expect_equal("cost of the context", &tokens(&text), &observed.cost_tokens)?;
        expect_equal("tokens of the payload", &self.payload_tokens, &observed.payload_tokens)?;
        let cost = problem.cost(&selected).max(observed.cost_tokens + self.payload_tokens);
        if cost > problem.budget {
            return Err(format!("call over budget: expected at most {}, found {cost}", problem.budget));
        }
        if observed.is_proven {
            expect_equal("bound of a proven context", &utility, &observed.bound)?;
        }
        let Some(optimum) = problem.optimum() else {
            return self.check_without_optimum(&selected, observed);
        };
        if !observed.is_proven {
            let best = problem.utility(&optimum);
            return if (utility..=observed.bound).contains(&best) {
                Ok(())
            } else {
                Err(format!("wrong bound: expected from {best}, found {utility} to {}", observed.bound))
            };
        }
        if selected != optimum {
            return Err(format!(
                "wrong context: expected {optimum:?}, found {selected:?} (000-5.9); {cost} tokens of {}",
                problem.budget
            ));
        }
        Ok(())
    }

    /// Checks conditions that every selection with this bound fulfils, where the candidates are too many to enumerate.
    fn check_without_optimum(
        &self,
        selected: &BTreeSet<u64>,
        observed: &ObservedContext,
    ) -> Result<(), String> {
        let (utility, bound) = (self.problem.utility(selected), observed.bound);
        let greedy = self.problem.utility(&self.problem.greedy());
        // A search that found no proof may also miss what the greedy rule finds, but not exclude it.
        let is_worse = if observed.is_proven { greedy > utility } else { greedy > bound };
        if utility > bound || is_worse {
            return Err(format!(
                "wrong utility of the context: expected from {greedy} (greedy) to {bound} (bound), found {utility}"
            ));
        }
        match self.problem.improvement(selected).filter(|_| observed.is_proven) {
            Some(better) => Err(format!("context not optimal: {better:?} is better than {selected:?}")),
            None => Ok(()),
        }
    }

    /// Returns the text of a selection: the sections, separated by empty lines (000-5.11, 003-7.5).
    fn text(&self, selected: &BTreeSet<u64>) -> String {
        let mut sections = Vec::new();
        for (index, heading) in HEADINGS.iter().enumerate() {
            let lines: String = selected
                .iter()
                .filter_map(|id| self.problem.get(*id))
                .filter(|candidate| candidate.section == Some(index))
                .map(|candidate| candidate.line.as_str())
                .collect();
            let time = self.time.as_deref().filter(|_| index == ENVIRONMENT).unwrap_or_default();
            if !lines.is_empty() || !time.is_empty() {
                sections.push(format!("# {heading}\n{time}{lines}"));
            }
        }
        sections.extend(self.situation.as_deref().map(situation_section));
        sections.join("\n")
    }
}

fn expect_equal<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("wrong {what}: expected {expected:?}, found {found:?}"))
    }
}

/// Returns the number of tokens of a text: four bytes each, rounded up (decision 0024).
fn tokens(text: &str) -> u64 {
    u64::try_from(text.len().div_ceil(4)).unwrap_or(u64::MAX)
}

fn situation_section(text: &str) -> String {
    format!("# Situation\n{text}\n")
}

/// Returns whether the kernel must include the item (003-7.1, 003-7.2, decision 0024).
fn is_pinned(expected: &ExpectedConversation, operation: OracleOperation, entry: &Entry) -> bool {
    let is_review = operation == OracleOperation::Argue(Role::Solution)
        && expected
            .request
            .pinned_reviews
            .iter()
            .any(|role| entry.item["key"] == json!({ "argument": [expected.requests, role] }));
    let section = section(entry, expected.requests);
    section == IDENTITY || section == ENVIRONMENT || entry.key == expected.request_key() || is_review
}

/// Returns the index of the section of an item (decision 0024).
fn section(entry: &Entry, request: u32) -> usize {
    let layer = &entry.item["layer"];
    let is_earlier = layer.get("request").is_some() && request_of(entry) != Some(u64::from(request));
    if layer.get("identity").is_some() {
        IDENTITY
    } else if layer == "environment" {
        ENVIRONMENT
    } else if layer.get("fact").is_some() || is_earlier && persists(entry) {
        FACTS
    } else {
        WORKING_SET
    }
}

/// Returns the utility of an item in millionths (decision 0024): the weight of its topic, times one plus `recency` divided by
/// its age class. The share and its product are rounded down, the utility up. The byte estimate of tokens has no relevance.
fn utility(expected: &ExpectedConversation, operation: OracleOperation, entry: &Entry, age: usize) -> u64 {
    const ONE: u64 = 1_000_000;
    let mut age_class = 1;
    while age >> age_class > 0 {
        age_class += 1;
    }
    let factor = ONE + u64::from(expected.policy.contexts.recency) * (ONE / age_class) / ONE;
    let (module, topic) = (operation.module(), topic(entry));
    let own = expected.policy.contexts.override_for(&module);
    let weight = own.and_then(|settings| settings.weights.get(topic).copied());
    let weight = weight.unwrap_or_else(|| default_weight(&module, topic));
    (u64::from(weight) * factor).div_ceil(ONE)
}

/// Returns the topic of an item, for which a policy has weights: the kind of its key, but any constraint is one.
fn topic(entry: &Entry) -> &str {
    let key = &entry.item["key"];
    let kind = key.as_object().and_then(|key| key.keys().next()).map(String::as_str);
    match kind.or(key.as_str()).unwrap_or_default() {
        _ if entry.item["kind"].get("constraint").is_some() => "constraint",
        "additional_argument" => "argument", // decision 0039
        "aggregate" => "output",             // decision 0042: "an item that later tasks read"
        kind => kind,
    }
}

/// Returns the weight of a topic for a module in millionths, if the policy has no other (decision 0024).
fn default_weight(module: &Value, topic: &str) -> u32 {
    let role = |role: Role| *module == json!({ "debater": role });
    let hundredths = match topic {
        "constraint" if role(Role::Security) => 600,
        "constraint" if module == "planner" => 400,
        "constraint" => 300,
        "fact" if role(Role::Analyst) || role(Role::Security) => 200,
        "summary" => 200,
        "trace" if module == "planner" || role(Role::Analyst) => 150,
        "tags" if role(Role::Analyst) => 150,
        "trace" | "tags" | "approval" => 50,
        "task" if module == "executor" => 400,
        "task" if role(Role::Critic) || role(Role::Optimizer) => 300,
        "task" if role(Role::Solution) => 200,
        "output" if module == "executor" => 300,
        "output" if role(Role::Critic) => 200,
        "argument" if role(Role::Critic) || role(Role::Optimizer) => 200,
        "diagnosis" if role(Role::Solution) => 200,
        _ => 100,
    };
    hundredths * 10_000
}

/// Returns the label of an item in its line (decision 0024): its key in words, and in parentheses its status, its provenance
/// (decision 0029) and its review flag.
fn label(entry: &Entry, provenance: bool) -> String {
    let kind = &entry.item["kind"];
    let prefix = match &kind["constraint"] {
        Value::String(of) => format!("{of} constraint, "),
        _ if kind.get("constraint").is_some() => "constraint, ".to_owned(),
        _ => String::new(),
    };
    let mut details: Vec<String> = Vec::new();
    details.extend(kind["subtask"].as_str().map(|status| status.replace('_', " ")));
    let layer = &entry.item["layer"];
    let texts = |of: &Value, names: &[&str]| -> Vec<String> {
        let texts = names.iter().filter_map(|name| of[*name].as_str());
        texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
    };
    if let Some(identity) = layer.get("identity").filter(|_| provenance) {
        details.extend(texts(identity, &["authority", "rank", "department", "organization"]));
        // An authority that is a rank is named once.
        if identity["authority"] == identity["rank"] {
            details.remove(0);
        }
        let permissions = identity["permissions"].as_array().into_iter().flatten();
        details.extend(permissions.filter_map(Value::as_str).map(|name| format!("may {name}")));
    }
    if let Some(fact) = layer.get("fact").filter(|_| provenance) {
        details.extend(texts(&fact["source"], &["name", "rank"]));
        if fact["source"]["name"] == fact["source"]["rank"] {
            details.remove(0);
        }
        let time = fact["established_at"].as_u64().filter(|time| *time > 0);
        details.extend(time.map(iso_8601));
    }
    // Decision 0037: the scope, if it has a name.
    let scope = entry.scope();
    let named = scope.as_object().and_then(|scope| scope.iter().next()).filter(|_| provenance);
    details.extend(named.map(|(kind, name)| format!("{kind} {}", name.as_str().unwrap_or_default())));
    if entry.item["validity"] == "needs_review" {
        details.push("needs review".to_owned());
    }
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    format!("{prefix}{}{details}", key_label(entry))
}

/// Whether the item is a persistent fact that needs review.
fn needs_review(semantic: &Fold, id: u64) -> bool {
    let is_in_review =
        |item: &Value| item["validity"] == "needs_review" && item["layer"].get("fact").is_some();
    semantic.get(id).is_some_and(|entry| is_in_review(&entry.item))
}

/// Returns a time in milliseconds since 1970 as ISO 8601, by counting the days of years and months.
fn iso_8601(time: u64) -> String {
    let (mut days, ms) = (time / 86_400_000, time % 86_400_000);
    let (mut year, mut month) = (1970_u64, 1_u64);
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days_of = |year: u64, month: u64| match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    while days >= days_of(year, month) {
        days -= days_of(year, month);
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
    let fraction = if ms.is_multiple_of(1000) { String::new() } else { format!(".{:03}", ms % 1000) };
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{:02}T{hours:02}:{minutes:02}:{seconds:02}{fraction}Z", days + 1)
}

fn key_label(entry: &Entry) -> String {
    if entry.key == SUMMARY {
        return "summary".to_owned();
    }
    let key = &entry.item["key"];
    let Some((kind, of)) = key.as_object().and_then(|key| key.iter().next()) else {
        return key.as_str().unwrap_or_default().to_owned();
    };
    let name = of.as_str().unwrap_or_default();
    match kind.as_str() {
        "request" => format!("request {of}"),
        "final_answer" => format!("final answer to request {of}"),
        "trace" => {
            let conversation = of["conversation"].as_str().unwrap_or_default();
            format!("past trace {conversation}/{}", of["request"])
        }
        "tags" => format!("tags of request {of}"),
        "task" => format!("task {} of request {}", of[1], of[0]),
        "output" => format!("output of task {} of request {}", of[1], of[0]),
        "argument" => {
            let role = of[1].as_str().unwrap_or_default();
            let (first, rest) = role.split_at(role.len().min(1));
            format!("{}{rest} on request {}", first.to_uppercase(), of[0])
        }
        "additional_argument" => {
            format!("{} on request {}", of[1].as_str().unwrap_or_default(), of[0])
        }
        "diagnosis" => format!("diagnosis of request {of}"),
        "approval" => format!("approval of request {of}"),
        "aggregate" => format!("aggregate of request {of}"),
        "working" => format!("working item {name}"),
        kind => format!("{kind} {name}"),
    }
}
