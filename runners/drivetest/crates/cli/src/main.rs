//! drivetest: the native test program of Drivecert. `commands/` has its subcommands, `input/` unpacks logs and archives.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;

mod commands;
mod export;
mod input;
mod output;
mod render;

use crate::render::exit_codes::EXIT_USAGE;

/// Put test loads on drives, and read and judge the logs of ACT, drivetest and YCSB.
#[derive(Parser)]
#[command(name = "drivetest", version)]
struct Program {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    match Program::try_parse() {
        Ok(program) => program.command.run(),
        Err(error) => {
            // clap's own exit code for a usage error is 2, which means "refused" here.
            let is_help = !error.use_stderr();
            if error.print().is_err() || !is_help {
                return ExitCode::from(EXIT_USAGE);
            }
            ExitCode::SUCCESS
        }
    }
}
