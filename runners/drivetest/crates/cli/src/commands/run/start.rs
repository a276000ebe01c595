//! `drivetest start`: starts a drivetest command in the background.

use std::ffi::OsString;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_detached::{StartOutcome, StartRequest};

use crate::output;
use crate::render::exit_codes::EXIT_REFUSED;

/// Arguments of `start`.
#[derive(clap::Args)]
pub struct Args {
    /// Directory of the run. The command runs in it
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// Lock file of the drive, the same for every run on it. Created if missing
    #[arg(long, value_name = "FILE")]
    drive_lock: PathBuf,
    /// Number of this start on the drive. A number below the newest is refused
    #[arg(long, value_name = "N")]
    generation: u64,
    /// Arguments of drivetest, such as `storage config --log log`. Without --log, standard output goes to DIR/log
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Args {
    /// Prints a `drivecert.detached/1` record.
    pub fn run(self) -> ExitCode {
        let words: Vec<_> = iter::once(OsString::from("drivetest"))
            .chain(self.command)
            .collect();
        let request = StartRequest {
            run_dir: &self.run_dir,
            drive_lock: &self.drive_lock,
            generation: self.generation,
            program: Path::new("/proc/self/exe"),
            words: &words,
        };
        match drivetest_detached::start(&request) {
            Ok(started @ StartOutcome::Started(_)) => {
                output::print_json(&started.status(), ExitCode::SUCCESS)
            }
            Ok(refused @ StartOutcome::Refused(_)) => {
                output::print_json(&refused.status(), ExitCode::from(EXIT_REFUSED))
            }
            Err(error) => output::fail(&error),
        }
    }
}
