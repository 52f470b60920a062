//! The table of candidates: one column for each factor of the score.

use crate::cli::output::write_hanging;
use orchestrion_kernel::network::routing::{Candidate, Factors};
use orchestrion_report::text::sanitize;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

const COLUMNS: usize = 7;

const HEADINGS: [&str; COLUMNS] =
    ["trust", "quality", "1−load", "connection", "1−threat", "preference", "score"];

/// Writes the candidates in their order: as a table, or one paragraph for each where the width is too small for it.
pub(super) fn write_candidates(
    candidates: &[Candidate],
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let names: Vec<String> = candidates.iter().map(|candidate| sanitize(candidate.node.as_str())).collect();
    let columns = align(candidates);
    let widths =
        columns.each_ref().map(|column| column.iter().map(|cell| cell.width()).max().unwrap_or_default());
    let name_width = names.iter().map(|name| name.width()).chain(["node".len()]).max().unwrap_or_default();
    let table_width = |gap: usize| 2 + name_width + widths.iter().map(|width| width + gap).sum::<usize>();
    let Some(gap) = [2, 1].into_iter().find(|gap| table_width(*gap) <= width) else {
        return write_paragraphs(candidates, &names, width, out);
    };
    for (row, name) in ["node".to_owned()].into_iter().chain(names).enumerate() {
        write!(out, "  {name}{:pad$}", "", pad = name_width.saturating_sub(name.width()))?;
        for (cells, width) in columns.iter().zip(widths) {
            let cell = cells.get(row).map_or("", String::as_str);
            write!(out, "{:gap$}{cell:>width$}", "")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_paragraphs(
    candidates: &[Candidate],
    names: &[String],
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    for (candidate, name) in candidates.iter().zip(names) {
        write_hanging(2, "", name, width, out)?;
        let factors = HEADINGS.iter().zip(cells(candidate));
        let factors: Vec<String> = factors.map(|(heading, cell)| format!("{heading} {cell}")).collect();
        write_hanging(4, "", &factors.join(", "), width, out)?;
    }
    Ok(())
}

/// Returns the columns with their headings. The numbers of a column have the same number of decimal places.
fn align(candidates: &[Candidate]) -> [Vec<String>; COLUMNS] {
    let rows: Vec<[String; COLUMNS]> = candidates.iter().map(cells).collect();
    let places = |number: &str| number.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let mut columns = HEADINGS.map(|heading| vec![heading.to_owned()]);
    for (at, column) in columns.iter_mut().enumerate() {
        let numbers = || rows.iter().filter_map(|row| row.get(at));
        let most = numbers().map(|number| places(number)).max().unwrap_or_default();
        column.extend(numbers().map(|number| {
            let zeros = most.saturating_sub(places(number));
            format!("{number}{}", "0".repeat(zeros))
        }));
    }
    columns
}

fn cells(candidate: &Candidate) -> [String; COLUMNS] {
    let Candidate { node: _, score, factors } = candidate;
    let Factors { trust, quality, availability, connection, safety, preference } = factors;
    [
        trust.to_string(),
        quality.to_string(),
        availability.to_string(),
        connection.to_string(),
        safety.to_string(),
        preference.to_string(),
        score.to_string(),
    ]
}
