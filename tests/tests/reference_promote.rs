//! A debate recorded by another implementation is promoted and decided according to 004.

use orchestrion_kernel::Score;
use orchestrion_kernel::event::{DecisionLabel, Event};
use orchestrion_kernel::module::{Operation, Role};
use orchestrion_scenario::promote::{Target, from_debate};
use orchestrion_text::StandardContexts;
use orchestrion_trace::Reader;
use orchestrion_trace::replay::replay;
use std::path::Path;

#[test]
fn reference_debate_proceeds_below_threshold() {
    let Some(folder) = orchestrion_tests::recorded_data_dir("consensus-reference") else { return };
    let text = std::fs::read_to_string(folder.join("recorded_debate.json")).unwrap();
    let target = Target::new("recorded-debate", Path::new("specs/scenarios")).unwrap();
    let promotion = from_debate("recorded_debate.json", &text, &target).unwrap();
    assert!(promotion.halted.is_none(), "{:?}", promotion.halted);

    let golden = || Reader::new(promotion.golden.as_slice(), "recorded-debate.ndjson").unwrap();
    let events: Vec<Event> = golden().flat_map(|step| step.unwrap().events).collect();
    let scores: Vec<Score> = events
        .iter()
        .filter_map(|event| match event {
            Event::ConsensusScored { score, .. } => Some(*score),
            _ => None,
        })
        .collect();
    let exactly = Score::from_millionths(790_356).unwrap();
    assert!(!scores.is_empty() && scores.iter().all(|score| *score == exactly), "{scores:?}");
    let asked = |role| {
        let asks = |event: &&Event| matches!(event, Event::ToolCall { operation, .. } if *operation == Operation::Argue(role));
        events.iter().filter(asks).count()
    };
    assert_eq!(
        Role::ALL.map(asked),
        [1, 3, 3, 3, 3],
        "expected three passes, the first with a round of the Analyst"
    );
    let decisions: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Decided { decision } => Some((decision.label, decision.score)),
            _ => None,
        })
        .collect();
    assert_eq!(decisions, [(DecisionLabel::ProceedBelowThreshold, exactly)]);
    assert!(events.iter().any(|event| matches!(event, Event::FinalAnswer { .. })), "expected a final answer");
    assert!(replay(golden(), None, &StandardContexts).is_equal());
}
