//! `drivetest check`: the verdict on each run, why, and what to do.

use std::path::PathBuf;
use std::process::ExitCode;

use drivetest_logs::act::run::Run;
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::judge::verdict::Outcome;
use drivetest_logs::ycsb::run::{self as ycsb_run, Outcome as Validity};

use super::log_file::{
    EXIT_UNREADABLE, EXIT_USAGE, HowToRead, LogFile, Logs, answer, profile, refuse_profile,
};
use super::side_told;
use super::verdict_told::{self, finding_told};
use super::ycsb_table;

/// Arguments of `check`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    how: HowToRead,
    /// The profile to judge logs of ACT by: operational-database (compiled in; by version: operational-database.1), or a file; outputs of YCSB have rules of their own
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<PathBuf>,
}

impl Args {
    /// Runs the command; over several runs and logs the weightiest status is given: 64, then 3, then 1, then 2.
    pub fn run(self) -> ExitCode {
        if let Some(refused) = self.how.refusal(&self.logs) {
            return refused;
        }
        let profile = match self.profile.as_deref().map(|asked| (asked, profile(asked))) {
            Some((asked, Err(bad))) => return refuse_profile(asked, &bad),
            Some((_, Ok(profile))) => Some(profile),
            None => None,
        };
        let (mut text, mut statuses) = (String::new(), Vec::new());
        for path in &self.logs.paths {
            let log = self.how.read(path, profile.as_ref());
            statuses.extend(log_statuses(&log));
            text.push_str(&told(&log, profile.as_ref()));
        }
        let weightiest = [EXIT_USAGE, EXIT_UNREADABLE, 1, 2]
            .into_iter()
            .find(|status| statuses.contains(status));
        answer(&text, weightiest.unwrap_or(0))
    }
}

fn log_statuses(log: &LogFile) -> Vec<u8> {
    if log.reading.error.is_some() {
        return vec![EXIT_UNREADABLE];
    }
    let verdicts = log.reading.runs.iter().map(|run| run.verdict.as_ref());
    let of_act = verdicts.map(|verdict| verdict.map_or(EXIT_USAGE, |verdict| status(verdict.outcome)));
    let of_ycsb = log
        .reading
        .ycsb_runs
        .iter()
        .map(|run| ycsb_status(run.validity.outcome));
    of_act.chain(of_ycsb).collect()
}

fn ycsb_status(outcome: Validity) -> u8 {
    match outcome {
        Validity::Valid => 0,
        Validity::Invalid => 1,
        Validity::Undecided => 2,
    }
}

fn status(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Pass => 0,
        Outcome::Fail => 1,
        Outcome::Undecided | Outcome::Void => 2,
    }
}

/// The place of a run: log, file of an archive, and which of several it is.
fn place(log: &LogFile, member: Option<&str>, ordinal: usize, lines: (u64, u64)) -> String {
    let of_many = if log.reading.runs.len() + log.reading.ycsb_runs.len() > 1 {
        format!(", run {} (lines {}-{})", ordinal + 1, lines.0, lines.1)
    } else {
        String::new()
    };
    format!("{}{of_many}", log.place(member))
}

fn told_of_act(log: &LogFile, run: &Run) -> String {
    let place = place(
        log,
        run.member.as_deref(),
        run.ordinal,
        (run.first_line, run.last_line),
    );
    match &run.verdict {
        Some(verdict) => format!(
            "{place}: {}\n{}{}",
            verdict.headline,
            verdict_told::told(run, verdict),
            side_told::told(run)
        ),
        None => {
            let known: Vec<&str> = Profile::known_names().collect();
            format!(
                "{place}: not judged: a run of {} is judged by a profile; give --profile ({}, or a file)\n",
                run.origin.tool,
                known.join(", ")
            )
        }
    }
}

fn told_of_ycsb(log: &LogFile, run: &ycsb_run::Run, profile: Option<&Profile>) -> String {
    let place = place(
        log,
        run.member.as_deref(),
        run.ordinal,
        (run.first_line, run.last_line),
    );
    let unused = profile.map_or_else(String::new, |profile| {
        let name = &profile.rules.name;
        format!(
            "  profile {name}: does not apply; {} is judged by its own rules\n",
            run.tool
        )
    });
    format!("{place}: {}{unused}", ycsb_table::validity(run).trim_start())
}

fn told(log: &LogFile, profile: Option<&Profile>) -> String {
    let reading = &log.reading;
    if let Some(error) = &reading.error {
        let name = &log.path;
        return format!("{name}: cannot be read ({}): {}\n", error.id, error.sentence);
    }
    let mut text = String::new();
    for run in &reading.runs {
        text.push_str(&told_of_act(log, run));
    }
    for run in &reading.ycsb_runs {
        text.push_str(&told_of_ycsb(log, run, profile));
    }
    reading
        .findings
        .iter()
        .for_each(|finding| text.push_str(&finding_told(finding)));
    text
}
