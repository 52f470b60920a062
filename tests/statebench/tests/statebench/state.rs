//! Writes of a timeline, and the items that are valid and visible after them.

use crate::support::{
    ask, context_of, contexts, fact, initial, note, say, signal, successor, with, with_facts, with_title,
    write,
};
use serde_json::{Value, json};

/// The context after these writes.
fn context_after(writes: &[Value]) -> String {
    context_of(&initial(), &writes.iter().cloned().map(write).collect::<Vec<_>>(), "What?")
}

#[test]
fn successor_replaces_superseded_fact() {
    let writes = [fact("status_v1", "approved"), successor("status_v2", "cancelled", "status_v1")];
    assert_eq!(context_after(&writes), "status: cancelled");
}

#[test]
fn repetition_gives_no_weight() {
    let approved = "The order is approved";
    let events = [
        say(approved),
        say(approved),
        say(approved),
        write(fact("order_v1", "approved")),
        write(successor("order_v2", "cancelled", "order_v1")),
    ];
    assert_eq!(context_of(&initial(), &events, "Should we go on with the order?"), "order: cancelled");
}

#[test]
fn reference_prefers_ids_and_latest_valid_facts() {
    let writes =
        [with(fact("roof", "red"), "id", "door"), fact("door", "blue"), successor("gate", "white", "door")];
    assert_eq!(context_after(&writes), "door: blue\ngate: white", "the id refers to the roof");
    let writes = [
        fact("door", "blue"),
        successor("gate", "white", "door"),
        fact("door", "green"),
        successor("arch", "grey", "door"),
    ];
    // `door` is a superseded key, so green supersedes the gate.
    assert_eq!(context_after(&writes), "arch: grey");
}

#[test]
fn repeated_ids_keep_references_by_key() {
    let writes = [fact("roof", "red"), fact("door", "blue"), successor("roof_v2", "black", "roof")];
    assert_eq!(context_after(&writes), "door: blue\nroof: black");
}

#[test]
fn event_order_precedes_times() {
    let earlier = with(write(successor("roof_v2", "black", "roof")), "ts", "2024-01-01T00:00:00");
    let events = [write(fact("roof", "red")), earlier];
    assert_eq!(context_of(&initial(), &events, "What?"), "roof: black");
}

#[test]
fn retracted_fact_is_hidden_and_supersedes() {
    let writes = [fact("plan", "Buy"), successor("plan_v2", "[INVALIDATED - wrong] Buy", "plan")];
    assert_eq!(context_after(&writes), "");
}

#[test]
fn invalid_initial_facts_are_hidden() {
    let invalid = with(fact("roof", "red"), "is_valid", false);
    let superseded = with(fact("door", "blue"), "superseded_by", "gate");
    let initial = with_facts(json!([invalid, superseded, fact("gate", "white")]));
    assert_eq!(context_of(&initial, &[], "What?"), "gate: white");
}

#[test]
fn speaker_of_higher_rank_prevails() {
    let high = fact("order_a", "[VP] Vi (VP Sales): At most 15");
    let low = fact("order_b", "[MANAGER] Mo (Sales Manager): Give 25");
    let initial = with_facts(json!([high, low]));
    assert_eq!(context_of(&initial, &[], "What?"), "[VP] Vi (VP Sales): At most 15");
    let initial = with_facts(json!([low, high]));
    assert_eq!(context_of(&initial, &[], "What?"), "[VP] Vi (VP Sales): At most 15");
}

#[test]
fn speaker_supersedes_own_statement() {
    let first = fact("order_a", "[VP] Vi (VP Sales): Go");
    let second = fact("order_b", "[VP] Vi (VP Sales): Stop");
    assert_eq!(context_after(&[first, second]), "[VP] Vi (VP Sales): Stop");
}

#[test]
fn equal_ranks_are_a_conflict() {
    let first = fact("order_a", "[VP] Vi (VP Sales): Go");
    let second = fact("order_b", "[VP] Bo (VP Costs): Stop");
    let expected = "[VP] Vi (VP Sales): Go (conflict)\n[VP] Bo (VP Costs): Stop (conflict)";
    assert_eq!(context_after(&[first, second]), expected);
}

