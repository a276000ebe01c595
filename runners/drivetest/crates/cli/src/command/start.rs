//! `drivetest start`: a load that outlives whoever started it.

use std::ffi::OsString;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_detached::{Answer, Order};

use super::answer;

/// Exit status when the drive is busy or given to a newer generation.
const EXIT_REFUSED: u8 = 2;

/// What to start, where, and under which right.
#[derive(clap::Args)]
pub struct Args {
    /// The directory of the run; the program runs in it.
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// The lock file of the drive, the same for every run on it; created when missing.
    #[arg(long, value_name = "FILE")]
    drive_lock: PathBuf,
    /// Count of starts for the drive; an older one than the newest is refused.
    #[arg(long, value_name = "N")]
    generation: u64,
    /// The command line of drivetest to run, such as `storage config --log log`; standard output is DIR/log without --log.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Args {
    /// Prints a `drivecert.detached/1` record.
    pub fn run(self) -> ExitCode {
        let words: Vec<_> = iter::once(OsString::from("drivetest"))
            .chain(self.command)
            .collect();
        let order = Order {
            run_dir: &self.run_dir,
            drive_lock: &self.drive_lock,
            generation: self.generation,
            program: Path::new("/proc/self/exe"),
            words: &words,
        };
        match drivetest_detached::start(&order) {
            Ok(told @ Answer::Told(_)) => answer::tell(&told.status(), ExitCode::SUCCESS),
            Ok(refused @ Answer::Refused(_)) => answer::tell(&refused.status(), ExitCode::from(EXIT_REFUSED)),
            Err(error) => answer::cannot(&error),
        }
    }
}
