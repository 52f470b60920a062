//! Rules on what a conversation takes the place of, though nobody wrote it.

use super::{ask, fact, initial, line_from, say, signal, told, with_facts, write};
use crate::conversation::TurnRecord;
use crate::detect::{Assertion, Detected, KnownFact, SupersessionDetector};
use crate::read::Reader;
use crate::score::Scorer;
use orchestrion_kernel::ItemId;
use orchestrion_kernel::item::{SupersessionRule, Validity};
use serde_json::{Value, json};

/// What is told after a roof was ordered in red, and this was said.
fn after(text: &str) -> String {
    told(&initial(), &[say("The roof will be red"), write(fact("roof", "red")), say(text)], "Which roof?")
}

/// The rule by which the first fact was superseded, if it was.
fn rule(events: &[Value]) -> Option<SupersessionRule> {
    let mut events = events.to_vec();
    events.push(ask("What?"));
    let text = line_from(&initial(), &events.into());
    let case = Reader::new(text.as_bytes(), "some.jsonl").next().unwrap().unwrap();
    let scorer = Scorer::default();
    let session = scorer.replay(&case.timeline, |_, _, _| {});
    let first = session.known().entries().find(|entry| entry.item.fact().is_some()).unwrap();
    match first.item.validity {
        Validity::Superseded { superseded_by: Some(_), rule } => Some(rule),
        _ => None,
    }
}

fn rule_after(text: &str) -> Option<SupersessionRule> {
    rule(&[say("The roof will be red"), write(fact("roof", "red")), write(fact("door", "oak")), say(text)])
}

#[test]
fn words_of_change_on_the_same_matter_supersede() {
    assert_eq!(after("Actually, make the roof black"), "Actually, make the roof black");
    assert_eq!(rule_after("Actually, make the roof black"), Some(SupersessionRule::Explicit));
    assert_eq!(rule_after("Actually, make the fence black"), None, "another matter, and another fact");
}

#[test]
fn words_of_statement_on_the_same_matter_supersede() {
    assert_eq!(rule_after("The roof is black"), Some(SupersessionRule::Implicit));
    assert_eq!(rule_after("The fence is black"), None);
    assert_eq!(rule_after("Black roofs look good"), None, "nobody says that it is so");
}

#[test]
fn the_word_of_a_higher_rank_supersedes() {
    assert_eq!(rule_after("Per the CEO, black roof"), Some(SupersessionRule::Authority));
    assert_eq!(rule_after("Per the cook, black roof"), None, "a cook is no more than the user");
}

#[test]
fn a_change_of_number_supersedes_a_number() {
    let events = |said: &str| {
        [say("Take 12 slates"), write(fact("slates", "12")), write(fact("door", "oak")), say(said)]
    };
    assert_eq!(rule(&events("Correction: 15")), Some(SupersessionRule::Explicit));
    assert_eq!(rule(&events("Correction: fifteen")), None);
}

#[test]
fn a_turn_that_takes_the_place_of_two_facts_is_told_once() {
    let events = [
        say("Take 12 slates and 40 nails"),
        write(fact("slates", "12 slates")),
        write(fact("nails", "40 nails")),
        say("Correction: take 15 of each"),
    ];
    assert_eq!(told(&initial(), &events, "What do we take?"), "Correction: take 15 of each");
}

#[test]
fn the_only_fact_of_a_session_is_what_a_change_is_about() {
    assert_eq!(after("Let's do black instead"), "Let's do black instead");
}

#[test]
fn a_turn_supersedes_though_the_fact_was_written_after_it() {
    let events =
        [say("The roof will be red"), say("Actually, make the roof black"), write(fact("roof", "red"))];
    assert_eq!(rule(&events), Some(SupersessionRule::Explicit));
}

#[test]
fn a_turn_that_another_fact_records_supersedes_nothing() {
    let said = "Now a new roof light is needed";
    let events = [
        say("The roof will be red"),
        write(fact("roof", "red")),
        say(said),
        write(fact("light", "new roof light needed")),
    ];
    assert_eq!(rule(&events), None);
}

#[test]
fn questions_suppositions_and_what_is_said_again_supersede_nothing() {
    assert_eq!(rule_after("Is the roof black now?"), None);
    assert_eq!(rule_after("Maybe the roof is black"), None);
    assert_eq!(rule_after("The roof is red now"), None);
}

