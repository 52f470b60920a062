//! Monitors agree with the definitions of the patterns by quantifiers over a complete run, on random runs.

use crate::{ClaimFile, Finding, Monitors};
use orchestrion_kernel::event::Event;
use orchestrion_kernel::ids::{CallId, RequestId, Revision, TaskId, Text, TraceId, UserId};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::{ConversationId, Policy};
use proptest::prelude::*;

/// An event of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Message,
    Answer,
    Session,
    SessionEnd,
    Veto,
    Repair,
    Cancel,
    Run(u32),
    Undo(u32),
}

impl Tag {
    fn event(self) -> Event {
        let user = UserId::new("u");
        match self {
            Self::Message => {
                Event::UserMsg { request: RequestId::FIRST, user, text: Text::from(""), scope: Scope::Global }
            }
            Self::Answer => Event::FinalAnswer {
                trace: TraceId { conversation: ConversationId::new("c"), request: RequestId::FIRST },
                text: Text::from(""),
            },
            Self::Session => Event::SessionStarted { user },
            Self::SessionEnd => Event::SessionEnded,
            Self::Veto => Event::VetoRaised { revision: Revision::FIRST },
            Self::Repair => Event::RepairStarted,
            Self::Cancel => Event::Cancelled,
            Self::Run(task) => Event::ToolCall {
                call: CallId::FIRST,
                operation: Operation::RunTask { task: TaskId::new(task), effect: EffectKind::Pure },
            },
            Self::Undo(task) => Event::ToolCall {
                call: CallId::FIRST,
                operation: Operation::UndoTask { task: TaskId::new(task) },
            },
        }
    }

    const fn task(self) -> Option<u32> {
        match self {
            Self::Run(task) | Self::Undo(task) => Some(task),
            _ => None,
        }
    }

    const fn runs(self) -> bool {
        matches!(self, Self::Run(_))
    }

    const fn undoes(self) -> bool {
        matches!(self, Self::Undo(_))
    }
}

fn tags() -> impl Strategy<Value = Vec<Tag>> {
    let tag = prop_oneof![
        2 => Just(Tag::Message),
        2 => Just(Tag::Answer),
        1 => Just(Tag::Session),
        1 => Just(Tag::SessionEnd),
        2 => Just(Tag::Veto),
        2 => Just(Tag::Repair),
        1 => Just(Tag::Cancel),
        4 => (1..3_u32).prop_map(Tag::Run),
        4 => (1..3_u32).prop_map(Tag::Undo),
    ];
    prop::collection::vec(tag, 0..24)
}

/// When a pattern fails in a segment: at an event, or at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    At(usize),
    AtEnd,
}

/// The first failure in a segment.
type Fails = fn(&[Tag]) -> Option<Failure>;

/// A pattern as YAML, and its definition: the first failure in a segment, the end counted only if it was reached.
struct Pattern {
    yaml: &'static str,
    requires_events: bool,
    fails: Fails,
}

