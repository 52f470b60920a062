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

use write_helpers::{NOW, anybody, current, id, knowing, new, resting, shown, standing, superseding, write};

// ── test vectors ─────────────────────────────────────────────────────────────────────────────────────

#[test]
fn vector_1_basic_supersession() {
    let known = knowing([
        new("status_v1", "approved", Rank::Employee),
        superseding("status_v2", "cancelled", Rank::Employee, "status_v1"),
    ]);
    assert_eq!(shown(&known, &anybody()), ["cancelled"]);
}

#[test]
fn vector_2_emphatic_repetition() {
    let said = || new("order_v1", "approved", Rank::Employee);
    let known =
        knowing([said(), said(), said(), superseding("order_v2", "cancelled", Rank::Employee, "order_v1")]);
    assert_eq!(known.len(), 2, "what is said three times is known once");
    assert_eq!(shown(&known, &anybody()), ["cancelled"]);
}

#[test]
fn vector_3_authority_override() {
    let known = knowing([
        NewFact { memory: MemoryType::Organizational, ..new("policy", "max 15%", Rank::Executive) },
        superseding("offer", "25%", Rank::Guest, "policy"),
    ]);
    assert_eq!(shown(&known, &anybody()), ["max 15%"]);
    assert_eq!(standing(&known, "policy"), Validity::Current);
    let superseded_by = Some(id(&known, "policy"));
    assert_eq!(
        standing(&known, "offer"),
        Validity::Superseded { superseded_by, rule: SupersessionRule::Authority }
    );
}

// ── checklist ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn box_layer_separation() {
    let mut known = knowing([new("a", "fact", Rank::Employee)]);
    let (key, text): (Text, Text) = ("a".into(), "scratch".into());
    write(&mut known, &Write::Working { key: key.clone(), text, expires_at: None, depends_on: vec![] })
        .unwrap();
    write(&mut known, &Write::Environment { key, text: "signal".into(), supersedes: None }).unwrap();
    let layers: Vec<_> = known.entries().map(|entry| entry.item.layer.clone()).collect();
    assert!(matches!(layers[..], [Layer::Fact(_), Layer::Working { .. }, Layer::Environment]));
    assert_eq!(known.working_set(), [ItemId::new(2)], "only the working set leaves with the session");
}

#[test]
fn identity_is_set_once_per_session() {
    let mut known = SemanticState::default();
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
    write(&mut known, &who(Rank::Executive)).unwrap();
    assert_eq!(write(&mut known, &who(Rank::Policy)), Err(KnowledgeError::IdentityAlreadySet));
    assert_eq!(known.identity().map(|identity| identity.rank), Some(Rank::Executive));
    assert_eq!(known.working_set(), [ItemId::FIRST]);
}

#[test]
fn box_supersession_tracking() {
    let known = knowing([
        new("a", "1", Rank::Employee),
        superseding("b", "2", Rank::Employee, "a"),
        superseding("c", "3", Rank::Employee, "b"),
    ]);
    assert!(!known.is_fact_current(&"a".into(), &anybody()));
    assert!(known.is_fact_current(&"c".into(), &anybody()));
    assert!(!known.is_fact_current(&"never written".into(), &anybody()));
    assert_eq!(current(&known, "a").as_deref(), Some("3"), "the chain is followed to its end");
    let fact = known.latest_by_key(&ItemKey::Fact("c".into())).unwrap().item.fact().unwrap();
    assert_eq!(fact.supersedes, Some(id(&known, "b")), "and can be traced back");
}

#[test]
fn box_valid_only_reads() {
    let known = knowing([new("a", "1", Rank::Employee), superseding("b", "2", Rank::Employee, "a")]);
    assert_eq!(known.read_valid_facts().map(|item| item.text.as_str()).collect::<Vec<_>>(), ["2"]);
}

#[test]
fn box_authority_awareness() {
    let known = knowing([
        NewFact { audience: Audience::AtLeast(Rank::Manager), ..new("salary", "secret", Rank::Manager) },
        NewFact { audience: Audience::Permitted("audit".into()), ..new("books", "closed", Rank::Manager) },
    ]);
    assert!(shown(&known, &anybody()).is_empty());
    assert_eq!(shown(&known, &Principal { rank: Rank::Manager, ..anybody() }), ["secret"]);
    assert_eq!(shown(&known, &Principal { permissions: vec!["audit".into()], ..anybody() }), ["closed"]);
}

#[test]
fn request_items_are_visible_to_their_user() {
    let mut known = knowing([new("soup", "hot", Rank::Employee)]);
    let answer = ItemKey::FinalAnswer(RequestId::FIRST);
    let item =
        Item::from_request(UserId::new("ada"), ItemId::new(2), ItemKind::Fact, answer, "secret".into());
    known.apply(&Event::AddItem { item, deps: Vec::new() });
    let of = |user: &str| Principal { user: Some(UserId::new(user)), rank: Rank::Policy, ..anybody() };
    assert_eq!(shown(&known, &of("ada")), ["hot", "secret"]);
    assert_eq!(shown(&known, &of("ben")), ["hot"], "whatever his rank");
    assert_eq!(shown(&known, &anybody()), ["hot"]);
}

