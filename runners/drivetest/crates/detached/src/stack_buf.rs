//! Text without allocation, for the time between fork and exec.

use std::fmt::{self, Write};

/// A line of bounded length on the stack.
pub(crate) struct Line {
    bytes: [u8; 256],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            bytes: [0; 256],
            length: 0,
        }
    }
}

impl Line {
    /// Returns what was written.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes
            .get_mut(self.length..end)
            .ok_or(fmt::Error)?
            .copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// A whole number of JSON, or null.
pub(crate) struct Whole(pub Option<i32>);

impl fmt::Display for Whole {
    fn fmt(&self, line: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => write!(line, "{number}"),
            None => line.write_str("null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_what_fits_and_not_a_byte_more() {
        let mut line = Line::default();
        assert!(line.write_str(&"x".repeat(256)).is_ok());
        assert!(line.write_str("y").is_err());
        assert_eq!(line.bytes().len(), 256);
    }

    #[test]
    fn a_number_that_is_not_there_is_null() {
        assert_eq!(format!("{} {}", Whole(None), Whole(Some(-1))), "null -1");
    }
}
