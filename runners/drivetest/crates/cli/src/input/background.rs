//! Work on a stream of bytes, done behind the stream's back by a thread of its own.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Bytes from which a stream is worth a thread: to hash 1 MiB takes half a millisecond, to begin a thread a tenth.
pub const LONG_BYTES: u64 = 1 << 20;

/// Bytes handed over at once: few enough to stay in a processor's cache on their way.
const BUFFER_BYTES: usize = 256 * 1024;

/// Buffers that may wait: they bound the memory of the work, however slow it is.
const WAITING_MAX: usize = 3;

/// Whether two threads are faster than one.
pub fn is_possible() -> bool {
    thread::available_parallelism().is_ok_and(|processors| processors.get() > 1)
}

/// What bytes do to a state.
pub type Step<T> = fn(&mut T, &[u8]);

/// A state to which a stream of bytes is added in its order, here or on another thread.
pub enum Background<T> {
    /// In the thread of the caller.
    Here(T, Step<T>),
    /// In a thread of its own.
    There(Worker<T>),
}

/// The other end of a thread with the state.
pub struct Worker<T> {
    thread: JoinHandle<T>,
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    filling: Vec<u8>,
}

impl<T: Send + 'static> Background<T> {
    /// A state at the start of a stream, as `make` gives it; work on a short stream is not worth a thread.
    ///
    /// Where the machine has one processor, or the system gives no thread, the work is done here.
    pub fn new(make: impl Fn() -> T + Clone + Send + 'static, step: Step<T>, is_long: bool) -> Self {
        let wanted = is_long && is_possible();
        let worker = wanted.then(|| Worker::start(make.clone(), step).ok()).flatten();
        worker.map_or_else(|| Self::Here(make(), step), Self::There)
    }

    /// Adds the next bytes; waits where the work lags behind.
    pub fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Here(state, step) => step(state, bytes),
            Self::There(worker) => worker.add(bytes),
        }
    }

    /// The state after all bytes.
    ///
    /// # Panics
    /// With the panic of the work, where that had one.
    pub fn finish(self) -> T {
        match self {
            Self::Here(state, _) => state,
            Self::There(worker) => worker.finish(),
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
            let room = BUFFER_BYTES - self.filling.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.filling.extend_from_slice(now);
            bytes = later;
            if self.filling.len() == BUFFER_BYTES {
                self.hand_over();
            }
        }
    }

    /// Only a worker that panicked takes no buffer; `finish` goes on with its panic.
    fn hand_over(&mut self) {
        let mut next = self.empty.try_recv().unwrap_or_default();
        next.clear();
        next.reserve_exact(BUFFER_BYTES);
        drop(self.full.send(std::mem::replace(&mut self.filling, next)));
    }

    fn finish(mut self) -> T {
        self.hand_over();
        drop(self.full);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn work<T>(mut state: T, step: Step<T>, filled: &Receiver<Vec<u8>>, emptied: &Sender<Vec<u8>>) -> T {
    for buffer in filled {
        step(&mut state, &buffer);
        // Nobody takes buffers back at the end of the stream.
        drop(emptied.send(buffer));
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(is_long: bool, chunks: &[&[u8]]) -> Vec<u8> {
        let mut behind = Background::new(Vec::new, |all, bytes| all.extend_from_slice(bytes), is_long);
        chunks.iter().for_each(|chunk| behind.add(chunk));
        behind.finish()
    }

    #[test]
    fn bytes_arrive_in_their_order_here_and_there() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
        let sizes = [1, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, 1_000_000];
        for size in sizes {
            let chunks: Vec<&[u8]> = bytes.chunks(size.max(999)).collect();
            assert!(gathered(true, &chunks) == bytes, "{size}");
        }
        assert!(gathered(false, &[&bytes]) == bytes);
    }

    #[test]
    fn a_stream_without_bytes_leaves_the_state_as_it_was() {
        assert!(gathered(true, &[]).is_empty());
        assert!(gathered(false, &[&[]]).is_empty());
    }

    #[test]
    #[should_panic = "this byte"]
    fn a_panic_of_the_work_is_not_swallowed() {
        let mut behind = Background::new(|| (), |(), _| panic!("this byte"), true);
        (0..10).for_each(|_| behind.add(&[0; BUFFER_BYTES]));
        behind.finish();
    }
}
