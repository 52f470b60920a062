//! What counts where (003 `scope`), and writes that do not fit what is known.

#![allow(clippy::unwrap_used, missing_docs)]

mod write_helpers;

use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{Audience, ItemKey, MemoryType, Rank, Scope, Validity};
use orchestrion_kernel::knowledge::{
    KnowledgeError, NewFact, Principal, Reference, Write, decide_write, validate_event,
};
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::{Event, ItemId, Policy};

use write_helpers::{anybody, current, knowing, new, resting, shown, standing, superseding, write};

// ── scopes ───────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_supposition_supersedes_nothing_and_hides_what_it_replaces_where_it_is_made() {
    let what_if = Scope::Hypothetical("half price".into());
    let supposed =
        NewFact { scope: what_if.clone(), ..superseding("price_if", "$50", Rank::Policy, "price") };
    let known = knowing([new("price", "$100", Rank::Employee), supposed]);
    assert_eq!(standing(&known, "price"), Validity::Current, "whatever the rank");
    assert_eq!(shown(&known, &anybody()), ["$100"]);
    assert_eq!(shown(&known, &Principal { scope: what_if, ..anybody() }), ["$50"]);
    let another = Scope::Hypothetical("double price".into());
    assert_eq!(shown(&known, &Principal { scope: another, ..anybody() }), ["$100"]);
}

#[test]
fn shadowing_includes_successor() {
    let mine =
        NewFact { scope: Scope::Session, ..superseding("my_language", "French", Rank::Employee, "language") };
    let mut known = knowing([new("language", "English", Rank::Employee), mine]);
    let renamed = superseding("house_language", "German", Rank::Employee, "language");
    write(&mut known, &Write::Fact(renamed)).unwrap();
    assert_eq!(shown(&known, &anybody()), ["French"]);
}

#[test]
fn a_narrower_scope_hides_nothing_of_a_higher_rank() {
    let policy = || new("discount", "max 15 %", Rank::Executive);
    let mine = |rank| NewFact { scope: Scope::Session, ..new("discount", "50 %", rank) };
    let named = NewFact { scope: Scope::Session, ..superseding("offer", "50 %", Rank::Guest, "discount") };
    let value =
        |known: &SemanticState| known.get_current_value(&"discount".into(), &anybody()).unwrap().text.clone();
    for guest in [mine(Rank::Guest), named] {
        let known = knowing([policy(), guest]);
        assert_eq!(shown(&known, &anybody()), ["max 15 %", "50 %"]);
        assert_eq!(value(&known).as_str(), "max 15 %");
        assert!(known.entries().filter_map(|entry| entry.item.fact()).all(|fact| fact.supersedes.is_none()));
    }
    let known = knowing([policy(), mine(Rank::Executive)]);
    assert_eq!(shown(&known, &anybody()), ["50 %"]);
    assert_eq!(value(&known).as_str(), "50 %");
}

#[test]
fn a_name_means_what_has_it_here_then_everywhere_then_anywhere() {
    let draft = |name: &str| Scope::Draft(name.into());
    let price = |scope, text: &str| NewFact { scope, ..new("price", text, Rank::Employee) };
    let known = knowing([price(Scope::Global, "$1"), price(draft("x"), "$2")]);
    let names = |scope: Scope| {
        let mut known = known.clone();
        write(
            &mut known,
            &Write::Fact(NewFact { scope, ..superseding("cost", "$3", Rank::Employee, "price") }),
        )
        .unwrap();
        known.latest_by_key(&ItemKey::Fact("cost".into())).unwrap().item.fact().unwrap().supersedes
    };
    assert_eq!(names(draft("x")), Some(ItemId::new(2)));
    assert_eq!(names(draft("y")), Some(ItemId::new(1)));
    assert_eq!(names(Scope::Global), Some(ItemId::new(1)));
}

#[test]
fn what_nobody_believes_is_not_taken_the_place_of() {
    let denied = NewFact { memory: MemoryType::Organizational, ..new("policy", "none", Rank::Unverified) };
    let known = knowing([denied, superseding("note", "1", Rank::Employee, "policy")]);
    assert_eq!(standing(&known, "policy"), Validity::Denied);
    assert_eq!(
        known.latest_by_key(&ItemKey::Fact("note".into())).unwrap().item.fact().unwrap().supersedes,
        None
    );
}

