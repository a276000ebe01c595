//! Answers that wait for their time: one thread sends them, so that no request's delay ever delays another.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::{Errno, ReplyData, ReplyWrite};

use crate::faults::Fate;
use crate::file::Store;

/// How a request is answered.
pub enum Reply {
    /// With the bytes from here, that many.
    Read(ReplyData, u64, u32),
    /// That so many bytes were written.
    Written(ReplyWrite, u32),
}

/// A request whose fate is known.
pub struct Answer {
    /// When the drive got to know of it.
    pub arrived: Instant,
    /// When it is to be answered.
    pub due: Instant,
    /// What becomes of it.
    pub fate: Fate,
    /// Whether the rules watch it.
    pub is_watched: bool,
    /// To whom.
    pub reply: Reply,
}

impl Answer {
    /// Sends it now.
    pub fn send(self, store: &Store, buffer: &mut Vec<u8>) {
        let counts = match self.reply {
            Reply::Read(..) => &store.reads,
            Reply::Written(..) => &store.writes,
        };
        if self.is_watched {
            counts.answer(self.arrived.elapsed(), self.fate);
        }
        match (self.reply, self.fate.errno) {
            (Reply::Read(reply, ..), Some(errno)) => reply.error(Errno::from_i32(errno)),
            (Reply::Written(reply, _), Some(errno)) => reply.error(Errno::from_i32(errno)),
            (Reply::Written(reply, length), None) => reply.written(length),
            (Reply::Read(reply, offset, length), None) => {
                buffer.resize(length as usize, 0);
                match store.memory.read(offset, buffer) {
                    Ok(bytes) => reply.data(bytes),
                    Err(error) => reply.error(Errno::from(error)),
                }
            }
        }
    }
}

impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl Eq for Answer {}

impl PartialOrd for Answer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Answer {
    /// The one that is due first is the greatest: a heap gives its greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.due.cmp(&self.due)
    }
}

#[derive(Default)]
struct Waiting {
    heap: BinaryHeap<Answer>,
    stalled_since: Option<Instant>,
    is_over: bool,
}

/// The answers that are not sent yet.
#[derive(Default)]
pub struct Answers {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Answers {
    /// Whether nothing is answered now.
    pub fn is_stalled(&self) -> bool {
        self.lock().stalled_since.is_some()
    }

    /// Hands an answer to the thread that sends it in time.
    pub fn hold(&self, answer: Answer) {
        let mut waiting = self.lock();
        let is_first = waiting.heap.peek().is_none_or(|first| answer.due < first.due);
        waiting.heap.push(answer);
        drop(waiting);
        if is_first {
            self.changed.notify_one();
        }
    }

    /// Answers nothing until [`Self::resume`].
    pub fn stall(&self) {
        self.lock().stalled_since.get_or_insert_with(Instant::now);
    }

    /// Answers again, all at once what has come due; returns how long nothing was answered.
    pub fn resume(&self) -> Duration {
        let since = self.lock().stalled_since.take();
        self.changed.notify_one();
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Ends [`Self::run`] once all is answered.
    pub fn end(&self) {
        self.lock().is_over = true;
        self.resume();
    }

    /// Sends answers until the end.
    pub fn run(&self, store: &Arc<Store>) {
        let mut buffer = Vec::new();
        while let Some(answer) = self.next() {
            answer.send(store, &mut buffer);
        }
    }

    /// Waits for the next answer that is due; None at the end.
    fn next(&self) -> Option<Answer> {
        let mut waiting = self.lock();
        loop {
            let now = Instant::now();
            let left = waiting
                .heap
                .peek()
                .map(|first| first.due.saturating_duration_since(now));
            waiting = match left {
                _ if waiting.stalled_since.is_some() => self.wait(waiting, None),
                Some(Duration::ZERO) => return waiting.heap.pop(),
                None if waiting.is_over => return None,
                left => self.wait(waiting, left),
            };
        }
    }

    fn wait<'a>(
        &'a self,
        waiting: MutexGuard<'a, Waiting>,
        left: Option<Duration>,
    ) -> MutexGuard<'a, Waiting> {
        match left {
            None => self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            Some(left) => {
                self.changed
                    .wait_timeout(waiting, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
