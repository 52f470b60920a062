//! Rules on writes: what a timeline writes, and what of it holds.

use super::{fact, initial, instead, say, signal, told, with_facts, write};
use serde_json::{Value, json};

fn told_of(writes: &[Value]) -> String {
    told(&initial(), &writes.iter().cloned().map(write).collect::<Vec<_>>(), "What?")
}

/// A fact of somebody by name.
fn claim(key: &str, value: &str) -> Value {
    fact(key, value)
}

#[test]
fn what_was_superseded_is_not_told_and_its_successor_is() {
    let writes = [fact("status_v1", "approved"), instead("status_v2", "cancelled", "status_v1")];
    assert_eq!(told_of(&writes), "status: cancelled");
}

#[test]
fn how_often_something_was_said_does_not_count() {
    let approved = "The order is approved";
    let events = [
        say(approved),
        say(approved),
        say(approved),
        write(fact("order_v1", "approved")),
        write(instead("order_v2", "cancelled", "order_v1")),
    ];
    assert_eq!(told(&initial(), &events, "Should we go on with the order?"), "order: cancelled");
}

#[test]
fn a_link_names_an_id_before_a_key_and_of_these_the_latest_that_is_valid() {
    let mut roof = fact("roof", "red");
    roof["id"] = "door".into();
    let writes = [roof, fact("door", "blue"), instead("gate", "white", "door")];
    assert_eq!(told_of(&writes), "door: blue\ngate: white", "the id is the roof's");
    let writes = [
        fact("door", "blue"),
        instead("gate", "white", "door"),
        fact("door", "green"),
        instead("arch", "grey", "door"),
    ];
    assert_eq!(told_of(&writes), "gate: white\narch: grey");
}

#[test]
fn ids_that_repeat_leave_links_by_key_alone() {
    let writes = [fact("roof", "red"), fact("door", "blue"), instead("roof_v2", "black", "roof")];
    assert_eq!(told_of(&writes), "door: blue\nroof: black");
}

#[test]
fn the_order_of_events_decides_whatever_the_times_say() {
    let mut earlier = write(instead("roof_v2", "black", "roof"));
    earlier["ts"] = "2024-01-01T00:00:00".into();
    let events = [write(fact("roof", "red")), earlier];
    assert_eq!(told(&initial(), &events, "What?"), "roof: black");
}

#[test]
fn what_says_that_it_was_invalidated_is_kept_untold_and_supersedes_all_the_same() {
    let writes = [fact("plan", "Buy"), instead("plan_v2", "[INVALIDATED - wrong] Buy", "plan")];
    assert_eq!(told_of(&writes), "");
}

#[test]
fn facts_that_were_not_valid_at_first_are_not_told() {
    let mut gone = fact("roof", "red");
    gone["is_valid"] = false.into();
    let mut replaced = fact("door", "blue");
    replaced["superseded_by"] = "gate".into();
    let initial = with_facts(json!([gone, replaced, fact("gate", "white")]));
    assert_eq!(told(&initial, &[], "What?"), "gate: white");
}

#[test]
fn of_two_speakers_the_one_of_higher_rank_is_believed() {
    let high = claim("order_a", "[VP] Vi (VP Sales): At most 15");
    let low = claim("order_b", "[MANAGER] Mo (Sales Manager): Give 25");
    let initial = with_facts(json!([high, low]));
    assert_eq!(told(&initial, &[], "What?"), "[VP] Vi (VP Sales): At most 15");
    let initial = with_facts(json!([low, high]));
    assert_eq!(told(&initial, &[], "What?"), "[VP] Vi (VP Sales): At most 15");
}

#[test]
fn the_same_speaker_may_say_something_else_later() {
    let first = claim("order_a", "[VP] Vi (VP Sales): Go");
    let second = claim("order_b", "[VP] Vi (VP Sales): Stop");
    assert_eq!(told_of(&[first, second]), "[VP] Vi (VP Sales): Stop");
}

#[test]
fn equals_who_disagree_are_both_told_as_a_conflict() {
    let first = claim("order_a", "[VP] Vi (VP Sales): Go");
    let second = claim("order_b", "[VP] Bo (VP Costs): Stop");
    let expected = "[VP] Vi (VP Sales): Go (conflict)\n[VP] Bo (VP Costs): Stop (conflict)";
    assert_eq!(told_of(&[first, second]), expected);
}

#[test]
fn facts_without_speakers_share_an_entity_in_peace() {
    assert_eq!(told_of(&[fact("roof_a", "red"), fact("roof_b", "blue")]), "red\nblue");
}

#[test]
fn a_lower_rank_does_not_supersede_a_higher_one_though_it_says_so() {
    let mut rule = fact("discount", "At most 15");
    rule["source"] = json!({"type": "policy", "authority": "policy"});
    assert_eq!(told_of(&[rule, instead("discount_v2", "25", "discount")]), "discount: At most 15");
}

#[test]
fn a_signal_takes_the_place_of_those_of_its_key_and_on_its_matter() {
    let writes = [
        signal("weather", "Rain is likely"),
        signal("deadline", "Zeta renews in 30 days"),
        signal("weather", "Sun all day"),
        signal("alert", "Zeta renews tomorrow"),
        signal("road", "The pass is closed"),
    ];
    let expected = "Sun all day\nZeta renews tomorrow\nThe pass is closed";
    let events: Vec<_> = writes.into_iter().map(write).collect();
    assert_eq!(told(&initial(), &events, "What?"), expected);
}

#[test]
fn a_restricted_fact_is_told_to_its_audience_and_to_nobody_else() {
    let secret = fact("pay", "[RESTRICTED: Pay data restricted to HR] 12 a day");
    assert_eq!(told(&with_facts(json!([secret])), &[], "What?"), "", "a cook");
    let mut initial = with_facts(json!([secret]));
    for (title, sees) in [("HR Manager", true), ("Kitchen Manager", false)] {
        initial["identity_role"]["authority"] = title.into();
        assert_eq!(told(&initial, &[], "What?"), if sees { "pay: 12 a day" } else { "" }, "{title}");
    }
}

#[test]
fn other_scopes_stay_out_of_what_counts_everywhere() {
    let mut initial = with_facts(json!([fact("price", "12")]));
    initial["working_set"] = json!([{"content": "[SCOPE: what-if discussion] price 20"}]);
    let mut supposed = fact("price", "30");
    supposed["scope"] = "hypothetical".into();
    let draft = instead("price_v2", "40 (draft)", "price");
    assert_eq!(told(&initial, &[write(supposed), write(draft)], "Which price?"), "price: 12");
}

#[test]
fn what_is_in_hand_is_told_where_it_is_relevant_until_it_expires() {
    let mut initial = initial();
    initial["working_set"] = json!([
        {"content": "soup: needs salt"},
        {"content": "soup: to be stirred", "expires_at": "2025-01-01T11:59:00"},
        {"content": "bread: bake"},
    ]);
    assert_eq!(told(&initial, &[], "How is the soup?"), "soup: needs salt");
}

#[test]
fn what_rests_on_something_superseded_is_told_with_a_mark() {
    let mut plan = fact("plan", "buy 3");
    plan["depends_on"] = json!(["guests"]);
    let writes = [fact("guests", "7"), plan, instead("guests_v2", "9", "guests")];
    assert_eq!(told_of(&writes), "plan: buy 3 (needs review)\nguests: 9");
}
