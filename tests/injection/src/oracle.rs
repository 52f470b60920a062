//! The oracle: what the host knows, against what a journal contains. It reads the lines as JSON, and no code of the runtime.

use crate::disk::Disk;
use crate::fault::FaultKind;
use crate::ledger::{Effect, Ledger};
use orchestrion_kernel::Event;
use orchestrion_kernel::event::{EffectOutcome, TaskRecord};
use orchestrion_kernel::module::ConclusionKind;
use orchestrion_text::StandardContexts;
use orchestrion_trace::Reader;
use orchestrion_trace::replay::replay;
use serde_json::Value;

/// The journal before a process opens it.
#[derive(Debug)]
pub(crate) struct Before {
    /// What processes wrote.
    written: Vec<u8>,
    durable_bytes: usize,
    content: Vec<u8>,
}

/// What a process found when it opened the journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub(crate) steps: u64,
    /// Whether the process reports that it dropped lines.
    pub(crate) is_loss_stated: bool,
    /// Whether it read lines from a snapshot instead of the journal.
    pub(crate) used_snapshot: bool,
}

impl Before {
    pub(crate) fn new(disk: &Disk) -> Self {
        let state = disk.state();
        Self {
            written: state.written.clone(),
            durable_bytes: state.durable_bytes,
            content: state.content().to_vec(),
        }
    }

    /// Checks that a refused journal is unchanged.
    pub(crate) fn check_unchanged(&self, disk: &Disk) -> Result<(), String> {
        match disk.content() == self.content {
            true => Ok(()),
            false => Err("a refused journal was changed".to_owned()),
        }
    }

    /// Checks what a process accepted, and corrects the ledger where a loss was stated.
    pub(crate) fn check_opened(
        &self,
        disk: &Disk,
        ledger: &mut Ledger,
        mut opened: Opened,
        passed_step: Option<u64>,
    ) -> Result<(), String> {
        let mut kept = disk.content();
        let states_loss = !kept.is_empty() && kept != self.content;
        if states_loss {
            // The step that states a loss is no step of an earlier process.
            let line: Value =
                serde_json::from_slice(&kept.split_off(last_line_start(&kept))).unwrap_or_default();
            let expected = if passed_step.is_none() { "steps" } else { "call" };
            if (&line["n"], &line["possible_loss"]) != (&opened.steps.into(), &expected.into()) {
                return Err(format!("expected a step with the loss {expected}, found {line}"));
            }
            opened.steps -= 1;
        } else if kept.is_empty() {
            // A snapshot shows that the lines are lost; the step that states it is not written yet.
            opened.steps = 0;
        }
        let (is_damaged, is_lossy) = {
            let disk = disk.state();
            let is_misread = disk.met.contains(&FaultKind::CorruptedRead);
            (disk.is_damaged || is_misread, disk.has_lost_lines)
        };
        let is_written = (kept.is_empty() || kept.ends_with(b"\n")) && self.written.starts_with(&kept);
        // With a snapshot, the lines before it are not read again.
        let hides_damage = !is_written && (is_damaged || is_lossy) && opened.used_snapshot;
        const STATED: &[u8] = br#""possible_loss":"steps""#;
        let is_stated = states_loss || kept.windows(STATED.len()).any(|part| part == STATED);
        let must_be_stated = opened.is_loss_stated || passed_step.is_none();
        if must_be_stated && !is_stated && !kept.is_empty() && !hides_damage {
            return Err("no step states that lines may be lost".to_owned());
        }
        if !is_written && !hides_damage {
            return Err(format!(
                "accepted {} bytes that no process wrote: {}",
                kept.len(),
                first_difference(&self.written, &kept)
            ));
        }
        if let Some(step) = passed_step.filter(|step| *step > opened.steps) {
            return Err(format!("{} steps are accepted before the acknowledged step {step}", opened.steps));
        }
        // A damaged header makes all of a short journal a torn tail. A process that removed it may have ended before it stated the loss, and
        // an empty journal is a new one.
        let is_removed = is_damaged && kept.is_empty();
        let is_loss_permitted = is_lossy || is_removed || (is_damaged && opened.is_loss_stated);
        if kept.len() < self.durable_bytes && !is_loss_permitted {
            return Err(format!(
                "{} of {} durable bytes are left; damaged: {is_damaged}, stated: {}",
                kept.len(),
                self.durable_bytes,
                opened.is_loss_stated
            ));
        }
        for (effect, executed) in &mut ledger.effects {
            if executed.step > opened.steps && !is_loss_permitted {
                return Err(format!("the call of {effect:?} at step {} is lost", executed.step));
            }
            executed.is_lost |= executed.step > opened.steps;
            executed.step = executed.step.min(opened.steps);
        }
        // A damaged line is no JSON.
        let lines = if hides_damage { Vec::new() } else { parse(&kept) };
        for input in &mut ledger.inputs {
            let (Some(key), Some(found)) = (&input.key, input.acknowledgement) else { continue };
            if hides_damage {
                // The snapshot contains the inputs of its steps.
                input.acknowledgement =
                    Some(found).filter(|found| found.step <= opened.steps || !is_loss_permitted);
                continue;
            }
            match keyed_step(&lines, key) {
                Some((step, content)) => {
                    if step != found.step || !content.contains(input.content.text()) {
                        return Err(format!(
                            "`{key}` was acknowledged as step {}, and is step {step}: {content}",
                            found.step
                        ));
                    }
                }
                // The host sends it again.
                None if is_loss_permitted => input.acknowledgement = None,
                None => return Err(format!("the acknowledged input `{key}` of step {} is lost", found.step)),
            }
        }
        if is_written && !opened.used_snapshot {
            disk.state().forget_damage();
        }
        if is_loss_permitted {
            ledger.step = ledger.step.min(opened.steps);
        }
        Ok(())
    }
}

