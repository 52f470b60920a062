//! Conversations with hosts in other languages: calls go out as lines of JSON, and answers come in the same way.
//!
//! [`protocol`] says what the lines are. Deliberately absent: anything that decides; what comes in is an input of the
//! conversation like any other, and may be refused.

mod pipe;
pub mod protocol;

use crate::drive::{Clock, Conversation, DriveError, Journal, Refused, Turn};
use futures_util::future::{Either, select};
use futures_util::{FutureExt, StreamExt};
use orchestrion_kernel::{Input, Refusal, Text, UserId, knowledge};
use pipe::{Pipe, Requested};
use protocol::Told;
use std::io::{BufRead, Write};
use std::pin::pin;

/// How a conversation over standard input and output stands when it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// Everything was asked, or the host closed it: its trace is whole.
    Closed,
    /// The host has gone; the conversation can be gone on with. The call that was waited for, if one was.
    Gone(Option<String>),
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
pub fn converse<J: Journal>(
    mut conversation: Conversation<J>,
    requests: Requests,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<Left, DriveError> {
    let clock = Clock::real();
    let host_asks = requests == Requests::Host;
    // The host may ask at once: what it says is heard before anything else is done here.
    let busy = !host_asks || conversation.is_unfinished();
    let (pipe, mut heard, mut gone) =
        Pipe::open(input, output, conversation.mailbox(), clock.clone(), host_asks, busy);
    pipe.tell(&Told::opened(&conversation));
    let left = {
        let talk = pin!(talk(&mut conversation, &pipe, requests, &mut heard));
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
        let waiting = conversation.state().control.waiting();
        return Ok(Left::Gone(waiting.map(|call| format!("call {} ({})", call.id, call.ask.expected()))));
    };
    if left == Left::Closed {
        clock.block_on(conversation.close()).ok().transpose()?;
        pipe.tell(&Told::Closed);
    }
    Ok(left)
}

/// Asks whatever is to be asked, one request after the other.
async fn talk<J: Journal, W: Write + Send + 'static>(
    conversation: &mut Conversation<J>,
    pipe: &Pipe<W>,
    requests: Requests,
    heard: &mut Requested,
) -> Result<Left, DriveError> {
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
        let Some(request) = next else { return Ok(Left::Closed) };
        halted = drive(conversation, pipe, Some(request)).await?;
    }
    Ok(halted.map_or(Left::Closed, Left::Halted))
}

/// Drives a request to its end, a new one or the unfinished one. Gives the refusal with which nothing leads on, if so.
async fn drive<J: Journal, W: Write + Send + 'static>(
    conversation: &mut Conversation<J>,
    pipe: &Pipe<W>,
    request: Option<Request>,
) -> Result<Option<Refusal>, DriveError> {
    let mut running = conversation.run(pipe)?;
    let (mut turn, writes) = match request {
        Some(Request { user, says, writes }) => match running.begin(&user, says) {
            Err(DriveError::TooLong(why)) if pipe.host_asks() => {
                pipe.idle();
                pipe.tell(&Told::NotUnderstood { line: 0, call: None, why: why.to_string() });
                return Ok(None);
            }
            begun => (begun?, writes),
        },
        None => (running.back()?, Vec::new()),
    };
    for write in writes {
        if let Turn::Refused(why) | Turn::Halted(why) = running.submit(&Input::Write(Box::new(write)))? {
            pipe.tell(&Told::Refused { line: 0, why: why.to_string() });
        }
    }
    loop {
        let refused = running.refused();
        let is_told = !refused.is_empty();
        for Refused { number, why } in refused {
            pipe.tell(&Told::Refused { line: number, why: why.to_string() });
        }
        match turn {
            Turn::Halted(refusal) => {
                drop(running);
                conversation.commit().await?;
                pipe.tell(&Told::Halted { why: refusal.to_string() });
                return Ok(Some(refusal));
            }
            Turn::Refused(refusal) if !is_told => {
                pipe.tell(&Told::Refused { line: 0, why: refusal.to_string() });
            }
            Turn::Refused(_) | Turn::Taken => {}
        }
        if running.state().control.phase().is_rest() {
            break;
        }
        turn = running.turn().await?;
    }
    drop(running);
    conversation.commit().await?;
    pipe.idle();
    if let Some(answered) = conversation.last_answer() {
        pipe.tell(&Told::answered(answered));
    }
    Ok(None)
}
