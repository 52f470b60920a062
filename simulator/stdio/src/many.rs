//! Many conversations with one host, over one pipe.
//!
//! Each conversation has a journal of its own, and a defect of one ends no other. One thread decides for all of them; others read and
//! write the pipe, open journals, and sync.

use crate::connection::{Connection, HostEvents};
use crate::host_messages::{HostMessages, INCOMPLETE_LINE, describe};
use crate::lines::{Line, read_lines};
use crate::output::{Output, Unread};
use crate::pipe::Pipe;
use crate::protocol::{ConversationMessage, FromHostOfMany, OpenMessage, ToHost, ToHostOfMany};
use crate::{ExitReason, Requests, run_to_end};
use futures_channel::mpsc as async_mpsc;
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use orchestrion_runtime::{Clock, Conversation, Journal, RuntimeError, lock_ignoring_poison};
use std::collections::BTreeMap;
use std::future::pending;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

/// The maximum number of conversations that are open at the same time.
pub const CONVERSATIONS_MAX: usize = 10_000;

/// The maximum length of a conversation's name.
pub const NAME_BYTES_MAX: usize = 128;

/// The end of [`serve_many`].
#[derive(Debug)]
pub struct ServedMany {
    /// The conversations that the host closed.
    pub closed: usize,
    /// The conversations whose kernel refuses every next input, with the refusal.
    pub halted: Vec<(String, String)>,
    /// The conversations whose journal failed, with the error.
    pub failed: Vec<(String, RuntimeError)>,
    /// The open conversations of a host that disconnected, each with its pending calls. They can be opened again.
    pub disconnected: Vec<(String, Vec<String>)>,
    /// What the host did not read.
    pub unread: Option<Unread>,
}

