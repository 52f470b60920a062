//! What a scenario file means as a whole, with everything checked that its form alone does not settle.

use super::build_script::ScriptBuilder;
use super::format::{InterruptFile, PhaseVisitFile, RequestFile, ScenarioFile};
use super::names::{Count, PhaseName};
use super::to_kernel::{
    approver, auditor, classifier, diagnosis, identity, memory, planner, reviser, store, summarizer, voice,
};
use super::{PhaseVisit, Scenario, ScriptedEvent, ScriptedRequest, ScriptedWrite, WrittenFile};
use crate::policy_file;
use crate::script::{Script, ScriptKey};
use orchestrion_kernel::module::{Role, Store};
use orchestrion_kernel::{ConversationId, Policy, UserId};
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned};
use std::path::Path;

/// Reads a scenario.
pub(super) fn scenario(source: Source, base_dir: &Path) -> Result<Scenario, ReadError> {
    let file: ScenarioFile = source.parse()?;
    let policy = match &file.policy {
        None => Policy::hardened(),
        Some(policy) => policy_file::look_up(policy.value.as_str(), base_dir)
            .map_err(|problem| problem.drawn_in(&source, policy.span(), "named here"))?,
    };
    meaning(source, &file, policy)
}

/// Reads a scenario under a policy that is at hand, whatever the file names.
pub(super) fn scenario_under(source: Source, policy: Policy) -> Result<Scenario, ReadError> {
    let file: ScenarioFile = source.parse()?;
    meaning(source, &file, policy)
}

fn meaning(source: Source, file: &ScenarioFile, policy: Policy) -> Result<Scenario, ReadError> {
    let path = Path::new(source.name());
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let fault = |fault| ReadError::in_source(&source, fault);
    if file.requests.value.is_empty() {
        let none =
            LabeledError::new("a scenario needs at least one request", "add `- says: …` under `requests`");
        return Err(fault(none.at(file.requests.span(), "no request")));
    }
    let requests = file.requests.value.iter().map(|request| self::request(request, file));
    let requests = requests.collect::<Result<Vec<_>, _>>().map_err(fault)?;
    let deadlines = file.deadlines.meaning().map_err(fault)?;
    let script = script(&source, file, &requests).map_err(fault)?;
    let conversation = file.conversation.as_ref().map_or(name.as_str(), |name| name.as_str());
    Ok(Scenario {
        about: file.about.as_str().to_owned(),
        policy,
        conversation: ConversationId::new(conversation),
        requests,
        script,
        deadlines,
        name,
        source,
    })
}

fn request(file: &RequestFile, scenario: &ScenarioFile) -> Result<ScriptedRequest, LabeledError> {
    let at = |when: &PhaseName, visit: &Count| PhaseVisit { when: when.0, visit: visit.0.get() };
    let mut incidents = Vec::new();
    for write in &file.write.0 {
        let WrittenFile { write: file, refused } = &write.value;
        let written =
            ScriptedWrite { write: Spanned::with_span(file.means(), write.span()), refused: *refused };
        incidents.push((PhaseVisit::BEGIN, ScriptedEvent::Write(Box::new(written))));
    }
    for Spanned { value: InterruptFile { when, visit, says }, .. } in &file.interrupt.0 {
        incidents.push((at(when, visit), ScriptedEvent::Interrupt(says.text())));
    }
    for Spanned { value: PhaseVisitFile { when, visit }, .. } in &file.crash.0 {
        incidents.push((at(when, visit), ScriptedEvent::Crash));
    }
    for written in &file.cancel.0 {
        let PhaseVisitFile { when, visit } = &written.value;
        let cancel = (at(when, visit), ScriptedEvent::Cancel);
        if incidents.contains(&cancel) {
            // A cancel takes the place of what comes next, so there is no second one at that moment.
            return Err(LabeledError::new("the user cancels twice at one moment", "keep one of the two")
                .at(written.span(), "a second time"));
        }
        incidents.push(cancel);
    }
    Ok(ScriptedRequest {
        user: UserId::new(file.user.as_ref().unwrap_or(&scenario.user).text()),
        says: file.says.text(),
        incidents,
    })
}

fn script(
    source: &Source,
    file: &ScenarioFile,
    requests: &[ScriptedRequest],
) -> Result<Script, LabeledError> {
    let m = &file.modules.value;
    let mut parts = ScriptBuilder::new(file.seed.as_str(), requests);
    parts.put(ScriptKey::Identity, m.identity.as_ref(), identity)?;
    parts.put(ScriptKey::Memory, m.memory.as_ref(), memory)?;
    parts.put(ScriptKey::Summarizer, m.summarizer.as_ref(), summarizer)?;
    parts.put(ScriptKey::Classifier, m.classifier.as_ref(), classifier)?;
    parts.put(ScriptKey::Planner, m.planner.as_ref(), planner)?;
    parts.put(ScriptKey::Voice(Role::Analyst), m.analyst.as_ref(), voice)?;
    parts.put(ScriptKey::Voice(Role::Solution), m.solution.as_ref(), reviser)?;
    parts.put(ScriptKey::Voice(Role::Critic), m.critic.as_ref(), voice)?;
    parts.put(ScriptKey::Voice(Role::Security), m.security.as_ref(), voice)?;
    parts.put(ScriptKey::Voice(Role::Optimizer), m.optimizer.as_ref(), reviser)?;
    parts.put(ScriptKey::Review, m.reread.as_ref(), voice)?;
    parts.put(ScriptKey::Approver, m.approver.as_ref(), approver)?;
    parts.put(ScriptKey::Diagnosis, m.diagnosis.as_ref(), diagnosis)?;
    parts.put(ScriptKey::Store(Store::Local), m.local_store.as_ref(), store)?;
    parts.put(ScriptKey::Store(Store::Cloud), m.cloud_store.as_ref(), store)?;
    parts.put(ScriptKey::Auditor, m.auditor.as_ref(), auditor)?;
    let planned = parts.planned(m);
    parts.put_tasks(&m.tasks, &planned, ScriptKey::Task)?;
    parts.put_tasks(&m.undo, &planned, ScriptKey::Undo)?;
    let place = file.modules.span().or(file.requests.span());
    Ok(parts.script(source.clone(), place))
}
