//! What a refusal contains.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Operation, Report};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::{
    CallId, ConversationId, Event, Input, Policy, Refusal, RequestId, State, TaskId, Timestamp, UserId,
    decide,
};

/// 002-1.9: the refusal of a reply to a wrong call contains every pending call.
#[test]
fn refused_reply_names_every_pending_call() {
    let (user, request) = (UserId::new("ada"), RequestId::FIRST);
    let mut state = State::new(ConversationId::new("c"));
    state.apply(&Event::SessionStarted { user: user.clone() });
    state.apply(&Event::UserMsg { request, user, text: "text".into(), scope: Scope::Global });
    let calls = [1, 2].map(CallId::new);
    for (call, task) in calls.into_iter().zip([1, 2].map(TaskId::new)) {
        state.apply(&Event::ToolCall {
            call,
            operation: Operation::RunTask { task, effect: EffectKind::Pure },
        });
    }
    let reply = Input::reply(CallId::new(3), Report::Exit { code: 0, text: "".into(), number: None });
    let refusal = decide(&Policy::hardened(), &state, Timestamp::default(), &reply).unwrap_err();
    assert_eq!(refusal, Refusal::WrongCall { found: CallId::new(3), expected: calls.into() });
}
