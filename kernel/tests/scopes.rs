//! Scopes and shadowing (003 `scope`), and writes that conflict with existing knowledge.

#![allow(clippy::unwrap_used, missing_docs)]

mod write_helpers;

use orchestrion_kernel::checker::{EventError, validate_event};
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{Audience, ItemKey, MemoryType, Rank, Scope, Validity};
use orchestrion_kernel::knowledge::{KnowledgeError, NewFact, Principal, Reference, Write, decide_write};
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::{Event, ItemId, Policy};

use write_helpers::{
    anonymous, context_texts, current, dependent, new, semantic_state, superseding, validity_of, write,
};

// ── scopes ───────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn hypothetical_fact_shadows_and_never_supersedes() {
    let what_if = Scope::Hypothetical("half price".into());
    let supposed =
        NewFact { scope: what_if.clone(), ..superseding("price_if", "$50", Rank::Policy, "price") };
    let state = semantic_state([new("price", "$100", Rank::Employee), supposed]);
    assert_eq!(validity_of(&state, "price"), Validity::Current, "independent of rank");
    assert_eq!(context_texts(&state, &anonymous()), ["$100"]);
    assert_eq!(context_texts(&state, &Principal { scope: what_if, ..anonymous() }), ["$50"]);
    let another = Scope::Hypothetical("double price".into());
    assert_eq!(context_texts(&state, &Principal { scope: another, ..anonymous() }), ["$100"]);
}

#[test]
fn shadowing_includes_successor() {
    let mine =
        NewFact { scope: Scope::Session, ..superseding("my_language", "French", Rank::Employee, "language") };
    let mut state = semantic_state([new("language", "English", Rank::Employee), mine]);
    let renamed = superseding("house_language", "German", Rank::Employee, "language");
    write(&mut state, &Write::Fact(renamed)).unwrap();
    assert_eq!(context_texts(&state, &anonymous()), ["French"]);
}

#[test]
fn narrower_scope_cannot_shadow_higher_rank() {
    let policy = || new("discount", "max 15 %", Rank::Executive);
    let mine = |rank| NewFact { scope: Scope::Session, ..new("discount", "50 %", rank) };
    let named = NewFact { scope: Scope::Session, ..superseding("offer", "50 %", Rank::Guest, "discount") };
    let value = |state: &SemanticState| {
        state.get_current_value(&"discount".into(), &anonymous()).unwrap().text.clone()
    };
    for guest in [mine(Rank::Guest), named] {
        let state = semantic_state([policy(), guest]);
        assert_eq!(context_texts(&state, &anonymous()), ["max 15 %", "50 %"]);
        assert_eq!(value(&state).as_str(), "max 15 %");
        assert!(state.entries().filter_map(|entry| entry.item.fact()).all(|fact| fact.supersedes.is_none()));
    }
    let state = semantic_state([policy(), mine(Rank::Executive)]);
    assert_eq!(context_texts(&state, &anonymous()), ["50 %"]);
    assert_eq!(value(&state).as_str(), "50 %");
}

#[test]
fn key_resolves_by_scope() {
    let draft = |name: &str| Scope::Draft(name.into());
    let price = |scope, text: &str| NewFact { scope, ..new("price", text, Rank::Employee) };
    let state = semantic_state([price(Scope::Global, "$1"), price(draft("x"), "$2")]);
    let names = |scope: Scope| {
        let mut state = state.clone();
        write(
            &mut state,
            &Write::Fact(NewFact { scope, ..superseding("cost", "$3", Rank::Employee, "price") }),
        )
        .unwrap();
        state.latest_by_key(&ItemKey::Fact("cost".into())).unwrap().item.fact().unwrap().supersedes
    };
    assert_eq!(names(draft("x")), Some(ItemId::new(2)));
    assert_eq!(names(draft("y")), Some(ItemId::new(1)));
    assert_eq!(names(Scope::Global), Some(ItemId::new(1)));
}

#[test]
fn denied_fact_is_not_superseded() {
    let denied = NewFact { memory: MemoryType::Organizational, ..new("policy", "none", Rank::Unverified) };
    let state = semantic_state([denied, superseding("note", "1", Rank::Employee, "policy")]);
    assert_eq!(validity_of(&state, "policy"), Validity::Denied);
    assert_eq!(
        state.latest_by_key(&ItemKey::Fact("note".into())).unwrap().item.fact().unwrap().supersedes,
        None
    );
}

