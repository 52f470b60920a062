//! What a scenario file means: kernel words, with everything checked that its form alone does not settle.

use super::answers::{
    ApproverAnswer, ArgumentFile, AuditorAnswer, ClassifierAnswer, DiagnosisAnswer, IdentityAnswer,
    MemoryAnswer, PlanFile, PlannerAnswer, RatingFile, RatingsFile, ReviserAnswer, RevisionFile, StoreAnswer,
    TaskAnswer, TaskFile, VoiceAnswer,
};
use super::format::{ModulesFile, RequestFile, ScenarioFile};
use super::names::{ByTask, PhaseName, Visit};
use super::one_or_many::OneOrMany;
use super::{Incident, Moment, RequestScript, Scenario};
use crate::policy_file;
use crate::script::{Answer, Part, Roll, Script};
use crate::yaml::{At, Fault, ReadError, Source};
use orchestrion_kernel::module::{Argument, PastTrace, Rating, Ratings, Report, Role, Stance, Store};
use orchestrion_kernel::plan::{Effect, Plan, PlanError, Task};
use orchestrion_kernel::{ConversationId, Policy, RequestId, TaskId, TraceId, UserId};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a scenario.
pub(super) fn scenario(source: Source, base_dir: &Path) -> Result<Scenario, ReadError> {
    let file: ScenarioFile = source.parse()?;
    let policy = match &file.policy {
        None => Policy::hardened(),
        Some(policy) => policy_file::look_up(policy.value.as_str(), base_dir)
            .map_err(|problem| problem.drawn_in(&source, policy.span(), "named here"))?,
    };
    meaning(source, &file, policy)
}

/// Reads a scenario under a policy that is at hand, whatever the file names.
pub(super) fn scenario_under(source: Source, policy: Policy) -> Result<Scenario, ReadError> {
    let file: ScenarioFile = source.parse()?;
    meaning(source, &file, policy)
}

fn meaning(source: Source, file: &ScenarioFile, policy: Policy) -> Result<Scenario, ReadError> {
    let path = Path::new(source.name());
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let script = script(&source, file).map_err(|fault| ReadError::in_source(&source, fault))?;
    let conversation = file.conversation.as_ref().map_or(name.as_str(), |name| name.as_str());
    Ok(Scenario {
        about: file.about.as_str().to_owned(),
        policy,
        conversation: ConversationId::new(conversation),
        user: UserId::new(file.user.text()),
        requests: file.requests.value.iter().map(request).collect(),
        script,
        name,
        source,
    })
}

fn request(file: &RequestFile) -> RequestScript {
    let at = |when: &PhaseName, visit: &Visit| Moment { when: when.0, visit: visit.0.get() };
    let interrupt =
        file.interrupt.as_ref().map(|f| (at(&f.when, &f.visit), Incident::Interrupt(f.says.text())));
    let crash = file.crash.as_ref().map(|f| (at(&f.when, &f.visit), Incident::Crash));
    let cancel = file.cancel.as_ref().map(|f| (at(&f.when, &f.visit), Incident::Cancel));
    RequestScript {
        says: file.says.text(),
        incidents: [interrupt, crash, cancel].into_iter().flatten().collect(),
    }
}

fn script(source: &Source, file: &ScenarioFile) -> Result<Script, Fault> {
    if file.requests.value.is_empty() {
        return Err(Fault::new("a scenario needs at least one request", "add `- says: …` under `requests`")
            .at(file.requests.span(), "no request"));
    }
    let m = &file.modules.value;
    let mut rolls = Rolls::default();
    rolls.put(Part::Identity, m.identity.as_ref(), identity)?;
    rolls.put(Part::Memory, m.memory.as_ref(), memory)?;
    rolls.put(Part::Classifier, m.classifier.as_ref(), classifier)?;
    rolls.put(Part::Planner, m.planner.as_ref(), planner)?;
    rolls.put(Part::Voice(Role::Analyst), m.analyst.as_ref(), voice)?;
    rolls.put(Part::Voice(Role::Solution), m.solution.as_ref(), reviser)?;
    rolls.put(Part::Voice(Role::Critic), m.critic.as_ref(), voice)?;
    rolls.put(Part::Voice(Role::Security), m.security.as_ref(), voice)?;
    rolls.put(Part::Voice(Role::Optimizer), m.optimizer.as_ref(), reviser)?;
    rolls.put(Part::Reread, m.reread.as_ref(), voice)?;
    rolls.put(Part::Approver, m.approver.as_ref(), approver)?;
    rolls.put(Part::Diagnosis, m.diagnosis.as_ref(), diagnosis)?;
    rolls.put(Part::Store(Store::Local), m.local_store.as_ref(), store)?;
    rolls.put(Part::Store(Store::Cloud), m.cloud_store.as_ref(), store)?;
    rolls.put(Part::Auditor, m.auditor.as_ref(), auditor)?;
    let planned = rolls.planned(m);
    rolls.put_tasks(&m.tasks, &planned, Part::Task)?;
    rolls.put_tasks(&m.undo, &planned, Part::Undo)?;
    let place = file.modules.span().or(file.requests.span());
    Ok(Script::new(source.clone(), place, rolls.0))
}

