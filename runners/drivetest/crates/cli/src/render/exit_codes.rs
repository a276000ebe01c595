//! The exit codes of the commands, as the manual and docs/reference/formats.md list them.

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
        EXIT_REFUSED: "refused: a device is not safe to use; nothing was written",
        EXIT_ERROR: "a device failed",
        EXIT_OVERLOADED: "the drive or the host cannot sustain the load",
        EXIT_INTERRUPTED: "ended by a signal, or the log could not be written",
    }
    "prep" => {
        0: "everything was written and, if requested, the rate is steady",
        EXIT_FAILED: "everything was written, but the rate did not become steady",
        EXIT_REFUSED: "refused: a device is not safe to use, or is not the one that the state file \
            names; nothing was written",
        EXIT_ERROR: "a write failed",
        EXIT_INTERRUPTED: "ended by a signal, or the log or the state could not be written; the state \
            file remains",
    }
    "read", "latency" => {
        0: "read",
        EXIT_ERROR: "cannot be read",
    }
    "check" => {
        0: "pass; for YCSB: valid",
        EXIT_FAILED: "fail; for YCSB: invalid",
        2: "undecided or void",
        EXIT_ERROR: "cannot be read",
    }
    "start" => {
        0: "started, now or by an earlier command",
        EXIT_REFUSED: "refused: the drive is busy, or the generation is not the newest",
        EXIT_ERROR: "cannot start",
    }
    "remove" => {
        0: "removed, or already gone",
        EXIT_REFUSED: "not removed: a process is still running or the drive is locked",
        EXIT_ERROR: "cannot be removed",
    }
    "watch" => {
        0: "the program succeeded, or the drive became idle",
        EXIT_FAILED: "the program failed, or the drive did not become idle in time",
        EXIT_REFUSED: "refused: the program is not allowed, or the drive is not the expected one, in \
            use, or not empty",
        EXIT_ERROR: "cannot start the program, or cannot read the host's telemetry",
        EXIT_INTERRUPTED: "ended by a signal",
    }
    "status", "stop", "identify", "keys", "completions", "host" => {
        0: "answered",
        EXIT_ERROR: "cannot be answered",
    }
}
