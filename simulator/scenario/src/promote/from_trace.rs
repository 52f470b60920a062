//! Promotes a trace: the recorded replies in the order of the calls.
//!
//! A trace can stop during a request, as counterexamples do, or without its end line, as journals do after a crash. A
//! scenario runs to the end, so modules that succeed complete the last request; a note states this.

use super::comparison::{compare, has_public_keys};
use super::scenario_builder::ScenarioBuilder;
use super::{ProjectPolicy, PromoteError, Promotion, RunPolicy, Target, origin, run_promotion};
use crate::expectations::ViolationFold;
use crate::policy_file::EnumName;
use crate::read::STARTS_AT;
use crate::{
    ClaimId, DeadlinesFile, ExpectedClaim, ScenarioExpectFile, ScenarioFile, ScenarioNetworkFile, ScriptForm,
    Seed, TimeText,
};
use orchestrion_files::limits::PROMOTED_STEPS_BYTES_MAX;
use orchestrion_kernel::{Policy, State, Timestamp};
use orchestrion_trace::{Header, Reader, Step, TraceErrorKind};
use orchestrion_yaml::{Spanned, StrictText};
use std::io::BufRead;

/// Promotes a trace under its policy: the scenario repeats it, and expects that the claims fail which it violates, those of the catalogue and
/// `violated`, those of the project. `file` is its path for errors.
///
/// # Errors
/// [`PromoteError`] if the trace is unreadable, contains a step that a scenario cannot express, or differs from the run of
/// the scenario.
pub fn from_trace<R: BufRead>(
    reader: Reader<R>,
    file: &str,
    target: &Target,
    violated: &[String],
) -> Result<Promotion, PromoteError> {
    promote(reader, file, target, violated, None)
}

/// Promotes a trace in a project. If the trace violates claims, the scenario is a test: it expects that they hold, and fails until they
/// do. It has no golden trace, since its run is to change.
///
/// # Errors
/// As [`from_trace`], except that the run may differ from the trace.
pub fn from_trace_in_project<R: BufRead>(
    reader: Reader<R>,
    file: &str,
    target: &Target,
    violated: &[String],
    policy: ProjectPolicy,
) -> Result<Promotion, PromoteError> {
    promote(reader, file, target, violated, Some(policy))
}