#[test]
fn a_name_has_its_valid_value_whatever_was_written_in_vain_or_elsewhere() {
    let limit = |text: &str, rank| NewFact { memory: MemoryType::Organizational, ..new("limit", text, rank) };
    let mut known = knowing([limit("15%", Rank::Executive), limit("25%", Rank::Guest)]);
    assert_eq!(standing(&known, "limit"), Validity::Denied, "the latest of the name");
    assert_eq!(current(&known, "limit").as_deref(), Some("15%"));
    assert!(known.is_fact_current(&"limit".into(), &anybody()));
    let what_if = Scope::Hypothetical("no limit".into());
    let supposed = NewFact { scope: what_if.clone(), ..new("limit", "99%", Rank::Guest) };
    write(&mut known, &Write::Fact(supposed)).unwrap();
    assert_eq!(current(&known, "limit").as_deref(), Some("15%"), "a supposition counts where it is made");
    let there = Principal { scope: what_if, ..anybody() };
    let value = |known: &SemanticState, reader| {
        known.get_current_value(&"limit".into(), reader).map(|item| item.text.to_string())
    };
    assert_eq!(value(&known, &there).as_deref(), Some("99%"));
    let restricted = NewFact {
        audience: Audience::AtLeast(Rank::Manager),
        ..superseding("secret_limit", "20%", Rank::Executive, "limit")
    };
    write(&mut known, &Write::Fact(restricted)).unwrap();
    assert_eq!(current(&known, "limit"), None, "what took its place is not for everybody");
    assert_eq!(value(&known, &Principal { rank: Rank::Manager, ..anybody() }).as_deref(), Some("20%"));
}

#[test]
fn what_stands_in_a_context_for_a_name_is_its_current_value() {
    let mine =
        NewFact { scope: Scope::Session, ..superseding("my_language", "French", Rank::Employee, "language") };
    let known = knowing([new("language", "English", Rank::Employee), mine]);
    assert_eq!(current(&known, "language").as_deref(), Some("French"));
    assert_eq!(shown(&known, &anybody()), ["French"]);
}

#[test]
fn within_a_scope_facts_supersede_each_other() {
    let draft = Scope::Draft("offer".into());
    let drafted = |text: &str| NewFact { scope: draft.clone(), ..new("price", text, Rank::Employee) };
    let known = knowing([drafted("$1"), drafted("$2")]);
    assert_eq!(shown(&known, &Principal { scope: draft, ..anybody() }), ["$2"]);
}

#[test]
fn in_a_session_its_own_facts_hide_those_that_count_everywhere() {
    let mine = NewFact { scope: Scope::Session, ..new("language", "French", Rank::Manager) };
    let known = knowing([new("language", "English", Rank::Guest), mine]);
    assert_eq!(shown(&known, &anybody()), ["French"]);
    assert_eq!(standing(&known, "language"), Validity::Current);
}

#[test]
fn no_link_is_left_to_what_leaves_with_the_session() {
    let mine = NewFact { scope: Scope::Session, ..new("mood", "good", Rank::Employee) };
    let known = knowing([mine, superseding("note", "better", Rank::Employee, "mood")]);
    assert_eq!(
        known.latest_by_key(&ItemKey::Fact("note".into())).unwrap().item.fact().unwrap().supersedes,
        None
    );
}

#[test]
fn what_counts_in_a_session_leaves_with_it() {
    let known = knowing([
        new("a", "1", Rank::Employee),
        NewFact { scope: Scope::Session, ..new("mood", "good", Rank::Employee) },
    ]);
    assert_eq!(known.working_set(), [ItemId::new(2)]);
    let rests = NewFact { depends_on: vec![Reference::Key("mood".into())], ..new("b", "2", Rank::Employee) };
    let misuse = decide_write(&Policy::hardened(), &known, &Write::Fact(rests)).unwrap_err();
    assert_eq!(
        misuse.to_string(),
        "the write lasts longer than `mood`, on which it rests; expected that it rests on what persists"
    );
}

// ── misuse ───────────────────────────────────────────────────────────────────────────────────────────

fn refused(known: &SemanticState, fact: NewFact) -> String {
    decide_write(&Policy::hardened(), known, &Write::Fact(fact)).unwrap_err().to_string()
}

#[test]
fn a_write_that_does_not_fit_is_refused_with_the_reason() {
    let known = knowing([new("a", "1", Rank::Employee)]);
    assert_eq!(
        refused(&known, superseding("b", "2", Rank::Employee, "nothing")),
        "the write supersedes `nothing`, which is not known; expected what was written before"
    );
    assert_eq!(
        refused(&known, resting("b", "2", "nothing")),
        "the write rests on `nothing`, which is not known; expected something that was written before"
    );
}

