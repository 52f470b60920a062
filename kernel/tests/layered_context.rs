//! Document 003 by its own names: test vectors, checklist, anti-patterns; and each supersession rule.

#![allow(clippy::unwrap_used, missing_docs)]

mod write_helpers;

use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{
    Audience, ConstraintType, Identity, Item, ItemKey, ItemKind, Layer, MemoryType, Rank, SupersessionRule,
    Validity,
};
use orchestrion_kernel::knowledge::{FactKind, KnowledgeError, NewFact, Principal, Reference, Write};
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::{Event, ItemId, RequestId, Text, UserId};

use write_helpers::{
    NOW, anonymous, context_texts, current, dependent, id, new, semantic_state, superseding, validity_of,
    write,
};

// ── test vectors ─────────────────────────────────────────────────────────────────────────────────────

#[test]
fn vector_1_basic_supersession() {
    let state = semantic_state([
        new("status_v1", "approved", Rank::Employee),
        superseding("status_v2", "cancelled", Rank::Employee, "status_v1"),
    ]);
    assert_eq!(context_texts(&state, &anonymous()), ["cancelled"]);
}

#[test]
fn vector_2_emphatic_repetition() {
    let write_fact = || new("order_v1", "approved", Rank::Employee);
    let state = semantic_state([
        write_fact(),
        write_fact(),
        write_fact(),
        superseding("order_v2", "cancelled", Rank::Employee, "order_v1"),
    ]);
    assert_eq!(state.len(), 2, "an equal fact is stored once");
    assert_eq!(context_texts(&state, &anonymous()), ["cancelled"]);
}

#[test]
fn vector_3_authority_override() {
    let state = semantic_state([
        NewFact { memory: MemoryType::Organizational, ..new("policy", "max 15%", Rank::Executive) },
        superseding("offer", "25%", Rank::Guest, "policy"),
    ]);
    assert_eq!(context_texts(&state, &anonymous()), ["max 15%"]);
    assert_eq!(validity_of(&state, "policy"), Validity::Current);
    let superseded_by = Some(id(&state, "policy"));
    assert_eq!(
        validity_of(&state, "offer"),
        Validity::Superseded { superseded_by, rule: SupersessionRule::Authority }
    );
}

// ── checklist ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn box_layer_separation() {
    let mut state = semantic_state([new("a", "fact", Rank::Employee)]);
    let (key, text): (Text, Text) = ("a".into(), "scratch".into());
    write(&mut state, &Write::Working { key: key.clone(), text, expires_at: None, depends_on: vec![] })
        .unwrap();
    write(&mut state, &Write::Environment { key, text: "signal".into(), supersedes: None }).unwrap();
    let layers: Vec<_> = state.entries().map(|entry| entry.item.layer.clone()).collect();
    assert!(matches!(layers[..], [Layer::Fact(_), Layer::Working { .. }, Layer::Environment]));
    assert_eq!(state.working_set(), [ItemId::new(2)], "only the working set ends with the session");
}

#[test]
fn identity_is_set_once_per_session() {
    let mut state = SemanticState::default();
    let who = |rank| Write::Identity {
        name: "Ada".into(),
        identity: Identity {
            authority: "Director".into(),
            rank,
            department: "Finance".into(),
            organization: "Acme".into(),
            permissions: vec!["audit".into()],
        },
    };
    write(&mut state, &who(Rank::Executive)).unwrap();
    assert_eq!(write(&mut state, &who(Rank::Policy)), Err(KnowledgeError::IdentityAlreadySet));
    assert_eq!(state.identity().map(|identity| identity.rank), Some(Rank::Executive));
    assert_eq!(state.working_set(), [ItemId::FIRST]);
}

