//! Keyed writes.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any};
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Value, json};

pub(super) fn write() -> impl Strategy<Value = Value> {
    Union::new_weighted(vec![
        (12, fact().boxed()),
        (5, working().boxed()),
        (6, signal().boxed()),
        (3, promotion().boxed()),
    ])
    .prop_map(|write| json!({ "write": write }))
}

fn fact() -> impl Strategy<Value = Value> {
    let what = (kind(), key(), text(), source(), option::weighted(0.7, 0..3_u64), memory());
    let how = (
        scope(),
        audience(),
        any::<(bool, bool)>(),
        option::weighted(0.5, reference()),
        detected(),
        depends_on(),
    );
    (what, how).prop_map(
        |(
            (kind, key, text, source, at, memory),
            (scope, audience, (time_sensitive, is_from_text), supersedes, detected, depends_on),
        )| {
            json!({ "fact": {
                "kind": kind, "key": key, "text": text, "source": source, "established_at": at,
                "memory": memory, "scope": scope, "audience": audience, "time_sensitive": time_sensitive,
                "supersedes": supersedes, "detected_rule": detected, "depends_on": depends_on,
                "is_from_text": is_from_text,
            }})
        },
    )
}

/// Kinds and scopes of facts that belong to one compaction group, with weights.
pub(super) const KINDS_OF_FACTS: &[(u32, &str)] = &[(2, r#""fact""#), (1, r#"{"constraint":null}"#)];
pub(super) const SCOPES: &[(u32, &str)] = &[(3, r#""global""#), (2, r#""session""#), (1, r#"{"task":"x"}"#)];

/// Generates facts of one compaction group, so that several can be summarized, and facts that need review.
pub(super) fn plain_fact(
    kind: impl Strategy<Value = Value>,
    scope: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    let what = (plain_key(), text(), 0..3_u64, scope);
    let depends_on = option::weighted(0.5, vec(plain_reference(), 1..=2)).prop_map(Option::unwrap_or_default);
    let rank = one_of(&[(12, json!("executive")), (1, json!("guest"))]);
    (kind, what, rank, option::weighted(0.3, plain_reference()), depends_on).prop_map(
        |(kind, (key, text, at, scope), rank, supersedes, depends_on)| {
            json!({ "fact": {
                "kind": kind, "key": key, "text": text, "source": { "name": rank, "rank": null, "is_derived": false }, "established_at": at,
                "memory": "user", "scope": scope, "audience": "everybody", "time_sensitive": false,
                "supersedes": supersedes, "detected_rule": null, "depends_on": depends_on,
            }})
        },
    )
}

fn working() -> impl Strategy<Value = Value> {
    (key(), text(), option::of(0..6_u64), depends_on()).prop_map(|(key, text, expires_at, depends_on)| {
        json!({ "working": { "key": key, "text": text, "expires_at": expires_at, "depends_on": depends_on } })
    })
}

fn signal() -> impl Strategy<Value = Value> {
    (key(), text(), option::weighted(0.3, reference())).prop_map(|(key, text, supersedes)| {
        json!({ "environment": { "key": key, "text": text, "supersedes": supersedes } })
    })
}

/// Generates promotions, mostly of facts that other actions write.
fn promotion() -> impl Strategy<Value = Value> {
    let key = Union::new_weighted(vec![(1, key().boxed()), (2, plain_key().boxed())]);
    let scope = read_one_of(&[
        (1, r#""global""#),
        (3, r#""session""#),
        (6, r#"{"task":"x"}"#),
        (1, r#"{"draft":"x"}"#),
    ]);
    (key, scope, source()).prop_map(
        |(key, scope, source)| json!({ "promote": { "key": key, "scope": scope, "source": source } }),
    )
}

/// Generates the scope of a request, mostly global.
pub(super) fn request_scope() -> impl Strategy<Value = Value> {
    read_one_of(&[
        (6, r#""global""#),
        (4, r#"{"task":"x"}"#),
        (1, r#"{"hypothetical":"x"}"#),
        (1, r#""session""#),
    ])
}

/// Generates the identity of a session start.
pub(super) fn identity() -> impl Strategy<Value = Value> {
    let authority = one_of(&[(4, json!("manager")), (2, json!("Guest")), (1, json!("wizard"))]);
    let permissions = select(vec![json!([]), json!(["audit"])]);
    (authority, option::weighted(0.3, rank()), permissions).prop_map(|(authority, rank, permissions)| {
        json!({
            "name": "Ada", "authority": authority, "rank": rank, "department": "2", "organization": "3",
            "permissions": permissions,
        })
    })
}

fn one_of(values: &[(u32, Value)]) -> impl Strategy<Value = Value> + use<> {
    Union::new_weighted(values.iter().map(|(weight, value)| (*weight, Just(value.clone()))).collect())
}

pub(super) fn read_one_of(values: &[(u32, &str)]) -> impl Strategy<Value = Value> + use<> {
    let read = |(weight, text): &(u32, &str)| (*weight, serde_json::from_str(text).unwrap());
    one_of(&values.iter().map(read).collect::<Vec<(u32, Value)>>())
}

fn key() -> impl Strategy<Value = Value> {
    one_of(&[(3, json!("a")), (3, json!("b")), (2, json!("c")), (1, json!("d"))])
}

fn plain_reference() -> impl Strategy<Value = Value> {
    Union::new_weighted(vec![
        (5, plain_key().prop_map(|key| json!({ "key": key })).boxed()),
        (1, (1..40_u64).prop_map(|id| json!({ "id": id })).boxed()),
    ])
}

pub(super) fn plain_key() -> impl Strategy<Value = Value> {
    one_of(&[
        (1, json!("a")),
        (2, json!("d")),
        (4, json!("e")),
        (4, json!("f")),
        (4, json!("g")),
        (3, json!("h")),
        (3, json!("i")),
    ])
}

fn text() -> impl Strategy<Value = Value> {
    one_of(&[(2, json!("1")), (2, json!("2")), (1, json!("3")), (1, json!("äöüß"))])
}

fn rank() -> impl Strategy<Value = Value> {
    one_of(&[
        (6, json!("employee")),
        (1, json!("unverified")),
        (1, json!("guest")),
        (2, json!("manager")),
        (1, json!("executive")),
        (1, json!("policy")),
    ])
}

fn source() -> impl Strategy<Value = Value> {
    // A rank is the name of a source in the policy's table; `bob` is in none.
    let name = Union::new_weighted(vec![
        (8, rank().boxed()),
        (2, Just(Value::Null).boxed()),
        (1, Just(json!("bob")).boxed()),
    ]);
    let is_derived = one_of(&[(5, json!(false)), (1, json!(true))]);
    (name, option::weighted(0.2, rank()), is_derived)
        .prop_map(|(name, rank, derived)| json!({ "name": name, "rank": rank, "is_derived": derived }))
}

fn kind() -> impl Strategy<Value = Value> {
    one_of(&[(6, json!("fact")), (1, json!({ "constraint": null })), (1, json!({ "constraint": "budget" }))])
}

fn memory() -> impl Strategy<Value = Value> {
    one_of(&[(4, json!("user")), (1, json!("capability")), (1, json!("organizational"))])
}

fn scope() -> impl Strategy<Value = Value> {
    one_of(&[
        (6, json!("global")),
        (3, json!("session")),
        (1, json!({ "task": "x" })),
        (1, json!({ "task": "y" })),
        (1, json!({ "hypothetical": "x" })),
        (1, json!({ "draft": "x" })),
    ])
}

fn audience() -> impl Strategy<Value = Value> {
    one_of(&[
        (6, json!("everybody")),
        (1, json!({ "at_least": "manager" })),
        (1, json!({ "permitted": "audit" })),
    ])
}

fn detected() -> impl Strategy<Value = Value> {
    one_of(&[
        (4, Value::Null),
        (1, json!("explicit")),
        (1, json!("implicit")),
        (1, json!("temporal")),
        (1, json!("authority")),
    ])
}

fn reference() -> impl Strategy<Value = Value> {
    Union::new_weighted(vec![
        (2, key().prop_map(|key| json!({ "key": key })).boxed()),
        (2, plain_key().prop_map(|key| json!({ "key": key })).boxed()),
        (1, (1..7_u64).prop_map(|id| json!({ "id": id })).boxed()),
        (1, (7..40_u64).prop_map(|id| json!({ "id": id })).boxed()),
    ])
}

fn depends_on() -> impl Strategy<Value = Vec<Value>> {
    Union::new_weighted(vec![(2, Just(Vec::new()).boxed()), (1, vec(reference(), 1..=2).boxed())])
}
