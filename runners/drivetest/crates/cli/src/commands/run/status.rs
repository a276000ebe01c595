//! `drivetest status`: the status of a background run.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::output;

/// Arguments of `status`.
#[derive(clap::Args)]
pub struct Args {
    /// Directory of the run
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
}

impl Args {
    /// Prints a `drivecert.detached/1` record.
    pub fn run(self) -> ExitCode {
        match drivetest_detached::status(&self.run_dir) {
            Ok(status) => output::print_json(&status, ExitCode::SUCCESS),
            Err(error) => output::fail(&error),
        }
    }
}
