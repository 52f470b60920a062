//! What scripted modules answer, call by call.
//!
//! A script is asked what the kernel asks. It never guesses for a voice of the debate, and never repeats a
//! list that is used up: both would hide that the run went another way than its writer thought.

use crate::yaml::{Fault, ReadError, Source};
use miette::{Diagnostic, LabeledSpan, SourceCode, SourceSpan};
use orchestrion_kernel::module::{Ask, Failure, Ratings, Report, Role, Store};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{Score, TaskId, Text};
use std::collections::BTreeMap;
use std::fmt;

/// How a scripted call ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With a report.
    Reply(Report),
    /// Without one.
    Fail(Failure),
}

/// A script was asked for something that it does not say. Reads as a sentence; drawn by miette at the place in
/// the scenario file.
#[derive(Debug)]
pub struct ScriptError(ReadError);

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for ScriptError {}

impl Diagnostic for ScriptError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help()
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source_code()
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.labels()
    }
}

/// Whose answers a roll holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Identity,
    Memory,
    Classifier,
    Planner,
    Voice(Role),
    Reread,
    Approver,
    Diagnosis,
    Task(TaskId),
    Undo(TaskId),
    Store(Store),
    Auditor,
}

impl Part {
    pub(crate) const fn of(ask: Ask) -> Self {
        match ask {
            Ask::VerifyIdentity => Self::Identity,
            Ask::LoadContext => Self::Memory,
            Ask::Classify => Self::Classifier,
            Ask::DraftPlan => Self::Planner,
            Ask::Argue(role) => Self::Voice(role),
            Ask::Reread => Self::Reread,
            Ask::Approve => Self::Approver,
            Ask::Diagnose => Self::Diagnosis,
            Ask::RunTask { task, .. } => Self::Task(task),
            Ask::UndoTask { task } => Self::Undo(task),
            Ask::Remember { store, .. } => Self::Store(store),
            Ask::DeliverAudit => Self::Auditor,
        }
    }

    /// The key under `modules` in a scenario file.
    fn key(self) -> String {
        match self {
            Self::Identity => "identity".into(),
            Self::Memory => "memory".into(),
            Self::Classifier => "classifier".into(),
            Self::Planner => "planner".into(),
            Self::Voice(role) => role.to_string().to_lowercase(),
            Self::Reread => "reread".into(),
            Self::Approver => "approver".into(),
            Self::Diagnosis => "diagnosis".into(),
            Self::Task(task) => format!("tasks.{task}"),
            Self::Undo(task) => format!("undo.{task}"),
            Self::Store(Store::Local) => "local_store".into(),
            Self::Store(Store::Cloud) => "cloud_store".into(),
            Self::Auditor => "auditor".into(),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => f.write_str("the identity guard was asked"),
            Self::Memory => f.write_str("the memory was asked"),
            Self::Classifier => f.write_str("the classifier was asked"),
            Self::Planner => f.write_str("the planner was asked"),
            Self::Voice(role) => write!(f, "the {} was asked", role.to_string().to_lowercase()),
            Self::Reread => f.write_str("security was asked to reread"),
            Self::Approver => f.write_str("the approver was asked"),
            Self::Diagnosis => f.write_str("the critic was asked for a diagnosis"),
            Self::Task(task) => write!(f, "task {task} was run"),
            Self::Undo(task) => write!(f, "task {task} was undone"),
            Self::Store(store) => write!(f, "the {store} was asked"),
            Self::Auditor => f.write_str("the auditor was asked"),
        }
    }
}

/// The answers of one part, and how many of them were used.
#[derive(Clone, Debug)]
pub(crate) struct Roll {
    pub(crate) answers: Vec<Answer>,
    /// A single answer is given every time; a list is used in order.
    pub(crate) repeats: bool,
    /// Where the answers start, and where the last of them does.
    pub(crate) spans: (Option<SourceSpan>, Option<SourceSpan>),
    pub(crate) asked: usize,
}