#[test]
fn alternatives_without_speakers_coexist() {
    assert_eq!(context_after(&[fact("roof_a", "red"), fact("roof_b", "blue")]), "red\nblue");
}

#[test]
fn lower_rank_does_not_supersede() {
    let source = json!({"type": "policy", "authority": "policy"});
    let rule = with(fact("discount", "At most 15"), "source", source);
    assert_eq!(context_after(&[rule, successor("discount_v2", "25", "discount")]), "discount: At most 15");
}

#[test]
fn signal_replaces_key_and_subject() {
    let writes = [
        signal("weather", "Rain is likely"),
        signal("deadline", "Zeta renews in 30 days"),
        signal("weather", "Sun all day"),
        signal("alert", "Zeta renews tomorrow"),
        signal("road", "The pass is closed"),
    ];
    let expected = "Sun all day\nZeta renews tomorrow\nThe pass is closed";
    let events: Vec<_> = writes.into_iter().map(write).collect();
    assert_eq!(context_of(&initial(), &events, "What?"), expected);
}

#[test]
fn restricted_fact_is_visible_to_its_audience() {
    let secret = fact("pay", "[RESTRICTED: Pay data restricted to HR] 12 a day");
    assert_eq!(context_of(&with_facts(json!([secret])), &[], "What?"), "", "a cook");
    let mut initial = with_facts(json!([secret]));
    for (title, may_read) in [("HR Manager", true), ("Kitchen Manager", false)] {
        initial["identity_role"]["authority"] = title.into();
        assert_eq!(
            context_of(&initial, &[], "What?"),
            if may_read { "pay: 12 a day" } else { "" },
            "{title}"
        );
    }
}

#[test]
fn scoped_items_are_not_global() {
    let note = json!([{"content": "[SCOPE: what-if discussion] price 20"}]);
    let initial = with(with_facts(json!([fact("price", "12")])), "working_set", note);
    let supposed = with(fact("price", "30"), "scope", "hypothetical");
    let draft = successor("price_v2", "40 (draft)", "price");
    assert_eq!(context_of(&initial, &[write(supposed), write(draft)], "Which price?"), "price: 12");
}

#[test]
fn relevant_note_is_included_until_expiry() {
    let notes = json!([
        {"content": "soup: needs salt"},
        {"content": "soup: to be stirred", "expires_at": "2025-01-01T11:59:00"},
        {"content": "bread: bake"},
    ]);
    let initial = with(initial(), "working_set", notes);
    assert_eq!(context_of(&initial, &[], "How is the soup?"), "soup: needs salt");
}

#[test]
fn dependent_of_superseded_fact_needs_review() {
    let plan = with(fact("plan", "buy 3"), "depends_on", json!(["guests"]));
    let writes = [fact("guests", "7"), plan, successor("guests_v2", "9", "guests")];
    assert_eq!(context_after(&writes), "plan: buy 3 (needs review)\nguests: 9");
}

/// The context of a user with this title after these signals.
fn context_after_signals(title: &str, signals: &[Value]) -> String {
    context_of(&with_title(title), &signals.iter().cloned().map(write).collect::<Vec<_>>(), "What?")
}

#[test]
fn restricted_signal_is_visible_to_its_audience() {
    let secret = signal("alert", "Alarm [restricted: HR] on floor 3");
    assert_eq!(context_after_signals("Cook", std::slice::from_ref(&secret)), "");
    assert_eq!(context_after_signals("HR Manager", &[secret]), "Alarm on floor 3");
    let unread = signal("alert", "[RESTRICTED Alarm on floor 3");
    assert_eq!(context_after_signals("CEO", &[unread]), "", "the restriction is unreadable");
    assert_eq!(context_after_signals("CEO", &[signal("alert", "[SCOPE: what-if] Alarm on floor 3")]), "");
    let mut initial = initial();
    initial["environment"]["alert"] = "[RESTRICTED: HR] Alarm on floor 3".into();
    assert_eq!(context_of(&initial, &[], "What?"), "");
}