/// Runs the conversations that the host opens, until it disconnects and each of them has ended. `open` opens the journal of a name, which
/// is valid as the name of a file, and gets the largest step that the host stored, if it sent one.
///
/// A host that does not read delays nothing, as for [`serve`](crate::serve).
pub fn serve_many<J, O>(
    open: O,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> ServedMany
where
    J: Journal + 'static,
    O: Fn(&str, Option<u64>) -> Result<Conversation<J>, String> + Send + 'static,
{
    let (disconnects, disconnected) = async_mpsc::channel(1);
    let conversations = Arc::new(Conversations { state: Mutex::default(), disconnects });
    let ended = Arc::clone(&conversations);
    let output = Arc::new(Output::new(output, move || ended.disconnect()));
    let (opens, opens_receiver) = mpsc::channel();
    let reader = Reader { conversations: Arc::clone(&conversations), output: Arc::clone(&output), opens };
    thread::spawn(move || reader.read(input));
    let clock = Clock::real();
    let (opened, opened_receiver) = async_mpsc::unbounded();
    let opener = Opener {
        open,
        conversations: Arc::clone(&conversations),
        output: Arc::clone(&output),
        clock: clock.clone(),
    };
    // A journal is read at once, which takes long for a long one.
    thread::spawn(move || {
        for OpenMessage { conversation, acknowledged_step } in opens_receiver {
            if let Some(running) = opener.open(conversation, acknowledged_step)
                && opened.unbounded_send(Box::new(running)).is_err()
            {
                return;
            }
        }
    });
    let mut served = ServedMany {
        closed: 0,
        halted: Vec::new(),
        failed: Vec::new(),
        disconnected: Vec::new(),
        unread: None,
    };
    // A deadlock is only detected in simulated time.
    let _never_deadlocked =
        clock.block_on(run_all(opened_receiver, disconnected, &conversations, &output, &mut served));
    served.unread = output.finish();
    served
}

/// A conversation that was opened.
struct Running<J> {
    name: String,
    conversation: Conversation<J>,
    pipe: Pipe,
    events: HostEvents,
}

impl<J: Journal> Running<J> {
    async fn run(self) -> (String, Result<ExitReason, RuntimeError>) {
        let Self { name, conversation, pipe, events } = self;
        let end = run_to_end(conversation, None, Requests::Host, &pipe, events).await;
        (name, end)
    }
}

/// What happens to the conversations of a process.
enum Event<J> {
    Opened(Option<Box<Running<J>>>),
    Disconnected,
    Ended(Option<(String, Result<ExitReason, RuntimeError>)>),
}

/// Runs conversations until no further one is opened and all have ended.
async fn run_all<J: Journal>(
    mut opened: async_mpsc::UnboundedReceiver<Box<Running<J>>>,
    mut disconnected: async_mpsc::Receiver<()>,
    conversations: &Conversations,
    output: &Output,
    served: &mut ServedMany,
) {
    let mut running = FuturesUnordered::new();
    let mut is_opening = true;
    while is_opening || !running.is_empty() {
        // An empty set of futures yields at once.
        let ended = async {
            match running.is_empty() {
                true => pending().await,
                false => running.next().await,
            }
        };
        let next = async {
            match is_opening {
                true => match select(opened.next(), disconnected.next()).await {
                    Either::Left((next, _)) => Event::Opened(next),
                    Either::Right(_) => Event::Disconnected,
                },
                false => pending().await,
            }
        };
        let event = match select(pin!(next), pin!(ended)).await {
            Either::Left((event, _)) => event,
            Either::Right((ended, _)) => Event::Ended(ended),
        };
        match event {
            Event::Opened(Some(next)) => running.push(next.run()),
            Event::Opened(None) => is_opening = false,
            // The host may keep its standard input open. What is open by now still runs, to its end.
            Event::Disconnected => opened.close(),
            Event::Ended(None) => {}
            Event::Ended(Some((name, end))) => {
                // Before the host knows it: it may open the conversation again.
                conversations.remove(&name);
                served.add(name, end, output);
            }
        }
    }
}

impl ServedMany {
    fn add(&mut self, name: String, end: Result<ExitReason, RuntimeError>, output: &Output) {
        match end {
            Ok(ExitReason::Closed) => {
                self.closed += 1;
                output.send(&ToHostOfMany::Message { conversation: &name, content: &ToHost::Closed });
            }
            Ok(ExitReason::Halted(refusal)) => self.halted.push((name, refusal.to_string())),
            Ok(ExitReason::HostDisconnected(pending)) => self.disconnected.push((name, pending)),
            Err(error) => {
                output.send(&ToHostOfMany::Failed { conversation: &name, reason: error.to_string() });
                self.failed.push((name, error));
            }
        }
    }
}

/// The conversations that are open or being opened.
#[derive(Debug)]
struct Conversations {
    state: Mutex<ConversationsState>,
    /// Reports that the host disconnected.
    disconnects: async_mpsc::Sender<()>,
}

#[derive(Debug, Default)]
struct ConversationsState {
    entries: BTreeMap<String, Entry>,
    /// Whether the host disconnected.
    is_ended: bool,
}

#[derive(Debug)]
enum Entry {
    Opening,
    Open { messages: Arc<Mutex<HostMessages>>, disconnects: async_mpsc::Sender<()> },
}

impl Conversations {
    /// Reserves the name of a conversation that is opened next.
    fn reserve(&self, name: &str) -> Result<(), String> {
        check_name(name)?;
        let mut state = lock_ignoring_poison(&self.state);
        if state.entries.contains_key(name) {
            return Err("already open: expected a conversation that is not open".to_owned());
        }
        if state.entries.len() >= CONVERSATIONS_MAX {
            return Err(format!(
                "too many conversations: expected at most {CONVERSATIONS_MAX} at the same time; close one first"
            ));
        }
        state.entries.insert(name.to_owned(), Entry::Opening);
        Ok(())
    }

    /// From now on the conversation receives messages, which wait until `send_opened` has reported it to the host.
    fn insert(
        &self,
        name: &str,
        messages: HostMessages,
        mut disconnects: async_mpsc::Sender<()>,
        send_opened: impl FnOnce(),
    ) {
        let mut state = lock_ignoring_poison(&self.state);
        if state.is_ended {
            // Nothing was sent before.
            let _ = disconnects.try_send(());
        }
        let messages = Arc::new(Mutex::new(messages));
        // No answer to a message precedes `opened`.
        let waiting = lock_ignoring_poison(&messages);
        let entry = Entry::Open { messages: Arc::clone(&messages), disconnects };
        state.entries.insert(name.to_owned(), entry);
        drop(state);
        send_opened();
        drop(waiting);
    }

    fn remove(&self, name: &str) {
        lock_ignoring_poison(&self.state).entries.remove(name);
    }

    /// Opens no further conversation, and reports to every open one that the host disconnected.
    fn disconnect(&self) {
        // Fails if all conversations have ended.
        let _ = self.disconnects.clone().try_send(());
        self.end_input();
    }

    /// Reports to every conversation, also to those that are being opened, that no further message arrives.
    fn end_input(&self) {
        let mut state = lock_ignoring_poison(&self.state);
        state.is_ended = true;
        for entry in state.entries.values_mut() {
            if let Entry::Open { disconnects, .. } = entry {
                // Fails if the conversation knows it.
                let _ = disconnects.try_send(());
            }
        }
    }

    /// Passes a message to its conversation.
    fn handle(&self, line: u64, name: &str, content: &str) -> Result<(), String> {
        let messages = match lock_ignoring_poison(&self.state).entries.get(name) {
            Some(Entry::Open { messages, .. }) => Arc::clone(messages),
            Some(Entry::Opening) => {
                return Err(format!("conversation {name} is not open yet: wait for `opened`"));
            }
            None => return Err(format!("conversation {name} is not open: expected `open` first")),
        };
        // Without the lock: an answer for which too much waits disconnects every conversation.
        let content = Line { number: line, content: Ok(content.as_bytes()), is_complete: true };
        lock_ignoring_poison(&messages).handle_line(content);
        Ok(())
    }
}

/// Checks that a name is the name of a file on every system.
fn check_name(name: &str) -> Result<(), String> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_valid) {
        return Ok(());
    }
    Err(format!(
        "invalid name of a conversation: expected 1 to {NAME_BYTES_MAX} ASCII letters, digits, hyphens and underscores"
    ))
}

