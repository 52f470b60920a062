//! Document 002, clause by clause: the summary, action records, and their text in a context.

#![allow(
    clippy::unwrap_used,
    clippy::type_complexity,
    reason = "a test fails by panicking, and has tables of cases"
)]

use orchestrion_kernel::Text;
use orchestrion_kernel::module::{Failure, Operation};
use orchestrion_kernel::policy::SituationPolicy;
use orchestrion_kernel::situation::{
    ActionRecord, FieldMapping, Mode, NO_ATTEMPTS, NO_CONTEXT, NO_RESULTS, STATE_FIELDS, SituationSummary,
    SummaryField, SummaryUpdate, ToolCall, ToolOutcome, build_reasoning_context, compress_actions,
    format_actions_for_fast_mode, format_latest_results_detailed, get_compressed_attempts,
};
use orchestrion_kernel::{Policy, Timestamp};
use std::num::NonZeroU32;

/// Returns the built-in limits.
fn limits() -> SituationPolicy {
    Policy::hardened().situation
}

fn update(texts: &[(&str, &str)]) -> SummaryUpdate {
    SummaryUpdate(texts.iter().map(|(key, text)| ((*key).into(), Text::from(*text))).collect())
}

fn summary(texts: &[(&str, &str)]) -> SituationSummary {
    let mut summary = SituationSummary::default();
    summary.merge(&update(texts), 1_000);
    summary
}

fn call(name: &str, args: &[(&str, &str)], result: &str, outcome: ToolOutcome) -> ToolCall {
    ToolCall {
        name: name.into(),
        args: args.iter().map(|(arg, value)| ((*arg).into(), Text::from(*value))).collect(),
        result: result.into(),
        outcome,
    }
}

fn action(iteration: u32, tool_calls: Vec<ToolCall>) -> ActionRecord {
    let text = || Text::from("");
    ActionRecord {
        iteration: NonZeroU32::new(iteration).unwrap(),
        timestamp: Timestamp::default(),
        mode: Mode::Fast,
        thinking: text(),
        planning: text(),
        reflection: text(),
        approach: "initial".into(),
        tool_calls,
    }
}

/// Returns actions 1, 2, 3 …, each with one call of a tool of that number.
fn actions(count: u32) -> Vec<ActionRecord> {
    let named = |n| action(n, vec![call(&format!("t{n}"), &[], "ok", ToolOutcome::Success)]);
    (1..=count).map(named).collect()
}

/// Returns the situation text in deep mode.
fn deep(summary: &SituationSummary, actions: &[ActionRecord]) -> String {
    build_reasoning_context(&limits(), Mode::Deep, summary, actions)
}

fn nothing() -> SituationSummary {
    SituationSummary::default()
}

#[test]
fn every_state_field_is_mapped() {
    let expected = [
        ("002-1.1", "query", FieldMapping::Item),
        ("002-1.2", "user_id", FieldMapping::Control),
        ("002-1.3", "messages", FieldMapping::Item),
        ("002-1.4", "iteration", FieldMapping::Control),
        ("002-1.5", "depth", FieldMapping::Dropped),
        ("002-1.6", "react_mode", FieldMapping::Dropped),
        ("002-1.7", "stop_reason", FieldMapping::Control),
        ("002-1.8", "selected_tools", FieldMapping::Control),
        ("002-1.9", "tool_calls", FieldMapping::Control),
        ("002-1.10", "result", FieldMapping::Item),
        ("002-1.11", "actions", FieldMapping::Control),
        ("002-1.12", "attempts", FieldMapping::Dropped),
        ("002-1.13", "current_approach", FieldMapping::Item),
        ("002-1.14", "situation_summary", FieldMapping::Item),
        ("002-1.15", "response", FieldMapping::Item),
        ("002-1.16", "respond_directly", FieldMapping::Dropped),
        ("002-1.17", "verbose", FieldMapping::Dropped),
        ("002-1.18", "trace", FieldMapping::Dropped),
        ("002-1.19", "callback", FieldMapping::Dropped),
        ("002-1.20", "notifications", FieldMapping::Dropped),
    ];
    for (field, (clause, name, place)) in STATE_FIELDS.iter().zip(expected) {
        assert_eq!((field.name, field.mapping), (name, place), "{clause}");
        assert!(!field.note.is_empty(), "{clause}");
    }
}