/// The tasks of every plan that the scenario may bring, and whether one of them declares a compensation.
type Planned = BTreeMap<TaskId, bool>;

#[derive(Default)]
struct Rolls(BTreeMap<Part, Roll>);

impl Rolls {
    fn put<T>(
        &mut self,
        part: Part,
        answers: Option<&OneOrMany<T>>,
        meaning: impl Fn(&T) -> Result<Answer, Fault>,
    ) -> Result<(), Fault> {
        let Some(written) = answers else { return Ok(()) };
        let answers = written.answers().iter().map(|answer| meaning(&answer.value));
        let start = match written {
            OneOrMany::One(answer) => answer.span(),
            OneOrMany::Many(answers) => answers.span(),
        };
        let roll = Roll {
            answers: answers.collect::<Result<_, _>>()?,
            repeats: matches!(written, OneOrMany::One(_)),
            spans: (start, written.answers().last().and_then(At::span)),
            asked: 0,
        };
        self.0.insert(part, roll);
        Ok(())
    }

    fn planned(&self, modules: &ModulesFile) -> Planned {
        let mut planned = Planned::new();
        if modules.planner.is_none() {
            planned.insert(TaskId::FIRST, false);
        }
        for answer in self.0.values().flat_map(|roll| &roll.answers) {
            let Answer::Reply(report) = answer else { continue };
            for task in report.plan().map_or(&[][..], Plan::tasks) {
                *planned.entry(task.id).or_default() |= matches!(task.effect, Effect::Undoable { .. });
            }
        }
        planned
    }

    /// Answers of tasks. Those of a task that no plan has would never be used, so its number is a slip.
    fn put_tasks(
        &mut self,
        tasks: &ByTask<TaskAnswer>,
        planned: &Planned,
        part: impl Fn(TaskId) -> Part,
    ) -> Result<(), Fault> {
        for entry in tasks.0.values() {
            let id = entry.task.value;
            let part = part(id);
            let numbers = || planned.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            match planned.get(&id) {
                None => {
                    let numbers = numbers();
                    let help = if numbers.is_empty() {
                        "no plan of this scenario has any task; remove it".to_owned()
                    } else {
                        format!("the plans of this scenario have the tasks {numbers}")
                    };
                    return Err(Fault::new(format!("no plan of this scenario has a task {id}"), help)
                        .at(entry.task.span(), "never asked for"));
                }
                Some(false) if matches!(part, Part::Undo(_)) => {
                    return Err(Fault::new(
                        format!("task {id} is never undone: no plan declares how"),
                        format!("give task {id} an `undo: …` in a plan, or remove this"),
                    )
                    .at(entry.task.span(), "never asked for"));
                }
                Some(_) => self.put(part, Some(&entry.answers), task)?,
            }
        }
        Ok(())
    }
}

fn reply(report: Report) -> Result<Answer, Fault> {
    Ok(Answer::Reply(report))
}

fn identity(answer: &IdentityAnswer) -> Result<Answer, Fault> {
    match answer {
        IdentityAnswer::Locks(locks) => reply(Report::Identity { gcp: locks.gcp, mongodb: locks.mongodb }),
        IdentityAnswer::Fail(failure) => Ok(Answer::Fail(*failure)),
    }
}

fn memory(answer: &MemoryAnswer) -> Result<Answer, Fault> {
    let context = match answer {
        MemoryAnswer::Context(context) => context,
        MemoryAnswer::Fail(failure) => return Ok(Answer::Fail(*failure)),
    };
    let trace = |trace: &super::TraceFile| PastTrace {
        trace: TraceId {
            conversation: ConversationId::new(trace.conversation.text()),
            request: RequestId::new(trace.request),
        },
        text: trace.text.text(),
    };
    let rating = |rating: &RatingFile| Rating {
        elo: rating.elo,
        successes: rating.successes,
        matches: rating.matches,
    };
    let RatingsFile { analyst, solution, critic, security, optimizer } = &context.ratings;
    let ratings = Ratings {
        analyst: rating(analyst),
        solution: rating(solution),
        critic: rating(critic),
        security: rating(security),
        optimizer: rating(optimizer),
    };
    reply(Report::Context { ratings, traces: context.traces.iter().map(trace).collect() })
}

fn classifier(answer: &ClassifierAnswer) -> Result<Answer, Fault> {
    match answer {
        ClassifierAnswer::Classified(found) => reply(Report::Classification {
            tags: found.tags.iter().map(|tag| tag.text()).collect(),
            similarity: found.similarity.0,
        }),
        ClassifierAnswer::Fail(failure) => Ok(Answer::Fail(*failure)),
    }
}

