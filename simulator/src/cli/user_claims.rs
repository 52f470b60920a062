//! The claims of a project: which files state them, and what a trace says about them.

use super::args::GlobalArgs;
use super::exit_status::ExitStatus;
use super::output::{quoted, write_command, write_hanging};
use super::targets;
use super::test_report::{Diagnostic, Location, Rule};
use miette::Result;
use orchestrion_report::show::ProjectClaim;
use orchestrion_report::text::{count, sanitize};
use orchestrion_scenario::ProjectClaims;
use orchestrion_trace::{Reader, TraceError};
use orchestrion_user_claims::{
    ClaimFile, Enforcement, EventKind, Finding, MAX_CLAIMS, Monitors, UserClaim, Verdict,
};
use orchestrion_yaml::{LabeledError, ReadError};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// Column of a claim's texts.
const COLUMN: usize = 11;

/// The claim files of a command.
#[derive(Debug, clap::Args)]
pub(super) struct ClaimArgs {
    /// Check the claims that this file states, and those of the project; may be repeated.
    #[arg(long = "claims", value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl ClaimArgs {
    /// Reads the claims of the project, if there is one, and of the files, in their order.
    ///
    /// # Errors
    /// A file that is not valid, two claims of one name, and too many claims.
    pub(super) fn read(&self, global: &GlobalArgs) -> Result<Vec<UserClaim>> {
        let mut files = project_files(global)?;
        for file in &self.files {
            if !files.iter().any(|known| is_same_file(known, file)) {
                files.push(file.clone());
            }
        }
        read_claims(&files)
    }
}

/// Whether two paths lead to the same file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The claim files of the project; none outside a project.
fn project_files(global: &GlobalArgs) -> Result<Vec<PathBuf>> {
    Ok(targets::project(global)?.map(|project| project.claims()).unwrap_or_default())
}

/// Reads the claims of the project; none outside a project.
///
/// # Errors
/// As [`ClaimArgs::read`].
pub(super) fn project_claims(global: &GlobalArgs) -> Result<Vec<UserClaim>> {
    read_claims(&project_files(global)?)
}

/// Reads the claims of some files, in the order of the files.
///
/// # Errors
/// As [`ClaimArgs::read`].
pub(super) fn read_claims(files: &[PathBuf]) -> Result<Vec<UserClaim>> {
    let mut claims: Vec<UserClaim> = Vec::new();
    for file in files {
        let file = ClaimFile::read(file)?;
        for claim in &file.claims {
            if let Some(twin) = claims.iter().find(|known| known.id == claim.id) {
                let error = LabeledError::new(
                    format!("duplicate id `{}`: {} states it too", claim.id, twin.place),
                    "rename one of the two",
                );
                return Err(file.error(error.with_label(claim.span, "second")).into());
            }
            if claims.len() == MAX_CLAIMS {
                let error = LabeledError::new(
                    format!("expected at most {MAX_CLAIMS} claims in all files"),
                    "remove a claim, or check the files one after the other",
                );
                return Err(file.error(error.with_label(claim.span, "one too many")).into());
            }
            claims.push(claim.clone());
        }
    }
    Ok(claims)
}

/// A claim as the rule of a diagnostic.
pub(super) fn claim_rule(claim: &UserClaim) -> Rule {
    Rule { id: claim.id.clone().into(), requirement: claim.sentence.clone().into() }
}

/// What a trace says about each claim.
#[derive(Debug)]
pub(super) struct TraceVerdicts {
    /// In the order of the claims.
    verdicts: Vec<TraceVerdict>,
    /// The error that ended reading.
    error: Option<TraceError>,
}

/// What a trace says about one claim.
#[derive(Clone, Debug)]
struct TraceVerdict {
    verdict: Verdict,
    /// Whether an event occurred that can decide the claim.
    is_reached: bool,
    violation: Option<Violation>,
    /// The number of calls that the claim forbids, or would forbid, and the first of them.
    forbidden: (usize, Option<Violation>),
    /// Whether the scenario expects the violation, which is then no failure.
    is_expected: bool,
}

/// The first violation of a claim, or the first call that it forbids.
#[derive(Clone, Debug)]
struct Violation {
    step: u64,
    event: EventKind,
    reason: String,
}

