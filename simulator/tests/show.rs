//! Terminal output of traces. Review the snapshots as a user would read them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "test helpers")]

#[path = "show/trace_builder.rs"]
mod trace_builder;

use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Failure, Report};
use orchestrion_kernel::plan::Effect;
use orchestrion_kernel::{CallId, ConversationId, Event, Input, Policy, RequestId, State, Timestamp, decide};
use orchestrion_report::show::{ShowError, Style, View, item_history, key_history, show};
use orchestrion_trace::{Header, Reader, StepMetadata, StepRecord, Writer};
use trace_builder::{TraceBuilder, con, pro};
use unicode_width::UnicodeWidthStr;

const COLORED: Style = Style { colors: true, columns: 100 };
const WIDTHS: [usize; 4] = [60, 80, 120, 200];

fn render(trace: &[u8], step: Option<u64>, style: Style) -> String {
    let mut out = Vec::new();
    let reader = Reader::new(trace, "recorded.trace.ndjson").unwrap();
    show(reader, &View { step, style }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Checks that every line fits and contains no control characters.
fn check_lines(text: &str, columns: usize) {
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "control characters in: {text}");
    for line in text.lines() {
        assert!(line.width() <= columns, "longer than {columns} columns: {line}");
    }
}

/// Returns the output without colors at the default width, and checks it at every width.
fn plain(trace: &[u8], step: Option<u64>) -> String {
    for columns in WIDTHS {
        check_lines(&render(trace, step, Style { colors: false, columns }), columns);
    }
    let text = render(trace, step, Style::default());
    check_lines(&text, 100);
    text
}

fn happy(policy: Policy) -> Vec<u8> {
    let mut builder = TraceBuilder::new(policy);
    builder.send_message("Put release 2.4 on the staging cluster and tell the team when it is up");
    builder.prepare();
    builder.reply_plan();
    builder.argue(pro(820_000, "The request is complete: a tag, a cluster and a channel are named."));
    builder.revise(
        pro(900_000, "Ship the image first, so that the tag in the message is true."),
        &trace_builder::REVISED,
    );
    builder.argue(con(750_000, "No task checks that the old pods are drained before the message goes out."));
    builder.argue(con(300_000, "The registry token is read from the environment; acceptable for staging."));
    builder.argue(pro(700_000, "Nothing to save: each task waits for the one before."));
    // The Critic agrees in the second pass.
    builder.run_steps();
    builder.argue(pro(920_000, "Waiting for the rollout drains the old pods; the plan says so already."));
    builder.argue(pro(600_000, "Agreed, `rollout status` returns only when the old pods are gone."));
    builder.argue(pro(850_000, "Nothing leaves the staging network."));
    builder.argue(pro(700_000, "As before."));
    builder.run_steps();
    builder.exit(0, "pushed registry.local/shop:2.4 (sha256:41c2…), 212 MB");
    builder.exit(0, "deployment \"shop\" successfully rolled out");
    builder.exit(0, "Release 2.4 is up on staging.\nThe message went to #releases.");
    builder.run_steps();
    builder.store();
    builder.submit(Input::SessionEnd);
    builder.finish()
}

#[test]
fn timeline_of_successful_request() {
    insta::assert_snapshot!("happy_hardened", plain(&happy(Policy::hardened()), None));
    insta::assert_snapshot!("happy_as_drawn", plain(&happy(Policy::as_drawn()), None));
}

fn veto(policy: Policy) -> Vec<u8> {
    let mut builder = TraceBuilder::new(policy);
    builder.send_message("Delete the staging database and load last night's backup");
    builder.prepare();
    builder.reply_plan();
    builder.argue(pro(700_000, "A restore is asked for, and the backup exists."));
    builder.argue(pro(800_000, "Drop, create, load."));
    builder.argue(con(710_000, "The backup was never tested."));
    builder.argue(con(950_000, "The connection string points at production."));
    builder.revise(pro(600_000, "Load in parallel."), &trace_builder::FASTER);
    if builder.is_security_pending() {
        builder.argue(con(960_000, "It still points at production."));
    }
    builder.run_steps();
    // Under `as-drawn` the debate continues, and Security agrees in the end.
    while builder.is_debating() {
        builder.argue(pro(810_000, "The string was corrected."));
        builder.run_steps();
    }
    if builder.is_running() {
        builder.exit(0, "dropped");
        builder.exit(0, "loaded");
        builder.run_steps();
    }
    builder.store();
    builder.finish()
}

#[test]
fn timeline_of_veto_in_first_pass() {
    insta::assert_snapshot!("veto_hardened", plain(&veto(Policy::hardened()), None));
    insta::assert_snapshot!("veto_as_drawn", plain(&veto(Policy::as_drawn()), None));
}

fn between_thresholds(policy: Policy) -> Vec<u8> {
    let mut builder = TraceBuilder::new(policy);
    builder.send_message("Put release 2.4 on the staging cluster");
    builder.prepare();
    builder.reply_plan();
    while builder.is_debating() {
        let argument = if builder.is_security_pending() {
            con(700_000, "The image is not signed.")
        } else {
            pro(900_000, "Staging needs no signature.")
        };
        builder.argue(argument);
        builder.run_steps();
    }
    builder.finish()
}

#[test]
fn timeline_of_score_between_thresholds() {
    insta::assert_snapshot!("between_hardened", plain(&between_thresholds(Policy::hardened()), None));
    insta::assert_snapshot!("between_as_drawn", plain(&between_thresholds(Policy::as_drawn()), None));
}

fn blocked() -> Vec<u8> {
    let mut builder = TraceBuilder::new(Policy::hardened());
    builder.send_message("Make it faster");
    builder.prepare();
    builder.reply_plan();
    while builder.is_debating() {
        builder.argue(if builder.is_security_pending() {
            con(850_000, "Faster than what?")
        } else {
            pro(500_000, "")
        });
        builder.run_steps();
    }
    builder.store();
    builder.send_message("Make the checkout page faster");
    builder.prepare();
    builder.fail(Failure::Malformed);
    builder.reply(Report::Stored { held: false });
    builder.fail(Failure::NoCandidates);
    builder.fail(Failure::Timeout);
    builder.fail(Failure::Timeout);
    builder.fail(Failure::Timeout);
    builder.submit(Input::SessionEnd);
    builder.finish()
}

#[test]
fn timeline_of_rejected_plan_and_failed_planner() {
    insta::assert_snapshot!("blocked", plain(&blocked(), None));
}

fn repair(policy: Policy) -> Vec<u8> {
    let mut builder = TraceBuilder::new(policy);
    builder.send_message("Put release 2.4 on the staging cluster");
    builder.prepare();
    builder.reply_plan();
    builder.agree();
    builder.exit(0, "pushed");
    builder.exit(1, "error: deployment \"shop\" exceeded its progress deadline");
    builder.run_steps();
    builder.repair("The readiness probe asks port 8080; release 2.4 listens on 80.", &trace_builder::REPAIR);
    if builder.is_security_pending() {
        builder.argue(pro(900_000, "The probe stays inside the cluster."));
    }
    builder.run_steps();
    builder.exit(0, "probe patched");
    builder.fail(Failure::Timeout);
    if builder.is_running() {
        builder.exit(124, "timed out");
    }
    builder.run_steps();
    builder.reply(Report::NoRepair { text: "The image does not start on this kernel.".into() });
    builder.exit(0, "deployment \"shop\" rolled back");
    builder.exit(0, "probe restored");
    builder.exit(7, "registry is read-only until 06:00");
    builder.run_steps();
    builder.reply(Report::Stored { held: true });
    builder.fail(Failure::Timeout);
    builder.fail(Failure::Error);
    builder.reply(Report::Delivered);
    builder.finish()
}

#[test]
fn timeline_of_failed_repair_and_rollback() {
    insta::assert_snapshot!("repair_hardened", plain(&repair(Policy::hardened()), None));
    insta::assert_snapshot!("repair_as_drawn", plain(&repair(Policy::as_drawn()), None));
}

fn mismatch(policy: Policy) -> Vec<u8> {
    let mut builder = TraceBuilder::new(policy);
    builder.send_message("Show me the payroll");
    builder.reply(Report::Identity { gcp: true, mongodb: false });
    builder.store();
    builder.submit(Input::session_start(trace_builder::user("grace")));
    builder.finish()
}

#[test]
fn timeline_of_identity_mismatch() {
    insta::assert_snapshot!("mismatch_hardened", plain(&mismatch(Policy::hardened()), None));
    insta::assert_snapshot!("mismatch_as_drawn", plain(&mismatch(Policy::as_drawn()), None));
}

fn cancelled() -> Vec<u8> {
    let mut builder = TraceBuilder::new(Policy::hardened());
    builder.send_message("Put release 2.4 on the staging cluster");
    builder.submit(Input::SessionEnd);
    builder.prepare();
    builder.reply_plan();
    builder.agree();
    builder.exit(0, "pushed");
    builder.submit(Input::Cancel);
    builder.exit(0, "deployment \"shop\" rolled back");
    builder.exit(0, "tag removed");
    builder.reply_late();
    builder.run_steps();
    builder.submit(Input::Cancel);
    builder.store();
    builder.send_message("Never mind");
    builder.finish()
}

#[test]
fn timeline_of_cancelled_run() {
    insta::assert_snapshot!("cancelled", plain(&cancelled(), None));
}

#[test]
fn control_characters_are_visible_symbols() {
    let mut builder = TraceBuilder::new(Policy::hardened());
    builder.send_message(
        "Say \x1b[31mred\x1b[0m\x07, go back \x1b[2J\x1b[H and\r\n\r\nhide this: \u{202e}gnp.exe\u{200b}",
    );
    builder.prepare();
    builder.reply_tasks(vec![trace_builder::task(
        1,
        "print \x1b]0;owned\x07",
        Effect::Undoable { compensation: "\u{9b}2J".into() },
    )]);
    builder.argue(pro(900_000, "\x1b[31mall good\x1b[0m"));
    let trace = builder.finish();
    insta::assert_snapshot!("signs", plain(&trace, None));
    for n in 1..=8 {
        plain(&trace, Some(n));
    }
    let colored = render(&trace, None, COLORED);
    assert!(!colored.contains("\x1b[2J") && !colored.contains("\x1b]0;") && !colored.contains('\u{202e}'));
}

#[test]
fn step_view_shows_everything() {
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
fn unknown_step_error_names_valid_steps() {
    let trace = mismatch(Policy::hardened());
    for (at, expected) in [
        (0, "no step 0: the trace has 5 steps; expected a number from 1 to 5"),
        (6, "no step 6: the trace has 5 steps; expected a number from 1 to 5"),
    ] {
        let reader = Reader::new(&trace[..], "recorded.trace.ndjson").unwrap();
        let error =
            show(reader, &View { step: Some(at), style: Style::default() }, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn item_history_includes_summarized_items() {
    let trace = golden("compaction");
    let history = |item, to: usize| {
        let (mut page, reader) = (Vec::new(), Reader::new(&trace[..to], "compaction.ndjson").unwrap());
        let result =
            item_history(reader, item, Style::default(), &mut page).map_err(|error| error.to_string());
        (String::from_utf8(page).unwrap(), result)
    };
    insta::assert_snapshot!("item_summary", history(8, trace.len()).0);
    let (_, unknown) = history(999, trace.len());
    assert!(unknown.unwrap_err().starts_with("no item 999: expected a number from 1 to "));
    let (page, torn) = history(8, trace.len() - 20);
    assert!(page.contains("11 stops") && torn.is_err(), "{page}");
}

#[test]
fn key_history_follows_successors() {
    let trace = golden("superseded-key");
    let history = |key| {
        let (mut page, reader) = (Vec::new(), Reader::new(&trace[..], "superseded-key.ndjson").unwrap());
        let result = key_history(reader, key, Style::default(), &mut page).map_err(|error| error.to_string());
        (String::from_utf8(page).unwrap(), result)
    };
    insta::assert_snapshot!("key_history", history("discount_v1").0);
    let (page, unknown) = history("discount\x1b");
    assert_eq!(page, "");
    assert_eq!(unknown.unwrap_err(), "no fact discount␛: expected one of discount_v1, discount_v2");
}

#[test]
fn torn_trace_is_shown_to_torn_tail() {
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

/// The hash chain protects integrity. It does not prove that a kernel decided the steps.
#[test]
fn forged_trace_is_shown() {
    let mut header = Header::new(ConversationId::new("made-up\x1b[2J"), Policy::hardened(), None);
    header.kernel = "0.0.9".into();
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    let opened = decide(
        &Policy::hardened(),
        &State::new(ConversationId::new("demo")),
        Timestamp::default(),
        &Input::session_start(trace_builder::user("ada")),
    );
    let asked = Event::UserMsg {
        request: RequestId::new(7),
        user: trace_builder::user("eve"),
        text: "".into(),
        scope: Scope::Global,
    };
    let inputs = [
        Input::reply(CallId::new(9), Report::Exit { code: -1, text: "".into(), number: None }),
        Input::CallFailed { call: CallId::new(9), failure: Failure::Timeout },
        Input::Step,
        Input::Cancel,
        Input::SessionEnd,
    ];
    for events in [vec![], opened.unwrap(), vec![asked]] {
        for input in &inputs {
            writer.write_step(&StepMetadata::default(), input, StepRecord::accepted(&events, None)).unwrap();
        }
    }
    writer
        .write_step(&StepMetadata::default(), &Input::Cancel, StepRecord::refused("no \x1b[31mreason"))
        .unwrap();
    let trace = writer.end().unwrap();
    let page = plain(&trace, None);
    assert!(page.contains("note: kernel version: recorded 0.0.9, here "), "{page}");
    assert!(page.ends_with("16 steps, 5 requests, 1 refused input\n"), "{page}");
    for n in 1..=16 {
        plain(&trace, Some(n));
    }
}

#[test]
fn colors_do_not_change_text() {
    for trace in [happy(Policy::hardened()), veto(Policy::as_drawn()), repair(Policy::hardened())] {
        let colored = render(&trace, None, COLORED);
        let mut bare = String::new();
        let mut rest = colored.as_str();
        while let Some(at) = rest.find('\x1b') {
            bare.push_str(&rest[..at]);
            let escape = &rest[at..];
            rest = &escape[escape.find('m').unwrap() + 1..];
        }
        bare.push_str(rest);
        assert_eq!(bare, plain(&trace, None));
    }
}

#[test]
fn times_and_notes_appear_with_steps() {
    let trace = repair(Policy::hardened());
    let reader = Reader::new(&trace[..], "recorded.trace.ndjson").unwrap();
    let mut writer = Writer::new(Vec::new(), reader.header()).unwrap();
    for step in reader {
        let step = step.unwrap();
        let at_ms = 1_790_000_000_000 + 7 * step.n.pow(5);
        let note = match step.n {
            5 => Some("the host\x1b[31m panicked: no such module".to_string()),
            9 => Some("discarded an incomplete line".to_string()),
            _ => None,
        };
        let made = StepRecord::accepted(&step.events, step.context.as_ref());
        writer
            .write_step(&StepMetadata { at_ms, note, ..StepMetadata::default() }, &step.input, made)
            .unwrap();
    }
    let trace = writer.end().unwrap();
    insta::assert_snapshot!("times", plain(&trace, None));
    let fifth = plain(&trace, Some(5));
    assert!(fifth.contains("note          the host␛[31m panicked"), "{fifth}");
    assert!(fifth.contains("+21.8s after the first step"), "{fifth}");
}

#[test]
fn output_uses_terminal_width() {
    let trace = repair(Policy::hardened());
    let at = |columns| render(&trace, None, Style { colors: false, columns });
    insta::assert_snapshot!("columns_60", at(60));
    let wide = at(200);
    insta::assert_snapshot!("columns_200", wide);
    assert!(!wide.contains('…'), "{wide}");
    let step = |columns| render(&trace, Some(22), Style { colors: false, columns });
    insta::assert_snapshot!("step_columns_60", step(60));
    assert!(!step(200).contains('…'));
}

/// Returns the golden trace of a scenario.
fn golden(name: &str) -> Vec<u8> {
    let path = format!("{}/../specs/scenarios/{name}.ndjson", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

#[test]
fn effects_of_writes_follow_their_steps() {
    let cases: [(&str, &[&str]); 6] = [
        (
            "authority-override",
            &[
                "fact offer: \"let us offer 25 %\", source session user, supersedes",
                "→ superseded by discount (authority): \"max 15 %\"",
                "→ denied: a constraint requires rank manager or above",
            ],
        ),
        (
            "supersession",
            &[
                "→ supersedes address_v1 (explicit): \"123 Main St\"",
                "→ no change: the item has this value",
                "→ superseded by stock (temporal): \"$95\"",
            ],
        ),
        (
            "repair-propagation",
            &[
                "→ supersedes rate (explicit): \"4 %\"",
                "→ 2 facts need review: interest, payment",
                "→ supersedes interest (implicit): \"$40\"",
            ],
        ),
        (
            "scope-isolation",
            &[
                "\"$50\", source session user, hypothetical half price",
                "→ shadows price: \"$100\"",
                "\"60 %\", source CFO, for manager and above",
            ],
        ),
        (
            "expiry",
            &[
                "an item expires",
                "→ 1 item expired and forgotten: code",
                "Which room is free?",
                "→ 1 item expired and forgotten: reservation",
                "→ superseded by price (temporal): \"$100\"",
            ],
        ),
        (
            "compaction",
            &[
                "→ supersedes north (implicit): \"3 stops in the north\"",
                "→ 4 items summarized and forgotten: north, south, east",
            ],
        ),
    ];
    for (name, lines) in cases {
        let page = plain(&golden(name), None);
        let mut rest = page.as_str();
        for line in lines {
            let at = rest.find(line).unwrap_or_else(|| panic!("{name}: `{line}` is missing in\n{page}"));
            rest = &rest[at + line.len()..];
        }
    }
}

#[test]
fn items_show_scope_and_audience() {
    let page = plain(&golden("scope-isolation"), Some(8));
    assert!(page.contains("fact price  \"$100\""), "{page}");
    assert!(page.contains("fact price, hypothetical half price  \"$50\""), "{page}");
    assert!(page.contains("fact margin, for manager and above  \"60 %\""), "{page}");
}