#[test]
fn box_supersession_tracking() {
    let state = semantic_state([
        new("a", "1", Rank::Employee),
        superseding("b", "2", Rank::Employee, "a"),
        superseding("c", "3", Rank::Employee, "b"),
    ]);
    assert!(!state.is_fact_current(&"a".into(), &anonymous()));
    assert!(state.is_fact_current(&"c".into(), &anonymous()));
    assert!(!state.is_fact_current(&"never written".into(), &anonymous()));
    assert_eq!(current(&state, "a").as_deref(), Some("3"), "the chain is followed to its last item");
    let fact = state.latest_by_key(&ItemKey::Fact("c".into())).unwrap().item.fact().unwrap();
    assert_eq!(fact.supersedes, Some(id(&state, "b")), "the predecessor is recorded");
}

#[test]
fn box_valid_only_reads() {
    let state = semantic_state([new("a", "1", Rank::Employee), superseding("b", "2", Rank::Employee, "a")]);
    assert_eq!(state.read_valid_facts().map(|item| item.text.as_str()).collect::<Vec<_>>(), ["2"]);
}

#[test]
fn box_authority_awareness() {
    let state = semantic_state([
        NewFact { audience: Audience::AtLeast(Rank::Manager), ..new("salary", "secret", Rank::Manager) },
        NewFact { audience: Audience::Permitted("audit".into()), ..new("books", "closed", Rank::Manager) },
    ]);
    assert!(context_texts(&state, &anonymous()).is_empty());
    assert_eq!(context_texts(&state, &Principal { rank: Rank::Manager, ..anonymous() }), ["secret"]);
    assert_eq!(
        context_texts(&state, &Principal { permissions: vec!["audit".into()], ..anonymous() }),
        ["closed"]
    );
}

#[test]
fn request_items_are_visible_to_their_user() {
    let mut state = semantic_state([new("soup", "hot", Rank::Employee)]);
    let answer = ItemKey::FinalAnswer(RequestId::FIRST);
    let item =
        Item::from_request(UserId::new("ada"), ItemId::new(2), ItemKind::Fact, answer, "secret".into());
    state.apply(&Event::AddItem { item, deps: Vec::new() });
    let of = |user: &str| Principal { user: Some(UserId::new(user)), rank: Rank::Policy, ..anonymous() };
    assert_eq!(context_texts(&state, &of("ada")), ["hot", "secret"]);
    assert_eq!(context_texts(&state, &of("ben")), ["hot"], "independent of rank");
    assert_eq!(context_texts(&state, &anonymous()), ["hot"]);
}

#[test]
fn box_temporal_awareness() {
    let mut state = SemanticState::default();
    let clock = |millis| Write::Clock { now: Timestamp::from_millis(millis), text: "now".into() };
    write(&mut state, &clock(1_000)).unwrap();
    let expires_at = Some(Timestamp::from_millis(2_000));
    let scratch = |expires_at| Write::Working {
        key: "code".into(),
        text: "4711".into(),
        expires_at,
        depends_on: vec![],
    };
    write(&mut state, &scratch(expires_at)).unwrap();
    let at = |millis| Principal { now: Timestamp::from_millis(millis), ..anonymous() };
    assert_eq!(context_texts(&state, &at(1_999)), ["now", "4711"]);
    assert_eq!(context_texts(&state, &at(2_000)), ["now"]);
    write(&mut state, &clock(1_999)).unwrap();
    assert_eq!(state.len(), 2);
    write(&mut state, &clock(2_000)).unwrap();
    assert_eq!((state.len(), state.now()), (1, Timestamp::from_millis(2_000)), "expired items are forgotten");
    assert_eq!(
        write(&mut state, &scratch(Some(NOW))).unwrap_err().to_string(),
        "expired write: expected an expiry after 2000 ms, found 1000 ms"
    );
    assert_eq!(
        write(&mut state, &clock(1_999)).unwrap_err().to_string(),
        "clock went back: expected 2000 ms or later, found 1999 ms"
    );
}

// ── anti-patterns ────────────────────────────────────────────────────────────────────────────────────

#[test]
fn anti_pattern_including_superseded_facts() {
    let state =
        semantic_state([new("a", "old", Rank::Employee), superseding("b", "new", Rank::Employee, "a")]);
    assert_eq!(state.len(), 2, "both items are stored");
    assert_eq!(context_texts(&state, &anonymous()), ["new"], "superseded items enter no context");
}

