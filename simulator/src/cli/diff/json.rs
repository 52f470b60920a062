//! Report of `diff` as JSON.

use super::report::{part_text, sentence};
use super::{CHANGES_MAX, Compared};
use crate::cli::exit_status::ExitStatus;
use crate::cli::test_report::write_json;
use orchestrion_report::show::StepDescription;
use orchestrion_scenario::policy_file::changed_settings;
use orchestrion_trace::RequestEnding;
use orchestrion_trace::diff::{Cause, CauseKind, Remainder, StepChange};
use orchestrion_trace::replay::Difference;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct Report<'a> {
    verdict: &'static str,
    files: Sides<String>,
    steps: Sides<u64>,
    header: Vec<ValueReport>,
    settings: Vec<ValueReport>,
    cause: Option<CauseReport<'a>>,
    /// All steps that differ; `changes` lists at most 1,000 of them.
    changed_steps: usize,
    changes: Vec<ChangeReport<'a>>,
    times: RemainderReport,
    contexts: RemainderReport,
    notes: RemainderReport,
    endings: Sides<Vec<String>>,
    is_aligned: bool,
    errors: Sides<Option<String>>,
}

/// A value of each trace.
#[derive(Serialize, JsonSchema)]
struct Sides<T> {
    a: T,
    b: T,
}

impl<T> From<[T; 2]> for Sides<T> {
    fn from([a, b]: [T; 2]) -> Self {
        Self { a, b }
    }
}

#[derive(Serialize, JsonSchema)]
struct ValueReport {
    name: String,
    #[serde(flatten)]
    values: Sides<Option<String>>,
}

#[derive(Serialize, JsonSchema)]
struct CauseReport<'a> {
    kind: &'static str,
    sentence: &'static str,
    steps: Sides<Option<u64>>,
    phase: Option<String>,
    subject: Option<&'a str>,
    values: Option<Sides<&'a str>>,
    decisions: Option<Sides<String>>,
}

#[derive(Serialize, JsonSchema)]
struct ChangeReport<'a> {
    change: &'static str,
    part: Option<&'static str>,
    a: Option<StepReport<'a>>,
    b: Option<StepReport<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct StepReport<'a> {
    step: u64,
    actor: String,
    text: String,
    transition: &'a str,
    events: &'a [&'static str],
}

#[derive(Serialize, JsonSchema)]
struct RemainderReport {
    steps: u64,
    first: Option<Sides<u64>>,
}

impl From<Remainder> for RemainderReport {
    fn from(Remainder { count, first }: Remainder) -> Self {
        Self { steps: count, first: first.map(Sides::from) }
    }
}

pub(super) fn write(compared: &Compared<'_>, out: &mut impl Write) -> io::Result<()> {
    let diff = &compared.diff;
    let setting = |[a, b]: [Option<String>; 2], name: String| ValueReport { name, values: Sides { a, b } };
    let header = compared.header_differences().into_iter();
    let settings = changed_settings(&diff.headers[0].policy, &diff.headers[1].policy).into_iter();
    let endings = |endings: &Vec<RequestEnding>| endings.iter().map(ToString::to_string).collect();
    let report = Report {
        verdict: match compared.status() {
            ExitStatus::Success => "equal",
            ExitStatus::Failure => "differ",
            ExitStatus::Error | ExitStatus::Incomplete => "incomplete",
        },
        files: compared.files.map(|file| file.display().to_string()).into(),
        steps: diff.steps.into(),
        header: header.map(|(name, values)| setting(values.map(Some), name.to_owned())).collect(),
        settings: settings.map(|changed| setting([changed.before, changed.after], changed.path)).collect(),
        cause: diff.cause.as_ref().map(cause),
        changed_steps: diff.changes.len(),
        changes: diff.changes.iter().take(CHANGES_MAX).map(|change| self::change(compared, change)).collect(),
        times: diff.times.into(),
        contexts: diff.contexts.into(),
        notes: diff.notes.into(),
        endings: diff.endings.each_ref().map(endings).into(),
        is_aligned: diff.is_aligned,
        errors: diff.errors.each_ref().map(|error| error.as_ref().map(ToString::to_string)).into(),
    };
    write_json(&report, out)
}

fn cause(cause: &Cause) -> CauseReport<'_> {
    let Cause { kind, steps, from, difference, networks: _, decision } = cause;
    let difference = difference.as_ref();
    let values = difference.map(|Difference { recorded, replayed, .. }| [&recorded[..], replayed].into());
    CauseReport {
        kind: match kind {
            CauseKind::Input => "input",
            CauseKind::Time => "time",
            CauseKind::Policy => "policy",
            CauseKind::Kernel => "kernel",
            CauseKind::Recording => "recording",
            CauseKind::UnusedPolicy => "unused_policy",
        },
        sentence: sentence(*kind),
        steps: (*steps).into(),
        phase: from.map(|phase| phase.to_string()),
        subject: difference.map(|difference| &difference.subject[..]),
        values,
        decisions: decision
            .as_ref()
            .map(|decision| Sides { a: decision.recorded.to_string(), b: decision.current.to_string() }),
    }
}

fn change<'a>(compared: &'a Compared<'_>, change: &StepChange) -> ChangeReport<'a> {
    let step = |(step, description): (u64, &'a StepDescription)| StepReport {
        step,
        actor: description.actor(),
        text: description.text(),
        transition: &description.transition,
        events: &description.events,
    };
    let (name, part) = match change {
        StepChange::OnlyA(_) => ("only_a", None),
        StepChange::OnlyB(_) => ("only_b", None),
        StepChange::Changed(_, _, part) => ("changed", Some(part_text(*part))),
    };
    ChangeReport {
        change: name,
        part,
        a: compared.step(0, change).map(step),
        b: compared.step(1, change).map(step),
    }
}
