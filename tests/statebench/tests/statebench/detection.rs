//! Supersessions that the detector finds in turns and writes.

use crate::support::{
    ask, context_of, contexts, contexts_with, fact, initial, line_from, say, signal, successor, with,
    with_facts, with_title, write,
};
use orchestrion_ingest::{Assertion, DetectedSupersession, KnownFact, SupersessionDetector, TurnRecord};
use orchestrion_kernel::ItemId;
use orchestrion_kernel::item::{SupersessionRule, Validity};
use orchestrion_statebench::read::Reader;
use orchestrion_statebench::score::Scorer;
use serde_json::{Value, json};

/// A turn and a write: the roof is red.
fn red_roof() -> [Value; 2] {
    [say("The roof will be red"), write(fact("roof", "red"))]
}

/// The context after the red roof and this turn.
fn context_after(text: &str) -> String {
    context_of(&initial(), &[&red_roof()[..], &[say(text)]].concat(), "Which roof?")
}

/// The rule that superseded the first fact, if any.
fn rule(events: &[Value]) -> Option<SupersessionRule> {
    let text = line_from(&initial(), &[events, &[ask("What?")]].concat().into());
    let case = Reader::new(text.as_bytes(), "some.jsonl").next().unwrap().unwrap();
    let scorer = Scorer::default();
    let replay = scorer.replay(&case.timeline, |_, _, _| {});
    let mut entries = replay.session().state().entries();
    match entries.find(|entry| entry.item.fact().is_some()).unwrap().item.validity {
        Validity::Superseded { superseded_by: Some(_), rule } => Some(rule),
        _ => None,
    }
}

/// The rule that superseded the red roof after this turn, with another fact in the session.
fn rule_after(text: &str) -> Option<SupersessionRule> {
    rule(&[&red_roof()[..], &[write(fact("door", "oak")), say(text)]].concat())
}

#[test]
fn change_on_same_subject_supersedes() {
    assert_eq!(context_after("Actually, make the roof black"), "Actually, make the roof black");
    assert_eq!(rule_after("Actually, make the roof black"), Some(SupersessionRule::Explicit));
    assert_eq!(rule_after("Actually, make the fence black"), None, "another subject, and another fact");
}

#[test]
fn statement_on_same_subject_supersedes() {
    assert_eq!(rule_after("The roof is black"), Some(SupersessionRule::Implicit));
    assert_eq!(rule_after("The fence is black"), None);
    assert_eq!(rule_after("Black roofs look good"), None, "no word of statement");
}

#[test]
fn citation_of_higher_rank_supersedes() {
    assert_eq!(rule_after("Per the CEO, black roof"), Some(SupersessionRule::Authority));
    assert_eq!(rule_after("Per the cook, black roof"), None, "the user has the same rank");
}

#[test]
fn changed_number_supersedes_number() {
    let events = |text: &str| {
        [say("Take 12 slates"), write(fact("slates", "12")), write(fact("door", "oak")), say(text)]
    };
    assert_eq!(rule(&events("Correction: 15")), Some(SupersessionRule::Explicit));
    assert_eq!(rule(&events("Correction: fifteen")), None);
}

#[test]
fn turn_superseding_two_facts_appears_once() {
    let events = [
        say("Take 12 slates and 40 nails"),
        write(fact("slates", "12 slates")),
        write(fact("nails", "40 nails")),
        say("Correction: take 15 of each"),
    ];
    assert_eq!(context_of(&initial(), &events, "What do we take?"), "Correction: take 15 of each");
}

#[test]
fn change_supersedes_only_fact_of_session() {
    assert_eq!(context_after("Let's do black instead"), "Let's do black instead");
}

#[test]
fn turn_supersedes_fact_written_later() {
    let [turn, write] = red_roof();
    let events = [turn, say("Actually, make the roof black"), write];
    assert_eq!(rule(&events), Some(SupersessionRule::Explicit));
}

#[test]
fn recorded_turn_supersedes_nothing() {
    let recorded = [say("Now a new roof light is needed"), write(fact("light", "new roof light needed"))];
    assert_eq!(rule(&[red_roof(), recorded].concat()), None);
}