/// 002-1.14.
#[test]
fn summary_has_five_empty_fields_in_order() {
    let names = SummaryField::ALL.map(SummaryField::name);
    assert_eq!(names, ["goal", "progress", "current_approach", "key_findings", "next_focus"]);
    assert!(SummaryField::ALL.is_sorted());
    assert_eq!(SummaryField::ALL.map(|field| nothing().get(field).to_owned()), [""; 5]);
}

/// 002-2.10.
#[test]
fn stored_result_is_truncated_at_limit() {
    assert_eq!(limits().result_chars_max, 1_000);
    let truncated = |text: &str, chars_max| {
        let record = action(1, vec![call("t", &[], text, ToolOutcome::Success)]);
        record.with_truncated_results(chars_max).tool_calls.remove(0).result.to_string()
    };
    let stored = |text: &str| truncated(text, 1_000);
    assert_eq!([0, 1, 2, 3].map(|chars_max| truncated("ab", chars_max)), ["", "a", "ab", "ab"]);
    assert_eq!(stored(&"a".repeat(1_000)), "a".repeat(1_000));
    assert_eq!(stored(&"a".repeat(1_001)), "a".repeat(1_000));
    // Four bytes each, and one character of two scalar values: the limit counts scalar values.
    assert_eq!(stored(&"🎼".repeat(1_001)), "🎼".repeat(1_000));
    let accented = format!("{}e\u{301}", "🎼".repeat(999));
    assert_eq!(stored(&accented), format!("{}e", "🎼".repeat(999)));
}

/// 002-2.11.
#[test]
fn tool_outcomes_follow_exit_codes() {
    assert_eq!(
        ToolOutcome::ALL.map(|outcome| outcome.to_string()),
        ["success", "failure", "error", "timeout"]
    );
    let (success, failure) = (ToolOutcome::Success, ToolOutcome::Failure);
    assert_eq!([0, 1, -1].map(ToolOutcome::from_exit_code), [success, failure, failure]);
    for unanswered in Failure::ALL {
        let late = unanswered == Failure::Timeout;
        let expected = if late { ToolOutcome::Timeout } else { ToolOutcome::Error };
        assert_eq!(ToolOutcome::from(unanswered), expected, "{unanswered:?}");
    }
}

/// 002-3.1, 002-0.2.
#[test]
fn summary_is_formatted_in_document_order() {
    let text =
        get_compressed_attempts(&limits(), &summary(&[("next_focus", "b"), ("goal", "a")]), &actions(5));
    assert_eq!(text, ["goal: a; next_focus: b"]);
    let whole = summary(&[
        ("goal", "1"),
        ("progress", "2"),
        ("current_approach", "3"),
        ("key_findings", "4"),
        ("next_focus", "5"),
    ]);
    assert_eq!(
        get_compressed_attempts(&limits(), &whole, &[]),
        ["goal: 1; progress: 2; current_approach: 3; key_findings: 4; next_focus: 5"]
    );
}

/// 002-3.2.
#[test]
fn blank_fields_are_omitted() {
    let blank = SummaryField::ALL.map(|field| (field, Text::from(" \n")));
    assert_eq!(get_compressed_attempts(&limits(), &blank.into_iter().collect(), &[]), [""; 0]);
    let texts = [(SummaryField::Goal, Text::from("\t")), (SummaryField::Progress, Text::from(" x "))];
    assert_eq!(get_compressed_attempts(&limits(), &texts.into_iter().collect(), &[]), ["progress:  x "]);
}