/// The answers of all scripted modules, and how far they were used.
#[derive(Clone, Debug)]
pub struct Script {
    source: Source,
    /// Where the modules start, or the requests of a scenario without any.
    modules: Option<SourceSpan>,
    rolls: BTreeMap<Part, Roll>,
}

impl Script {
    pub(crate) fn new(source: Source, modules: Option<SourceSpan>, rolls: BTreeMap<Part, Roll>) -> Self {
        Self { source, modules, rolls }
    }

    /// What the module that is asked answers. `request_text` is what the user asked for: the plan of a planner
    /// that is not scripted.
    ///
    /// # Errors
    /// [`ScriptError`] if a list of answers is used up, or a voice of the debate has none.
    pub fn answer(&mut self, ask: Ask, request_text: &Text) -> Result<Answer, ScriptError> {
        let part = match Part::of(ask) {
            Part::Reread if !self.rolls.contains_key(&Part::Reread) => Part::Voice(Role::Security),
            part => part,
        };
        let fault = match self.rolls.get_mut(&part) {
            Some(roll) => {
                let place = if roll.repeats { 0 } else { roll.asked };
                roll.asked = roll.asked.saturating_add(1);
                match roll.answers.get(place) {
                    Some(answer) => return Ok(answer.clone()),
                    None => used_up(part, roll),
                }
            }
            None => match unscripted(ask, request_text) {
                Some(report) => return Ok(Answer::Reply(report)),
                None => self.silent(part),
            },
        };
        Err(ScriptError(ReadError::in_source(&self.source, fault)))
    }

    fn silent(&self, part: Part) -> Fault {
        let key = part.key();
        Fault::new(
            format!("{part}, but the scenario does not say what it answers"),
            format!("add it under `modules`, as in `{key}: {{pro: {{confidence: 0.9}}}}`"),
        )
        .at(self.modules, format!("no `{key}` under `modules`"))
    }
}

/// Ends the sentence that [`Part`] begins.
fn used_up(part: Part, roll: &Roll) -> Fault {
    let (asked, has) = (Ordinal(roll.asked), roll.answers.len());
    let plural = if has == 1 { "answer" } else { "answers" };
    let key = part.key();
    let (start, last) = roll.spans;
    Fault::new(
        format!("{part} a {asked} time, its script has {has} {plural}"),
        format!("add a {asked} answer to `modules.{key}`, or write one answer without a list: it repeats"),
    )
    .at(start, format!("`{key}` has {has} {plural}"))
    .at(last.filter(|_| last != start), "the last one")
}

/// What a module that the scenario leaves out answers; none for the voices of the debate.
pub(crate) fn unscripted(ask: Ask, request_text: &Text) -> Option<Report> {
    let nothing = || Text::from("");
    Some(match ask {
        Ask::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Ask::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Ask::Classify => Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
        Ask::DraftPlan => {
            let task = Task { id: TaskId::FIRST, text: request_text.clone(), effect: Effect::Pure };
            Report::Plan(Plan::new(vec![task]).ok()?)
        }
        Ask::Argue(_) | Ask::Reread => return None,
        Ask::Approve => Report::Approval { approved: true, text: nothing() },
        Ask::RunTask { .. } | Ask::UndoTask { .. } => Report::Exit { code: 0, text: nothing() },
        Ask::Diagnose => Report::NoRepair { text: nothing() },
        Ask::Remember { .. } => Report::Stored { held: true },
        Ask::DeliverAudit => Report::Delivered,
    })
}

/// 1st, 2nd, 3rd, 4th, 11th.
struct Ordinal(usize);

impl fmt::Display for Ordinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match (self.0 % 10, self.0 % 100) {
            (_, 11..=13) => "th",
            (1, _) => "st",
            (2, _) => "nd",
            (3, _) => "rd",
            _ => "th",
        };
        write!(f, "{}{ending}", self.0)
    }
}
