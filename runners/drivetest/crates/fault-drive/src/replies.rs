//! Delayed replies. One thread sends them, so that the delay of one request never delays another.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::{Errno, ReplyData, ReplyWrite};

use crate::faults::Outcome;
use crate::filesystem::DriveState;

/// A reply to the kernel.
pub enum Reply {
    /// Offset and length of the bytes to return.
    Read(ReplyData, u64, u32),
    /// Number of bytes written.
    Written(ReplyWrite, u32),
}

/// A reply that is due at a known time.
pub struct PendingReply {
    /// Arrival of the request.
    pub arrived: Instant,
    /// Time to send the reply.
    pub due: Instant,
    /// Delay and error.
    pub outcome: Outcome,
    /// Whether the request is counted.
    pub is_counted: bool,
    /// The kernel's handle.
    pub reply: Reply,
}

impl PendingReply {
    /// Counts and sends the reply now.
    pub fn send(self, store: &DriveState, buffer: &mut Vec<u8>) {
        let counts = match self.reply {
            Reply::Read(..) => &store.reads,
            Reply::Written(..) => &store.writes,
        };
        if self.is_counted {
            let now = Instant::now();
            let lateness = now.saturating_duration_since(self.due);
            counts.record_reply(
                now.saturating_duration_since(self.arrived),
                lateness,
                self.outcome,
            );
        }
        match (self.reply, self.outcome.errno) {
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

impl PartialEq for PendingReply {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl Eq for PendingReply {}

impl PartialOrd for PendingReply {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PendingReply {
    /// Orders the earliest due time as the greatest, because a heap returns its greatest element.
    fn cmp(&self, other: &Self) -> Ordering {
        other.due.cmp(&self.due)
    }
}

#[derive(Default)]
struct Waiting {
    heap: BinaryHeap<PendingReply>,
    stalled_since: Option<Instant>,
    is_over: bool,
}

/// Replies that are not sent yet.
#[derive(Default)]
pub struct ReplyQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl ReplyQueue {
    /// Returns whether the drive is stalled.
    pub fn is_stalled(&self) -> bool {
        self.lock().stalled_since.is_some()
    }

    /// Queues a reply for the sending thread.
    pub fn schedule(&self, reply: PendingReply) {
        let mut waiting = self.lock();
        let is_first = waiting.heap.peek().is_none_or(|first| reply.due < first.due);
        waiting.heap.push(reply);
        drop(waiting);
        if is_first {
            self.changed.notify_one();
        }
    }

    /// Sends no reply until [`Self::resume`].
    pub fn stall(&self) {
        self.lock().stalled_since.get_or_insert_with(Instant::now);
    }

    /// Sends the overdue replies at once and returns how long the drive was stalled.
    pub fn resume(&self) -> Duration {
        let since = self.lock().stalled_since.take();
        self.changed.notify_one();
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Ends [`Self::run`] after the last reply.
    pub fn end(&self) {
        self.lock().is_over = true;
        self.resume();
    }

    /// Sends replies until [`Self::end`].
    pub fn run(&self, store: &Arc<DriveState>) {
        let mut buffer = Vec::new();
        while let Some(reply) = self.next() {
            reply.send(store, &mut buffer);
        }
    }

    /// Waits for the next due reply. Returns None at the end.
    fn next(&self) -> Option<PendingReply> {
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
