//! Replay: the recorded inputs go through the kernel again, and what it decides is held against the record.

use crate::trace::{Header, Layer, Reader, Shown, Step, TraceError, decisions, table_digest};
use orchestrion_kernel::{Event, Events, Policy, State, decide};
use std::io::BufRead;

/// What a replay found.
#[derive(Debug, Default)]
pub struct Replay {
    /// In what the header differs from this kernel, as sentences. Looked at first: it explains the rest.
    pub header: Vec<String>,
    /// Steps that were replayed, the differing one included.
    pub steps: u64,
    /// The first step that differs.
    pub difference: Option<Difference>,
    /// The first step that differs only in texts.
    pub texts: Option<Difference>,
    /// Why the rest could not be read.
    pub unread: Option<TraceError>,
}

/// Where and how a replay departs from the record.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The step.
    pub n: u64,
    /// What is different, as a noun phrase.
    pub what: String,
    /// What the record says.
    pub recorded: String,
    /// What this kernel decides.
    pub replayed: String,
}

impl Replay {
    /// Whether everything was read and decided as recorded, texts included.
    #[must_use]
    pub const fn is_equal(&self) -> bool {
        self.difference.is_none() && self.texts.is_none() && self.unread.is_none()
    }
}

/// Replays a trace, under its own policy unless another is given. It stops at the first decision that
/// differs: after it, the record and the replay are two different conversations.
pub fn replay<R: BufRead>(reader: Reader<R>, policy: Option<&Policy>) -> Replay {
    let header = reader.header().clone();
    let mut found = Replay { header: header_differences(&header, policy), ..Replay::default() };
    let policy = policy.unwrap_or(&header.policy);
    let mut state = State::new(header.conversation.clone());
    for step in reader {
        let step = match step {
            Ok(step) => step,
            Err(error) => {
                found.unread = Some(error);
                break;
            }
        };
        found.steps += 1;
        match again(policy, &mut state, &step) {
            Ok(()) => {}
            Err((Layer::Decisions, difference)) => {
                found.difference = Some(difference);
                break;
            }
            Err((Layer::Texts, difference)) => {
                found.texts.get_or_insert(difference);
            }
        }
    }
    found
}

/// In what a header differs from this build, as sentences.
pub(crate) fn header_differences(header: &Header, policy: Option<&Policy>) -> Vec<String> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, recorded: &str, here: &str| {
        if recorded != here {
            differences.push(format!("{what}: recorded {recorded}, here {here}"));
        }
    };
    differ("kernel version", &header.kernel, orchestrion_kernel::VERSION);
    differ("transition table", &header.table, &table_digest());
    match policy {
        Some(policy) => {
            differ("policy", &header.policy.name, &policy.name);
            if header.policy != *policy && header.policy.name == policy.name {
                differences.push(format!("policy {}: its settings changed since the recording", policy.name));
            }
        }
        None => {
            if Policy::built_in(&header.policy.name).is_some_and(|now| now != header.policy) {
                let name = &header.policy.name;
                differences.push(format!(
                    "policy {name}: the built-in one changed since; replayed with the recorded one"
                ));
            }
        }
    }
    differences
}

fn again(policy: &Policy, state: &mut State, step: &Step) -> Result<(), (Layer, Difference)> {
    let differ = |layer, what: String, recorded: String, replayed: String| {
        Err((layer, Difference { n: step.n, what, recorded, replayed }))
    };
    let events = match (decide(policy, state, &step.input), &step.refused) {
        (Err(refusal), Some(sentence)) => {
            let here = refusal.to_string();
            if here == *sentence {
                return Ok(());
            }
            return differ(Layer::Texts, "the refusal".into(), sentence.clone(), here);
        }
        (Err(refusal), None) => {
            return differ(
                Layer::Decisions,
                "the input".into(),
                format!("accepted, {} events", step.events.len()),
                format!("refused: {refusal}"),
            );
        }
        (Ok(events), Some(sentence)) => {
            return differ(
                Layer::Decisions,
                "the input".into(),
                format!("refused: {sentence}"),
                format!("accepted, {} events", events.len()),
            );
        }
        (Ok(events), None) => events,
    };
    events.iter().for_each(|event| state.apply(event));
    if let Some((layer, difference)) = compare(step, &events) {
        return Err((layer, difference));
    }
    let shown = Shown::after(state, &events);
    if shown != step.context {
        return differ(Layer::Decisions, "the context shown".into(), text(&step.context), text(&shown));
    }
    Ok(())
}

fn compare(step: &Step, events: &Events) -> Option<(Layer, Difference)> {
    let pairs = step.events.len().max(events.len());
    let at = |layer| {
        let same = |a: &Event, b: &Event| match layer {
            Layer::Decisions => decisions(a) == decisions(b),
            Layer::Texts => a == b,
        };
        (0..pairs)
            .find(|i| !matches!((step.events.get(*i), events.get(*i)), (Some(a), Some(b)) if same(a, b)))
    };
    // The common case costs one comparison.
    if step.events == *events {
        return None;
    }
    let (layer, i) =
        at(Layer::Decisions).map(|i| (Layer::Decisions, i)).or(at(Layer::Texts).map(|i| (Layer::Texts, i)))?;
    let event = |events: &Events| events.get(i).map_or("nothing".to_string(), text);
    let what = format!("event {} of {pairs}", i + 1);
    Some((layer, Difference { n: step.n, what, recorded: event(&step.events), replayed: event(events) }))
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| error.to_string())
}
