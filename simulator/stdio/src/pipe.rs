//! A conversation's end of the pipe: messages to the host, and the calls that it may answer.

use crate::connection::Connection;
use crate::host_messages::HostMessages;
use crate::output::Output;
use crate::protocol::{ToHost, ToHostOfMany};
use futures_channel::{mpsc, oneshot};
use orchestrion_kernel::CallId;
use orchestrion_kernel::module::Operation;
use orchestrion_runtime::{
    Acknowledgement, Call, CallResult, Clock, Host, Mailbox, RecoveryResult, RefusedHandoff,
    lock_ignoring_poison,
};
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The number of recent calls whose replies can be parsed, so that a repeated reply is refused as such.
const CALLS_MAX: usize = 1000;

/// The state that the conversation and the reading thread share.
#[derive(Debug)]
pub(crate) struct Shared {
    output: Arc<Output>,
    /// The name of the conversation, if the host has several.
    name: Option<String>,
    pub(crate) calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The operations of the recent calls.
    pub(crate) operations: BTreeMap<CallId, Operation>,
    /// The calls in recovery, each with the sender that reports it as not started.
    pub(crate) recovering: BTreeMap<CallId, oneshot::Sender<()>>,
}

impl Shared {
    /// Sends a message without waiting. A host that cannot be written to, or for which too much waits, is disconnected.
    pub(crate) fn send(&self, message: &ToHost<'_>) {
        match &self.name {
            Some(name) => {
                self.output.send(&ToHostOfMany::Message { conversation: name, content: message });
            }
            None => self.output.send(message),
        }
    }
}

/// The host at the other end of the pipe.
#[derive(Debug)]
pub(crate) struct Pipe {
    clock: Clock,
    shared: Arc<Shared>,
    has_requests: bool,
}

impl Pipe {
    /// Connects a conversation; it has a name if the host has several. Returns with it what takes the messages of its host, and the receiver
    /// that yields when the host closes it.
    pub(crate) fn open(
        output: &Arc<Output>,
        name: Option<String>,
        mailbox: Mailbox,
        clock: Clock,
        has_requests: bool,
    ) -> (Self, HostMessages, mpsc::Receiver<()>) {
        let (close_sender, closes) = mpsc::channel(1);
        let shared = Arc::new(Shared { output: Arc::clone(output), name, calls: Mutex::default() });
        let messages = HostMessages { shared: Arc::clone(&shared), mailbox, closes: close_sender };
        (Self { clock, shared, has_requests }, messages, closes)
    }

    fn register(&self, call: &Call) {
        let mut calls = lock_ignoring_poison(&self.shared.calls);
        calls.operations.insert(call.id, call.operation);
        if calls.operations.len() > CALLS_MAX {
            calls.operations.pop_first();
        }
    }
}

impl Connection for Pipe {
    fn send(&self, message: &ToHost<'_>) {
        self.shared.send(message);
    }

    fn has_requests(&self) -> bool {
        self.has_requests
    }
}

impl Host for Pipe {
    /// Sends the call. The reply arrives in the mailbox.
    async fn execute(&self, call: &Call) -> CallResult {
        self.register(call);
        self.send(&ToHost::Call(call));
        pending().await
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        self.register(call);
        let (sender, not_started) = oneshot::channel();
        lock_ignoring_poison(&self.shared.calls).recovering.insert(call.id, sender);
        self.send(&ToHost::Recover(call));
        match not_started.await {
            Ok(()) => RecoveryResult::NotStarted,
            Err(_) => pending().await,
        }
    }

    fn receive_refusal(&self, refused: &RefusedHandoff) {
        self.send(&ToHost::handoff_refused(refused));
    }

    fn acknowledge(&self, notice: &Acknowledgement) {
        self.send(&ToHost::acknowledgement(notice));
    }

    async fn sleep(&self, time: Duration) {
        self.clock.sleep(time).await;
    }
}
