//! Both directions of the pipe: messages to the host, and a thread that reads its messages.

use crate::connection::{Connection, HostEvents};
use crate::output::{Output, Unread};
use crate::protocol::{
    FromHost, HostInput, InputMessage, NotStartedMessage, ReplyMessage, RequestMessage, ToHost,
};
use futures_channel::{mpsc, oneshot};
use orchestrion_files::limits::{HOST_LINE_BYTES_MAX, HOST_SKIPPED_BYTES_MAX};
use orchestrion_kernel::module::{Failure, Operation};
use orchestrion_kernel::{CallId, Input, Text, UserId};
use orchestrion_runtime::{
    Acknowledgement, Call, CallError, CallResult, Clock, Host, IdempotencyKey, Mailbox, Message, NewRequest,
    RecoveryResult, RefusedHandoff, SessionUser, lock_ignoring_poison,
};
use orchestrion_scenario::IdentityFile;
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::pending;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The number of recent calls whose replies can be parsed, so that a repeated reply is refused as such.
const CALLS_MAX: usize = 1000;

/// The state that the conversation and the reading thread share.
#[derive(Debug)]
struct Shared {
    output: Output,
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    /// The operations of the recent calls.
    operations: BTreeMap<CallId, Operation>,
    /// The calls in recovery, each with the sender that reports it as not started.
    recovering: BTreeMap<CallId, oneshot::Sender<()>>,
}

/// The host at the other end of the pipe.
#[derive(Debug)]
pub(crate) struct Pipe {
    clock: Clock,
    shared: Arc<Shared>,
    has_requests: bool,
}

impl Pipe {
    /// Starts a thread that reads `input`.
    pub(crate) fn open(
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
        mailbox: Mailbox,
        clock: Clock,
        has_requests: bool,
    ) -> (Self, HostEvents) {
        let (disconnected, disconnected_receiver) = mpsc::channel(1);
        let output = Output::new(output, disconnected.clone());
        let shared = Arc::new(Shared { output, calls: Mutex::new(Calls::default()) });
        let (closes, closes_receiver) = mpsc::channel(1);
        let reader = HostReader { shared: Arc::clone(&shared), mailbox, closes };
        let mut on_end = disconnected.clone();
        thread::spawn(move || {
            reader.read_lines(input);
            // Fails if the disconnection is already known.
            let _ = on_end.try_send(());
        });
        let pipe = Self { clock, shared, has_requests };
        (pipe, HostEvents { closes: closes_receiver, disconnected: disconnected_receiver })
    }

