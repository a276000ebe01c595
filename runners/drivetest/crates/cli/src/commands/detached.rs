//! Background runs: `drivetest run start` runs another command, such as a load of `load.rs`, as a detached process.
//! `run status`, `run stop` and `run remove` manage it. The crate labhost does the same for a register.

use std::ffi::OsString;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_detached::{EndCause, Removal, StartOutcome, StartRequest, State, Status, status, stop};

use crate::output::{EXIT_REFUSED, print_record};
use crate::size;

/// Arguments of `run`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: RunCommand,
}

/// The subcommand of `run`.
#[derive(clap::Subcommand)]
enum RunCommand {
    /// Start a drivetest command in the background; a repeated start only reports the run that exists.
    Start(Start),
    /// Print whether a background run is running or has ended, and how it ended.
    Status(Existing),
    /// Stop a background run with the signal SIGTERM.
    Stop(Existing),
    /// Delete the directory of a finished background run.
    Remove(Remove),
}

impl Args {
    /// Runs the subcommand. It prints text on a terminal, and JSON elsewhere or with `--json`. Under its earlier name,
    /// it always prints JSON.
    pub fn run(self) -> ExitCode {
        match self.command {
            RunCommand::Start(args) => args.run(false),
            RunCommand::Status(args) => args.status(false),
            RunCommand::Stop(args) => args.stop(false),
            RunCommand::Remove(args) => args.run(false),
        }
    }
}

/// Arguments of `start`.
#[derive(clap::Args)]
pub struct Start {
    /// Existing directory for the files of the run, in which the command runs
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// Lock file of the drive, which all runs on the drive share; created if missing
    #[arg(long, value_name = "FILE")]
    drive_lock: PathBuf,
    /// Number of this start, higher than the number of every earlier start on the drive; a lower number is refused
    #[arg(long, value_name = "N")]
    generation: u64,
    /// Print JSON, as docs/reference/formats.md describes, even if standard output is a terminal
    #[arg(long)]
    json: bool,
    /// drivetest command to run, such as `storage config --log log`; without --log, its standard output goes to the file DIR/log
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Start {
    /// Prints a `drivecert.detached/1` record.
    pub fn run(self, is_json: bool) -> ExitCode {
        let words: Vec<_> = iter::once("drivetest".into()).chain(self.command).collect();
        let request = StartRequest {
            run_dir: &self.run_dir,
            drive_lock: &self.drive_lock,
            generation: self.generation,
            program: Path::new("/proc/self/exe"),
            words: &words,
        };
        let outcome = drivetest_detached::start(&request).map(|outcome| {
            let is_started = matches!(outcome, StartOutcome::Started(_));
            (outcome.status(), code(is_started))
        });
        print_record(outcome, is_json || self.json, |status| {
            status_text(status, &self.run_dir)
        })
    }
}

/// Arguments of `status` and `stop`.
#[derive(clap::Args)]
pub struct Existing {
    /// Directory of the background run, as given to `drivetest run start`
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// Print JSON, as docs/reference/formats.md describes, even if standard output is a terminal
    #[arg(long)]
    json: bool,
}

impl Existing {
    /// Prints the `drivecert.detached/1` record of the run.
    pub fn status(self, is_json: bool) -> ExitCode {
        let status = status(&self.run_dir).map(|status| (status, 0));
        print_record(status, is_json || self.json, |status| {
            status_text(status, &self.run_dir)
        })
    }