fn promote<R: BufRead>(
    reader: Reader<R>,
    file: &str,
    target: &Target,
    violated: &[String],
    project: Option<ProjectPolicy>,
) -> Result<Promotion, PromoteError> {
    let header = reader.header().clone();
    let (steps, mut notes) = read_steps(reader)?;
    let mut builder = ScenarioBuilder::new(&header, file);
    for step in &steps {
        builder.add_step(step, step.n == steps.last().map_or(0, |last| last.n))?;
    }
    let completion = builder.complete(&header)?;
    let recorded = builder.finish()?;
    let mut description = format!("Promoted from {}.", origin(file));
    notes.extend(recorded.refusal_notes);
    if let Some(completion) = completion {
        description = format!("{description} {completion}");
        notes.push(completion);
    }
    let of_catalog =
        violated_claims(&header, &steps).into_iter().map(|id| ExpectedClaim::Catalog(ClaimId(id)));
    let of_project = violated.iter().map(|id| ExpectedClaim::Project(id.clone()));
    let claims: Vec<Spanned<ExpectedClaim>> = of_catalog.chain(of_project).map(Spanned::from).collect();
    let violated = claims.iter().map(|claim| claim.value.id().to_owned()).collect();
    let mut expect = ScenarioExpectFile::default();
    let is_test = project.is_some() && !claims.is_empty();
    *(if is_test { &mut expect.holds } else { &mut expect.fails }) = claims;
    let scenario = ScenarioFile {
        description: StrictText::from(description),
        policy: None,
        conversation: Some(header.conversation.as_str())
            .filter(|name| *name != target.name)
            .map(StrictText::from),
        user: StrictText::from(recorded.user.as_str()),
        identity: None,
        starts_at: steps
            .first()
            .map(|step| Timestamp::from_millis(step.at_ms))
            .filter(|at| *at != STARTS_AT)
            .map(TimeText),
        network: recorded.network.map(|network| ScenarioNetworkFile::Inline(Box::new(network)).into()),
        handoffs: Spanned::default(),
        expect,
        script: EnumName(if is_test { ScriptForm::Partial } else { ScriptForm::Exact }),
        golden: is_test.then(|| false.into()),
        seed: Seed::default(),
        deadlines: DeadlinesFile::default(),
        requests: recorded.requests.into(),
        modules: recorded.modules.into(),
    };
    let policy = match project {
        Some(policy) => RunPolicy::Project(policy),
        None => RunPolicy::Pinned(with_unique_name(header.policy, &mut notes)),
    };
    let (mut promotion, run) = run_promotion(target, scenario, &policy)?;
    match (compare(file, &recorded.steps, &run), &policy) {
        (Ok(note), _) => notes.extend(note),
        // The policy of the project may be corrected already, or differ from that of production.
        (Err(PromoteError::Differs { n, .. }), RunPolicy::Project(project)) => {
            let name = &project.policy.name;
            notes.push(format!(
                "Under the policy {name} of the project, the run differs from the recording from step {n} on."
            ));
        }
        (Err(error), _) => return Err(error),
    }
    promotion.violated = violated;
    if recorded.steps.iter().any(|step| has_public_keys(step)) {
        notes.push(
            "The nodes sign with simulated keys: a run ignores the public keys of the network.".to_string(),
        );
    }
    let metadata = |step: &Step| (step.at_ms, step.note.clone());
    if !recorded.steps.iter().zip(&run).all(|(recorded, step)| metadata(recorded) == metadata(step)) {
        notes.push("The times and notes of the recorded steps are omitted.".to_string());
    }
    promotion.notes = notes;
    Ok(promotion)
}

/// Returns the claims that a recording violates under its policy.
fn violated_claims(header: &Header, steps: &[Step]) -> Vec<&'static str> {
    let mut fold = ViolationFold::new(header.policy.clone(), State::new(header.conversation.clone()));
    steps.iter().for_each(|step| fold.apply(step));
    fold.finish().into_keys().collect()
}

/// Renames a policy that has the name of a built-in policy but other settings.
fn with_unique_name(policy: Policy, notes: &mut Vec<String>) -> Policy {
    if Policy::built_in(&policy.name).is_none_or(|built_in| built_in == policy) {
        return policy;
    }
    let name = format!("{} as recorded", policy.name);
    notes.push(format!(
        "The recorded policy differs from this version's {}; it is named `{name}`.",
        policy.name
    ));
    Policy { name, ..policy }
}

/// Returns the complete steps, with a note if texts were erased, and one if the end line is missing.
fn read_steps<R: BufRead>(mut reader: Reader<R>) -> Result<(Vec<Step>, Vec<String>), PromoteError> {
    let (mut steps, mut notes, mut bytes) = (Vec::new(), Vec::new(), 0);
    while let Some(step) = reader.next() {
        match step {
            Ok(step) => {
                bytes += reader.text().len();
                if bytes > PROMOTED_STEPS_BYTES_MAX {
                    return Err(PromoteError::TooLarge { file: reader.file().to_owned(), n: step.n });
                }
                steps.push(step);
            }
            Err(error) if matches!(error.kind, TraceErrorKind::MissingEnd | TraceErrorKind::Torn) => {
                let reason = match error.kind {
                    TraceErrorKind::Torn => "the next line is incomplete",
                    _ => "the end line is missing",
                };
                notes.push(format!("The recording stops after step {}: {reason}.", steps.len()));
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
    match reader.erased_texts() {
        0 => {}
        texts => notes.push(format!("Erased texts: {texts}. The scenario has placeholders instead of them.")),
    }
    Ok((steps, notes))
}
