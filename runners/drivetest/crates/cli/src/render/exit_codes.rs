//! The exit codes of each command and what they mean, for `--help`, the manual and docs/reference/formats.md.

use crate::output::{
    EXIT_ERROR, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_NO_VERDICT, EXIT_OVERLOADED, EXIT_REFUSED, EXIT_SPOOLED,
    EXIT_UNDECIDED, EXIT_USAGE,
};

/// The meaning of an exit code.
#[derive(Debug, Clone, Copy)]
pub struct ExitCodeMeaning {
    /// The exit code.
    pub code: u8,
    /// The meaning in the table of all commands.
    pub summary: &'static str,
    /// The meaning in the help of the command.
    pub text: &'static str,
}

/// Declares the exit codes of commands.
macro_rules! exit_codes {
    ($($($command:literal),* => { $($code:tt: $summary:literal, $text:literal;)* })*) => {
        /// Exit codes of each command, except [`EXIT_USAGE`], which all have.
        pub const EXIT_CODES: &[(&[&str], &[ExitCodeMeaning])] = &[$(
            (&[$($command),*], &[$(ExitCodeMeaning { code: $code, summary: $summary, text: $text }),*])
        ),*];
    };
}

exit_codes! {
    "read", "latency" => {
        0: "read", "every log was read";
        EXIT_ERROR: "cannot be read", "a log cannot be read";
    }
    "check" => {
        0: "pass; YCSB: valid", "every run passes; a run of YCSB is valid";
        EXIT_FAILED: "fail; invalid", "a run fails; a run of YCSB is invalid";
        EXIT_UNDECIDED: "undecided or void", "a run is undecided or void";
        EXIT_ERROR: "cannot be read", "a log cannot be read";
    }
    "submit" => {
        0: "passed", "every run passes; a run of YCSB is valid; the spool is empty";
        EXIT_FAILED: "failed", "a run fails; a run of YCSB is invalid";
        EXIT_UNDECIDED: "undecided", "a run is undecided or void";
        EXIT_ERROR: "refused", "a log cannot be read, or the register refuses it, its facts or the token, or the spool \
            cannot be used";
        EXIT_SPOOLED: "spooled", "the register is not available; the submission is in the spool";
        EXIT_NO_VERDICT: "no verdict yet", "the register has stored the submission, but has not read it in time";
    }
    "storage", "index" => {
        0: "finished", "the load ran for its whole duration; the summary, the log and the side file state whether \
            its rates were sustained; with --dry-run, the load would start";
        EXIT_REFUSED: "refused (device unsafe)", "the load was refused, or with --dry-run would be refused, because \
            a device is not safe to use; nothing was written";
        EXIT_ERROR: "I/O error", "the load stopped because a device failed";
        EXIT_OVERLOADED: "cannot keep up", "the load stopped because the drive or the host cannot sustain it";
        EXIT_INTERRUPTED: "interrupted", "a signal ended the load, or the log could not be written";
    }
    "storage --dry-run", "index --dry-run" => {
        0: "would start", "the load would start";
        EXIT_REFUSED: "would be refused", "the load would be refused because a device is not safe to use";
    }
    "prep" => {
        0: "written", "all data was written and, with --steady-state, the write rate is steady";
        EXIT_FAILED: "not steady", "all data was written, but the write rate did not become steady";
        EXIT_REFUSED: "refused (device unsafe)", "the preparation was refused because a device is not safe to use, \
            or is not the device that the state file names; nothing was written";
        EXIT_ERROR: "write error", "a write to a device failed";
        EXIT_INTERRUPTED: "interrupted", "a signal ended the preparation, or the log or the state file could not \
            be written; the state file remains";
    }
    "watch" => {
        0: "succeeded", "the program succeeded, or the drive became idle";
        EXIT_FAILED: "failed", "the program failed, or the drive did not become idle in time";
        EXIT_REFUSED: "refused", "watch refused the program, which is not allowed, or the drive, which is not the \
            expected one, in use or not empty";
        EXIT_ERROR: "cannot run", "watch cannot start the program, or cannot read the host's telemetry";
        EXIT_INTERRUPTED: "interrupted", "a signal ended watch";
    }
    "run start" => {
        0: "started", "the run was started, now or by an earlier command";
        EXIT_REFUSED: "refused (drive busy)", "the start was refused because the drive is busy or a newer start got \
            the drive";
        EXIT_ERROR: "cannot start", "the run cannot start";
    }
    "run remove" => {
        0: "removed", "the directory was removed, now or before";
        EXIT_REFUSED: "not removed", "the directory was not removed because a process of the run is alive or the \
            drive is locked";
        EXIT_ERROR: "cannot be removed", "the directory cannot be removed";
    }
    "run status", "run stop", "identify", "keys", "completions" => {
        0: "printed", "the command printed its result";
        EXIT_ERROR: "no result", "the command has no result; standard error gives the reason";
    }
    "man" => {
        0: "written", "the pages were written";
        EXIT_ERROR: "cannot be written", "a page cannot be written";
    }
    "host" => {
        0: "input ended", "standard input ended";
        EXIT_ERROR: "connection broke", "the connection to the register broke, or the settings of the host \
            cannot be used";
    }
    "agent" => {
        0: "ended by a signal", "a signal ended the agent";
        EXIT_REFUSED: "revoked", "the register has revoked this host, or its settings are of another machine";
        EXIT_ERROR: "cannot run", "the host has not joined a register, or its settings cannot be used";
    }
    "agent join" => {
        0: "joined", "the host has joined the register, now or before";
        EXIT_REFUSED: "refused", "the register refuses the code, for example because it was used";
        EXIT_ERROR: "not joined", "the register is not available, or a file cannot be written";
    }
}

