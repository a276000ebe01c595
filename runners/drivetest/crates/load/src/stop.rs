//! The end of a run before its time: the first stop_reason is kept, everybody sees the flag, the collector wakes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::event::{EventfdFlags, eventfd};

use crate::schedule::stream::Operation;
use crate::stats::io_errors::FailedRequest;

/// Why a run ends before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// A request was later than max-lag-sec.
    Lag(Operation),
    /// Requests were still out when the time to wait for them was over.
    Silence,
    /// So many requests failed that the last one ends the run.
    Device(FailedRequest),
    /// The system takes no more requests from io_uring, with this error number.
    Ring(i32),
    /// Asked to, by this signal.
    Signal(&'static str),
    /// The log or the side file took no more.
    Output,
}

/// The flag and the first stop_reason.
#[derive(Debug)]
pub struct StopSignal {
    is_raised: AtomicBool,
    stop_reason: OnceLock<StopReason>,
    wakeup: OwnedFd,
}

impl StopSignal {
    /// Nothing stops yet.
    ///
    /// # Errors
    /// When the system gives no event descriptor.
    pub fn new() -> io::Result<Self> {
        let wakeup = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self {
            is_raised: AtomicBool::new(false),
            stop_reason: OnceLock::new(),
            wakeup,
        })
    }

    /// Stops the run; a stop_reason that comes later than another is dropped.
    pub fn raise(&self, stop_reason: StopReason) {
        // A second stop_reason changes nothing.
        let _ = self.stop_reason.set(stop_reason);
        self.is_raised.store(true, Relaxed);
        self.ring();
    }

    /// Wakes the collector.
    pub fn ring(&self) {
        // A full counter has woken it already.
        let _ = rustix::io::write(&self.wakeup, &1_u64.to_ne_bytes());
    }

    /// Takes the wakings so far, so that the next wait waits.
    pub fn clear_wakeups(&self) {
        // Nothing rung yet is as good.
        let _ = rustix::io::read(&self.wakeup, &mut [0_u8; 8]);
    }

    /// Whether workers shall end.
    pub fn is_raised(&self) -> bool {
        self.is_raised.load(Relaxed)
    }

    /// The first stop_reason; None while nothing stops.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stop_reason.get().copied()
    }

    /// Readable after a ring.
    pub fn wakeup(&self) -> BorrowedFd<'_> {
        self.wakeup.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cause_is_kept() {
        let stop = StopSignal::new().unwrap();
        assert_eq!((stop.is_raised(), stop.stop_reason()), (false, None));
        stop.raise(StopReason::Signal("TERM"));
        stop.raise(StopReason::Silence);
        assert_eq!(
            (stop.is_raised(), stop.stop_reason()),
            (true, Some(StopReason::Signal("TERM")))
        );
    }
}