#[test]
fn nothing_rests_on_what_it_takes_the_place_of() {
    let mut known = knowing([new("a", "1", Rank::Employee), resting("b", "2", "a"), resting("c", "3", "b")]);
    let on = |name: &str, fact| NewFact { depends_on: vec![Reference::Key(name.into())], ..fact };
    assert_eq!(
        refused(&known, on("a", superseding("d", "4", Rank::Employee, "a"))),
        "the write rests on `a`, and that on what the write takes the place of; expected that it rests on what stays \
         without it"
    );
    for cyclic in
        [on("c", superseding("d", "4", Rank::Employee, "a")), resting("a", "4", "a"), resting("a", "4", "c")]
    {
        assert!(matches!(
            decide_write(&Policy::hardened(), &known, &Write::Fact(cyclic)),
            Err(KnowledgeError::CyclicDependency(_))
        ));
    }
    let scratch = |key: &str, on: Option<u64>| Write::Working {
        key: key.into(),
        text: "1".into(),
        expires_at: None,
        rests_on: on.map(|on| Reference::Id(ItemId::new(on))).into_iter().collect(),
    };
    write(&mut known, &scratch("x", None)).unwrap();
    write(&mut known, &scratch("y", Some(4))).unwrap();
    for on in [4, 5] {
        let itself = decide_write(&Policy::hardened(), &known, &scratch("x", Some(on)));
        assert!(matches!(itself, Err(KnowledgeError::CyclicDependency(_))));
    }
}

#[test]
fn nothing_rests_on_what_counts_only_elsewhere() {
    let draft = Scope::Draft("offer".into());
    let drafted = NewFact { scope: draft.clone(), ..new("price", "$1", Rank::Employee) };
    let mut known = knowing([drafted]);
    assert_eq!(
        refused(&known, resting("total", "$9", "price")),
        "the write rests on `price`, which counts only in another scope; expected something of its own scope, or that \
         counts everywhere"
    );
    write(&mut known, &Write::Fact(NewFact { scope: draft, ..resting("total", "$9", "price") })).unwrap();
}

#[test]
fn an_event_that_does_not_fit_is_refused_with_the_reason() {
    use orchestrion_kernel::event::ForgetCause;
    let known = knowing([new("a", "1", Rank::Employee), resting("b", "2", "a")]);
    let entry = known.latest_by_key(&ItemKey::Fact("b".into())).unwrap().clone();
    let misuse = |event| validate_event(&known, &event).unwrap_err();
    let (item, deps) = (entry.item.clone(), entry.deps);
    assert_eq!(misuse(Event::AddItem { item: item.clone(), deps }), KnowledgeError::DuplicateId(item.id));
    let mut unknown = item.clone();
    unknown.id = ItemId::new(9);
    assert_eq!(
        misuse(Event::UpdateItem { item: unknown.clone(), deps: vec![] }),
        KnowledgeError::UnknownItem(unknown.id)
    );
    let on = Reference::Id(ItemId::new(9));
    assert_eq!(
        misuse(Event::UpdateItem { item, deps: vec![ItemId::new(9)] }),
        KnowledgeError::DanglingDependency { on }
    );
    let forget = |id: u64, cause| Event::ForgetItems { ids: vec![ItemId::new(id)], cause };
    assert_eq!(misuse(forget(9, ForgetCause::Expiry)), KnowledgeError::UnknownItem(ItemId::new(9)));
    assert_eq!(
        misuse(forget(2, ForgetCause::SessionEnd)),
        KnowledgeError::InvalidForgetCause(ItemId::new(2))
    );
    assert_eq!(misuse(forget(2, ForgetCause::Expiry)), KnowledgeError::InvalidForgetCause(ItemId::new(2)));
}

#[test]
fn what_is_needed_is_not_forgotten() {
    use orchestrion_kernel::event::ForgetCause;
    let mut known = SemanticState::default();
    let scratch = |key: &str, rests_on| Write::Working {
        key: key.into(),
        text: key.into(),
        expires_at: Some(Timestamp::from_millis(2_000)),
        rests_on,
    };
    write(&mut known, &scratch("a", vec![])).unwrap();
    write(&mut known, &scratch("b", vec![Reference::Id(ItemId::FIRST)])).unwrap();
    let forget = |ids| Event::ForgetItems { ids, cause: ForgetCause::Expiry };
    let alone = validate_event(&known, &forget(vec![ItemId::FIRST]));
    assert_eq!(alone, Err(KnowledgeError::HasDependents { id: ItemId::FIRST, by: ItemId::new(2) }));
    let both = known.expired_items(Timestamp::from_millis(2_000));
    assert_eq!(validate_event(&known, &forget(both.clone())), Ok(()));
    assert_eq!(both, [ItemId::FIRST, ItemId::new(2)]);
}
