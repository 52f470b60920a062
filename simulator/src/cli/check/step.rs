//! `check --step`: steps through a model by hand.

use super::options::Args;
use super::plan::CheckPlan;
use super::report::write_statement;
use super::save::save;
use crate::cli::args::GlobalArgs;
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, ReportStyle, write_command, write_hanging};
use crate::cli::user_claims::TraceVerdicts;
use anstyle::AnsiColor;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_claims::CLAIMS;
use orchestrion_files::limits::TYPED_LINE_BYTES_MAX;
use orchestrion_kernel::Input;
use orchestrion_model::check::Counterexample;
use orchestrion_model::coverage::{InputKind, Observation};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::product::{KernelModel, Product};
use orchestrion_report::evidence::record;
use orchestrion_report::show::{self, View};
use orchestrion_report::text::{count, sanitize};
use orchestrion_trace::Reader;
use orchestrion_user_claims::UserClaim;
use std::io::{self, BufRead, Read as _, Write};
use std::path::Path;

const HELP: &str = "a number takes that input; b goes back one step; l lists the inputs again, and /TEXT those with a text; s prints \
                    the state as JSON; w writes the steps as a trace; q quits";
/// Column of an input's details.
const DETAIL_COLUMN: usize = 7;

/// What a line of standard input asks for.
#[derive(Debug, PartialEq, Eq)]
enum Command<'a> {
    Take(usize),
    Back,
    List(&'a str),
    State,
    Write,
    Quit,
}

impl<'a> Command<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        Some(match line.trim() {
            "b" => Self::Back,
            "l" => Self::List(""),
            "s" => Self::State,
            "w" => Self::Write,
            "q" => Self::Quit,
            text => match text.strip_prefix('/') {
                Some(text) => Self::List(text),
                None => Self::Take(text.parse().ok()?),
            },
        })
    }
}

/// An input that the kernel accepts, and the product after it.
struct Choice {
    input: Input,
    after: Product,
    row: Option<String>,
    violated: Vec<usize>,
}

/// The steps that were taken.
struct Session<'a> {
    kernel: KernelModel,
    /// The claims of the project.
    claims: &'a [UserClaim],
    /// The product before each step, and the input of the step.
    path: Vec<(Product, Input)>,
    product: Product,
    style: ReportStyle,
}

pub(super) fn run(
    plan: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
    style: ReportStyle,
) -> Result<ExitStatus> {
    super::ensure_single_policy(&plan.policies, "--step uses one policy")?;
    let models = plan.simulated_models(args)?;
    let ([policy], [model]) = (plan.policies.as_slice(), models.as_slice()) else {
        let names: Vec<&str> = models.iter().map(|model| model.name).collect();
        return Err(miette!(
            help = "give --model once",
            "--step uses one model: expected 1, found {} ({})",
            names.len(),
            names.join(", ")
        ));
    };
    let kernel = KernelModel::new(KernelUnderTest::unmodified(policy.clone()), *model, &plan.scope);
    let mut out = output::stdout();
    let heading = format!(
        "model {}: {}; policy {}, scope {}",
        model.name,
        model.about,
        sanitize(&policy.name),
        plan.scope.name
    );
    write_hanging(0, "", &heading, style.width, &mut out).into_diagnostic()?;
    write_hanging(0, "", HELP, style.width, &mut out).into_diagnostic()?;
    let mut session =
        Session { product: kernel.start(), kernel, claims: &plan.claims, path: Vec::new(), style };
    session.run(&mut io::stdin().lock(), &global.out_dir, &mut out)
}

