//! Redaction: no original text remains, and decisions do not change.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "show/hostile.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod hostile;
#[path = "show/trace_builder.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod trace_builder;

use orchestrion_kernel::module::Report;
use orchestrion_kernel::plan::{Effect, Plan};
use orchestrion_kernel::policy::RankTable;
use orchestrion_kernel::{ConversationId, Event, Input, Policy};
use orchestrion_report::show::html;
use orchestrion_scenario::promote::{Target, from_trace};
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::redact::{RedactError, Redacted, Salt, redact};
use orchestrion_trace::replay::replay;
use orchestrion_trace::{
    Header, Reader, Step, StepMetadata, StepRecord, TraceErrorKind, Writer, without_texts,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use trace_builder::{TraceBuilder, con, pro};

fn goldens() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ndjson"));
    assert!(paths.len() > 20, "{paths:?}");
    paths
}

/// The golden traces whose budgets are as large as a plan. After redaction the plan of the first is shorter and fits, and that of the
/// second is longer and does not.
const TIGHT_BUDGETS: [&str; 2] = ["plan-over-budget.ndjson", "own-contexts.ndjson"];

/// Whether a decision of the trace depends on the length of a text through a tight budget.
fn has_tight_budget(path: &Path) -> bool {
    TIGHT_BUDGETS.contains(&path.file_name().unwrap().to_str().unwrap())
}

/// Whether nodes execute the calls of the trace.
fn has_network(path: &Path) -> bool {
    path.file_name().unwrap().to_str().unwrap().starts_with("network-")
}

fn redactable_goldens() -> Vec<PathBuf> {
    let mut paths = goldens();
    paths.retain(|path| !has_tight_budget(path));
    paths
}

#[test]
fn changed_decision_is_refused() {
    for path in goldens().iter().filter(|path| has_tight_budget(path)) {
        let trace = std::fs::read(path).unwrap();
        let result = redact(reader(&trace), &Salt::generate().unwrap(), &StandardContexts, Vec::new());
        assert!(matches!(result, Err(RedactError::DecisionDiffers { .. })), "{result:?}");
    }
}

fn reader(trace: &[u8]) -> Reader<&[u8]> {
    Reader::new(trace, "some.ndjson").unwrap()
}

fn redacted(trace: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let Redacted { steps, incomplete: open } =
        redact(reader(trace), &Salt::generate().unwrap(), &StandardContexts, &mut out).unwrap();
    assert!(open.is_none() && steps > 0);
    out
}

fn steps(trace: &[u8]) -> Vec<Step> {
    reader(trace).map(Result::unwrap).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 4).map(str::to_lowercase)
}

/// Collects every text under a key with free text, and every other word of the format.
fn collect(key: &str, value: &Value, free: &mut Vec<String>, format: &mut BTreeSet<String>) {
    match value {
        Value::String(text)
            if hostile::FREE_TEXT_FIELDS.contains(&key) && !matches!(key, "digest" | "table") =>
        {
            free.push(text.clone())
        }
        Value::String(text) => format.extend(words(text)),
        Value::Array(values) => values.iter().for_each(|value| collect(key, value, free, format)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            format.extend(words(key));
            collect(key, value, free, format);
        }),
        _ => {}
    }
}

fn collected(trace: &[u8]) -> (Vec<String>, BTreeSet<String>) {
    let (mut free, mut format) = (Vec::new(), BTreeSet::new());
    let mut reader = reader(trace);
    collect("", &serde_json::to_value(reader.header()).unwrap(), &mut free, &mut format);
    while reader.advance().unwrap() {
        collect("", &serde_json::from_str(reader.text()).unwrap(), &mut free, &mut format);
    }
    // The reader restores contexts that a line stores as a difference: the fields of a difference are in the bytes only.
    for line in String::from_utf8_lossy(trace).lines() {
        collect("", &serde_json::from_str(line).unwrap(), &mut Vec::new(), &mut format);
    }
    (free, format)
}

/// The words that the kernel writes where texts are: policies, version, items, records, refusals.
const KERNEL_SAYS: &str = "hardened as-drawn tags: nearest past request: [to undo: [irreversible] outcome: blocked: aborted: rolled \
    back: every task succeeded the identity locks do not match no answer from the Security (timeout) vetoed the plan \
    consensus stayed too low the Critic found no repair further is allowed repaired was cleared approver said user \
    cancelled message came while expected came found wrong unexpected input reply RollbackComplete no row leads call failed outcome malformed rejected rejection plan after rollback RunningTasks Planning Classifying Done Aborted nothing conversation has halted \
    here error malformed candidates planner executor memory summarizer identity guard classifier auditor critic call fate unknown reply argument \
    Round 1 Analyst 3 Critic SelfHealingActive cancel task result tags ratings and traces receipt step rank of too high at most policy's ranks session's limit it facts changed since reviewed unknown title add there";