#[test]
fn questions_suppositions_and_repetitions_supersede_nothing() {
    assert_eq!(rule_after("Is the roof black now?"), None);
    assert_eq!(rule_after("Maybe the roof is black"), None);
    assert_eq!(rule_after("The roof is red now"), None);
}

/// The context after this turn, with this initial fact.
fn context_with_initial(key: &str, value: &str, text: &str) -> String {
    context_of(&with_facts(json!([fact(key, value)])), &[say(text)], "What is it?")
}

#[test]
fn other_value_supersedes_initial_fact() {
    let moved = "I moved to 456 Oak Ave";
    assert_eq!(context_with_initial("address_v1", "lives at 123 Main St", moved), moved);
    for text in [
        "Let's do Thursday",
        "Let's do the meeting Thursday at 3pm",
        "The meeting is Thursday",
        "Actually, Thursday",
    ] {
        assert_eq!(context_with_initial("m1", "Meeting is Tuesday at 2pm", text), text);
    }
}

#[test]
fn value_supersedes_only_earlier_writes() {
    let text = "Let's do the meeting Thursday at 3pm";
    let (meeting, turn) = (write(fact("m1", "Meeting is Tuesday at 2pm")), say(text));
    assert_eq!(context_of(&initial(), &[meeting.clone(), turn.clone()], "When is the meeting?"), text);
    let context = context_of(&initial(), &[turn, meeting], "When is the meeting?");
    assert!(context.contains("m1: Meeting is Tuesday at 2pm"), "{context}");
}

#[test]
fn equal_value_or_other_kind_supersedes_nothing() {
    for text in [
        "Let's do the meeting on Tuesday",
        "Let's do 30% of the meeting",
        "It is Thursday",
        "Is the meeting on Thursday now?",
        "Maybe let's do Thursday",
        "The meeting is great. Lunch is Thursday",
    ] {
        let context = context_with_initial("meeting", "Meeting is Tuesday at 2pm", text);
        assert!(context.contains("meeting: Meeting is Tuesday at 2pm"), "{text}: {context}");
    }
    let context = context_with_initial("roof", "red", "Actually, make the roof black");
    assert!(context.contains("roof: red"), "colors have no shape: {context}");
}

#[test]
fn value_supersedes_the_named_fact() {
    let initial = with_facts(json!([fact("meeting", "on Tuesday"), fact("delivery", "on Monday")]));
    let unnamed = context_of(&initial, &[say("Let's do Thursday")], "What is when?");
    assert!(unnamed.contains("meeting: on Tuesday") && unnamed.contains("delivery: on Monday"), "{unnamed}");
    let named = context_of(&initial, &[say("Let's do the meeting Thursday")], "What is when?");
    assert!(named.contains("delivery: on Monday") && named.contains("meeting Thursday"), "{named}");
    assert!(!named.contains("Tuesday"), "{named}");
}

#[test]
fn hidden_facts_do_not_compete_for_a_value() {
    let secret = fact("raise", "[RESTRICTED: HR] raise on Tuesday");
    let supposed = with(fact("party", "party on Monday"), "scope", "hypothetical");
    let initial = with_facts(json!([secret, supposed, fact("meeting", "on Friday")]));
    assert_eq!(context_of(&initial, &[say("Let's do Thursday")], "When?"), "Let's do Thursday");
}

#[test]
fn lower_rank_supersedes_no_initial_fact() {
    let policy = with(fact("policy", "max 15%"), "source", "CFO");
    let initial = with(with_title("intern"), "persistent_facts", json!([policy]));
    for text in ["Actually, let's offer a 25% discount", "Per the board, let's offer a 25% discount"] {
        assert_eq!(context_of(&initial, &[say(text)], "Can we offer 25% discount?"), "policy: max 15%");
    }
}

