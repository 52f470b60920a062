//! Edits of a valid text. Bytes alone rarely get past the first check of a format; an edited file does.

use super::rechained;
use crate::generators::{Bytes, RandomSource};

/// The maximum number of edits of one text.
const EDITS_MAX: u32 = 6;

/// The maximum length of an edited text.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Numbers at which a width or a sign changes.
const NUMBERS: [&str; 10] = [
    "0",
    "1",
    "-1",
    "1000000",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
];

/// Edits a text as the bytes select. An exhausted source edits nothing.
pub(super) fn edit(source: &mut Bytes<'_>, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    let edits = source.below(EDITS_MAX + 1);
    for _ in 0..edits {
        if text.is_empty() || text.len() > TEXT_BYTES_MAX {
            break;
        }
        edit_once(source, &mut text);
    }
    text
}

fn edit_once(source: &mut Bytes<'_>, text: &mut Vec<u8>) {
    let at = below(source, text.len());
    match source.below(7) {
        0 => text[at] = below(source, 256).to_le_bytes()[0],
        1 => drop(text.drain(at..text.len().min(at + 1 + below(source, 64)))),
        // A part of the text again, at another place.
        2 => {
            let from = below(source, text.len());
            let part = text[from..text.len().min(from + 1 + below(source, 200))].to_vec();
            drop(text.splice(at..at, part));
        }
        3 => replace_number(source, text, at),
        4 => drop(text.splice(line_at(text, at), [])),
        5 => {
            let line = text[line_at(text, at)].to_vec();
            let place = line_at(text, below(source, text.len())).start;
            drop(text.splice(place..place, line));
        }
        _ => text.truncate(at),
    }
}

/// Replaces the first number at or after a position.
fn replace_number(source: &mut Bytes<'_>, text: &mut Vec<u8>, at: usize) {
    let Some(start) = (at..text.len()).find(|place| text[*place].is_ascii_digit()) else { return };
    let end = (start..text.len()).find(|place| !text[*place].is_ascii_digit()).unwrap_or(text.len());
    drop(text.splice(start..end, source.one_of(&NUMBERS).bytes()));
}

/// Returns the range of the line around a position, with its newline.
fn line_at(text: &[u8], at: usize) -> std::ops::Range<usize> {
    let is_newline = |byte: &u8| *byte == b'\n';
    let start = text[..at].iter().rposition(is_newline).map_or(0, |place| place + 1);
    let end = text[at..].iter().position(is_newline).map_or(text.len(), |place| at + place + 1);
    start..end
}

fn below(source: &mut Bytes<'_>, bound: usize) -> usize {
    source.below(u32::try_from(bound).unwrap_or(u32::MAX)) as usize
}

/// Returns the journal that the bytes select: themselves, or after edits a trace, a trace with a valid hash chain, or a short journal. The
/// first byte selects. A text in a corpus begins with a bracket or a letter, which selects itself. The chain of a short journal covers
/// digests of its texts, and is not recomputed.
pub(super) fn select(bytes: &[u8], trace: &[u8], short: &[u8]) -> Vec<u8> {
    match bytes.split_first() {
        None => Vec::new(),
        Some((32.., _)) => bytes.to_vec(),
        Some((first, rest)) => match first % 3 {
            0 => edit(&mut Bytes(rest), trace),
            1 => rechained(&edit(&mut Bytes(rest), trace)),
            _ => edit(&mut Bytes(rest), short),
        },
    }
}