#[test]
fn key_keeps_valid_value() {
    let limit = |text: &str, rank| NewFact { memory: MemoryType::Organizational, ..new("limit", text, rank) };
    let mut state = semantic_state([limit("15%", Rank::Executive), limit("25%", Rank::Guest)]);
    assert_eq!(validity_of(&state, "limit"), Validity::Denied, "the latest item with the key");
    assert_eq!(current(&state, "limit").as_deref(), Some("15%"));
    assert!(state.is_fact_current(&"limit".into(), &anonymous()));
    let what_if = Scope::Hypothetical("no limit".into());
    let supposed = NewFact { scope: what_if.clone(), ..new("limit", "99%", Rank::Guest) };
    write(&mut state, &Write::Fact(supposed)).unwrap();
    assert_eq!(
        current(&state, "limit").as_deref(),
        Some("15%"),
        "a hypothetical fact is visible only in its scope"
    );
    let there = Principal { scope: what_if, ..anonymous() };
    let value = |state: &SemanticState, reader| {
        state.get_current_value(&"limit".into(), reader).map(|item| item.text.to_string())
    };
    assert_eq!(value(&state, &there).as_deref(), Some("99%"));
    let restricted = NewFact {
        audience: Audience::AtLeast(Rank::Manager),
        ..superseding("secret_limit", "20%", Rank::Executive, "limit")
    };
    write(&mut state, &Write::Fact(restricted)).unwrap();
    assert_eq!(current(&state, "limit"), None, "the successor has a restricted audience");
    assert_eq!(value(&state, &Principal { rank: Rank::Manager, ..anonymous() }).as_deref(), Some("20%"));
}

#[test]
fn context_contains_current_value() {
    let mine =
        NewFact { scope: Scope::Session, ..superseding("my_language", "French", Rank::Employee, "language") };
    let state = semantic_state([new("language", "English", Rank::Employee), mine]);
    assert_eq!(current(&state, "language").as_deref(), Some("French"));
    assert_eq!(context_texts(&state, &anonymous()), ["French"]);
}

#[test]
fn within_a_scope_facts_supersede_each_other() {
    let draft = Scope::Draft("offer".into());
    let drafted = |text: &str| NewFact { scope: draft.clone(), ..new("price", text, Rank::Employee) };
    let state = semantic_state([drafted("$1"), drafted("$2")]);
    assert_eq!(context_texts(&state, &Principal { scope: draft, ..anonymous() }), ["$2"]);
}

#[test]
fn session_facts_shadow_global_facts() {
    let mine = NewFact { scope: Scope::Session, ..new("language", "French", Rank::Manager) };
    let state = semantic_state([new("language", "English", Rank::Guest), mine]);
    assert_eq!(context_texts(&state, &anonymous()), ["French"]);
    assert_eq!(validity_of(&state, "language"), Validity::Current);
}

#[test]
fn session_end_removes_links() {
    let mine = NewFact { scope: Scope::Session, ..new("mood", "good", Rank::Employee) };
    let state = semantic_state([mine, superseding("note", "better", Rank::Employee, "mood")]);
    assert_eq!(
        state.latest_by_key(&ItemKey::Fact("note".into())).unwrap().item.fact().unwrap().supersedes,
        None
    );
}

#[test]
fn session_facts_end_with_session() {
    let state = semantic_state([
        new("a", "1", Rank::Employee),
        NewFact { scope: Scope::Session, ..new("mood", "good", Rank::Employee) },
    ]);
    assert_eq!(state.working_set(), [ItemId::new(2)]);
    let rests = NewFact { depends_on: vec![Reference::Key("mood".into())], ..new("b", "2", Rank::Employee) };
    let error = decide_write(&Policy::hardened(), &state, &Write::Fact(rests)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dependency is not persistent: `mood` ends with the session; depend on a persistent item"
    );
}

// ── invalid writes ───────────────────────────────────────────────────────────────────────────────────

fn write_error(state: &SemanticState, fact: NewFact) -> String {
    decide_write(&Policy::hardened(), state, &Write::Fact(fact)).unwrap_err().to_string()
}

#[test]
fn invalid_write_is_refused_with_reason() {
    let state = semantic_state([new("a", "1", Rank::Employee)]);
    assert_eq!(
        write_error(&state, superseding("b", "2", Rank::Employee, "nothing")),
        "unknown superseded item `nothing`: expected an existing item; write it first"
    );
    assert_eq!(
        write_error(&state, dependent("b", "2", "nothing")),
        "unknown dependency `nothing`: expected an existing item; write it first"
    );
}

