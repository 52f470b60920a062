//! The rendering of facts.

use crate::support::{ask, context_of, contexts_with, fact, initial, successor, with, with_facts, write};
use orchestrion_statebench::Presentation;
use orchestrion_statebench::context::ContextBuilder;
use orchestrion_statebench::score::Scorer;
use serde_json::{Value, json};

/// The line of one fact.
fn rendered(key: &str, value: &str) -> String {
    context_of(&initial(), &[write(fact(key, value))], "What?")
}

/// The context without the rules for single templates.
fn context_without_rules(initial: &Value, events: &Value) -> String {
    let presentation = Presentation { cuts_purpose: false, leaves_out_retracted_numbers: false };
    let context_builder = ContextBuilder { presentation, ..ContextBuilder::default() };
    contexts_with(&Scorer { context_builder, ..Scorer::default() }, initial, events).remove(0)
}

#[test]
fn name_omits_version_and_counter() {
    assert_eq!(rendered("global_roof_v2", "red"), "roof: red");
    assert_eq!(rendered("roof_corrected", "red"), "roof: red");
    assert_eq!(rendered("fact_12", "red"), "red");
    assert_eq!(rendered("roof_a", "red"), "red");
}

#[test]
fn empty_value_is_rendered_as_absence() {
    assert_eq!(rendered("roof_window", "None"), "no roof window");
    assert_eq!(rendered("bo_tickets", "None open"), "no open tickets");
    assert_eq!(rendered("roof", "None - new house"), "no roof - new house");
    assert_eq!(rendered("roof", "Nonesuch"), "roof: Nonesuch");
}

#[test]
fn user_wish_is_rendered_in_third_person() {
    assert_eq!(rendered("menu", "I'd like to eat soup"), "menu: wants: eat soup");
    assert_eq!(rendered("menu", "We have a stove"), "menu: has: stove");
    let source = json!({"type": "system", "authority": "system"});
    let by_system = with(fact("menu", "I want soup"), "source", source);
    assert_eq!(context_of(&with_facts(json!([by_system])), &[], "What?"), "menu: I want soup");
}

#[test]
fn purpose_is_cut_only_with_its_switch() {
    let wish = "I need a table to book";
    assert_eq!(rendered("table", wish), "table: wants: a table");
    assert_eq!(rendered("table", "I need you to tell them"), "table: wants: you to tell them");
    assert_eq!(rendered("table", "Tables to book"), "table: Tables to book");
    let context = context_without_rules(&with_facts(json!([fact("table", wish)])), &json!([ask("What?")]));
    assert!(context.ends_with("table: wants: a table to book"), "{context}");
}

#[test]
fn outdated_aside_is_cut() {
    let initial = with_facts(json!([fact("cut", "25% off")]));
    let events = [write(successor("cut_v2", "10% off (25% needs 3 years) (ask Bo)", "cut"))];
    assert_eq!(context_of(&initial, &events, "Which cut?"), "cut: 10% off (ask Bo)");
}

#[test]
fn retracted_number_is_omitted_only_with_its_switch() {
    let facts = json!([fact("cut_most", "At most 20% for all"), fact("cut_now", "Cut of 20% for Bo")]);
    let events =
        json!([write(successor("cut_now_v2", "No cut for Bo", "cut_now")), ask("Which cut for Bo?")]);
    let initial = with_facts(facts);
    assert_eq!(context_of(&initial, &[events[0].clone()], "Which cut for Bo?"), "cut_now: No cut for Bo");
    assert!(context_without_rules(&initial, &events).contains("cut_most: At most 20% for all"));
}
