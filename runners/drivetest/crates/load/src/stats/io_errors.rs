//! Requests that failed: counted by device, operation and kind, the first ones first whole. Nothing locks: a drive that
//! fails every request must not slow the others down.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use rustix::io::Errno;

use crate::device::Extent;
use crate::schedule::stream::Operation;

/// Failures that are first with their slot.
pub const FIRST_ERRORS_COUNT: usize = 10;

/// Kinds that are told apart: a drive fails in a handful of ways, 128 of them still have eight each.
const ERROR_KINDS_COUNT: usize = 1_024;

/// A request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedRequest {
    /// Position in the configuration's list of devices.
    pub device: usize,
    /// What was asked.
    pub operation: Operation,
    /// Where.
    pub extent: Extent,
    /// What the device did instead.
    pub failure: Failure,
}

/// How a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// With this error number.
    Errno(i32),
    /// Without one, after so many bytes.
    EndedEarly(usize),
}

impl Failure {
    /// The system's error number; EIO where a device ends before its size.
    pub fn number(self) -> i32 {
        match self {
            Self::Errno(number) => number,
            Self::EndedEarly(_) => Errno::IO.raw_os_error(),
        }
    }

    /// What came of a transfer of `asked` bytes; None when it is whole.
    pub fn of(moved: Result<usize, Errno>, asked: usize) -> Option<Self> {
        match moved {
            Ok(bytes) if bytes == asked => None,
            Ok(bytes) => Some(Self::EndedEarly(bytes)),
            Err(errno) => Some(Self::Errno(errno.raw_os_error())),
        }
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        Self::from_raw_os_error(failure.number())
    }
}

/// How often one kind of failure came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorKindCount {
    /// Which.
    pub kind: ErrorKind,
    /// How often.
    pub count: u64,
}

/// What failures have in common that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorKind {
    /// Position in the configuration's list of devices.
    pub device: usize,
    /// What was asked.
    pub operation: Operation,
    /// The system's error number; EIO where the device ended early.
    pub errno: i32,
    /// Whether the device ended early, without an error.
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

#[derive(Debug, Default)]
struct ErrorKindSlot {
    kind: OnceLock<ErrorKind>,
    count: AtomicU64,
}

/// All failures of a run.
#[derive(Debug)]
pub struct IoErrors {
    limit: u64,
    total: AtomicU64,
    first_count: AtomicUsize,
    first: [OnceLock<FailedRequest>; FIRST_ERRORS_COUNT],
    slots: Box<[ErrorKindSlot]>,
}

impl IoErrors {
    /// None yet; the run ends with the `limit`th, never when that is 0.
    pub fn new(limit: u32) -> Self {
        Self {
            limit: u64::from(limit),
            total: AtomicU64::new(0),
            first_count: AtomicUsize::new(0),
            first: Default::default(),
            slots: (0..ERROR_KINDS_COUNT).map(|_| ErrorKindSlot::default()).collect(),
        }
    }

    /// Counts one; true when it is the one that ends the run.
    pub fn note(&self, failed_request: FailedRequest) -> bool {
        self.count(failed_request.into());
        let slot = self.first_count.fetch_add(1, Relaxed);
        if let Some(first) = self.first.get(slot) {
            // Each slot is taken once.
            let _ = first.set(failed_request);
        }
        let total = self.total.fetch_add(1, Relaxed) + 1;
        self.limit != 0 && total == self.limit
    }

    /// Where every slot is taken by other kinds, it counts in the total alone.
    fn count(&self, kind: ErrorKind) {
        let slot = self.slots.iter().find(|slot| {
            // Only the first failure of a kind takes a slot; all others find it taken.
            slot.kind
                .get()
                .or_else(|| slot.kind.set(kind).ok().and(slot.kind.get()))
                == Some(&kind)
                || slot.kind.get() == Some(&kind)
        });
        if let Some(slot) = slot {
            slot.count.fetch_add(1, Relaxed);
        }
    }

    /// How many came.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// The first ones in the order they came, up to ten.
    pub fn first(&self) -> impl Iterator<Item = FailedRequest> + '_ {
        self.first
            .iter()
            .map_while(|failed_request| failed_request.get().copied())
    }

    /// How often each kind came, in the order they came first.
    pub fn counts(&self) -> Vec<ErrorKindCount> {
        let taken = self.slots.iter().map_while(|slot| {
            slot.kind.get().map(|kind| ErrorKindCount {
                kind: *kind,
                count: slot.count.load(Relaxed),
            })
        });
        taken.collect()
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
            .map(|_| io_errors.note(failed_request(0, Failure::Errno(5))))
            .collect();
        assert_eq!(ends, [false, false, true, false, false]);
        let without = IoErrors::new(0);
        assert!((0..100).all(|_| !without.note(failed_request(0, Failure::Errno(5)))));
        assert_eq!(without.total(), 100);
    }

    #[test]
    fn the_first_ten_are_kept_whole() {
        let io_errors = IoErrors::new(0);
        for device in 0..12 {
            io_errors.note(failed_request(device, Failure::Errno(28)));
        }
        let first: Vec<usize> = io_errors
            .first()
            .map(|failed_request| failed_request.device)
            .collect();
        assert_eq!(first, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn kinds_are_counted_apart() {
        let io_errors = IoErrors::new(0);
        for failure in [
            Failure::Errno(5),
            Failure::Errno(28),
            Failure::Errno(5),
            Failure::EndedEarly(0),
        ] {
            io_errors.note(failed_request(127, failure));
        }
        let told: Vec<_> = io_errors
            .counts()
            .iter()
            .map(|ErrorKindCount { kind, count }| (kind.errno, kind.is_early_end, *count))
            .collect();
        assert_eq!(told, [(5, false, 2), (28, false, 1), (5, true, 1)]);
    }

    #[test]
    fn more_kinds_than_places_are_still_counted_in_all() {
        let io_errors = IoErrors::new(0);
        for errno in 1..=1_100 {
            io_errors.note(failed_request(0, Failure::Errno(errno)));
        }
        assert_eq!(
            (io_errors.total(), io_errors.counts().len()),
            (1_100, ERROR_KINDS_COUNT)
        );
    }

    #[test]
    fn a_transfer_is_whole_or_failed() {
        assert_eq!(Failure::of(Ok(512), 512), None);
        assert_eq!(Failure::of(Ok(511), 512), Some(Failure::EndedEarly(511)));
        assert_eq!(Failure::of(Err(Errno::NOSPC), 512), Some(Failure::Errno(28)));
        assert_eq!(Failure::EndedEarly(0).number(), 5);
    }
}