/// 002-3.3.
#[test]
fn fallback_lists_three_earlier_actions() {
    let text = |count| get_compressed_attempts(&limits(), &nothing(), &actions(count));
    assert_eq!(limits().max_history, 3);
    assert_eq!(text(0), [""; 0]);
    assert_eq!(text(1), [""; 0]);
    assert_eq!(text(2), ["t1() → success: ok"]);
    assert_eq!(text(4), ["t1() → success: ok", "t2() → success: ok", "t3() → success: ok"]);
    assert_eq!(text(6), ["t3() → success: ok", "t4() → success: ok", "t5() → success: ok"]);
}

/// 002-3.3: no more records need to be stored.
#[test]
fn actions_before_history_are_omitted() {
    let all = actions(9);
    let kept = &all[all.len() - 4..];
    for summary in [nothing(), summary(&[("goal", "g")])] {
        for mode in [Mode::Fast, Mode::Deep] {
            assert_eq!(
                build_reasoning_context(&limits(), mode, &summary, kept),
                build_reasoning_context(&limits(), mode, &summary, &all)
            );
        }
    }
}

/// 002-3.4.
#[test]
fn compressed_call_truncates_arguments_and_result() {
    let short = |args: &[(&str, &str)], result: &str| {
        compress_actions(&limits(), &[action(1, vec![call("search", args, result, ToolOutcome::Failure)])])
    };
    assert_eq!(short(&[("b", "2"), ("a", "1")], "none"), ["search(a=1, b=2) → failure: none"]);
    let (args, result) = ("é".repeat(18), "🎼".repeat(50));
    assert_eq!(short(&[("q", &args)], &result), [format!("search(q={args}) → failure: {result}")]);
    let longer = short(&[("q", &format!("{args}é"))], &format!("{result}🎼"));
    assert_eq!(longer, [format!("search(q={args}...) → failure: {result}...")]);
}

/// 002-3.4.
#[test]
fn calls_of_action_are_formatted_in_order() {
    let ok = |name| call(name, &[], "ok", ToolOutcome::Success);
    let tried = [action(1, vec![ok("b"), ok("a")]), action(2, vec![]), action(3, vec![ok("c")])];
    assert_eq!(
        compress_actions(&limits(), &tried),
        ["b() → success: ok", "a() → success: ok", "c() → success: ok"]
    );
}

/// 002-3.5.
#[test]
fn fast_mode_formats_summary_or_attempts() {
    let fast = |summary, count| build_reasoning_context(&limits(), Mode::Fast, &summary, &actions(count));
    assert_eq!(fast(summary(&[("goal", "g"), ("progress", "p")]), 3), "goal: g; progress: p");
    assert_eq!(fast(nothing(), 3), "t1() → success: ok; t2() → success: ok");
    assert_eq!(fast(nothing(), 1), "No previous attempts");
    assert_eq!(format_actions_for_fast_mode(&limits(), &nothing(), &[]), NO_ATTEMPTS);
}

/// 002-3.6.
#[test]
fn deep_mode_appends_latest_results() {
    let situation_summary = summary(&[("goal", "g")]);
    assert_eq!(deep(&situation_summary, &actions(2)), "goal: g\n\nLATEST DETAILS:\nt2() → success: ok");
    assert_eq!(deep(&nothing(), &actions(2)), "t1() → success: ok\n\nLATEST DETAILS:\nt2() → success: ok");
}

/// 002-3.7.
#[test]
fn deep_mode_formats_results_without_attempts() {
    assert_eq!(deep(&nothing(), &actions(1)), "t1() → success: ok");
    assert_eq!(deep(&nothing(), &[action(1, vec![])]), "No tool results from current iteration");
}

/// 002-3.8.
#[test]
fn deep_mode_formats_summary_without_results() {
    let situation_summary = summary(&[("goal", "g")]);
    assert_eq!(deep(&situation_summary, &[action(1, vec![])]), "goal: g");
    assert_eq!(deep(&situation_summary, &[]), "goal: g");
}

/// 002-3.9.
#[test]
fn deep_mode_reports_empty_context() {
    assert_eq!(deep(&nothing(), &[]), "No context available");
    assert_eq!(NO_CONTEXT, "No context available");
}

