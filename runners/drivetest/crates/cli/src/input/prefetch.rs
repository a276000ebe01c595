//! Prefetching of a long file: a thread reads and hashes it ahead of the consumer.

use std::fs::File;
use std::io::{self, Read};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;

use super::digest::StreamHasher;
use super::source::CHUNK_BYTES;

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
    use crate::input::bomb_limits::LimitExceeded;

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
