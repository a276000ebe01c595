//! `drivetest remove`: takes away the directory of a run that has ended.

use std::path::PathBuf;
use std::process::ExitCode;

use super::answer;

/// Exit status when the directory stays.
const EXIT_REFUSED: u8 = 2;

/// The run whose files are kept elsewhere.
#[derive(clap::Args)]
pub struct Args {
    /// The directory of the run.
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// The lock file of its drive, as it was given to start.
    #[arg(long, value_name = "FILE")]
    drive_lock: PathBuf,
    /// The last generation of the run; the directory stays until a later one was let in on the drive.
    #[arg(long, value_name = "N")]
    generation: u64,
}

impl Args {
    /// Prints a `drivecert.removal/1` record.
    pub fn run(self) -> ExitCode {
        match drivetest_detached::remove(&self.run_dir, &self.drive_lock, self.generation) {
            Ok(removal) if removal.removed => answer::tell(&removal, ExitCode::SUCCESS),
            Ok(removal) => answer::tell(&removal, ExitCode::from(EXIT_REFUSED)),
            Err(error) => answer::cannot(&error),
        }
    }
}
