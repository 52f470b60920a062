//! Rules on what of a conversation stands in a context, and on the context as a whole.

use super::{contexts, contexts_by, fact, initial, instead, query, say, signal, told, with_facts, write};
use crate::context::Contexts;
use crate::score::Scorer;
use serde_json::json;

#[test]
fn the_sections_stand_in_their_order_with_blank_lines_between() {
    let events = json!([
        write(signal("weather", "Rain")),
        write(fact("roof", "red")),
        say("The roof leaks"),
        query("What of the roof?", &[], &[])
    ]);
    let expected = "Ada; Kitchen; Inn\n\nnow: 2025-01-01T12:00:00\nRain\n\nroof: red\n\nThe roof leaks";
    assert_eq!(contexts(&initial(), &events), [expected]);
}

#[test]
fn a_question_is_answered_from_what_is_known_when_it_is_asked() {
    let events = json!([
        write(fact("roof", "red")),
        query("Which roof?", &[], &[]),
        write(instead("roof_v2", "black", "roof")),
        query("Which roof?", &[], &[])
    ]);
    let contexts = contexts(&initial(), &events);
    assert!(contexts[0].ends_with("roof: red") && contexts[1].ends_with("roof: black"), "{contexts:?}");
}

#[test]
fn a_statement_that_nothing_stands_for_is_told_where_it_is_relevant() {
    let events = [say("The soup needs salt"), say("The bread is baked")];
    assert_eq!(told(&initial(), &events, "What of the soup?"), "The soup needs salt");
}

#[test]
fn what_a_fact_records_is_told_once() {
    let events = [say("The soup needs more salt. Cooks know it"), write(fact("soup", "more salt"))];
    assert_eq!(told(&initial(), &events, "What of the soup?"), "soup: more salt");
}

#[test]
fn a_retelling_of_a_fact_is_left_out() {
    let events = [say("Pepper and salt for the soup"), write(fact("soup", "pepper, salt, garlic"))];
    assert_eq!(told(&initial(), &events, "What of the soup?"), "soup: pepper, salt, garlic");
}

#[test]
fn what_repeats_a_superseded_value_is_left_out() {
    let initial = with_facts(json!([fact("budget", "4000 for the roof of the barn")]));
    let events = [
        say("The budget stands at 4000"),
        write(instead("budget_v2", "5000 for the roof of the barn", "budget")),
    ];
    assert_eq!(told(&initial, &events, "Which budget?"), "budget: 5000 for the roof of the barn");
}

#[test]
fn what_repeats_what_is_restricted_or_overwritten_is_left_out() {
    let initial = with_facts(json!([fact("pay", "[RESTRICTED: Pay restricted to HR] 77 coins a day")]));
    assert_eq!(told(&initial, &[say("They pay 77 there")], "Which pay?"), "");
    let events = [
        write(signal("pass", "Pass open until 18")),
        say("I heard the pass closes at 18"),
        write(signal("pass", "Pass shut")),
    ];
    assert!(!told(&super::initial(), &events, "Which pass?").contains("18"));
}

#[test]
fn what_was_said_in_an_interruption_stays_there_and_what_came_before_is_resumed() {
    let events = [
        say("The roof needs 40 slates"),
        say("The ridge is steep"),
        say("Hold on - the door"),
        say("The door takes 3 hinges"),
        say("Back to the roof"),
    ];
    let expected = "The roof needs 40 slates\nThe ridge is steep";
    assert_eq!(told(&initial(), &events, "How many for the roof?"), expected);
    assert_eq!(told(&initial(), &events[..4], "How many for the door?"), "The door takes 3 hinges");
    assert_eq!(told(&initial(), &events[..4], "How many for the roof?"), expected, "the question resumes it");
}

#[test]
fn a_question_in_the_conversation_is_not_told() {
    let events = [say("What does Bo pay for soup?"), say("Soup is served at noon.")];
    assert_eq!(told(&initial(), &events, "What of the soup?"), "Soup is served at noon.");
}

#[test]
fn what_does_not_fit_is_left_out_the_least_relevant_first() {
    let scorer = Scorer { contexts: Contexts { chars_max: 22, ..Contexts::default() }, ..Scorer::default() };
    let facts = json!([fact("roof", "red"), fact("door", "blue"), fact("gate", "white")]);
    let events = json!([say("The roof leaks a lot"), query("Which roof?", &[], &[])]);
    let contexts = contexts_by(&scorer, &with_facts(facts), &events);
    assert!(
        contexts[0].ends_with("roof: red\n\ngate: white") || contexts[0].ends_with("roof: red\ngate: white")
    );
    assert!(contexts[0].starts_with("Ada; Kitchen; Inn\n\nnow"), "identity and environment are pinned");
}
