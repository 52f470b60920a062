//! One line of a diagram.

use super::super::common::labeled_error;
use orchestrion_yaml::{LabeledError, suggest_nearest};

/// A line of a text, with its location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    /// The line number, from 1.
    pub(super) number: usize,
    /// The byte offset of the line.
    pub(super) start: usize,
}

impl Line<'_> {
    /// Returns the byte span of the content.
    pub(super) fn span(&self) -> (usize, usize) {
        let start = self.start + self.text.len() - self.text.trim_start().len();
        (start, start + self.text.trim().len())
    }
}

/// Returns the lines of a text.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    (1..).zip(text.split_inclusive('\n')).map(move |(number, text)| {
        let line = Line { text: text.trim_end_matches(['\n', '\r']), number, start };
        start += text.len();
        line
    })
}

/// A word of a line, with its byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

/// The statement of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Statement<'a> {
    /// An edge. `[*]` is a name too: an initial state on the left, a final state on the right.
    Edge { from: Word<'a>, to: Word<'a>, label: Option<&'a str> },
    /// A state, and whether a brace opens it.
    State { name: Word<'a>, shape: Shape, opens: bool },
    /// The closing brace of a state.
    Close,
    /// The line between two regions of a state, which run at the same time.
    Divider,
    /// The first line of a multi-line text, and the line that ends it.
    Text { ends: &'static str },
    /// A statement that affects only the rendering.
    Rendering,
}

/// The shape of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A box.
    Plain,
    /// A diamond: a branch that is taken at once.
    Choice,
    /// A bar: a fork or a join.
    Bar,
}

/// The keywords at the beginning of lines that are neither states nor edges.
const KEYWORDS: [&str; 11] = [
    "state",
    "note",
    "direction",
    "classDef",
    "class",
    "style",
    "click",
    "scale",
    "hide",
    "accTitle",
    "accDescr",
];
const DIRECTIONS: [&str; 5] = ["LR", "RL", "TB", "TD", "BT"];
const SHAPES: [&str; 3] = ["<<choice>>", "<<fork>>", "<<join>>"];

impl<'a> Statement<'a> {
    /// Parses a line; an empty line or a comment affects only the rendering.
    pub(super) fn parse(line: Line<'a>) -> Result<Self, LabeledError> {
        let text = line.text.trim();
        let (_, end) = line.span();
        if text.is_empty() || text.starts_with("%%") {
            return Ok(Self::Rendering);
        }
        if text == "--" {
            return Ok(Self::Divider);
        }
        if text == "}" {
            return Ok(Self::Close);
        }
        let (first, rest) =
            text.split_once(char::is_whitespace).map_or((text, ""), |(first, rest)| (first, rest.trim()));
        match first {
            // A state may have the name of a keyword.
            _ if rest.starts_with("-->") => Self::parse_named(line),
            "state" => parse_state(rest, end - rest.len(), line),
            "note" => parse_note(rest, line),
            "direction" if DIRECTIONS.contains(&rest) => Ok(Self::Rendering),
            "direction" => Err(labeled_error(
                line.span(),
                format!(
                    "unknown direction: expected one of {}, found `{}`",
                    DIRECTIONS.join(", "),
                    rest.escape_debug()
                ),
                format!("{}use a direction such as LR", suggest_nearest(rest, DIRECTIONS)),
                "unknown",
            )),
            "accDescr" if rest.starts_with('{') && !rest.ends_with('}') => Ok(Self::Text { ends: "}" }),
            "classDef" | "class" | "style" | "click" | "scale" | "hide" => Ok(Self::Rendering),
            _ if ["accTitle", "accDescr", "title"].iter().any(|key| first.trim_end_matches(':') == *key) => {
                Ok(Self::Rendering)
            }
            _ => Self::parse_named(line),
        }
    }

    /// Parses a line that begins with the name of a state: an edge, or the state itself.
    fn parse_named(line: Line<'a>) -> Result<Self, LabeledError> {
        let text = line.text.trim();
        let (start, end) = line.span();
        // Everything after a colon is text.
        let (name, rest) = split_name(text);
        if rest.trim_start().starts_with(':') && !name.contains("-->") {
            return parse_described_state(text, start, line);
        }
        if let Some(at) = text.find("-->") {
            return parse_edge(text, start, at);
        }
        if let Some(at) = find_foreign_arrow(text) {
            return Err(labeled_error(
                (start + at, end),
                "unsupported arrow: expected `-->`, found another arrow",
                "write `-->`, as in `Idle --> Busy : request`",
                "not `-->`",
            ));
        }
        parse_described_state(text, start, line)
    }
}

/// Returns the position of an arrow that is not Mermaid's.
fn find_foreign_arrow(text: &str) -> Option<usize> {
    let before = text.split(" :").next().unwrap_or(text);
    ["->", "=>", "→", "--", "<-"].iter().filter_map(|arrow| before.find(arrow)).min()
}

fn parse_edge(text: &str, start: usize, at: usize) -> Result<Statement<'_>, LabeledError> {
    let from = text[..at].trim_end();
    let right = &text[at + 3..];
    let to_start = start + at + 3 + (right.len() - right.trim_start().len());
    let (to, rest) = split_name(right.trim_start());
    let (from_name, from_rest) = split_name(from);
    let from = Word { text: from_name, start };
    let to = Word { text: to, start: to_start };
    for word in [from, to] {
        if word.text != "[*]" {
            check_name(word)?;
        }
    }
    if !from_rest.is_empty() {
        return Err(unexpected_text(
            start + from_name.len(),
            from_rest,
            "unexpected text: expected `-->` after the name of a state",
        ));
    }
    let rest_start = to.start + to.text.len();
    let label = match rest.trim_start().strip_prefix(':') {
        Some(label) => Some(label.trim()).filter(|label| !label.is_empty()),
        None if rest.trim().is_empty() => None,
        None => {
            return Err(unexpected_text(
                rest_start,
                rest,
                "unexpected text: expected `:` and a label, or the end of the line",
            ));
        }
    };
    Ok(Statement::Edge { from, to, label })
}

