//! What a recorded conversation looks like. The snapshots are the page: read them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

#[path = "show/band.rs"]
mod band;

use band::{TraceBuilder, con, pro};
use orchestrion_kernel::module::{Failure, Report};
use orchestrion_kernel::plan::Effect;
use orchestrion_kernel::{CallId, ConversationId, Event, Input, Policy, RequestId, State, decide};
use orchestrion_report::show::{ShowError, Style, View, provenance, show};
use orchestrion_trace::{Header, Reader, StepMetadata, StepRecord, Writer};

fn render(trace: &[u8], at: Option<u64>, style: Style) -> String {
    let mut page = Vec::new();
    let reader = Reader::new(trace, "recorded.trace.ndjson").unwrap();
    show(reader, &View { at, style }, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

/// The plain page, of which every line must fit and be harmless.
fn plain(trace: &[u8], at: Option<u64>) -> String {
    let page = render(trace, at, Style::Plain);
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "control characters in: {page}");
    for line in page.lines() {
        assert!(line.chars().count() <= 100, "too wide: {line}");
    }
    page
}

fn happy(policy: Policy) -> Vec<u8> {
    let mut band = TraceBuilder::opens(policy);
    band.asks("Put release 2.4 on the staging cluster and tell the team when it is up");
    band.prepares();
    band.plans();
    band.argues(pro(820_000, "The request is complete: a tag, a cluster and a channel are named."));
    band.revises(
        pro(900_000, "Ship the image first, so that the tag in the message is true."),
        &band::SHIP_IT,
    );
    band.argues(con(750_000, "Nobody checks that the old pods are drained before the message goes out."));
    band.argues(con(300_000, "The registry token is read from the environment; acceptable for staging."));
    band.argues(pro(700_000, "Nothing to save: each task waits for the one before."));
    // The Critic gives in, and the second pass finds enough agreement.
    band.steps();
    band.argues(pro(920_000, "Waiting for the rollout drains the old pods; the plan says so already."));
    band.argues(pro(600_000, "Agreed, `rollout status` returns only when the old pods are gone."));
    band.argues(pro(850_000, "Nothing leaves the staging network."));
    band.argues(pro(700_000, "As before."));
    band.steps();
    band.exits(0, "pushed registry.local/shop:2.4 (sha256:41c2…), 212 MB");
    band.exits(0, "deployment \"shop\" successfully rolled out");
    band.exits(0, "Release 2.4 is up on staging.\nThe message went to #releases.");
    band.steps();
    band.stores();
    band.submit(Input::SessionEnd);
    band.trace()
}

#[test]
fn a_request_that_goes_well() {
    insta::assert_snapshot!("happy_hardened", plain(&happy(Policy::hardened()), None));
    insta::assert_snapshot!("happy_as_drawn", plain(&happy(Policy::as_drawn()), None));
}

fn veto(policy: Policy) -> Vec<u8> {
    let mut band = TraceBuilder::opens(policy);
    band.asks("Delete the staging database and load last night's backup");
    band.prepares();
    band.plans();
    band.argues(pro(700_000, "A restore is asked for, and the backup exists."));
    band.argues(pro(800_000, "Drop, create, load."));
    band.argues(con(710_000, "The backup was never tested."));
    band.argues(con(950_000, "The connection string points at production."));
    band.revises(pro(600_000, "Load in parallel."), &band::FASTER);
    if band.waits_for_security() {
        band.argues(con(960_000, "It still points at production."));
    }
    band.steps();
    // Under the drawing the debate goes on, and Security changes its mind.
    while band.debates() {
        band.argues(pro(810_000, "The string was corrected."));
        band.steps();
    }
    if band.runs() {
        band.exits(0, "dropped");
        band.exits(0, "loaded");
        band.steps();
    }
    band.stores();
    band.trace()
}

#[test]
fn a_veto_in_the_first_pass() {
    insta::assert_snapshot!("veto_hardened", plain(&veto(Policy::hardened()), None));
    insta::assert_snapshot!("veto_as_drawn", plain(&veto(Policy::as_drawn()), None));
}

fn between_the_lines(policy: Policy) -> Vec<u8> {
    let mut band = TraceBuilder::opens(policy);
    band.asks("Put release 2.4 on the staging cluster");
    band.prepares();
    band.plans();
    while band.debates() {
        let argument = if band.waits_for_security() {
            con(700_000, "The image is not signed.")
        } else {
            pro(900_000, "Staging needs no signature.")
        };
        band.argues(argument);
        band.steps();
    }
    band.trace()
}

#[test]
fn three_passes_between_the_lines() {
    insta::assert_snapshot!("between_hardened", plain(&between_the_lines(Policy::hardened()), None));
    insta::assert_snapshot!("between_as_drawn", plain(&between_the_lines(Policy::as_drawn()), None));
}

fn blocked() -> Vec<u8> {
    let mut band = TraceBuilder::opens(Policy::hardened());
    band.asks("Make it faster");
    band.prepares();
    band.plans();
    while band.debates() {
        band.argues(if band.waits_for_security() {
            con(850_000, "Faster than what?")
        } else {
            pro(500_000, "")
        });
        band.steps();
    }
    band.stores();
    band.asks("Make the checkout page faster");
    band.prepares();
    band.fails(Failure::Malformed);
    band.answers(Report::Stored { held: false });
    band.fails(Failure::NoCandidates);
    band.fails(Failure::Timeout);
    band.fails(Failure::Timeout);
    band.fails(Failure::Timeout);
    band.submit(Input::SessionEnd);
    band.trace()
}

#[test]
fn a_rejected_plan_and_a_silent_planner() {
    insta::assert_snapshot!("blocked", plain(&blocked(), None));
}

fn repair(policy: Policy) -> Vec<u8> {
    let mut band = TraceBuilder::opens(policy);
    band.asks("Put release 2.4 on the staging cluster");
    band.prepares();
    band.plans();
    band.agrees();
    band.exits(0, "pushed");
    band.exits(1, "error: deployment \"shop\" exceeded its progress deadline");
    band.steps();
    band.repairs("The readiness probe asks port 8080; release 2.4 listens on 80.", &band::REPAIR);
    if band.waits_for_security() {
        band.argues(pro(900_000, "The probe stays inside the cluster."));
    }
    band.steps();
    band.exits(0, "probe patched");
    band.fails(Failure::Timeout);
    if band.runs() {
        band.exits(124, "timed out");
    }
    band.steps();
    band.answers(Report::NoRepair { text: "The image does not start on this kernel.".into() });
    band.exits(0, "deployment \"shop\" rolled back");
    band.exits(0, "probe restored");
    band.exits(7, "registry is read-only until 06:00");
    band.steps();
    band.answers(Report::Stored { held: true });
    band.fails(Failure::Timeout);
    band.fails(Failure::Error);
    band.answers(Report::Delivered);
    band.trace()
}

#[test]
fn a_repair_that_fails_is_rolled_back() {
    insta::assert_snapshot!("repair_hardened", plain(&repair(Policy::hardened()), None));
    insta::assert_snapshot!("repair_as_drawn", plain(&repair(Policy::as_drawn()), None));
}

fn mismatch(policy: Policy) -> Vec<u8> {
    let mut band = TraceBuilder::opens(policy);
    band.asks("Show me the payroll");
    band.answers(Report::Identity { gcp: true, mongodb: false });
    band.stores();
    band.submit(Input::SessionStart { user: band::user("grace") });
    band.trace()
}

#[test]
fn an_identity_that_does_not_match() {
    insta::assert_snapshot!("mismatch_hardened", plain(&mismatch(Policy::hardened()), None));
    insta::assert_snapshot!("mismatch_as_drawn", plain(&mismatch(Policy::as_drawn()), None));
}

fn cancelled() -> Vec<u8> {
    let mut band = TraceBuilder::opens(Policy::hardened());
    band.asks("Put release 2.4 on the staging cluster");
    band.submit(Input::SessionEnd);
    band.prepares();
    band.plans();
    band.agrees();
    band.exits(0, "pushed");
    band.submit(Input::Cancel);
    band.exits(0, "deployment \"shop\" rolled back");
    band.exits(0, "tag removed");
    band.late_reply();
    band.steps();
    band.submit(Input::Cancel);
    band.stores();
    band.asks("Never mind");
    band.trace()
}

#[test]
fn a_run_that_is_cancelled() {
    insta::assert_snapshot!("cancelled", plain(&cancelled(), None));
}

#[test]
fn texts_that_would_act_on_the_terminal_are_shown_as_signs() {
    let mut band = TraceBuilder::opens(Policy::hardened());
    band.asks(
        "Say \x1b[31mred\x1b[0m\x07, go back \x1b[2J\x1b[H and\r\n\r\nhide this: \u{202e}gnp.exe\u{200b}",
    );
    band.prepares();
    band.plan(vec![band::task(
        1,
        "print \x1b]0;owned\x07",
        Effect::Undoable { compensation: "\u{9b}2J".into() },
    )]);
    band.argues(pro(900_000, "\x1b[31mall good\x1b[0m"));
    let trace = band.trace();
    insta::assert_snapshot!("signs", plain(&trace, None));
    for n in 1..=8 {
        plain(&trace, Some(n));
    }
    let colour = render(&trace, None, Style::Colour);
    assert!(!colour.contains("\x1b[2J") && !colour.contains("\x1b]0;") && !colour.contains('\u{202e}'));
}

#[test]
fn one_step_in_full() {
    let trace = repair(Policy::hardened());
    insta::assert_snapshot!("at_plan", plain(&trace, Some(7)));
    insta::assert_snapshot!("at_repair", plain(&trace, Some(22)));
    insta::assert_snapshot!("at_audit", plain(&happy(Policy::hardened()), Some(29)));
    insta::assert_snapshot!("at_refused", plain(&cancelled(), Some(3)));
    for trace in [&trace, &veto(Policy::as_drawn()), &cancelled()] {
        for n in 1..=trace.iter().filter(|byte| **byte == b'\n').count() as u64 - 2 {
            plain(trace, Some(n));
        }
    }
}

#[test]
fn a_step_beyond_the_trace_says_how_many_there_are() {
    let trace = mismatch(Policy::hardened());
    for (at, expected) in [
        (0, "no step 0: the trace has 5 steps; expected a number from 1 to 5"),
        (6, "no step 6: the trace has 5 steps; expected a number from 1 to 5"),
    ] {
        let reader = Reader::new(&trace[..], "recorded.trace.ndjson").unwrap();
        let error = show(reader, &View { at: Some(at), style: Style::Plain }, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn what_a_summary_stands_for_is_read_from_the_log() {
    let trace = include_bytes!("../../specs/scenarios/compaction.ndjson");
    let told = |item, to: usize| {
        let (mut page, reader) = (Vec::new(), Reader::new(&trace[..to], "compaction.ndjson").unwrap());
        let ended = provenance(reader, item, Style::Plain, &mut page).map_err(|error| error.to_string());
        (String::from_utf8(page).unwrap(), ended)
    };
    insta::assert_snapshot!("item_summary", told(7, trace.len()).0);
    let (_, unknown) = told(999, trace.len());
    assert!(unknown.unwrap_err().starts_with("no item 999: expected a number from 1 to "));
    let (page, torn) = told(7, trace.len() - 20);
    assert!(page.contains("11 stops") && torn.is_err(), "{page}");
}

#[test]
fn a_torn_trace_is_shown_up_to_where_it_is_torn() {
    let trace = happy(Policy::hardened());
    let torn = &trace[..trace.len() - 20];
    let mut page = Vec::new();
    let reader = Reader::new(torn, "recorded.trace.ndjson").unwrap();
    let error = show(reader, &View::default(), &mut page).unwrap_err();
    assert!(matches!(error, ShowError::Trace(_)));
    let whole = plain(&trace, None);
    let page = String::from_utf8(page).unwrap();
    assert!(whole.starts_with(&page) && page.len() > 5_000, "{page}");
}

/// A chain proves who wrote a file last, not that a kernel decided what it says.
#[test]
fn a_trace_that_no_kernel_decided_is_shown_all_the_same() {
    let mut header = Header::new(ConversationId::new("made-up\x1b[2J"), Policy::hardened(), None);
    header.kernel = "0.0.9".into();
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    let opened = decide(
        &Policy::hardened(),
        &State::new(ConversationId::new("demo")),
        &Input::SessionStart { user: band::user("ada") },
    );
    let asked = Event::UserMsg { request: RequestId::new(7), user: band::user("eve"), text: "".into() };
    let inputs = [
        Input::reply(CallId::new(9), Report::Exit { code: -1, text: "".into() }),
        Input::CallFailed { call: CallId::new(9), failure: Failure::Timeout },
        Input::Step,
        Input::Cancel,
        Input::SessionEnd,
    ];
    for events in [vec![], opened.unwrap(), vec![asked]] {
        for input in &inputs {
            writer.step(&StepMetadata::default(), input, StepRecord::accepted(&events, None)).unwrap();
        }
    }
    writer.step(&StepMetadata::default(), &Input::Cancel, StepRecord::refused("no \x1b[31mreason")).unwrap();
    let trace = writer.end().unwrap();
    let page = plain(&trace, None);
    assert!(page.contains("note: kernel version: recorded 0.0.9, here "), "{page}");
    assert!(page.ends_with("16 steps, 5 requests, 1 input refused\n"), "{page}");
    for n in 1..=16 {
        plain(&trace, Some(n));
    }
}

#[test]
fn colours_change_nothing_but_the_ink() {
    for trace in [happy(Policy::hardened()), veto(Policy::as_drawn()), repair(Policy::hardened())] {
        let colour = render(&trace, None, Style::Colour);
        let mut bare = String::new();
        let mut rest = colour.as_str();
        while let Some(at) = rest.find('\x1b') {
            bare.push_str(&rest[..at]);
            let escape = &rest[at..];
            rest = &escape[escape.find('m').unwrap() + 1..];
        }
        bare.push_str(rest);
        assert_eq!(bare, plain(&trace, None));
    }
}

/// When the host looked at the clock, and what it had to say.
#[test]
fn times_and_notes_stand_beside_their_steps() {
    let trace = repair(Policy::hardened());
    let reader = Reader::new(&trace[..], "recorded.trace.ndjson").unwrap();
    let mut writer = Writer::new(Vec::new(), reader.header()).unwrap();
    for step in reader {
        let step = step.unwrap();
        let at_ms = if step.n == 4 { 0 } else { 1_790_000_000_000 + 7 * step.n.pow(5) };
        let note = match step.n {
            5 => Some("the host\x1b[31m panicked: no such module".to_string()),
            9 => Some("half a line came, and was thrown away".to_string()),
            _ => None,
        };
        let made = StepRecord::accepted(&step.events, step.context.as_ref());
        writer.step(&StepMetadata { at_ms, note }, &step.input, made).unwrap();
    }
    let trace = writer.end().unwrap();
    insta::assert_snapshot!("times", plain(&trace, None));
    let fifth = plain(&trace, Some(5));
    assert!(fifth.contains("note          the host␛[31m panicked"), "{fifth}");
    assert!(fifth.contains("time          +21.8s after the first step"), "{fifth}");
}

/// The golden trace of a scenario.
fn golden(name: &str) -> Vec<u8> {
    let path = format!("{}/../specs/scenarios/{name}.ndjson", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

#[test]
fn what_becomes_of_a_write_is_told_under_it() {
    let cases: [(&str, &[&str]); 5] = [
        (
            "authority-override",
            &[
                "a fact, offer: \"let us offer 25 %\" from Ivo (guest), to supersede",
                "→ overruled by discount (authority): \"max 15 %\"",
                "→ denied: a constraint takes manager or above",
            ],
        ),
        (
            "supersession",
            &[
                "→ supersedes address_v1 (explicit): \"123 Main St\"",
                "→ was known already, and changes nothing",
                "→ overruled by stock (temporal): \"$95\"",
            ],
        ),
        (
            "repair-propagation",
            &[
                "→ supersedes rate (explicit): \"4 %\"",
                "→ 2 facts to be reviewed: interest, payment",
                "→ supersedes interest (implicit): \"$40\"",
            ],
        ),
        (
            "scope-isolation",
            &[
                "\"$50\" from Ada (employee), hypothetical half price",
                "→ hides price there: \"$100\"",
                "\"60 %\" from CFO (executive), for manager and above",
                "→ 1 item expired and forgotten: code",
            ],
        ),
        (
            "compaction",
            &[
                "→ supersedes north (implicit): \"3 stops in the north\"",
                "→ 4 items forgotten for the summary: north, south, east",
            ],
        ),
    ];
    for (name, told) in cases {
        let page = plain(&golden(name), None);
        let mut rest = page.as_str();
        for line in told {
            let at = rest.find(line).unwrap_or_else(|| panic!("{name}: `{line}` is missing in\n{page}"));
            rest = &rest[at + line.len()..];
        }
    }
}

#[test]
fn where_a_fact_counts_and_whom_it_is_for_stands_beside_it() {
    let page = plain(&golden("scope-isolation"), Some(8));
    assert!(page.contains("fact price  \"$100\""), "{page}");
    assert!(page.contains("fact price, hypothetical half price  \"$50\""), "{page}");
    assert!(page.contains("fact margin, for manager and above  \"60 %\""), "{page}");
}
