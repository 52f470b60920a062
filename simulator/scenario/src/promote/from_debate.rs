//! Promotes a recorded debate of another system: five roles, one argument each, one objective.
//!
//! Each role repeats its argument in every pass. What the record does not contain, such as the user and the stores, has
//! the scenario's default.

use super::record::{ArgumentRow, DebateRow, ExecutionRow, Places, Record, START};
use super::{PromoteError, Promotion, RunPolicy, Target, origin, run_promotion};
use crate::policy_file::EnumName;
use crate::{
    ArgumentFile, ArgumentReply, DeadlinesFile, ModulesFile, PlanForm, PlannerReply, RepliesFile,
    RequestFile, RevisionFile, RevisionReply, ScenarioExpectFile, ScenarioFile, Seed, TaskFile, TaskReply,
};
use miette::SourceSpan;
use orchestrion_kernel::module::Role;
use orchestrion_kernel::{Policy, Score, TaskId};
use orchestrion_yaml::{
    LabeledError, MeasuredScore, ReadError, Source, Spanned, StrictText, suggest_nearest,
};
use std::collections::BTreeMap;

/// The user of the promoted request.
const USER: &str = "user";

/// The status of a step whose output is the output of a task.
const COMPLETED: &str = "COMPLETED";

/// Promotes a recorded debate. `file` is its path for errors, `text` its content.
///
/// # Errors
/// [`PromoteError`] if the text is not the record of exactly one debate with one argument of each role.
pub fn from_debate(file: &str, text: &str, target: &Target) -> Result<Promotion, PromoteError> {
    let source = Source::from_text(file, text)?;
    let places = Places(&source);
    let record = places.record()?;
    let debate = match record.debates.as_slice() {
        [debate] => debate,
        debates => return Err(places.error(debate_count_error(places, debates)).into()),
    };
    let objective = places.text(debate.objective)?;
    let mut modules = debaters(places, &record, debate.id.get())?;
    let notes = add_plan(places, &record.execution_traces, &mut modules)?;
    let mut description = format!("Debate {}, promoted from {}", unquoted(debate.id.get()), origin(file));
    if let Some(decision) = debate.consensus_decision {
        description = format!("{description}; recorded decision: {}", unquoted(decision.get()));
    }
    description.push('.');
    let scenario = ScenarioFile {
        description: StrictText::from(description),
        policy: None,
        conversation: None,
        user: StrictText::from(USER),
        identity: None,
        starts_at: None,
        network: None,
        handoffs: Spanned::default(),
        expect: ScenarioExpectFile::default(),
        script: EnumName::default(),
        golden: None,
        seed: Seed::default(),
        deadlines: DeadlinesFile::default(),
        requests: vec![RequestFile::new(StrictText::from(objective))].into(),
        modules: modules.into(),
    };
    let (mut promotion, _) = run_promotion(target, scenario, &RunPolicy::Pinned(Policy::hardened()))?;
    promotion.notes = notes;
    Ok(promotion)
}

fn debate_count_error(places: Places<'_>, debates: &[DebateRow<'_>]) -> LabeledError {
    let ids: Vec<String> = debates.iter().map(|debate| unquoted(debate.id.get())).collect();
    let message = match ids.len() {
        0 => "expected one debate, found none".to_string(),
        found => format!("expected one debate, found {found}: {}", ids.join(", ")),
    };
    let error = LabeledError::new(message, "keep one debate and its arguments in the file");
    if debates.is_empty() {
        return error.with_label(SourceSpan::from(START), "in this record");
    }
    debates.iter().fold(error, |error, debate| error.with_label(places.of(debate.id), ""))
}

