//! Reading timelines line by line, in memory that does not grow with the file. A line that is none is named, and the next
//! one is read.

use super::diagnostic::{Diagnostic, DiagnosticKind};
use super::ground_truth::{ExpectedAnswer, GroundTruth};
use super::timeline::{AnyText, At, Event, Identity, Initial, Timeline, or_default};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// A line longer than this is no timeline; the longest known one has 12 kB.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What some systems put at the beginning of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One line: what a builder of contexts may see, and what it may not.
#[derive(Clone, Debug)]
pub struct Case {
    /// The line, from 1.
    pub line: u64,
    /// What happened.
    pub timeline: Timeline,
    /// What would have been right.
    pub answers: GroundTruth,
    /// Parts of it that could not be read.
    pub faults: Vec<Diagnostic>,
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
#[serde(expecting = "an object with id, track, initial_state and events")]
struct RawCase<'a> {
    id: String,
    track: String,
    #[serde(borrow)]
    initial_state: RawInitial<'a>,
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with identity_role, persistent_facts, working_set and environment")]
struct RawInitial<'a> {
    identity_role: Identity,
    #[serde(borrow, default, deserialize_with = "or_default")]
    persistent_facts: Vec<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    working_set: Vec<&'a RawValue>,
    #[serde(default, deserialize_with = "or_default")]
    environment: BTreeMap<String, AnyText>,
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
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
#[serde(expecting = "an object with type and ts")]
struct Typed {
    #[serde(rename = "type")]
    kind: EventType,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with ts and writes")]
struct RawWrites<'a> {
    ts: At,
    #[serde(borrow, deserialize_with = "or_default")]
    writes: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with ts, prompt and ground_truth")]
struct RawQuery {
    ts: At,
    prompt: String,
    ground_truth: RawAnswer,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with must_mention and must_not_mention")]
struct RawAnswer {
    #[serde(deserialize_with = "or_default")]
    must_mention: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    must_not_mention: Vec<String>,
}

impl<R: BufRead> Reader<R> {
    /// Reads from here; faults name this file.
    pub fn new(input: R, file: &str) -> Self {
        Self { input, file: file.to_string(), line: 0, buffer: Vec::new(), is_over: false }
    }

    fn fault(&self, kind: DiagnosticKind) -> Diagnostic {
        Diagnostic { file: self.file.clone(), line: self.line, kind }
    }

    /// Reads the next line into the buffer, and says whether there is one.
    fn advance(&mut self) -> Result<bool, DiagnosticKind> {
        let io = |error: std::io::Error| DiagnosticKind::Io(error.to_string());
        self.buffer.clear();
        self.line += 1;
        let most = LINE_BYTES_MAX as u64 + 1;
        let read = self.input.by_ref().take(most).read_until(b'\n', &mut self.buffer).map_err(io)?;
        if self.buffer.pop_if(|byte| *byte == b'\n').is_none() && self.buffer.len() > LINE_BYTES_MAX {
            self.buffer.clear();
            self.input.skip_until(b'\n').map_err(io)?;
            return Err(DiagnosticKind::TooLong { most: LINE_BYTES_MAX });
        }
        if self.line == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(read > 0)
    }

    fn case(&self) -> Result<Case, DiagnosticKind> {
        let text = std::str::from_utf8(&self.buffer)
            .map_err(|error| DiagnosticKind::NotText { byte: error.valid_up_to() + 1 })?;
        let mut line = Line { text, faults: Vec::new() };
        let raw: RawCase<'_> = line.part(text).map_err(DiagnosticKind::NotATimeline)?;
        let mut timeline = Timeline { initial: line.initial(raw.initial_state), events: Vec::new() };
        let mut answers = GroundTruth { id: raw.id, track: raw.track, queries: Vec::new() };
        for (n, raw) in raw.events.iter().enumerate() {
            match line.event(n + 1, raw.get()) {
                Ok((event, answer)) => {
                    timeline.events.push(event);
                    answers.queries.extend(answer);
                }
                Err(why) => {
                    line.faults.push(DiagnosticKind::NotAPart { part: format!("event {}", n + 1), why })
                }
            }
        }
        let faults = line.faults.into_iter().map(|kind| self.fault(kind)).collect();
        Ok(Case { line: self.line, timeline, answers, faults })
    }
}

/// A line, and what of it could not be read.
struct Line<'a> {
    text: &'a str,
    faults: Vec<DiagnosticKind>,
}

impl<'a> Line<'a> {
    /// Reads a part of the line. What is wrong is said with its place in the line, not in the part.
    fn part<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T, String> {
        serde_json::from_str(part).map_err(|error| {
            let told = error.to_string();
            let told = told.rsplit_once(" at line ").map_or(told.as_str(), |(told, _)| told);
            let before = part.as_ptr() as usize - self.text.as_ptr() as usize;
            let field =
                field_before(part, error.column()).map_or(String::new(), |name| format!(", in `{name}`"));
            format!("{told}{field}, at column {}", before + error.column())
        })
    }

