//! The fault drive and a directory for one run on it, or the same drive below a loop device.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use drivetest_fault_drive::{DriveError, DriveOptions, FaultDrive, Operation};
use serde_json::Value;

use crate::bench::{Bench, Run, skip};

const SIZE_MIB: u64 = 64;

/// The read size of the default configuration. No other read has this size, not even at the start.
pub const RECORD_BYTES: u32 = 1_536;

static ALONE: Mutex<()> = Mutex::new(());

/// The setup of one run. The fields are dropped in this order: the loop device, the drive, its mount directory.
pub struct Loaded {
    attached: Option<Attached>,
    pub drive: FaultDrive,
    pub bench: Bench,
    _alone: MutexGuard<'static, ()>,
}

impl Loaded {
    /// Creates a drive whose file is loaded directly. Returns None and reports it if the drive cannot be mounted.
    pub fn file() -> Option<Self> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bench = Bench::new();
        let mount_point = bench.path("mount");
        std::fs::create_dir(&mount_point).unwrap();
        let shape = DriveOptions {
            size_bytes: SIZE_MIB << 20,
            seed: 1,
        };
        let drive = match FaultDrive::mount(&mount_point, shape) {
            Ok(drive) => drive,
            Err(DriveError::Mount { source, .. }) if is_unavailable(&source) => {
                skip(&format!("no FUSE file can be mounted here: {source}"));
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        drive.limit_to_length(Operation::Read, RECORD_BYTES);
        bench.device = drive.path().display().to_string();
        Some(Self {
            attached: None,
            drive,
            bench,
            _alone: alone,
        })
    }

    /// Creates a drive below a loop device, which passes requests on without waiting for earlier ones.
    pub fn block_device() -> Option<Self> {
        let mut loaded = Self::file()?;
        let attached = Attached::to(&loaded.drive.path())?;
        loaded.bench.device.clone_from(&attached.0);
        loaded.attached = Some(attached);
        Some(loaded)
    }

    /// Returns a configuration with these lines.
    pub fn config(&self, lines: &str) -> String {
        let size = match self.attached {
            None => format!("file-size-mbytes: {SIZE_MIB}\n"),
            Some(_) => String::new(),
        };
        format!("{size}service-threads: 32\nmicrosecond-histograms: yes\n{lines}")
    }

    /// Starts a run, with real-time priority if allowed, so that other programs on the host do not delay it.
    pub fn start(&self, lines: &str) -> Run {
        let command = self.bench.command(&self.config(lines));
        let mut first = Command::new("chrt");
        first
            .args(["--fifo", "20"])
            .arg(command.get_program())
            .args(command.get_args())
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
        if may_raise_priority() {
            Run::of(first)
        } else {
            Run::of(command)
        }
    }

    /// Starts a run without real-time priority, so that burners delay it.
    pub fn start_ordinary(&self, lines: &str) -> Run {
        Run::of(self.bench.command(&self.config(lines)))
    }

    /// Runs to the end. Returns the last record of the side file.
    pub fn run(&self, lines: &str) -> Value {
        assert_eq!(self.start(lines).exit_status(), Some(0), "{}", self.bench.log());
        self.bench.end()
    }
}

fn is_unavailable(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::Unsupported
    ) || error.raw_os_error() == Some(19) // ENODEV: a kernel without FUSE
}

fn may_raise_priority() -> bool {
    let tried = Command::new("chrt")
        .args(["--fifo", "20", "true"])
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// A loop device, removed on drop.
struct Attached(String);

impl Attached {
    fn to(file: &Path) -> Option<Self> {
        let output = Command::new("losetup")
            .args(["--find", "--show", "--direct-io=on"])
            .arg(file)
            .output();
        match output {
            Ok(output) if output.status.success() => {
                Some(Self(String::from_utf8(output.stdout).unwrap().trim().to_owned()))
            }
            other => {
                skip(&format!(
                    "losetup makes no loop device with direct I/O here: {other:?}"
                ));
                None
            }
        }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // If this fails, a loop device remains, which does not affect the next test.
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}
