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

/// What the environment says when it is told this, to somebody with this title.
fn signalled(title: &str, signals: &[Value]) -> String {
    let mut initial = initial();
    initial["identity_role"]["authority"] = title.into();
    told(&initial, &signals.iter().cloned().map(write).collect::<Vec<_>>(), "What?")
}

#[test]
fn a_restricted_signal_is_told_to_its_audience_and_to_nobody_else() {
    let secret = signal("alert", "Alarm [restricted: HR] on floor 3");
    assert_eq!(signalled("Cook", std::slice::from_ref(&secret)), "");
    assert_eq!(signalled("HR Manager", &[secret]), "Alarm on floor 3");
    let unread = signal("alert", "[RESTRICTED Alarm on floor 3");
    assert_eq!(signalled("CEO", &[unread]), "", "nobody can read for whom that is");
    assert_eq!(signalled("CEO", &[signal("alert", "[SCOPE: what-if] Alarm on floor 3")]), "");
    let mut initial = initial();
    initial["environment"]["alert"] = "[RESTRICTED: HR] Alarm on floor 3".into();
    assert_eq!(told(&initial, &[], "What?"), "");
}

#[test]
fn a_restricted_signal_and_an_open_one_take_the_place_of_each_other() {
    let open = signal("alert", "Alarm on floor 3");
    let secret = signal("alert", "[RESTRICTED: HR] Fire in the pay office");
    let over = signal("alert", "All is well");
    for (signals, cook, hr) in [
        (vec![open.clone(), secret.clone()], "", "Fire in the pay office"),
        (vec![secret.clone(), over.clone()], "All is well", "All is well"),
        (vec![open.clone(), secret.clone(), over.clone()], "All is well", "All is well"),
        (vec![secret.clone(), open, secret], "", "Fire in the pay office"),
    ] {
        assert_eq!(signalled("Cook", &signals), cook);
        assert_eq!(signalled("HR Manager", &signals), hr);
    }
    let elsewhere = [signal("fire", "[RESTRICTED: HR] Zeta burns"), signal("news", "Zeta is saved")];
    assert_eq!(signalled("HR Manager", &elsewhere), "Zeta is saved", "they are on one matter");
}

#[test]
fn restricted_notes_and_turns_are_told_to_their_audience_and_to_nobody_else() {
    let mut initial = initial();
    initial["working_set"] = json!([{"content": "soup: [Restricted: HR] 12 guests are ill"}]);
    let mut later = fact("soup note", " [RESTRICTED] 13 guests");
    later["layer"] = "working_set".into();
    let events = [write(later), say("[restricted: HR] The soup has 14 rats. It is cold soup")];
    assert_eq!(told(&initial, &events, "What of the soup?"), "");
    initial["identity_role"]["authority"] = "HR Manager".into();
    let seen = told(&initial, &events, "What of the soup?");
    assert!(seen.contains("12 guests") && seen.contains("14 rats") && seen.contains("cold soup"), "{seen}");
    assert!(!seen.contains("13 guests"), "{seen}");
}

#[test]
fn a_restricted_note_and_an_open_one_take_the_place_of_each_other_and_of_no_fact() {
    let note = |text: &str| {
        let mut note = signal("soup", text);
        note["layer"] = "working_set".into();
        write(note)
    };
    let told = |title: &str, events: &[Value]| {
        let mut initial = with_facts(json!([fact("soup", "of leeks")]));
        initial["identity_role"]["authority"] = title.into();
        told(&initial, events, "What of the soup?")
    };
    let (open, secret) = (note("The soup is hot"), note("[RESTRICTED: HR] 12 guests are ill"));
    let events = [open.clone(), secret.clone()];
    assert_eq!(told("Cook", &events), "soup: of leeks");
    assert_eq!(told("HR Manager", &events), "soup: of leeks\n12 guests are ill");
    assert_eq!(told("HR Manager", &[secret, open]), "soup: of leeks\n\nThe soup is hot");
}

#[test]
fn a_clock_that_is_restricted_is_told_to_nobody_else() {
    let mut initial = initial();
    initial["environment"] = json!({"now": "[RESTRICTED: HR] 2025-01-01T10:00:00"});
    let told = super::contexts(&initial, &json!([super::ask("What?")]));
    assert_eq!(told, ["Ada; Kitchen; Inn"]);
}

#[test]
fn systems_and_users_that_are_named_by_one_word_have_ranks() {
    let by =
        |key: &str, value: &str, source: &str| write(json!({"key": key, "value": value, "source": source}));
    assert_eq!(told(&initial(), &[by("pay", "12 a day", "hr_system")], "What?"), "pay: 12 a day");
    let events = |own: &str| [by("roof", "red", "manager"), by("roof", "black", own)];
    let mut boss = initial();
    boss["identity_role"]["authority"] = "CEO".into();
    for own in ["user", "decision", "preference"] {
        assert_eq!(told(&initial(), &events(own), "What?"), "roof: red", "a cook's");
        assert_eq!(told(&boss, &events(own), "What?"), "roof: black", "the CEO's");
    }
}

/// What an intern is told of discounts, of which the house knows this, after all that.
fn to_an_intern(policy: Value, events: &[Value]) -> String {
    let mut initial = with_facts(policy);
    initial["identity_role"]["authority"] = "intern".into();
    told(&initial, events, "Can we offer 25% discount?")
}

