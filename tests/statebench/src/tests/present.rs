//! Rules on the words in which a fact is told.

use super::{ask, contexts_by, fact, initial, instead, told, with_facts, write};
use crate::Presentation;
use crate::context::Contexts;
use crate::score::Scorer;
use serde_json::{Value, json};

fn told_as(key: &str, value: &str) -> String {
    told(&initial(), &[write(fact(key, value))], "What?")
}

/// What is told where nothing is done for single templates.
fn plain(initial: &Value, events: &Value) -> String {
    let presentation = Presentation { cuts_purpose: false, leaves_out_retracted_numbers: false };
    let contexts = Contexts { presentation, ..Contexts::default() };
    contexts_by(&Scorer { contexts, ..Scorer::default() }, initial, events).remove(0)
}

#[test]
fn a_name_is_told_without_what_only_tells_versions_apart() {
    assert_eq!(told_as("global_roof_v2", "red"), "roof: red");
    assert_eq!(told_as("roof_corrected", "red"), "roof: red");
    assert_eq!(told_as("fact_12", "red"), "red");
    assert_eq!(told_as("roof_a", "red"), "red");
}

#[test]
fn nothing_is_told_as_no_such_thing() {
    assert_eq!(told_as("roof_window", "None"), "no roof window");
    assert_eq!(told_as("bo_tickets", "None open"), "no open tickets");
    assert_eq!(told_as("roof", "None - new house"), "no roof - new house");
    assert_eq!(told_as("roof", "Nonesuch"), "roof: Nonesuch");
}

#[test]
fn what_the_user_wishes_or_has_is_told_without_the_first_person() {
    assert_eq!(told_as("menu", "I'd like to eat soup"), "menu: wants: eat soup");
    assert_eq!(told_as("menu", "We have a stove"), "menu: has: stove");
    let mut systems = fact("menu", "I want soup");
    systems["source"] = json!({"type": "system", "authority": "system"});
    assert_eq!(told(&with_facts(json!([systems])), &[], "What?"), "menu: I want soup");
}

#[test]
fn a_bare_purpose_is_cut_only_where_the_switch_is_on() {
    let wish = "I need a table to book";
    assert_eq!(told_as("table", wish), "table: wants: a table");
    assert_eq!(told_as("table", "I need you to tell them"), "table: wants: you to tell them");
    assert_eq!(told_as("table", "Tables to book"), "table: Tables to book");
    let told = plain(&with_facts(json!([fact("table", wish)])), &json!([ask("What?")]));
    assert!(told.ends_with("table: wants: a table to book"), "{told}");
}

#[test]
fn an_aside_that_repeats_what_was_superseded_is_cut() {
    let initial = with_facts(json!([fact("cut", "25% off")]));
    let events = [write(instead("cut_v2", "10% off (25% needs 3 years) (ask Bo)", "cut"))];
    assert_eq!(told(&initial, &events, "Which cut?"), "cut: 10% off (ask Bo)");
}

#[test]
fn a_retracted_number_is_left_out_only_where_the_switch_is_on() {
    let facts = json!([fact("cut_most", "At most 20% for all"), fact("cut_now", "Cut of 20% for Bo")]);
    let events = json!([write(instead("cut_now_v2", "No cut for Bo", "cut_now")), ask("Which cut for Bo?")]);
    let initial = with_facts(facts);
    let told_now = told(&initial, &[events[0].clone()], "Which cut for Bo?");
    assert_eq!(told_now, "cut_now: No cut for Bo");
    assert!(plain(&initial, &events).contains("cut_most: At most 20% for all"));
}