fn planner(answer: &PlannerAnswer) -> Result<Answer, Fault> {
    match answer {
        PlannerAnswer::Plan(file) => reply(Report::Plan(plan(file)?)),
        PlannerAnswer::Fail(failure) => Ok(Answer::Fail(*failure)),
    }
}

fn voice(answer: &VoiceAnswer) -> Result<Answer, Fault> {
    let (stance, ArgumentFile { confidence, says }) = match answer {
        VoiceAnswer::Pro(file) => (Stance::Pro, file),
        VoiceAnswer::Con(file) => (Stance::Con, file),
        VoiceAnswer::Fail(failure) => return Ok(Answer::Fail(*failure)),
    };
    let argument = Argument { stance, confidence: confidence.0 };
    reply(Report::Argument { argument, text: says.text(), plan: None })
}

fn reviser(answer: &ReviserAnswer) -> Result<Answer, Fault> {
    let (stance, RevisionFile { confidence, says, plan: revision }) = match answer {
        ReviserAnswer::Pro(file) => (Stance::Pro, file),
        ReviserAnswer::Con(file) => (Stance::Con, file),
        ReviserAnswer::Fail(failure) => return Ok(Answer::Fail(*failure)),
    };
    let argument = Argument { stance, confidence: confidence.0 };
    let plan = revision.as_ref().map(plan).transpose()?;
    reply(Report::Argument { argument, text: says.text(), plan })
}

fn approver(answer: &ApproverAnswer) -> Result<Answer, Fault> {
    match answer {
        ApproverAnswer::Approved(says) => reply(Report::Approval { approved: true, text: says.text() }),
        ApproverAnswer::Denied(says) => reply(Report::Approval { approved: false, text: says.text() }),
        ApproverAnswer::Fail(failure) => Ok(Answer::Fail(*failure)),
    }
}

fn diagnosis(answer: &DiagnosisAnswer) -> Result<Answer, Fault> {
    match answer {
        DiagnosisAnswer::Repaired(repair) => {
            reply(Report::Repaired { text: repair.says.text(), plan: plan(&repair.plan)? })
        }
        DiagnosisAnswer::NoRepair(file) => reply(Report::NoRepair { text: file.says.text() }),
        DiagnosisAnswer::Fail(failure) => Ok(Answer::Fail(*failure)),
    }
}

fn task(answer: &TaskAnswer) -> Result<Answer, Fault> {
    match answer {
        TaskAnswer::Ok(says) => reply(Report::Exit { code: 0, text: says.text() }),
        TaskAnswer::Exit(exit) => reply(Report::Exit { code: exit.code, text: exit.says.text() }),
        TaskAnswer::Fail(failure) => Ok(Answer::Fail(*failure)),
    }
}

fn store(answer: &StoreAnswer) -> Result<Answer, Fault> {
    match answer {
        StoreAnswer::Held => reply(Report::Stored { held: true }),
        StoreAnswer::Refused => reply(Report::Stored { held: false }),
        StoreAnswer::Fail(failure) => Ok(Answer::Fail(*failure)),
    }
}

fn auditor(answer: &AuditorAnswer) -> Result<Answer, Fault> {
    match answer {
        AuditorAnswer::Delivered => reply(Report::Delivered),
        AuditorAnswer::Fail(failure) => Ok(Answer::Fail(*failure)),
    }
}

/// The plan that a list of tasks is.
fn plan(file: &PlanFile) -> Result<Plan, Fault> {
    let tasks = file.value.iter().map(planned_task).collect::<Result<Vec<Task>, Fault>>()?;
    Plan::new(tasks).map_err(|error| match error {
        PlanError::Repeated { task } => {
            let same = |entry: &&At<TaskFile>| entry.value.task == task.number();
            let mut places = file.value.iter().filter(same).map(At::span);
            Fault::new(error.to_string(), "give every task of a plan a number of its own")
                .at(places.next().flatten(), "the first")
                .at(places.next().flatten(), "the second")
        }
        PlanError::Empty => {
            Fault::new(error.to_string(), "add a task, as in `- {task: 1, do: Run the tests}`")
                .at(file.span(), "no task")
        }
        PlanError::TooLong { .. } => {
            Fault::new(error.to_string(), "make the plan shorter").at(file.span(), "too long")
        }
    })
}

fn planned_task(entry: &At<TaskFile>) -> Result<Task, Fault> {
    let TaskFile { task, action, undo, irreversible } = &entry.value;
    let effect = match (undo, irreversible) {
        (Some(_), true) => {
            return Err(Fault::new(
                format!("task {task} is irreversible and says how to undo it"),
                "keep `undo` if its effect can be taken back, else `irreversible`",
            )
            .at(entry.span(), "both at once"));
        }
        (Some(undo), false) => Effect::Undoable { compensation: undo.text() },
        (None, true) => Effect::Irreversible,
        (None, false) => Effect::Pure,
    };
    Ok(Task { id: TaskId::new(*task), text: action.text(), effect })
}