#[test]
fn redacted_golden_contains_no_original_text() {
    let built_in = RankTable::built_in();
    let titles = built_in.iter().flat_map(|(title, _)| words(title));
    let by_kernel: BTreeSet<String> = words(KERNEL_SAYS).chain(titles).collect();
    let is_name = |token: &str| {
        let mut parts = token.trim_matches(|c: char| !c.is_alphanumeric()).splitn(3, '-');
        parts.next() == Some("redacted")
            && parts.next().is_some_and(|length| length.bytes().all(|byte| byte.is_ascii_digit()))
            && parts
                .next()
                // A limit of the policy may truncate a name.
                .is_some_and(|digest| digest.len() <= 16 && digest.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    // The names of nodes and capabilities stay.
    for path in redactable_goldens().iter().filter(|path| !has_network(path)) {
        let trace = std::fs::read(path).unwrap();
        let what = path.display();
        let now = redacted(&trace);
        let (free, format) = collected(&now);
        // A text is replaced by a name of this redaction, or is a word of the kernel.
        for text in &free {
            for token in text.split_whitespace().filter(|token| !is_name(token)) {
                let strange: Vec<_> = words(token).filter(|word| !by_kernel.contains(word)).collect();
                assert!(strange.is_empty(), "{what}: {strange:?} in {text:?}");
            }
        }
        // No original word is in the bytes, except words of the format and of the kernel.
        let (was, _) = collected(&trace);
        let bytes = String::from_utf8(now).unwrap().to_lowercase();
        let found: BTreeSet<String> = words(&bytes).collect();
        let said: BTreeSet<String> = was.iter().flat_map(|text| words(text)).collect();
        let left: Vec<_> = said.iter().filter(|word| found.contains(*word)).collect();
        let left: Vec<_> =
            left.into_iter().filter(|word| !format.contains(*word) && !by_kernel.contains(*word)).collect();
        assert!(left.is_empty(), "{what}: {left:?}");
        assert!(said.len() > 3, "{what}: {said:?}");
    }
}

/// The texts of users and modules in an input.
fn texts_of(input: &Input) -> Vec<String> {
    let of_plan = |plan: &Plan| plan.tasks().iter().map(|task| task.text.to_string()).collect::<Vec<_>>();
    match input {
        Input::UserMessage { text, .. } => vec![text.to_string()],
        Input::Reply { report, .. } => {
            let mut texts = report.plan().map_or_else(Vec::new, of_plan);
            match report {
                Report::Argument { text, .. }
                | Report::Exit { text, .. }
                | Report::NoRepair { text }
                | Report::Repaired { text, .. } => texts.push(text.to_string()),
                _ => {}
            }
            texts
        }
        _ => Vec::new(),
    }
}

/// The tokens that nodes exchange are counted by the lengths of texts, so these stay, alone and as JSON.
#[test]
fn redacted_network_keeps_only_lengths() {
    let networks: Vec<_> = redactable_goldens().into_iter().filter(|path| has_network(path)).collect();
    assert!(networks.len() > 5, "{networks:?}");
    let mut texts = 0;
    for path in networks {
        let what = path.display();
        let trace = std::fs::read(&path).unwrap();
        let now = redacted(&trace);
        let bytes = String::from_utf8(now.clone()).unwrap();
        for (before, after) in steps(&trace).iter().zip(steps(&now)) {
            for (before, after) in texts_of(&before.input).iter().zip(texts_of(&after.input)) {
                let len = |text: &str| (text.len(), serde_json::to_string(text).unwrap().len());
                assert_eq!(len(before), len(&after), "{what}: {before:?} became {after:?}");
                let field = format!("\"text\":{}", serde_json::to_string(before).unwrap());
                // The digest of a very short text can be the text.
                assert!(before.len() < 6 || !bytes.contains(&field), "{what}: {before:?} stays");
                assert!(
                    !before.contains(' ') || !bytes.contains(before.as_str()),
                    "{what}: {before:?} stays"
                );
                texts += usize::from(before.contains(' '));
            }
        }
    }
    assert!(texts > 50, "{texts}");
}

/// The fields of events that hold names, which are texts too.
const NAMES: [&str; 17] = [
    "user",
    "conversation",
    "text",
    "authority",
    "department",
    "organization",
    "permissions",
    "name",
    "fact",
    "working",
    "environment",
    "hypothetical",
    "draft",
    "permitted",
    "summarized_keys",
    "additional_argument",
    // Metadata of a task in a golden trace.
    "city",
];

/// The time of the first step after redaction.
const FIRST_MS: u64 = 946_684_800_000;

/// The fields of events that hold times.
const TIMES: [&str; 7] =
    ["at", "now", "created_at", "expires_at", "established_at", "last_active", "last_used"];

/// Events without the names of users and conversations, without times, and without the semantic state.
fn bare(event: &Event) -> Value {
    fn without(key: &str, value: &mut Value) {
        match value {
            Value::String(text) if NAMES.contains(&key) => text.clear(),
            Value::Number(_) if TIMES.contains(&key) => *value = Value::Null,
            Value::Array(values) => values.iter_mut().for_each(|value| without(key, value)),
            Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| without(key, value)),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(without_texts(event)).unwrap();
    without("", &mut value);
    value
}

#[test]
fn redaction_preserves_decisions() {
    for path in redactable_goldens() {
        let what = path.display();
        let trace = std::fs::read(&path).unwrap();
        let now = redacted(&trace);
        assert!(replay(reader(&now), None, &StandardContexts).is_equal(), "{what}");
        let (before, after) = (steps(&trace), steps(&now));
        assert_eq!(before.len(), after.len(), "{what}");
        for (before, after) in before.iter().zip(&after) {
            let all = |step: &Step| step.events.iter().map(bare).collect::<Vec<_>>();
            assert_eq!(all(before), all(after), "{what} step {}", before.n);
            assert_eq!(before.refused.is_some(), after.refused.is_some(), "{what} step {}", before.n);
        }
        assert!(html(reader(&now), "redacted.ndjson", &[]).unread.is_none());
        // A scenario cannot express a tick, nor a forged or replayed handoff of a trace.
        if has_network(&path) || steps(&now).iter().any(|step| step.input == Input::Tick) {
            continue;
        }
        let target = Target::new("case", Path::new("no-such-folder")).unwrap();
        let promotion = from_trace(reader(&now), "redacted.ndjson", &target, &[]).unwrap();
        // A late reply is noted, not stored.
        let accepted = |trace: &[u8]| steps(trace).into_iter().filter(|step| step.refused.is_none());
        let inputs = |trace: &[u8]| accepted(trace).map(|step| step.input).collect::<Vec<_>>();
        assert_eq!(inputs(&promotion.golden), inputs(&now), "{what}");
        assert!(replay(reader(&redacted(&now)), None, &StandardContexts).is_equal(), "{what}");
    }
}

fn short(policy: Policy) -> TraceBuilder {
    let mut builder = TraceBuilder::new(policy);
    builder.send_message("Put it there");
    builder.prepare();
    builder
}

/// Redacts a trace whose free texts have a salt by step.
fn unlinked(trace: &[u8]) -> Result<Vec<u8>, RedactError> {
    let mut out = Vec::new();
    let salt = Salt::generate().unwrap().by_step();
    redact(reader(trace), &salt, &StandardContexts, &mut out)?;
    Ok(out)
}

#[test]
fn times_become_relative_to_the_first_step() {
    let mut checked = 0;
    for path in redactable_goldens() {
        let what = path.display();
        let trace = std::fs::read(&path).unwrap();
        let now = redacted(&trace);
        let (before, after) = (steps(&trace), steps(&now));
        let Some(first) = before.first().map(|step| step.at_ms).filter(|at_ms| *at_ms > 0) else { continue };
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(after.at_ms, before.at_ms - first + FIRST_MS, "{what} step {}", before.n);
        }
        // No time of the original is in the bytes: its first seven digits are those of a day.
        let day = &first.to_string()[..7];
        let original = String::from_utf8(trace).unwrap();
        assert!(original.contains(&format!(":{day}")), "{what}");
        assert!(!String::from_utf8(now).unwrap().contains(&format!(":{day}")), "{what}: a time stays");
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn equality_of_free_texts_is_hidden_on_demand() {
    let (mut hidden, mut refused) = (0, 0);
    for path in redactable_goldens() {
        let what = path.display();
        let now = match unlinked(&std::fs::read(&path).unwrap()) {
            Ok(now) => now,
            // A module repeats its argument or its output, which reaffirms an item.
            Err(RedactError::DecisionDiffers { .. }) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{what}: {error}"),
        };
        hidden += 1;
        assert!(replay(reader(&now), None, &StandardContexts).is_equal(), "{what}");
        if has_network(&path) {
            continue;
        }
        // Messages, arguments and outputs; plans are compared, and stay equal.
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for step in steps(&now) {
            let text = match &step.input {
                Input::UserMessage { text, .. }
                | Input::Reply {
                    report: Report::Argument { text, .. } | Report::Exit { text, .. }, ..
                } => text,
                _ => continue,
            };
            assert!(text.as_str().is_empty() || seen.insert(text.to_string()), "{what}: {text} twice");
        }
    }
    assert!(hidden > 30 && refused < 20, "{hidden} redacted, {refused} refused");
}

/// The lengths that a redacted text shows are powers of two.
#[test]
fn lengths_are_powers_of_two() {
    let mut builder = short(Policy::hardened());
    builder.reply_plan();
    for text in ["x", "xx", "xxx", "The same words", "Four times four"] {
        builder.argue(pro(900_000, text));
    }
    let now = String::from_utf8(redacted(&builder.finish())).unwrap();
    let shown =
        now.split("redacted-").skip(1).filter_map(|rest| rest.split('-').next()?.parse::<usize>().ok());
    let shown: BTreeSet<usize> = shown.collect();
    assert!(shown.iter().all(|length| length.is_power_of_two()), "{shown:?}");
    assert!([1, 2, 4, 16].iter().all(|length| shown.contains(length)), "{shown:?}");
}

#[test]
fn equal_texts_stay_equal_within_one_redaction() {
    let mut builder = short(Policy::hardened());
    builder.reply_plan();
    builder.argue(pro(900_000, "The same words"));
    builder.argue(con(900_000, "The same words"));
    builder.argue(con(900_000, ""));
    let trace = builder.finish();
    let (one, other) = (redacted(&trace), redacted(&trace));
    let texts = |trace: &[u8]| -> Vec<String> {
        let of = |step: &Step| match &step.input {
            Input::Reply { report: Report::Argument { text, .. }, .. } => Some(text.as_str().to_string()),
            _ => None,
        };
        steps(trace).iter().filter_map(of).collect()
    };
    let (one, other) = (texts(&one), texts(&other));
    assert!(one[0] == one[1] && one[0].starts_with("redacted-16-"), "{one:?}");
    assert_eq!(one[2], "", "no text stays none");
    assert_ne!(one[0], other[0]);
    let apart = texts(&unlinked(&trace).unwrap());
    assert!(apart[0] != apart[1] && apart[0].starts_with("redacted-16-"), "{apart:?}");
}

#[test]
fn header_and_notes_are_redacted() {
    let mut policy = Policy::hardened();
    policy.name = "acme-payroll".into();
    policy.bounds.passes = 2;
    let trace = {
        let recorded = short(policy.clone()).finish();
        let header = Header::new(
            ConversationId::new("demo"),
            policy.clone(),
            reader(&recorded).header().scenario.clone(),
        );
        let mut recorder = Recorder::open(Vec::new(), &header, &StandardContexts).unwrap();
        for step in steps(&recorded) {
            let note = Some("a line of half".into());
            let stamp = StepMetadata { at_ms: 250 * step.n, note, ..StepMetadata::default() };
            recorder.submit(&step.input, &stamp).unwrap().unwrap();
        }
        recorder.close().unwrap()
    };
    let now = redacted(&trace);
    let header = reader(&now).header().clone();
    assert!(header.scenario.is_none() && header.policy.name.starts_with("redacted-16-"), "{header:?}");
    assert_eq!(header.policy.bounds, policy.bounds);
    let stamps: Vec<_> = steps(&now).into_iter().map(|step| (step.at_ms, step.note)).collect();
    assert!(
        stamps.iter().enumerate().all(|(i, (at_ms, _))| *at_ms == FIRST_MS + 250 * i as u64),
        "{stamps:?}"
    );
    assert!(stamps.iter().all(|(_, note)| note.as_ref().unwrap().starts_with("redacted-16-")), "{stamps:?}");
    assert!(replay(reader(&now), None, &StandardContexts).is_equal());
}

#[test]
fn incomplete_trace_stays_incomplete() {
    let trace = String::from_utf8(short(Policy::hardened()).finish()).unwrap();
    let lines: Vec<&str> = trace.lines().collect();
    let open = lines[..5].join("\n") + "\n";
    for (text, torn) in [(open.clone(), false), (open + &lines[5][..30], true)] {
        let mut out = Vec::new();
        let done =
            redact(reader(text.as_bytes()), &Salt::generate().unwrap(), &StandardContexts, &mut out).unwrap();
        assert_eq!(done.steps, 4);
        assert_eq!(matches!(done.incomplete.unwrap().kind, TraceErrorKind::Torn), torn);
        let again = replay(reader(&out), None, &StandardContexts);
        assert!(again.difference.is_none() && again.text_difference.is_none() && again.steps == 4);
        assert!(matches!(again.read_error.unwrap().kind, TraceErrorKind::MissingEnd));
    }
}

#[test]
fn unpreserved_decision_is_an_error() {
    let trace = short(Policy::hardened()).finish();
    let header = reader(&trace).header().clone();
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    for step in steps(&trace) {
        let events = if step.n == 3 { &[] } else { step.events.as_slice() };
        writer
            .write_step(
                &StepMetadata::default(),
                &step.input,
                StepRecord::accepted(events, step.context.as_ref()),
            )
            .unwrap();
    }
    let other = writer.end().unwrap();
    let error =
        redact(reader(&other), &Salt::generate().unwrap(), &StandardContexts, Vec::new()).unwrap_err();
    assert!(matches!(error, RedactError::ReplayDiffers { step: 3, .. }), "{error}");

    let edited = String::from_utf8(trace).unwrap().replace("Put it there", "Put it here!");
    let error = redact(reader(edited.as_bytes()), &Salt::generate().unwrap(), &StandardContexts, Vec::new())
        .unwrap_err();
    assert!(matches!(error, RedactError::Trace(_)), "{error}");

    // Two tasks with the same text once the kernel appends the effect to one of them.
    let mut builder = short(Policy::hardened());
    builder.reply_tasks(vec![trace_builder::task(1, "Go [irreversible]", Effect::Pure)]);
    builder.argue(pro(900_000, ""));
    let (argument, text) = pro(900_000, "");
    let plan = Plan::new(vec![trace_builder::task(1, "Go", Effect::Irreversible)]).unwrap();
    builder.reply(Report::Argument { argument, text: text.into(), plan: Some(plan) });
    let error = redact(reader(&builder.finish()), &Salt::generate().unwrap(), &StandardContexts, Vec::new())
        .unwrap_err();
    assert!(matches!(error, RedactError::DecisionDiffers { .. }), "{error}");
}

#[test]
fn command_overwrites_only_redacted_traces() {
    let folder = tempfile::tempdir().unwrap();
    let golden = goldens().into_iter().find(|path| path.ends_with("repaired.ndjson")).unwrap();
    let call = |code: i32, arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_orchestrion"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let output_text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{output_text}");
        output_text
    };
    let golden = golden.to_str().unwrap();
    for _ in 0..2 {
        let output_text = call(0, &["show", golden, "--redact", "public.ndjson"]);
        assert!(
            output_text.contains("with unchanged decisions") && output_text.contains("public.ndjson"),
            "{output_text}"
        );
    }
    call(0, &["replay", "public.ndjson"]);
    call(0, &["promote", "public.ndjson", "kept", "--scenario-dir", "cases"]);
    call(0, &["run", "cases/kept.yaml"]);
    let output_text = call(2, &["show", "public.ndjson", "--redact", "public.ndjson"]);
    assert!(output_text.contains("is the input trace"), "{output_text}");
    std::fs::write(folder.path().join("mine.txt"), "mine").unwrap();
    for option in ["--redact", "--html"] {
        let output_text = call(2, &["show", golden, option, "mine.txt"]);
        assert!(output_text.contains("is not overwritten"), "{output_text}");
        assert_eq!(std::fs::read_to_string(folder.path().join("mine.txt")).unwrap(), "mine");
    }
    for _ in 0..2 {
        call(0, &["show", "public.ndjson", "--html", "pages/public.html"]);
    }
    assert_eq!(std::fs::read_dir(folder.path().join("pages")).unwrap().count(), 1, "no draft is left");
    // An edited trace: nothing is written.
    let edited = std::fs::read_to_string(golden).unwrap().replacen("ada", "eve", 1);
    std::fs::write(folder.path().join("edited.ndjson"), edited).unwrap();
    let output_text = call(2, &["show", "edited.ndjson", "--redact", "no.ndjson"]);
    assert!(output_text.contains("edited.ndjson:2: chain mismatch"), "{output_text}");
    assert!(!folder.path().join("no.ndjson").exists());
}
