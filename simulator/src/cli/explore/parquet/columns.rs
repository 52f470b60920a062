//! The columns of a group of rows: texts with a dictionary, and numbers.

use super::unwritten;
use miette::Result;
use orchestrion_report::text::sanitize;
use parquet::basic::{Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::WriterPropertiesBuilder;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// The cells of a group of rows, by column.
pub(super) struct Columns {
    columns: Vec<Column>,
    rows: usize,
}

struct Column {
    name: String,
    cells: Cells,
}

enum Cells {
    /// Each distinct text is stored once.
    Texts {
        cells: Vec<ByteArray>,
        distinct: BTreeMap<String, ByteArray>,
    },
    Numbers(Vec<i64>),
}

/// Sets the encoding of the runs, which ascend. Every other column has a dictionary, as long as that is small.
pub(super) fn properties(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    let run = ColumnPath::from("run");
    properties
        .set_column_dictionary_enabled(run.clone(), false)
        .set_column_encoding(run, Encoding::DELTA_BINARY_PACKED)
}

impl Columns {
    /// Creates columns without cells. Those at `texts` contain texts, the others numbers.
    pub(super) fn new(names: &[&str], texts: &Range<usize>) -> Self {
        let column = |(position, name): (usize, &&str)| Column {
            name: (*name).to_owned(),
            cells: match texts.contains(&position) {
                true => Cells::Texts { cells: Vec::new(), distinct: BTreeMap::new() },
                false => Cells::Numbers(Vec::new()),
            },
        };
        Self { columns: names.iter().enumerate().map(column).collect(), rows: 0 }
    }

    /// Returns the types of the columns.
    pub(super) fn schema(&self) -> Result<Arc<Type>> {
        let field = |column: &Column| {
            let (physical, logical) = match column.cells {
                Cells::Texts { .. } => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
                Cells::Numbers(_) => (PhysicalType::INT64, None),
            };
            let builder = Type::primitive_type_builder(&column.name, physical);
            builder.with_repetition(Repetition::REQUIRED).with_logical_type(logical).build().map(Arc::new)
        };
        let fields: ParquetResult<Vec<_>> = self.columns.iter().map(field).collect();
        let schema = fields.and_then(|fields| Type::group_type_builder("rows").with_fields(fields).build());
        schema.map(Arc::new).map_err(unwritten)
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Adds a row with a field for each column, and returns its numbers.
    ///
    /// # Errors
    /// The field of a column of numbers is none.
    pub(super) fn push(&mut self, fields: &[String]) -> Result<Vec<i64>, String> {
        let mut numbers = Vec::with_capacity(self.columns.len());
        for (column, field) in self.columns.iter_mut().zip(fields) {
            match &mut column.cells {
                Cells::Texts { cells, distinct } => {
                    let known = distinct.get(field).cloned();
                    cells.push(known.unwrap_or_else(|| {
                        let text = ByteArray::from(field.as_str());
                        distinct.insert(field.clone(), text.clone());
                        text
                    }));
                }
                Cells::Numbers(cells) => {
                    let number = field.parse().map_err(|_| {
                        format!("column {}: expected an integer, found {:?}", column.name, sanitize(field))
                    })?;
                    cells.push(number);
                    numbers.push(number);
                }
            }
        }
        self.rows += 1;
        Ok(numbers)
    }

    /// Writes the rows as a group, and removes them.
    pub(super) fn write_group<W: Write + Send>(
        &mut self,
        file: &mut SerializedFileWriter<W>,
    ) -> ParquetResult<()> {
        let mut group = file.next_row_group()?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column()? else {
                return Err(ParquetError::General("too few columns".to_owned()));
            };
            match &mut column.cells {
                Cells::Texts { cells, distinct } => {
                    writer.typed::<ByteArrayType>().write_batch(cells, None, None)?;
                    cells.clear();
                    distinct.clear();
                }
                Cells::Numbers(cells) => {
                    writer.typed::<Int64Type>().write_batch(cells, None, None)?;
                    cells.clear();
                }
            }
            writer.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}