const PATTERNS: &[Pattern] = &[
    Pattern {
        yaml: "never: {event: tool_call, operation: run_task, task: 2}",
        requires_events: false,
        fails: |run| run.iter().position(|tag| *tag == Tag::Run(2)).map(Failure::At),
    },
    Pattern {
        yaml: "always: {at: {event: tool_call}, holds: {operation: undo_task}}",
        requires_events: false,
        fails: |run| run.iter().position(|tag| tag.runs()).map(Failure::At),
    },
    Pattern {
        yaml: "precedes: {first: {operation: run_task}, then: {operation: undo_task}, same: [task]}",
        requires_events: false,
        fails: |run| {
            let is_allowed = |at: usize| {
                run[..at].iter().any(|earlier| earlier.runs() && earlier.task() == run[at].task())
            };
            (0..run.len()).find(|at| run[*at].undoes() && !is_allowed(*at)).map(Failure::At)
        },
    },
    Pattern {
        yaml: "responds: {to: {operation: run_task}, with: {operation: undo_task}, same: [task]}",
        requires_events: true,
        fails: |run| {
            let is_answered =
                |at: usize| run[at..].iter().any(|later| later.undoes() && later.task() == run[at].task());
            (0..run.len()).any(|at| run[at].runs() && !is_answered(at)).then_some(Failure::AtEnd)
        },
    },
    Pattern {
        yaml: "at_most: {limit: 1, of: {operation: [run_task]}, each: [task]}",
        requires_events: false,
        fails: |run| {
            let is_second = |at: usize| run[at].runs() && run[..at].contains(&run[at]);
            (0..run.len()).find(|at| is_second(*at)).map(Failure::At)
        },
    },
    Pattern {
        yaml: "at_most: {limit: 3, of: {event: tool_call, task: {at_least: 1}}, sum: task}",
        requires_events: false,
        fails: |run| {
            let sum = |end: usize| run[..end].iter().filter_map(|tag| tag.task()).sum::<u32>();
            (0..run.len()).find(|at| sum(at + 1) > 3).map(Failure::At)
        },
    },
    Pattern {
        yaml: "at_least: {count: 2, of: {operation: run_task}}",
        requires_events: true,
        fails: |run| (run.iter().filter(|tag| tag.runs()).count() < 2).then_some(Failure::AtEnd),
    },
    Pattern {
        yaml: "until: {holds: {event: [user_msg, session_started, session_ended, veto_raised, repair_started, final_answer]}, \
               end: {operation: run_task}}",
        requires_events: true,
        fails: |run| {
            let end = run.iter().position(|tag| tag.runs());
            let breaks = run.iter().position(|tag| tag.undoes() || *tag == Tag::Cancel);
            match (end, breaks) {
                (None, None) => Some(Failure::AtEnd),
                (Some(end), Some(breaks)) if breaks > end => None,
                (Some(_), None) => None,
                (_, Some(breaks)) => Some(Failure::At(breaks)),
            }
        },
    },
];

/// A part of a window: where it starts, where it ends, and whether the end was reached.
type Part = (usize, usize, bool);

/// The parts of a window of a run.
type PartsOf = fn(&[Tag], Part) -> Vec<Part>;

/// A rule as YAML, and its definition: the parts of a window in which the claim counts.
const RULES: &[(&str, PartsOf)] = &[
    ("", |_, window| vec![window]),
    ("after: {event: veto_raised}", |run, (start, end, ended)| {
        let after = (start..end).find(|at| run[*at] == Tag::Veto);
        after.map(|at| (at + 1, end, ended)).into_iter().collect()
    }),
    ("before: {event: repair_started}", |run, (start, end, ended)| {
        let before = (start..end).find(|at| run[*at] == Tag::Repair);
        vec![before.map_or((start, end, ended), |at| (start, at, true))]
    }),
    ("after: {event: veto_raised}\n  before: {event: repair_started}", |run, window| parts(run, window).0),
    ("between: {start: {event: veto_raised}, end: {event: repair_started}}", |run, window| {
        let (mut parts, last_is_open) = parts(run, window);
        if last_is_open {
            parts.pop();
        }
        parts
    }),
];

/// The parts from each veto to the repair after it, and whether the last one has no repair.
fn parts(run: &[Tag], (start, end, ended): Part) -> (Vec<Part>, bool) {
    let (mut parts, mut from) = (Vec::new(), start);
    while let Some(veto) = (from..end).find(|at| run[*at] == Tag::Veto) {
        match (veto + 1..end).find(|at| run[*at] == Tag::Repair) {
            Some(repair) => parts.push((veto + 1, repair, true)),
            None => {
                parts.push((veto + 1, end, ended));
                return (parts, true);
            }
        }
        from = parts.last().map_or(end, |part| part.1);
    }
    (parts, false)
}

