//! drivetest: the native test program of Drivecert. One module per command in `command/`.

use std::process::ExitCode;

use clap::Parser;

mod command;

/// Loads drives, reads and judges the logs of such tests.
#[derive(Parser)]
#[command(name = "drivetest", version)]
struct Program {
    #[command(subcommand)]
    command: command::Command,
}

/// Exit status for a command line that cannot be understood, in every command (clap's own 2 means "refused" here).
const EXIT_USAGE: u8 = 64;

fn main() -> ExitCode {
    match Program::try_parse() {
        Ok(program) => program.command.run(),
        Err(error) => {
            let asked_for_help = !error.use_stderr();
            if error.print().is_err() || !asked_for_help {
                return ExitCode::from(EXIT_USAGE);
            }
            ExitCode::SUCCESS
        }
    }
}