#[test]
fn anti_pattern_recency_bias_without_supersession() {
    let state = semantic_state([
        new("address", "1 Old Street", Rank::Employee),
        superseding("home", "2 New Street", Rank::Employee, "address"),
        new("parcel", "sent to 1 Old Street", Rank::Employee),
    ]);
    assert_eq!(current(&state, "address").as_deref(), Some("2 New Street"), "not the last mention");
}

#[test]
fn anti_pattern_ignoring_authority() {
    let constraint = |rank| NewFact {
        kind: FactKind::Constraint(Some(ConstraintType::Policy)),
        ..new("discount_policy", "50%", rank)
    };
    let state = semantic_state([constraint(Rank::Employee)]);
    assert_eq!(validity_of(&state, "discount_policy"), Validity::Denied);
    assert!(context_texts(&state, &anonymous()).is_empty());
    assert_eq!(
        validity_of(&semantic_state([constraint(Rank::Manager)]), "discount_policy"),
        Validity::Current
    );
}

// ── supersession rules ───────────────────────────────────────────────────────────────────────────────

fn rule_between(first: NewFact, second: NewFact) -> (Validity, Validity) {
    let state = semantic_state([first, second]);
    let standings: Vec<_> = state.entries().map(|entry| entry.item.validity).collect();
    (standings[0], standings[1])
}

fn by(id: u64, rule: SupersessionRule) -> Validity {
    Validity::Superseded { superseded_by: Some(ItemId::new(id)), rule }
}

#[test]
fn rule_1_explicit() {
    let (old, _) = rule_between(
        new("address_v1", "123 Main St", Rank::Employee),
        superseding("address_v2", "456 Oak Ave", Rank::Employee, "address_v1"),
    );
    assert_eq!(old, by(2, SupersessionRule::Explicit));
}

#[test]
fn rule_2_implicit() {
    let (old, _) = rule_between(
        new("meeting", "Tuesday at 2pm", Rank::Employee),
        new("meeting", "Thursday at 3pm", Rank::Employee),
    );
    assert_eq!(old, by(2, SupersessionRule::Implicit));
}

#[test]
fn rule_2_records_detected_rule() {
    let detected = NewFact {
        detected_rule: Some(SupersessionRule::Implicit),
        ..superseding("sync", "Thursday at 3pm", Rank::Employee, "meeting")
    };
    let (old, _) = rule_between(new("meeting", "Tuesday at 2pm", Rank::Employee), detected);
    assert_eq!(old, by(2, SupersessionRule::Implicit));
}

#[test]
fn rule_3_authority_whichever_came_first() {
    let employee = || new("discount", "25%", Rank::Employee);
    let policy = || new("discount", "max 15%", Rank::Policy);
    assert_eq!(rule_between(employee(), policy()), (by(2, SupersessionRule::Authority), Validity::Current));
    assert_eq!(rule_between(policy(), employee()), (Validity::Current, by(1, SupersessionRule::Authority)));
}

#[test]
fn rule_4_temporal_compares_time() {
    let price = |text: &str, millis| NewFact {
        established_at: Timestamp::from_millis(millis),
        time_sensitive: true,
        ..new("stock", text, Rank::Employee)
    };
    let (january_1, january_15) = (|| price("$100", 1), || price("$95", 15));
    assert_eq!(
        rule_between(january_1(), january_15()),
        (by(2, SupersessionRule::Temporal), Validity::Current)
    );
    assert_eq!(
        rule_between(january_15(), january_1()),
        (Validity::Current, by(1, SupersessionRule::Temporal))
    );
}

#[test]
fn detected_conflict_yields_to_time() {
    let timed = |fact: NewFact, at| NewFact {
        time_sensitive: true,
        established_at: Timestamp::from_millis(at),
        ..fact
    };
    let detected = Some(SupersessionRule::Implicit);
    let later = timed(new("price", "$9", Rank::Employee), 2);
    let earlier = NewFact {
        detected_rule: detected,
        ..timed(superseding("old_price", "$8", Rank::Employee, "price"), 1)
    };
    assert_eq!(rule_between(later, earlier), (Validity::Current, by(1, SupersessionRule::Temporal)));
}