#[test]
fn fact_cannot_depend_on_superseded_item() {
    let mut state =
        semantic_state([new("a", "1", Rank::Employee), dependent("b", "2", "a"), dependent("c", "3", "b")]);
    let on = |name: &str, fact| NewFact { depends_on: vec![Reference::Key(name.into())], ..fact };
    assert_eq!(
        write_error(&state, on("a", superseding("d", "4", Rank::Employee, "a"))),
        "cyclic dependency: `a` depends on the item that this write supersedes; remove the dependency"
    );
    for cyclic in [
        on("c", superseding("d", "4", Rank::Employee, "a")),
        dependent("a", "4", "a"),
        dependent("a", "4", "c"),
    ] {
        assert!(matches!(
            decide_write(&Policy::hardened(), &state, &Write::Fact(cyclic)),
            Err(KnowledgeError::CyclicDependency(_))
        ));
    }
    let scratch = |key: &str, on: Option<u64>| Write::Working {
        key: key.into(),
        text: "1".into(),
        expires_at: None,
        depends_on: on.map(|on| Reference::Id(ItemId::new(on))).into_iter().collect(),
    };
    write(&mut state, &scratch("x", None)).unwrap();
    write(&mut state, &scratch("y", Some(4))).unwrap();
    for on in [4, 5] {
        let itself = decide_write(&Policy::hardened(), &state, &scratch("x", Some(on)));
        assert!(matches!(itself, Err(KnowledgeError::CyclicDependency(_))));
    }
}

#[test]
fn fact_cannot_depend_out_of_scope() {
    let draft = Scope::Draft("offer".into());
    let drafted = NewFact { scope: draft.clone(), ..new("price", "$1", Rank::Employee) };
    let mut state = semantic_state([drafted]);
    assert_eq!(
        write_error(&state, dependent("total", "$9", "price")),
        "dependency out of scope: `price` is valid only in another scope; depend on an item of the write's scope or of global \
         scope"
    );
    write(&mut state, &Write::Fact(NewFact { scope: draft, ..dependent("total", "$9", "price") })).unwrap();
}

#[test]
fn invalid_event_is_refused_with_reason() {
    use orchestrion_kernel::event::ForgetCause;
    let state = semantic_state([new("a", "1", Rank::Employee), dependent("b", "2", "a")]);
    let entry = state.latest_by_key(&ItemKey::Fact("b".into())).unwrap().clone();
    let error = |event| validate_event(&state, &event).unwrap_err();
    let (item, deps) = (entry.item.clone(), entry.deps);
    assert_eq!(error(Event::AddItem { item: item.clone(), deps }), EventError::DuplicateId(item.id));
    let mut unknown = item.clone();
    unknown.id = ItemId::new(9);
    assert_eq!(
        error(Event::UpdateItem { item: unknown.clone(), deps: vec![] }),
        EventError::UnknownItem(unknown.id)
    );
    assert_eq!(
        error(Event::UpdateItem { item, deps: vec![ItemId::new(9)] }),
        EventError::DanglingDependency(ItemId::new(9))
    );
    let forget = |id: u64, cause| Event::ForgetItems { ids: vec![ItemId::new(id)], cause };
    assert_eq!(error(forget(9, ForgetCause::Expiry)), EventError::UnknownItem(ItemId::new(9)));
    assert_eq!(error(forget(2, ForgetCause::SessionEnd)), EventError::InvalidForgetCause(ItemId::new(2)));
    assert_eq!(error(forget(2, ForgetCause::Expiry)), EventError::InvalidForgetCause(ItemId::new(2)));
}

#[test]
fn item_with_dependents_is_not_forgotten() {
    use orchestrion_kernel::event::ForgetCause;
    let mut state = SemanticState::default();
    let scratch = |key: &str, rests_on| Write::Working {
        key: key.into(),
        text: key.into(),
        expires_at: Some(Timestamp::from_millis(2_000)),
        depends_on: rests_on,
    };
    write(&mut state, &scratch("a", vec![])).unwrap();
    write(&mut state, &scratch("b", vec![Reference::Id(ItemId::FIRST)])).unwrap();
    let forget = |ids| Event::ForgetItems { ids, cause: ForgetCause::Expiry };
    let alone = validate_event(&state, &forget(vec![ItemId::FIRST]));
    assert_eq!(alone, Err(EventError::HasDependents { id: ItemId::FIRST, by: ItemId::new(2) }));
    let both = state.expired_items(Timestamp::from_millis(2_000));
    assert_eq!(validate_event(&state, &forget(both.clone())), Ok(()));
    assert_eq!(both, [ItemId::FIRST, ItemId::new(2)]);
}
