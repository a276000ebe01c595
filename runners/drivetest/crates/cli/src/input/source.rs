//! The received bytes of a file, hashed while they are read, with a peek.

use std::io::{self, BufRead, Read};

use crate::input::background::LONG_BYTES;
use crate::input::digest::StreamHasher;

/// Bytes per read: so many that hashing costs more than system calls, and so few that they fit into the cache.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// A file, a pipe or a member of an archive that is being read.
pub struct Source<'a> {
    inner: Box<dyn Read + 'a>,
    expected_bytes: u64,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    /// Size and hash of the bytes so far.
    pub hasher: StreamHasher,
}

impl<'a> Source<'a> {
    /// Creates a source of about `expected_bytes` bytes.
    pub fn new(inner: Box<dyn Read + 'a>, expected_bytes: u64) -> Self {
        Self {
            inner,
            expected_bytes,
            buffer: vec![0; CHUNK_BYTES],
            begin: 0,
            end: 0,
            hasher: StreamHasher::default(),
        }
    }

    /// Hashes the source in a thread if it is long.
    pub fn hashed_in_background(self) -> Self {
        Self {
            hasher: self.hasher.in_background(self.expected_bytes),
            ..self
        }
    }

    /// Returns whether the source is long enough for a thread that processes it.
    pub fn is_long(&self) -> bool {
        self.expected_bytes >= LONG_BYTES
    }

    /// Passes all bytes to `each`.
    ///
    /// # Errors
    /// If the bytes cannot be read, or there are more than `limit_bytes`.
    pub fn pump(&mut self, limit_bytes: u64, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        loop {
            let bytes = self.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            each(bytes);
            self.consume(usize::MAX);
            self.hasher.check(limit_bytes)?;
        }
    }

    /// Returns the next `wanted` bytes, or as many as remain, without consuming them.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    pub fn peek(&mut self, wanted: usize) -> io::Result<&[u8]> {
        while self.end - self.begin < wanted {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            if self.read_more()? == 0 {
                break;
            }
        }
        let end = self.end.min(self.begin + wanted);
        Ok(&self.buffer[self.begin..end])
    }

    /// Reads to the end and returns the number of remaining bytes.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    pub fn skip_rest(&mut self) -> io::Result<u64> {
        let mut rest = 0;
        loop {
            let count = self.fill_buf()?.len();
            if count == 0 {
                return Ok(rest);
            }
            rest += count as u64;
            self.consume(count);
        }
    }

    fn read_more(&mut self) -> io::Result<usize> {
        loop {
            match self.inner.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(count) => {
                    self.hasher.add(&self.buffer[self.end..self.end + count]);
                    self.end += count;
                    return Ok(count);
                }
            }
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let count = bytes.read(target)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
            self.read_more()?;
        }
        Ok(&self.buffer[self.begin..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.begin = self.begin.saturating_add(count).min(self.end);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::input::limits::LimitExceeded;

    const SIZE: usize = 3 * CHUNK_BYTES + 1;

    fn bytes() -> Vec<u8> {
        (0..SIZE).map(|at| (at % 251) as u8).collect()
    }

    fn pumped(limit_bytes: u64) -> (io::Result<()>, Vec<u8>, StreamHasher) {
        let (bytes, mut got) = (bytes(), Vec::new());
        let mut source = Source::new(Box::new(&bytes[..]), SIZE as u64);
        let ended = source.pump(limit_bytes, |bytes| got.extend_from_slice(bytes));
        (ended, got, source.hasher)
    }

    #[test]
    fn all_bytes_arrive_in_order_and_are_hashed() {
        let (ended, got, hasher) = pumped(SIZE as u64);
        assert!(ended.is_ok() && got == bytes());
        let mut expected = StreamHasher::default();
        expected.add(&bytes());
        assert_eq!(hasher.finish().sha256, expected.finish().sha256);
    }

    #[test]
    fn a_source_longer_than_the_limit_is_stopped() {
        let limit_bytes = SIZE as u64 - 1;
        let limit = LimitExceeded::of(&pumped(limit_bytes).0.unwrap_err());
        assert_eq!(limit, Some(LimitExceeded::TooLarge { limit_bytes }));
        assert_eq!(pumped(0).1.len(), CHUNK_BYTES);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error() {
        let folder = File::open("/").unwrap();
        let ended = Source::new(Box::new(folder), 0).pump(u64::MAX, |_| ());
        assert!(ended.is_err());
    }
}
