//! The rows of an experiment as Parquet, made from their complete CSV files.
//!
//! The conversion reads a row at a time and writes groups of rows, so its memory does not depend on their number. It compares the rows with
//! the result: their number and the digest of all of them.

mod columns;
mod csv;

use self::columns::Columns;
use self::csv::CsvRows;
use crate::cli::files::{open_target, replace};
use ::parquet::file::metadata::ParquetMetaDataReader;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use miette::{Result, miette};
use orchestrion_experiment::{METRICS, RowsDigest, Summary};
use orchestrion_files::{FileKind, Target};
use orchestrion_report::text::sanitize;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rows of a group. Their cells need 17 MB.
const GROUP_ROWS: usize = 1 << 16;

/// The program that a file names as its writer.
const WRITER: &str = "orchestrion";

/// The kind of every Parquet file; [`open`] also asks who wrote it.
const PARQUET: FileKind = FileKind {
    name: "the rows of an experiment as Parquet",
    is_start: |start| start.starts_with(b"PAR1"),
    last_line: None,
};

/// Checks and locks a Parquet file that is to be replaced.
///
/// # Errors
/// The file exists, and another program wrote it.
pub(super) fn open(path: &Path) -> Result<Target> {
    let target = open_target(path, &PARQUET)?;
    let is_foreign = File::open(path).is_ok_and(|file| {
        let is_filled = file.metadata().is_ok_and(|metadata| metadata.len() > 0);
        is_filled && writer(&file).as_deref() != Some(WRITER)
    });
    if is_foreign {
        return Err(miette!(
            help = "move the file away, or choose another folder",
            "{}: expected {}, found a file of another program",
            sanitize(&path.display().to_string()),
            PARQUET.name
        ));
    }
    Ok(target)
}

fn writer(file: &File) -> Option<String> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(file).ok()?;
    metadata.file_metadata().created_by().map(str::to_owned)
}

/// Replaces a Parquet file by the rows of a result. They are in these CSV files, one after the other.
///
/// # Errors
/// A file cannot be read or written, or the files do not contain the rows of the result.
pub(super) fn write(target: Target, summary: &Summary, tables: &[PathBuf]) -> Result<()> {
    let mut problem = None;
    let written = replace(target, |file| {
        convert(file, summary, tables).map_err(|report| {
            let error = io::Error::other(report.to_string());
            problem = Some(report);
            error
        })
    });
    // The report of the conversion names the row.
    problem.map_or(written, Err)
}

fn convert(file: &mut File, summary: &Summary, tables: &[PathBuf]) -> Result<()> {
    let settings = summary.settings.iter().map(String::as_str);
    let names: Vec<&str> = ["run", "policy"].into_iter().chain(settings).collect();
    let names: Vec<&str> = names.into_iter().chain(METRICS.iter().map(|metric| metric.name)).collect();
    let texts = 1..2 + summary.settings.len();
    let mut columns = Columns::new(&names, &texts);
    let properties = WriterProperties::builder().set_created_by(WRITER.to_owned());
    let properties = Arc::new(columns::properties(properties).build());
    let mut writer = SerializedFileWriter::new(file, columns.schema()?, properties).map_err(unwritten)?;
    let (mut digest, mut count) = (RowsDigest::default(), 0);
    for table in tables {
        let mut rows = CsvRows::open(table, &names)?;
        while let Some(fields) = rows.next()? {
            let policy = count % summary.policies.len().max(1) as u64;
            let numbers = columns.push(&fields).map_err(|problem| rows.error(&problem))?;
            if let Some((run, metrics)) = numbers.split_first() {
                digest.add(run.unsigned_abs(), policy, metrics);
            }
            count += 1;
            if columns.len() == GROUP_ROWS {
                columns.write_group(&mut writer).map_err(unwritten)?;
            }
        }
    }
    if count != summary.completed_runs() * summary.policies.len() as u64 || digest != summary.rows_digest {
        let tables: Vec<String> = tables.iter().map(|table| sanitize(&table.display().to_string())).collect();
        return Err(miette!(
            help = "run the experiment again, and leave its rows beside its result",
            "{}: expected the rows of the result, found {count} rows with another digest or number",
            tables.join(", ")
        ));
    }
    if columns.len() > 0 {
        columns.write_group(&mut writer).map_err(unwritten)?;
    }
    writer.close().map_err(unwritten)?;
    Ok(())
}

fn unwritten(error: impl std::error::Error) -> miette::Report {
    miette!("Parquet file is not written: {}", sanitize(&error.to_string()))
}