impl Session<'_> {
    fn run(&mut self, lines: &mut impl BufRead, folder: &Path, out: &mut impl Write) -> Result<ExitStatus> {
        let mut choices = self.choices();
        self.write_choices(&choices, "", out).into_diagnostic()?;
        let mut line = String::new();
        loop {
            write!(out, "> ").and_then(|()| out.flush()).into_diagnostic()?;
            line.clear();
            let read = lines.by_ref().take(TYPED_LINE_BYTES_MAX).read_line(&mut line).into_diagnostic()?;
            if read == 0 {
                writeln!(out).into_diagnostic()?;
                return Ok(ExitStatus::Success);
            }
            if read as u64 == TYPED_LINE_BYTES_MAX {
                return Err(miette!(
                    help = HELP,
                    "standard input: line too long: expected less than {TYPED_LINE_BYTES_MAX} bytes, found more"
                ));
            }
            match Command::parse(&line) {
                Some(Command::Quit) => return Ok(ExitStatus::Success),
                Some(Command::List(text)) => self.write_choices(&choices, text, out).into_diagnostic()?,
                Some(Command::State) => self.write_state(out).into_diagnostic()?,
                Some(Command::Write) => self.write_trace(folder, out)?,
                Some(Command::Back) => match self.path.pop() {
                    Some((before, _)) => {
                        self.product = before;
                        choices = self.choices();
                        self.write_choices(&choices, "", out).into_diagnostic()?;
                    }
                    None => writeln!(out, "this is the first state").into_diagnostic()?,
                },
                Some(Command::Take(number)) if (1..=choices.len()).contains(&number) => {
                    let Choice { input, after, violated, .. } = choices.swap_remove(number - 1);
                    let before = std::mem::replace(&mut self.product, after);
                    self.path.push((before, input));
                    self.write_step(out)?;
                    for claim in violated {
                        write_statement(&CLAIMS[claim], "VIOLATED", AnsiColor::Red, self.style.width, out)
                            .into_diagnostic()?;
                    }
                    choices = self.choices();
                    self.write_choices(&choices, "", out).into_diagnostic()?;
                }
                Some(Command::Take(_)) | None => {
                    let text = format!(
                        "expected a number from 1 to {}, or a command, found `{}`: {HELP}",
                        choices.len(),
                        sanitize(line.trim())
                    );
                    write_hanging(0, "", &text, self.style.width, out).into_diagnostic()?;
                }
            }
        }
    }

    /// Returns the inputs that the kernel accepts here.
    fn choices(&self) -> Vec<Choice> {
        let inputs = self.kernel.inputs(&self.product).into_iter();
        inputs.filter_map(|input| self.choice(input)).collect()
    }

    fn choice(&self, input: Input) -> Option<Choice> {
        let mut row = None;
        let after = self.kernel.step(&self.product, &input, |observation| {
            if let Observation::Row(_) = observation {
                row = Some(observation.name());
            }
        })?;
        let violated = (0..CLAIMS.len()).filter(|claim| !self.holds(*claim, &after)).collect();
        Some(Choice { input, after, row, violated })
    }

    /// Whether a claim holds after a step, or is not applicable under the policy.
    fn holds(&self, claim: usize, product: &Product) -> bool {
        (CLAIMS[claim].not_applicable)(&self.kernel.subject().policy).is_some()
            || self.kernel.holds(claim, product)
    }

    /// Lists the inputs that contain a text: the kind, the phase after it and the transition, and the details of inputs of the same kind.
    fn write_choices(&self, choices: &[Choice], text: &str, out: &mut impl Write) -> io::Result<()> {
        let (phase, width) = (self.product.state.control().phase(), self.style.width);
        let steps = count(self.path.len(), "step");
        write_hanging(
            0,
            "",
            &format!("after {steps}, in {phase}: {}", count(choices.len(), "input")),
            width,
            out,
        )?;
        let kind = |choice: &Choice| InputKind::from(&choice.input);
        let mut is_listed = false;
        for (number, choice) in (1..).zip(choices) {
            let json = serde_json::to_string(&choice.input)?;
            let name = kind(choice).name();
            if !json.contains(text) && !name.contains(text) {
                continue;
            }
            is_listed = true;
            let after = choice.after.state.control().phase();
            let row = choice.row.as_deref().unwrap_or_default();
            let line = format!("{number:>4}   {name:<28} {:<20} {row}", format!("→ {after}"));
            write_hanging(
                DETAIL_COLUMN,
                &format!("{number:>4}"),
                line[DETAIL_COLUMN..].trim_end(),
                width,
                out,
            )?;
            let is_alone = choices.iter().filter(|other| kind(other) == kind(choice)).count() == 1;
            if !is_alone {
                let details = sanitize(&json.replace(",\"", ", \""));
                write_hanging(DETAIL_COLUMN + 2, "", &details, width, out)?;
            }
        }
        if !is_listed {
            write_hanging(DETAIL_COLUMN, "", &format!("no input contains `{}`", sanitize(text)), width, out)?;
        }
        Ok(())
    }

    /// Shows the last step in full.
    fn write_step(&self, out: &mut impl Write) -> Result<()> {
        let path = self.path();
        let evidence = record("step", &path.policy, &path.inputs).into_diagnostic()?;
        let reader = Reader::new(evidence.trace.as_slice(), &evidence.file).into_diagnostic()?;
        let style = show::Style { columns: self.style.width, ..show::Style::default() };
        let view = View { step: Some(self.path.len() as u64), style };
        show::show(reader, &view, out).into_diagnostic()?;
        let open = || Reader::new(evidence.trace.as_slice(), &evidence.file);
        let verdicts = TraceVerdicts::of_trace(open, self.claims).into_diagnostic()?;
        verdicts.report_step(self.claims, self.path.len() as u64, self.style.width, out).into_diagnostic()
    }

    fn write_state(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &self.product.state)?;
        writeln!(out)
    }

    fn write_trace(&self, folder: &Path, out: &mut impl Write) -> Result<()> {
        let saved = save("step", &self.path(), folder)?;
        let file = output::quoted(&saved.trace);
        write_command("show", &format!("orchestrion show {file}"), self.style.width, out).into_diagnostic()
    }

    fn path(&self) -> Counterexample {
        let inputs: Vec<Input> = self.path.iter().map(|(_, input)| input.clone()).collect();
        Counterexample::from_inputs(&self.kernel, &inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn commands_are_parsed() {
        for (line, expected) in [
            ("12\n", Some(Command::Take(12))),
            (" b ", Some(Command::Back)),
            ("/PRO", Some(Command::List("PRO"))),
            ("l", Some(Command::List(""))),
            ("s", Some(Command::State)),
            ("w", Some(Command::Write)),
            ("q", Some(Command::Quit)),
            ("-1", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(Command::parse(line), expected, "{line}");
        }
    }
}