    /// Sends SIGTERM to the run's process and to no other, and prints the `drivecert.detached/1` record of the run.
    pub fn stop(self, is_json: bool) -> ExitCode {
        let status = stop(&self.run_dir).map(|status| (status, 0));
        print_record(status, is_json || self.json, |status| {
            stop_text(status, &self.run_dir)
        })
    }
}

/// Arguments of `remove`.
#[derive(clap::Args)]
pub struct Remove {
    /// Directory of the finished background run that is deleted
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// Lock file of the run's drive, as given to `drivetest run start`
    #[arg(long, value_name = "FILE")]
    drive_lock: PathBuf,
    /// Highest --generation with which the run was started; later starts with this or a lower number are refused
    #[arg(long, value_name = "N")]
    generation: u64,
    /// Print JSON, as docs/reference/formats.md describes, even if standard output is a terminal
    #[arg(long)]
    json: bool,
}

impl Remove {
    /// Prints a `drivecert.removal/1` record.
    pub fn run(self, is_json: bool) -> ExitCode {
        let removal = drivetest_detached::remove(&self.run_dir, &self.drive_lock, self.generation);
        let removal = removal.map(|removal| {
            let code = code(removal.removed);
            (removal, code)
        });
        print_record(removal, is_json || self.json, |removal| {
            removal_text(removal, &self.run_dir)
        })
    }
}

/// Returns the exit code of a request that was done or refused.
fn code(is_done: bool) -> u8 {
    if is_done { 0 } else { EXIT_REFUSED }
}

fn status_text(status: &Status, run_dir: &Path) -> String {
    let (log, side_file) = (size::text(status.log_bytes), size::text(status.side_file_bytes));
    let sizes = format!("the log has {log}, the side file {side_file}");
    let reason = &status.reason;
    let state = match (status.state, status.end_cause) {
        (State::Absent, _) if reason.is_empty() => {
            return format!("absent: no run was started in {}\n", run_dir.display());
        }
        (State::Absent, _) => return format!("not started: {reason}\n"),
        (State::Running, _) => format!("running: {}", process_text(status)),
        (State::Ended, Some(EndCause::Exited)) => match status.exit_status {
            Some(exit_status) => format!("ended: exit status {exit_status}"),
            None => format!("ended: {reason}"),
        },
        // The reason is "ended by signal N".
        (State::Ended, Some(EndCause::Signal)) => reason.clone(),
        (State::Ended, _) => format!("ended: {reason}"),
    };
    format!("{state}; {sizes}\n")
}

fn process_text(status: &Status) -> String {
    let number = |number: Option<String>| number.unwrap_or_else(|| "not reported".to_owned());
    let pid = number(status.pid.map(|pid| pid.to_string()));
    let generation = number(status.generation.map(|generation| generation.to_string()));
    format!("process {pid}, generation {generation}")
}

/// Returns the text after SIGTERM. The program may need time to end.
fn stop_text(status: &Status, run_dir: &Path) -> String {
    match status.state {
        State::Running => format!(
            "stopping: {} received SIGTERM; `drivetest run status` shows when it has ended\n",
            process_text(status)
        ),
        State::Absent | State::Ended => status_text(status, run_dir),
    }
}

fn removal_text(removal: &Removal, run_dir: &Path) -> String {
    match removal.removed {
        true => format!("removed: {}\n", run_dir.display()),
        false => format!("not removed: {}\n", removal.reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(state: State, end_cause: Option<EndCause>, reason: &str) -> Status {
        Status {
            schema: "drivecert.detached/1",
            state,
            pid: Some(4_711),
            generation: Some(1),
            boot_id: None,
            exit_status: None,
            log_bytes: 12_345,
            side_file_bytes: 67,
            reason: reason.to_owned(),
            end_cause,
        }
    }

    #[test]
    fn a_status_as_text_has_the_state_its_cause_and_the_sizes() {
        let exited = Status {
            exit_status: Some(4),
            ..record(State::Ended, Some(EndCause::Exited), "")
        };
        let ended = |cause, reason| record(State::Ended, Some(cause), reason);
        for (status, state) in [
            (
                record(State::Running, None, ""),
                "running: process 4711, generation 1",
            ),
            (exited, "ended: exit status 4"),
            (ended(EndCause::Signal, "ended by signal 9"), "ended by signal 9"),
            (
                ended(EndCause::StoppedBeforeStart, "stopped before it was started"),
                "ended: stopped before it was started",
            ),
            (
                ended(EndCause::Unobserved, "the host was rebooted"),
                "ended: the host was rebooted",
            ),
        ] {
            let sizes = "the log has 12.1KiB, the side file 67B";
            assert_eq!(
                status_text(&status, Path::new("/r1")),
                format!("{state}; {sizes}\n")
            );
        }
    }

    #[test]
    fn an_absent_run_as_text_has_the_directory_or_the_reason_of_the_refusal() {
        let absent = record(State::Absent, None, "");
        assert_eq!(
            status_text(&absent, Path::new("/r1")),
            "absent: no run was started in /r1\n"
        );
        let refused = record(State::Absent, None, "/r2 runs as generation 1");
        assert_eq!(
            status_text(&refused, Path::new("/r1")),
            "not started: /r2 runs as generation 1\n"
        );
    }

    #[test]
    fn a_stop_as_text_shows_that_a_running_program_received_the_signal() {
        let running = stop_text(&record(State::Running, None, ""), Path::new("/r1"));
        assert!(
            running.starts_with("stopping: process 4711, generation 1 received SIGTERM; "),
            "{running}"
        );
        let ended = record(State::Ended, Some(EndCause::Signal), "ended by signal 15");
        assert_eq!(
            stop_text(&ended, Path::new("/r1")),
            status_text(&ended, Path::new("/r1"))
        );
    }

    #[test]
    fn a_removal_as_text_has_the_directory_or_the_reason() {
        let removal = |removed, reason: &str| Removal {
            schema: "drivecert.removal/1",
            removed,
            reason: reason.to_owned(),
        };
        assert_eq!(
            removal_text(&removal(true, ""), Path::new("/r1")),
            "removed: /r1\n"
        );
        assert_eq!(
            removal_text(&removal(false, "/r1: not a directory"), Path::new("/r1")),
            "not removed: /r1: not a directory\n"
        );
    }
}