#[test]
fn later_version_supersedes_up_to_equal_rank() {
    let versions = |old: &str, new: &str, rank: &str| {
        let mut second = fact(new, "456 Oak Ave");
        second["source"]["authority"] = rank.into();
        context_of(&initial(), &[write(fact(old, "123 Main St")), write(second)], "What?")
    };
    assert_eq!(versions("address_v1", "address_v2", "peer"), "address: 456 Oak Ave");
    assert_eq!(versions("address", "address_updated", "manager"), "address_updated: 456 Oak Ave");
    let both = versions("address_v1", "address_v2", "guest");
    assert!(both.contains("123 Main St"), "a guest has no authority: {both}");
    let both = versions("address_home", "address_work", "peer");
    assert!(both.contains("123 Main St") && both.contains("456 Oak Ave"), "{both}");
}

#[test]
fn later_correction_supersedes_correction() {
    let corrections = [say("Actually, make the roof black"), say("No, make the roof blue instead")];
    let context = context_of(&initial(), &[red_roof(), corrections].concat(), "Which roof?");
    assert_eq!(context, "No, make the roof blue instead");
}

#[test]
fn repeated_query_writes_nothing_twice() {
    let rest = [say("Actually, make the roof black"), ask("Which roof?"), ask("Which roof?")];
    let contexts = contexts(&initial(), &[&red_roof()[..], &rest].concat().into());
    assert_eq!(contexts[0], contexts[1]);
}

#[test]
fn statement_on_a_draft_is_global() {
    let events = json!([
        say("Draft pricing: 12 a unit"),
        write(fact("price", "12 (DRAFT)")),
        say("We have finalized the pricing at 10 a unit"),
        ask("Which price?"),
        write(successor("price_v2", "9", "price")),
        ask("Which price?")
    ]);
    let contexts = contexts(&initial(), &events);
    assert!(contexts[0].ends_with("We have finalized the pricing at 10 a unit"), "{contexts:?}");
    assert!(contexts[1].ends_with("price: 9"), "{contexts:?}");
}

/// Detects nothing.
struct NoDetector;

impl SupersessionDetector for NoDetector {
    fn detect_in_conversation(
        &self,
        _: &[KnownFact<'_>],
        _: &[TurnRecord],
    ) -> Vec<(usize, DetectedSupersession)> {
        Vec::new()
    }

    fn detect_for_fact(&self, _: &Assertion<'_>, _: &[KnownFact<'_>]) -> Option<DetectedSupersession> {
        None
    }

    fn detect_for_signal(
        &self,
        _: &Assertion<'_>,
        _: &[(ItemId, Assertion<'_>)],
    ) -> Option<DetectedSupersession> {
        None
    }
}

#[test]
fn detector_is_replaceable() {
    let scorer = Scorer { detector: &NoDetector, ..Scorer::default() };
    let rest = [say("Actually, make the roof black"), ask("Which roof?")];
    let contexts = contexts_with(&scorer, &initial(), &[red_roof(), rest].concat().into());
    assert!(contexts[0].contains("roof: red"), "{contexts:?}");
}

#[test]
fn single_digit_is_no_shared_subject() {
    let signals = |one: &str, other: &str| {
        context_of(&initial(), &[write(signal("a", one)), write(signal("b", other))], "What?")
    };
    assert_eq!(signals("3 units in stock", "demo in 3 hours"), "3 units in stock\ndemo in 3 hours");
    assert_eq!(signals("gate 31 is shut", "boarding at 31"), "boarding at 31");
}

#[test]
fn versions_are_detected_in_every_key_style() {
    for (first, second) in [
        ("roof_v1", "roof_v2"),
        ("roof-v1", "roof-v2"),
        ("roofV1", "roofV2"),
        ("ROOF_V1", "ROOF_V2"),
        ("roof", "roofUpdated"),
    ] {
        let writes = [write(fact(first, "red")), write(fact(second, "black"))];
        let context = context_of(&initial(), &writes, "What?");
        assert!(context.contains("black") && !context.contains("red"), "{second}: {context}");
    }
    for (first, second) in [("order-a", "order-b"), ("orderA", "orderB"), ("ORDER_A", "ORDER_B")] {
        let orders =
            [fact(first, "[VP] Vi (VP Sales): Go"), fact(second, "[MANAGER] Mo (Sales Manager): Stop")];
        let context = context_of(&initial(), &orders.map(write), "What?");
        assert_eq!(context, "[VP] Vi (VP Sales): Go", "{second}");
    }
}
