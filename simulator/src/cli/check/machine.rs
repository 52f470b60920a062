//! `check --machine`: a machine that somebody else made, criticised.

use crate::cli::{ExitStatus, Format, files};
use anstyle::{AnsiColor, Style};
use miette::{IntoDiagnostic, Result};
use orchestrion_lint::parse::{self, ParsedMachine};
use orchestrion_lint::{LintDiagnostic, LintResult, SourceLocation, lint};
use orchestrion_report::show::sanitize;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Reads the machines in a file, asks each every question, and reports.
pub(super) fn run(file: &Path, format: Format, quiet: bool) -> Result<ExitStatus> {
    let judged: Vec<(ParsedMachine, Vec<LintResult>)> = orchestrion_lint::parse::read(file)?
        .into_iter()
        .map(|read| {
            let answers = lint(&read.machine);
            (read, answers)
        })
        .collect();
    let fails =
        judged.iter().flat_map(|(_, answers)| answers).any(|answer| Verdict::of(answer) == Verdict::Fails);
    let outcome = if fails { ExitStatus::Failure } else { ExitStatus::Success };
    let mut out = files::out();
    match format {
        Format::Human => human(file, &judged, quiet, outcome, &mut out),
        Format::Json => json(file, &judged, outcome, &mut out),
    }
    .into_diagnostic()?;
    Ok(outcome)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Holds,
    Fails,
    Doubt,
    NothingToAsk,
}

impl Verdict {
    fn of(answer: &LintResult) -> Self {
        match (answer.findings.is_empty(), answer.is_failure) {
            (false, true) => Self::Fails,
            (false, false) => Self::Doubt,
            (true, _) if answer.asked == 0 => Self::NothingToAsk,
            (true, _) => Self::Holds,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Doubt => "doubt",
            Self::NothingToAsk => "nothing to ask",
        }
    }

    const fn style(self) -> Style {
        let colour = match self {
            Self::Holds => AnsiColor::Green,
            Self::Fails => AnsiColor::Red,
            Self::Doubt => AnsiColor::Yellow,
            Self::NothingToAsk => AnsiColor::BrightBlack,
        };
        Style::new().fg_color(Some(anstyle::Color::Ansi(colour)))
    }
}

fn human(
    file: &Path,
    judged: &[(ParsedMachine, Vec<LintResult>)],
    quiet: bool,
    outcome: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let file = sanitize(&file.display().to_string());
    for (read, answers) in judged {
        if !quiet {
            of_machine(&file, read, out)?;
        }
        for answer in answers {
            let verdict = Verdict::of(answer);
            if quiet && verdict != Verdict::Fails {
                continue;
            }
            let style = verdict.style();
            let word = if verdict == Verdict::Fails { "FAILS" } else { verdict.word() };
            writeln!(
                out,
                "{:<10} {style}{word:<15}{style:#} {}",
                answer.question.name, answer.question.claim
            )?;
            for finding in &answer.findings {
                of_finding(&file, finding, out)?;
            }
            if !answer.findings.is_empty() {
                writeln!(out, "    why  {}", answer.question.why)?;
            }
        }
        if !quiet {
            writeln!(out)?;
        }
    }
    last_line(judged, outcome, out)
}

fn of_machine(file: &str, read: &ParsedMachine, out: &mut impl Write) -> io::Result<()> {
    let ParsedMachine { form, name, lines: (from, to), machine, guessed } = read;
    let name = name.as_ref().map_or_else(String::new, |name| format!(" `{}`", sanitize(name)));
    let starts: Vec<_> = machine.starts.iter().map(|start| sanitize(&machine.states[*start].name)).collect();
    writeln!(
        out,
        "{file}:{from}: {form}{name}, lines {from} to {to}: {} states, {} edges, starts in {}",
        machine.states.len(),
        machine.edges.len(),
        starts.join(", "),
    )?;
    if let Some(guessed) = guessed {
        writeln!(out, "  guessed: {guessed}")?;
    }
    writeln!(out)
}

