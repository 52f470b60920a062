//! What modules answered, gathered in the order asked and written as a scenario writes it.

use crate::script::{ScriptKey, ScriptedReply, default_reply};
use crate::{
    ApproverAnswer, ArgumentFile, ArgumentReply, AuditorAnswer, ClassificationFile, ClassifierAnswer,
    ContextFile, DiagnosisAnswer, ExitFile, IdentityAnswer, LocksFile, MemoryAnswer, ModulesFile,
    NoRepairFile, PlanFile, PlannerAnswer, RatingFile, RatingsFile, RepairFile, RepliesFile, ReplyExtrasFile,
    ReplyFile, RevisionFile, RevisionReply, StoreAnswer, SummarizerAnswer, SummaryFile, TaskAnswer, TaskFile,
    TraceFile,
};
use orchestrion_kernel::Text;
use orchestrion_kernel::module::{
    Argument, Failure, Operation, PastRequest, Rating, Report, Role, Stance, Store,
};
use orchestrion_kernel::plan::{Effect, Plan};
use orchestrion_runtime::Reply;
use orchestrion_yaml::{Decimal, Spanned, StrictText};
use std::collections::BTreeMap;

/// Answers by who gave them.
#[derive(Debug, Default)]
pub(super) struct Answers(BTreeMap<ScriptKey, Given>);

#[derive(Debug, Default)]
struct Given {
    answers: Vec<ScriptedReply>,
    /// Whether a scenario that leaves the module out gives the same answers.
    unsaid: bool,
}

impl Answers {
    /// Adds an answer to a question in a request.
    pub(super) fn push(&mut self, ask: Operation, request_text: &Text, answer: ScriptedReply) {
        let unsaid = default_reply(ask, request_text).as_ref() == Some(&answer);
        let given =
            self.0.entry(ScriptKey::of(ask)).or_insert_with(|| Given { answers: Vec::new(), unsaid: true });
        given.unsaid &= unsaid;
        given.answers.push(answer);
    }

    /// The answers as a scenario file has them. What it need not say is left out.
    pub(super) fn file(&self) -> ModulesFile {
        let mut file = ModulesFile::default();
        for (part, Given { answers, unsaid }) in &self.0 {
            if *unsaid {
                continue;
            }
            match part {
                ScriptKey::Identity => file.identity = written(answers, identity),
                ScriptKey::Memory => file.memory = written(answers, memory),
                ScriptKey::Summarizer => file.summarizer = written(answers, summarizer),
                ScriptKey::Classifier => file.classifier = written(answers, classifier),
                ScriptKey::Planner => file.planner = written(answers, planner),
                ScriptKey::Voice(Role::Analyst) => file.analyst = written(answers, voice),
                ScriptKey::Voice(Role::Solution) => file.solution = written(answers, reviser),
                ScriptKey::Voice(Role::Critic) => file.critic = written(answers, voice),
                ScriptKey::Voice(Role::Security) => file.security = written(answers, voice),
                ScriptKey::Voice(Role::Optimizer) => file.optimizer = written(answers, reviser),
                ScriptKey::Review => file.reread = written(answers, voice),
                ScriptKey::Approver => file.approver = written(answers, approver),
                ScriptKey::Diagnosis => file.diagnosis = written(answers, diagnosis),
                ScriptKey::Store(Store::Local) => file.local_store = written(answers, store),
                ScriptKey::Store(Store::Cloud) => file.cloud_store = written(answers, store),
                ScriptKey::Auditor => file.auditor = written(answers, auditor),
                ScriptKey::Task(id) => {
                    if let Some(written) = written(answers, task) {
                        file.tasks.insert(*id, written);
                    }
                }
                ScriptKey::Undo(id) => {
                    if let Some(written) = written(answers, task) {
                        file.undo.insert(*id, written);
                    }
                }
            }
        }
        file
    }
}

/// A list of answers, or one that stands for all. Answers only ever stand with the question that they answer,
/// so none of them is without words; if one were, playing the scenario would show it.
fn written<T>(
    answers: &[ScriptedReply],
    words: impl Fn(&Result<&Report, Failure>) -> Option<T>,
) -> Option<RepliesFile<T>> {
    let said = |answer: &ScriptedReply| match answer {
        ScriptedReply::Fail(failure) => words(&Err(*failure)).map(ReplyFile::from),
        ScriptedReply::Reply(Reply { report, summary_update, action }) => {
            let beside = ReplyExtrasFile::of(summary_update.as_ref(), action.as_deref());
            Some(ReplyFile { answer: words(&Ok(report))?, beside })
        }
    };
    let first = answers.first()?;
    if answers.iter().all(|answer| answer == first) {
        return said(first).map(RepliesFile::one);
    }
    Some(RepliesFile::many(answers.iter().filter_map(said)))
}

fn identity(answer: &Result<&Report, Failure>) -> Option<IdentityAnswer> {
    Some(match answer {
        Err(failure) => IdentityAnswer::Fail(*failure),
        Ok(Report::Identity { gcp, mongodb }) => {
            IdentityAnswer::Locks(LocksFile { gcp: *gcp, mongodb: *mongodb })
        }
        Ok(_) => return None,
    })
}

