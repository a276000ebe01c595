//! A fake host for tests: a tree like sysfs and procfs in a temporary directory.

use std::fs;
use std::os::unix::fs::symlink;

use super::Root;

pub struct FakeHost(tempfile::TempDir);

impl FakeHost {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn root(&self) -> Root {
        Root::at(self.0.path())
    }

    /// Writes a file of sysfs or procfs.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    /// Adds an NVMe drive with one partition: 259:0 and 259:1.
    pub fn nvme(&self) {
        let disk = "sys/devices/pci/nvme/nvme0/nvme0n1";
        self.write(&format!("{disk}/nvme0n1p1/partition"), "1");
        self.write("sys/devices/pci/nvme/nvme0/hwmon3/name", "nvme");
        let links = self.0.path().join("sys/dev/block");
        fs::create_dir_all(&links).unwrap();
        symlink(self.0.path().join(disk), links.join("259:0")).unwrap();
        symlink(self.0.path().join(disk).join("nvme0n1p1"), links.join("259:1")).unwrap();
        symlink(
            self.0.path().join("sys/devices/pci/nvme/nvme0"),
            self.0.path().join(disk).join("device"),
        )
        .unwrap();
    }

    /// Sets the drive's I/O counters.
    pub fn nvme_stat(&self, counters: &str) {
        self.write("sys/devices/pci/nvme/nvme0/nvme0n1/stat", counters);
    }

    /// Sets an attribute of the drive's sensors.
    pub fn nvme_sensor(&self, attribute: &str, text: &str) {
        self.write(&format!("sys/devices/pci/nvme/nvme0/hwmon3/{attribute}"), text);
    }
}
