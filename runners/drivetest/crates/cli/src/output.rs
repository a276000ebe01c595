//! Standard output, standard error and exit codes: JSON records, text, diagnostics, and the meaning of each exit code.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// `check`: fail; `prep`: not steady; `watch`: the program failed.
pub const EXIT_FAILED: u8 = 1;
/// A device is not safe to use, or a request is not allowed.
pub const EXIT_REFUSED: u8 = 2;
/// A device failed, a file cannot be read, or a command cannot answer.
pub const EXIT_ERROR: u8 = 3;
/// The drive or the host cannot sustain the load.
pub const EXIT_OVERLOADED: u8 = 4;
/// Ended by a signal.
pub const EXIT_INTERRUPTED: u8 = 5;
/// The command line or the configuration is invalid, in every command.
pub const EXIT_USAGE: u8 = 64;

/// Prints a record as one line of JSON and returns the exit code.
pub fn print_json(record: &impl serde::Serialize, code: u8) -> ExitCode {
    write_json(record).map_or_else(|error| output_failed(&error, code), |()| ExitCode::from(code))
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

/// Returns the code of a value in JSON documents, such as `cannot-keep-up`. Empty for a value without one.
pub fn code(value: &impl serde::Serialize) -> String {
    let code = serde_json::to_value(value).ok();
    let code = code.as_ref().and_then(|code| code.as_str());
    code.unwrap_or_default().to_owned()
}

/// An exit code and what it means.
pub type ExitCodeMeaning = (u8, &'static str);

/// Declares the exit codes of commands.
macro_rules! exit_codes {
    ($($($command:literal),* => { $($code:tt: $meaning:literal,)* })*) => {
        /// Exit codes of each command, except [`EXIT_USAGE`], which all have.
        pub const EXIT_CODES: &[(&[&str], &[ExitCodeMeaning])] = &[$((&[$($command),*], &[$(($code, $meaning)),*])),*];
    };
}

exit_codes! {
    "storage", "index" => {
        0: "the load ran for its whole duration; the summary, the log and the side file state whether \
            its rates were sustained",
        EXIT_REFUSED: "the load was refused because a device is not safe to use; nothing was written",
        EXIT_ERROR: "the load stopped because a device failed",
        EXIT_OVERLOADED: "the load stopped because the drive or the host cannot sustain it",
        EXIT_INTERRUPTED: "a signal ended the load, or the log could not be written",
    }
    "storage --dry-run", "index --dry-run" => {
        0: "the load would start",
        EXIT_REFUSED: "the load would be refused because a device is not safe to use",
    }
    "prep" => {
        0: "all data was written and, with --steady-state, the write rate is steady",
        EXIT_FAILED: "all data was written, but the write rate did not become steady",
        EXIT_REFUSED: "the preparation was refused because a device is not safe to use, or is not the device \
            that the state file names; nothing was written",
        EXIT_ERROR: "a write to a device failed",
        EXIT_INTERRUPTED: "a signal ended the preparation, or the log or the state file could not be \
            written; the state file remains",
    }
    "read", "latency" => {
        0: "every log was read",
        EXIT_ERROR: "a log cannot be read",
    }
    "check" => {
        0: "every run passes; a run of YCSB is valid",
        EXIT_FAILED: "a run fails; a run of YCSB is invalid",
        2: "a run is undecided or void",
        EXIT_ERROR: "a log cannot be read",
    }
    "start" => {
        0: "the run was started, now or by an earlier command",
        EXIT_REFUSED: "the start was refused because the drive is busy or a newer start got the drive",
        EXIT_ERROR: "the run cannot start",
    }
    "remove" => {
        0: "the directory was removed, now or before",
        EXIT_REFUSED: "the directory was not removed because a process of the run is alive or the drive is locked",
        EXIT_ERROR: "the directory cannot be removed",
    }
    "watch" => {
        0: "the program succeeded, or the drive became idle",
        EXIT_FAILED: "the program failed, or the drive did not become idle in time",
        EXIT_REFUSED: "watch refused the program, which is not allowed, or the drive, which is not the \
            expected one, in use or not empty",
        EXIT_ERROR: "watch cannot start the program, or cannot read the host's telemetry",
        EXIT_INTERRUPTED: "a signal ended watch",
    }
    "status", "stop", "identify", "keys", "completions", "host" => {
        0: "the command printed its result",
        EXIT_ERROR: "the command has no result; standard error gives the reason",
    }
}