/// What is told of a fact that was known before, after this was said.
fn after_known(key: &str, known: &str, said: &str) -> String {
    told(&with_facts(json!([fact(key, known)])), &[say(said)], "What is it?")
}

#[test]
fn another_value_of_what_was_known_before_supersedes() {
    let moved = "I moved to 456 Oak Ave";
    assert_eq!(after_known("address_v1", "lives at 123 Main St", moved), moved);
    for said in [
        "Let's do Thursday",
        "Let's do the meeting Thursday at 3pm",
        "The meeting is Thursday",
        "Actually, Thursday",
    ] {
        assert_eq!(after_known("m1", "Meeting is Tuesday at 2pm", said), said);
    }
}

#[test]
fn another_value_supersedes_what_was_written_before_it_and_not_what_was_written_after() {
    let (meeting, said) =
        (write(fact("m1", "Meeting is Tuesday at 2pm")), say("Let's do the meeting Thursday at 3pm"));
    let after = told(&initial(), &[meeting.clone(), said.clone()], "When is the meeting?");
    assert_eq!(after, "Let's do the meeting Thursday at 3pm");
    let before = told(&initial(), &[said, meeting], "When is the meeting?");
    assert!(before.contains("m1: Meeting is Tuesday at 2pm"), "{before}");
}

#[test]
fn what_is_no_other_value_of_that_kind_supersedes_nothing_that_was_known_before() {
    let meeting = "Meeting is Tuesday at 2pm";
    for said in [
        "Let's do the meeting on Tuesday",
        "Let's do 30% of the meeting",
        "It is Thursday",
        "Is the meeting on Thursday now?",
        "Maybe let's do Thursday",
        "The meeting is great. Lunch is Thursday",
    ] {
        let told = after_known("meeting", meeting, said);
        assert!(told.contains("meeting: Meeting is Tuesday at 2pm"), "{said}: {told}");
    }
    let told = after_known("roof", "red", "Actually, make the roof black");
    assert!(told.contains("roof: red"), "a colour has no shape: {told}");
}

#[test]
fn of_several_that_were_known_before_a_value_takes_the_place_of_the_one_that_is_named() {
    let initial = with_facts(json!([fact("meeting", "on Tuesday"), fact("delivery", "on Monday")]));
    let unnamed = told(&initial, &[say("Let's do Thursday")], "What is when?");
    assert!(unnamed.contains("meeting: on Tuesday") && unnamed.contains("delivery: on Monday"), "{unnamed}");
    let named = told(&initial, &[say("Let's do the meeting Thursday")], "What is when?");
    assert!(named.contains("delivery: on Monday") && named.contains("meeting Thursday"), "{named}");
    assert!(!named.contains("Tuesday"), "{named}");
}

#[test]
fn nobody_speaks_of_what_may_not_be_shown() {
    let secret = fact("raise", "[RESTRICTED: HR] raise on Tuesday");
    let mut supposed = fact("party", "party on Monday");
    supposed["scope"] = "hypothetical".into();
    let known = fact("meeting", "on Friday");
    let initial = with_facts(json!([secret, supposed, known]));
    assert_eq!(
        told(&initial, &[say("Let's do Thursday")], "When?"),
        "Let's do Thursday",
        "it is the only one of a day"
    );
}

#[test]
fn who_has_no_say_supersedes_nothing_that_was_known_before() {
    let mut policy = fact("policy", "max 15%");
    policy["source"] = "CFO".into();
    let mut initial = with_facts(json!([policy]));
    initial["identity_role"]["authority"] = "intern".into();
    for said in ["Actually, let's offer a 25% discount", "Per the board, let's offer a 25% discount"] {
        assert_eq!(told(&initial, &[say(said)], "Can we offer 25% discount?"), "policy: max 15%");
    }
}

