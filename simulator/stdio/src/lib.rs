//! Conversations with hosts in other languages, over standard input and output.
//!
//! Entry points: [`serve`] runs a conversation with a host, [`serve_many`] many, and [`converse`] one over any [`Connection`]; [`protocol`] defines the messages, and [`protocol::schema`]
//! returns their JSON Schema. Deliberately absent: decisions. Each message becomes an input, and the kernel may refuse it.

mod connection;
mod host_messages;
mod lines;
mod many;
mod output;
mod pipe;
pub mod protocol;

pub use connection::{Connection, HostEvents};
use futures_channel::mpsc;
use futures_util::future::{Either, select};
use futures_util::{FutureExt, StreamExt};
pub use many::{CONVERSATIONS_MAX, NAME_BYTES_MAX, ServedMany, serve_many};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::{Input, Policy, Refusal, State, knowledge};
use orchestrion_runtime::{
    Clock, CommitStatus, Conversation, Journal, Mailbox, MailboxError, NewRequest, Received, RefusedMessage,
    RefusedReason, RuntimeError, SessionUser, StepResult,
};
use orchestrion_scenario::SourceText;
use output::Output;
pub use output::{STALL_MAX, Unread, WAITING_BYTES_MAX};
use pipe::Pipe;
use protocol::ToHost;
use std::future::poll_fn;
use std::io::{BufRead, Write};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;

/// The reason why [`serve`] returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// All listed requests ended, or the host closed the conversation. The trace is complete.
    Closed,
    /// The host disconnected. Contains the pending calls. The conversation can be resumed.
    HostDisconnected(Vec<String>),
    /// The kernel refuses every next input.
    Halted(Refusal),
}

/// The end of [`serve`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Why it returned.
    pub reason: ExitReason,
    /// What the host did not read. Calls among it exceeded their deadlines, if these passed before the end.
    pub unread: Option<Unread>,
}

/// The source of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requests {
    /// These requests. The conversation is closed after the last one.
    Listed(Vec<Request>),
    /// The host sends requests.
    Host,
}

/// A request with the writes that follow its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The user, with the identity of a session that the request starts.
    pub user: SessionUser,
    /// The text of the request, and its scope.
    pub request: NewRequest,
    /// The writes. The host receives their refusals.
    pub writes: Vec<knowledge::Write>,
    /// The texts from which writes are derived after these writes.
    pub texts: Vec<SourceText>,
}

/// A request to run, with the line of the host that sent it; 0 for a listed one.
struct NextRequest {
    line: u64,
    request: Request,
}

