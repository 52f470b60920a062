//! The protocol of a host: the bytes are the lines that it sends.

use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::Conversation;
use orchestrion_stdio::{Requests, serve, serve_many};
use orchestrion_text::StandardContexts;
use orchestrion_trace::Header;
use serde_json::Value;
use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long the host waits for a message after a line. Not every line has an answer.
const ANSWER: Duration = Duration::from_millis(2);

/// The maximum number of lines of a host.
const LINES_MAX: usize = 200;

/// A host that sends one line after each message that it receives.
struct FuzzedHost {
    lines: Vec<Vec<u8>>,
    sent: usize,
    received: Receiver<()>,
}

impl Read for FuzzedHost {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(line) = self.lines.get_mut(self.sent) else {
            // Its last messages are answered before it disconnects.
            while self.received.recv_timeout(ANSWER).is_ok() {}
            return Ok(0);
        };
        let length = buffer.len().min(line.len());
        buffer[..length].copy_from_slice(&line[..length]);
        line.drain(..length);
        if line.is_empty() {
            self.sent += 1;
            let _ = self.received.recv_timeout(ANSWER);
        }
        Ok(length)
    }
}

/// What the conversation writes. Each line is one JSON value.
struct Output {
    line: Vec<u8>,
    received: Sender<()>,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let read = serde_json::from_slice::<Value>(&line);
        assert!(
            read.is_ok_and(|message| message.is_object() || message.is_string()),
            "a message is no line of JSON"
        );
        let _ = self.received.send(());
        Ok(())
    }
}

/// Serves a host that sends these lines and then disconnects: a host of many conversations if its first message opens one.
pub fn stdio(bytes: &[u8]) {
    let lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').take(LINES_MAX).map(<[u8]>::to_vec).collect();
    let (sender, received) = channel();
    let host = BufReader::with_capacity(1 << 12, FuzzedHost { lines, sent: 0, received });
    let output = Output { line: Vec::new(), received: sender };
    if bytes.starts_with(b"{\"open\"") {
        let open = |name: &str, acknowledged: Option<u64>| match acknowledged {
            Some(step) => Err(format!("expected a journal with {step} steps, found none")),
            None => Ok(open(name)),
        };
        let served = serve_many(open, host, output);
        assert!(served.failed.is_empty(), "a host ends a conversation with an error: {served:?}");
    } else if let Err(error) = serve(open("fuzzed"), None, Requests::Host, host, output) {
        panic!("a host ends a conversation with an error: {error}");
    }
}

fn open(name: &str) -> Conversation<Vec<u8>> {
    let header = Header::new(ConversationId::new(name), Policy::hardened(), None).into_journal();
    Conversation::open_with(Vec::new(), &header, &StandardContexts)
        .unwrap_or_else(|error| panic!("an empty journal does not open: {error}"))
}
