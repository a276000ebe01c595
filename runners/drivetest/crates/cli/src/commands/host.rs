//! `drivetest host`: serves the requests of a register on a lab host.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use drivetest_labhost::{SETTINGS_FILE, Settings};

use crate::output;

/// No arguments: requests come on standard input.
#[derive(clap::Args)]
pub struct Args {}

impl Args {
    /// Answers the requests on standard input, one JSON object per line, until it ends.
    pub fn run(self) -> ExitCode {
        let settings = match Settings::read(Path::new(SETTINGS_FILE)) {
            Ok(settings) => settings,
            Err(error) => return output::fail(&error),
        };
        match drivetest_labhost::serve(&settings, io::stdin().lock(), io::stdout().lock()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => output::fail(&format_args!("the connection to the register broke: {error}")),
        }
    }
}
