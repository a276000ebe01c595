//! Tables as text: CSV (RFC 4180) and JSON lines.

use std::io::{self, Write};

use super::table::{Cell, Rows, Table};

/// A CSV table with a header line. An unknown number is an empty field.
pub struct Csv<W> {
    writer: W,
}

impl<W: Write> Csv<W> {
    /// Starts a table.
    ///
    /// # Errors
    /// If its header cannot be written.
    pub fn new(mut writer: W, table: &Table) -> io::Result<Self> {
        let names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        write!(writer, "{}\r\n", names.join(","))?;
        Ok(Self { writer })
    }
}

impl<W: Write> Rows for Csv<W> {
    fn add(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                self.writer.write_all(b",")?;
            }
            match cell {
                Cell::Number(None) | Cell::Decimal(None) => {}
                Cell::Number(Some(number)) => write!(self.writer, "{number}")?,
                Cell::Decimal(Some(decimal)) => write!(self.writer, "{decimal}")?,
                Cell::Text(text) if text.contains(['"', ',', '\r', '\n']) => {
                    write!(self.writer, "\"{}\"", text.replace('"', "\"\""))?;
                }
                Cell::Text(text) => self.writer.write_all(text.as_bytes())?,
            }
        }
        self.writer.write_all(b"\r\n")
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A table with one JSON object per row. An unknown number is null.
pub struct JsonLines<W> {
    writer: W,
    names: Vec<&'static str>,
}

impl<W: Write> JsonLines<W> {
    /// Starts a table.
    pub fn new(writer: W, table: &Table) -> Self {
        let names = table.columns.iter().map(|(name, _)| *name).collect();
        Self { writer, names }
    }
}

impl<W: Write> Rows for JsonLines<W> {
    fn add(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        for (at, (name, cell)) in self.names.iter().zip(cells).enumerate() {
            let separator = if at == 0 { '{' } else { ',' };
            write!(self.writer, "{separator}\"{name}\":")?;
            match cell {
                Cell::Number(number) => serde_json::to_writer(&mut self.writer, number)?,
                Cell::Decimal(decimal) => serde_json::to_writer(&mut self.writer, decimal)?,
                Cell::Text(text) => serde_json::to_writer(&mut self.writer, text)?,
            }
        }
        self.writer.write_all(b"}\n")
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::{ColumnType, INTERVALS};
    use super::*;

    const ROW: [Cell<'static>; 6] = [
        Cell::Number(Some(0)),
        Cell::Number(Some(1)),
        Cell::Number(Some(2)),
        Cell::Number(Some(3)),
        Cell::Text("a \"b\", c"),
        Cell::Number(None),
    ];

    #[test]
    fn csv_quotes_text_and_leaves_unknown_numbers_empty() {
        let mut bytes = Vec::new();
        let mut csv = Box::new(Csv::new(&mut bytes, &INTERVALS).unwrap());
        csv.add(&ROW).unwrap();
        csv.finish().unwrap();
        let expected = "run,start_s,end_s,histogram,name,ops_count\r\n0,1,2,3,\"a \"\"b\"\", c\",\r\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn json_has_one_object_per_line() {
        let mut bytes = Vec::new();
        let mut json = Box::new(JsonLines::new(&mut bytes, &INTERVALS));
        json.add(&ROW).unwrap();
        json.finish().unwrap();
        let expected =
            r#"{"run":0,"start_s":1,"end_s":2,"histogram":3,"name":"a \"b\", c","ops_count":null}"#;
        assert_eq!(String::from_utf8(bytes).unwrap(), format!("{expected}\n"));
    }

    #[test]
    fn only_optional_columns_can_be_empty() {
        let is_optional = |kind: ColumnType| kind == ColumnType::OptionalNumber;
        let columns = INTERVALS.columns.iter().filter(|(_, kind)| is_optional(*kind));
        assert_eq!(columns.map(|(name, _)| *name).collect::<Vec<_>>(), ["ops_count"]);
    }
}
