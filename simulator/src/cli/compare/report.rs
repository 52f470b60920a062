//! Report of `compare` as text.

use super::{Compared, DifferingRun, SavedEvidence};
use crate::cli::check::report::{limit_text, steps_text};
use crate::cli::differences::{Sides, excerpts, setting_text};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{ReportStyle, quoted, write_command, write_hanging, write_summary};
use crate::cli::statistics::{number_text, percent};
use anstyle::{AnsiColor, Style};
use orchestrion_kernel::Event;
use orchestrion_kernel::event::DecisionLabel;
use orchestrion_model::common_runs::RunEnding;
use orchestrion_model::compare::{DecisionDifference, DecisionSide, ModelComparison};
use orchestrion_report::text::grouped;
use orchestrion_trace::PathStep;
use std::io::{self, Write};

/// What the two sides are called.
const SIDES: Sides = Sides { recorded: "A", current: "B" };
/// Column of the text of a labelled line.
const TEXT_COLUMN: usize = 11;
/// Column of the text of a model.
const MODEL_COLUMN: usize = 16;
/// Columns of a name and of a number in the matrix.
const NAME_COLUMNS: usize = 14;

pub(super) fn write(compared: &Compared<'_>, style: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    let [a, b] = compared.policies;
    let width = style.width;
    if !style.quiet {
        let text = format!("A {}, B {}, scope {}", a.name, b.name, compared.scope.name);
        write_hanging(0, "", &text, width, out)?;
        write_settings(compared, width, out)?;
        writeln!(out)?;
        for model in &compared.models {
            write_model(model, width, out)?;
        }
    }
    if let (Some((model, difference)), Some((_, saved))) = (compared.difference(), &compared.shortest) {
        write_difference(model, difference, saved, style, out)?;
    }
    if !style.quiet {
        write_matrix(compared, width, out)?;
    }
    if let Some(run) = &compared.differing {
        write_differing_run(run, width, out)?;
    }
    if !style.quiet {
        writeln!(out)?;
    }
    write_last_line(compared, width, out)
}

fn write_settings(compared: &Compared<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    if compared.settings.is_empty() {
        write_hanging(TEXT_COLUMN, "  policy", "the policies have the same settings", width, out)?;
    }
    for setting in &compared.settings {
        write_hanging(TEXT_COLUMN, "  policy", &setting_text(setting, SIDES), width, out)?;
    }
    if !compared.replaced.is_empty() {
        let text = format!(
            "not compared, because the scope replaces it in every model: {}",
            compared.replaced.join(", ")
        );
        write_hanging(TEXT_COLUMN, "  note", &text, width, out)?;
    }
    Ok(())
}

fn write_model(model: &ModelComparison, width: usize, out: &mut impl Write) -> io::Result<()> {
    let states = grouped(model.states as u64);
    let text = match &model.difference {
        Some(difference) => {
            format!("the decisions differ at step {}, after {states} states", difference.step)
        }
        None => limit_text(model.ended, model.depth)
            .unwrap_or_else(|| format!("no difference in all {states} states")),
    };
    write_hanging(MODEL_COLUMN, &format!("  {}", model.model), &text, width, out)
}

fn write_difference(
    model: &str,
    difference: &DecisionDifference,
    saved: &[SavedEvidence; 2],
    style: ReportStyle,
    out: &mut impl Write,
) -> io::Result<()> {
    let DecisionDifference { step, from, input, sides } = difference;
    let width = style.width;
    writeln!(out)?;
    write_hanging(
        0,
        "",
        &format!("shortest difference: in {model}, at step {step}, in {from}",),
        width,
        out,
    )?;
    let input = serde_json::to_string(input)?.replace(",\"", ", \"");
    write_hanging(TEXT_COLUMN, "  input", &input, width, out)?;
    let [a, b] = decisions_text(sides, *step);
    write_hanging(TEXT_COLUMN, "  decided", "the transition, and the first event that differs", width, out)?;
    SIDES.write(&a, &b, width, out)?;
    let text = "of the request, when every later call gets the same agreeing reply";
    write_hanging(TEXT_COLUMN, "  ending", text, width, out)?;
    let [a, b] = [&sides[0], &sides[1]].map(|side| ending_text(side.ending, side.label));
    SIDES.write(&a, &b, width, out)?;
    let [a, b] = [&saved[0], &saved[1]].map(|saved| quoted(&saved.trace));
    for file in [&a, &b] {
        write_command("show", &format!("orchestrion show {file} --step {step}"), width, out)?;
    }
    write_command("diff", &format!("orchestrion diff {a} {b}"), width, out)
}

