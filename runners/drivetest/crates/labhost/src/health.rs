//! Health of the host, which the register requests before it starts a run, and on a schedule.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use drivetest_device::hex;
use drivetest_telemetry::allowlist::{self, ListedProgram};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::HostError;
use crate::run_store::RunStore;
use crate::settings::Settings;

/// The state of the host at one moment. Its JSON is `drivecert.host-health/1`.
#[derive(Debug, Serialize)]
pub(crate) struct Health {
    schema: &'static str,
    /// Release of this program.
    program_version: &'static str,
    /// SHA-256 of this program.
    program_sha256: String,
    hostname: String,
    /// Kernel release.
    kernel: String,
    /// Changes with each boot of the host.
    boot_id: String,
    /// `systemd` or `other`.
    init: &'static str,
    /// The clock of the host, in nanoseconds since 1970 UTC.
    clock_unix_ns: u64,
    /// Directory of the runs.
    state_dir: String,
    /// Free space of the file system of that directory.
    free_bytes: u64,
    /// Size of that file system.
    size_bytes: u64,
    /// Keys of the drives that the operator allows to be loaded.
    drives: Vec<String>,
    /// The programs that the operator allows a sweep to run.
    programs: Vec<ListedProgram>,
    /// Why the list of programs cannot be used.
    programs_problem: Option<String>,
}

impl Health {
    /// Reads the state of the host.
    pub fn read(settings: &Settings, store: &RunStore<'_>) -> Result<Self, HostError> {
        let (free_bytes, size_bytes) = store.free_space()?;
        // An invalid list concerns sweeps only: the host can load its drives.
        let programs = allowlist::listed(Path::new(allowlist::DEFAULT_FILE));
        let programs_problem = programs.as_ref().err().map(ToString::to_string);
        Ok(Self {
            schema: "drivecert.host-health/1",
            program_version: env!("CARGO_PKG_VERSION"),
            program_sha256: program_sha256()?,
            hostname: line("/proc/sys/kernel/hostname")?,
            kernel: line("/proc/sys/kernel/osrelease")?,
            boot_id: line("/proc/sys/kernel/random/boot_id")?,
            init: if has_systemd() { "systemd" } else { "other" },
            clock_unix_ns: now_ns()?,
            state_dir: settings.state_dir.display().to_string(),
            free_bytes,
            size_bytes,
            drives: settings.drives.clone(),
            programs: programs.unwrap_or_default(),
            programs_problem,
        })
    }
}

/// Returns whether systemd is the init process. Source: sd_booted(3).
pub fn has_systemd() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

/// Returns the SHA-256 of the running program, even if its file was replaced.
///
/// # Errors
/// If the program cannot be read.
pub fn program_sha256() -> Result<String, HostError> {
    let path = Path::new("/proc/self/exe");
    let hash = || -> io::Result<String> {
        let mut hasher = Sha256::new();
        let mut file = File::open(path)?;
        let mut buffer = vec![0; 64 * 1024];
        while let read_bytes @ 1.. = file.read(&mut buffer)? {
            hasher.update(&buffer[..read_bytes]);
        }
        Ok(hex(&hasher.finalize()))
    };
    hash().map_err(|error| HostError::file(path, "read", &error))
}

fn line(path: &str) -> Result<String, HostError> {
    let text = fs::read_to_string(path).map_err(|error| HostError::file(path.as_ref(), "read", &error))?;
    Ok(text.trim().to_owned())
}

fn now_ns() -> Result<u64, HostError> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let counted = since.ok().and_then(|since| u64::try_from(since.as_nanos()).ok());
    counted.ok_or_else(|| HostError::refused("the clock of this host is before 1970; set it"))
}