/// Runs a conversation with a host until all requests ended, the host closes the conversation, or the host disconnects. A
/// conversation without a network gets this one first.
///
/// A host that does not read delays no deadline, cancel or end of input. At most [`WAITING_BYTES_MAX`] wait for it; then it is disconnected.
/// At the end it has [`STALL_MAX`] to read a further part.
///
/// # Errors
/// [`RuntimeError`].
pub fn serve<J: Journal>(
    conversation: Conversation<J>,
    network: Option<NetworkInput>,
    requests: Requests,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<Served, RuntimeError> {
    let clock = Clock::real();
    let has_requests = requests == Requests::Host;
    let (disconnects, disconnected) = mpsc::channel(1);
    let on_disconnect = move || {
        // Fails if the conversation has ended.
        let _ = disconnects.clone().try_send(());
    };
    let on_end = on_disconnect.clone();
    let output = Arc::new(Output::new(output, on_disconnect));
    let (pipe, mut messages, closes) =
        Pipe::open(&output, None, conversation.mailbox(), clock.clone(), has_requests);
    // Before the first line is read, because an answer to it may follow at once.
    pipe.send(&ToHost::opened(&conversation));
    thread::spawn(move || {
        lines::read_lines(input, |line| messages.handle_line(line));
        on_end();
    });
    let events = HostEvents { closes, disconnected };
    let end = clock.block_on(run_to_closed(conversation, network, requests, &pipe, events));
    let unread = output.finish();
    // A deadlock is only detected in simulated time.
    let reason = end.unwrap_or_else(|_| Ok(ExitReason::HostDisconnected(Vec::new())))?;
    Ok(Served { reason, unread })
}

/// Runs a conversation as [`serve`] does, over any connection.
///
/// # Errors
/// [`RuntimeError`].
pub async fn converse<J: Journal>(
    conversation: Conversation<J>,
    network: Option<NetworkInput>,
    requests: Requests,
    pipe: &impl Connection,
    events: HostEvents,
) -> Result<ExitReason, RuntimeError> {
    pipe.send(&ToHost::opened(&conversation));
    run_to_closed(conversation, network, requests, pipe, events).await
}

/// Runs an open conversation, and reports to the host that it is closed.
async fn run_to_closed<J: Journal>(
    conversation: Conversation<J>,
    network: Option<NetworkInput>,
    requests: Requests,
    pipe: &impl Connection,
    events: HostEvents,
) -> Result<ExitReason, RuntimeError> {
    let exit = run_to_end(conversation, network, requests, pipe, events).await?;
    if exit == ExitReason::Closed {
        pipe.send(&ToHost::Closed);
    }
    Ok(exit)
}

/// Runs an open conversation. The host does not know yet that it is closed.
async fn run_to_end<J: Journal>(
    mut conversation: Conversation<J>,
    network: Option<NetworkInput>,
    requests: Requests,
    pipe: &impl Connection,
    HostEvents { mut closes, mut disconnected }: HostEvents,
) -> Result<ExitReason, RuntimeError> {
    if let Some(network) = network.filter(|_| conversation.state().network().is_none())
        && let StepResult::Refused(refusal) | StepResult::Halted(refusal) =
            conversation.run(pipe)?.submit(&Input::Network(Box::new(network)))?
    {
        pipe.send(&ToHost::Halted { reason: refusal.to_string() });
        return Ok(ExitReason::Halted(refusal));
    }
    let exit = {
        let commit = conversation.commit_status();
        let run = pin!(run_requests(&mut conversation, pipe, requests, &mut closes));
        match select(run, disconnected.next()).await {
            Either::Left((exit, _)) => Some(exit?),
            // The last messages of the host may still be queued.
            Either::Right((_, run)) => run_without_host(run, &commit).await.transpose()?,
        }
    };
    let Some(exit) = exit else {
        conversation.run(pipe)?.commit().await?;
        let pending = conversation.state().control().pending_calls().iter();
        let names = pending.map(|call| format!("call {} ({})", call.id, call.operation.expected_reply()));
        return Ok(ExitReason::HostDisconnected(names.collect()));
    };
    if exit == ExitReason::Closed {
        conversation.close().await?;
    }
    Ok(exit)
}

/// Runs until only the host could continue, and not while a commit runs. Returns the result if it ends before.
async fn run_without_host<F: Future + Unpin>(mut run: F, commit: &CommitStatus) -> Option<F::Output> {
    poll_fn(|context| match run.poll_unpin(context) {
        Poll::Ready(end) => Poll::Ready(Some(end)),
        Poll::Pending if commit.is_running() => Poll::Pending,
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Runs all requests in order, after the interrupted one.
async fn run_requests<J: Journal>(
    conversation: &mut Conversation<J>,
    pipe: &impl Connection,
    requests: Requests,
    closes: &mut mpsc::Receiver<()>,
) -> Result<ExitReason, RuntimeError> {
    let mut listed = match requests {
        Requests::Listed(requests) => {
            let started = conversation.state().control().next_request().number().saturating_sub(1);
            Some(requests.into_iter().skip(usize::try_from(started).unwrap_or(usize::MAX)))
        }
        Requests::Host => None,
    };
    let (mut halted, mut is_closing) = (None, false);
    if conversation.is_unfinished() {
        halted = run_request(conversation, pipe, None).await?;
    }
    while halted.is_none() {
        let next = match &mut listed {
            Some(requests) => requests.next().map(|request| NextRequest { line: 0, request }),
            None => next_request(conversation, pipe, closes, &mut is_closing).await?,
        };
        let Some(request) = next else { return Ok(ExitReason::Closed) };
        halted = run_request(conversation, pipe, Some(request)).await?;
    }
    Ok(halted.map_or(ExitReason::Closed, ExitReason::Halted))
}

/// Waits for the next request of the host; its other inputs are submitted. Returns `None` if the host closes the conversation. Requests
/// before that message run first.
async fn next_request<J: Journal>(
    conversation: &mut Conversation<J>,
    pipe: &impl Connection,
    closes: &mut mpsc::Receiver<()>,
    is_closing: &mut bool,
) -> Result<Option<NextRequest>, RuntimeError> {
    let mut driver = conversation.run(pipe)?;
    loop {
        let received = if *is_closing {
            // The inputs before the message.
            match driver.try_receive()? {
                Some(received) => received,
                None => {
                    driver.submit_waiting()?;
                    report_refused(pipe, &driver.take_refused());
                    return driver.commit().await.map(|()| None);
                }
            }
        } else {
            match select(pin!(driver.receive()), closes.next()).await {
                Either::Left((received, _)) => received?,
                Either::Right((Some(()), _)) => {
                    *is_closing = true;
                    continue;
                }
                // The host disconnected, which `serve` notices.
                Either::Right((None, receive)) => receive.await?,
            }
        };
        match received {
            Received::Request { user, request, sequence } => {
                let request = Request { user, request, writes: Vec::new(), texts: Vec::new() };
                return Ok(Some(NextRequest { line: sequence.unwrap_or(0), request }));
            }
            Received::Input(result) => {
                report_step(pipe, &driver.take_refused(), &result);
            }
            Received::NotTaken { sequence, error } => {
                let line = sequence.unwrap_or(0);
                pipe.send(&ToHost::ParseFailed { line, call: None, reason: error.to_string() });
            }
        }
    }
}

/// Sends the refusals of messages.
fn report_refused(pipe: &impl Connection, refused: &[RefusedMessage]) {
    for RefusedMessage { sequence, reason } in refused {
        let (line, text) = (*sequence, reason.to_string());
        pipe.send(&match reason {
            RefusedReason::Kernel(_) | RefusedReason::Denied(_) => ToHost::Refused { line, reason: text },
            RefusedReason::ReplyTooLarge(call, _) => {
                ToHost::ParseFailed { line, call: Some(*call), reason: text }
            }
        });
    }
}

/// Sends the refusals since the last step.
fn report_step(pipe: &impl Connection, refused: &[RefusedMessage], result: &StepResult) {
    report_refused(pipe, refused);
    if let StepResult::Refused(refusal) = result
        && refused.is_empty()
    {
        pipe.send(&ToHost::Refused { line: 0, reason: refusal.to_string() });
    }
}

/// Sends a text from which writes are derived. A refused write is reported for this line.
fn ingest(mailbox: &mut Mailbox, text: SourceText, line: u64) -> Result<(), MailboxError> {
    let source = text.text.clone();
    let derive = move |policy: &Policy, state: &State| orchestrion_scenario::ingest(policy, state, &text);
    mailbox.ingest(&source, Box::new(derive), Some(line))
}

/// Runs a new request, or resumes the interrupted one if `next` is `None`. Returns the refusal if the conversation halts.
async fn run_request<J: Journal>(
    conversation: &mut Conversation<J>,
    pipe: &impl Connection,
    next: Option<NextRequest>,
) -> Result<Option<Refusal>, RuntimeError> {
    let mut mailbox = conversation.mailbox();
    let mut driver = conversation.run(pipe)?;
    let (mut result, writes, texts) = match next {
        Some(NextRequest { line, request: Request { user, request, writes, texts } }) => {
            match driver.start_received(&user, request) {
                Err(RuntimeError::RepeatedKey(_)) => return driver.commit().await.map(|()| None),
                Err(RuntimeError::InputTooLarge(error)) if pipe.has_requests() => {
                    pipe.send(&ToHost::ParseFailed { line, call: None, reason: error.to_string() });
                    return Ok(None);
                }
                // The request did not start, for example because of the rank of the identity or the scope.
                Ok(StepResult::Refused(refusal)) if driver.state().control().request().is_none() => {
                    driver.commit().await?;
                    pipe.send(&ToHost::Refused { line, reason: refusal.to_string() });
                    // The session may have started, with the writes that waited for it.
                    report_refused(pipe, &driver.take_refused());
                    return Ok(None);
                }
                started => (started?, writes, texts),
            }
        }
        None => (driver.resume()?, Vec::new(), Vec::new()),
    };
    for write in writes {
        if let StepResult::Refused(refusal) | StepResult::Halted(refusal) =
            driver.submit(&Input::Write(Box::new(write)))?
        {
            pipe.send(&ToHost::Refused { line: 0, reason: refusal.to_string() });
        }
    }
    for text in texts {
        if let Err(error) = ingest(&mut mailbox, text, 0) {
            pipe.send(&ToHost::Refused { line: 0, reason: error.to_string() });
        }
    }
    loop {
        report_step(pipe, &driver.take_refused(), &result);
        if let StepResult::Halted(refusal) = result {
            driver.commit().await?;
            pipe.send(&ToHost::Halted { reason: refusal.to_string() });
            return Ok(Some(refusal));
        }
        if driver.state().control().phase().is_quiescent() {
            break;
        }
        result = driver.step().await?;
    }
    driver.commit().await?;
    drop(driver);
    if let Some(result) = conversation.last_result() {
        pipe.send(&ToHost::final_answer(result));
    }
    Ok(None)
}