    /// Waits until the host has all messages, or reads no more.
    pub(crate) fn finish(&self) -> Option<Unread> {
        self.shared.output.finish()
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
    /// Sends a message without waiting. A host that cannot be written to, or for which too much waits, is disconnected.
    fn send(&self, message: &ToHost<'_>) {
        self.shared.output.send(message);
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

/// Reads the messages of the host on its own thread.
struct HostReader {
    shared: Arc<Shared>,
    mailbox: Mailbox,
    closes: mpsc::Sender<()>,
}

impl HostReader {
    fn read_lines(mut self, mut input: impl BufRead) {
        let mut line = Vec::new();
        for number in 1u64.. {
            line.clear();
            match input.by_ref().take(HOST_LINE_BYTES_MAX as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let has_newline = line.ends_with(b"\n");
            if !has_newline && line.len() == HOST_LINE_BYTES_MAX {
                let reason =
                    format!("line too long: expected at most {HOST_LINE_BYTES_MAX} bytes, found more");
                match skip_line(&mut input, HOST_SKIPPED_BYTES_MAX) {
                    Ok(true) => self.report_parse_failure(number, &[], reason),
                    Ok(false) => {
                        let reason = format!(
                            "{reason}; no newline follows within {HOST_SKIPPED_BYTES_MAX} bytes, so the host is disconnected"
                        );
                        self.report_parse_failure(number, &[], reason);
                        return;
                    }
                    Err(_) => return,
                }
                continue;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            // Without its newline, so that an error is located in this line.
            match serde_json::from_slice(line.trim_ascii_end()) {
                Ok(message) => {
                    // The message is valid but cannot be used now, so no input follows.
                    if let Err(reason) = self.handle(number, message) {
                        self.shared.output.send(&ToHost::ParseFailed { line: number, call: None, reason });
                    }
                }
                Err(_) if !has_newline => {
                    // An incomplete line is not a reply: the call is repeated to the next host.
                    let reason =
                        "incomplete line: expected a newline, found the end of standard input".to_owned();
                    self.shared.output.send(&ToHost::ParseFailed { line: number, call: None, reason });
                    return;
                }
                Err(error) => {
                    let error = error.to_string().replace(" at line 1 column ", ", in column ");
                    let reason = format!("{error}; see `orchestrion export schema --schema stdio`");
                    self.report_parse_failure(number, &line, reason);
                }
            }
        }
    }

    fn handle(&mut self, line: u64, message: FromHost) -> Result<(), String> {
        match message {
            FromHost::Reply(ReplyMessage { call, content }) => {
                let operation = lock_ignoring_poison(&self.shared.calls).operations.get(&call).copied();
                let Some(operation) = operation else {
                    return Err(format!("unknown call: expected the id of a recent call, found {call}"));
                };
                match orchestrion_scenario::parse_reply(operation, content.get()) {
                    Ok(reply) => self.submit(line, reply.into_input(call), None),
                    Err(CallError { failure, reason }) => {
                        if let Some(reason) = reason.clone() {
                            self.shared.output.send(&ToHost::ParseFailed { line, call: Some(call), reason });
                        }
                        self.submit(line, Input::CallFailed { call, failure }, reason)
                    }
                }
            }
            FromHost::NotStarted(NotStartedMessage { call }) => {
                let recovering = lock_ignoring_poison(&self.shared.calls).recovering.remove(&call);
                match recovering {
                    Some(sender) => {
                        // Fails if the deadline of the recovery has passed.
                        let _ = sender.send(());
                        Ok(())
                    }
                    None => Err(format!(
                        "call not in recovery: expected a reply to call {call}, found `not_started`"
                    )),
                }
            }
            FromHost::Input(message) => self.handle_input(line, message),
            FromHost::Request(request) => self.request(line, request, None),
            FromHost::Write(text) => {
                let write = orchestrion_scenario::parse_write(text.get())?;
                self.submit(line, Input::Write(Box::new(write)), None)
            }
            FromHost::Ingest(text) => {
                let text = orchestrion_scenario::parse_ingest(text.get())?;
                crate::ingest(&mut self.mailbox, text, line).map_err(|error| error.to_string())
            }
            FromHost::Handoff(handoff) => {
                self.mailbox.deliver(*handoff, Some(line)).map_err(|error| error.to_string())
            }
            FromHost::Cancel => self.submit(line, Input::Cancel, None),
            FromHost::Close => self
                .closes
                .try_send(())
                .map_err(|_| "unexpected close: expected one, found another; the first one holds".to_owned()),
        }
    }

    /// Submits an input with a key.
    fn handle_input(
        &mut self,
        line: u64,
        InputMessage { idempotency_key, content }: InputMessage,
    ) -> Result<(), String> {
        let key = IdempotencyKey::new(idempotency_key).map_err(|error| error.to_string())?;
        let sent = match content {
            HostInput::Request(request) => return self.request(line, request, Some(key)),
            HostInput::Write(text) => {
                let write = orchestrion_scenario::parse_write(text.get())?;
                self.mailbox.write_with_key(key, write, Some(line))
            }
            HostInput::Cancel => self.mailbox.cancel_with_key(key, Some(line)),
        };
        sent.map_err(|error| error.to_string())
    }

    fn request(
        &mut self,
        line: u64,
        RequestMessage { user, identity, text, scope }: RequestMessage,
        key: Option<IdempotencyKey>,
    ) -> Result<(), String> {
        let identity = identity.as_ref().map(IdentityFile::to_kernel);
        let user = SessionUser { user: UserId::new(user), identity };
        let request = NewRequest { text: Text::from(text), scope, key };
        self.mailbox.request(user, request, Some(line)).map_err(|error| error.to_string())
    }

    fn submit(&mut self, line: u64, input: Input, note: Option<String>) -> Result<(), String> {
        let message = Message { input, note, sequence: Some(line) };
        self.mailbox.send(message).map_err(|error| error.to_string())
    }

    /// Reports a line that cannot be parsed. If it replies to a call, that call fails as malformed.
    fn report_parse_failure(&mut self, line: u64, text: &[u8], reason: String) {
        let call = replied_call(text)
            .filter(|call| lock_ignoring_poison(&self.shared.calls).operations.contains_key(call));
        if let Some(call) = call {
            let note = Some(format!("unparsable line {line} of the host: {reason}"));
            let _full = self.submit(line, Input::CallFailed { call, failure: Failure::Malformed }, note);
        }
        self.shared.output.send(&ToHost::ParseFailed { line, call, reason });
    }
}

/// Returns the call that an otherwise invalid line replies to.
fn replied_call(line: &[u8]) -> Option<CallId> {
    let mut line: Value = serde_json::from_slice(line).ok()?;
    serde_json::from_value(line.get_mut("reply")?.get_mut("call")?.take()).ok()
}

/// Reads to the end of a line without keeping it. Returns whether it has at most so many bytes; a device may never end it.
fn skip_line(input: &mut impl BufRead, bytes_max: u64) -> io::Result<bool> {
    let mut skipped = 0u64;
    while skipped < bytes_max {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (read, done) = match end {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(read);
        if done {
            return Ok(true);
        }
        skipped = skipped.saturating_add(read as u64);
    }
    Ok(false)
}
