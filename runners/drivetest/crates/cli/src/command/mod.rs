//! The commands; each is one variant here and one module beside this file.

use std::process::ExitCode;

use clap::Subcommand;

/// What to do.
#[derive(Subcommand)]
pub enum Command {}

impl Command {
    /// Runs the command; its exit status is part of docs/formats.md.
    pub fn run(self) -> ExitCode {
        match self {}
    }
}
