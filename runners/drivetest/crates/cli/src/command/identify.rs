//! `drivetest identify`: what a device is, and whether it may be written to.

use std::path::PathBuf;
use std::process::ExitCode;

use super::answer;

/// The device in question.
#[derive(clap::Args)]
pub struct Args {
    /// A block device, a partition of one, or a plain file.
    device: PathBuf,
    /// Print JSON (the only form there is).
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Prints a `drivecert.identity/1` record.
    pub fn run(self) -> ExitCode {
        match drivetest_device::identify(&self.device) {
            Ok(identity) => answer::tell(&identity, ExitCode::SUCCESS),
            Err(error) => answer::cannot(&error),
        }
    }
}