    /// Reads each part that can be read, and names the others.
    fn each<T: Deserialize<'a>>(&mut self, parts: &[&'a RawValue], name: impl Fn(usize) -> String) -> Vec<T> {
        let mut read = Vec::new();
        for (n, part) in parts.iter().enumerate() {
            match self.part(part.get()) {
                Ok(part) => read.push(part),
                Err(why) => self.faults.push(DiagnosticKind::NotAPart { part: name(n + 1), why }),
            }
        }
        read
    }

    fn initial(&mut self, raw: RawInitial<'a>) -> Initial {
        Initial {
            identity_role: raw.identity_role,
            persistent_facts: self.each(&raw.persistent_facts, |n| format!("persistent fact {n}")),
            working_set: self.each(&raw.working_set, |n| format!("note {n} of the working set")),
            environment: raw.environment,
            others: raw.others.into_keys().collect(),
        }
    }

    /// An event, and apart from it what would have been right.
    fn event(&mut self, n: usize, text: &'a str) -> Result<(Event, Option<ExpectedAnswer>), String> {
        let Typed { kind } = self.part(text)?;
        Ok(match kind {
            EventType::ConversationTurn => (Event::Turn(self.part(text)?), None),
            EventType::StateWrite | EventType::Supersession => {
                let RawWrites { ts, writes } = self.part(text)?;
                let writes = self.each(&writes, |write| format!("write {write} of event {n}"));
                (Event::Writes { at: ts, writes }, None)
            }
            EventType::Query => {
                let RawQuery { ts, prompt, ground_truth } = self.part(text)?;
                let answer = ExpectedAnswer::new(ground_truth.must_mention, ground_truth.must_not_mention)?;
                (Event::Query { at: ts, prompt }, Some(answer))
            }
        })
    }
}