impl TraceVerdict {
    const fn is_decided(&self) -> bool {
        self.is_reached || self.violation.is_some()
    }

    /// The violation, unless the scenario expects it.
    fn unexpected(&self) -> Option<&Violation> {
        self.violation.as_ref().filter(|_| !self.is_expected)
    }
}

impl TraceVerdicts {
    /// Reads a trace or a journal to its end. Without claims it opens nothing.
    ///
    /// # Errors
    /// The trace cannot be opened.
    pub(super) fn of_trace<R: BufRead>(
        open: impl FnOnce() -> Result<Reader<R>, TraceError>,
        claims: &[UserClaim],
    ) -> Result<Self, TraceError> {
        if claims.is_empty() {
            return Ok(Self { verdicts: Vec::new(), error: None });
        }
        let mut reader = open()?;
        let monitors = Monitors::new(claims);
        let mut states = monitors.start();
        let policy = reader.header().policy.clone();
        let start = TraceVerdict {
            verdict: Verdict::Satisfied,
            is_reached: false,
            violation: None,
            forbidden: (0, None),
            is_expected: false,
        };
        let mut verdicts = vec![start; claims.len()];
        let result = reader.try_for_each(|step| {
            let step = step?;
            for event in &step.events {
                monitors.step(&mut states, &policy, event, |finding| match finding {
                    Finding::Premise(claim) => verdicts[claim].is_reached = true,
                    Finding::Forbidden(claim, reason) => {
                        let (count, first) = &mut verdicts[claim].forbidden;
                        *count += 1;
                        let reason = monitors.reason(claim, reason);
                        first.get_or_insert_with(|| Violation {
                            step: step.n,
                            event: EventKind::of(event),
                            reason,
                        });
                    }
                    Finding::Violated(claim, reason) => {
                        let reason = monitors.reason(claim, reason);
                        let first = || Violation { step: step.n, event: EventKind::of(event), reason };
                        verdicts[claim].violation.get_or_insert_with(first);
                    }
                });
            }
            Ok(())
        });
        for (one, verdict) in verdicts.iter_mut().zip(monitors.verdicts(&states)) {
            one.verdict = if one.violation.is_some() { Verdict::Violated } else { verdict };
        }
        Ok(Self { verdicts, error: result.err() })
    }

    /// Success, or failure if a claim is violated. A trace that cannot be read to its end is reported by the command.
    pub(super) fn status(&self) -> ExitStatus {
        let is_violated = |one: &TraceVerdict| one.unexpected().is_some();
        if self.verdicts.iter().any(is_violated) { ExitStatus::Failure } else { ExitStatus::Success }
    }

    /// Takes a violation that the scenario expects for none. Returns the expectations that the trace does not meet.
    pub(super) fn expect(&mut self, claims: &[UserClaim], expected: &ProjectClaims) -> Vec<ReadError> {
        for (claim, one) in claims.iter().zip(&mut self.verdicts) {
            one.is_expected = expected.expects_failure(&claim.id);
        }
        expected.unmet(|id| {
            let position = claims.iter().position(|claim| claim.id == id)?;
            self.verdicts.get(position).map(|one| one.violation.is_some())
        })
    }

    /// The claims that the trace violates.
    pub(super) fn violated<'a>(&'a self, claims: &'a [UserClaim]) -> impl Iterator<Item = &'a UserClaim> {
        let pairs = claims.iter().zip(&self.verdicts);
        pairs.filter(|(_, one)| one.violation.is_some()).map(|(claim, _)| claim)
    }

    /// The claims as the page of a trace shows them.
    pub(super) fn on_page(&self, claims: &[UserClaim]) -> Vec<ProjectClaim> {
        let on_page = |(claim, one): (&UserClaim, &TraceVerdict)| ProjectClaim {
            id: claim.id.clone(),
            sentence: claim.sentence.clone(),
            place: claim.place.clone(),
            verdict: if one.is_decided() {
                one.verdict.to_string()
            } else {
                "no event decides it".to_owned()
            },
            violated_at: one.violation.as_ref().map(|violation| violation.step),
        };
        claims.iter().zip(&self.verdicts).map(on_page).collect()
    }