#[test]
fn box_temporal_awareness() {
    let mut known = SemanticState::default();
    let clock = |millis| Write::Clock { now: Timestamp::from_millis(millis), text: "now".into() };
    write(&mut known, &clock(1_000)).unwrap();
    let expires_at = Some(Timestamp::from_millis(2_000));
    let scratch = |expires_at| Write::Working {
        key: "code".into(),
        text: "4711".into(),
        expires_at,
        depends_on: vec![],
    };
    write(&mut known, &scratch(expires_at)).unwrap();
    let at = |millis| Principal { now: Timestamp::from_millis(millis), ..anybody() };
    assert_eq!(shown(&known, &at(1_999)), ["now", "4711"]);
    assert_eq!(shown(&known, &at(2_000)), ["now"]);
    write(&mut known, &clock(1_999)).unwrap();
    assert_eq!(known.len(), 2);
    write(&mut known, &clock(2_000)).unwrap();
    assert_eq!((known.len(), known.now()), (1, Timestamp::from_millis(2_000)), "what expired is forgotten");
    assert_eq!(
        write(&mut known, &scratch(Some(NOW))).unwrap_err().to_string(),
        "expired write: expected an expiry after 2000 ms, found 1000 ms"
    );
    assert_eq!(
        write(&mut known, &clock(1_999)).unwrap_err().to_string(),
        "clock went back: expected 2000 ms or later, found 1999 ms"
    );
}

// ── anti-patterns ────────────────────────────────────────────────────────────────────────────────────

#[test]
fn anti_pattern_including_superseded_facts() {
    let known = knowing([new("a", "old", Rank::Employee), superseding("b", "new", Rank::Employee, "a")]);
    assert_eq!(known.len(), 2, "it is kept");
    assert_eq!(shown(&known, &anybody()), ["new"], "and not shown");
}

#[test]
fn anti_pattern_recency_bias_without_supersession() {
    let known = knowing([
        new("address", "1 Old Street", Rank::Employee),
        superseding("home", "2 New Street", Rank::Employee, "address"),
        new("parcel", "sent to 1 Old Street", Rank::Employee),
    ]);
    assert_eq!(current(&known, "address").as_deref(), Some("2 New Street"), "not what was mentioned last");
}

#[test]
fn anti_pattern_ignoring_authority() {
    let constraint = |rank| NewFact {
        kind: FactKind::Constraint(Some(ConstraintType::Policy)),
        ..new("discount_policy", "50%", rank)
    };
    let known = knowing([constraint(Rank::Employee)]);
    assert_eq!(standing(&known, "discount_policy"), Validity::Denied);
    assert!(shown(&known, &anybody()).is_empty());
    assert_eq!(standing(&knowing([constraint(Rank::Manager)]), "discount_policy"), Validity::Current);
}

// ── supersession rules ───────────────────────────────────────────────────────────────────────────────

fn rule_between(first: NewFact, second: NewFact) -> (Validity, Validity) {
    let known = knowing([first, second]);
    let standings: Vec<_> = known.entries().map(|entry| entry.item.validity).collect();
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
    let known = knowing([
        new("budget", "$10", Rank::Employee),
        new("spend", "$9", Rank::Employee),
        superseding("spend", "$8", Rank::Employee, "budget"),
    ]);
    assert_eq!(standing(&known, "budget"), by(3, SupersessionRule::Explicit));
    assert_eq!(shown(&known, &anybody()), ["$8"]);
}

#[test]
fn reference_to_superseded_fact_means_successor() {
    let known = knowing([
        new("a", "1", Rank::Employee),
        superseding("b", "2", Rank::Employee, "a"),
        superseding("c", "3", Rank::Employee, "a"),
    ]);
    assert_eq!(standing(&known, "b"), by(3, SupersessionRule::Explicit));
    assert_eq!(shown(&known, &anybody()), ["3"], "a chain has one end");
}

// ── repair propagation ───────────────────────────────────────────────────────────────────────────────

#[test]
fn transitive_dependents_need_review() {
    let mut known = knowing([
        new("rate", "4 %", Rank::Employee),
        resting("interest", "$40", "rate"),
        resting("payment", "$240", "interest"),
        new("weather", "fine", Rank::Employee),
        superseding("rate_v2", "5 %", Rank::Employee, "rate"),
    ]);
    assert_eq!(standing(&known, "interest"), Validity::NeedsReview);
    assert_eq!(standing(&known, "payment"), Validity::NeedsReview);
    assert_eq!(standing(&known, "weather"), Validity::Current);
    assert_eq!(shown(&known, &anybody()).len(), 4, "what needs review is still shown");
    write(&mut known, &Write::Fact(resting("interest", "$40", "rate"))).unwrap();
    assert_eq!(standing(&known, "interest"), Validity::Current, "said again, it is affirmed");
    assert_eq!(standing(&known, "payment"), Validity::NeedsReview);
    assert_eq!(known.len(), 5);
}

