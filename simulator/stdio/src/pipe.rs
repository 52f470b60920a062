//! Both ends of the pipe: what is written to the host, and a thread that hears what it says.

use super::protocol::{FromHost, NeverStarted, ReplyMessage, RequestMessage, ToHost};
use futures_channel::{mpsc, oneshot};
use futures_util::StreamExt;
use orchestrion_kernel::module::{Failure, Operation};
use orchestrion_kernel::{CallId, Input, Text, UserId};
use orchestrion_runtime::{
    self, Call, CallError, Clock, Host, INPUT_BYTES_MAX, Mailbox, MailboxError, Message, RecoveryResult,
    locked,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::pending;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A longer line says more than is taken in of any input.
const LINE_BYTES_MAX: usize = 2 * INPUT_BYTES_MAX;

/// So many calls back, an answer that comes again is still understood, and refused as what it is.
const ASKED_MAX: usize = 1000;

/// What the thread that hears and the conversation know together.
#[derive(Debug)]
struct Shared<W> {
    out: Mutex<W>,
    asked: Mutex<Asked>,
}

#[derive(Debug, Default)]
struct Asked {
    /// The latest calls, and what they ask.
    asks: BTreeMap<CallId, Operation>,
    /// The call that may never have started, and whom to tell that it did not.
    recovering: Option<(CallId, oneshot::Sender<()>)>,
    /// A request runs, so another one is not to be asked now.
    busy: bool,
}

impl<W: Write> Shared<W> {
    fn tell(&self, told: &ToHost<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(told)?;
        line.push(b'\n');
        let mut out = locked(&self.out);
        out.write_all(&line)?;
        out.flush()
    }
}

/// The host at the other end.
#[derive(Debug)]
pub(super) struct Pipe<W> {
    clock: Clock,
    shared: Arc<Shared<W>>,
    host_asks: bool,
    /// Told once the host is gone.
    gone: Mutex<mpsc::Sender<()>>,
}

/// What users ask for through it; `None` once nothing more will be asked.
pub(super) struct RequestReceiver(mpsc::Receiver<Option<(UserId, Text)>>);

impl<W: Write + Send + 'static> Pipe<W> {
    /// Speaks through `output`, and hears `input` on a thread of its own, which ends with it. While it is `busy`, no request is
    /// taken. The last of the three ends once the host is gone.
    pub(super) fn open(
        input: impl BufRead + Send + 'static,
        output: W,
        mailbox: Mailbox,
        clock: Clock,
        host_asks: bool,
        busy: bool,
    ) -> (Self, RequestReceiver, mpsc::Receiver<()>) {
        let shared = Arc::new(Shared {
            out: Mutex::new(output),
            asked: Mutex::new(Asked { busy, ..Asked::default() }),
        });
        let (requests, heard) = mpsc::channel(1);
        let (gone, is_gone) = mpsc::channel(1);
        let ears = HostReader { shared: Arc::clone(&shared), mailbox, requests };
        let mut ended = gone.clone();
        thread::spawn(move || {
            ears.read_lines(input);
            // If that is known already, or nobody wants to know any more, all the better.
            let _ = ended.try_send(());
        });
        (Self { clock, shared, host_asks, gone: Mutex::new(gone) }, RequestReceiver(heard), is_gone)
    }

    /// Tells the host something. If it does not read any more, it is gone.
    pub(super) fn tell(&self, told: &ToHost<'_>) {
        if self.shared.tell(told).is_err() {
            let _ = locked(&self.gone).try_send(());
        }
    }

    /// Whether requests come from the host.
    pub(super) const fn host_asks(&self) -> bool {
        self.host_asks
    }

    /// No request runs: the host may ask for the next one, if that is its part.
    pub(super) fn idle(&self) {
        locked(&self.shared.asked).busy = !self.host_asks;
    }

    fn asks(&self, call: &Call) {
        let mut asked = locked(&self.shared.asked);
        asked.asks.insert(call.id, call.operation);
        if asked.asks.len() > ASKED_MAX {
            asked.asks.pop_first();
        }
    }
}

impl RequestReceiver {
    /// The next request, or `None` if the host closes the conversation.
    pub(super) async fn next(&mut self) -> Option<(UserId, Text)> {
        match self.0.next().await {
            Some(request) => request,
            // It is gone, which is seen elsewhere.
            None => pending().await,
        }
    }
}

impl<W: Write + Send + 'static> Host for Pipe<W> {
    /// What the host says comes by mail.
    async fn execute(&self, call: &Call) -> orchestrion_runtime::CallResult {
        self.asks(call);
        self.tell(&ToHost::Call(call));
        pending().await
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        self.asks(call);
        let (never, started) = oneshot::channel();
        locked(&self.shared.asked).recovering = Some((call.id, never));
        self.tell(&ToHost::Recover(call));
        match started.await {
            Ok(()) => RecoveryResult::NotStarted,
            Err(_) => pending().await,
        }
    }

    async fn sleep(&self, time: Duration) {
        self.clock.sleep(time).await;
    }
}

