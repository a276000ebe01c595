//! Failed requests: counted by device, operation and error; the first ones are recorded in full. There is no lock, so
//! that a drive that fails every request does not slow down the others.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustix::io::Errno;

use crate::device::Extent;
use crate::schedule::stream::Operation;

/// Number of failed requests that are recorded in full.
pub const FIRST_ERRORS_COUNT: usize = 10;

/// Maximum number of distinct kinds. A drive fails in a few ways; 128 drives have eight kinds each.
const ERROR_KINDS_COUNT: usize = 1_024;

/// A failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedRequest {
    /// Index in the configuration's list of devices.
    pub device: usize,
    /// The operation.
    pub operation: Operation,
    /// Offset and length.
    pub extent: Extent,
    /// The error.
    pub failure: Failure,
}

/// How a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// With an error number.
    Errno(i32),
    /// Without an error, after this number of bytes.
    EndedEarly(usize),
}

impl Failure {
    /// Returns the error number; EIO if the device ended before its stated size.
    pub fn number(self) -> i32 {
        match self {
            Self::Errno(number) => number,
            Self::EndedEarly(_) => Errno::IO.raw_os_error(),
        }
    }

    /// Returns the failure of a transfer of `expected` bytes, or None if it is complete.
    pub fn of(moved: Result<usize, Errno>, expected: usize) -> Option<Self> {
        match moved {
            Ok(bytes) if bytes == expected => None,
            Ok(bytes) => Some(Self::EndedEarly(bytes)),
            Err(errno) => Some(Self::Errno(errno.raw_os_error())),
        }
    }
}

/// What failures that are counted together have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorKind {
    /// Index in the configuration's list of devices.
    pub device: usize,
    /// The operation.
    pub operation: Operation,
    /// The error number; EIO if the device ended early.
    pub errno: i32,
    /// Whether the device ended early without an error.
    pub is_early_end: bool,
}

impl From<FailedRequest> for ErrorKind {
    fn from(failed_request: FailedRequest) -> Self {
        Self {
            device: failed_request.device,
            operation: failed_request.operation,
            errno: failed_request.failure.number(),
            is_early_end: matches!(failed_request.failure, Failure::EndedEarly(_)),
        }
    }
}

/// All failures of a run.
#[derive(Debug)]
pub struct IoErrors {
    limit: u64,
    total: AtomicU64,
    first: [OnceLock<FailedRequest>; FIRST_ERRORS_COUNT],
    /// Each kind that occurred, with its count.
    slots: Box<[(OnceLock<ErrorKind>, AtomicU64)]>,
}

impl IoErrors {
    /// Creates empty counters. The run ends with the `limit`-th failure, or never if `limit` is 0.
    pub fn new(limit: u32) -> Self {
        Self {
            limit: u64::from(limit),
            total: AtomicU64::new(0),
            first: Default::default(),
            slots: (0..ERROR_KINDS_COUNT).map(|_| Default::default()).collect(),
        }
    }

    /// Counts a failure and returns whether it ends the run.
    pub fn record(&self, failed_request: FailedRequest) -> bool {
        self.count(failed_request.into());
        let earlier = self.total.fetch_add(1, Relaxed);
        if let Some(first) = self.first.get(earlier as usize) {
            // Each slot is used once.
            let _ = first.set(failed_request);
        }
        self.limit != 0 && earlier + 1 == self.limit
    }

    /// If all slots are used by other kinds, the failure counts only in the total.
    fn count(&self, kind: ErrorKind) {
        // The first failure of a kind takes a slot; later ones find it.
        let is_of_kind = |slot: &&(OnceLock<ErrorKind>, AtomicU64)| *slot.0.get_or_init(|| kind) == kind;
        if let Some((_, count)) = self.slots.iter().find(is_of_kind) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// Returns the number of failures.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Returns up to ten first failures, in the order of occurrence.
    pub fn first(&self) -> impl Iterator<Item = FailedRequest> + '_ {
        self.first
            .iter()
            .map_while(|failed_request| failed_request.get().copied())
    }

    /// Returns the count of each kind, in the order of first occurrence.
    pub fn counts(&self) -> Vec<(ErrorKind, u64)> {
        let slots = self.slots.iter();
        slots
            .map_while(|(kind, count)| Some((*kind.get()?, count.load(Relaxed))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed_request(device: usize, failure: Failure) -> FailedRequest {
        FailedRequest {
            device,
            operation: Operation::WriteBlock,
            extent: Extent {
                offset: 0,
                length: 512,
            },
            failure,
        }
    }

    #[test]
    fn the_limit_ends_the_run_once() {
        let io_errors = IoErrors::new(3);
        let ends: Vec<bool> = (0..5)
            .map(|_| io_errors.record(failed_request(0, Failure::Errno(5))))
            .collect();
        assert_eq!(ends, [false, false, true, false, false]);
        let without = IoErrors::new(0);
        assert!((0..100).all(|_| !without.record(failed_request(0, Failure::Errno(5)))));
        assert_eq!(without.total(), 100);
    }

    #[test]
    fn the_first_ten_failures_are_recorded_in_full() {
        let io_errors = IoErrors::new(0);
        for device in 0..12 {
            io_errors.record(failed_request(device, Failure::Errno(28)));
        }
        let first: Vec<usize> = io_errors
            .first()
            .map(|failed_request| failed_request.device)
            .collect();
        assert_eq!(first, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn kinds_are_counted_separately() {
        let io_errors = IoErrors::new(0);
        for failure in [
            Failure::Errno(5),
            Failure::Errno(28),
            Failure::Errno(5),
            Failure::EndedEarly(0),
        ] {
            io_errors.record(failed_request(127, failure));
        }
        let counts: Vec<_> = io_errors
            .counts()
            .iter()
            .map(|(kind, count)| (kind.errno, kind.is_early_end, *count))
            .collect();
        assert_eq!(counts, [(5, false, 2), (28, false, 1), (5, true, 1)]);
    }

    #[test]
    fn kinds_without_a_slot_still_count_in_the_total() {
        let io_errors = IoErrors::new(0);
        for errno in 1..=1_100 {
            io_errors.record(failed_request(0, Failure::Errno(errno)));
        }
        assert_eq!(
            (io_errors.total(), io_errors.counts().len()),
            (1_100, ERROR_KINDS_COUNT)
        );
    }

    #[test]
    fn a_transfer_is_complete_or_failed() {
        assert_eq!(Failure::of(Ok(512), 512), None);
        assert_eq!(Failure::of(Ok(511), 512), Some(Failure::EndedEarly(511)));
        assert_eq!(Failure::of(Err(Errno::NOSPC), 512), Some(Failure::Errno(28)));
        assert_eq!(Failure::EndedEarly(0).number(), 5);
    }
}
