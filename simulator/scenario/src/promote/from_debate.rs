//! A debate that another system recorded, as a scenario: five roles, one argument each, on one objective.
//!
//! The roles say the same in every pass, for a record holds one argument of each. What the record does not
//! tell, who the user was or what the stores did, is left to the scenario's defaults.

use super::record::{ArgumentRow, DebateRow, ExecutionRow, Places, Record, START};
use super::{PromoteError, Promotion, Target, origin, perform};
use crate::{
    ArgumentFile, ArgumentReply, DeadlinesFile, ModulesFile, PlannerAnswer, RepliesFile, RequestFile,
    RevisionFile, RevisionReply, ScenarioFile, Seed, TaskAnswer, TaskFile,
};
use miette::SourceSpan;
use orchestrion_kernel::module::Role;
use orchestrion_kernel::{Policy, Score, TaskId};
use orchestrion_yaml::{Decimal, LabeledError, ReadError, Source, Spanned, StrictText, nearest};
use std::collections::BTreeMap;

/// Who asks, where nobody wrote down who did.
const USER: &str = "user";

/// What a step's status is when its output can be taken for a task's.
const COMPLETED: &str = "COMPLETED";

/// Promotes a recorded debate. `file` is its path, as errors show it, and `text` what it holds.
///
/// # Errors
/// [`PromoteError`] if the text is no record of exactly one debate with one argument for each of the five
/// roles.
pub fn from_debate(file: &str, text: &str, target: &Target) -> Result<Promotion, PromoteError> {
    let source = Source::from_text(file, text)?;
    let places = Places(&source);
    let record = places.record()?;
    let debate = match record.debates.as_slice() {
        [debate] => debate,
        debates => return Err(places.error(not_one(places, debates)).into()),
    };
    let objective = places.text(debate.objective)?;
    let mut modules = voices(places, &record, debate.id.get())?;
    let notes = executed(places, &record.execution_traces, &mut modules)?;
    let mut about = format!("The debate {}, promoted from {}", shown(debate.id.get()), origin(file));
    if let Some(decision) = debate.consensus_decision {
        about = format!("{about}, where it was decided as {}", shown(decision.get()));
    }
    about.push('.');
    let scenario = ScenarioFile {
        about: StrictText::from(about),
        policy: None,
        conversation: None,
        user: StrictText::from(USER),
        seed: Seed::default(),
        deadlines: DeadlinesFile::default(),
        requests: vec![RequestFile::new(StrictText::from(objective))].into(),
        modules: modules.into(),
    };
    let (mut promotion, _) = perform(target, scenario, &Policy::hardened())?;
    promotion.notes = notes;
    Ok(promotion)
}

fn not_one(places: Places<'_>, debates: &[DebateRow<'_>]) -> LabeledError {
    let ids: Vec<String> = debates.iter().map(|debate| shown(debate.id.get())).collect();
    let message = match ids.len() {
        0 => "expected one debate, found none".to_string(),
        found => format!("expected one debate, found {found}: {}", ids.join(", ")),
    };
    let fault = LabeledError::new(message, "keep one debate in the file, with its arguments");
    if debates.is_empty() {
        return fault.at(SourceSpan::from(START), "in this record");
    }
    debates.iter().fold(fault, |fault, debate| fault.at(places.of(debate.id), ""))
}