/// 002-3.10.
#[test]
fn latest_results_use_stored_text() {
    let (value, result) = ("v".repeat(30), "r".repeat(1_000));
    let calls = vec![
        call("read", &[("path", &value)], &result, ToolOutcome::Success),
        call("wait", &[], "", ToolOutcome::Timeout),
    ];
    let text = format_latest_results_detailed(&[actions(1).remove(0), action(2, calls)]);
    assert_eq!(text, format!("read(path={value}) → success: {}\nwait() → timeout: ", "r".repeat(1_000)));
    assert_eq!(format_latest_results_detailed(&[action(1, vec![])]), NO_RESULTS);
    assert_eq!(format_latest_results_detailed(&[]), "");
}

/// 002-3.5 to 002-3.9: text from a model or tool is never read as a sentinel.
#[test]
fn sentinel_cannot_be_forged() {
    for sentinel in [NO_ATTEMPTS, NO_RESULTS, NO_CONTEXT, ""] {
        let texts = call(sentinel, &[], sentinel, ToolOutcome::Success);
        let latest = format!("{sentinel}() → success: {sentinel}");
        assert_eq!(deep(&nothing(), &[action(1, vec![texts.clone()])]), latest);
        assert_eq!(
            deep(&nothing(), &[action(1, vec![texts.clone()]), action(2, vec![texts])]),
            format!("{latest}\n\nLATEST DETAILS:\n{latest}")
        );
    }
    assert_eq!(deep(&summary(&[("goal", NO_ATTEMPTS)]), &[]), "goal: No previous attempts");
}

/// 002-4.2.
#[test]
fn update_changes_named_fields_only() {
    let mut situation_summary = summary(&[("goal", "g"), ("progress", "p")]);
    situation_summary.merge(&update(&[("progress", "further"), ("next_focus", "n")]), 1_000);
    let fields: Vec<_> =
        situation_summary.fields().map(|(field, text)| (field.name(), text.as_str())).collect();
    assert_eq!(fields, [("goal", "g"), ("progress", "further"), ("next_focus", "n")]);
    let before = situation_summary.clone();
    situation_summary.merge(&SummaryUpdate::default(), 1_000);
    assert_eq!(situation_summary, before);
}

/// 002-4.2.
#[test]
fn unknown_key_changes_nothing() {
    let keys = ["hypothesis", "Goal", " goal", "goal ", ""];
    assert_eq!(update(&keys.map(|key| (key, "text"))).changes(1_000).count(), 0);
}

/// 002-4.3.
#[test]
fn blank_value_changes_nothing() {
    let mut situation_summary = summary(&[("goal", "g")]);
    for blank in ["", " ", "\t\r\n", "\u{a0}\u{2003}\u{3000}", "\u{1c}\u{1d}\u{1e}\u{1f}"] {
        assert_eq!(update(&[("goal", blank)]).changes(1_000).count(), 0, "{blank:?}");
        situation_summary.merge(&update(&[("goal", blank)]), 1_000);
        assert_eq!(situation_summary.get(SummaryField::Goal), "g", "{blank:?}");
    }
    // The zero-width space is not white space, as in the document's `strip`.
    situation_summary.merge(&update(&[("goal", "\u{200b}")]), 1_000);
    assert_eq!(situation_summary.get(SummaryField::Goal), "\u{200b}");
}

/// 002-4.4.
#[test]
fn value_keeps_surrounding_space() {
    let situation_summary = summary(&[("goal", "  g\n")]);
    assert_eq!(situation_summary.get(SummaryField::Goal), "  g\n");
    assert_eq!(get_compressed_attempts(&limits(), &situation_summary, &[]), ["goal:   g\n"]);
}

/// 002-5.2, 002-5.3.
#[test]
fn summary_precedes_fallback() {
    for field in SummaryField::ALL {
        let text = get_compressed_attempts(
            &limits(),
            &[(field, Text::from("x"))].into_iter().collect(),
            &actions(5),
        );
        assert_eq!(text, [format!("{field}: x")]);
    }
}

/// 002-5.3: failed tool calls are included.
#[test]
fn fallback_names_every_outcome() {
    for outcome in ToolOutcome::ALL {
        let text = compress_actions(&limits(), &[action(1, vec![call("t", &[], "r", outcome)])]);
        assert_eq!(text, [format!("t() → {outcome}: r")]);
    }
}

