//! The kernel's I/O counters of block devices: current activity, and trims since the boot.
//!
//! procfs shows who has a device open, but not users in another process namespace, in a virtual machine with another
//! path to the drive, or in the kernel. Their requests are counted all the same.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use serde::Serialize;

use crate::error::DeviceError;
use crate::system::{self, System};
use crate::topology::block::Block;

/// A short access by udev, or the write-back of a file system, is over after a few samples; a user continues.
const SAMPLES: usize = 3;

/// One sample of a device's counters.
/// Source: Linux, Documentation/block/stat.rst; the fields of discards and flushes came with 4.18 and 5.5.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Counters {
    /// Completed requests: reads, writes, discards, flushes.
    completed: [u64; 4],
    in_flight: u64,
}

impl Counters {
    /// Positions of these fields in the line, from 0.
    const COMPLETED: [usize; 4] = [0, 4, 11, 15];
    const IN_FLIGHT: usize = 8;

    /// Parses a line; None if it has another form.
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<u64> = line
            .split_ascii_whitespace()
            .map_while(|field| field.parse().ok())
            .collect();
        let in_flight = *fields.get(Self::IN_FLIGHT)?;
        let completed = Self::COMPLETED.map(|position| fields.get(position).copied().unwrap_or(0));
        Some(Self { completed, in_flight })
    }

    /// Returns whether there was I/O between two samples. A stalled device completes nothing, but has outstanding
    /// requests.
    fn moved(before: &Self, after: &Self) -> bool {
        before.completed != after.completed || (before.in_flight > 0 && after.in_flight > 0)
    }
}

/// The activity of all block devices of a host. Sampling takes time, so it starts with the first query and covers all
/// devices.
pub(crate) struct Activity<'a> {
    system: &'a System,
    /// The active devices of each sample.
    samples: RefCell<Vec<BTreeSet<String>>>,
}

impl<'a> Activity<'a> {
    /// Creates an empty monitor.
    pub fn of(system: &'a System) -> Self {
        Self {
            system,
            samples: RefCell::default(),
        }
    }

    /// Returns the first of the named devices that is active in all samples.
    pub fn lasting<'n>(&self, names: &[&'n str]) -> Result<Option<&'n str>, DeviceError> {
        if names.is_empty() {
            return Ok(None);
        }
        let mut busy = names.to_vec();
        for sample in 0..SAMPLES {
            if self.samples.borrow().len() == sample {
                let active = take_sample(self.system)?;
                self.samples.borrow_mut().push(active);
            }
            let samples = self.samples.borrow();
            busy.retain(|name| samples.get(sample).is_some_and(|seen| seen.contains(*name)));
            if busy.is_empty() {
                return Ok(None);
            }
        }
        Ok(busy.first().copied())
    }
}

fn take_sample(system: &System) -> Result<BTreeSet<String>, DeviceError> {
    let before = counters(system)?;
    thread::sleep(system.sample_length);
    let after = counters(system)?;
    let moved = |name: &&String| {
        before
            .get(*name)
            .zip(after.get(*name))
            .is_some_and(|(b, a)| Counters::moved(b, a))
    };
    Ok(after.keys().filter(moved).cloned().collect())
}

fn counters(system: &System) -> Result<BTreeMap<String, Counters>, DeviceError> {
    let folder = system.sys.join("class/block");
    let mut all = BTreeMap::new();
    for name in system::names(&folder)? {
        let line = system::text(&folder.join(&name).join("stat"))?;
        all.extend(
            line.as_deref()
                .and_then(Counters::parse)
                .map(|counters| (name, counters)),
        );
    }
    Ok(all)
}

const SECTOR_BYTES: u64 = 512;

/// Trims of a device since the boot. Two samples are comparable only with the same `boot_id`, because the kernel
/// restarts the counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrimCounters {
    /// Id of the boot.
    pub boot_id: String,
    /// Number of requests.
    pub requests_count: u64,
    /// Trimmed bytes.
    pub bytes: u64,
}

impl TrimCounters {
    /// Positions in the line, from 0. Source: Linux, Documentation/block/stat.rst; available since 4.18.
    const REQUESTS: usize = 11;
    const SECTORS: usize = 13;

    /// Reads the counters. None if the kernel has none, or reports no boot id.
    pub(crate) fn read(system: &System, whole: &Block) -> Result<Option<Self>, DeviceError> {
        let line = whole.text("stat")?.unwrap_or_default();
        let boot_id = system::text(&system.proc.join("sys/kernel/random/boot_id"))?;
        Ok(boot_id.and_then(|boot_id| Self::parse(&line, boot_id)))
    }

    fn parse(line: &str, boot_id: String) -> Option<Self> {
        let field = |position: usize| line.split_ascii_whitespace().nth(position)?.parse::<u64>().ok();
        Some(Self {
            boot_id,
            requests_count: field(Self::REQUESTS)?,
            bytes: field(Self::SECTORS)?.saturating_mul(SECTOR_BYTES),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(line: &str) -> Counters {
        Counters::parse(line).unwrap()
    }

    #[test]
    fn reads_writes_discards_and_flushes_count_as_activity() {
        let idle = counters("7 0 56 1 9 0 72 2 0 3 4 5 0 40 6 11 12");
        assert_eq!((idle.completed, idle.in_flight), ([7, 9, 5, 11], 0));
        // Merged requests, sectors and times are not requests.
        let later = counters("7 1 99 9 9 9 99 9 0 9 9 5 9 99 9 11 99");
        assert!(!Counters::moved(&idle, &later));
        for busy in [
            "8 0 56 1 9 0 72 2 0 3 4 5 0 40 6 11 12",
            "7 0 56 1 10 0 72 2 0 3 4 5 0 40 6 11 12",
            "7 0 56 1 9 0 72 2 0 3 4 6 0 40 6 11 12",
            "7 0 56 1 9 0 72 2 0 3 4 5 0 40 6 12 12",
        ] {
            assert!(Counters::moved(&idle, &counters(busy)), "{busy}");
        }
    }

    #[test]
    fn a_stalled_device_has_outstanding_requests_in_both_samples() {
        let (idle, stalled) = (
            counters("7 0 0 0 9 0 0 0 0 0 0"),
            counters("7 0 0 0 9 0 0 0 3 0 0"),
        );
        assert!(Counters::moved(&stalled, &stalled));
        assert!(!Counters::moved(&idle, &stalled) && !Counters::moved(&idle, &idle));
    }

    #[test]
    fn a_line_of_another_form_is_ignored() {
        assert_eq!(Counters::parse("7 0 56 1 9 0 72 2"), None);
        assert_eq!(Counters::parse("word"), None);
    }

    #[test]
    fn requests_and_bytes_are_those_of_trims() {
        let line = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";
        let found = TrimCounters::parse(line, "b".to_owned()).unwrap();
        assert_eq!((found.requests_count, found.bytes), (12, 14 * 512));
    }

    #[test]
    fn an_older_kernel_has_no_counters_and_not_zeros() {
        assert_eq!(
            TrimCounters::parse("1 2 3 4 5 6 7 8 9 10 11", "b".to_owned()),
            None
        );
        assert_eq!(TrimCounters::parse("", "b".to_owned()), None);
    }
}
