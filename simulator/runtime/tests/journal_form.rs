//! The short form of a journal: it contains what a trace contains, in fewer bytes, and each event and context is verified.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod office;

use office::{Disk, header, open, run};
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::Conversation;
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::replay;
use orchestrion_trace::{ContextRecord, Header, Reader, Step, StepRecord, TraceErrorKind, Writer};

fn steps(trace: &[u8]) -> Vec<Step> {
    Reader::new(trace, "office").unwrap().map_while(Result::ok).collect()
}

/// The journal and the trace of the same three requests.
fn both_forms() -> (Vec<u8>, Vec<u8>) {
    let mut journal = open(&Disk::default());
    let header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
    let mut trace = Conversation::open_with(Disk::default(), &header, &StandardContexts).unwrap();
    run(&mut journal, 0..3);
    run(&mut trace, 0..3);
    (journal.into_journal().journal, trace.into_journal().journal)
}

/// Writes the steps as a journal after `edit` changed them. The chain is valid.
fn rewritten(steps: &[Step], edit: impl Fn(&mut Step)) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header(Policy::hardened())).unwrap();
    for step in steps {
        let mut step = step.clone();
        edit(&mut step);
        let metadata = step.metadata();
        let record = StepRecord {
            events: &step.events,
            refused: step.refused.as_deref(),
            context: step.context.as_ref(),
        };
        writer.write_step(&metadata, &step.input, record).unwrap();
    }
    writer.end().unwrap()
}

#[test]
fn journal_contains_the_steps_of_a_trace() {
    let (journal, trace) = both_forms();
    let expected = steps(&trace).into_iter().map(|step| {
        let context_digest = step.context.as_ref().map(ContextRecord::record_digest);
        Step { context: None, context_digest, ..step }
    });
    assert!(expected.clone().any(|step| step.context_digest.is_some()));
    assert_eq!(steps(&journal), expected.collect::<Vec<_>>());
    assert!(steps(&trace).len() > 60);
    assert!(journal.len() * 2 < trace.len(), "{} of {} bytes", journal.len(), trace.len());
    for bytes in [journal, trace] {
        let replayed = replay(Reader::new(bytes.as_slice(), "office").unwrap(), None, &StandardContexts);
        assert!(replayed.difference.is_none() && replayed.unverified_steps == 0, "{replayed:?}");
        assert!(replayed.steps > 60);
    }
}

#[test]
fn every_edited_byte_is_detected() {
    let (journal, _) = both_forms();
    let text = String::from_utf8(journal).unwrap();
    let line = text.lines().nth(9).unwrap();
    let start = text.find(line).unwrap();
    for at in start..start + line.len() {
        let mut edited = text.clone().into_bytes();
        edited[at] ^= 1;
        let error = Reader::new(edited.as_slice(), "office").unwrap().find_map(Result::err);
        let (line, kind) = error.map(|error| (error.line, error.kind)).unwrap();
        assert!(!matches!(kind, TraceErrorKind::MissingEnd), "byte {at}: {kind:?}");
        assert!((10..=11).contains(&line), "byte {at}: line {line}");
    }
}

/// Other events and other contexts under a valid chain: a reader refuses the events, and a replay names the step.
#[test]
fn forged_events_and_contexts_are_found() {
    let recorded = steps(&both_forms().1);
    let accepted = |forged: &[u8]| steps(forged).len();
    let difference = |forged: &[u8]| {
        let replayed = replay(Reader::new(forged, "office").unwrap(), None, &StandardContexts);
        replayed.difference.map(|difference| (difference.step, difference.subject))
    };
    let unchanged = rewritten(&recorded, |_| {});
    assert_eq!((accepted(&unchanged), difference(&unchanged)), (recorded.len(), None));

    let forged = rewritten(&recorded, |step| {
        if step.n == 9 {
            step.events.pop();
        }
    });
    assert_eq!(accepted(&forged), 8);
    let error = Reader::new(forged.as_slice(), "office").unwrap().find_map(Result::err).unwrap();
    assert!(matches!(error.kind, TraceErrorKind::EventsDiffer { .. }), "{error}");
    assert_eq!(difference(&forged), Some((9, "the events".to_owned())));

    let at = recorded.iter().find(|step| step.context.is_some()).unwrap().n;
    let forged = rewritten(&recorded, |step| {
        if let Some(context) = step.context.as_mut().filter(|_| step.n == at) {
            context.cost_tokens += 1;
        }
    });
    assert_eq!(difference(&forged), Some((at, "the context".to_owned())));

    let forged = rewritten(&recorded, |step| {
        if step.n == 9 {
            step.events.clear();
            step.refused = Some("no".to_owned());
        }
    });
    assert_eq!(difference(&forged), Some((9, "the input".to_owned())));
}
