//! The received bytes of a file, hashed while they are read, with a peek. A thread reads ahead in a long file.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;

use crate::input::background::{LONG_BYTES, has_second_processor};
use crate::input::digest::StreamHasher;

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

/// Maximum number of waiting buffers. Limits the memory if the consumer is slow.
const WAITING_MAX: usize = 3;

/// The rest of a file.
pub struct Prefetch<'s> {
    file: &'s mut File,
    hasher: &'s mut StreamHasher,
    limit_bytes: u64,
}

impl<'s> Prefetch<'s> {
    /// Creates a prefetch of the rest of a file whose first bytes are hashed already.
    pub fn new(file: &'s mut File, hasher: &'s mut StreamHasher, limit_bytes: u64) -> Self {
        Self {
            file,
            hasher,
            limit_bytes,
        }
    }

    /// Passes the bytes up to the limit to `each`. Works without a thread if none can be started.
    ///
    /// # Errors
    /// If the file cannot be read or is longer than the limit.
    ///
    /// # Panics
    /// If the thread panicked.
    pub fn pump(mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let filled = self.with_thread(&mut each);
        filled.unwrap_or_else(|| {
            self.fill(|buffer| {
                each(&buffer);
                Some(buffer)
            })
        })
    }

    /// Returns None if no thread can be started.
    fn with_thread(&mut self, each: &mut impl FnMut(&[u8])) -> Option<io::Result<()>> {
        let (full, filled) = sync_channel(WAITING_MAX);
        let (emptied, empty) = channel();
        // Each thread owns its end of the channels, so that a panic in one ends the other.
        let reading = move || {
            self.fill(|buffer| {
                full.send(buffer).ok()?;
                Some(empty.try_recv().unwrap_or_default())
            })
        };
        thread::scope(move |scope| {
            let thread = thread::Builder::new().spawn_scoped(scope, reading).ok()?;
            consume(&filled, &emptied, each);
            Some(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// Fills buffers. `exchange` takes each and returns an empty one, or None to stop.
    fn fill(&mut self, mut exchange: impl FnMut(Vec<u8>) -> Option<Vec<u8>>) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let count = read(self.file, &mut buffer)?;
            buffer.truncate(count);
            self.hasher.add(&buffer);
            if count == 0 {
                return Ok(());
            }
            let Some(next) = exchange(buffer) else {
                return Ok(());
            };
            buffer = next;
            buffer.resize(CHUNK_BYTES, 0);
            self.hasher.check(self.limit_bytes)?;
        }
    }
}

fn consume(filled: &Receiver<Vec<u8>>, emptied: &Sender<Vec<u8>>, each: &mut impl FnMut(&[u8])) {
    for buffer in filled {
        each(&buffer);
        // At the end of the file, the receiver of empty buffers is gone.
        drop(emptied.send(buffer));
    }
}

fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::io::Write;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::input::limits::LimitExceeded;

    const SIZE: usize = 3 * CHUNK_BYTES + 1;

    fn bytes() -> Vec<u8> {
        (0..SIZE).map(|at| (at % 251) as u8).collect()
    }

    fn file() -> File {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        File::create(&path).unwrap().write_all(&bytes()).unwrap();
        File::open(&path).unwrap()
    }

    fn pumped(limit_bytes: u64) -> (io::Result<()>, Vec<u8>, StreamHasher) {
        let (mut hasher, mut got) = (StreamHasher::default(), Vec::new());
        let ended =
            Prefetch::new(&mut file(), &mut hasher, limit_bytes).pump(|bytes| got.extend_from_slice(bytes));
        (ended, got, hasher)
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
    fn a_file_longer_than_the_limit_is_stopped() {
        let limit_bytes = SIZE as u64 - 1;
        let limit = LimitExceeded::of(&pumped(limit_bytes).0.unwrap_err());
        assert_eq!(limit, Some(LimitExceeded::TooLarge { limit_bytes }));
        assert!(
            pumped(0).1.len() <= 2 * CHUNK_BYTES,
            "waiting buffers may still arrive"
        );
    }

    #[test]
    fn a_consumer_that_panics_ends_the_thread() {
        let (mut file, mut hasher) = (file(), StreamHasher::default());
        let prefetch = Prefetch::new(&mut file, &mut hasher, u64::MAX);
        let ended = catch_unwind(AssertUnwindSafe(|| prefetch.pump(|_| panic!("enough"))));
        assert!(ended.is_err());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error() {
        let (mut folder, mut hasher) = (File::open("/").unwrap(), StreamHasher::default());
        let ended = Prefetch::new(&mut folder, &mut hasher, u64::MAX).pump(|_| ());
        assert!(ended.is_err());
    }
}
