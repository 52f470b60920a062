//! The messages of the host to one conversation, as its inputs.

use crate::lines::Line;
use crate::pipe::Shared;
use crate::protocol::{
    FromHost, HostInput, InputMessage, NotStartedMessage, ReplyMessage, RequestMessage, ToHost,
};
use futures_channel::mpsc;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::{CallId, Input, Text, UserId};
use orchestrion_runtime::{
    CallError, IdempotencyKey, Mailbox, Message, NewRequest, SessionUser, lock_ignoring_poison,
};
use orchestrion_scenario::IdentityFile;
use orchestrion_yaml::LabeledError;
use serde_json::Value;
use std::sync::Arc;

/// The defect of a line that the end of the input cuts.
pub(crate) const INCOMPLETE_LINE: &str =
    "incomplete line: expected a newline, found the end of standard input";

/// Describes the defect of a line: of the form of its message, else as the parser states it, with its column. `schema` is the name of
/// the schema of the line.
pub(crate) fn describe(line: &[u8], error: &serde_json::Error, schema: &str) -> String {
    let error = error.to_string();
    let stated = || match error.rsplit_once(" at line 1 column ") {
        Some((defect, column)) => format!("{}, in column {column}", LabeledError::serde_message(defect)),
        None => error.clone(),
    };
    let defect = form_defect(line, &error).unwrap_or_else(stated);
    format!("{defect}; see `orchestrion export schema --schema {schema}`")
}

/// Describes what is wrong in the form of a message, which is its name, or an object with its name as the only key. The parser states
/// it without the name.
fn form_defect(line: &[u8], error: &str) -> Option<String> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let inner = message.pointer("/input/content").unwrap_or(&message);
    let names = |message: &Value| match message {
        Value::String(name) => vec![format!("{name:.40}")],
        Value::Object(content) => content.keys().take(4).map(|name| format!("{name:.40}")).collect(),
        _ => Vec::new(),
    };
    for names in [names(&message), names(inner)] {
        if names.len() > 1 {
            return Some(format!("too many keys: expected one in a message, found `{}`", names.join("`, `")));
        }
    }
    let [name] = names(inner).try_into().ok()?;
    match inner {
        // The text of serde.
        Value::String(_) if error.starts_with("invalid type: unit variant") => {
            Some(format!("message without content: expected {{\"{name}\": …}}, found \"{name}\""))
        }
        // Another error states that the message is unknown in this place.
        Value::Object(_)
            if error.starts_with("invalid type: ")
                && serde_json::from_value::<FromHost>(name.as_str().into()).is_ok() =>
        {
            Some(format!("message with content: expected \"{name}\", found {{\"{name}\": …}}"))
        }
        _ => None,
    }
}

fn unknown_call(call: CallId) -> String {
    format!("unknown call: expected the id of a recent call, found {call}")
}

/// Turns the messages of the host into inputs of a conversation.
#[derive(Debug)]
pub(crate) struct HostMessages {
    pub(crate) shared: Arc<Shared>,
    pub(crate) mailbox: Mailbox,
    pub(crate) closes: mpsc::Sender<()>,
}

impl HostMessages {
    /// Takes a line, or reports to its sender why it cannot be used.
    pub(crate) fn handle_line(&mut self, Line { number, content, is_complete }: Line<'_>) {
        let line = match content {
            Ok(line) => line,
            Err(reason) => return self.report_parse_failure(number, &[], reason),
        };
        match serde_json::from_slice(line) {
            Ok(message) => {
                // The message is valid but cannot be used now, so no input follows.
                if let Err(reason) = self.handle(number, message) {
                    self.shared.send(&ToHost::ParseFailed { line: number, call: None, reason });
                }
            }
            Err(_) if !is_complete => {
                // An incomplete line is not a reply: the call is repeated to the next host.
                let reason = INCOMPLETE_LINE.to_owned();
                self.shared.send(&ToHost::ParseFailed { line: number, call: None, reason });
            }
            Err(error) => self.report_parse_failure(number, line, describe(line, &error, "stdio")),
        }
    }

    /// Submits a message, or returns why it cannot be used now.
    pub(crate) fn handle(&mut self, line: u64, message: FromHost) -> Result<(), String> {
        match message {
            FromHost::Reply(ReplyMessage { call, content }) => {
                let operation = lock_ignoring_poison(&self.shared.calls).operations.get(&call).copied();
                let Some(operation) = operation else {
                    return Err(unknown_call(call));
                };
                match orchestrion_scenario::parse_reply(operation, content.get()) {
                    Ok(reply) => self.submit(line, reply.into_input(call), None),
                    Err(CallError { failure, reason }) => {
                        if let Some(reason) = reason.clone() {
                            self.shared.send(&ToHost::ParseFailed { line, call: Some(call), reason });
                        }
                        self.submit(line, Input::CallFailed { call, failure }, reason)
                    }
                }
            }
            FromHost::NotStarted(NotStartedMessage { call }) => {
                let mut calls = lock_ignoring_poison(&self.shared.calls);
                match calls.recovering.remove(&call) {
                    Some(sender) => {
                        // Fails if the deadline of the recovery has passed.
                        let _ = sender.send(());
                        Ok(())
                    }
                    None if calls.operations.contains_key(&call) => Err(format!(
                        "call not in recovery: expected a reply to call {call}, found `not_started`"
                    )),
                    None => Err(unknown_call(call)),
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
        self.shared.send(&ToHost::ParseFailed { line, call, reason });
    }
}

/// Returns the call that an otherwise invalid line replies to.
fn replied_call(line: &[u8]) -> Option<CallId> {
    let mut line: Value = serde_json::from_slice(line).ok()?;
    serde_json::from_value(line.get_mut("reply")?.get_mut("call")?.take()).ok()
}
