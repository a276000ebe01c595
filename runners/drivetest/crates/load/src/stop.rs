//! The stop signal of a run: the first reason wins, all threads see the flag, and the collector wakes up.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::event::{EventfdFlags, eventfd};

use crate::schedule::stream::Operation;
use crate::stats::io_errors::FailedRequest;

/// The reason for an early end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// A request was later than max-lag-sec.
    Lag(Operation),
    /// Requests were still outstanding after the time limit at the end.
    NoResponse,
    /// `max-errors` requests have failed; this is the last of them.
    Device(FailedRequest),
    /// io_uring accepts no more requests and returns this error number.
    Ring(i32),
    /// This signal arrived.
    Signal(&'static str),
    /// The log or the side file cannot be written.
    Output,
}

/// The stop flag and the first reason.
#[derive(Debug)]
pub struct StopSignal {
    is_raised: AtomicBool,
    stop_reason: OnceLock<StopReason>,
    wakeup: OwnedFd,
}

impl StopSignal {
    /// Creates a signal that is not raised.
    ///
    /// # Errors
    /// If the system provides no event descriptor.
    pub fn new() -> io::Result<Self> {
        let wakeup = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self {
            is_raised: AtomicBool::new(false),
            stop_reason: OnceLock::new(),
            wakeup,
        })
    }

    /// Stops the run. Later reasons are ignored.
    pub fn raise(&self, stop_reason: StopReason) {
        // A second reason changes nothing.
        let _ = self.stop_reason.set(stop_reason);
        self.is_raised.store(true, Relaxed);
        self.wake();
    }

    /// Wakes the collector.
    pub fn wake(&self) {
        // If the counter is full, the collector is awake already.
        let _ = rustix::io::write(&self.wakeup, &1_u64.to_ne_bytes());
    }

    /// Consumes the pending wakeups, so that the next wait blocks.
    pub fn clear_wakeups(&self) {
        // No pending wakeup is fine as well.
        let _ = rustix::io::read(&self.wakeup, &mut [0_u8; 8]);
    }

    /// Returns whether workers must end.
    pub fn is_raised(&self) -> bool {
        self.is_raised.load(Relaxed)
    }

    /// Returns the first reason, or None if the run is not stopped.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stop_reason.get().copied()
    }

    /// Returns a descriptor that is readable after a wakeup.
    pub fn wakeup(&self) -> BorrowedFd<'_> {
        self.wakeup.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_wins() {
        let stop = StopSignal::new().unwrap();
        assert_eq!((stop.is_raised(), stop.stop_reason()), (false, None));
        stop.raise(StopReason::Signal("TERM"));
        stop.raise(StopReason::NoResponse);
        assert_eq!(
            (stop.is_raised(), stop.stop_reason()),
            (true, Some(StopReason::Signal("TERM")))
        );
    }
}
