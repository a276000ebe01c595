//! Bytes as received, hashed on their way, with a look ahead.

use std::fs::File;
use std::io::{self, BufRead, Read};

use super::background::{LONG_BYTES, is_possible};
use super::digest::StreamHasher;
use super::prefetch::Prefetch;

/// Bytes read at once: large enough that hashing and splitting outweigh the calls, small enough for the cache.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// Where bytes come from.
pub enum Inner<'a> {
    /// A file of this process' own, which a thread may read.
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

/// A file, a pipe or a member of an archive while it is read.
pub struct Source<'a> {
    inner: Inner<'a>,
    expected_bytes: u64,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    /// The bytes so far.
    pub sum: StreamHasher,
}

impl<'a> Source<'a> {
    /// A source at its begin, of about so many bytes.
    pub fn new(inner: Inner<'a>, expected_bytes: u64) -> Self {
        Self {
            inner,
            expected_bytes,
            buffer: vec![0; CHUNK_BYTES],
            begin: 0,
            end: 0,
            sum: StreamHasher::default(),
        }
    }

    /// The same, hashed by a thread of its own where it is long.
    pub fn hashed_behind(self) -> Self {
        Self {
            sum: self.sum.behind(self.expected_bytes),
            ..self
        }
    }

    /// Whether it is a file so long that a thread is to read and hash it.
    pub fn is_long_file(&self) -> bool {
        matches!(self.inner, Inner::File(_)) && self.expected_bytes >= LONG_BYTES && is_possible()
    }

    /// Hands all bytes to `each`, up to `limit_bytes`; of a long file while the next of them are read and hashed.
    ///
    /// # Errors
    /// Where the bytes cannot be read, or are more.
    pub fn pump(&mut self, limit_bytes: u64, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let is_long = self.is_long_file();
        loop {
            let bytes = self.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            each(bytes);
            self.consume(usize::MAX);
            self.sum.check(limit_bytes)?;
            if is_long && let Inner::File(file) = &mut self.inner {
                return Prefetch::new(file, &mut self.sum, limit_bytes).pump(each);
            }
        }
    }

    /// The next bytes, `wanted` of them where so many are left, which are not taken by this.
    ///
    /// # Errors
    /// Where the bytes cannot be read.
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

    /// Reads to the end and says how many bytes were left.
    ///
    /// # Errors
    /// Where the bytes cannot be read.
    pub fn rest(&mut self) -> io::Result<u64> {
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
                    self.sum.add(&self.buffer[self.end..self.end + count]);
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
