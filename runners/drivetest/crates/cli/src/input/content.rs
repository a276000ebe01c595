//! The content of a file: its bytes decompressed, counted, hashed and bounded.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::decompress::{Compression, Decoder};
use super::digest::{StreamDigest, StreamHasher};
use super::limits::LimitExceeded;
use super::source::{CHUNK_BYTES, Inner, Source};

/// Logs shrink to about an eighth: enough to foresee whether the content is long.
const USUAL_RATIO: u64 = 8;

/// How a stream of content ended.
pub enum End {
    /// To its end.
    Whole,
    /// To the end of the compressed stream; this many bytes follow it.
    Trailing(u64),
    /// Damage in the compressed stream.
    Damaged(io::Error),
    /// A limit was reached.
    Stopped(LimitExceeded),
}

/// A content being read.
pub struct Content<'a> {
    decoder: Decoder<'a>,
    /// None where the content is what was received: it is hashed once.
    content: Option<StreamHasher>,
    held: Vec<u8>,
    /// What the look ahead met, told when it is reached.
    held_error: Option<io::Error>,
    limit_bytes: u64,
}

impl<'a> Content<'a> {
    /// The content of a file, or of standard input for `-`.
    ///
    /// # Errors
    /// Where the file cannot be opened or read.
    pub fn open(path: &Path, limit_bytes: u64) -> io::Result<Self> {
        if path == Path::new("-") {
            return Self::of(Box::new(io::stdin()), u64::MAX, limit_bytes);
        }
        let file = File::open(path)?;
        let expected_bytes = file.metadata()?.len();
        Self::begin(Inner::File(file), expected_bytes, limit_bytes)
    }

    /// The content of about so many bytes as received, at most `limit_bytes` of it.
    ///
    /// # Errors
    /// Where the bytes cannot be read.
    pub fn of(received: Box<dyn Read + 'a>, expected_bytes: u64, limit_bytes: u64) -> io::Result<Self> {
        Self::begin(Inner::Other(received), expected_bytes, limit_bytes)
    }

    fn begin(received: Inner<'a>, expected_bytes: u64, limit_bytes: u64) -> io::Result<Self> {
        let decoder = Decoder::new(Source::new(received, expected_bytes))?;
        let is_compressed = decoder.compression() != Compression::None;
        Ok(Self {
            decoder,
            content: is_compressed
                .then(|| StreamHasher::default().behind(expected_bytes.saturating_mul(USUAL_RATIO))),
            held: Vec::new(),
            held_error: None,
            limit_bytes,
        })
    }

    /// How it is compressed.
    pub fn compression(&self) -> Compression {
        self.decoder.compression()
    }

    /// Bytes of content so far.
    pub fn size_bytes(&mut self) -> u64 {
        match &self.content {
            Some(content) => content.size_bytes(),
            None => self.decoder.source().sum.size_bytes(),
        }
    }

    /// The bytes as received, and as decompressed up to where reading stopped: None where that is the same.
    pub fn finish(self) -> (StreamDigest, Option<StreamDigest>) {
        let received = self.decoder.into_source().sum.finish();
        (received, self.content.map(StreamHasher::finish))
    }

    /// The first bytes of the content, `wanted` of them where so many are there; they are read again later.
    ///
    /// # Errors
    /// Where the file cannot be read; damage within them is no error yet.
    pub fn head(&mut self, wanted: usize) -> io::Result<Vec<u8>> {
        if self.is_plain() {
            return Ok(self.decoder.source().peek(wanted)?.to_owned());
        }
        let mut buffer = [0; 4096];
        while self.held.len() < wanted && self.held_error.is_none() {
            match self.decoder.read(&mut buffer) {
                Ok(0) => break,
                Err(error) => {
                    self.held_error = Some(error);
                    break;
                }
                Ok(count) => self.held.extend_from_slice(&buffer[..count]),
            }
        }
        Ok(self.held[..self.held.len().min(wanted)].to_owned())
    }

    /// Hands the content to `each` and reads the file to its end for its hash, but for one stopped at a limit.
    ///
    /// # Errors
    /// Where the file cannot be read; damage in the compressed stream is an [`End`].
    pub fn pump(&mut self, each: impl FnMut(&[u8])) -> io::Result<End> {
        let is_plain = self.is_plain();
        let pumped = if is_plain {
            self.decoder.source().pump(self.limit_bytes, each)
        } else {
            self.pump_decoded(each)
        };
        self.end(pumped)
    }

    /// How reading ended that gave this answer; the file is read to its end for its hash, if not stopped at a limit.
    ///
    /// # Errors
    /// Where the file cannot be read.
    fn end(&mut self, read: io::Result<()>) -> io::Result<End> {
        let is_plain = self.is_plain();
        let broken = match read.map_err(|error| (LimitExceeded::of(&error), error)) {
            Ok(()) => None,
            Err((Some(stop), _)) if is_plain => return Ok(End::Stopped(stop)),
            Err((None, error)) if is_plain => return Err(error),
            Err((Some(stop), _)) => Some(End::Stopped(stop)),
            Err((None, error)) => Some(End::Damaged(error)),
        };
        let rest = self.pass_over()?;
        let is_over = rest == 0 || is_plain;
        Ok(broken.unwrap_or(if is_over { End::Whole } else { End::Trailing(rest) }))
    }

    /// How reading ended of an archive, whose damage is told even where it is not compressed.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn end_of_archive(&mut self, read: io::Result<()>) -> io::Result<End> {
        // Background its last entry an archive is padded.
        let read = read.and_then(|()| io::copy(self, &mut io::sink()));
        let end = match read.map_err(|error| (LimitExceeded::of(&error), error)) {
            Ok(_) => End::Whole,
            Err((Some(stop), _)) => End::Stopped(stop),
            Err((None, error)) => End::Damaged(error),
        };
        self.pass_over()?;
        Ok(end)
    }

    /// Reads what was received to its end, without its content.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn pass_over(&mut self) -> io::Result<u64> {
        self.decoder.source().rest()
    }

    fn is_plain(&self) -> bool {
        self.compression() == Compression::None
    }

    fn pump_decoded(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            match self.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => each(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Read for Content<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let count = if !self.held.is_empty() {
            let count = self.held.as_slice().read(target)?;
            self.held.drain(..count);
            count
        } else if let Some(error) = self.held_error.take() {
            return Err(error);
        } else {
            self.decoder.read(target)?
        };
        if let Some(content) = &mut self.content {
            content.add(&target[..count]);
        }
        let received_bytes = self.decoder.source().sum.size_bytes();
        LimitExceeded::check(self.size_bytes(), received_bytes, self.limit_bytes)?;
        Ok(count)
    }
}
