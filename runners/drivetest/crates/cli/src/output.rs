//! Standard output, standard error and exit codes: JSON records, text and diagnostics.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// `check`: fail; `prep`: not steady; `watch`: the program failed.
pub const EXIT_FAILED: u8 = 1;
/// A device is not safe to use, or a request is not allowed.
pub const EXIT_REFUSED: u8 = 2;
/// `check`: undecided or void.
pub const EXIT_UNDECIDED: u8 = 2;
/// A device failed, a file cannot be read, or a command cannot answer.
pub const EXIT_ERROR: u8 = 3;
/// The drive or the host cannot sustain the load.
pub const EXIT_OVERLOADED: u8 = 4;
/// `submit`: the register is not available; the submission is in the spool.
pub const EXIT_SPOOLED: u8 = 4;
/// `submit`: the register has the submission, and no verdict yet.
pub const EXIT_NO_VERDICT: u8 = 5;
/// Ended by a signal.
pub const EXIT_INTERRUPTED: u8 = 5;
/// The command line or the configuration is invalid, in every command.
pub const EXIT_USAGE: u8 = 64;

/// Prints a record, or why there is none, and returns the exit code of the record. The record is printed as JSON on
/// request, or if standard output is no terminal.
pub fn print_record<Record: serde::Serialize>(
    record: Result<(Record, u8), impl Display>,
    is_json_requested: bool,
    text: impl FnOnce(&Record) -> String,
) -> ExitCode {
    match record {
        Ok((record, code)) if is_json_requested || !io::stdout().is_terminal() => print_json(&record, code),
        Ok((record, code)) => print_and_exit(&text(&record), code),
        Err(error) => fail(&error),
    }
}

/// Prints a record as one line of JSON and returns the exit code.
pub fn print_json(record: &impl serde::Serialize, code: u8) -> ExitCode {
    match serde_json::to_string(record) {
        Ok(line) => print_and_exit(&(line + "\n"), code),
        Err(error) => output_failed(&error.into(), code),
    }
}

/// Prints why a command failed and returns the exit code for an error.
pub fn fail(message: &impl Display) -> ExitCode {
    print_diagnostic(message);
    ExitCode::from(EXIT_ERROR)
}

/// Prints a message on standard error.
pub fn print_diagnostic(message: &impl Display) {
    print_status(&format!("drivetest: {message}\n"));
}

/// Prints text on standard error. A failure is ignored: without standard error, only the exit code remains.
pub fn print_status(text: &str) {
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// Writes text to standard output.
///
/// # Errors
/// If standard output is closed or full.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
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

/// Returns the code of a value in JSON documents, such as `cannot-keep-up`. Empty for a value without one.
pub fn code(value: &impl serde::Serialize) -> String {
    let code = serde_json::to_value(value).ok();
    let code = code.as_ref().and_then(|code| code.as_str());
    code.unwrap_or_default().to_owned()
}