#[test]
fn an_intern_does_not_supersede_the_policy_of_the_cfo() {
    let policy = json!({"key": "policy", "value": "discount max 15%", "source": "CFO"});
    let mut of_type = policy.clone();
    of_type["source"] = json!({"type": "policy", "authority": "CFO"});
    let mut offer = fact("offer", "discount of 25%");
    offer["supersedes"] = "policy".into();
    offer["source"]["authority"] = "intern".into();
    for policy in [policy, of_type] {
        let said = [
            say("Per policy: discount max 15%"),
            write(policy.clone()),
            say("Actually, let's offer a 25% discount"),
        ];
        assert_eq!(to_an_intern(json!([]), &said), "policy: discount max 15%");
        let written = [write(policy.clone()), write(offer.clone())];
        assert_eq!(to_an_intern(json!([]), &written), "policy: discount max 15%");
    }
}

#[test]
fn what_is_said_has_the_rank_of_whoever_says_it() {
    let mut wish = fact("roof", "red");
    wish["source"]["authority"] = "employee".into();
    let events = |said: &str| [say("The roof will be red"), write(wish.clone()), say(said)];
    assert_eq!(to_an_intern(json!([]), &events("Actually, make the roof black")), "roof: red");
    let by_name = "[Bo (Roof Manager)]: Actually, make the roof black";
    assert_eq!(to_an_intern(json!([]), &events(by_name)), "Actually, make the roof black");
    let mut boss = initial();
    boss["identity_role"]["authority"] = "CEO".into();
    let mut order = wish.clone();
    order["source"]["authority"] = "manager".into();
    let events = [say("The roof will be red"), write(order), say("Actually, make the roof black")];
    assert_eq!(told(&boss, &events, "Which roof?"), "Actually, make the roof black");
}

#[test]
fn what_is_derived_rests_on_what_it_was_derived_from_whichever_is_written_first() {
    let mut ground = fact("guests", "7");
    ground["derived_facts"] = json!(["plan"]);
    for facts in [json!([ground, fact("plan", "buy 3")]), json!([fact("plan", "buy 3"), ground])] {
        let told = told(&with_facts(facts), &[write(instead("guests_v2", "9", "guests"))], "What?");
        assert!(told.contains("plan: buy 3 (needs review)"), "{told}");
    }
    let events = [write(fact("plan", "buy 3")), write(instead("guests_v2", "9", "guests"))];
    let told = told(&with_facts(json!([ground])), &events, "What?");
    assert!(told.contains("plan: buy 3 (needs review)"), "{told}");
}

#[test]
fn what_says_that_it_needs_review_is_told_with_a_mark() {
    let mut plan = fact("plan", "buy 3");
    plan["needs_review"] = true.into();
    assert_eq!(told_of(&[plan]), "plan: buy 3 (needs review)");
}

#[test]
fn the_id_of_a_scope_names_it() {
    let scoped = |key: &str, value: &str| {
        let mut fact = fact(key, value);
        fact["scope"] = "task".into();
        fact["scope_id"] = "T1".into();
        fact
    };
    // The second rests on the first: that can only be where both count in one task.
    let mut second = scoped("nails", "40");
    second["depends_on"] = json!(["slates"]);
    assert_eq!(told_of(&[scoped("slates", "12"), second, fact("door", "oak")]), "door: oak");
}

#[test]
fn of_what_changes_by_itself_the_latest_by_its_time_is_told_and_of_the_rest_the_latest_written() {
    let told_as = |key: &str, marked: Option<bool>| {
        let at = |value: &str, day: &str| {
            let mut fact = fact(key, value);
            fact["ts"] = format!("2025-01-{day}T10:00:00").into();
            if let Some(marked) = marked {
                fact["time_sensitive"] = marked.into();
            }
            fact
        };
        told_of(&[at("$95", "15"), at("$100", "01")])
    };
    assert_eq!(told_as("stock_price", None), "stock_price: $95");
    assert_eq!(told_as("fee", None), "fee: $100");
    assert_eq!(told_as("fee", Some(true)), "fee: $95");
    assert_eq!(told_as("stock_price", Some(false)), "stock_price: $100");
}

#[test]
fn what_expires_is_not_told_after_that_whatever_it_became() {
    let at = |hour: &str| format!("2025-01-01T{hour}:00:00");
    let lasting = |layer: &str, text: &str, until: &str| {
        let mut lasting = signal("soup", text);
        lasting["layer"] = layer.into();
        lasting["expires_at"] = until.into();
        write(lasting)
    };
    let told_of = |initial: &Value, events: &[Value]| {
        let mut initial = initial.clone();
        initial["identity_role"]["authority"] = "HR Manager".into();
        told(&initial, events, "What of the soup?")
    };
    let secret = "[RESTRICTED: HR] The soup is off";
    for (layer, text) in [
        ("environment", "The soup is off"),
        ("environment", secret),
        ("working_set", "The soup is off"),
        ("working_set", secret),
        ("persistent_facts", "The soup is off"),
    ] {
        let over = told_of(&initial(), &[lasting(layer, text, &at("12"))]);
        assert_eq!(over, "", "{layer}, {text}");
        let lasts = told_of(&initial(), &[lasting(layer, text, &at("13"))]);
        assert!(lasts.contains("The soup is off"), "{layer}, {text}: {lasts}");
        let mut again = lasting(layer, text, &at("12"));
        again["writes"][0]["expires_at"] = Value::Null;
        again["writes"][0]["value"] = text.replace("off", "hot").into();
        let renewed = told_of(&initial(), &[lasting(layer, text, &at("12")), again]);
        assert!(renewed.contains("The soup is hot"), "{layer}, {text}: {renewed}");
    }
    let mut initial = initial();
    initial["working_set"] = json!([{"content": secret, "expires_at": at("12")}]);
    assert_eq!(told_of(&initial, &[]), "");
}
