//! Conversations with hosts in other languages: calls go out as lines of JSON, and answers come in the same way.
//!
//! [`protocol`] says what the lines are. Deliberately absent: anything that decides; what comes in is an input of the
//! conversation like any other, and may be refused.

mod pipe;
pub mod protocol;

use futures_util::future::{Either, select};
use futures_util::{FutureExt, StreamExt};
use orchestrion_kernel::{Input, Refusal, Text, UserId, knowledge};
use orchestrion_runtime::{Clock, Conversation, Journal, RefusedMessage, RuntimeError, StepResult};
use pipe::{Pipe, RequestReceiver};
use protocol::ToHost;
use std::io::{BufRead, Write};
use std::pin::pin;

/// How a conversation over standard input and output stands when it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// Everything was asked, or the host closed it: its trace is whole.
    Closed,
    /// The host has gone; the conversation can be gone on with. The call that was waited for, if one was.
    HostDisconnected(Option<String>),
    /// Nothing leads on.
    Halted(Refusal),
}

/// Where requests come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requests {
    /// They are known, and the conversation is closed after the last of them.
    Known(Vec<Request>),
    /// The host sends them.
    Host,
}

/// A request, and what is written by name as it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who asks.
    pub user: UserId,
    /// What is asked.
    pub says: Text,
    /// What is written. The host is told what of it is refused.
    pub writes: Vec<knowledge::Write>,
}

/// Drives a conversation with the host at the other end of `input` and `output`, until nothing is left to ask, the host
/// closes it, or it goes.
///
/// # Errors
/// [`DriveError`].
pub fn serve<J: Journal>(
    mut conversation: Conversation<J>,
    requests: Requests,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<ExitReason, RuntimeError> {
    let clock = Clock::real();
    let host_asks = requests == Requests::Host;
    // The host may ask at once: what it says is heard before anything else is done here.
    let busy = !host_asks || conversation.is_unfinished();
    let (pipe, mut heard, mut gone) =
        Pipe::open(input, output, conversation.mailbox(), clock.clone(), host_asks, busy);
    pipe.tell(&ToHost::opened(&conversation));
    let left = {
        let talk = pin!(run_requests(&mut conversation, &pipe, requests, &mut heard));
        match clock.block_on(select(talk, gone.next())) {
            Ok(Either::Left((left, _))) => Some(left?),
            // What it said last may still be on its way.
            Ok(Either::Right((_, talk))) => talk.now_or_never().transpose()?,
            // In real time nothing is ever stuck.
            Err(_) => None,
        }
    };
    let Some(left) = left else {
        clock.block_on(conversation.commit()).ok().transpose()?;
        let waiting = conversation.state().control.pending_call();
        return Ok(ExitReason::HostDisconnected(
            waiting.map(|call| format!("call {} ({})", call.id, call.operation.expected_reply())),
        ));
    };
    if left == ExitReason::Closed {
        clock.block_on(conversation.close()).ok().transpose()?;
        pipe.tell(&ToHost::Closed);
    }
    Ok(left)
}

/// Asks whatever is to be asked, one request after the other.
async fn run_requests<J: Journal, W: Write + Send + 'static>(
    conversation: &mut Conversation<J>,
    pipe: &Pipe<W>,
    requests: Requests,
    heard: &mut RequestReceiver,
) -> Result<ExitReason, RuntimeError> {
    let mut known = match requests {
        Requests::Known(requests) => {
            let begun = conversation.state().control.next_request().number().saturating_sub(1);
            Some(requests.into_iter().skip(usize::try_from(begun).unwrap_or(usize::MAX)))
        }
        Requests::Host => None,
    };
    let mut halted = None;
    if conversation.is_unfinished() {
        halted = drive(conversation, pipe, None).await?;
    }
    while halted.is_none() {
        let next = match &mut known {
            Some(requests) => requests.next(),
            None => heard.next().await.map(|(user, says)| Request { user, says, writes: Vec::new() }),
        };
        let Some(request) = next else { return Ok(ExitReason::Closed) };
        halted = drive(conversation, pipe, Some(request)).await?;
    }
    Ok(halted.map_or(ExitReason::Closed, ExitReason::Halted))
}

/// Drives a request to its end, a new one or the unfinished one. Gives the refusal with which nothing leads on, if so.
async fn drive<J: Journal, W: Write + Send + 'static>(
    conversation: &mut Conversation<J>,
    pipe: &Pipe<W>,
    request: Option<Request>,
) -> Result<Option<Refusal>, RuntimeError> {
    let mut running = conversation.run(pipe)?;
    let (mut turn, writes) = match request {
        Some(Request { user, says, writes }) => match running.start_request(&user, says) {
            Err(RuntimeError::TooLong(why)) if pipe.host_asks() => {
                pipe.idle();
                pipe.tell(&ToHost::ParseFailed { line: 0, call: None, why: why.to_string() });
                return Ok(None);
            }
            begun => (begun?, writes),
        },
        None => (running.resume()?, Vec::new()),
    };
    for write in writes {
        if let StepResult::Refused(why) | StepResult::Halted(why) =
            running.submit(&Input::Write(Box::new(write)))?
        {
            pipe.tell(&ToHost::Refused { line: 0, why: why.to_string() });
        }
    }
    loop {
        let refused = running.refused();
        let is_told = !refused.is_empty();
        for RefusedMessage { number, why } in refused {
            pipe.tell(&ToHost::Refused { line: number, why: why.to_string() });
        }
        match turn {
            StepResult::Halted(refusal) => {
                drop(running);
                conversation.commit().await?;
                pipe.tell(&ToHost::Halted { why: refusal.to_string() });
                return Ok(Some(refusal));
            }
            StepResult::Refused(refusal) if !is_told => {
                pipe.tell(&ToHost::Refused { line: 0, why: refusal.to_string() });
            }
            StepResult::Refused(_) | StepResult::Accepted => {}
        }
        if running.state().control.phase().is_quiescent() {
            break;
        }
        turn = running.step().await?;
    }
    drop(running);
    conversation.commit().await?;
    pipe.idle();
    if let Some(answered) = conversation.last_result() {
        pipe.tell(&ToHost::answered(answered));
    }
    Ok(None)
}
