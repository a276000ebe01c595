//! `drivetest host`: what a register may ask of this host's root.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use drivetest_labhost::{SETTINGS_FILE, Settings};

use super::answer;

/// There is nothing to choose: requests come through standard input.
#[derive(clap::Args)]
pub struct Args {}

impl Args {
    /// Answers the requests of standard input, a line of JSON each, until it ends.
    pub fn run(self) -> ExitCode {
        let settings = match Settings::read(Path::new(SETTINGS_FILE)) {
            Ok(settings) => settings,
            Err(error) => return answer::cannot(&error),
        };
        match drivetest_labhost::serve(&settings, io::stdin().lock(), io::stdout().lock()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => answer::cannot(&format_args!("the conversation broke off: {error}")),
        }
    }
}
