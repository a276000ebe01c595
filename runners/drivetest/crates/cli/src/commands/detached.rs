//! Background runs: `drivetest start` runs another command, such as a load of `load.rs`, as a detached process. `status`,
//! `stop` and `remove` manage it. The crate labhost does the same for a register.

use std::ffi::OsString;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_detached::{DetachError, StartOutcome, StartRequest, Status};

use crate::output::{self, EXIT_REFUSED};

/// Arguments of `start`.
#[derive(clap::Args)]
pub struct Start {
    /// Existing directory for the files of the run, in which the command runs
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// Lock file of the drive, which all runs on the drive share; created if missing
    #[arg(long, value_name = "FILE")]
    drive_lock: PathBuf,
    /// Number of this start, higher than the number of every earlier start on the drive; a lower number is refused
    #[arg(long, value_name = "N")]
    generation: u64,
    /// drivetest command to run, such as `storage config --log log`; without --log, its standard output goes to the file DIR/log
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Start {
    /// Prints a `drivecert.detached/1` record.
    pub fn run(self) -> ExitCode {
        let words: Vec<_> = iter::once("drivetest".into()).chain(self.command).collect();
        let request = StartRequest {
            run_dir: &self.run_dir,
            drive_lock: &self.drive_lock,
            generation: self.generation,
            program: Path::new("/proc/self/exe"),
            words: &words,
        };
        match drivetest_detached::start(&request) {
            Ok(outcome) => {
                let is_started = matches!(outcome, StartOutcome::Started(_));
                print_unless_refused(&outcome.status(), is_started)
            }
            Err(error) => output::fail(&error),
        }
    }
}

/// Arguments of `status` and `stop`.
#[derive(clap::Args)]
pub struct Existing {
    /// Directory of the background run, as given to `drivetest start`
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
}

impl Existing {
    /// Prints the `drivecert.detached/1` record that `query` returns: the status, or after sending SIGTERM to the run's
    /// process and to no other.
    pub fn run(self, query: fn(&Path) -> Result<Status, DetachError>) -> ExitCode {
        match query(&self.run_dir) {
            Ok(status) => output::print_json(&status, 0),
            Err(error) => output::fail(&error),
        }
    }
}

/// Arguments of `remove`.
#[derive(clap::Args)]
pub struct Remove {
    /// Directory of the finished background run that is deleted
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// Lock file of the run's drive, as given to `drivetest start`
    #[arg(long, value_name = "FILE")]
    drive_lock: PathBuf,
    /// Highest --generation with which the run was started; later starts with this or a lower number are refused
    #[arg(long, value_name = "N")]
    generation: u64,
}

impl Remove {
    /// Prints a `drivecert.removal/1` record.
    pub fn run(self) -> ExitCode {
        match drivetest_detached::remove(&self.run_dir, &self.drive_lock, self.generation) {
            Ok(removal) => print_unless_refused(&removal, removal.removed),
            Err(error) => output::fail(&error),
        }
    }
}

/// Prints a record. Its exit code says whether the request was refused.
fn print_unless_refused(record: &impl serde::Serialize, is_done: bool) -> ExitCode {
    output::print_json(record, if is_done { 0 } else { EXIT_REFUSED })
}
