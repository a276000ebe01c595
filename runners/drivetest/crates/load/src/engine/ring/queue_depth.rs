//! The number of requests that a device accepts before the kernel would have to wait for it.
//!
//! The kernel passes further requests to threads of its own, which wait there: hundreds of them, at twice the cost of
//! the request itself (measured on a loop device with 128 slots). So they wait here and count as lag.

use std::fs::File;
use std::path::Path;

use crate::telemetry::{Root, block_number, disk_directory};

/// Maximum number of outstanding requests per device, over all workers. A drive that needs 10 ms for each still
/// reaches 100,000 per second.
pub(super) const MAX_IN_FLIGHT: usize = 1_024;

/// Used if the kernel reports nothing: the number of its own threads.
const DEFAULT_IN_FLIGHT: usize = 256;

/// Returns how many requests each of `workers` may have outstanding at `file`; at least one.
pub(super) fn max_in_flight(file: &File, workers: usize) -> usize {
    let found = file.metadata().ok();
    let drive = found.and_then(|found| disk_directory(&Root::host(), block_number(&found)));
    let slots = drive.and_then(|drive| slots(&drive, workers));
    // An eighth remains for requests that the kernel splits and for other users.
    let most = slots.map_or(DEFAULT_IN_FLIGHT, |slots| slots - slots / 8);
    (most.min(MAX_IN_FLIGHT) / workers).max(1)
}

/// Returns the slots of the hardware queues that the workers use. Each worker runs on one processor and so fills one
/// queue.
fn slots(drive: &Path, workers: usize) -> Option<usize> {
    let text = std::fs::read_to_string(drive.join("queue/nr_requests")).ok()?;
    let each: usize = text.trim().parse().ok()?;
    // Devices without hardware queues have no such directory and no limited slots.
    let queues = std::fs::read_dir(drive.join("mq")).ok()?.count().max(1);
    Some(each * queues.min(workers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(queues: usize) -> tempfile::TempDir {
        let drive = tempfile::tempdir().unwrap();
        std::fs::create_dir(drive.path().join("queue")).unwrap();
        std::fs::write(drive.path().join("queue/nr_requests"), "128\n").unwrap();
        for queue in 0..queues {
            std::fs::create_dir_all(drive.path().join(format!("mq/{queue}"))).unwrap();
        }
        drive
    }

    #[test]
    fn workers_share_the_slots_of_the_queues_they_use() {
        assert_eq!(slots(drive(1).path(), 4), Some(128));
        assert_eq!(slots(drive(8).path(), 1), Some(128));
        assert_eq!(slots(drive(8).path(), 4), Some(512));
        assert_eq!(slots(drive(0).path(), 1), None);
    }

    #[test]
    fn a_device_without_a_reported_depth_has_a_default() {
        let file = tempfile::tempfile().unwrap();
        assert!((1..=MAX_IN_FLIGHT).contains(&max_in_flight(&file, 1)));
        assert_eq!(max_in_flight(&file, 10_000), 1);
    }
}
