//! Reading timelines line by line, in memory that does not grow with the file. A line that is none is named, and the next
//! one is read.

use super::answers::{Answer, Answers};
use super::fault::{Fault, FaultKind};
use super::timeline::{At, Event, Initial, Timeline, Turn, Write};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::{BufRead, Read};

/// A line longer than this is no timeline; the longest known one has 12 kB.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One line: what a builder of contexts may see, and what it may not.
#[derive(Clone, Debug)]
pub struct Case {
    /// The line, from 1.
    pub line: u64,
    /// What happened.
    pub timeline: Timeline,
    /// What would have been right.
    pub answers: Answers,
    /// Events that could not be read.
    pub faults: Vec<Fault>,
}

/// Reads the timelines of a file.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    file: String,
    line: u64,
    buffer: Vec<u8>,
    is_over: bool,
}

#[derive(Deserialize)]
struct RawCase<'a> {
    id: String,
    track: String,
    initial_state: Initial,
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum EventType {
    ConversationTurn,
    StateWrite,
    Supersession,
    Query,
}

#[derive(Deserialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: EventType,
}

#[derive(Deserialize)]
struct RawWrites {
    ts: At,
    writes: Vec<Write>,
}

#[derive(Deserialize)]
struct RawQuery {
    ts: At,
    prompt: String,
    ground_truth: RawAnswer,
}

#[derive(Deserialize)]
struct RawAnswer {
    must_mention: Vec<String>,
    must_not_mention: Vec<String>,
}

impl<R: BufRead> Reader<R> {
    /// Reads from here; faults name this file.
    pub fn new(input: R, file: &str) -> Self {
        Self { input, file: file.to_string(), line: 0, buffer: Vec::new(), is_over: false }
    }

    fn fault(&self, kind: FaultKind) -> Fault {
        Fault { file: self.file.clone(), line: self.line, kind }
    }

    /// Reads the next line into the buffer, and says whether there is one.
    fn advance(&mut self) -> Result<bool, FaultKind> {
        let io = |error: std::io::Error| FaultKind::Io(error.to_string());
        self.buffer.clear();
        self.line += 1;
        let most = LINE_BYTES_MAX as u64 + 1;
        let read = self.input.by_ref().take(most).read_until(b'\n', &mut self.buffer).map_err(io)?;
        if self.buffer.pop_if(|byte| *byte == b'\n').is_none() && self.buffer.len() > LINE_BYTES_MAX {
            self.buffer.clear();
            self.input.skip_until(b'\n').map_err(io)?;
            return Err(FaultKind::TooLong { most: LINE_BYTES_MAX });
        }
        Ok(read > 0)
    }

    fn case(&self) -> Result<Case, FaultKind> {
        let text = std::str::from_utf8(&self.buffer)
            .map_err(|error| FaultKind::NotText { byte: error.valid_up_to() + 1 })?;
        let raw: RawCase<'_> =
            serde_json::from_str(text).map_err(|error| FaultKind::NotATimeline(error.to_string()))?;
        let mut timeline = Timeline { initial: raw.initial_state, events: Vec::new() };
        let mut answers = Answers { id: raw.id, track: raw.track, queries: Vec::new() };
        let mut faults = Vec::new();
        for (n, raw) in raw.events.iter().enumerate() {
            match event(raw.get()) {
                Ok((event, answer)) => {
                    timeline.events.push(event);
                    answers.queries.extend(answer);
                }
                Err(why) => faults.push(self.fault(FaultKind::NotAnEvent { event: n + 1, why })),
            }
        }
        Ok(Case { line: self.line, timeline, answers, faults })
    }
}

