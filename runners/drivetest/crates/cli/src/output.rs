//! Standard output and standard error: JSON records, text and diagnostics, with the exit code that follows from a failure.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::render::exit_codes::EXIT_ERROR;

/// Prints a record as one line of JSON and returns `code`, or the code for an error if standard output fails.
pub fn print_json(record: &impl serde::Serialize, code: ExitCode) -> ExitCode {
    match write_json(record) {
        Ok(()) => code,
        Err(error) => fail(&format_args!("standard output: cannot write the record: {error}")),
    }
}

fn write_json(record: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(record)?;
    line.push('\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

/// Prints why a command failed and returns the exit code for an error.
pub fn fail(message: &impl Display) -> ExitCode {
    print_diagnostic(message);
    ExitCode::from(EXIT_ERROR)
}

/// Prints a message on standard error. A failure is ignored: without standard error, only the exit code remains.
pub fn print_diagnostic(message: &impl Display) {
    drop(writeln!(io::stderr().lock(), "drivetest: {message}"));
}

/// Writes text to standard output.
///
/// # Errors
/// If standard output is closed or full.
pub fn print(text: &str) -> io::Result<()> {
    io::stdout().lock().write_all(text.as_bytes())
}

/// Prints a command's text and returns its exit code.
pub fn print_and_exit(text: &str, code: u8) -> ExitCode {
    print(text).map_or_else(|error| output_failed(&error, code), |()| ExitCode::from(code))
}

/// Returns the exit code after a failed write. A closed pipe is no failure: the reader has read enough.
pub fn output_failed(error: &io::Error, code: u8) -> ExitCode {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return ExitCode::from(code);
    }
    fail(&format_args!("standard output: cannot be written: {error}"))
}
