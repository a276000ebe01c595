//! I/O of the disks under the devices, from the kernel's counters.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};
use serde::Serialize;

use super::sensors::Temperature;
use super::{Root, name, text};
use crate::clock::Nanos;
use crate::report::rounded::Rounded;

const SECTOR_BYTES: f64 = 512.0;

/// A device of the load, with the number of its block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedDevice {
    /// As in the configuration.
    pub name: String,
    /// Major and minor number; None if there is no block device.
    pub number: Option<(u32, u32)>,
}

impl LoadedDevice {
    /// Names a device. `found` describes it; of a plain file, the device that holds its file system counts.
    pub fn new(name: String, found: Option<&Metadata>) -> Self {
        let number = found.map(block_number);
        Self { name, number }
    }
}

/// Returns the number of a block device, or that of the one that holds the file system of a plain file.
pub(crate) fn block_number(found: &Metadata) -> (u32, u32) {
    let number = match found.file_type().is_block_device() {
        true => found.rdev(),
        false => found.dev(),
    };
    (major(number), minor(number))
}

/// The I/O of one disk in an interval, including that of other programs.
#[derive(Debug, PartialEq, Serialize)]
pub struct DiskRecord {
    /// The kernel's name of the disk.
    pub disk: String,
    /// The devices of the load on this disk.
    pub devices: Vec<String>,
    /// Null if the kernel has no counters.
    pub io: Option<Io>,
    /// At most 10 s old; null if not reported.
    pub temperature: Option<Temperature>,
}

/// Rates and times of an interval, computed like those of iostat.
#[derive(Debug, PartialEq, Serialize)]
pub struct Io {
    reads_per_s: Option<Rounded>,
    writes_per_s: Option<Rounded>,
    read_bytes_per_s: Option<Rounded>,
    write_bytes_per_s: Option<Rounded>,
    /// Mean time from queueing to completion; null without reads.
    read_await_us: Option<Rounded>,
    write_await_us: Option<Rounded>,
    /// Mean size; null without reads.
    read_request_bytes: Option<Rounded>,
    write_request_bytes: Option<Rounded>,
    /// Mean number of outstanding requests.
    queue_depth: Option<Rounded>,
    /// Percentage of the time with outstanding requests.
    busy_pct: Option<Rounded>,
}

/// The kernel's counters, by field. Source: Documentation/block/stat.rst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counters([u64; 11]);

const READS: usize = 0;
const READ_SECTORS: usize = 2;
const READ_MS: usize = 3;
const WRITES: usize = 4;
const WRITE_SECTORS: usize = 6;
const WRITE_MS: usize = 7;
const BUSY_MS: usize = 9;
const ALL_MS: usize = 10;

impl Counters {
    /// Reads the counters of a disk. Later kernels have more fields.
    fn read(directory: &Path) -> Option<Self> {
        let text = text(&directory.join("stat"))?;
        let numbers = text.split_whitespace().map(|number| number.parse().ok());
        let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
        numbers.first_chunk().copied().map(Self)
    }
}

impl Io {
    fn between(earlier: &Counters, later: &Counters, length: Nanos) -> Self {
        let more = |field: usize| later.0[field].saturating_sub(earlier.0[field]) as f64;
        let seconds = length.0 as f64 / 1e9;
        let (reads, writes) = (more(READS), more(WRITES));
        let (read_bytes, written_bytes) = (
            more(READ_SECTORS) * SECTOR_BYTES,
            more(WRITE_SECTORS) * SECTOR_BYTES,
        );
        Self {
            reads_per_s: Rounded::new(reads / seconds, 1),
            writes_per_s: Rounded::new(writes / seconds, 1),
            read_bytes_per_s: Rounded::new(read_bytes / seconds, 0),
            write_bytes_per_s: Rounded::new(written_bytes / seconds, 0),
            read_await_us: Rounded::new(more(READ_MS) * 1e3 / reads, 1),
            write_await_us: Rounded::new(more(WRITE_MS) * 1e3 / writes, 1),
            read_request_bytes: Rounded::new(read_bytes / reads, 0),
            write_request_bytes: Rounded::new(written_bytes / writes, 0),
            queue_depth: Rounded::new(more(ALL_MS) / 1e3 / seconds, 2),
            busy_pct: Rounded::new(more(BUSY_MS) / 10.0 / seconds, 1),
        }
    }
}