    /// The violated claims as diagnostics of a trace.
    pub(super) fn diagnostics<'a>(
        &'a self,
        claims: &'a [UserClaim],
        trace: &'a Path,
    ) -> impl Iterator<Item = Diagnostic> + 'a {
        claims.iter().zip(&self.verdicts).filter_map(move |(claim, one)| {
            let Violation { step, event, reason } = one.unexpected()?;
            let message = format!("violated at step {step}, event {}: {reason}", event.name());
            let help = format!("see: orchestrion show {} --step {step}", quoted(trace));
            let diagnostic = Diagnostic::error(&claim_rule(claim), message, Location::of_place(&claim.place));
            Some(diagnostic.with_help(help).at_step(*step))
        })
    }

    /// Writes the claims whose first violation is at a step.
    pub(super) fn report_step(
        &self,
        claims: &[UserClaim],
        at: u64,
        width: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        for (claim, one) in claims.iter().zip(&self.verdicts) {
            if let Some(Violation { step, event, reason }) = &one.violation
                && *step == at
            {
                let text = format!("{} VIOLATED, event {}: {reason}", claim.id, event.name());
                write_violated(claim, &text, width, out)?;
            }
        }
        Ok(())
    }

    /// Writes the claims that are violated, and unless `quiet` the numbers of the others.
    pub(super) fn report(
        &self,
        claims: &[UserClaim],
        trace: &Path,
        quiet: bool,
        width: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        for (claim, one) in claims.iter().zip(&self.verdicts) {
            let Some(Violation { step, event, reason }) = one.unexpected() else { continue };
            let text = format!("{} VIOLATED at step {step}, event {}: {reason}", claim.id, event.name());
            write_violated(claim, &text, width, out)?;
            write_command("show", &format!("orchestrion show {} --step {step}", quoted(trace)), width, out)?;
        }
        if quiet || claims.is_empty() {
            return Ok(());
        }
        for (claim, one) in claims.iter().zip(&self.verdicts) {
            let (calls, Some(Violation { step, reason, .. })) = &one.forbidden else { continue };
            let forbids = match claim.enforcement {
                Enforcement::Shadow => "would forbid",
                Enforcement::None | Enforcement::Enforced => "forbids",
            };
            let calls = count(*calls, "call");
            let text = format!("{} {forbids} {calls}, the first at step {step}: {reason}", claim.id);
            write_hanging(COLUMN, "  claim", &text, width, out)?;
            write_hanging(COLUMN, "", &claim.sentence, width, out)?;
            write_command("show", &format!("orchestrion show {} --step {step}", quoted(trace)), width, out)?;
        }
        // An event that can decide a violated claim has occurred.
        let number = |verdict: Verdict| {
            let is_counted =
                |one: &&TraceVerdict| one.verdict == verdict && one.is_decided() && !one.is_expected;
            self.verdicts.iter().filter(is_counted).count()
        };
        let expected = self.verdicts.iter().filter(|one| one.is_expected).count();
        let counts = Verdict::ALL.map(|verdict| (number(verdict), verdict.to_string()));
        let undecided = self.verdicts.iter().filter(|one| !one.is_decided() && !one.is_expected).count();
        let others = [(expected, "expected to fail"), (undecided, "that no event decides")];
        let counts = counts.into_iter().chain(others.map(|(count, text)| (count, text.to_owned())));
        let parts: Vec<String> =
            counts.filter(|(count, _)| *count > 0).map(|(count, text)| format!("{count} {text}")).collect();
        let text = format!("{} on this trace: {}", count(claims.len(), "claim"), parts.join(", "));
        write_hanging(COLUMN, "  claims", &text, width, out)?;
        if let Some(error) = &self.error {
            write_hanging(COLUMN, "  error", &format!("claims checked up to here: {error}"), width, out)?;
        }
        Ok(())
    }
}

/// Writes a violation of a claim, with what the claim states and where.
fn write_violated(claim: &UserClaim, text: &str, width: usize, out: &mut impl Write) -> io::Result<()> {
    write_hanging(COLUMN, "  claim", text, width, out)?;
    write_hanging(COLUMN, "", &claim.sentence, width, out)?;
    if let Some(why) = &claim.why {
        write_hanging(COLUMN, "", &sanitize(why.trim()), width, out)?;
    }
    write_hanging(COLUMN, "    stated", &sanitize(&claim.place), width, out)
}
