//! `drivetest remove`: deletes the directory of a finished background run.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::output;
use crate::render::exit_codes::EXIT_REFUSED;

/// Arguments of `remove`.
#[derive(clap::Args)]
pub struct Args {
    /// Directory of the run
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// Lock file of its drive, as given to start
    #[arg(long, value_name = "FILE")]
    drive_lock: PathBuf,
    /// Last generation of the run. Later starts with it, or with an older one, are refused
    #[arg(long, value_name = "N")]
    generation: u64,
}

impl Args {
    /// Prints a `drivecert.removal/1` record.
    pub fn run(self) -> ExitCode {
        match drivetest_detached::remove(&self.run_dir, &self.drive_lock, self.generation) {
            Ok(removal) if removal.removed => output::print_json(&removal, ExitCode::SUCCESS),
            Ok(removal) => output::print_json(&removal, ExitCode::from(EXIT_REFUSED)),
            Err(error) => output::fail(&error),
        }
    }
}
