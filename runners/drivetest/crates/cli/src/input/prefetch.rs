//! A long file, read and hashed by a thread of its own ahead of who takes its bytes.

use std::fs::File;
use std::io::{self, Read};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;

use super::digest::StreamHasher;
use super::source::CHUNK_BYTES;

/// Buffers that may wait to be taken: they bound the memory, however slow the taker is.
const WAITING_MAX: usize = 3;

/// The rest of a file.
pub struct Prefetch<'s> {
    file: &'s mut File,
    sum: &'s mut StreamHasher,
    limit_bytes: u64,
}

impl<'s> Prefetch<'s> {
    /// The rest of a file whose bytes so far are in a sum.
    pub fn new(file: &'s mut File, sum: &'s mut StreamHasher, limit_bytes: u64) -> Self {
        Self {
            file,
            sum,
            limit_bytes,
        }
    }

    /// Hands the bytes to `each`, those beyond the limit excepted; without a thread where the system gives none.
    ///
    /// # Errors
    /// Where the file cannot be read, or is longer than the limit.
    ///
    /// # Panics
    /// With the panic of the thread, where that had one.
    pub fn pump(mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let filled = self.with_thread(&mut each);
        filled.unwrap_or_else(|| {
            self.fill(|buffer| {
                each(&buffer);
                Some(buffer)
            })
        })
    }

    /// None where there is no thread.
    fn with_thread(&mut self, each: &mut impl FnMut(&[u8])) -> Option<io::Result<()>> {
        let (full, filled) = sync_channel(WAITING_MAX);
        let (emptied, empty) = channel();
        // The ends are the threads' own: one that panics lets the other end.
        let reading = move || {
            self.fill(|buffer| {
                full.send(buffer).ok()?;
                Some(empty.try_recv().unwrap_or_default())
            })
        };
        thread::scope(move |scope| {
            let thread = thread::Builder::new().spawn_scoped(scope, reading).ok()?;
            take(&filled, &emptied, each);
            Some(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// Fills buffers; `hand_over` takes each and gives the next, or None where no more are wanted.
    fn fill(&mut self, mut hand_over: impl FnMut(Vec<u8>) -> Option<Vec<u8>>) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let count = read(self.file, &mut buffer)?;
            buffer.truncate(count);
            self.sum.add(&buffer);
            if count == 0 {
                return Ok(());
            }
            let Some(next) = hand_over(buffer) else {
                return Ok(());
            };
            buffer = next;
            buffer.resize(CHUNK_BYTES, 0);
            self.sum.check(self.limit_bytes)?;
        }
    }
}

fn take(filled: &Receiver<Vec<u8>>, emptied: &Sender<Vec<u8>>, each: &mut impl FnMut(&[u8])) {
    for buffer in filled {
        each(&buffer);
        // Nobody takes buffers back at the end of the file.
        drop(emptied.send(buffer));
    }
}

fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test whose file cannot be made fails")]
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
        let (mut sum, mut got) = (StreamHasher::default(), Vec::new());
        let ended =
            Prefetch::new(&mut file(), &mut sum, limit_bytes).pump(|bytes| got.extend_from_slice(bytes));
        (ended, got, sum)
    }

    #[test]
    fn all_bytes_arrive_in_their_order_and_are_hashed() {
        let (ended, got, sum) = pumped(SIZE as u64);
        assert!(ended.is_ok() && got == bytes());
        let mut here = StreamHasher::default();
        here.add(&bytes());
        assert_eq!(sum.finish().sha256, here.finish().sha256);
    }

    #[test]
    fn a_file_longer_than_the_limit_is_stopped() {
        let limit_bytes = SIZE as u64 - 1;
        let stop = LimitExceeded::of(&pumped(limit_bytes).0.unwrap_err());
        assert_eq!(stop, Some(LimitExceeded::TooLarge { limit_bytes }));
        assert!(
            pumped(0).1.len() <= 2 * CHUNK_BYTES,
            "what waits may still arrive"
        );
    }

    #[test]
    fn a_taker_that_panics_leaves_no_thread_behind() {
        let (mut file, mut sum) = (file(), StreamHasher::default());
        let ahead = Prefetch::new(&mut file, &mut sum, u64::MAX);
        let ended = catch_unwind(AssertUnwindSafe(|| ahead.pump(|_| panic!("enough"))));
        assert!(ended.is_err());
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        let (mut folder, mut sum) = (File::open("/").unwrap(), StreamHasher::default());
        let ended = Prefetch::new(&mut folder, &mut sum, u64::MAX).pump(|_| ());
        assert!(ended.is_err());
    }
}
