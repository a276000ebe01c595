//! `drivetest stop`: asks a detached run to end.

use std::path::PathBuf;
use std::process::ExitCode;

use super::answer;

/// The run to end.
#[derive(clap::Args)]
pub struct Args {
    /// The directory of the run.
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
}

impl Args {
    /// Sends TERM to its process, to no other, and prints a `drivecert.detached/1` record.
    pub fn run(self) -> ExitCode {
        match drivetest_detached::stop(&self.run_dir) {
            Ok(status) => answer::tell(&status, ExitCode::SUCCESS),
            Err(error) => answer::cannot(&error),
        }
    }
}
