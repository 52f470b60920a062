//! Reads a scenario and checks what the form of the file does not determine.

use crate::expectations::Expectations;
use crate::format::{InterruptFile, PhaseVisitFile, RequestFile, ScenarioFile};
use crate::handoffs::HandoffScript;
use crate::modules::ModulesFile;
use crate::names::{Count, PhaseName};
use crate::network::{ScenarioNetwork, no_network_error};
use crate::policy_file;
use crate::script::{Script, ScriptKey};
use crate::script_builder::ScriptBuilder;
use crate::writes::IdentityFile;
use crate::{
    PhaseVisit, Scenario, ScriptedEvent, ScriptedFile, ScriptedNetworkEvent, ScriptedRequest, ScriptedWrite,
};
use orchestrion_kernel::policy::AdditionalDebater;
use orchestrion_kernel::{ConversationId, NodeId, Policy, Timestamp, UserId};
use orchestrion_runtime::{NewRequest, SessionUser};
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned, suggest_nearest};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// The start of the simulated time, if a scenario states none: 2026-01-01T00:00:00Z.
pub(crate) const STARTS_AT: Timestamp = Timestamp::from_millis(1_767_225_600_000);

impl Scenario {
    /// Reads a scenario file. The path of its policy is relative to the file's folder. Without one, the policy is `hardened`.
    ///
    /// # Errors
    /// [`ReadError`] if the file cannot be opened, is too large, or is not a valid scenario.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Self::read_with_default(path, &Policy::hardened())
    }

    /// Reads a scenario file as [`Scenario::read`], with this policy if the file names none.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub fn read_with_default(path: &Path, default: &Policy) -> Result<Self, ReadError> {
        let source = Source::read(path)?;
        read_scenario(source, path.parent().unwrap_or_else(|| Path::new("")), default)
    }

    /// Reads a scenario file as [`Scenario::read`], but under this policy, whatever policy the file names.
    ///
    /// # Errors
    /// [`ReadError`] if the file cannot be opened, is too large, or is not a valid scenario.
    pub fn read_under(path: &Path, policy: Policy) -> Result<Self, ReadError> {
        let source = Source::read(path)?;
        read_scenario_under(source, policy, path.parent().unwrap_or_else(|| Path::new("")))
    }

    /// Parses a scenario. `name` is the file name for errors; the path of the policy is relative to `base_dir`.
    ///
    /// # Errors
    /// [`ReadError`] if the text is not a valid scenario.
    pub fn parse(name: &str, text: &str, base_dir: &Path) -> Result<Self, ReadError> {
        read_scenario(Source::from_text(name, text)?, base_dir, &Policy::hardened())
    }

    /// Parses a scenario under this policy instead of the named one, whose file may not exist yet.
    ///
    /// # Errors
    /// [`ReadError`] if the text is not a valid scenario.
    pub fn parse_under(name: &str, text: &str, policy: Policy) -> Result<Self, ReadError> {
        read_scenario_under(Source::from_text(name, text)?, policy, Path::new(""))
    }
}

/// Reads a scenario, under the default policy if it names none.
pub(crate) fn read_scenario(
    source: Source,
    base_dir: &Path,
    default: &Policy,
) -> Result<Scenario, ReadError> {
    let file: ScenarioFile = source.parse()?;
    let policy = match &file.policy {
        None => default.clone(),
        Some(policy) => policy_file::look_up(policy.value.as_str(), base_dir)
            .map_err(|error| error.into_read_error(&source, policy.span(), "named here"))?,
    };
    build_scenario(source, &file, policy, base_dir)
}

/// Reads a scenario under this policy, whatever policy the file names.
fn read_scenario_under(source: Source, policy: Policy, base_dir: &Path) -> Result<Scenario, ReadError> {
    let file: ScenarioFile = source.parse()?;
    build_scenario(source, &file, policy, base_dir)
}

fn build_scenario(
    source: Source,
    file: &ScenarioFile,
    policy: Policy,
    base_dir: &Path,
) -> Result<Scenario, ReadError> {
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
    let network = file.network.as_ref();
    let network = network.map(|network| ScenarioNetwork::load(&source, network, joining(file), base_dir));
    let network = network.transpose()?;
    let requests = file.requests.value.iter().map(|request| build_request(request, file, network.as_ref()));
    let requests = requests.collect::<Result<Vec<_>, _>>().map_err(in_source)?;
    let deadlines = file.deadlines.to_runtime().map_err(in_source)?;
    let handoffs = HandoffScript::from_files(&file.handoffs, network.as_ref()).map_err(in_source)?;
    let expectations = Expectations::from_file(file).map_err(in_source)?;
    let has_golden = file.golden.is_none_or(|golden| golden.value);
    if !has_golden && expectations.is_empty() {
        let error = LabeledError::new(
            "expected expectations in a scenario without a golden trace, found none",
            "add `expect`, or remove this line",
        );
        return Err(in_source(
            error.with_label(file.golden.and_then(|golden| golden.span()), "tests nothing"),
        ));
    }
    let script = build_script(&source, file, &requests, network.as_ref(), &policy.additional_debaters);
    let script = script.map_err(in_source)?;
    let conversation = file.conversation.as_ref().map_or(name.as_str(), |name| name.as_str());
    Ok(Scenario {
        description: file.description.as_str().to_owned(),
        policy,
        conversation: ConversationId::new(conversation),
        starts_at: file.starts_at.map_or(STARTS_AT, |at| at.0),
        network: network.map(|network| Box::new(network.input)),
        handoffs,
        requests,
        script,
        deadlines,
        has_golden,
        expectations,
        name,
        source,
        seed: None,
    })
}