fn memory(answer: &Result<&Report, Failure>) -> Option<MemoryAnswer> {
    let (ratings, traces) = match answer {
        Err(failure) => return Some(MemoryAnswer::Fail(*failure)),
        Ok(Report::Context { ratings, traces }) => (ratings, traces),
        Ok(_) => return None,
    };
    let rating = |role| {
        let Rating { elo, successes, matches } = *ratings.get(role);
        RatingFile { elo, successes, matches }
    };
    let trace = |past: &PastRequest| TraceFile {
        conversation: past.trace.conversation.as_str().into(),
        request: past.trace.request.number(),
        text: past.text.clone().into(),
    };
    Some(MemoryAnswer::Context(ContextFile {
        ratings: RatingsFile {
            analyst: rating(Role::Analyst),
            solution: rating(Role::Solution),
            critic: rating(Role::Critic),
            security: rating(Role::Security),
            optimizer: rating(Role::Optimizer),
        },
        traces: traces.iter().map(trace).collect(),
    }))
}

fn classifier(answer: &Result<&Report, Failure>) -> Option<ClassifierAnswer> {
    Some(match answer {
        Err(failure) => ClassifierAnswer::Fail(*failure),
        Ok(Report::Classification { tags, similarity }) => ClassifierAnswer::Classified(ClassificationFile {
            tags: tags.iter().cloned().map(StrictText::from).collect(),
            similarity: Decimal(*similarity),
        }),
        Ok(_) => return None,
    })
}

fn summarizer(answer: &Result<&Report, Failure>) -> Option<SummarizerAnswer> {
    Some(match answer {
        Err(failure) => SummarizerAnswer::Fail(*failure),
        Ok(Report::Summary { text, forgets }) => SummarizerAnswer::Summary(SummaryFile {
            says: text.clone().into(),
            forgets: forgets.as_ref().map(|ids| ids.iter().map(|id| id.number()).collect()),
        }),
        Ok(_) => return None,
    })
}

fn planner(answer: &Result<&Report, Failure>) -> Option<PlannerAnswer> {
    Some(match answer {
        Err(failure) => PlannerAnswer::Fail(*failure),
        Ok(Report::Plan(plan)) => PlannerAnswer::Plan(plan_file(plan)),
        Ok(_) => return None,
    })
}

fn voice(answer: &Result<&Report, Failure>) -> Option<ArgumentReply> {
    Some(match answer {
        Err(failure) => ArgumentReply::Fail(*failure),
        Ok(Report::Argument { argument: Argument { stance, confidence }, text, plan: None }) => {
            let file = ArgumentFile { confidence: Decimal(*confidence), says: text.clone().into() };
            match stance {
                Stance::Pro => ArgumentReply::Pro(file),
                Stance::Con => ArgumentReply::Con(file),
            }
        }
        Ok(_) => return None,
    })
}

fn reviser(answer: &Result<&Report, Failure>) -> Option<RevisionReply> {
    Some(match answer {
        Err(failure) => RevisionReply::Fail(*failure),
        Ok(Report::Argument { argument: Argument { stance, confidence }, text, plan }) => {
            let file = RevisionFile {
                confidence: Decimal(*confidence),
                says: text.clone().into(),
                plan: plan.as_ref().map(plan_file),
            };
            match stance {
                Stance::Pro => RevisionReply::Pro(file),
                Stance::Con => RevisionReply::Con(file),
            }
        }
        Ok(_) => return None,
    })
}

fn approver(answer: &Result<&Report, Failure>) -> Option<ApproverAnswer> {
    Some(match answer {
        Err(failure) => ApproverAnswer::Fail(*failure),
        Ok(Report::Approval { approved: true, text }) => ApproverAnswer::Approved(text.clone().into()),
        Ok(Report::Approval { approved: false, text }) => ApproverAnswer::Denied(text.clone().into()),
        Ok(_) => return None,
    })
}

fn diagnosis(answer: &Result<&Report, Failure>) -> Option<DiagnosisAnswer> {
    Some(match answer {
        Err(failure) => DiagnosisAnswer::Fail(*failure),
        Ok(Report::Repaired { text, plan }) => {
            DiagnosisAnswer::Repaired(RepairFile { says: text.clone().into(), plan: plan_file(plan) })
        }
        Ok(Report::NoRepair { text }) => {
            DiagnosisAnswer::NoRepair(NoRepairFile { says: text.clone().into() })
        }
        Ok(_) => return None,
    })
}

fn task(answer: &Result<&Report, Failure>) -> Option<TaskAnswer> {
    Some(match answer {
        Err(failure) => TaskAnswer::Fail(*failure),
        Ok(Report::Exit { code: 0, text }) => TaskAnswer::Ok(text.clone().into()),
        Ok(Report::Exit { code, text }) => {
            TaskAnswer::Exit(ExitFile { code: *code, says: text.clone().into() })
        }
        Ok(_) => return None,
    })
}

fn store(answer: &Result<&Report, Failure>) -> Option<StoreAnswer> {
    Some(match answer {
        Err(failure) => StoreAnswer::Fail(*failure),
        Ok(Report::Stored { held: true }) => StoreAnswer::Held,
        Ok(Report::Stored { held: false }) => StoreAnswer::Refused,
        Ok(_) => return None,
    })
}

fn auditor(answer: &Result<&Report, Failure>) -> Option<AuditorAnswer> {
    Some(match answer {
        Err(failure) => AuditorAnswer::Fail(*failure),
        Ok(Report::Delivered) => AuditorAnswer::Delivered,
        Ok(_) => return None,
    })
}

fn plan_file(plan: &Plan) -> PlanFile {
    let tasks = plan.tasks().iter().map(|task| {
        let (undo, irreversible) = match &task.effect {
            Effect::Pure => (None, false),
            Effect::Undoable { compensation } => (Some(compensation.clone().into()), false),
            Effect::Irreversible => (None, true),
        };
        TaskFile { task: task.id.number(), action: task.text.clone().into(), undo, irreversible }
    });
    tasks.map(Spanned::from).collect::<Vec<_>>().into()
}