/// Returns what each side decides: its transition, and the first event that differs where the transitions are the same.
pub(super) fn decisions_text(sides: &[DecisionSide; 2], step: usize) -> [String; 2] {
    let refusals = [&sides[0], &sides[1]].map(|side| side.decided.as_ref().err().map(ToString::to_string));
    let steps = [0, 1].map(|at| {
        let result = match (&sides[at].decided, &refusals[at]) {
            (_, Some(refusal)) => Err(refusal.as_str()),
            (Ok(events), None) => Ok(events.as_slice()),
            (Err(_), None) => Ok(&[][..]),
        };
        PathStep::from_step(step as u64, result)
    });
    let texts = [&steps[0], &steps[1]].map(ToString::to_string);
    let (Ok(a), Ok(b)) = (&sides[0].decided, &sides[1].decided) else { return texts };
    let first = (0..a.len().max(b.len())).find(|at| a.get(*at) != b.get(*at));
    let Some(first) = first else { return texts };
    let event = |events: &[Event]| {
        events.get(first).map_or_else(
            || "no further event".to_owned(),
            |event| serde_json::to_string(event).unwrap_or_else(|error| error.to_string()),
        )
    };
    let (of_a, of_b) = excerpts(&event(a), &event(b));
    let [a, b] = texts;
    [format!("{a}; {of_a}"), format!("{b}; {of_b}")]
}

pub(super) fn ending_text(ending: RunEnding, label: Option<DecisionLabel>) -> String {
    let ending = match ending {
        RunEnding::Concluded(conclusion) => format!("{}: {}", conclusion.kind, conclusion.cause),
        RunEnding::NotConcluded => "no conclusion".to_owned(),
        RunEnding::Halted => "halted: every next input is refused".to_owned(),
        RunEnding::Unfinished => "not ended".to_owned(),
    };
    let labelled = |label: DecisionLabel| format!("{label}, {ending}");
    label.map_or_else(|| format!("no decision, {ending}"), labelled)
}

fn write_matrix(compared: &Compared<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    let (random, matrix) = (&compared.random, &compared.matrix);
    let models: Vec<&str> = random.models.iter().map(|model| model.name).collect();
    writeln!(out)?;
    let heading = format!(
        "outcomes of {} random runs of {} with seed {}, under A (rows) and B (columns) with the same random numbers",
        grouped(random.runs),
        models.join(", "),
        random.seed
    );
    write_hanging(0, "", &heading, width, out)?;
    let outcomes = matrix.outcomes();
    write!(out, "  {:<NAME_COLUMNS$}", "A \\ B")?;
    outcomes.iter().try_for_each(|outcome| write!(out, "{:>NAME_COLUMNS$}", outcome.name()))?;
    writeln!(out)?;
    for a in &outcomes {
        write!(out, "  {:<NAME_COLUMNS$}", a.name())?;
        outcomes.iter().try_for_each(|b| write!(out, "{:>NAME_COLUMNS$}", grouped(matrix.count(*a, *b))))?;
        writeln!(out)?;
    }
    let text = "rate under A, rate under B, and B minus A with its 95 % interval for pairs";
    write_hanging(2, "", text, width, out)?;
    for outcome in &outcomes {
        let pairs = matrix.pairs(*outcome);
        let (a, b) = (percent(pairs.share_a().rate()), percent(pairs.share_b().rate()));
        writeln!(out, "  {:<NAME_COLUMNS$}{a:>9}{b:>9}  {}", outcome.name(), pairs.text())?;
    }
    for (name, [a, b]) in [("passes", &matrix.passes), ("calls", &matrix.calls)] {
        if let (Some(a), Some(b)) = (a.report(), b.report()) {
            write_hanging(
                TEXT_COLUMN,
                &format!("  {name}"),
                "with the 95 % interval of the mean",
                width,
                out,
            )?;
            SIDES.write(&a.text(number_text), &b.text(number_text), width, out)?;
        }
    }
    Ok(())
}

fn write_differing_run(run: &DifferingRun, width: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out)?;
    let heading = format!("first differing random run: run {} of {}", grouped(run.number), run.model);
    write_hanging(0, "", &heading, width, out)?;
    let [a, b] = &run.endings;
    write_hanging(TEXT_COLUMN, "  ending", "of the first request", width, out)?;
    SIDES.write(a, b, width, out)?;
    let [a, b] = [&run.traces[0], &run.traces[1]].map(|trace| quoted(trace));
    write_command("diff", &format!("orchestrion diff {a} {b}"), width, out)
}

fn write_last_line(compared: &Compared<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    let status = compared.status();
    let scope = &compared.scope.name;
    let (word, color) = match status {
        ExitStatus::Success => ("NO DIFFERENCE", AnsiColor::Green),
        ExitStatus::Failure => ("DIFFERENT", AnsiColor::Yellow),
        ExitStatus::Incomplete | ExitStatus::Error => ("INCONCLUSIVE", AnsiColor::Yellow),
    };
    let explored = match (compared.difference(), compared.is_exhaustive()) {
        (Some((model, difference)), _) => {
            format!("after {} of {model} at scope {scope}", steps_text(difference.step))
        }
        (None, true) => format!("no difference at scope {scope}, all states explored exhaustively"),
        (None, false) => format!("no difference at scope {scope} before a resource limit"),
    };
    let runs = grouped(compared.random.runs);
    let random = match compared.matrix.first_differing() {
        Some(first) => format!(
            "; {} of {runs} random runs differ, first run {first}",
            grouped(compared.matrix.differing_runs())
        ),
        None => format!("; none of {runs} random runs differs"),
    };
    let text = format!(": {explored}{random}. exit {}", status.code());
    write_summary(Style::new().fg_color(Some(color.into())).bold(), word, &text, width, out)
}
