//! Identifiers of document 000 by their encoding.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_kernel::ids::{CallId, ConversationId, ItemId, RequestId, TraceId, UserId};
use orchestrion_kernel::module::Module;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Debug;

fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(id: &T, encoded: &Value) {
    assert_eq!(serde_json::to_value(id).unwrap(), *encoded);
    assert_eq!(serde_json::from_value::<T>(encoded.clone()).unwrap(), *id);
}

/// 000-1.8, with 000-1.3, 000-1.4, 000-1.6 and 000-1.7: an id is written as a text or as a number, and reads back.
#[test]
fn ids_are_texts_or_numbers() {
    check(&UserId::new("ada"), &json!("ada"));
    check(&ConversationId::new("first"), &json!("first"));
    check(&ItemId::new(7), &json!(7));
    check(&CallId::new(8), &json!(8));
}

/// 000-1.5, 000-1.8: each module has a name of its own, and its encoding reads back.
#[test]
fn modules_have_distinct_names() {
    let names: BTreeSet<&str> = Module::ALL.iter().map(|module| module.name()).collect();
    assert_eq!(names.len(), Module::ALL.len(), "{names:?}");
    for module in Module::ALL {
        check(&module, &serde_json::to_value(module).unwrap());
    }
}

/// 000-1.4: the requests of two conversations have distinct trace ids, although their numbers are equal.
#[test]
fn conversations_have_distinct_traces() {
    let trace =
        |conversation| TraceId { conversation: ConversationId::new(conversation), request: RequestId::FIRST };
    assert_ne!(trace("first").to_string(), trace("second").to_string());
}