/// The thread that hears.
struct HostReader<W> {
    shared: Arc<Shared<W>>,
    mailbox: Mailbox,
    requests: mpsc::Sender<Option<(UserId, Text)>>,
}

impl<W: Write> HostReader<W> {
    fn read_lines(mut self, mut input: impl BufRead) {
        let mut line = Vec::new();
        for number in 1u64.. {
            line.clear();
            match input.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let is_whole = line.ends_with(b"\n");
            if !is_whole && line.len() == LINE_BYTES_MAX {
                if skip_line(&mut input).is_err() {
                    return;
                }
                self.report_parse_failure(
                    number,
                    &[],
                    format!("expected a line of at most {LINE_BYTES_MAX} bytes"),
                );
                continue;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            // Without its end, or what is missing would be looked for in a second line.
            match serde_json::from_slice(line.trim_ascii_end()) {
                Ok(heard) => {
                    // It was understood, but has no place: nothing is made of it.
                    if let Err(why) = self.take(number, heard) {
                        let _ = self.shared.tell(&ToHost::ParseFailed { line: number, call: None, why });
                    }
                }
                Err(_) if !is_whole => {
                    // No answer at all: whoever comes next is asked again.
                    let why = "standard input ended in the middle of the line".to_owned();
                    let _ = self.shared.tell(&ToHost::ParseFailed { line: number, call: None, why });
                    return;
                }
                Err(error) => {
                    let why = error.to_string().replace(" at line 1 column ", ", in column ");
                    let why = format!("{why}; see `orchestrion export schema --of stdio`");
                    self.report_parse_failure(number, &line, why);
                }
            }
        }
    }

    fn take(&mut self, line: u64, heard: FromHost) -> Result<(), String> {
        match heard {
            FromHost::Answer(ReplyMessage { call, with }) => {
                let ask = locked(&self.shared.asked).asks.get(&call).copied();
                let Some(ask) = ask else {
                    return Err(format!(
                        "call {call} was not asked lately; expected the id of a call that was"
                    ));
                };
                match orchestrion_scenario::parse_reply(ask, with.get()) {
                    Ok(reply) => self.put(line, reply.into_input(call), None),
                    Err(CallError { failure, reason: why }) => {
                        if let Some(why) = why.clone() {
                            let _ = self.shared.tell(&ToHost::ParseFailed { line, call: Some(call), why });
                        }
                        self.put(line, Input::CallFailed { call, failure }, why)
                    }
                }
            }
            FromHost::NeverStarted(NeverStarted { call }) => {
                let recovering = locked(&self.shared.asked).recovering.take_if(|(id, _)| *id == call);
                match recovering {
                    // If nobody waits any more, the time for it is over.
                    Some((_, never)) => {
                        let _ = never.send(());
                        Ok(())
                    }
                    None => Err(format!("call {call} is not to be recovered; expected an answer")),
                }
            }
            FromHost::Ask(RequestMessage { user, says }) => {
                let (user, text) = (UserId::new(user), Text::from(says));
                let was_busy = std::mem::replace(&mut locked(&self.shared.asked).busy, true);
                if was_busy {
                    return self.put(line, Input::UserMessage { user, text }, None);
                }
                self.requests
                    .try_send(Some((user, text)))
                    .map_err(|_| "the scenario asks by itself".to_owned())
            }
            FromHost::Write(text) => {
                let write = orchestrion_scenario::parse_write(text.get())?;
                self.put(line, Input::Write(Box::new(write)), None)
            }
            FromHost::Cancel => self.put(line, Input::Cancel, None),
            FromHost::Close => self.requests.try_send(None).map_err(|_| "a request runs".to_owned()),
        }
    }

    fn put(&mut self, line: u64, input: Input, note: Option<String>) -> Result<(), String> {
        let message = Message { input, note, sequence: Some(line) };
        self.mailbox.send(message).map_err(|error: MailboxError| error.to_string())
    }

    /// A line that cannot be read changes nothing, but if it answers a call that was asked: then the answer is malformed.
    fn report_parse_failure(&mut self, line: u64, said: &[u8], why: String) {
        let call = answered(said).filter(|call| locked(&self.shared.asked).asks.contains_key(call));
        if let Some(call) = call {
            let note = Some(format!("line {line} of the host was not understood: {why}"));
            let _full = self.put(line, Input::CallFailed { call, failure: Failure::Malformed }, note);
        }
        let _ = self.shared.tell(&ToHost::ParseFailed { line, call, why });
    }
}

/// The call that a line answers, whatever else is wrong with it.
fn answered(said: &[u8]) -> Option<CallId> {
    let mut said: Value = serde_json::from_slice(said).ok()?;
    serde_json::from_value(said.get_mut("answer")?.get_mut("call")?.take()).ok()
}

/// Reads on to the end of a line, and keeps nothing of it.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (read, done) = match end {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(read);
        if done {
            return Ok(());
        }
    }
}