#[test]
fn reaffirmed_fact_needs_review_again() {
    let mut known = knowing([
        new("a", "1", Rank::Employee),
        resting("b", "2", "a"),
        superseding("a2", "3", Rank::Employee, "a"),
    ]);
    assert_eq!(known.latest_by_key(&ItemKey::Fact("b".into())).unwrap().deps, [id(&known, "a2")]);
    write(&mut known, &Write::Fact(new("b", "2", Rank::Employee))).unwrap();
    assert_eq!(standing(&known, "b"), Validity::Current);
    write(&mut known, &Write::Fact(new("a2", "4", Rank::Employee))).unwrap();
    assert_eq!(standing(&known, "b"), Validity::NeedsReview);
}

#[test]
fn reaffirming_can_only_restrict() {
    let pay = |rank, audience: &Audience| NewFact { audience: audience.clone(), ..new("pay", "$9", rank) };
    let managers = Audience::AtLeast(Rank::Manager);
    let said = |rank, audience: &Audience| {
        let mut known = knowing([new("rate", "4 %", Rank::Employee), pay(Rank::Employee, audience)]);
        let again = NewFact { depends_on: vec![Reference::Key("rate".into())], ..pay(rank, &managers) };
        write(&mut known, &Write::Fact(again)).unwrap();
        let entry = known.latest_by_key(&ItemKey::Fact("pay".into())).unwrap();
        (known.len(), entry.item.fact().unwrap().audience.clone(), entry.deps.len())
    };
    assert_eq!(said(Rank::Employee, &Audience::Everybody), (2, managers.clone(), 1));
    assert_eq!(
        said(Rank::Guest, &Audience::Everybody),
        (2, Audience::Everybody, 0),
        "a lower rank affirms nothing"
    );
    let mut known = knowing([pay(Rank::Employee, &managers)]);
    assert_eq!(write(&mut known, &Write::Fact(pay(Rank::Policy, &Audience::Everybody))).unwrap().len(), 1);
    assert_eq!(shown(&known, &anybody()), Vec::<String>::new());
}

#[test]
fn lower_rank_cannot_reaffirm() {
    let mut known = knowing([
        new("rate", "4 %", Rank::Employee),
        resting("interest", "$40", "rate"),
        new("rate", "5 %", Rank::Employee),
    ]);
    let guest = Write::Fact(new("interest", "$40", Rank::Guest));
    assert_eq!(write(&mut known, &guest).unwrap(), []);
    assert_eq!(standing(&known, "interest"), Validity::NeedsReview);
}

#[test]
fn dependency_on_superseded_fact_means_successor() {
    let known = knowing([
        new("a", "1", Rank::Employee),
        superseding("b", "2", Rank::Employee, "a"),
        resting("c", "so 4", "a"),
    ]);
    assert_eq!(known.latest_by_key(&ItemKey::Fact("c".into())).unwrap().deps, [id(&known, "b")]);
}

#[test]
fn changed_signal_marks_dependents() {
    let mut known = SemanticState::default();
    let signal = |text: &str| Write::Environment { key: "stock".into(), text: text.into(), supersedes: None };
    write(&mut known, &signal("3 left")).unwrap();
    let rests =
        NewFact { depends_on: vec![Reference::Id(ItemId::FIRST)], ..new("plan", "order", Rank::Employee) };
    write(&mut known, &Write::Fact(rests)).unwrap();
    assert_eq!(write(&mut known, &signal("3 left")).unwrap(), [], "nothing new");
    write(&mut known, &signal("none left")).unwrap();
    assert_eq!(standing(&known, "plan"), Validity::NeedsReview);
}

#[test]
fn superseded_signal_means_successor() {
    let mut known = SemanticState::default();
    let signal = |key: &str, supersedes: Option<&str>| Write::Environment {
        key: key.into(),
        text: key.into(),
        supersedes: supersedes.map(|key| Reference::Key(key.into())),
    };
    for (key, supersedes) in [("a", None), ("b", Some("a")), ("c", Some("a"))] {
        write(&mut known, &signal(key, supersedes)).unwrap();
    }
    assert_eq!(shown(&known, &anybody()), ["c"]);
}

#[test]
fn newer_signal_can_supersede_other_key() {
    let mut known = SemanticState::default();
    let signal = |key: &str, supersedes: Option<&str>| Write::Environment {
        key: key.into(),
        text: key.into(),
        supersedes: supersedes.map(|key| Reference::Key(key.into())),
    };
    write(&mut known, &signal("deadline", None)).unwrap();
    write(&mut known, &signal("alert", Some("deadline"))).unwrap();
    assert_eq!(shown(&known, &anybody()), ["alert"]);
    write(&mut known, &signal("deadline", None)).unwrap();
    assert_eq!(shown(&known, &anybody()), ["deadline", "alert"], "what is signalled again is current again");
}
