//! The received bytes of a file, hashed while they are read, with a peek.

use std::fs::File;
use std::io::{self, BufRead, Read};

use super::background::{LONG_BYTES, has_second_processor};
use super::digest::StreamHasher;
use super::prefetch::Prefetch;

/// Bytes per read: so many that hashing costs more than system calls, and so few that they fit into the cache.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// The origin of bytes.
pub enum Inner<'a> {
    /// A file that a thread may read.
    File(File),
    /// A pipe or a member of an archive.
    Other(Box<dyn Read + 'a>),
}

impl Read for Inner<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(target),
            Self::Other(other) => other.read(target),
        }
    }
}

/// A file, a pipe or a member of an archive that is being read.
pub struct Source<'a> {
    inner: Inner<'a>,
    expected_bytes: u64,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    /// Size and hash of the bytes so far.
    pub hasher: StreamHasher,
}

impl<'a> Source<'a> {
    /// Creates a source of about `expected_bytes` bytes.
    pub fn new(inner: Inner<'a>, expected_bytes: u64) -> Self {
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

    /// Returns whether it is a file long enough for a thread that reads and hashes it.
    pub fn is_long_file(&self) -> bool {
        matches!(self.inner, Inner::File(_)) && self.expected_bytes >= LONG_BYTES && has_second_processor()
    }

    /// Passes all bytes to `each`. For a long file, a thread reads and hashes the next bytes at the same time.
    ///
    /// # Errors
    /// If the bytes cannot be read, or there are more than `limit_bytes`.
    pub fn pump(&mut self, limit_bytes: u64, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let is_long = self.is_long_file();
        loop {
            let bytes = self.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            each(bytes);
            self.consume(usize::MAX);
            self.hasher.check(limit_bytes)?;
            if is_long && let Inner::File(file) = &mut self.inner {
                return Prefetch::new(file, &mut self.hasher, limit_bytes).pump(each);
            }
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
