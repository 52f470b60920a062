//! Contexts as a whole, and statements of the conversation in them.

use crate::support::{
    context_of, contexts, contexts_with, fact, initial, query, say, signal, successor, with_facts, write,
};
use orchestrion_statebench::context::ContextBuilder;
use orchestrion_statebench::score::Scorer;
use serde_json::json;

#[test]
fn context_has_sections_in_order() {
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
fn context_reflects_state_at_the_query() {
    let events = json!([
        write(fact("roof", "red")),
        query("Which roof?", &[], &[]),
        write(successor("roof_v2", "black", "roof")),
        query("Which roof?", &[], &[])
    ]);
    let contexts = contexts(&initial(), &events);
    assert!(contexts[0].ends_with("roof: red") && contexts[1].ends_with("roof: black"), "{contexts:?}");
}

#[test]
fn relevant_statement_is_included() {
    let events = [say("The soup needs salt"), say("The bread is baked")];
    assert_eq!(context_of(&initial(), &events, "What of the soup?"), "The soup needs salt");
}

#[test]
fn recorded_statement_is_omitted() {
    let events = [say("The soup needs more salt. Cooks know it"), write(fact("soup", "more salt"))];
    assert_eq!(context_of(&initial(), &events, "What of the soup?"), "soup: more salt");
}

#[test]
fn repetition_of_a_fact_is_omitted() {
    let events = [say("Pepper and salt for the soup"), write(fact("soup", "pepper, salt, garlic"))];
    assert_eq!(context_of(&initial(), &events, "What of the soup?"), "soup: pepper, salt, garlic");
}

#[test]
fn statement_of_superseded_value_is_omitted() {
    let initial = with_facts(json!([fact("budget", "4000 for the roof of the barn")]));
    let events = [
        say("The budget stands at 4000"),
        write(successor("budget_v2", "5000 for the roof of the barn", "budget")),
    ];
    assert_eq!(context_of(&initial, &events, "Which budget?"), "budget: 5000 for the roof of the barn");
}

#[test]
fn statement_of_hidden_value_is_omitted() {
    let restricted = with_facts(json!([fact("pay", "[RESTRICTED: Pay restricted to HR] 77 coins a day")]));
    assert_eq!(context_of(&restricted, &[say("They pay 77 there")], "Which pay?"), "");
    let events = [
        write(signal("pass", "Pass open until 18")),
        say("I heard the pass closes at 18"),
        write(signal("pass", "Pass shut")),
    ];
    assert!(!context_of(&initial(), &events, "Which pass?").contains("18"));
}

#[test]
fn interruption_and_first_task_stay_separate() {
    let events = [
        say("The roof needs 40 slates"),
        say("The ridge is steep"),
        say("Hold on - the door"),
        say("The door takes 3 hinges"),
        say("Back to the roof"),
    ];
    let expected = "The roof needs 40 slates\nThe ridge is steep";
    assert_eq!(context_of(&initial(), &events, "How many for the roof?"), expected);
    assert_eq!(context_of(&initial(), &events[..4], "How many for the door?"), "The door takes 3 hinges");
    assert_eq!(
        context_of(&initial(), &events[..4], "How many for the roof?"),
        expected,
        "the query resumes the first task"
    );
}

#[test]
fn question_of_a_turn_is_omitted() {
    let events = [say("What does Bo pay for soup?"), say("Soup is served at noon.")];
    assert_eq!(context_of(&initial(), &events, "What of the soup?"), "Soup is served at noon.");
}

#[test]
fn budget_omits_least_relevant_lines() {
    let scorer = Scorer {
        context_builder: ContextBuilder { chars_max: 22, ..ContextBuilder::default() },
        ..Scorer::default()
    };
    let facts = json!([fact("roof", "red"), fact("door", "blue"), fact("gate", "white")]);
    let events = json!([say("The roof leaks a lot"), query("Which roof?", &[], &[])]);
    let contexts = contexts_with(&scorer, &with_facts(facts), &events);
    assert!(
        contexts[0].ends_with("roof: red\n\ngate: white") || contexts[0].ends_with("roof: red\ngate: white")
    );
    assert!(contexts[0].starts_with("Ada; Kitchen; Inn\n\nnow"), "identity and environment are pinned");
}