/// An event, and apart from it what would have been right.
fn event(text: &str) -> Result<(Event, Option<Answer>), String> {
    let why = |error: serde_json::Error| error.to_string();
    let Typed { kind } = serde_json::from_str(text).map_err(why)?;
    Ok(match kind {
        EventType::ConversationTurn => (Event::Turn(serde_json::from_str::<Turn>(text).map_err(why)?), None),
        EventType::StateWrite | EventType::Supersession => {
            let RawWrites { ts, writes } = serde_json::from_str(text).map_err(why)?;
            (Event::Writes { at: ts, writes }, None)
        }
        EventType::Query => {
            let RawQuery { ts, prompt, ground_truth } = serde_json::from_str(text).map_err(why)?;
            let answer = Answer::new(ground_truth.must_mention, ground_truth.must_not_mention)?;
            (Event::Query { at: ts, prompt }, Some(answer))
        }
    })
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Case, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.is_over {
                return None;
            }
            let case = match self.advance() {
                Ok(false) => return None,
                Ok(true) if self.buffer.iter().all(u8::is_ascii_whitespace) => continue,
                Ok(true) => self.case(),
                Err(kind) => {
                    self.is_over = matches!(kind, FaultKind::Io(_));
                    Err(kind)
                }
            };
            return Some(case.map_err(|kind| self.fault(kind)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statebench::tests::{line, query};
    use serde_json::json;

    fn read(bytes: &[u8]) -> Vec<Result<Case, Fault>> {
        Reader::new(bytes, "some.jsonl").collect()
    }

    fn faults(bytes: &[u8]) -> Vec<String> {
        read(bytes).into_iter().filter_map(|case| Some(case.err()?.to_string())).collect()
    }

    #[test]
    fn a_line_is_parted_into_what_happened_and_the_answers() {
        let text =
            line(&json!([{"ts": "2025-01-01T10:00:00", "type": "conversation_turn", "speaker": "user",
            "text": "Hello"}, query("What?", &["red"], &["green"])]));
        let cases = read(text.as_bytes());
        let case = cases[0].as_ref().unwrap();
        assert_eq!((case.line, case.timeline.events.len(), case.faults.len()), (1, 2, 0));
        assert!(!format!("{:?}", case.timeline).contains("green"), "no answer is handed on");
        assert_eq!(case.answers.judge(["all green"])[0].resurrected, ["green"]);
    }

    #[test]
    fn lines_that_are_none_are_named_and_the_next_is_read() {
        let good = line(&json!([]));
        let mut bytes = good.clone().into_bytes();
        bytes.extend(b"{\"id\":\n\n\"\xff\"\n");
        bytes.extend(good.as_bytes());
        let cases = read(&bytes);
        assert_eq!(cases.iter().filter(|case| case.is_ok()).count(), 2);
        assert_eq!(cases.last().unwrap().as_ref().unwrap().line, 5, "an empty line counts");
        let faults = faults(&bytes);
        assert!(faults[0].starts_with("some.jsonl:2: no timeline: EOF while parsing"), "{faults:?}");
        assert_eq!(
            faults[1],
            "some.jsonl:4: byte 2 of the line is not UTF-8; expected JSON. The line is left out"
        );
    }

    #[test]
    fn a_line_of_100_megabytes_is_named_and_the_next_is_read() {
        let good = line(&json!([]));
        let long = std::io::repeat(b'x').take(100_000_000);
        let input = std::io::BufReader::new(long.chain(&b"\n"[..]).chain(good.as_bytes()));
        let mut reader = Reader::new(input, "some.jsonl");
        let fault = reader.next().unwrap().unwrap_err();
        assert_eq!((fault.line, &fault.kind), (1, &FaultKind::TooLong { most: LINE_BYTES_MAX }));
        assert_eq!(reader.next().unwrap().unwrap().line, 2);
        assert!(reader.next().is_none());
        assert!(reader.buffer.capacity() <= 3 * LINE_BYTES_MAX, "it was never held whole");
    }

    #[test]
    fn an_event_that_is_none_is_named_and_the_others_are_kept() {
        let mut shout = query("What?", &[], &[]);
        shout["type"] = "shout".into();
        let mut odd = query("What?", &["regex:["], &[]);
        odd["prompt"] = "Odd".into();
        let text = line(&json!([shout, odd, query("And?", &[], &[])]));
        let cases = read(text.as_bytes());
        let case = cases[0].as_ref().unwrap();
        assert_eq!(case.timeline.events.len(), 1);
        let told: Vec<_> = case.faults.iter().map(ToString::to_string).collect();
        assert!(told[0].starts_with("some.jsonl:1: event 1 is none: unknown variant `shout`"), "{told:?}");
        assert!(told[1].starts_with("some.jsonl:1: event 2 is none: the phrase `regex:[`"), "{told:?}");
    }

    #[test]
    fn odd_but_legal_lines_are_read() {
        let text = line(&json!([])).replace('\n', "\r\n");
        assert!(read(text.as_bytes())[0].is_ok(), "a line may end as on other systems");
        let text = line(&json!([query("Later", &["a"], &["a"]), query("Earlier", &[], &[])]));
        assert!(read(text.trim_end().as_bytes())[0].is_ok(), "the last line may lack its end");
    }
}
