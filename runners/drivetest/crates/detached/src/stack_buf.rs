//! Text without memory allocation, for use between fork and exec.

use std::fmt::{self, Write};

/// A text buffer of fixed size on the stack.
pub(crate) struct StackBuf {
    bytes: [u8; 256],
    length: usize,
}

impl Default for StackBuf {
    fn default() -> Self {
        Self {
            bytes: [0; 256],
            length: 0,
        }
    }
}

impl StackBuf {
    /// Returns the written bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl Write for StackBuf {
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

/// A JSON integer or null.
pub(crate) struct JsonInteger(pub Option<i32>);

impl fmt::Display for JsonInteger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => write!(formatter, "{number}"),
            None => formatter.write_str("null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_beyond_the_size_fails() {
        let mut buffer = StackBuf::default();
        assert!(buffer.write_str(&"x".repeat(256)).is_ok());
        assert!(buffer.write_str("y").is_err());
        assert_eq!(buffer.bytes().len(), 256);
    }

    #[test]
    fn a_missing_number_is_null() {
        assert_eq!(
            format!("{} {}", JsonInteger(None), JsonInteger(Some(-1))),
            "null -1"
        );
    }
}
