//! Mermaid state diagrams anywhere in a text.
//!
//! A diagram begins with the line `stateDiagram` or `stateDiagram-v2`. In a Markdown fence it ends with the fence.
//! Without a fence it ends at a heading, a table or a fence, or with the text.

mod diagram;
mod flat;
mod statement;

use super::common::{FILE_LINES_MAX, PARTS_MAX, ParsedMachine, labeled_error};
use diagram::{Block, ParsedDiagram};
use orchestrion_yaml::{LabeledError, ReadError, Source, suggest_nearest};

/// The first words of a diagram.
const HEADERS: [&str; 2] = ["stateDiagram-v2", "stateDiagram"];

/// Reads every state diagram in a text.
pub(super) fn read(source: &Source) -> Result<Vec<ParsedMachine>, ReadError> {
    let machines = find_blocks(source.text()).and_then(|blocks| {
        check_size(&blocks)?;
        blocks
            .into_iter()
            .map(|block| parse_block(source.text(), &block))
            .collect::<Result<Vec<_>, LabeledError>>()
    });
    let machines = machines.map_err(|error| ReadError::in_source(source, error))?;
    if machines.is_empty() {
        return Err(ReadError::for_file(
            format!("no state diagram: expected a line `stateDiagram-v2`, found none in {}", source.name()),
            "add a state diagram, or use a table in a .yaml file",
        ));
    }
    Ok(machines)
}

/// Each line has at most one state or edge.
fn check_size(blocks: &[Block<'_>]) -> Result<(), LabeledError> {
    let mut lines = 0;
    let too_many = blocks.iter().find(|block| {
        lines += block.lines.len();
        block.lines.len() > PARTS_MAX || lines > FILE_LINES_MAX
    });
    let Some(block) = too_many else { return Ok(()) };
    Err(labeled_error(
        block.header.span(),
        format!(
            "too many lines: expected at most {PARTS_MAX} lines of a diagram, and {FILE_LINES_MAX} of all in a file, found more"
        ),
        "split the diagram, or put the diagrams into several files",
        "in this diagram, or up to its end",
    ))
}

fn parse_block(text: &str, block: &Block<'_>) -> Result<ParsedMachine, LabeledError> {
    let diagram = ParsedDiagram::from_block(block)?;
    let machine = flat::machine(text, &diagram)?;
    let lines = (block.header.number, block.lines.last().map_or(block.header.number, |line| line.number));
    let assumptions = Some(flat::ASSUMPTIONS.to_string());
    Ok(ParsedMachine { format: "state diagram", name: None, lines, machine, assumptions })
}

fn find_blocks(text: &str) -> Result<Vec<Block<'_>>, LabeledError> {
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
                return Err(labeled_error(
                    line.span(),
                    "nested diagram: expected the end of a diagram, found the start of another",
                    "put each diagram into its own fence",
                    "second diagram",
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
                let message = format!(
                    "unknown diagram: expected `stateDiagram-v2`, found `{}`",
                    trimmed.escape_debug()
                );
                return Err(labeled_error(
                    line.span(),
                    message,
                    format!("{near}only state diagrams are supported"),
                    "here",
                ));
            }
        }
    }
    Ok(blocks)
}
