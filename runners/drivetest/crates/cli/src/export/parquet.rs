//! Tables as Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::table::{Cell, ColumnType, Rows, Table};

/// Rows per row group. Nine columns of them need 9 MB of memory.
const GROUP_ROWS: usize = 1 << 17;

/// A table that is written in row groups.
pub struct Parquet<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows_count: usize,
}

enum Column {
    Numbers {
        values: Vec<i64>,
        levels: Option<Vec<i16>>,
    },
    Decimals {
        values: Vec<f64>,
        levels: Vec<i16>,
    },
    Texts(Vec<ByteArray>),
}

impl<W: Write + Send> Parquet<W> {
    /// Starts a table.
    ///
    /// # Errors
    /// If the start of the file cannot be written.
    pub fn new(writer: W, table: &Table) -> io::Result<Self> {
        let schema = parse_message_type(&message(table)).map_err(io_error)?;
        let level = ZstdLevel::try_new(3).map_err(io_error)?;
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level));
        let properties = Arc::new(properties.build());
        let writer = SerializedFileWriter::new(writer, Arc::new(schema), properties).map_err(io_error)?;
        let columns = table.columns.iter().map(|(_, kind)| Column::of(*kind));
        Ok(Self {
            writer,
            columns: columns.collect(),
            rows_count: 0,
        })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            if let Some(mut writer) = group.next_column()? {
                column.write(&mut writer)?;
                writer.close()?;
            }
        }
        self.rows_count = 0;
        group.close().map(drop)
    }
}

impl<W: Write + Send> Rows for Parquet<W> {
    fn add(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.add(*cell)?;
        }
        self.rows_count += 1;
        if self.rows_count == GROUP_ROWS {
            self.write_group().map_err(io_error)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if self.rows_count > 0 {
            self.write_group().map_err(io_error)?;
        }
        let mut writer = self.writer.into_inner().map_err(io_error)?;
        writer.flush()
    }
}

impl Column {
    fn of(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Text => Self::Texts(Vec::new()),
            ColumnType::OptionalDecimal => Self::Decimals {
                values: Vec::new(),
                levels: Vec::new(),
            },
            kind => Self::Numbers {
                values: Vec::new(),
                levels: (kind == ColumnType::OptionalNumber).then(Vec::new),
            },
        }
    }

    fn add(&mut self, cell: Cell<'_>) -> io::Result<()> {
        match (self, cell) {
            (Self::Numbers { values, levels }, Cell::Number(number)) => {
                let number = number.map(i64::try_from).transpose();
                let number = number.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                if let Some(levels) = levels {
                    levels.push(i16::from(number.is_some()));
                }
                values.extend(number);
            }
            (Self::Decimals { values, levels }, Cell::Decimal(decimal)) => {
                levels.push(i16::from(decimal.is_some()));
                values.extend(decimal);
            }
            (Self::Texts(texts), Cell::Text(text)) => {
                // Consecutive rows often have the same name. They share one copy.
                let last = texts.last().filter(|last| last.data() == text.as_bytes());
                texts.push(last.cloned().unwrap_or_else(|| ByteArray::from(text)));
            }
            (Self::Numbers { .. } | Self::Decimals { .. } | Self::Texts(_), _) => {
                unreachable!("cells match the columns of their table")
            }
        }
        Ok(())
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Self::Numbers { values, levels } => {
                let typed = writer.typed::<Int64Type>();
                typed.write_batch(values, levels.as_deref(), None)?;
                values.clear();
                levels.iter_mut().for_each(Vec::clear);
            }
            Self::Decimals { values, levels } => {
                let typed = writer.typed::<DoubleType>();
                typed.write_batch(values, Some(levels), None)?;
                values.clear();
                levels.clear();
            }
            Self::Texts(texts) => {
                writer.typed::<ByteArrayType>().write_batch(texts, None, None)?;
                texts.clear();
            }
        }
        Ok(())
    }
}

/// Returns the schema in Parquet's message format.
fn message(table: &Table) -> String {
    let mut text = format!("message {} {{", table.name.replace('-', "_"));
    for (name, kind) in table.columns {
        let form = match kind {
            ColumnType::Number => "required int64",
            ColumnType::OptionalNumber => "optional int64",
            ColumnType::OptionalDecimal => "optional double",
            ColumnType::Text => "required binary",
        };
        let logical = if *kind == ColumnType::Text {
            " (STRING)"
        } else {
            ""
        };
        text.push_str(&format!(" {form} {name}{logical};"));
    }
    text + " }"
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::other(error),
    }
}
