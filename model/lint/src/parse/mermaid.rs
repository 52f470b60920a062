//! Mermaid state diagrams anywhere in a text.
//!
//! A diagram begins with the line `stateDiagram` or `stateDiagram-v2`. In a Markdown fence it ends with the fence.
//! Without a fence it ends at a heading, a table or a fence, or with the text.

mod drawn;
mod flat;
mod statement;

use super::{ParsedMachine, fault_at};
use drawn::ParsedDiagram;
use orchestrion_yaml::{LabeledError, ReadError, Source, suggest_nearest};
use statement::Line;

/// The first words of a diagram.
const HEADERS: [&str; 2] = ["stateDiagram-v2", "stateDiagram"];

/// Reads every state diagram in a text.
pub(super) fn read(source: &Source) -> Result<Vec<ParsedMachine>, ReadError> {
    let read = blocks(source.text()).and_then(|blocks| {
        blocks.into_iter().map(|block| one(source.text(), &block)).collect::<Result<Vec<_>, LabeledError>>()
    });
    let read = read.map_err(|fault| ReadError::in_source(source, fault))?;
    if read.is_empty() {
        return Err(ReadError::for_file(
            format!("{} has no state diagram in it", source.name()),
            "expected a line `stateDiagram-v2` with a diagram under it, or a table in a file that ends in .yaml",
        ));
    }
    Ok(read)
}

fn one(text: &str, block: &Block<'_>) -> Result<ParsedMachine, LabeledError> {
    let drawn = ParsedDiagram::of(block)?;
    let machine = flat::machine(text, &drawn)?;
    let lines = (block.header.number, block.lines.last().map_or(block.header.number, |line| line.number));
    let guessed = Some(flat::GUESSED.to_string());
    Ok(ParsedMachine { form: "a state diagram", name: None, lines, machine, guessed })
}

/// A diagram in a text.
pub(super) struct Block<'a> {
    header: Line<'a>,
    /// The lines below the header.
    lines: Vec<Line<'a>>,
}

fn blocks(text: &str) -> Result<Vec<Block<'_>>, LabeledError> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    // The open fence, if any; whether a diagram is open.
    let mut fence: Option<&str> = None;
    let mut is_open = false;
    // Whether the fence is for Mermaid and still empty.
    let mut is_fresh = false;
    for line in statement::lines(text) {
        let trimmed = line.text.trim();
        let ticks = ["```", "~~~"].into_iter().find(|ticks| trimmed.starts_with(ticks));
        if let Some(open) = fence {
            if ticks == Some(open) {
                (fence, is_open) = (None, false);
                continue;
            }
        } else if let Some(ticks) = ticks {
            is_fresh = trimmed.trim_start_matches(['`', '~']).trim() == "mermaid";
            (fence, is_open) = (Some(ticks), false);
            continue;
        } else if is_open && (trimmed.starts_with('|') || trimmed.starts_with('#')) {
            is_open = false;
        }
        if HEADERS.contains(&trimmed) {
            if is_open {
                return Err(fault_at(
                    line.span(),
                    "a diagram begins inside a diagram",
                    "put each into a fence of its own",
                    "the second one",
                ));
            }
            blocks.push(Block { header: line, lines: Vec::new() });
            (is_open, is_fresh) = (true, false);
        } else if is_open && let Some(block) = blocks.last_mut() {
            block.lines.push(line);
        } else if is_fresh && !trimmed.is_empty() && !trimmed.starts_with("%%") {
            is_fresh = false;
            let near = suggest_nearest(trimmed, HEADERS);
            if !near.is_empty() {
                let message = format!("`{}` begins no diagram", trimmed.escape_debug());
                return Err(fault_at(
                    line.span(),
                    message,
                    format!("{near}it is the only line of its kind"),
                    "here",
                ));
            }
        }
    }
    Ok(blocks)
}
