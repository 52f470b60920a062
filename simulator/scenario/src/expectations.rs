//! Judges a run by the expectations of its scenario.

mod claims;
mod project_claims;
mod request;

pub(crate) use claims::ViolationFold;
pub use project_claims::ProjectClaims;
pub(crate) use request::ObservedContext;

use crate::expect::{RequestExpectFile, ScenarioExpectFile};
use crate::format::ScenarioFile;
use claims::judge_claims;
use orchestrion_claims::{CLAIMS, ClaimCheck};
use orchestrion_trace::{Reader, TraceError};
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned};
use request::{judge_request, observe};

/// The help of an expectation that a run does not meet.
const HELP: &str =
    "correct the scenario or its policy, or the expectation; the trace of the run shows each decision";

/// What a run must give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expectations {
    requests: Vec<Option<Spanned<RequestExpectFile>>>,
    run: ScenarioExpectFile,
}

impl Expectations {
    /// Reads the expectations of a scenario.
    ///
    /// # Errors
    /// [`LabeledError`] for an expectation that no run can meet or miss.
    pub(crate) fn from_file(file: &ScenarioFile) -> Result<Self, LabeledError> {
        let requests: Vec<_> = file.requests.value.iter().map(|request| request.expect.clone()).collect();
        if let Some(empty) =
            requests.iter().flatten().find(|expect| expect.value == RequestExpectFile::default())
        {
            let error = LabeledError::new(
                "expected an expectation, found none",
                "write one, as in `outcome: blocked`, or remove `expect`",
            );
            return Err(error.with_label(empty.span(), "empty"));
        }
        let given = requests.iter().flatten();
        for context in given.flat_map(|expect| &expect.value.contexts.0) {
            request::validate_context(context)?;
        }
        let run = file.expect.clone();
        for claim in run.holds.iter().chain(&run.fails) {
            let error = |message: String, help: &str| {
                Err(LabeledError::new(message, help).with_label(claim.span(), "this claim"))
            };
            let id = claim.value.id();
            let kind = CLAIMS.iter().find(|known| known.id == id).map(|known| known.check);
            if let Some(ClaimCheck::LeadsTo { .. } | ClaimCheck::Contract(_)) = kind {
                return error(
                    format!(
                        "claim {id}: expected a claim about the steps of a run, found one about all runs"
                    ),
                    "remove it here; `orchestrion check` checks it",
                );
            }
            if run.holds.contains(claim) && run.fails.contains(claim) {
                return error(
                    format!("claim {id}: expected under `holds` or under `fails`, found it under both"),
                    "remove it from one of them",
                );
            }
        }
        Ok(Self { requests, run })
    }

    /// Whether the scenario expects nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.iter().all(Option::is_none) && self.run == ScenarioExpectFile::default()
    }

    /// What it expects of claims of the project.
    pub(crate) fn project_claims(&self, source: &Source) -> ProjectClaims {
        ProjectClaims::new(self.run.clone(), source.clone())
    }

    /// Whether contexts are needed to judge a run.
    pub(crate) fn needs_contexts(&self) -> bool {
        self.requests.iter().flatten().any(|expect| !expect.value.contexts.0.is_empty())
    }

    /// Judges a run by its trace and the contexts of its calls. Returns an error for each expectation that it does not meet.
    ///
    /// # Errors
    /// [`TraceError`] for a trace that cannot be read, which no run gives.
    pub(crate) fn judge(
        &self,
        source: &Source,
        trace: &[u8],
        contexts: &[ObservedContext],
    ) -> Result<Vec<ReadError>, TraceError> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let observed = observe(Reader::new(trace, source.name())?)?;
        let mut errors = Vec::new();
        for (at, expect) in self.requests.iter().enumerate() {
            let Some(expect) = expect else { continue };
            match observed.get(at) {
                Some(observed) => errors.extend(judge_request(&expect.value, observed, contexts)),
                None => errors.push(
                    LabeledError::new(
                        "the request: expected to start, found a conversation that halted before",
                        HELP,
                    )
                    .with_label(expect.span(), "expected of this request"),
                ),
            }
        }
        errors.extend(judge_claims(&self.run, Reader::new(trace, source.name())?)?);
        Ok(errors.into_iter().map(|error| ReadError::in_source(source, error)).collect())
    }
}

/// Returns the error of an expectation that a run does not meet.
fn unmet(subject: &str, expected: &str, found: &str, span: Option<miette::SourceSpan>) -> LabeledError {
    LabeledError::new(format!("{subject}: expected {expected}, found {found}"), HELP)
        .with_label(span, "expected here")
}

/// Joins names, or returns `none`.
fn listed(names: impl IntoIterator<Item = String>) -> String {
    let names: Vec<String> = names.into_iter().collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