fn unexpected_text(start: usize, rest: &str, message: &str) -> LabeledError {
    let skip = rest.len() - rest.trim_start().len();
    let span = (start + skip, start + rest.trim_end().len());
    labeled_error(
        span,
        format!("{message}, found `{}`", rest.trim().escape_debug()),
        "a name is one word",
        "not expected",
    )
}

/// Returns the name at the beginning of a text and the rest; a class suffix affects only the rendering.
fn split_name(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c.is_whitespace() || c == ':').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    match rest.strip_prefix(":::") {
        Some(class) => {
            (name, &class[class.find(|c: char| c.is_whitespace() || c == ':').unwrap_or(class.len())..])
        }
        None => (name, rest),
    }
}

fn check_name(word: Word<'_>) -> Result<(), LabeledError> {
    let is_allowed = |c: char| c.is_alphanumeric() || "_.-/'".contains(c);
    if !word.text.is_empty() && word.text.chars().all(is_allowed) {
        return Ok(());
    }
    Err(labeled_error(
        (word.start, word.start + word.text.len()),
        format!("invalid name: expected the name of a state, found `{}`", word.text.escape_debug()),
        "a name is one word of letters, digits and _; put a longer text in quotes: state \"Being paid\" as Paying",
        "not a name",
    ))
}

/// Parses `state X` or `state "text" as X`, optionally followed by `<<choice>>` or a brace.
fn parse_state<'a>(rest: &'a str, start: usize, line: Line<'a>) -> Result<Statement<'a>, LabeledError> {
    let (mut body, mut at) = (rest, start);
    if let Some(quoted) = rest.strip_prefix('"') {
        let named = quoted.split_once('"').and_then(|(_, after)| {
            let name = after.trim_start().strip_prefix("as")?;
            name.starts_with(char::is_whitespace).then(|| name.trim_start())
        });
        let Some(name) = named else {
            return Err(labeled_error(
                line.span(),
                "no name: expected `as` and a name after the text, found neither",
                "write it as in: state \"Being paid\" as Paying",
                "not a name",
            ));
        };
        at += rest.len() - name.len();
        body = name;
    }
    let end = body.find(|c: char| c.is_whitespace() || ":{<[".contains(c)).unwrap_or(body.len());
    let (name, after) = body.split_at(end);
    let name = Word { text: name, start: at };
    check_name(name)?;
    let after = after.trim();
    let after = after
        .strip_prefix(":::")
        .map_or(after, |class| class.split_once(char::is_whitespace).map_or("", |(_, after)| after.trim()));
    let shape = after.replace("[[", "<<").replace("]]", ">>");
    let (shape, opens) = match &shape[..] {
        "" => (Shape::Plain, false),
        "{" => (Shape::Plain, true),
        "<<choice>>" => (Shape::Choice, false),
        "<<fork>>" | "<<join>>" => (Shape::Bar, false),
        _ if after.starts_with(':') => (Shape::Plain, false),
        _ => {
            return Err(labeled_error(
                line.span(),
                format!(
                    "unexpected text: expected the end of the line or `{{` after the name, found `{}`",
                    after.escape_debug()
                ),
                format!("{}start the content of a state on the next line", suggest_nearest(&shape, SHAPES)),
                "here",
            ));
        }
    };
    Ok(Statement::State { name, shape, opens })
}

/// Parses `note left of X : text`, `note right of X` with lines until `end note`, `note "text" as N`.
fn parse_note<'a>(rest: &'a str, line: Line<'a>) -> Result<Statement<'a>, LabeledError> {
    if rest.starts_with('"') || rest.contains(':') {
        return Ok(Statement::Rendering);
    }
    if ["left of ", "right of "].iter().any(|side| rest.starts_with(side)) {
        return Ok(Statement::Text { ends: "end note" });
    }
    Err(labeled_error(
        line.span(),
        "invalid note: expected `left of` or `right of` and a state, found neither",
        "write it as in: note right of Idle : nothing runs",
        "no position",
    ))
}

/// Parses a state alone in its line, or with a description after a colon.
fn parse_described_state<'a>(
    text: &'a str,
    start: usize,
    line: Line<'a>,
) -> Result<Statement<'a>, LabeledError> {
    let (name, rest) = split_name(text);
    let word = Word { text: name, start };
    if rest.trim().is_empty() || rest.trim_start().starts_with(':') {
        check_name(word)?;
        return Ok(Statement::State { name: word, shape: Shape::Plain, opens: false });
    }
    Err(labeled_error(
        line.span(),
        format!("unknown statement: expected an edge, a state or a keyword, found `{}`", text.escape_debug()),
        format!(
            "{}write an edge (`A --> B : label`), a state, or a line with one of {}",
            suggest_nearest(name, KEYWORDS),
            KEYWORDS.join(", ")
        ),
        "here",
    ))
}
