//! `drivetest check`: the verdict on each run, why, and what to do.

use std::path::PathBuf;
use std::process::ExitCode;

use drivetest_log::judge::verdict::Outcome;
use drivetest_log::ycsb::run::Outcome as Validity;

use super::log_file::{EXIT_UNREADABLE, HowToRead, LogFile, Logs, answer, profile, refuse_profile};
use super::verdict_told::{self, finding_told};
use super::ycsb_table;

/// Arguments of `check`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    how: HowToRead,
    /// The profile to judge by: a name that is compiled in, or a file
    #[arg(long, value_name = "NAME|FILE")]
    profile: PathBuf,
}

impl Args {
    /// Runs the command; over several runs and logs the weightiest status is given: 3, then 1, then 2.
    pub fn run(self) -> ExitCode {
        if let Some(refused) = self.how.refusal(&self.logs) {
            return refused;
        }
        let profile = match profile(&self.profile) {
            Ok(profile) => profile,
            Err(bad) => return refuse_profile(&self.profile, &bad),
        };
        let (mut text, mut statuses) = (String::new(), Vec::new());
        for path in &self.logs.paths {
            let log = self.how.read(path, Some(&profile));
            statuses.extend(log_statuses(&log));
            text.push_str(&told(&log));
        }
        let weightiest = [EXIT_UNREADABLE, 1, 2]
            .into_iter()
            .find(|status| statuses.contains(status));
        answer(&text, weightiest.unwrap_or(0))
    }
}

fn log_statuses(log: &LogFile) -> Vec<u8> {
    if log.reading.error.is_some() {
        return vec![EXIT_UNREADABLE];
    }
    let runs = log.reading.runs.iter().filter_map(|run| run.verdict.as_ref());
    let of_act = runs.map(|verdict| status(verdict.outcome));
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

fn told(log: &LogFile) -> String {
    let (name, reading) = (&log.input.name, &log.reading);
    if let Some(error) = &reading.error {
        return format!("{name}: cannot be read ({}): {}\n", error.id, error.sentence);
    }
    let mut text = String::new();
    for run in &reading.runs {
        let of_many = if reading.runs.len() > 1 {
            format!(
                ", run {} (lines {}-{})",
                run.ordinal + 1,
                run.first_line,
                run.last_line
            )
        } else {
            String::new()
        };
        if let Some(verdict) = &run.verdict {
            text.push_str(&format!("{name}{of_many}: {}\n", verdict.headline));
            text.push_str(&verdict_told::told(run, verdict));
        }
    }
    for run in &reading.ycsb_runs {
        let place = format!(
            "run {} (lines {}-{})",
            run.ordinal + 1,
            run.first_line,
            run.last_line
        );
        let of_many = if reading.ycsb_runs.len() > 1 {
            format!(", {place}")
        } else {
            String::new()
        };
        text.push_str(&format!("{name}{of_many}: "));
        text.push_str(ycsb_table::validity(run).trim_start());
    }
    reading
        .findings
        .iter()
        .for_each(|finding| text.push_str(&finding_told(finding)));
    text
}