/// Returns the nodes that the requests of a scenario let join.
fn joining(file: &ScenarioFile) -> BTreeSet<NodeId> {
    let events = file.requests.value.iter().flat_map(|request| &request.network_events.0);
    events.filter_map(|event| event.value.input.joining()).collect()
}

fn build_request(
    file: &RequestFile,
    scenario: &ScenarioFile,
    network: Option<&ScenarioNetwork>,
) -> Result<ScriptedRequest, LabeledError> {
    let at = |phase: &PhaseName, visit: &Count| PhaseVisit { phase: phase.0, visit: visit.0.get() };
    let mut events = Vec::new();
    for entry in &file.write.0 {
        let ScriptedFile { input: write, at: place, refused } = &entry.value;
        let write = Spanned::new(write.to_kernel()?, entry.span());
        let write = ScriptedWrite { write, refused: *refused };
        let place = place.as_ref().map_or(PhaseVisit::START, |place| at(&place.phase, &place.visit));
        events.push((place, ScriptedEvent::Write(Box::new(write))));
    }
    for entry in &file.network_events.0 {
        let ScriptedFile { input, at: place, refused } = &entry.value;
        let network = network
            .ok_or_else(|| no_network_error("network_events").with_label(entry.span(), "this event"))?;
        let input = Spanned::new(input.to_kernel(network)?, entry.span());
        let event = ScriptedNetworkEvent { input, refused: *refused };
        let place = place.as_ref().map_or(PhaseVisit::START, |place| at(&place.phase, &place.visit));
        events.push((place, ScriptedEvent::Network(Box::new(event))));
    }
    for entry in &file.ingest.0 {
        let text = entry.value.to_source_text(&file.text.text());
        events.push((PhaseVisit::START, ScriptedEvent::Ingest(Box::new(Spanned::new(text, entry.span())))));
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
    let user = file.user.as_ref().unwrap_or(&scenario.user);
    let scenario_identity = scenario.identity.as_ref().filter(|_| *user == scenario.user);
    let identity = file.identity.as_ref().or(scenario_identity).map(IdentityFile::to_kernel);
    Ok(ScriptedRequest {
        after: file.after.map_or(Duration::ZERO, |after| after.0),
        user: SessionUser { user: UserId::new(user.text()), identity },
        request: NewRequest { text: file.text.text(), scope: file.scope.clone(), key: None },
        events,
    })
}

/// Builds the script of a scenario.
fn build_script(
    source: &Source,
    ScenarioFile { seed, modules, requests, script, .. }: &ScenarioFile,
    scripted: &[ScriptedRequest],
    network: Option<&ScenarioNetwork>,
    debaters: &[AdditionalDebater],
) -> Result<Script, LabeledError> {
    check_debater_names(modules, debaters)?;
    let mut builder = ScriptBuilder { cases: BTreeMap::new(), requests: scripted, network };
    modules.value.add_to(&mut builder)?;
    let planned = builder.planned_tasks(modules.value.planner.is_some());
    builder.add_tasks(&modules.value.tasks, &planned, ScriptKey::Task)?;
    builder.add_tasks(&modules.value.undo, &planned, ScriptKey::Undo)?;
    let place = modules.span().or(requests.span());
    Ok(Script::new(source.clone(), place, builder.cases, seed, debaters.to_vec()).with_form(script.0))
}

/// Refuses replies of an additional debater that the policy does not have: no call uses them.
fn check_debater_names(
    modules: &Spanned<ModulesFile>,
    debaters: &[AdditionalDebater],
) -> Result<(), LabeledError> {
    let names: Vec<&str> = debaters.iter().map(|debater| debater.name.as_str()).collect();
    let mut keys = modules.value.additional_debaters.keys();
    let Some(unknown) = keys.find(|name| !names.contains(&name.as_str())) else { return Ok(()) };
    let help = if names.is_empty() {
        "the policy has none; list them under `additional_debaters` in a policy file".to_owned()
    } else {
        format!("{}the policy has {}", suggest_nearest(unknown, names.iter().copied()), names.join(", "))
    };
    let message = format!("unknown additional debater `{}`", unknown.escape_debug());
    Err(LabeledError::new(message, help).with_label(modules.span(), "in these modules"))
}