/// The field whose value ends, or is broken, at this column of an object: the names of the fields around it.
fn field_before(part: &str, column: usize) -> Option<String> {
    let (mut names, mut last, mut text): (Vec<Option<&str>>, _, Option<usize>) = (Vec::new(), None, None);
    let mut is_escaped = false;
    for (n, byte) in part.bytes().enumerate().take(column) {
        match (text, byte) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(from), b'"') => (last, text) = (part.get(from..n), None),
            (Some(_), _) => {}
            (None, b'"') => text = Some(n + 1),
            (None, b':') => names.iter_mut().last().into_iter().for_each(|name| *name = last),
            (None, b'{' | b'[') => names.push(None),
            (None, b'}' | b']') => drop(names.pop()),
            _ => {}
        }
    }
    let names: Vec<&str> = names.into_iter().flatten().collect();
    (!names.is_empty()).then(|| names.join("."))
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Case, Diagnostic>;

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
                    self.is_over = matches!(kind, DiagnosticKind::Io(_));
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
    use crate::tests::{line, query};
    use serde_json::json;

    fn read(bytes: &[u8]) -> Vec<Result<Case, Diagnostic>> {
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
        assert_eq!((fault.line, &fault.kind), (1, &DiagnosticKind::TooLong { most: LINE_BYTES_MAX }));
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
    fn a_write_that_is_none_is_named_with_its_place_and_its_neighbours_are_kept() {
        let writes = json!([{"key": "a", "value": 1}, {"value": 2}, {"key": "b", "value": 3, "source": null},
            {"key": "c", "value": 4, "ts": "1850-01-01T00:00:00"}, {"key": "d", "value": 5}]);
        let mut line: serde_json::Value = serde_json::from_str(&line(&json!([
            {"ts": "2025-01-01T10:00:00", "type": "state_write", "writes": writes}])))
        .unwrap();
        line["initial_state"]["persistent_facts"] = json!([{"key": "a"}, {"key": "e", "value": 6}]);
        line["initial_state"]["working_set"] = json!([7, {"content": "soup"}]);
        let text = line.to_string();
        let cases = read(text.as_bytes());
        let Case { timeline, faults, .. } = cases[0].as_ref().unwrap();
        assert_eq!((timeline.initial.persistent_facts.len(), timeline.initial.working_set.len()), (1, 1));
        let Event::Writes { writes, .. } = &timeline.events[0] else { panic!("no writes") };
        assert_eq!(writes.iter().map(|write| write.key.as_str()).collect::<Vec<_>>(), ["a", "d"]);
        let begins = [
            "some.jsonl:1: persistent fact 1 is none: missing field `value`, at column ",
            "some.jsonl:1: note 1 of the working set is none: invalid type: integer `7`, expected an object with content",
            "some.jsonl:1: write 2 of event 1 is none: missing field `key`, at column ",
            "some.jsonl:1: write 3 of event 1 is none: invalid type: null, expected a word, or an object with type",
            "some.jsonl:1: write 4 of event 1 is none: `1850-01-01T00:00:00` is no moment from 1970 on",
        ];
        assert_eq!(faults.len(), begins.len(), "{faults:?}");
        for (fault, begins) in faults.iter().zip(begins) {
            assert!(fault.to_string().starts_with(begins), "{fault}");
        }
        let end = text.find(r#"{"value":2}"#).unwrap() + r#"{"value":2}"#.len();
        assert!(faults[2].to_string().contains(&format!("at column {end}.")), "{} and not {end}", faults[2]);
    }

    #[test]
    fn what_is_no_timeline_is_told_what_one_is() {
        for text in ["[]", "7"] {
            let told = faults(text.as_bytes()).remove(0);
            assert!(told.contains("expected an object with id, track, initial_state and events"), "{told}");
            assert!(!told.contains("RawCase") && !told.contains("line 1"), "{told}");
        }
    }

    #[test]
    fn a_part_of_another_shape_is_told_the_expected_one_and_never_the_name_of_a_type() {
        let at = "2025-01-01T10:00:00";
        let events = json!([
            {"type": "query", "ts": at, "prompt": "What?", "ground_truth": 7},
            {"type": "query", "ts": at, "prompt": "What?", "ground_truth": []},
            {"type": "state_write", "ts": at, "writes": [["roof"]]},
        ]);
        let Case { faults, .. } = read(line(&events).as_bytes()).remove(0).unwrap();
        let expected = [
            "an object with must_mention and must_not_mention",
            "an object with must_mention and must_not_mention",
            "an object with key and value",
        ];
        assert_eq!(faults.len(), expected.len(), "{faults:?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.to_string().contains(&format!("expected {expected}, ")), "{fault}");
        }
    }

    #[test]
    fn null_is_an_empty_list_and_what_has_another_type_is_named_by_its_field() {
        let mut line: serde_json::Value = serde_json::from_str(&line(&json!([
            {"ts": "2025-01-01T10:00:00", "type": "state_write", "writes": null},
            {"ts": "2025-01-01T10:00:00", "type": "query", "prompt": "?",
                "ground_truth": {"must_mention": null, "must_not_mention": null}}])))
        .unwrap();
        for list in ["persistent_facts", "working_set", "environment"] {
            line["initial_state"][list] = serde_json::Value::Null;
        }
        line["initial_state"]["identity_role"]["permissions"] = serde_json::Value::Null;
        let Case { timeline, faults, .. } = read(line.to_string().as_bytes()).remove(0).unwrap();
        assert_eq!((timeline.events.len(), faults.len()), (2, 0), "{faults:?}");
        let fact =
            |depends_on: serde_json::Value| json!([{"key": "a", "value": 1, "depends_on": depends_on}]);
        line["initial_state"]["persistent_facts"] = fact(json!(null));
        assert_eq!(read(line.to_string().as_bytes())[0].as_ref().unwrap().faults, []);
        line["initial_state"]["persistent_facts"] = fact(json!("b"));
        let told = read(line.to_string().as_bytes())[0].as_ref().unwrap().faults[0].to_string();
        assert!(told.contains("expected a sequence, in `depends_on`, at column"), "{told}");
        line["initial_state"]["identity_role"]["permissions"] = json!(7);
        let told = faults_of(&line);
        assert!(told.contains("in `initial_state.identity_role.permissions`, at column"), "{told}");
    }

    fn faults_of(line: &serde_json::Value) -> String {
        faults(line.to_string().as_bytes()).remove(0)
    }

    #[test]
    fn odd_but_legal_lines_are_read() {
        let text = format!("\u{feff}{}", line(&json!([])));
        assert!(read(text.as_bytes())[0].is_ok(), "a file may begin with a byte order mark");
        let text = line(&json!([])).replace('\n', "\r\n");
        assert!(read(text.as_bytes())[0].is_ok(), "a line may end as on other systems");
        let text = line(&json!([query("Later", &["a"], &["a"]), query("Earlier", &[], &[])]));
        assert!(read(text.trim_end().as_bytes())[0].is_ok(), "the last line may lack its end");
    }
}
