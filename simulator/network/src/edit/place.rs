//! The place of a public key in the text of a node.

use miette::SourceSpan;
use std::ops::Range;

/// A replaced range of bytes. An empty range is an insertion.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// Returns the edit that replaces a key at `span`, with its quotes if it has some.
pub(super) fn replacement(text: &str, span: SourceSpan, digits: &str) -> Option<Edit> {
    let range = span.offset()..span.offset().checked_add(span.len())?;
    let found = text.get(range.clone())?;
    let is_quoted = text.get(..range.start)?.ends_with(is_quote);
    // The span of a quoted text may exclude its quotes.
    let text = if is_quoted && !found.starts_with(is_quote) { digits.to_owned() } else { quoted(digits) };
    Some(Edit { range, text })
}

/// Returns the edit that adds a key to the node whose id is at `span`; `None` if the form of the node is unusual.
pub(super) fn insertion(text: &str, span: SourceSpan, digits: &str) -> Option<Edit> {
    let entry = format!("public_key: {}", quoted(digits));
    let insert = |at: usize, text: String| Some(Edit { range: at..at, text });
    let colon = end_of_id(text, span)?;
    let rest = text.get(colon..)?.strip_prefix(':')?;
    let colon = text.len().checked_sub(rest.len())?;
    let value = text.len().checked_sub(skip_blank(rest).len())?;
    match text.get(value..)?.chars().next() {
        // `id: {…}`
        Some('{') => {
            let inside = value.checked_add(1)?;
            let rest = text.get(inside..)?;
            let separator = match (skip_blank(rest).starts_with('}'), rest.starts_with(char::is_whitespace)) {
                (true, _) => "",
                (false, true) => ",",
                (false, false) => ", ",
            };
            insert(inside, format!("{entry}{separator}"))
        }
        // `{id: , …}`
        Some(',' | '}') => insert(colon, format!(" {{{entry}}}")),
        // `id:` with lines below it, or with nothing
        _ => {
            let id_indent = indent(text, span.offset())?;
            let first_indent = indent(text, value).filter(|first| first.len() > id_indent.len());
            let own_indent = first_indent.map_or_else(|| format!("{id_indent}  "), str::to_owned);
            let line_end = text.len().checked_sub(skip_line(rest).len())?;
            let line = text.get(..line_end)?;
            let line_break = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            let line_end = line.strip_suffix(line_break).unwrap_or(line).len();
            // Another value in the line, such as a tag, is no block.
            (value >= line_end).then_some(())?;
            insert(line_end, format!("{line_break}{own_indent}{entry}"))
        }
    }
}

fn quoted(digits: &str) -> String {
    format!("\"{digits}\"")
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '\'')
}

/// Returns the offset after an id, its closing quote and blanks.
fn end_of_id(text: &str, span: SourceSpan) -> Option<usize> {
    let end = span.offset().checked_add(span.len())?;
    let rest = text.get(end..)?;
    let rest = rest.strip_prefix(is_quote).unwrap_or(rest).trim_start_matches([' ', '\t']);
    text.len().checked_sub(rest.len())
}

/// Returns the white space before an offset in its line; `None` if the line has something else there, other than a quote.
fn indent(text: &str, offset: usize) -> Option<&str> {
    let line = text.get(..offset)?.rsplit('\n').next()?;
    let line = line.strip_suffix(is_quote).unwrap_or(line);
    line.chars().all(|character| character == ' ').then_some(line)
}

/// Returns the text after white space and comments.
fn skip_blank(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with('#') {
        rest = skip_line(rest).trim_start();
    }
    rest
}

/// Returns the text after the first line.
fn skip_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}