/// Text of [`EXIT_USAGE`].
pub const USAGE: &str = "the command line or the configuration is invalid";

/// Columns for the commands in [`table`].
const COMMANDS_COLUMNS: usize = 20;

/// Returns the rows of the table of all commands: commands, and their codes with short meanings.
pub fn rows() -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for (commands, codes) in EXIT_CODES {
        let cells: Vec<_> = codes
            .iter()
            .map(|each| format!("{} {}", each.code, each.summary))
            .collect();
        rows.extend(heads(commands).into_iter().map(|head| (head, cells.join("  "))));
    }
    rows
}

/// Joins commands as long as they fit into a row of [`table`].
fn heads(commands: &[&str]) -> Vec<String> {
    let mut heads: Vec<String> = Vec::new();
    for command in commands {
        match heads.last_mut() {
            Some(head) if head.len() + command.len() + 2 <= COMMANDS_COLUMNS => {
                head.push_str(&format!(", {command}"));
            }
            _ => heads.push((*command).to_owned()),
        }
    }
    heads
}

/// Returns the table of all commands.
pub fn table() -> String {
    let rows = rows();
    let width = rows.iter().map(|(head, _)| head.len()).max().unwrap_or(0);
    let lines = rows
        .iter()
        .map(|(head, cells)| format!("  {head:width$}  {cells}\n"));
    let lines: String = lines.collect();
    format!("Exit status ({EXIT_USAGE} in every command: {USAGE}):\n{lines}")
}

/// Returns the exit codes of a command, such as `run start`, with the code of all commands last. Empty for others.
pub fn of_command(name: &str) -> Vec<(u8, &'static str)> {
    let found = EXIT_CODES.iter().find(|(commands, _)| commands.contains(&name));
    let own = found.map_or(&[][..], |(_, codes)| codes);
    let usage = found.map(|_| (EXIT_USAGE, USAGE));
    let own = own.iter().map(|each| (each.code, each.text));
    own.chain(usage).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const FORMATS: &str = include_str!("../../../../../../docs/reference/formats.md");
    /// The table has a column for each of these codes, and one for [`EXIT_USAGE`].
    const CODES: [u8; 6] = [
        0,
        EXIT_FAILED,
        EXIT_REFUSED,
        EXIT_ERROR,
        EXIT_OVERLOADED,
        EXIT_INTERRUPTED,
    ];

    /// Returns the documented cells of each command.
    fn documented() -> BTreeMap<&'static str, Vec<&'static str>> {
        let section = FORMATS.split("\n## Exit statuses\n").nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let mut cells_of = BTreeMap::new();
        for row in rows {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let commands = cells.next().unwrap();
            let cells: Vec<_> = cells.collect();
            let names = commands.split(", ").map(|name| name.trim_matches('`'));
            cells_of.extend(names.map(|name| (name, cells.clone())));
        }
        cells_of
    }

    #[test]
    fn the_documented_exit_statuses_are_those_of_the_program() {
        let mut documented = documented();
        for (commands, codes) in EXIT_CODES {
            for command in *commands {
                let mut cells = documented
                    .remove(command)
                    .unwrap_or_else(|| panic!("no {command}"));
                assert!(cells.pop().unwrap().starts_with("usage"), "{command}");
                let summary = |code: u8| codes.iter().find(|each| each.code == code);
                let expected = CODES.map(|code| summary(code).map_or("-", |each| each.summary));
                assert_eq!(cells, expected, "{command}");
            }
        }
        assert!(documented.is_empty(), "{documented:?}");
    }

    #[test]
    fn a_terminal_of_110_columns_shows_each_row_in_one_line() {
        for line in table().lines() {
            assert!(line.len() <= 110, "{} columns: {line}", line.len());
        }
    }
}