/// 002-5.1.
#[test]
fn summary_and_latest_arguments_are_not_truncated() {
    let long = "🎼".repeat(1_000);
    assert_eq!(
        get_compressed_attempts(&limits(), &summary(&[("goal", &long)]), &[]),
        [format!("goal: {long}")]
    );
    let latest = action(1, vec![call("t", &[("a", &long)], "r", ToolOutcome::Success)]);
    assert_eq!(format_latest_results_detailed(&[latest]), format!("t(a={long}) → success: r"));
}

/// 002-4.2, decision 0034: a field is truncated to the limit of the policy, before a blank value is ignored.
#[test]
fn summary_field_is_truncated_at_limit() {
    let merged = |text: &str, chars_max| {
        let mut summary = summary(&[("goal", "old")]);
        summary.merge(&update(&[("goal", text)]), chars_max);
        summary.get(SummaryField::Goal).to_owned()
    };
    assert_eq!([1, 2, 3].map(|chars_max| merged("🎼é", chars_max)), ["🎼", "🎼é", "🎼é"]);
    assert_eq!([1, 2].map(|chars_max| merged(" new", chars_max)), ["old", " n"]);
}

/// 002-3.3, 002-3.4, decision 0034: the limits of the fallback are those of the policy.
#[test]
fn fallback_follows_policy() {
    let tried: Vec<ActionRecord> = (1..=3)
        .map(|n| action(n, vec![call(&format!("t{n}"), &[("a", "12")], "abc", ToolOutcome::Success)]))
        .collect();
    let policy = SituationPolicy {
        max_history: 1,
        compressed_args_chars_max: 3,
        compressed_result_chars_max: 2,
        ..limits()
    };
    assert_eq!(get_compressed_attempts(&policy, &nothing(), &tried), ["t2(a=1...) → success: ab..."]);
    let wide = SituationPolicy { max_history: u32::MAX, ..limits() };
    assert_eq!(get_compressed_attempts(&wide, &nothing(), &tried).len(), 2);
}

/// 002-4.1, decision 0034: a call asks for a summary update where the policy has a mode.
#[test]
fn call_asks_for_summary_where_module_reasons() {
    let policy = SituationPolicy {
        classify_mode: Some(Mode::Fast),
        argue_mode: None,
        summary_chars_max: 7,
        ..limits()
    };
    let asks = |operation| policy.summary_schema(operation).is_some();
    assert!(asks(Operation::Classify) && asks(Operation::DraftPlan));
    assert!(!asks(Operation::Argue(orchestrion_kernel::module::Role::Critic)));
    assert!(!asks(Operation::LoadContext) && !asks(Operation::DeliverAudit));
    let fields = policy.summary_schema(Operation::DraftPlan).unwrap().fields;
    assert_eq!(fields.iter().map(|field| field.name).collect::<Vec<_>>(), SummaryField::ALL);
    assert!(fields.iter().all(|field| field.chars_max == 7 && field.question == field.name.question()));
}

/// Decision 0034: a limit of 0 is refused by name.
#[test]
fn limit_of_zero_is_refused() {
    let cases: [(&str, fn(&mut SituationPolicy)); 5] = [
        ("situation.max_history", |policy| policy.max_history = 0),
        ("situation.summary_chars_max", |policy| policy.summary_chars_max = 0),
        ("situation.result_chars_max", |policy| policy.result_chars_max = 0),
        ("situation.compressed_args_chars_max", |policy| policy.compressed_args_chars_max = 0),
        ("situation.compressed_result_chars_max", |policy| policy.compressed_result_chars_max = 0),
    ];
    for (setting, change) in cases {
        let mut policy = Policy::hardened();
        change(&mut policy.situation);
        let error = policy.validate().unwrap_err();
        assert_eq!((error.setting, error.conflicts_with), (setting, None));
        assert!(error.reason.contains("expected at least 1"), "{error}");
    }
}
