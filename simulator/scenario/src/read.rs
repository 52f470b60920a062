//! Reads a scenario and checks what the form of the file does not determine.

use crate::build_script::build_script;
use crate::format::{InterruptFile, PhaseVisitFile, RequestFile, ScenarioFile};
use crate::names::{Count, PhaseName};
use crate::policy_file;
use crate::{PhaseVisit, Scenario, ScriptedEvent, ScriptedRequest, ScriptedWrite, ScriptedWriteFile};
use orchestrion_kernel::{ConversationId, Policy, UserId};
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned};
use std::path::Path;

/// Reads a scenario.
pub(crate) fn read_scenario(source: Source, base_dir: &Path) -> Result<Scenario, ReadError> {
    let file: ScenarioFile = source.parse()?;
    let policy = match &file.policy {
        None => Policy::hardened(),
        Some(policy) => policy_file::look_up(policy.value.as_str(), base_dir)
            .map_err(|error| error.into_read_error(&source, policy.span(), "named here"))?,
    };
    build_scenario(source, &file, policy)
}

/// Reads a scenario under this policy, whatever policy the file names.
pub(crate) fn read_scenario_under(source: Source, policy: Policy) -> Result<Scenario, ReadError> {
    let file: ScenarioFile = source.parse()?;
    build_scenario(source, &file, policy)
}

fn build_scenario(source: Source, file: &ScenarioFile, policy: Policy) -> Result<Scenario, ReadError> {
    let path = Path::new(source.name());
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let in_source = |error| ReadError::in_source(&source, error);
    if file.requests.value.is_empty() {
        let error = LabeledError::new(
            "expected at least one request, found an empty list",
            "add `- text: …` under `requests`",
        );
        return Err(in_source(error.with_label(file.requests.span(), "no request")));
    }
    let requests = file.requests.value.iter().map(|request| build_request(request, file));
    let requests = requests.collect::<Result<Vec<_>, _>>().map_err(in_source)?;
    let deadlines = file.deadlines.to_runtime().map_err(in_source)?;
    let script =
        build_script(&source, &file.seed, &file.modules, &file.requests, &requests).map_err(in_source)?;
    let conversation = file.conversation.as_ref().map_or(name.as_str(), |name| name.as_str());
    Ok(Scenario {
        description: file.description.as_str().to_owned(),
        policy,
        conversation: ConversationId::new(conversation),
        requests,
        script,
        deadlines,
        name,
        source,
    })
}

fn build_request(file: &RequestFile, scenario: &ScenarioFile) -> Result<ScriptedRequest, LabeledError> {
    let at = |phase: &PhaseName, visit: &Count| PhaseVisit { phase: phase.0, visit: visit.0.get() };
    let mut events = Vec::new();
    for entry in &file.write.0 {
        let ScriptedWriteFile { write, refused } = &entry.value;
        let write = Spanned::new(write.to_kernel()?, entry.span());
        let write = ScriptedWrite { write, refused: *refused };
        events.push((PhaseVisit::START, ScriptedEvent::Write(Box::new(write))));
    }
    for Spanned { value: InterruptFile { phase, visit, text }, .. } in &file.interrupt.0 {
        events.push((at(phase, visit), ScriptedEvent::Interrupt(text.text())));
    }
    for Spanned { value: PhaseVisitFile { phase, visit }, .. } in &file.crash.0 {
        events.push((at(phase, visit), ScriptedEvent::Crash));
    }
    for entry in &file.cancel.0 {
        let PhaseVisitFile { phase, visit } = &entry.value;
        let cancel = (at(phase, visit), ScriptedEvent::Cancel);
        if events.contains(&cancel) {
            // A cancel is the next input, so the second one would occur at another point.
            return Err(LabeledError::new("duplicate cancel in the same phase visit", "keep one of the two")
                .with_label(entry.span(), "second cancel"));
        }
        events.push(cancel);
    }
    Ok(ScriptedRequest {
        user: UserId::new(file.user.as_ref().unwrap_or(&scenario.user).text()),
        text: file.text.text(),
        events,
    })
}