#[test]
fn a_later_version_of_an_entity_stands_instead_of_an_earlier_one_of_no_higher_rank() {
    let versions = |old: &str, new: &str, rank: &str| {
        let mut second = fact(new, "456 Oak Ave");
        second["source"]["authority"] = rank.into();
        told(&initial(), &[write(fact(old, "123 Main St")), write(second)], "What?")
    };
    assert_eq!(versions("address_v1", "address_v2", "peer"), "address: 456 Oak Ave");
    assert_eq!(versions("address", "address_updated", "manager"), "address_updated: 456 Oak Ave");
    let both = versions("address_v1", "address_v2", "guest");
    assert!(both.contains("123 Main St"), "a guest has no say: {both}");
    let both = versions("address_home", "address_work", "peer");
    assert!(both.contains("123 Main St") && both.contains("456 Oak Ave"), "{both}");
}

#[test]
fn a_correction_of_a_correction_stands() {
    let events = [
        say("The roof will be red"),
        write(fact("roof", "red")),
        say("Actually, make the roof black"),
        say("No, make the roof blue instead"),
    ];
    assert_eq!(told(&initial(), &events, "Which roof?"), "No, make the roof blue instead");
}

#[test]
fn asking_twice_detects_nothing_twice() {
    let events =
        [say("The roof will be red"), write(fact("roof", "red")), say("Actually, make the roof black")];
    let mut twice = events.to_vec();
    twice.extend([ask("Which roof?"), ask("Which roof?")]);
    let contexts = super::contexts(&initial(), &twice.into());
    assert_eq!(contexts[0], contexts[1]);
}

#[test]
fn what_is_said_on_a_draft_counts_everywhere_until_something_later_does() {
    let events = json!([
        say("Draft pricing: 12 a unit"),
        write(fact("price", "12 (DRAFT)")),
        say("We have finalized the pricing at 10 a unit"),
        ask("Which price?"),
        write(super::instead("price_v2", "9", "price")),
        ask("Which price?")
    ]);
    let contexts = super::contexts(&initial(), &events);
    assert!(contexts[0].ends_with("We have finalized the pricing at 10 a unit"), "{contexts:?}");
    assert!(contexts[1].ends_with("price: 9"), "{contexts:?}");
}

/// Reads nothing into anything.
struct Literal;

impl SupersessionDetector for Literal {
    fn in_conversation(&self, _: &[KnownFact<'_>], _: &[TurnRecord]) -> Vec<(usize, Detected)> {
        Vec::new()
    }

    fn in_fact(&self, _: &Assertion<'_>, _: &[KnownFact<'_>]) -> Option<Detected> {
        None
    }

    fn in_signal(&self, _: &Assertion<'_>, _: &[(ItemId, Assertion<'_>)]) -> Option<Detected> {
        None
    }
}

#[test]
fn another_way_to_read_is_another_detector() {
    let scorer = Scorer { detect: &Literal, ..Scorer::default() };
    let events = json!([
        say("The roof will be red"),
        write(fact("roof", "red")),
        say("Actually, make the roof black"),
        ask("Which roof?")
    ]);
    let contexts = super::contexts_by(&scorer, &initial(), &events);
    assert!(contexts[0].contains("roof: red"), "{contexts:?}");
}

#[test]
fn a_digit_alone_is_no_matter_that_two_signals_share() {
    let signals = |one: &str, other: &str| {
        told(&initial(), &[write(signal("a", one)), write(signal("b", other))], "What?")
    };
    assert_eq!(signals("3 units in stock", "demo in 3 hours"), "3 units in stock\ndemo in 3 hours");
    assert_eq!(signals("gate 31 is shut", "boarding at 31"), "boarding at 31");
}

#[test]
fn versions_and_alternatives_are_read_in_keys_of_every_style() {
    for (first, second) in [
        ("roof_v1", "roof_v2"),
        ("roof-v1", "roof-v2"),
        ("roofV1", "roofV2"),
        ("ROOF_V1", "ROOF_V2"),
        ("roof", "roofUpdated"),
    ] {
        let told = told(&initial(), &[write(fact(first, "red")), write(fact(second, "black"))], "What?");
        assert!(told.contains("black") && !told.contains("red"), "{second}: {told}");
    }
    for (first, second) in [("order-a", "order-b"), ("orderA", "orderB"), ("ORDER_A", "ORDER_B")] {
        let said =
            [fact(first, "[VP] Vi (VP Sales): Go"), fact(second, "[MANAGER] Mo (Sales Manager): Stop")];
        let told = told(&initial(), &said.map(write), "What?");
        assert_eq!(told, "[VP] Vi (VP Sales): Go", "{second}");
    }
}
