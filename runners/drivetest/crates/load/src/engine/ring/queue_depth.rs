//! How many requests a device takes at a time before the kernel would have to wait for it.
//!
//! A request beyond that is given to a thread of the kernel, which waits in our place: hundreds of them, at twice the
//! cost of the request itself (measured on a loop device with 128 slots). It had better wait here, and be told as lag.

use std::fs::File;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

/// Requests that may be out at a device at a time, over all workers; a drive that takes 10 ms for each still does
/// 100,000 a second.
pub(super) const MAX_IN_FLIGHT: usize = 1_024;

/// Where the kernel does not tell: as many as its own threads for them.
const UNKNOWN_OUT: usize = 256;

/// Requests that each of `workers` may have out at what is open as `file`; at least one.
pub(super) fn max_in_flight(file: &File, workers: usize) -> usize {
    let slots = queue_of(file).and_then(|queue| slots(&queue, workers));
    // An eighth is left for what the kernel splits and for what others ask.
    let most = slots.map_or(UNKNOWN_OUT, |slots| slots - slots / 8);
    (most.min(MAX_IN_FLIGHT) / workers).max(1)
}

/// The folder of the block device, or of the one beneath a file.
fn queue_of(file: &File) -> Option<PathBuf> {
    let found = file.metadata().ok()?;
    let number = match found.file_type().is_block_device() {
        true => found.rdev(),
        false => found.dev(),
    };
    let folder = Path::new("/sys/dev/block").join(format!("{}:{}", major(number), minor(number)));
    let folder = folder.canonicalize().ok()?;
    // A partition has no queue of its own, its drive has.
    let drive = || {
        folder
            .parent()
            .map(Path::to_path_buf)
            .filter(|drive| drive.join("queue").is_dir())
    };
    if folder.join("queue").is_dir() {
        Some(folder)
    } else {
        drive()
    }
}

/// The slots of the hardware queues that so many workers use: each runs on one processor and so fills one of them.
fn slots(drive: &Path, workers: usize) -> Option<usize> {
    let text = std::fs::read_to_string(drive.join("queue/nr_requests")).ok()?;
    let each: usize = text.trim().parse().ok()?;
    // Devices without hardware queues have no such folder, and no slots to run out of.
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
    fn workers_share_the_places_of_the_queues_they_use() {
        assert_eq!(slots(drive(1).path(), 4), Some(128));
        assert_eq!(slots(drive(8).path(), 1), Some(128));
        assert_eq!(slots(drive(8).path(), 4), Some(512));
        assert_eq!(slots(drive(0).path(), 1), None);
    }

    #[test]
    fn where_nothing_is_told_there_is_still_room() {
        let file = tempfile::tempfile().unwrap();
        assert!((1..=MAX_IN_FLIGHT).contains(&max_in_flight(&file, 1)));
        assert_eq!(max_in_flight(&file, 10_000), 1);
    }
}
