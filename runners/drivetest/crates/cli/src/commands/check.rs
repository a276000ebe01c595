//! `drivetest check`: the verdict on each run, which the module `judge` of the crate logs decides, its reasons and remedies.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_logs::act::run::Run;
use drivetest_logs::act::slices::sinks::SinkOptions;
use drivetest_logs::judge::profile::{DEFAULT_PROFILE, Profile};
use drivetest_logs::judge::verdict::Outcome;
use drivetest_logs::ycsb::run::{self as ycsb_run, Outcome as Validity};
use serde_json::{Value, json};

use crate::input::read_log::{LogFile, Logs, ReadOptions};
use crate::output::{EXIT_ERROR, EXIT_FAILED, EXIT_UNDECIDED, print_and_exit};
use crate::render::colours::Colours;
use crate::render::findings::findings_text;
use crate::render::{side_file, verdict, ycsb};

/// Arguments of `check`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    options: ReadOptions,
    /// Profile with the limits for runs of ACT and drivetest: the name of a profile that drivetest contains
    /// (operational-database, or operational-database.1 with its version), or the path of a profile file [default:
    /// operational-database]
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<PathBuf>,
    /// Print one line of JSON for each log, as docs/reference/formats.md describes
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command. For several runs, the exit code is the first of 3, 1 and 2 that any of them has.
    pub fn run(self) -> ExitCode {
        let name = self.profile.as_deref().unwrap_or(Path::new(DEFAULT_PROFILE));
        let profile = match self.options.prepare(&self.logs, Some(name)) {
            Ok(profile) => profile,
            Err(code) => return code,
        };
        let requested = profile.as_ref().filter(|_| self.profile.is_some());
        let (mut text, mut codes) = (String::new(), Vec::new());
        for path in &self.logs.paths {
            let log = self.options.read(path, profile.as_ref(), SinkOptions::default());
            let code = most_serious(&exit_codes(&log));
            codes.push(code);
            if self.json {
                let document = document(&log, code, profile.as_ref(), requested.is_none());
                text.push_str(&format!("{document}\n"));
            } else {
                text.push_str(&verdicts(&log, requested));
            }
        }
        print_and_exit(&text, most_serious(&codes))
    }
}

/// Returns the `drivecert.check/1` document of a log whose runs of ACT were judged by the profile.
fn document(log: &LogFile, exit_status: u8, profile: Option<&Profile>, is_default_profile: bool) -> Value {
    let reading = &log.reading;
    let run = |run: &Run| {
        json!({
            "ordinal": run.ordinal, "member": run.member, "first_line": run.first_line, "last_line": run.last_line,
            "verdict": run.verdict, "findings": run.findings,
        })
    };
    let ycsb_run = |run: &ycsb_run::Run| {
        json!({
            "ordinal": run.ordinal, "member": run.member, "first_line": run.first_line, "last_line": run.last_line,
            "validity": run.validity, "findings": run.findings,
        })
    };
    json!({
        "schema": "drivecert.check/1", "log": log.path, "exit_status": exit_status,
        "profile": profile.map(Profile::name), "is_default_profile": is_default_profile, "error": reading.error,
        "findings": reading.findings, "runs": reading.runs.iter().map(run).collect::<Vec<_>>(),
        "ycsb_runs": reading.ycsb_runs.iter().map(ycsb_run).collect::<Vec<_>>(),
    })
}

fn most_serious(codes: &[u8]) -> u8 {
    let mut by_weight = [EXIT_ERROR, EXIT_FAILED, EXIT_UNDECIDED].into_iter();
    by_weight.find(|code| codes.contains(code)).unwrap_or(0)
}

fn exit_codes(log: &LogFile) -> Vec<u8> {
    if log.reading.error.is_some() {
        return vec![EXIT_ERROR];
    }
    let verdicts = log.reading.runs.iter().map(|run| run.verdict.as_ref());
    let of_act = verdicts.map(|verdict| verdict.map_or(EXIT_UNDECIDED, |verdict| exit_code(verdict.outcome)));
    let of_ycsb = log
        .reading
        .ycsb_runs
        .iter()
        .map(|run| ycsb_exit_code(run.validity.outcome));
    of_act.chain(of_ycsb).collect()
}

fn ycsb_exit_code(outcome: Validity) -> u8 {
    match outcome {
        Validity::Valid => 0,
        Validity::Invalid => EXIT_FAILED,
        Validity::Undecided => EXIT_UNDECIDED,
    }
}

fn exit_code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Pass => 0,
        Outcome::Fail => EXIT_FAILED,
        Outcome::Undecided | Outcome::Void => EXIT_UNDECIDED,
    }
}

/// Returns which run it is: the log, the file in an archive, and the number if there are several.
fn place(log: &LogFile, member: Option<&str>, ordinal: usize, lines: (u64, u64)) -> String {
    let place = log.place(member);
    match log.reading.runs.len() + log.reading.ycsb_runs.len() {
        ..=1 => place,
        _ => format!("{place}, run {} (lines {}-{})", ordinal + 1, lines.0, lines.1),
    }
}

fn act_verdict(log: &LogFile, run: &Run, is_default_profile: bool) -> String {
    let Some(verdict) = &run.verdict else {
        return String::new();
    };
    let (member, lines) = (run.member.as_deref(), (run.first_line, run.last_line));
    let place = place(log, member, run.ordinal, lines);
    let details = verdict::details(run, verdict, is_default_profile);
    let headline = verdict::headline(verdict, Colours::of(&io::stdout()));
    format!("{place}: {headline}\n{details}{}", side_file::summary(run))
}

fn ycsb_verdict(log: &LogFile, run: &ycsb_run::Run, requested: Option<&Profile>) -> String {
    let (member, lines) = (run.member.as_deref(), (run.first_line, run.last_line));
    let place = place(log, member, run.ordinal, lines);
    let unused = requested.map_or_else(String::new, |profile| {
        let (name, tool) = (&profile.rules.name, run.tool);
        format!("  profile {name} is not used: its limits are for ACT, and runs of {tool} have rules of their own\n")
    });
    format!("{place}: {}{unused}", ycsb::validity(run).trim_start())
}

/// Returns the verdicts on all runs of a log, by the requested profile or else by the default profile.
fn verdicts(log: &LogFile, requested: Option<&Profile>) -> String {
    let reading = &log.reading;
    if let Some(error) = log.error_text() {
        return error;
    }
    let mut text = String::new();
    for run in &reading.runs {
        text.push_str(&act_verdict(log, run, requested.is_none()));
    }
    for run in &reading.ycsb_runs {
        text.push_str(&ycsb_verdict(log, run, requested));
    }
    text + &findings_text(&reading.findings)
}