#[test]
fn restricted_and_public_signals_replace_each_other() {
    let open = signal("alert", "Alarm on floor 3");
    let secret = signal("alert", "[RESTRICTED: HR] Fire in the pay office");
    let over = signal("alert", "All is well");
    for (signals, cook, hr) in [
        (vec![open.clone(), secret.clone()], "", "Fire in the pay office"),
        (vec![secret.clone(), over.clone()], "All is well", "All is well"),
        (vec![open.clone(), secret.clone(), over.clone()], "All is well", "All is well"),
        (vec![secret.clone(), open, secret], "", "Fire in the pay office"),
    ] {
        assert_eq!(context_after_signals("Cook", &signals), cook);
        assert_eq!(context_after_signals("HR Manager", &signals), hr);
    }
    let elsewhere = [signal("fire", "[RESTRICTED: HR] Zeta burns"), signal("news", "Zeta is saved")];
    assert_eq!(context_after_signals("HR Manager", &elsewhere), "Zeta is saved", "both concern one subject");
}

#[test]
fn restricted_notes_and_turns_respect_their_audience() {
    let mut initial = initial();
    initial["working_set"] = json!([{"content": "soup: [Restricted: HR] 12 guests are ill"}]);
    let later = note("soup note", " [RESTRICTED] 13 guests");
    let events = [write(later), say("[restricted: HR] The soup has 14 rats. It is cold soup")];
    assert_eq!(context_of(&initial, &events, "What of the soup?"), "");
    initial["identity_role"]["authority"] = "HR Manager".into();
    let context = context_of(&initial, &events, "What of the soup?");
    for part in ["12 guests", "14 rats", "cold soup"] {
        assert!(context.contains(part), "{part}: {context}");
    }
    assert!(!context.contains("13 guests"), "{context}");
}

#[test]
fn restricted_and_public_notes_replace_each_other() {
    let note = |text: &str| write(note("soup", text));
    let context = |title: &str, events: &[Value]| {
        let initial = with(with_title(title), "persistent_facts", json!([fact("soup", "of leeks")]));
        context_of(&initial, events, "What of the soup?")
    };
    let (open, secret) = (note("The soup is hot"), note("[RESTRICTED: HR] 12 guests are ill"));
    let events = [open.clone(), secret.clone()];
    assert_eq!(context("Cook", &events), "soup: of leeks");
    assert_eq!(context("HR Manager", &events), "soup: of leeks\n12 guests are ill");
    assert_eq!(context("HR Manager", &[secret, open]), "soup: of leeks\n\nThe soup is hot");
}

#[test]
fn restricted_clock_is_hidden() {
    let clock = json!({"now": "[RESTRICTED: HR] 2025-01-01T10:00:00"});
    let initial = with(initial(), "environment", clock);
    assert_eq!(contexts(&initial, &json!([ask("What?")])), ["Ada; Kitchen; Inn"]);
}

#[test]
fn source_words_have_ranks() {
    let by =
        |key: &str, value: &str, source: &str| write(json!({"key": key, "value": value, "source": source}));
    assert_eq!(context_of(&initial(), &[by("pay", "12 a day", "hr_system")], "What?"), "pay: 12 a day");
    let events = |own: &str| [by("roof", "red", "manager"), by("roof", "black", own)];
    for own in ["user", "decision", "preference"] {
        assert_eq!(context_of(&initial(), &events(own), "What?"), "roof: red", "a cook's");
        assert_eq!(context_of(&with_title("CEO"), &events(own), "What?"), "roof: black", "the CEO's");
    }
}

/// The context of an intern.
fn context_of_intern(events: &[Value]) -> String {
    context_of(&with_title("intern"), events, "Can we offer 25% discount?")
}

#[test]
fn intern_does_not_supersede_cfo_policy() {
    let policy = json!({"key": "policy", "value": "discount max 15%", "source": "CFO"});
    let with_type = with(policy.clone(), "source", json!({"type": "policy", "authority": "CFO"}));
    let mut offer = successor("offer", "discount of 25%", "policy");
    offer["source"]["authority"] = "intern".into();
    for policy in [policy, with_type] {
        let turns = [
            say("Per policy: discount max 15%"),
            write(policy.clone()),
            say("Actually, let's offer a 25% discount"),
        ];
        assert_eq!(context_of_intern(&turns), "policy: discount max 15%");
        assert_eq!(context_of_intern(&[write(policy), write(offer.clone())]), "policy: discount max 15%");
    }
}

