//! The content of a file: decompressed, counted, hashed and limited.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::decompress::{Compression, Decoder};
use super::digest::{StreamDigest, StreamHasher};
use super::limits::LimitExceeded;
use super::source::{CHUNK_BYTES, Source};

/// Usual compression ratio of logs, to estimate the length of the content.
const USUAL_RATIO: u64 = 8;

/// How the reading of content ended.
pub enum End {
    /// All content was read.
    Complete,
    /// The compressed stream was read; this many bytes follow it.
    Trailing(u64),
    /// The compressed stream is damaged.
    Damaged(io::Error),
    /// A limit was reached.
    Stopped(LimitExceeded),
}

/// The content of a file that is being read.
pub struct Content<'a> {
    decoder: Decoder<'a>,
    /// None if the file is not compressed, so that it is hashed only once.
    content: Option<StreamHasher>,
    peeked: Vec<u8>,
    /// An error during a peek, returned when it is reached.
    peek_error: Option<io::Error>,
    limit_bytes: u64,
}

impl<'a> Content<'a> {
    /// Opens the content of a file, or of standard input for `-`.
    ///
    /// # Errors
    /// If the file cannot be opened or read.
    pub fn open(path: &Path, limit_bytes: u64) -> io::Result<Self> {
        if path == Path::new("-") {
            return Self::of(Box::new(io::stdin()), u64::MAX, limit_bytes);
        }
        let file = File::open(path)?;
        let expected_bytes = file.metadata()?.len();
        Self::of(Box::new(file), expected_bytes, limit_bytes)
    }

    /// Opens the content of about `expected_bytes` received bytes, at most `limit_bytes` of it.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    pub fn of(received: Box<dyn Read + 'a>, expected_bytes: u64, limit_bytes: u64) -> io::Result<Self> {
        let decoder = Decoder::new(Source::new(received, expected_bytes))?;
        let is_compressed = decoder.compression() != Compression::None;
        let content_bytes = expected_bytes.saturating_mul(USUAL_RATIO);
        Ok(Self {
            decoder,
            content: is_compressed.then(|| StreamHasher::default().in_background(content_bytes)),
            peeked: Vec::new(),
            peek_error: None,
            limit_bytes,
        })
    }

    /// Returns the compression.
    pub fn compression(&self) -> Compression {
        self.decoder.compression()
    }

    /// Returns whether a thread should process the content.
    pub fn is_long(&mut self) -> bool {
        !self.is_plain() || self.decoder.source().is_long()
    }

    /// Returns the bytes of content so far.
    pub fn size_bytes(&mut self) -> u64 {
        match &self.content {
            Some(content) => content.size_bytes(),
            None => self.decoder.source().hasher.size_bytes(),
        }
    }

    /// Returns the digests of the received bytes and of the decompressed ones. The second is None without compression.
    pub fn finish(self) -> (StreamDigest, Option<StreamDigest>) {
        let received = self.decoder.into_source().hasher.finish();
        (received, self.content.map(StreamHasher::finish))
    }

    /// Returns the first `wanted` bytes of the content, or all if there are fewer. They are read again later.
    ///
    /// # Errors
    /// If the file cannot be read. Damage within these bytes is reported later.
    pub fn head(&mut self, wanted: usize) -> io::Result<Vec<u8>> {
        if self.is_plain() {
            return Ok(self.decoder.source().peek(wanted)?.to_owned());
        }
        let mut buffer = [0; 4096];
        while self.peeked.len() < wanted && self.peek_error.is_none() {
            match self.decoder.read(&mut buffer) {
                Ok(0) => break,
                Err(error) => {
                    self.peek_error = Some(error);
                    break;
                }
                Ok(count) => self.peeked.extend_from_slice(&buffer[..count]),
            }
        }
        Ok(self.peeked[..self.peeked.len().min(wanted)].to_owned())
    }

    /// Passes the content to `each`, then reads the file to its end for its hash, unless a limit stopped it.
    ///
    /// # Errors
    /// If the file cannot be read. Damage in the compressed stream is an [`End`].
    pub fn pump(&mut self, each: impl FnMut(&[u8])) -> io::Result<End> {
        let pumped = match self.is_plain() {
            true => self.decoder.source().pump(self.limit_bytes, each),
            false => self.pump_decoded(each),
        };
        self.end(pumped)
    }

    /// Returns how the reading with this result ended. Reads the file to its end for its hash, unless a limit stopped it.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn end(&mut self, read: io::Result<()>) -> io::Result<End> {
        let is_plain = self.is_plain();
        let failure = match read.map_err(|error| (LimitExceeded::of(&error), error)) {
            Ok(()) => None,
            Err((Some(limit), _)) if is_plain => return Ok(End::Stopped(limit)),
            Err((None, error)) if is_plain => return Err(error),
            Err((Some(limit), _)) => Some(End::Stopped(limit)),
            Err((None, error)) => Some(End::Damaged(error)),
        };
        let success = match self.skip_rest()? {
            rest if rest > 0 && !is_plain => End::Trailing(rest),
            _ => End::Complete,
        };
        Ok(failure.unwrap_or(success))
    }

    /// Returns how the reading of an archive ended. An archive can be damaged even if it is not compressed.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn end_of_archive(&mut self, read: io::Result<()>) -> io::Result<End> {
        // Padding follows the last entry.
        let read = read.and_then(|()| io::copy(self, &mut io::sink()));
        let end = match read.map_err(|error| (LimitExceeded::of(&error), error)) {
            Ok(_) => End::Complete,
            Err((Some(limit), _)) => End::Stopped(limit),
            Err((None, error)) => End::Damaged(error),
        };
        self.skip_rest()?;
        Ok(end)
    }

    /// Reads the received bytes to their end without decompressing them, and returns their number.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn skip_rest(&mut self) -> io::Result<u64> {
        self.decoder.source().skip_rest()
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
        let count = if !self.peeked.is_empty() {
            let count = self.peeked.as_slice().read(target)?;
            self.peeked.drain(..count);
            count
        } else if let Some(error) = self.peek_error.take() {
            return Err(error);
        } else {
            self.decoder.read(target)?
        };
        if let Some(content) = &mut self.content {
            content.add(&target[..count]);
        }
        let received_bytes = self.decoder.source().hasher.size_bytes();
        LimitExceeded::check(self.size_bytes(), received_bytes, self.limit_bytes)?;
        Ok(count)
    }
}
