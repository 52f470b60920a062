//! Texts that alone exceed the budget of a call, in each place of a pinned item (000-5.6).

use super::shapes::{entry, id, identity, session, user, verified};
use orchestrion_kernel::item::{ItemKey, Layer, Rank};
use orchestrion_kernel::knowledge::NewIdentity;
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Input, Text};

/// The characters of a text that alone exceeds the usual budget.
const TEXT_OVER_BUDGET: usize = 120_000;

fn oversized() -> Text {
    "x".repeat(TEXT_OVER_BUDGET).into()
}

/// No item, and a signal whose key or text is too long.
pub(super) fn starts() -> Vec<Vec<Entry>> {
    let signal =
        |key: &str, text: &str| entry(id(1), ItemKey::Environment(key.into()), text, Layer::Environment);
    vec![Vec::new(), vec![signal(oversized().as_str(), "1")], vec![signal("s", oversized().as_str())]]
}

/// A request up to the reply that verifies the identity: all texts are short, or the message or one text of the identity is too long.
pub(super) fn requests() -> Vec<Vec<Input>> {
    let usual = || identity(Rank::Employee.name(), None, &["p"]);
    let requests: [(NewIdentity, Text); 6] = [
        (usual(), "text".into()),
        (usual(), oversized()),
        (NewIdentity { authority: oversized(), ..usual() }, "text".into()),
        (NewIdentity { department: oversized(), ..usual() }, "text".into()),
        (NewIdentity { organization: oversized(), ..usual() }, "text".into()),
        (NewIdentity { permissions: vec!["p".into(), oversized()], ..usual() }, "text".into()),
    ];
    let request = |(identity, text): (NewIdentity, Text)| {
        vec![session(Some(identity)), Input::user_message(user(), text), verified()]
    };
    requests.into_iter().map(request).collect()
}