#[test]
fn statement_has_rank_of_its_speaker() {
    let mut wish = fact("roof", "red");
    wish["source"]["authority"] = "employee".into();
    let events = |text: &str| [say("The roof will be red"), write(wish.clone()), say(text)];
    assert_eq!(context_of_intern(&events("Actually, make the roof black")), "roof: red");
    let by_name = "[Bo (Roof Manager)]: Actually, make the roof black";
    assert_eq!(context_of_intern(&events(by_name)), "Actually, make the roof black");
    let mut order = wish.clone();
    order["source"]["authority"] = "manager".into();
    let events = [say("The roof will be red"), write(order), say("Actually, make the roof black")];
    assert_eq!(context_of(&with_title("CEO"), &events, "Which roof?"), "Actually, make the roof black");
}

#[test]
fn derived_facts_are_dependents_in_any_order() {
    let guests = with(fact("guests", "7"), "derived_facts", json!(["plan"]));
    let (plan, more_guests) = (fact("plan", "buy 3"), write(successor("guests_v2", "9", "guests")));
    for (facts, events) in [
        (json!([guests, plan]), vec![more_guests.clone()]),
        (json!([plan, guests]), vec![more_guests.clone()]),
        (json!([guests]), vec![write(plan.clone()), more_guests.clone()]),
    ] {
        let context = context_of(&with_facts(facts), &events, "What?");
        assert!(context.contains("plan: buy 3 (needs review)"), "{context}");
    }
}

#[test]
fn needs_review_field_is_rendered() {
    let plan = with(fact("plan", "buy 3"), "needs_review", true);
    assert_eq!(context_after(&[plan]), "plan: buy 3 (needs review)");
}

#[test]
fn scope_id_names_the_scope() {
    let scoped = |key: &str, value: &str| with(with(fact(key, value), "scope", "task"), "scope_id", "T1");
    // A dependency is valid only within one scope.
    let second = with(scoped("nails", "40"), "depends_on", json!(["slates"]));
    assert_eq!(context_after(&[scoped("slates", "12"), second, fact("door", "oak")]), "door: oak");
}

#[test]
fn time_sensitive_facts_are_ordered_by_time() {
    let context = |key: &str, time_sensitive: Option<bool>| {
        let at = |value: &str, day: &str| {
            let fact = with(fact(key, value), "ts", format!("2025-01-{day}T10:00:00"));
            with(fact, "time_sensitive", time_sensitive)
        };
        context_after(&[at("$95", "15"), at("$100", "01")])
    };
    assert_eq!(context("stock_price", None), "stock_price: $95");
    assert_eq!(context("fee", None), "fee: $100");
    assert_eq!(context("fee", Some(true)), "fee: $95");
    assert_eq!(context("stock_price", Some(false)), "stock_price: $100");
}

#[test]
fn expired_items_are_hidden_in_every_layer() {
    let at = |hour: &str| format!("2025-01-01T{hour}:00:00");
    let expiring = |layer: &str, text: &str, at: &str| {
        write(with(with(signal("soup", text), "layer", layer), "expires_at", at))
    };
    let manager = with_title("HR Manager");
    let context = |events: &[Value]| context_of(&manager, events, "What of the soup?");
    let secret = "[RESTRICTED: HR] The soup is off";
    for (layer, text) in [
        ("environment", "The soup is off"),
        ("environment", secret),
        ("working_set", "The soup is off"),
        ("working_set", secret),
        ("persistent_facts", "The soup is off"),
    ] {
        assert_eq!(context(&[expiring(layer, text, &at("12"))]), "", "{layer}, {text}");
        let valid = context(&[expiring(layer, text, &at("13"))]);
        assert!(valid.contains("The soup is off"), "{layer}, {text}: {valid}");
        let mut renewal = expiring(layer, text, &at("12"));
        renewal["writes"][0]["expires_at"] = Value::Null;
        renewal["writes"][0]["value"] = text.replace("off", "hot").into();
        let renewed = context(&[expiring(layer, text, &at("12")), renewal]);
        assert!(renewed.contains("The soup is hot"), "{layer}, {text}: {renewed}");
    }
    let note = json!([{"content": secret, "expires_at": at("12")}]);
    assert_eq!(context_of(&with(manager.clone(), "working_set", note), &[], "What of the soup?"), "");
}
