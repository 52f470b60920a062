//! Summary updates and action records beside the reports of modules.

use super::RandomSource;
use super::reports::text;
use orchestrion_kernel::situation::{ActionRecord, Mode, SummaryUpdate, ToolCall, ToolOutcome};
use orchestrion_kernel::{Text, Timestamp};
use std::num::NonZeroU32;

/// Keys of the summary, and invalid ones.
const KEYS: [&str; 8] =
    ["goal", "progress", "current_approach", "key_findings", "next_focus", "insights", "Goal", ""];
/// Blank texts, and texts that only look blank.
const TEXTS: [&str; 6] = ["done", " two ", "", " \t", "\u{1c}\u{85}", "\u{200b}"];

pub(super) fn update(choice: &mut impl RandomSource) -> SummaryUpdate {
    let said =
        (0..choice.below(4)).map(|_| (choice.one_of(&KEYS).to_owned(), Text::from(choice.one_of(&TEXTS))));
    SummaryUpdate(said.collect())
}

pub(super) fn action(choice: &mut impl RandomSource) -> Box<ActionRecord> {
    Box::new(ActionRecord {
        iteration: NonZeroU32::MIN.saturating_add(choice.below(5)),
        timestamp: Timestamp::from_millis(choice.below(u32::MAX).into()),
        mode: choice.one_of(&[Mode::Fast, Mode::Deep]),
        thinking: text(choice),
        planning: text(choice),
        reflection: text(choice),
        approach: text(choice),
        tool_calls: (0..choice.below(3)).map(|_| call(choice)).collect(),
    })
}

fn call(choice: &mut impl RandomSource) -> ToolCall {
    let length = choice.one_of(&[0, 20, 21, 51, 999, 1_001]);
    ToolCall {
        name: text(choice),
        args: (0..choice.below(3)).map(|at| (format!("a{at}"), text(choice))).collect(),
        result: Text::from("x".repeat(length)),
        outcome: choice.one_of(&ToolOutcome::ALL),
    }
}
