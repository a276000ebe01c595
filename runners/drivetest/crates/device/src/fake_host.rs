//! A fake host for tests: a tree like sysfs and procfs in a temporary directory, and the device nodes of it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::probe::path::{DeviceNumber, Exclusive, FileId, Node, PathProbe};
use crate::probe::signature::Signature;
use crate::system::System;

const DISK_BYTES: u64 = 1 << 30;

/// A fake host under construction.
pub(crate) struct FakeHost {
    folder: tempfile::TempDir,
    nodes: BTreeMap<PathBuf, Node>,
    directories: BTreeMap<String, PathBuf>,
    mounts: String,
    swaps: String,
    pub exclusive: fn(&Path) -> Exclusive,
    pub health: fn() -> Option<crate::state::health::Page>,
    pub writable: fn() -> io::Result<()>,
    /// The data that is recognised on every device.
    pub signature: fn() -> io::Result<Option<Signature>>,
}

impl FakeHost {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = Self {
            folder,
            nodes: BTreeMap::new(),
            directories: BTreeMap::new(),
            mounts: String::new(),
            swaps: "Filename Type Size Used Priority\n".to_owned(),
            exclusive: |_| Exclusive::Free,
            health: || None,
            writable: || Ok(()),
            signature: || Ok(Some(Signature::of("a partition table"))),
        };
        host.write("proc/sys/kernel/hostname", "lab1\n");
        host.write("proc/sys/kernel/osrelease", "6.18.44\n");
        host.write(
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: Tester\n\nprocessor\t: 1\nmodel name\t: Tester\n",
        );
        fs::create_dir_all(host.root("sys/class/block")).unwrap();
        fs::create_dir_all(host.root("proc/7")).unwrap();
        symlink("7", host.root("proc/self")).unwrap();
        host
    }

    fn root(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        write(&self.root(path), content);
    }

    /// Adds a whole block device with a device directory.
    pub fn disk(&mut self, name: &str, bus: &str, attributes: &[(&str, &str)]) -> PathBuf {
        let directory = self.root(&format!("sys/devices/of-{name}/block/{name}"));
        self.describe(name, &directory, DISK_BYTES);
        write(&directory.join("queue/scheduler"), "[none] mq-deadline\n");
        write(&directory.join("queue/logical_block_size"), "512\n");
        write(&directory.join("queue/minimum_io_size"), "4096\n");
        write(&directory.join("queue/rotational"), "0\n");
        let subsystem = self.root(&format!("sys/bus/{bus}"));
        fs::create_dir_all(&subsystem).unwrap();
        fs::create_dir_all(directory.join("device")).unwrap();
        symlink(subsystem, directory.join("device/subsystem")).unwrap();
        for (attribute, text) in attributes {
            write(&directory.join(attribute), format!("{text}  \n"));
        }
        path_of(name)
    }

    pub fn nvme(&mut self, name: &str, serial: &str) -> PathBuf {
        let attributes = [
            ("device/model", "PM 9A3"),
            ("device/serial", serial),
            ("device/firmware_rev", "GDC5"),
            ("wwid", "eui.0025"),
        ];
        self.disk(name, "nvme", &attributes)
    }

    pub fn scsi(&mut self, name: &str, wwid: &str) -> PathBuf {
        let attributes = [
            ("device/vendor", "SEAGATE"),
            ("device/model", "ST1"),
            ("device/rev", "0004"),
            ("device/wwid", wwid),
        ];
        self.disk(name, "scsi", &attributes)
    }

    /// Adds a partition of `whole`.
    pub fn partition(&mut self, whole: &str, number: u32) -> PathBuf {
        let separator = if whole.ends_with(|letter: char| letter.is_ascii_digit()) {
            "p"
        } else {
            ""
        };
        let name = format!("{whole}{separator}{number}");
        let directory = self.directories[whole].join(&name);
        self.describe(&name, &directory, DISK_BYTES / 4);
        write(&directory.join("partition"), number.to_string());
        path_of(&name)
    }

    pub fn file(&mut self, path: &str) -> PathBuf {
        let inode = 1000 + self.nodes.len() as u64;
        let node = Node::File {
            id: FileId { device: 64768, inode },
            size_bytes: DISK_BYTES,
            block_bytes: 4096,
        };
        self.nodes.insert(path.into(), node);
        path.into()
    }

    pub fn loop_over(&mut self, name: &str, backing: &str) -> PathBuf {
        let path = self.disk(name, "none", &[]);
        write(
            &self.directories[name].join("loop/backing_file"),
            format!("{backing}\n"),
        );
        path
    }

    /// Adds a device-mapper device on top of others.
    pub fn stack(&mut self, name: &str, slaves: &[&str]) -> PathBuf {
        let path = self.disk(name, "none", &[]);
        for slave in slaves {
            write(&self.directories[name].join("slaves").join(slave), "");
        }
        path
    }

    /// Removes a device that the kernel has already listed.
    pub fn remove(&self, name: &str) {
        fs::remove_dir_all(&self.directories[name]).unwrap();
    }

    pub fn set(&self, name: &str, attribute: &str, content: impl AsRef<[u8]>) {
        write(&self.directories[name].join(attribute), content);
    }

    pub fn alias(&mut self, alias: &str, path: &Path) -> PathBuf {
        self.nodes.insert(alias.into(), self.nodes[path]);
        alias.into()
    }

    pub fn mount(&mut self, path: &Path, point: &str) {
        let Node::Block(number) = self.nodes[path] else {
            panic!("{path:?} is no block device")
        };
        self.mounts += &format!(
            "36 35 {number} / {point} rw,noatime shared:1 - ext4 {} rw\n",
            path.display()
        );
    }

    /// Mounts like btrfs, with a device number of its own.
    pub fn mount_btrfs(&mut self, path: &Path, point: &str) {
        self.mounts += &format!("36 35 0:77 / {point} rw - btrfs {} rw\n", path.display());
    }

    /// Mounts in the mount namespace of another process only.
    pub fn mount_elsewhere(&self, process: u32, path: &Path, point: &str) {
        let Node::Block(number) = self.nodes[path] else {
            panic!("{path:?} is no block device")
        };
        let table = format!("36 35 {number} / {point} rw - ext4 {} rw\n", path.display());
        self.write(&format!("proc/{process}/mountinfo"), table);
        fs::create_dir_all(self.root(&format!("proc/{process}/ns"))).unwrap();
        symlink(
            format!("mnt:[{process}]"),
            self.root(&format!("proc/{process}/ns/mnt")),
        )
        .unwrap();
    }

    pub fn swap_to(&mut self, path: &Path) {
        self.swaps += &format!("{} partition 100 0 -2\n", path.display());
    }

    pub fn process(&self, number: u32, name: &str) {
        self.write(&format!("proc/{number}/comm"), format!("{name}\n"));
    }

    /// Writes a file of sysfs or procfs.
    pub fn write_file(&self, path: &str, content: &str) {
        self.write(path, content);
    }

    /// Makes a file unreadable for all users: a directory takes its place.
    pub fn unreadable(&self, path: &str) {
        fs::create_dir_all(self.root(path)).unwrap();
    }

    pub fn open(&self, process: u32, path: &Path) {
        self.write(&format!("proc/{process}/comm"), "exe\n");
        self.write(&format!("proc/{process}/cmdline"), "/bin/dd\0if=x\0");
        let descriptors = self.root(&format!("proc/{process}/fd"));
        fs::create_dir_all(&descriptors).unwrap();
        symlink(path, descriptors.join("3")).unwrap();
    }

    /// Returns the finished host. This builder must outlive it.
    pub fn system(&self) -> System {
        self.write("proc/7/mountinfo", &self.mounts);
        self.write("proc/swaps", &self.swaps);
        let nodes = FakeProbe {
            nodes: self.nodes.clone(),
            exclusive: self.exclusive,
            health: self.health,
            writable: self.writable,
            signature: self.signature,
        };
        System {
            sys: self.root("sys"),
            proc: self.root("proc"),
            machine_id: self.root("etc/machine-id"),
            probe: Box::new(nodes),
            udev_grace: Duration::ZERO,
            sample_length: Duration::ZERO,
        }
    }

    fn describe(&mut self, name: &str, directory: &Path, size_bytes: u64) {
        let number = DeviceNumber {
            major: 259,
            minor: self.directories.len() as u32,
        };
        write(&directory.join("dev"), format!("{number}\n"));
        write(&directory.join("size"), format!("{}\n", size_bytes / 512));
        write(&directory.join("ro"), "0\n");
        symlink(directory, self.root(&format!("sys/class/block/{name}"))).unwrap();
        self.directories.insert(name.to_owned(), directory.to_path_buf());
        self.nodes.insert(path_of(name), Node::Block(number));
    }
}

fn path_of(name: &str) -> PathBuf {
    Path::new("/dev").join(name)
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

struct FakeProbe {
    nodes: BTreeMap<PathBuf, Node>,
    exclusive: fn(&Path) -> Exclusive,
    health: fn() -> Option<crate::state::health::Page>,
    writable: fn() -> io::Result<()>,
    signature: fn() -> io::Result<Option<Signature>>,
}

impl PathProbe for FakeProbe {
    fn health_page(&self, _path: &Path) -> Option<crate::state::health::Page> {
        (self.health)()
    }

    fn resolve(&self, path: &Path) -> io::Result<Node> {
        let device = fs::read_link(path).unwrap_or_else(|_| path.to_path_buf());
        self.nodes
            .get(&device)
            .copied()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn check_writable(&self, _: &Path) -> io::Result<()> {
        (self.writable)()
    }

    fn open_exclusive(&self, path: &Path) -> Exclusive {
        (self.exclusive)(path)
    }

    fn signature(&self, _: &Path, _: u64) -> io::Result<Option<Signature>> {
        (self.signature)()
    }
}
