//! The end of a run before its time: the first cause is kept, everybody sees the flag, the collector wakes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::event::{EventfdFlags, eventfd};

use crate::faults::Fault;
use crate::stream::Operation;

/// Why a run ends before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A request was later than max-lag-sec.
    Lag(Operation),
    /// Requests were still out when the time to wait for them was over.
    Silence,
    /// So many requests failed that the last one ends the run.
    Device(Fault),
    /// The system takes no more requests from io_uring, with this error number.
    Ring(i32),
    /// Asked to, by this signal.
    Signal(&'static str),
    /// The log or the side file took no more.
    Output,
}

/// The flag and the first cause.
#[derive(Debug)]
pub struct Stop {
    is_raised: AtomicBool,
    cause: OnceLock<Cause>,
    bell: OwnedFd,
}

impl Stop {
    /// Nothing stops yet.
    ///
    /// # Errors
    /// When the system gives no event descriptor.
    pub fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self {
            is_raised: AtomicBool::new(false),
            cause: OnceLock::new(),
            bell,
        })
    }

    /// Stops the run; a cause that comes later than another is dropped.
    pub fn raise(&self, cause: Cause) {
        // A second cause changes nothing.
        let _ = self.cause.set(cause);
        self.is_raised.store(true, Relaxed);
        self.ring();
    }

    /// Wakes the collector.
    pub fn ring(&self) {
        // A full counter has woken it already.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Takes the wakings so far, so that the next wait waits.
    pub fn hush(&self) {
        // Nothing rung yet is as good.
        let _ = rustix::io::read(&self.bell, &mut [0_u8; 8]);
    }

    /// Whether workers shall end.
    pub fn is_raised(&self) -> bool {
        self.is_raised.load(Relaxed)
    }

    /// The first cause; None while nothing stops.
    pub fn cause(&self) -> Option<Cause> {
        self.cause.get().copied()
    }

    /// Readable after a ring.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cause_is_kept() {
        let stop = Stop::new().unwrap();
        assert_eq!((stop.is_raised(), stop.cause()), (false, None));
        stop.raise(Cause::Signal("TERM"));
        stop.raise(Cause::Silence);
        assert_eq!(
            (stop.is_raised(), stop.cause()),
            (true, Some(Cause::Signal("TERM")))
        );
    }
}
