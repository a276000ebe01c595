//! `drivetest status`: how a detached run stands.

use std::path::PathBuf;
use std::process::ExitCode;

use super::answer;

/// The run in question.
#[derive(clap::Args)]
pub struct Args {
    /// The directory of the run.
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
}

impl Args {
    /// Prints a `drivecert.detached/1` record.
    pub fn run(self) -> ExitCode {
        match drivetest_detached::status(&self.run_dir) {
            Ok(status) => answer::tell(&status, ExitCode::SUCCESS),
            Err(error) => answer::cannot(&error),
        }
    }
}