/// The five roles and what each of them says.
fn voices(places: Places<'_>, record: &Record<'_>, debate: &str) -> Result<ModulesFile, ReadError> {
    let mut said: BTreeMap<Role, &ArgumentRow<'_>> = BTreeMap::new();
    for row in &record.arguments {
        if let Some(other) = row.debate_id.filter(|id| id.get() != debate) {
            let fault = LabeledError::new(
                format!(
                    "an argument belongs to the debate {}, which the file does not have",
                    shown(other.get())
                ),
                format!("remove the argument, or let it belong to the debate {}", shown(debate)),
            );
            return Err(places.error(fault.at(places.of(other), "another debate")));
        }
        let role = role(places, row)?;
        if let Some(first) = said.insert(role, row) {
            let fault =
                LabeledError::new(format!("two arguments of {role} in one debate"), "keep one of the two")
                    .at(places.of(first.agent_name), "the first")
                    .at(places.of(row.agent_name), "the second");
            return Err(places.error(fault));
        }
    }
    let missing: Vec<_> =
        Role::ALL.iter().filter(|role| !said.contains_key(role)).map(Role::to_string).collect();
    if !missing.is_empty() {
        let fault = LabeledError::new(
            format!("no argument of {}; expected one of each of the five roles", missing.join(", ")),
            "add to `arguments` what is missing; a role without a voice would decide nothing",
        );
        return Err(places.error(match record.arguments.last() {
            Some(last) => fault.at(places.of(last.agent_name), "the last argument"),
            None => fault.at(SourceSpan::from(START), "in this record"),
        }));
    }
    let mut modules = ModulesFile::default();
    for (role, row) in said {
        let (for_it, confidence) = (places.flag(row.is_pro)?, Decimal(confidence(places, row)?));
        let says = StrictText::from(places.text(row.argument)?);
        match role {
            Role::Analyst => modules.analyst = Some(voice(for_it, ArgumentFile { confidence, says })),
            Role::Critic => modules.critic = Some(voice(for_it, ArgumentFile { confidence, says })),
            Role::Security => modules.security = Some(voice(for_it, ArgumentFile { confidence, says })),
            Role::Solution => {
                modules.solution = Some(reviser(for_it, RevisionFile { confidence, says, plan: None }))
            }
            Role::Optimizer => {
                modules.optimizer = Some(reviser(for_it, RevisionFile { confidence, says, plan: None }));
            }
        }
    }
    Ok(modules)
}

fn voice(for_it: bool, file: ArgumentFile) -> RepliesFile<ArgumentReply> {
    RepliesFile::one(if for_it { ArgumentReply::Pro(file) } else { ArgumentReply::Con(file) })
}

fn reviser(for_it: bool, file: RevisionFile) -> RepliesFile<RevisionReply> {
    RepliesFile::one(if for_it { RevisionReply::Pro(file) } else { RevisionReply::Con(file) })
}

fn role(places: Places<'_>, row: &ArgumentRow<'_>) -> Result<Role, ReadError> {
    let name = places.text(row.agent_name)?;
    Role::ALL.into_iter().find(|role| role.to_string().eq_ignore_ascii_case(&name)).ok_or_else(|| {
        let names = Role::ALL.map(|role| role.to_string());
        let fault = LabeledError::new(
            format!("no role of the debate is called `{}`", name.escape_debug()),
            format!("{}the roles are {}", nearest(&name, names.iter().map(String::as_str)), names.join(", ")),
        );
        places.error(fault.at(places.of(row.agent_name), "not a role"))
    })
}

/// The confidence, from the digits that stand in the record.
fn confidence(places: Places<'_>, row: &ArgumentRow<'_>) -> Result<Score, ReadError> {
    let value = row.confidence_score;
    Score::from_decimal(value.get()).map_err(|error| {
        let fault = LabeledError::new(
            format!("{error}, found `{}`", value.get().escape_debug()),
            "write the confidence as a number from 0 to 1, such as 0.85, with at most six places",
        );
        places.error(fault.at(places.of(value), "not such a number"))
    })
}

/// What was run becomes the plan, and what it printed the tasks' output. Says which steps are left out.
fn executed(
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
                "The step `{}` is left out: its status is {}, expected {COMPLETED}.",
                name.escape_debug(),
                status.escape_debug(),
            ));
            continue;
        }
        plan.push(Spanned::from(TaskFile {
            task: task.number(),
            action: StrictText::from(name),
            undo: None,
            irreversible: false,
        }));
        if let Some(output) = row.output_data {
            modules
                .tasks
                .insert(task, RepliesFile::one(TaskAnswer::Ok(StrictText::from(places.text(output)?))));
        }
        task = task.next();
    }
    if !plan.is_empty() {
        modules.planner = Some(RepliesFile::one(PlannerAnswer::Plan(plan.into())));
    }
    Ok(notes)
}

/// A JSON value in a sentence: a text without its quotes, anything else as it stands.
fn shown(json: &str) -> String {
    let text = serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_string());
    text.escape_debug().to_string()
}
