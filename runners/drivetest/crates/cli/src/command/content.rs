//! The bytes of a file as received and as decompressed, both hashed on their way.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::sum::{Sum, Summed};

/// Bytes read at once: large enough that hashing and splitting outweigh the calls, small enough for the cache.
const CHUNK_BYTES: usize = 256 * 1024;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";

/// Logs shrink to about an eighth: enough to foresee whether the content is long.
const GZIP_RATIO: u64 = 8;

/// How a stream of content ended.
pub enum End {
    /// To its end.
    Whole,
    /// To the end of the compressed stream; this many bytes follow it.
    Trailing(u64),
    /// Damage in the compressed stream.
    Damaged(io::Error),
    /// More content than the limit.
    TooLarge,
}

/// A file being read.
pub struct Content {
    received: Received,
    /// None where the content is what was received: it is hashed once.
    content: Option<Sum>,
}

impl Content {
    /// Opens a file and looks at its first bytes.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let expected_bytes = file.metadata()?.len();
        let mut received = Received {
            file,
            buffer: vec![0; CHUNK_BYTES],
            begin: 0,
            end: 0,
            sum: Sum::new(expected_bytes),
        };
        let is_gzip = received.begins_with(GZIP_MAGIC)?;
        let content = is_gzip.then(|| Sum::new(expected_bytes.saturating_mul(GZIP_RATIO)));
        Ok(Self { received, content })
    }

    /// `none` or `gzip`.
    pub fn compression(&self) -> &'static str {
        if self.content.is_some() { "gzip" } else { "none" }
    }

    /// Bytes of content so far.
    pub fn content_bytes(&self) -> u64 {
        self.content.as_ref().unwrap_or(&self.received.sum).size_bytes()
    }

    /// The bytes as received, and as decompressed up to where reading stopped: None where that is the same.
    pub fn finish(self) -> (Summed, Option<Summed>) {
        (self.received.sum.finish(), self.content.map(Sum::finish))
    }

    /// Hands the content to `each`, at most `limit_bytes` of it, and reads the file to its end for its hash.
    ///
    /// # Errors
    /// Where the file cannot be read; damage in the compressed stream is an [`End`].
    pub fn read(&mut self, limit_bytes: u64, each: impl FnMut(&[u8])) -> io::Result<End> {
        let end = match &mut self.content {
            Some(content) => read_gzip(&mut self.received, content, limit_bytes, each),
            None => read_plain(&mut self.received, limit_bytes, each),
        }?;
        match end {
            End::TooLarge if self.content.is_none() => Ok(End::TooLarge),
            end => {
                while !self.received.fill_buf()?.is_empty() {
                    self.received.consume(usize::MAX);
                }
                Ok(end)
            }
        }
    }
}

fn read_plain(received: &mut Received, limit_bytes: u64, mut each: impl FnMut(&[u8])) -> io::Result<End> {
    loop {
        let bytes = received.fill_buf()?;
        if bytes.is_empty() {
            return Ok(End::Whole);
        }
        each(bytes);
        received.consume(usize::MAX);
        if received.sum.size_bytes() > limit_bytes {
            return Ok(End::TooLarge);
        }
    }
}

fn read_gzip(
    received: &mut Received,
    content: &mut Sum,
    limit_bytes: u64,
    mut each: impl FnMut(&[u8]),
) -> io::Result<End> {
    let mut buffer = vec![0; CHUNK_BYTES];
    while received.begins_with(GZIP_MAGIC)? {
        let mut member = GzDecoder::new(&mut *received);
        loop {
            match member.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    content.add(&buffer[..count]);
                    each(&buffer[..count]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Ok(End::Damaged(error)),
            }
            if content.size_bytes() > limit_bytes {
                return Ok(End::TooLarge);
            }
        }
    }
    received.rest().map(|rest| {
        if rest == 0 {
            End::Whole
        } else {
            End::Trailing(rest)
        }
    })
}

/// The file, hashed as it is read.
struct Received {
    file: File,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    sum: Sum,
}

impl Received {
    fn begins_with(&mut self, magic: &[u8]) -> io::Result<bool> {
        while self.end - self.begin < magic.len() {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            if self.read_more()? == 0 {
                break;
            }
        }
        Ok(self.buffer[self.begin..self.end].starts_with(magic))
    }

    fn read_more(&mut self) -> io::Result<usize> {
        loop {
            match self.file.read(&mut self.buffer[self.end..]) {
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

    /// Reads to the end and says how many bytes were left.
    fn rest(&mut self) -> io::Result<u64> {
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
}

impl Read for Received {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let count = bytes.read(target)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Received {
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
