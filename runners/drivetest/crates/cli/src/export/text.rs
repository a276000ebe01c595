//! Tables as text: CSV of RFC 4180, and JSON with an object on each line.

use std::io::{self, Write};

use super::table::{Cell, Rows, Table};

/// A table with a header line; a number that is not known is an empty field.
pub struct Csv<W> {
    target: W,
}

impl<W: Write> Csv<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// Where its header cannot be written.
    pub fn new(mut target: W, table: &Table) -> io::Result<Self> {
        let names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        write!(target, "{}\r\n", names.join(","))?;
        Ok(Self { target })
    }
}

impl<W: Write> Rows for Csv<W> {
    fn add(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                self.target.write_all(b",")?;
            }
            match cell {
                Cell::Number(None) | Cell::Decimal(None) => {}
                Cell::Number(Some(number)) => write!(self.target, "{number}")?,
                Cell::Decimal(Some(decimal)) => write!(self.target, "{decimal}")?,
                Cell::Text(text) if text.contains(['"', ',', '\r', '\n']) => {
                    write!(self.target, "\"{}\"", text.replace('"', "\"\""))?;
                }
                Cell::Text(text) => self.target.write_all(text.as_bytes())?,
            }
        }
        self.target.write_all(b"\r\n")
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.target.flush()
    }
}

/// A JSON object for each row; a number that is not known is null.
pub struct JsonLines<W> {
    target: W,
    names: Vec<&'static str>,
}

impl<W: Write> JsonLines<W> {
    /// Begins a table.
    pub fn new(target: W, table: &Table) -> Self {
        let names = table.columns.iter().map(|(name, _)| *name).collect();
        Self { target, names }
    }
}

impl<W: Write> Rows for JsonLines<W> {
    fn add(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        for (at, (name, cell)) in self.names.iter().zip(cells).enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            write!(self.target, "{before}\"{name}\":")?;
            match cell {
                Cell::Number(number) => serde_json::to_writer(&mut self.target, number)?,
                Cell::Decimal(decimal) => serde_json::to_writer(&mut self.target, decimal)?,
                Cell::Text(text) => serde_json::to_writer(&mut self.target, text)?,
            }
        }
        self.target.write_all(b"}\n")
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.target.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::{INTERVALS, Kind};
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
    fn csv_quotes_what_needs_it_and_leaves_the_unknown_empty() {
        let mut bytes = Vec::new();
        let mut csv = Box::new(Csv::new(&mut bytes, &INTERVALS).unwrap());
        csv.add(&ROW).unwrap();
        csv.finish().unwrap();
        let expected = "run,start_s,end_s,histogram,name,ops_count\r\n0,1,2,3,\"a \"\"b\"\", c\",\r\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn json_has_an_object_on_each_line() {
        let mut bytes = Vec::new();
        let mut json = Box::new(JsonLines::new(&mut bytes, &INTERVALS));
        json.add(&ROW).unwrap();
        json.finish().unwrap();
        let expected =
            r#"{"run":0,"start_s":1,"end_s":2,"histogram":3,"name":"a \"b\", c","ops_count":null}"#;
        assert_eq!(String::from_utf8(bytes).unwrap(), format!("{expected}\n"));
    }

    #[test]
    fn only_what_may_be_unknown_is_left_empty() {
        let may = |kind: Kind| kind == Kind::MaybeNumber;
        let columns = INTERVALS.columns.iter().filter(|(_, kind)| may(*kind));
        assert_eq!(columns.map(|(name, _)| *name).collect::<Vec<_>>(), ["ops_count"]);
    }
}