#[test]
fn explicit_goes_before_temporal_and_authority_before_both() {
    let price = |text: &str, rank, millis| NewFact {
        established_at: Timestamp::from_millis(millis),
        time_sensitive: true,
        ..new("stock", text, rank)
    };
    let naming = |fact| NewFact { supersedes: Some(Reference::Key("stock".into())), ..fact };
    let (old, corrected) =
        rule_between(price("$95", Rank::Employee, 15), naming(price("$96", Rank::Employee, 1)));
    assert_eq!((old, corrected), (by(2, SupersessionRule::Explicit), Validity::Current));
    let (old, guess) = rule_between(price("$95", Rank::Manager, 1), naming(price("$96", Rank::Guest, 15)));
    assert_eq!((old, guess), (Validity::Current, by(1, SupersessionRule::Authority)));
}

#[test]
fn write_can_supersede_two_facts() {
    let state = semantic_state([
        new("budget", "$10", Rank::Employee),
        new("spend", "$9", Rank::Employee),
        superseding("spend", "$8", Rank::Employee, "budget"),
    ]);
    assert_eq!(validity_of(&state, "budget"), by(3, SupersessionRule::Explicit));
    assert_eq!(context_texts(&state, &anonymous()), ["$8"]);
}

#[test]
fn reference_to_superseded_fact_means_successor() {
    let state = semantic_state([
        new("a", "1", Rank::Employee),
        superseding("b", "2", Rank::Employee, "a"),
        superseding("c", "3", Rank::Employee, "a"),
    ]);
    assert_eq!(validity_of(&state, "b"), by(3, SupersessionRule::Explicit));
    assert_eq!(context_texts(&state, &anonymous()), ["3"], "a chain has one current item");
}

// ── repair propagation ───────────────────────────────────────────────────────────────────────────────

#[test]
fn transitive_dependents_need_review() {
    let mut state = semantic_state([
        new("rate", "4 %", Rank::Employee),
        dependent("interest", "$40", "rate"),
        dependent("payment", "$240", "interest"),
        new("weather", "fine", Rank::Employee),
        superseding("rate_v2", "5 %", Rank::Employee, "rate"),
    ]);
    assert_eq!(validity_of(&state, "interest"), Validity::NeedsReview);
    assert_eq!(validity_of(&state, "payment"), Validity::NeedsReview);
    assert_eq!(validity_of(&state, "weather"), Validity::Current);
    assert_eq!(context_texts(&state, &anonymous()).len(), 4, "items that need review stay in the context");
    write(&mut state, &Write::Fact(dependent("interest", "$40", "rate"))).unwrap();
    assert_eq!(validity_of(&state, "interest"), Validity::Current, "writing the same value reaffirms it");
    assert_eq!(validity_of(&state, "payment"), Validity::NeedsReview);
    assert_eq!(state.len(), 5);
}

#[test]
fn reaffirmed_fact_needs_review_again() {
    let mut state = semantic_state([
        new("a", "1", Rank::Employee),
        dependent("b", "2", "a"),
        superseding("a2", "3", Rank::Employee, "a"),
    ]);
    assert_eq!(state.latest_by_key(&ItemKey::Fact("b".into())).unwrap().deps, [id(&state, "a2")]);
    write(&mut state, &Write::Fact(new("b", "2", Rank::Employee))).unwrap();
    assert_eq!(validity_of(&state, "b"), Validity::Current);
    write(&mut state, &Write::Fact(new("a2", "4", Rank::Employee))).unwrap();
    assert_eq!(validity_of(&state, "b"), Validity::NeedsReview);
}