fn of_finding(file: &str, finding: &LintDiagnostic, out: &mut impl Write) -> io::Result<()> {
    let mut places = finding.places.iter();
    let at = places.next().map_or_else(String::new, |place| format!(":{place}"));
    writeln!(out, "  {file}{at}: {}", sanitize(&finding.message))?;
    let rest: Vec<String> = places.map(SourceLocation::to_string).collect();
    if !rest.is_empty() {
        writeln!(out, "    also {}", rest.join(", "))?;
    }
    writeln!(out, "    do   {}", sanitize(&finding.help))
}

fn last_line(
    judged: &[(ParsedMachine, Vec<LintResult>)],
    outcome: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let count = |verdict: Verdict| {
        let answers = judged.iter().flat_map(|(_, answers)| answers);
        answers.filter(|answer| Verdict::of(answer) == verdict).count()
    };
    let (word, colour) = match outcome {
        ExitStatus::Failure => ("FAILS", AnsiColor::Red),
        _ => ("HOLDS", AnsiColor::Green),
    };
    let style = Style::new().fg_color(Some(colour.into())).bold();
    let of = match judged.len() {
        1 => String::new(),
        machines => format!(" of {machines} machines"),
    };
    let told = [
        (Verdict::Fails, "fails", "fail"),
        (Verdict::Doubt, "is in doubt", "are in doubt"),
        (Verdict::Holds, "holds", "hold"),
        (Verdict::NothingToAsk, "has nothing to ask", "have nothing to ask"),
    ];
    let told = told.map(|(verdict, one, several)| match count(verdict) {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {several}")),
    });
    let told: Vec<String> = told.into_iter().flatten().collect();
    writeln!(
        out,
        "{style}{word}{style:#}: of the questions{of}, {}. exit {}",
        told.join(", "),
        outcome.code()
    )
}

#[derive(Serialize)]
struct Report<'a> {
    verdict: &'static str,
    file: String,
    machines: Vec<MachineReport<'a>>,
}

#[derive(Serialize)]
struct MachineReport<'a> {
    form: &'static str,
    name: Option<&'a str>,
    first_line: usize,
    last_line: usize,
    states: usize,
    edges: usize,
    starts: Vec<&'a str>,
    guessed: Option<&'a str>,
    questions: Vec<QuestionReport<'a>>,
}

#[derive(Serialize)]
struct QuestionReport<'a> {
    name: &'static str,
    claim: &'static str,
    why: &'static str,
    verdict: &'static str,
    asked: usize,
    findings: Vec<FindingReport<'a>>,
}

#[derive(Serialize)]
struct FindingReport<'a> {
    what: &'a str,
    todo: &'a str,
    places: Vec<PlaceReport>,
}

#[derive(Serialize)]
struct PlaceReport {
    line: usize,
    column: usize,
}

fn json(
    file: &Path,
    judged: &[(ParsedMachine, Vec<LintResult>)],
    outcome: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let report = Report {
        verdict: if outcome == ExitStatus::Failure { "fails" } else { "holds" },
        file: file.display().to_string(),
        machines: judged.iter().map(|(read, answers)| machine_report(read, answers)).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn machine_report<'a>(read: &'a ParsedMachine, answers: &'a [LintResult]) -> MachineReport<'a> {
    let machine = &read.machine;
    MachineReport {
        form: read.form,
        name: read.name.as_deref(),
        first_line: read.lines.0,
        last_line: read.lines.1,
        states: machine.states.len(),
        edges: machine.edges.len(),
        starts: machine.starts.iter().map(|start| &machine.states[*start].name[..]).collect(),
        guessed: read.guessed.as_deref(),
        questions: answers.iter().map(question_report).collect(),
    }
}

fn question_report(answer: &LintResult) -> QuestionReport<'_> {
    QuestionReport {
        name: answer.question.name,
        claim: answer.question.claim,
        why: answer.question.why,
        verdict: Verdict::of(answer).word(),
        asked: answer.asked,
        findings: answer.findings.iter().map(finding_report).collect(),
    }
}

fn finding_report(finding: &LintDiagnostic) -> FindingReport<'_> {
    let place = |place: &SourceLocation| PlaceReport { line: place.line, column: place.column };
    FindingReport {
        what: &finding.message,
        todo: &finding.help,
        places: finding.places.iter().map(place).collect(),
    }
}
