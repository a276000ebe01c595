//! A worker thread that processes a stream of bytes.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Minimum size of a stream that is worth a thread. Hashing 1 MiB takes 0.5 ms, starting a thread 0.1 ms.
pub const LONG_BYTES: u64 = 1 << 20;

/// Size of a buffer. Small enough to stay in the processor's cache until the worker reads it.
const BUFFER_BYTES: usize = 256 * 1024;

/// Maximum number of waiting buffers. Limits the memory if the worker is slow.
const WAITING_MAX: usize = 3;

/// Returns whether the machine can run two threads at once.
fn has_second_processor() -> bool {
    thread::available_parallelism().is_ok_and(|processors| processors.get() > 1)
}

/// Adds bytes to a state.
pub type Step<T> = fn(&mut T, &[u8]);

/// A state that processes a stream of bytes in order, in this thread or in another.
pub enum Background<T> {
    /// In the thread of the caller.
    Inline(T, Step<T>),
    /// In a worker thread.
    Threaded(Worker<T>),
}

/// The sending end of a worker thread that owns the state.
pub struct Worker<T> {
    thread: JoinHandle<T>,
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    filling: Vec<u8>,
}

impl<T: Send + 'static> Background<T> {
    /// Creates the state with `make`. Starts a thread if the stream is long.
    ///
    /// With one processor, or if no thread can be started, the caller's thread does the work.
    pub fn new(make: impl Fn() -> T + Clone + Send + 'static, step: Step<T>, is_long: bool) -> Self {
        let needs_thread = is_long && has_second_processor();
        let start = || Worker::start(make.clone(), step).ok();
        let worker = needs_thread.then(start).flatten();
        worker.map_or_else(|| Self::Inline(make(), step), Self::Threaded)
    }

    /// Adds the next bytes. Waits if the worker is behind.
    pub fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Inline(state, step) => step(state, bytes),
            Self::Threaded(worker) => worker.add(bytes),
        }
    }

    /// Returns the state after all bytes.
    ///
    /// # Panics
    /// If the worker panicked.
    pub fn finish(self) -> T {
        match self {
            Self::Inline(state, _) => state,
            Self::Threaded(worker) => worker.finish(),
        }
    }
}

impl<T: Send + 'static> Worker<T> {
    fn start(make: impl FnOnce() -> T + Send + 'static, step: Step<T>) -> io::Result<Self> {
        let (full, filled) = sync_channel(WAITING_MAX);
        let (emptied, empty) = channel();
        let thread = thread::Builder::new().spawn(move || work(make(), step, &filled, &emptied))?;
        let filling = Vec::with_capacity(BUFFER_BYTES);
        Ok(Self {
            thread,
            full,
            empty,
            filling,
        })
    }

    fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let free_bytes = BUFFER_BYTES - self.filling.len();
            let (now, later) = bytes.split_at(bytes.len().min(free_bytes));
            self.filling.extend_from_slice(now);
            bytes = later;
            if self.filling.len() == BUFFER_BYTES {
                self.send_buffer();
            }
        }
    }

    /// Sends the buffer. Sending fails only if the worker panicked, and then `finish` panics.
    fn send_buffer(&mut self) {
        let mut next = self.empty.try_recv().unwrap_or_default();
        next.clear();
        next.reserve_exact(BUFFER_BYTES);
        drop(self.full.send(std::mem::replace(&mut self.filling, next)));
    }

    fn finish(mut self) -> T {
        self.send_buffer();
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn work<T>(mut state: T, step: Step<T>, filled: &Receiver<Vec<u8>>, emptied: &Sender<Vec<u8>>) -> T {
    for buffer in filled {
        step(&mut state, &buffer);
        // At the end of the stream, the receiver of empty buffers is gone.
        drop(emptied.send(buffer));
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(is_long: bool, chunks: &[&[u8]]) -> Vec<u8> {
        let mut worker = Background::new(Vec::new, |all, bytes| all.extend_from_slice(bytes), is_long);
        chunks.iter().for_each(|chunk| worker.add(chunk));
        worker.finish()
    }

    #[test]
    fn bytes_arrive_in_order_inline_and_in_a_thread() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
        let sizes = [1, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, 1_000_000];
        for size in sizes {
            let chunks: Vec<&[u8]> = bytes.chunks(size.max(999)).collect();
            assert!(collected(true, &chunks) == bytes, "{size}");
        }
        assert!(collected(false, &[&bytes]) == bytes);
    }

    #[test]
    fn an_empty_stream_does_not_change_the_state() {
        assert!(collected(true, &[]).is_empty());
        assert!(collected(false, &[&[]]).is_empty());
    }

    #[test]
    #[should_panic = "this byte"]
    fn a_panic_of_the_worker_is_passed_on() {
        let mut worker = Background::new(|| (), |(), _| panic!("this byte"), true);
        (0..10).for_each(|_| worker.add(&[0; BUFFER_BYTES]));
        worker.finish();
    }
}