/// Reads the messages of the host, on a thread of its own.
struct Reader {
    conversations: Arc<Conversations>,
    output: Arc<Output>,
    opens: mpsc::Sender<OpenMessage>,
}

impl Reader {
    fn read(self, input: impl BufRead) {
        read_lines(input, |line| {
            let number = line.number;
            if let Err(reason) = self.handle(line) {
                self.output.send(&ToHostOfMany::ParseFailed { line: number, reason });
            }
        });
        self.conversations.end_input();
    }

    fn handle(&self, Line { number, content, is_complete }: Line<'_>) -> Result<(), String> {
        let line = content?;
        let message = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(_) if !is_complete => return Err(INCOMPLETE_LINE.to_owned()),
            Err(error) => return Err(describe(line, &error, "stdio-many")),
        };
        match message {
            FromHostOfMany::Open(open) => {
                match self.conversations.reserve(&open.conversation) {
                    // The thread that opens journals ends after this one.
                    Ok(()) => drop(self.opens.send(open)),
                    Err(reason) => self
                        .output
                        .send(&ToHostOfMany::OpenFailed { conversation: &open.conversation, reason }),
                }
                Ok(())
            }
            FromHostOfMany::Message(ConversationMessage { conversation, content }) => {
                self.conversations.handle(number, &conversation, content.get())
            }
        }
    }
}

/// Why a conversation is not open after a panic.
const OPEN_PANICKED: &str =
    "the journal cannot be opened: a bug of this program; please report it with the journal";

/// Opens journals, on a thread of its own.
struct Opener<O> {
    open: O,
    conversations: Arc<Conversations>,
    output: Arc<Output>,
    clock: Clock,
}

impl<O> Opener<O> {
    fn open<J: Journal>(&self, name: String, acknowledged_step: Option<u64>) -> Option<Running<J>>
    where
        O: Fn(&str, Option<u64>) -> Result<Conversation<J>, String>,
    {
        // A defect of one conversation ends no other, and a panic would end the thread that opens them.
        let opened = catch_unwind(AssertUnwindSafe(|| (self.open)(&name, acknowledged_step)));
        match opened.unwrap_or_else(|_| Err(OPEN_PANICKED.to_owned())) {
            Ok(conversation) => {
                let (mailbox, clock) = (conversation.mailbox(), self.clock.clone());
                let (pipe, messages, closes) =
                    Pipe::open(&self.output, Some(name.clone()), mailbox, clock, true);
                let (disconnects, disconnected) = async_mpsc::channel(1);
                let send_opened = || pipe.send(&ToHost::opened(&conversation));
                self.conversations.insert(&name, messages, disconnects, send_opened);
                Some(Running { name, conversation, pipe, events: HostEvents { closes, disconnected } })
            }
            Err(reason) => {
                self.conversations.remove(&name);
                self.output.send(&ToHostOfMany::OpenFailed { conversation: &name, reason });
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the host reads.
    #[derive(Clone, Default)]
    struct Received(Arc<Mutex<Vec<u8>>>);

    impl Write for Received {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            lock_ignoring_poison(&self.0).write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    #[allow(clippy::panic, reason = "the test is about a panic")]
    fn panic_while_one_journal_opens_ends_no_other() {
        let open = |name: &str, _| -> Result<Conversation<Vec<u8>>, String> {
            if name == "bad" {
                panic!("a bug");
            }
            Err("refused".to_owned())
        };
        let input = "{\"open\":{\"conversation\":\"bad\"}}\n{\"open\":{\"conversation\":\"other\"}}\n";
        let received = Received::default();
        serve_many(open, input.as_bytes(), received.clone());
        let received = String::from_utf8_lossy(&lock_ignoring_poison(&received.0)).into_owned();
        let reasons: Vec<bool> =
            [OPEN_PANICKED, "refused"].iter().map(|reason| received.contains(reason)).collect();
        assert_eq!((reasons, received.matches("open_failed").count()), (vec![true, true], 2), "{received}");
    }

    #[test]
    fn names_are_names_of_files() {
        for name in ["ada", "Ada-1_b", &"a".repeat(NAME_BYTES_MAX)] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in ["", "..", "a/b", "a\\b", "a.b", "ä", "a b", "a\0", &"a".repeat(NAME_BYTES_MAX + 1)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
