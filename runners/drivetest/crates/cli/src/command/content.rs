//! The bytes of a file as received and as decompressed, both hashed on their way.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;
use sha2::{Digest, Sha256};

/// Bytes read at once: large enough that hashing and splitting outweigh the calls, small enough for the cache.
const CHUNK_BYTES: usize = 256 * 1024;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";

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

/// Bytes counted and hashed.
#[derive(Default)]
pub struct Sum {
    /// How many.
    pub size_bytes: u64,
    sha256: Sha256,
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        self.size_bytes += bytes.len() as u64;
        self.sha256.update(bytes);
    }

    /// The hash in hexadecimal.
    pub fn sha256(&self) -> String {
        drivetest_log::judge::profile::hex(&self.sha256.clone().finalize())
    }
}

/// A file being read.
pub struct Content {
    received: Received,
    content: Sum,
    is_gzip: bool,
}

impl Content {
    /// Opens a file and looks at its first bytes.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let mut received = Received {
            file,
            buffer: vec![0; CHUNK_BYTES],
            begin: 0,
            end: 0,
            sum: Sum::default(),
        };
        let is_gzip = received.begins_with(GZIP_MAGIC)?;
        Ok(Self {
            received,
            content: Sum::default(),
            is_gzip,
        })
    }

    /// `none` or `gzip`.
    pub fn compression(&self) -> &'static str {
        if self.is_gzip { "gzip" } else { "none" }
    }

    /// The bytes as received.
    pub fn received(&self) -> &Sum {
        &self.received.sum
    }

    /// The bytes as decompressed, up to where reading stopped.
    pub fn content(&self) -> &Sum {
        if self.is_gzip {
            &self.content
        } else {
            &self.received.sum
        }
    }

    /// Hands the content to `each`, at most `limit_bytes` of it, and reads the file to its end for its hash.
    ///
    /// # Errors
    /// Where the file cannot be read; damage in the compressed stream is an [`End`].
    pub fn read(&mut self, limit_bytes: u64, each: impl FnMut(&[u8])) -> io::Result<End> {
        let end = if self.is_gzip {
            self.read_gzip(limit_bytes, each)
        } else {
            self.read_plain(limit_bytes, each)
        }?;
        match end {
            End::TooLarge if !self.is_gzip => Ok(End::TooLarge),
            end => {
                while !self.received.fill_buf()?.is_empty() {
                    self.received.consume(usize::MAX);
                }
                Ok(end)
            }
        }
    }

    fn read_plain(&mut self, limit_bytes: u64, mut each: impl FnMut(&[u8])) -> io::Result<End> {
        loop {
            let bytes = self.received.fill_buf()?;
            if bytes.is_empty() {
                return Ok(End::Whole);
            }
            each(bytes);
            self.received.consume(usize::MAX);
            if self.received.sum.size_bytes > limit_bytes {
                return Ok(End::TooLarge);
            }
        }
    }

    fn read_gzip(&mut self, limit_bytes: u64, mut each: impl FnMut(&[u8])) -> io::Result<End> {
        let mut buffer = vec![0; CHUNK_BYTES];
        while self.received.begins_with(GZIP_MAGIC)? {
            let mut member = GzDecoder::new(&mut self.received);
            loop {
                match member.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => {
                        self.content.add(&buffer[..count]);
                        each(&buffer[..count]);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Ok(End::Damaged(error)),
                }
                if self.content.size_bytes > limit_bytes {
                    return Ok(End::TooLarge);
                }
            }
        }
        self.received.rest().map(|rest| {
            if rest == 0 {
                End::Whole
            } else {
                End::Trailing(rest)
            }
        })
    }
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