/// Whether a closed journal replays equally.
pub(crate) fn is_replayed(content: &[u8]) -> bool {
    Reader::new(content, "office.ndjson")
        .is_ok_and(|reader| replay(reader, None, &StandardContexts).is_equal())
}

/// Checks a closed journal against everything that the host knows.
pub(crate) fn check_closed(content: &[u8], ledger: &Ledger) -> Result<(), String> {
    let reader =
        Reader::new(content, "office.ndjson").map_err(|error| format!("unreadable at the end: {error}"))?;
    let replayed = replay(reader, None, &StandardContexts);
    if !replayed.is_equal() {
        return Err(format!("no equal replay at the end: {replayed:?}"));
    }
    let lines = parse(content);
    let mut last_ms = 0;
    // The time of a refused input does not count.
    for line in lines.iter().filter(|line| line["n"].is_u64() && line["refused"].is_null()) {
        let at_ms = line["at_ms"].as_u64().unwrap_or(0);
        if at_ms < last_ms {
            return Err(format!("the time of step {} goes back", line["n"]));
        }
        last_ms = at_ms;
    }
    for input in &ledger.inputs {
        let text = input.content.text();
        let recorded: Vec<&Value> =
            lines.iter().filter(|line| line["idempotency"]["key"].as_str() == input.key.as_deref()).collect();
        let executed = ledger.effects.keys().any(|effect| effect.request == text);
        match (&input.key, input.acknowledgement) {
            (Some(key), Some(found)) => {
                let [line] = recorded.as_slice() else {
                    return Err(format!("{} steps have the key `{key}`", recorded.len()));
                };
                if line["n"] != found.step || line["refused"].is_null() != found.is_accepted {
                    return Err(format!("`{key}` was acknowledged as {found:?}, and is {line}"));
                }
                if executed && !found.is_accepted {
                    return Err(format!("an effect of the refused request {text:?} happened"));
                }
            }
            (Some(key), None) => return Err(format!("`{key}` is not acknowledged at the end")),
            (None, _) => {}
        }
    }
    check_audits(content, ledger)
}

/// Checks the recorded outcomes of effects against the world. *Kept* means that an effect was not undone; after a timeout or a cancel it
/// may never have happened (decision 0003). A journal that lost the call of a compensation does not know that it was undone.
fn check_audits(content: &[u8], ledger: &Ledger) -> Result<(), String> {
    let reader = Reader::new(content, "office.ndjson").map_err(|error| error.to_string())?;
    let mut request = String::new();
    for event in reader.map_while(Result::ok).flat_map(|step| step.events) {
        let record = match event {
            Event::UserMsg { text, .. } => {
                request = text.to_string();
                continue;
            }
            Event::AuditRecorded { record } => record,
            _ => continue,
        };
        let executed =
            |task: u32, is_undone| ledger.effects.get(&Effect { request: request.clone(), task, is_undone });
        for TaskRecord { task, effect } in &record.tasks {
            let (run, undo) = (executed(task.number(), false), executed(task.number(), true));
            let (ran, was_undone) = (run.is_some(), undo.is_some());
            let is_known_undone = undo.is_some_and(|undo| !undo.is_lost);
            let is_consistent = match effect {
                Some(EffectOutcome::Kept) if record.conclusion.kind == ConclusionKind::Outcome => {
                    ran && !is_known_undone
                }
                Some(EffectOutcome::Kept) => !is_known_undone,
                Some(EffectOutcome::Undone) => was_undone,
                Some(EffectOutcome::UndoFailed) | None => true,
            };
            if !is_consistent {
                return Err(format!(
                    "{request:?}: the audit records task {task} as {effect:?}; it ran: {ran}, was undone: {was_undone}"
                ));
            }
        }
        let is_listed = |effect: &&Effect| record.tasks.iter().any(|task| task.task.number() == effect.task);
        let mut effects =
            ledger.effects.iter().filter(|(_, executed)| !executed.is_lost).map(|(effect, _)| effect);
        let unlisted = effects.find(|effect| effect.request == request && !is_listed(effect));
        if let Some(effect) = unlisted {
            return Err(format!("the audit does not list {effect:?}"));
        }
    }
    Ok(())
}

pub(crate) fn last_line_start(content: &[u8]) -> usize {
    let before = content.strip_suffix(b"\n").unwrap_or(content);
    before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
}

/// The lines after the header as JSON. A line that is none is skipped: other checks find it.
fn parse(content: &[u8]) -> Vec<Value> {
    content
        .split(|byte| *byte == b'\n')
        .skip(1)
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

/// The step of a key, and its input as JSON.
fn keyed_step(lines: &[Value], key: &str) -> Option<(u64, String)> {
    let line = lines.iter().find(|line| line["idempotency"]["key"] == key)?;
    Some((line["n"].as_u64()?, line["input"].to_string()))
}

fn first_difference(written: &[u8], kept: &[u8]) -> String {
    let at = written.iter().zip(kept).take_while(|(a, b)| a == b).count();
    let part = |bytes: &[u8]| {
        String::from_utf8_lossy(&bytes[at.min(bytes.len())..(at + 60).min(bytes.len())]).into_owned()
    };
    format!("at byte {at} of {}: expected {:?}, found {:?}", written.len(), part(written), part(kept))
}
