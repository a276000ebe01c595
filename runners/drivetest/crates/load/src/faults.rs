//! Requests that failed: counted by device, operation and kind, the first ones kept whole. Nothing locks: a drive that
//! fails every request must not slow the others down.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use rustix::io::Errno;

use crate::device::Extent;
use crate::stream::Operation;

/// Failures that are kept with their place.
pub const KEPT_COUNT: usize = 10;

/// Kinds that are told apart: a drive fails in a handful of ways, 128 of them still have eight each.
const KINDS_COUNT: usize = 1_024;

/// A request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
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
pub struct FaultCount {
    /// Which.
    pub kind: Kind,
    /// How often.
    pub count: u64,
}

/// What failures have in common that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Position in the configuration's list of devices.
    pub device: usize,
    /// What was asked.
    pub operation: Operation,
    /// The system's error number; EIO where the device ended early.
    pub errno: i32,
    /// Whether the device ended early, without an error.
    pub is_early_end: bool,
}

impl From<Fault> for Kind {
    fn from(fault: Fault) -> Self {
        Self {
            device: fault.device,
            operation: fault.operation,
            errno: fault.failure.number(),
            is_early_end: matches!(fault.failure, Failure::EndedEarly(_)),
        }
    }
}

#[derive(Debug, Default)]
struct Place {
    kind: OnceLock<Kind>,
    count: AtomicU64,
}

/// All failures of a run.
#[derive(Debug)]
pub struct Faults {
    limit: u64,
    total: AtomicU64,
    kept_count: AtomicUsize,
    kept: [OnceLock<Fault>; KEPT_COUNT],
    places: Box<[Place]>,
}

impl Faults {
    /// None yet; the run ends with the `limit`th, never when that is 0.
    pub fn new(limit: u32) -> Self {
        Self {
            limit: u64::from(limit),
            total: AtomicU64::new(0),
            kept_count: AtomicUsize::new(0),
            kept: Default::default(),
            places: (0..KINDS_COUNT).map(|_| Place::default()).collect(),
        }
    }

    /// Counts one; true when it is the one that ends the run.
    pub fn note(&self, fault: Fault) -> bool {
        self.count(fault.into());
        let place = self.kept_count.fetch_add(1, Relaxed);
        if let Some(kept) = self.kept.get(place) {
            // Each place is taken once.
            let _ = kept.set(fault);
        }
        let total = self.total.fetch_add(1, Relaxed) + 1;
        self.limit != 0 && total == self.limit
    }

    /// Where every place is taken by other kinds, it counts in the total alone.
    fn count(&self, kind: Kind) {
        let place = self.places.iter().find(|place| {
            // Only the first failure of a kind takes a place; all others find it taken.
            place
                .kind
                .get()
                .or_else(|| place.kind.set(kind).ok().and(place.kind.get()))
                == Some(&kind)
                || place.kind.get() == Some(&kind)
        });
        if let Some(place) = place {
            place.count.fetch_add(1, Relaxed);
        }
    }

    /// How many came.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// The first ones in the order they came, up to ten.
    pub fn kept(&self) -> impl Iterator<Item = Fault> + '_ {
        self.kept.iter().map_while(|fault| fault.get().copied())
    }

    /// How often each kind came, in the order they came first.
    pub fn counts(&self) -> Vec<FaultCount> {
        let taken = self.places.iter().map_while(|place| {
            place.kind.get().map(|kind| FaultCount {
                kind: *kind,
                count: place.count.load(Relaxed),
            })
        });
        taken.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(device: usize, failure: Failure) -> Fault {
        Fault {
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
        let faults = Faults::new(3);
        let ends: Vec<bool> = (0..5).map(|_| faults.note(fault(0, Failure::Errno(5)))).collect();
        assert_eq!(ends, [false, false, true, false, false]);
        let without = Faults::new(0);
        assert!((0..100).all(|_| !without.note(fault(0, Failure::Errno(5)))));
        assert_eq!(without.total(), 100);
    }

    #[test]
    fn the_first_ten_are_kept_whole() {
        let faults = Faults::new(0);
        for device in 0..12 {
            faults.note(fault(device, Failure::Errno(28)));
        }
        let kept: Vec<usize> = faults.kept().map(|fault| fault.device).collect();
        assert_eq!(kept, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn kinds_are_counted_apart() {
        let faults = Faults::new(0);
        for failure in [
            Failure::Errno(5),
            Failure::Errno(28),
            Failure::Errno(5),
            Failure::EndedEarly(0),
        ] {
            faults.note(fault(127, failure));
        }
        let told: Vec<_> = faults
            .counts()
            .iter()
            .map(|FaultCount { kind, count }| (kind.errno, kind.is_early_end, *count))
            .collect();
        assert_eq!(told, [(5, false, 2), (28, false, 1), (5, true, 1)]);
    }

    #[test]
    fn more_kinds_than_places_are_still_counted_in_all() {
        let faults = Faults::new(0);
        for errno in 1..=1_100 {
            faults.note(fault(0, Failure::Errno(errno)));
        }
        assert_eq!((faults.total(), faults.counts().len()), (1_100, KINDS_COUNT));
    }

    #[test]
    fn a_transfer_is_whole_or_failed() {
        assert_eq!(Failure::of(Ok(512), 512), None);
        assert_eq!(Failure::of(Ok(511), 512), Some(Failure::EndedEarly(511)));
        assert_eq!(Failure::of(Err(Errno::NOSPC), 512), Some(Failure::Errno(28)));
        assert_eq!(Failure::EndedEarly(0).number(), 5);
    }
}