/// The windows of a run, by their first and last events.
fn windows(run: &[Tag], first: Tag, last: Tag) -> Vec<Part> {
    let starts: Vec<usize> = (0..run.len()).filter(|at| run[*at] == first).collect();
    let window = |(number, start): (usize, &usize)| {
        let next = starts.get(number + 1).copied();
        let limit = next.unwrap_or(run.len());
        match (*start..limit).find(|at| run[*at] == last) {
            Some(at) => (*start, at + 1, true),
            None => (*start, limit, next.is_some()),
        }
    };
    starts.iter().enumerate().map(window).collect()
}

fn windows_named(name: &str, run: &[Tag]) -> Vec<Part> {
    match name {
        "request" => windows(run, Tag::Message, Tag::Answer),
        "session" => windows(run, Tag::Session, Tag::SessionEnd),
        _ => vec![(0, run.len(), false)],
    }
}

/// Assumptions: their YAML, whether they require an event, and their first failure.
const ASSUMPTIONS: &[(&str, bool, Fails)] = &[
    ("", false, |_| None),
    ("assume: {never: {event: cancelled}}", false, |run| {
        run.iter().position(|tag| *tag == Tag::Cancel).map(Failure::At)
    }),
    ("assume: {at_least: {count: 1, of: {event: cancelled}}}", true, |run| {
        (!run.contains(&Tag::Cancel)).then_some(Failure::AtEnd)
    }),
];

/// Whether the claim fails in a part, by definition.
fn fails(pattern: &Pattern, assumption: usize, part: &[Tag], ended: bool) -> bool {
    let counts = |failure: &Failure| ended || *failure != Failure::AtEnd;
    let failure = (pattern.fails)(part).filter(counts);
    let (_, requires_events, assumption) = ASSUMPTIONS[assumption];
    let assumed = assumption(part).filter(counts);
    match (failure, assumed) {
        (None, _) => false,
        (Some(_), _) if requires_events => ended && assumed.is_none(),
        (Some(_), None) => true,
        (Some(failure), Some(assumed)) => failure < assumed,
    }
}

/// Whether a monitor reports a violation.
fn is_reported(yaml: &str, run: &[Tag]) -> bool {
    let file = ClaimFile::parse("claims.yaml", yaml).unwrap();
    let monitors = Monitors::new(file.claims);
    let mut states = monitors.start();
    let mut is_violated = false;
    for tag in run {
        monitors.step(&mut states, &Policy::hardened(), &tag.event(), |finding| {
            is_violated |= matches!(finding, Finding::Violated(..));
        });
    }
    is_violated
}

proptest! {
    #[test]
    fn monitors_agree_with_definitions(
        run in tags(),
        pattern in 0..PATTERNS.len(),
        rule in 0..RULES.len(),
        assumption in 0..ASSUMPTIONS.len(),
        window in prop::sample::select(vec!["request", "session", "conversation"]),
    ) {
        let (pattern, (rule, parts_of)) = (&PATTERNS[pattern], RULES[rule]);
        let lines = [pattern.yaml, rule, ASSUMPTIONS[assumption].0].map(|line| format!("  {line}\n"));
        let yaml = format!("claims:\n- id: c\n  within: {window}\n{}", lines.concat());
        let parts = windows_named(window, &run).into_iter().flat_map(|window| parts_of(&run, window));
        let expected =
            parts.into_iter().any(|(start, end, ended)| fails(pattern, assumption, &run[start..end], ended));
        prop_assert_eq!(is_reported(&yaml, &run), expected, "{}", yaml);
    }
}

/// Patterns of which calls alone are violations, by the number of their definition.
const ENFORCEABLE: &[(usize, &str)] = &[
    (0, "never: {event: tool_call, operation: run_task, task: 2}"),
    (1, "always: {at: {event: tool_call}, holds: {operation: undo_task}}"),
    (
        2,
        "precedes: {first: {operation: run_task}, then: {event: tool_call, operation: undo_task}, same: [task]}",
    ),
    (4, "at_most: {limit: 1, of: {event: tool_call, operation: run_task}, each: [task]}"),
    (5, "at_most: {limit: 3, of: {event: tool_call, task: {at_least: 1}}, sum: task}"),
];