/// Returns the modules of the five roles.
fn debaters(places: Places<'_>, record: &Record<'_>, debate: &str) -> Result<ModulesFile, ReadError> {
    let mut arguments: BTreeMap<Role, &ArgumentRow<'_>> = BTreeMap::new();
    for row in &record.arguments {
        if let Some(other) = row.debate_id.filter(|id| id.get() != debate) {
            let error = LabeledError::new(
                format!(
                    "argument of another debate: expected {}, found {}",
                    unquoted(debate),
                    unquoted(other.get())
                ),
                "remove the argument, or correct its `debate_id`",
            );
            return Err(places.error(error.with_label(places.of(other), "another debate")));
        }
        let role = role(places, row)?;
        if let Some(first) = arguments.insert(role, row) {
            let error = LabeledError::new(format!("duplicate argument of {role}"), "keep one of the two")
                .with_label(places.of(first.agent_name), "first argument")
                .with_label(places.of(row.agent_name), "second argument");
            return Err(places.error(error));
        }
    }
    let missing: Vec<_> =
        Role::ALL.iter().filter(|role| !arguments.contains_key(role)).map(Role::to_string).collect();
    if !missing.is_empty() {
        let error = LabeledError::new(
            format!("missing argument of {}: expected one argument of each role", missing.join(", ")),
            "add the arguments to `arguments`; a missing argument blocks the request",
        );
        return Err(places.error(match record.arguments.last() {
            Some(last) => error.with_label(places.of(last.agent_name), "last argument"),
            None => error.with_label(SourceSpan::from(START), "in this record"),
        }));
    }
    let mut modules = ModulesFile::default();
    for (role, row) in arguments {
        let (is_pro, confidence) = (places.flag(row.is_pro)?, MeasuredScore(confidence(places, row)?));
        let text = StrictText::from(places.text(row.argument)?);
        match role {
            Role::Analyst => modules.analyst = Some(argument(is_pro, ArgumentFile { confidence, text })),
            Role::Critic => modules.critic = Some(argument(is_pro, ArgumentFile { confidence, text })),
            Role::Security => modules.security = Some(argument(is_pro, ArgumentFile { confidence, text })),
            Role::Solution => {
                modules.solution = Some(revision(is_pro, RevisionFile { confidence, text, plan: None }))
            }
            Role::Optimizer => {
                modules.optimizer = Some(revision(is_pro, RevisionFile { confidence, text, plan: None }));
            }
        }
    }
    Ok(modules)
}

fn argument(is_pro: bool, file: ArgumentFile) -> RepliesFile<ArgumentReply> {
    RepliesFile::one(if is_pro { ArgumentReply::Pro(file) } else { ArgumentReply::Con(file) })
}

fn revision(is_pro: bool, file: RevisionFile) -> RepliesFile<RevisionReply> {
    RepliesFile::one(if is_pro { RevisionReply::Pro(file) } else { RevisionReply::Con(file) })
}

fn role(places: Places<'_>, row: &ArgumentRow<'_>) -> Result<Role, ReadError> {
    let name = places.text(row.agent_name)?;
    Role::ALL.into_iter().find(|role| role.to_string().eq_ignore_ascii_case(&name)).ok_or_else(|| {
        let names = Role::ALL.map(|role| role.to_string());
        let error = LabeledError::new(
            format!("unknown role `{}`", name.escape_debug()),
            format!(
                "{}the roles are {}",
                suggest_nearest(&name, names.iter().map(String::as_str)),
                names.join(", ")
            ),
        );
        places.error(error.with_label(places.of(row.agent_name), "unknown"))
    })
}

/// Parses the confidence from the digits of the record.
fn confidence(places: Places<'_>, row: &ArgumentRow<'_>) -> Result<Score, ReadError> {
    let value = row.confidence_score;
    Score::from_decimal(value.get()).map_err(|error| {
        let error = LabeledError::new(
            format!("{error}, found `{}`", value.get().escape_debug()),
            "write the confidence as a number from 0 to 1, such as 0.85, with at most six places",
        );
        places.error(error.with_label(places.of(value), "invalid confidence"))
    })
}

/// Adds the executed steps as the plan, and their outputs as task replies. Returns a note for each omitted step.
fn add_plan(
    places: Places<'_>,
    rows: &[ExecutionRow<'_>],
    modules: &mut ModulesFile,
) -> Result<Vec<String>, ReadError> {
    let (mut plan, mut notes) = (Vec::new(), Vec::new());
    let mut task = TaskId::FIRST;
    for row in rows {
        let (name, status) = (places.text(row.step_name)?, places.text(row.status)?);
        if status != COMPLETED {
            notes.push(format!(
                "Omitted step `{}`: expected status {COMPLETED}, found {}.",
                name.escape_debug(),
                status.escape_debug(),
            ));
            continue;
        }
        plan.push(Spanned::from(TaskFile::new(task.number(), StrictText::from(name))));
        if let Some(output) = row.output_data {
            modules
                .tasks
                .insert(task, RepliesFile::one(TaskReply::Ok(StrictText::from(places.text(output)?))));
        }
        task = task.next();
    }
    if !plan.is_empty() {
        modules.planner = Some(RepliesFile::one(PlannerReply::Plan(PlanForm::from(plan).into())));
    }
    Ok(notes)
}

/// Returns a JSON value without the quotes of a string.
fn unquoted(json: &str) -> String {
    let text = serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_string());
    text.escape_debug().to_string()
}