#[test]
fn reaffirming_can_only_restrict() {
    let pay = |rank, audience: &Audience| NewFact { audience: audience.clone(), ..new("pay", "$9", rank) };
    let managers = Audience::AtLeast(Rank::Manager);
    let write_fact = |rank, audience: &Audience| {
        let mut state = semantic_state([new("rate", "4 %", Rank::Employee), pay(Rank::Employee, audience)]);
        let again = NewFact { depends_on: vec![Reference::Key("rate".into())], ..pay(rank, &managers) };
        write(&mut state, &Write::Fact(again)).unwrap();
        let entry = state.latest_by_key(&ItemKey::Fact("pay".into())).unwrap();
        (state.len(), entry.item.fact().unwrap().audience.clone(), entry.deps.len())
    };
    assert_eq!(write_fact(Rank::Employee, &Audience::Everybody), (2, managers.clone(), 1));
    assert_eq!(
        write_fact(Rank::Guest, &Audience::Everybody),
        (2, Audience::Everybody, 0),
        "a lower rank affirms nothing"
    );
    let mut state = semantic_state([pay(Rank::Employee, &managers)]);
    assert_eq!(write(&mut state, &Write::Fact(pay(Rank::Policy, &Audience::Everybody))).unwrap().len(), 1);
    assert_eq!(context_texts(&state, &anonymous()), Vec::<String>::new());
}

#[test]
fn lower_rank_cannot_reaffirm() {
    let mut state = semantic_state([
        new("rate", "4 %", Rank::Employee),
        dependent("interest", "$40", "rate"),
        new("rate", "5 %", Rank::Employee),
    ]);
    let guest = Write::Fact(new("interest", "$40", Rank::Guest));
    assert_eq!(write(&mut state, &guest).unwrap(), []);
    assert_eq!(validity_of(&state, "interest"), Validity::NeedsReview);
}

#[test]
fn dependency_on_superseded_fact_means_successor() {
    let state = semantic_state([
        new("a", "1", Rank::Employee),
        superseding("b", "2", Rank::Employee, "a"),
        dependent("c", "so 4", "a"),
    ]);
    assert_eq!(state.latest_by_key(&ItemKey::Fact("c".into())).unwrap().deps, [id(&state, "b")]);
}

#[test]
fn changed_signal_marks_dependents() {
    let mut state = SemanticState::default();
    let signal = |text: &str| Write::Environment { key: "stock".into(), text: text.into(), supersedes: None };
    write(&mut state, &signal("3 left")).unwrap();
    let rests =
        NewFact { depends_on: vec![Reference::Id(ItemId::FIRST)], ..new("plan", "order", Rank::Employee) };
    write(&mut state, &Write::Fact(rests)).unwrap();
    assert_eq!(write(&mut state, &signal("3 left")).unwrap(), [], "no new event");
    write(&mut state, &signal("none left")).unwrap();
    assert_eq!(validity_of(&state, "plan"), Validity::NeedsReview);
}

#[test]
fn superseded_signal_means_successor() {
    let mut state = SemanticState::default();
    let signal = |key: &str, supersedes: Option<&str>| Write::Environment {
        key: key.into(),
        text: key.into(),
        supersedes: supersedes.map(|key| Reference::Key(key.into())),
    };
    for (key, supersedes) in [("a", None), ("b", Some("a")), ("c", Some("a"))] {
        write(&mut state, &signal(key, supersedes)).unwrap();
    }
    assert_eq!(context_texts(&state, &anonymous()), ["c"]);
}

#[test]
fn newer_signal_can_supersede_other_key() {
    let mut state = SemanticState::default();
    let signal = |key: &str, supersedes: Option<&str>| Write::Environment {
        key: key.into(),
        text: key.into(),
        supersedes: supersedes.map(|key| Reference::Key(key.into())),
    };
    write(&mut state, &signal("deadline", None)).unwrap();
    write(&mut state, &signal("alert", Some("deadline"))).unwrap();
    assert_eq!(context_texts(&state, &anonymous()), ["alert"]);
    write(&mut state, &signal("deadline", None)).unwrap();
    assert_eq!(
        context_texts(&state, &anonymous()),
        ["deadline", "alert"],
        "a repeated signal is current again"
    );
}