/// Whether a claim of the definitions is violated by a run.
fn is_violated(pattern: &Pattern, parts_of: PartsOf, assumption: usize, window: &str, run: &[Tag]) -> bool {
    let mut parts = windows_named(window, run).into_iter().flat_map(|window| parts_of(run, window));
    parts.any(|(start, end, ended)| fails(pattern, assumption, &run[start..end], ended))
}

proptest! {
    /// A call is forbidden if and only if the run of the calls that were made so far would violate the claim with it.
    #[test]
    fn forbidden_calls_are_those_of_the_definition(
        run in tags(),
        pattern in 0..ENFORCEABLE.len(),
        rule in 0..RULES.len() - 1,
        assumption in 0..2_usize,
        window in prop::sample::select(vec!["request", "session", "conversation"]),
        mode in prop::sample::select(vec!["enforce", "shadow"]),
    ) {
        let ((number, yaml), (rule, parts_of)) = (ENFORCEABLE[pattern], RULES[rule]);
        let lines = [yaml, rule, ASSUMPTIONS[assumption].0].map(|line| format!("  {line}\n"));
        let yaml = format!("claims:\n- id: c\n  {mode}: true\n  within: {window}\n{}", lines.concat());
        let monitors = Monitors::new(ClaimFile::parse("claims.yaml", &yaml).unwrap().claims);
        let mut states = monitors.start();
        let mut made: Vec<Tag> = Vec::new();
        for tag in run {
            made.push(tag);
            let expected = is_violated(&PATTERNS[number], parts_of, assumption, window, &made);
            let (mut is_forbidden, mut is_violated) = (false, false);
            monitors.step(&mut states, &Policy::hardened(), &tag.event(), |finding| match finding {
                Finding::Forbidden(..) => is_forbidden = true,
                Finding::Violated(..) => is_violated = true,
                Finding::Premise(_) => {}
            });
            prop_assert_eq!((is_forbidden, is_violated), (expected, false), "{} {:?}", yaml, made);
            if is_forbidden {
                made.pop();
            }
        }
    }
}

proptest! {
    // A run that stops after the first event of a part is rare.
    #![proptest_config(ProptestConfig::with_cases(8192))]

    /// Monitors that see every event find the same as those that see only the kinds that concern them.
    #[test]
    fn events_that_concern_no_claim_change_nothing(
        run in tags(),
        pattern in 0..PATTERNS.len(),
        rule in 0..RULES.len(),
        assumption in 0..ASSUMPTIONS.len(),
        window in prop::sample::select(vec!["request", "session", "conversation"]),
    ) {
        let lines = [PATTERNS[pattern].yaml, RULES[rule].0, ASSUMPTIONS[assumption].0];
        let lines = lines.map(|line| format!("  {line}\n"));
        let yaml = format!("claims:\n- id: c\n  within: {window}\n{}", lines.concat());
        let few = ClaimFile::parse("claims.yaml", &yaml).unwrap().claims;
        let mut all = few.clone();
        all[0].kinds = crate::event_kind::EventKinds::ALL;
        let found = |claims: Vec<crate::UserClaim>| {
            let monitors = Monitors::new(claims);
            let mut states = monitors.start();
            let (mut is_premise, mut violations) = (false, Vec::new());
            for (step, tag) in run.iter().enumerate() {
                monitors.step(&mut states, &Policy::hardened(), &tag.event(), |finding| match finding {
                    Finding::Premise(_) => is_premise = true,
                    other => violations.push((step, other)),
                });
            }
            (is_premise, violations, monitors.verdicts(&states))
        };
        prop_assert_eq!(found(few), found(all), "{}", yaml);
    }
}

#[test]
fn patterns_state_whether_they_require_events() {
    for Pattern { yaml, requires_events, .. } in PATTERNS {
        let file = ClaimFile::parse("claims.yaml", &format!("claims:\n- id: c\n  {yaml}\n")).unwrap();
        assert_eq!(file.claims[0].pattern.requires_events(), *requires_events, "{yaml}");
    }
}