#[derive(Debug)]
struct Disk {
    directory: PathBuf,
    devices: Vec<String>,
    counters: Option<Counters>,
}

/// All disks, with the last counters.
#[derive(Debug)]
pub(super) struct Disks(Vec<Disk>);

impl Disks {
    pub fn under(root: &Root, devices: &[LoadedDevice]) -> Self {
        let mut disks: Vec<Disk> = Vec::new();
        for device in devices {
            let Some(directory) = device.number.and_then(|number| disk_directory(root, number)) else {
                continue;
            };
            match disks.iter_mut().find(|disk| disk.directory == directory) {
                Some(disk) => disk.devices.push(device.name.clone()),
                None => disks.push(Disk {
                    counters: Counters::read(&directory),
                    devices: vec![device.name.clone()],
                    directory,
                }),
            }
        }
        Self(disks)
    }

    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|disk| disk.directory.as_path())
    }

    pub fn sample(
        &mut self,
        length: Nanos,
        temperature: impl Fn(&Path) -> Option<Temperature>,
    ) -> Vec<DiskRecord> {
        let record = |disk: &mut Disk| {
            let now = Counters::read(&disk.directory);
            let earlier = std::mem::replace(&mut disk.counters, now);
            DiskRecord {
                disk: name(&disk.directory),
                devices: disk.devices.clone(),
                io: earlier
                    .zip(now)
                    .map(|(earlier, now)| Io::between(&earlier, &now, length)),
                temperature: temperature(&disk.directory),
            }
        };
        self.0.iter_mut().map(record).collect()
    }
}

/// Returns the directory of the whole disk of a block device or partition.
pub(crate) fn disk_directory(root: &Root, (major, minor): (u32, u32)) -> Option<PathBuf> {
    let number = root.path(&format!("sys/dev/block/{major}:{minor}"));
    let directory = number.canonicalize().ok()?;
    match directory.join("partition").exists() {
        true => directory.parent().map(Path::to_owned),
        false => Some(directory),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake_host::FakeHost;
    use super::*;

    fn named(name: &str, minor: u32) -> LoadedDevice {
        LoadedDevice {
            name: name.to_owned(),
            number: Some((259, minor)),
        }
    }

    #[test]
    fn a_partition_and_its_disk_are_one_disk() {
        let host = FakeHost::new();
        host.nvme();
        let mut disks = Disks::under(&host.root(), &[named("a", 1), named("b", 0), named("gone", 7)]);
        let records = disks.sample(Nanos::from_s(1), |_| None);
        assert_eq!((records.len(), &records[0].disk[..]), (1, "nvme0n1"));
        assert_eq!(
            (&records[0].devices[..], records[0].io.is_none()),
            (&["a".to_owned(), "b".to_owned()][..], true)
        );
    }

    #[test]
    fn rates_and_times_equal_those_of_iostat() {
        let host = FakeHost::new();
        host.nvme();
        host.nvme_stat("1000 0 8000 500 10 0 100 40 0 300 540 0 0 0 0 0 0");
        let mut disks = Disks::under(&host.root(), &[named("a", 0)]);
        // 4,000 reads of 1,536 bytes in 2 s with a total of 600 ms; no writes.
        host.nvme_stat("5000 0 20000 1100 10 0 100 40 3 1300 1140 0 0 0 0 0 0");
        let records = disks.sample(Nanos::from_s(2), |_| None);
        let io = serde_json::to_value(&records[0].io).unwrap();
        let expected = serde_json::json!({
            "reads_per_s": "2000.0", "writes_per_s": "0.0", "read_bytes_per_s": "3072000", "write_bytes_per_s": "0",
            "read_await_us": "150.0", "write_await_us": null, "read_request_bytes": "1536", "write_request_bytes": null,
            "queue_depth": "0.30", "busy_pct": "50.0"
        });
        assert_eq!(io, expected);
    }
}
