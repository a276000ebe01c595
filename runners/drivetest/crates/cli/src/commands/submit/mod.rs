//! `drivetest submit`: sends logs to a register and waits for the verdicts. While the register is not available, the
//! submissions wait in a spool.

mod delivery;
mod facts;
mod identity;
mod progress;
mod spool;
mod token;

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use drivetest_logs::act::slices::sinks::SinkOptions;
use drivetest_register::{Client, Error, Settings};
use serde_json::{Value, json};

use self::delivery::{Failure, await_verdict, deliver, reading_error};
use self::facts::{Facts, refusal_text};
use self::spool::{SentFile, Spool, Submission};
use crate::input::read_log::{Logs, ReadOptions};
use crate::output::{
    EXIT_ERROR, EXIT_FAILED, EXIT_NO_VERDICT, EXIT_SPOOLED, EXIT_UNDECIDED, EXIT_USAGE, output_failed, print,
    print_diagnostic,
};

const REGISTER_VARIABLE: &str = "DRIVECERT_REGISTER";
const SPOOL_VARIABLE: &str = "DRIVECERT_SPOOL";

/// Arguments of `submit`.
#[derive(clap::Args)]
pub struct Args {
    /// Logs to submit, each as a submission of its own: plain files, files compressed with gzip, zstd or xz, or tar or zip
    /// archives
    #[arg(
        value_name = "LOG",
        required_unless_present = "spool",
        conflicts_with = "spool"
    )]
    logs: Vec<PathBuf>,
    #[command(flatten)]
    options: ReadOptions,
    #[command(flatten)]
    facts: Facts,
    /// Send the submissions in the spool folder
    #[arg(long)]
    spool: bool,
    /// Folder of submissions that wait for the register [default: $DRIVECERT_SPOOL, or drivecert/spool in $XDG_STATE_HOME
    /// or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    spool_dir: Option<PathBuf>,
    /// Address of the register, which begins with https:// [default: $DRIVECERT_REGISTER]
    #[arg(long, value_name = "URL")]
    register: Option<String>,
    /// File with the API token, which only its owner can read; without it, the token is in $DRIVECERT_TOKEN
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Organisation that trusts this CI job: the identity token of the job, in $DRIVECERT_IDENTITY_TOKEN or from GitHub
    /// Actions, is exchanged for an API token
    #[arg(long, value_name = "SLUG", conflicts_with = "token_file")]
    organisation: Option<String>,
    /// File with the only certificates to trust, in PEM format [default: those of this host or of SSL_CERT_FILE, or else
    /// those of Mozilla]
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Seconds to repeat failing requests before a submission goes into the spool
    #[arg(long, value_name = "N", default_value_t = 300)]
    retry_sec: u64,
    /// Maximum seconds to wait until the register has read the log
    #[arg(long, value_name = "N", default_value_t = 3600)]
    wait_sec: u64,
    /// Print one line of JSON for each submission, as docs/reference/formats.md describes
    #[arg(long)]
    json: bool,
}

/// What became of a submission.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    Passed,
    Failed,
    Undecided,
    Refused,
    Spooled,
    NoVerdict,
}

impl Outcome {
    const fn code(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
            Self::Refused => "refused",
            Self::Spooled => "spooled",
            Self::NoVerdict => "no-verdict",
        }
    }

    const fn exit_code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => EXIT_FAILED,
            Self::Undecided => EXIT_UNDECIDED,
            Self::Refused => EXIT_ERROR,
            Self::Spooled => EXIT_SPOOLED,
            Self::NoVerdict => EXIT_NO_VERDICT,
        }
    }
}

/// The result of one submission.
struct Report {
    log: String,
    outcome: Outcome,
    submission: Value,
    notes: Vec<String>,
    problem: Option<String>,
    /// The register refused the submission itself. Otherwise another token or network may lead to another result.
    is_final: bool,
}

/// Whether a submission, or any other one, can be sent now.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Next {
    /// The register answered about this submission.
    Answered,
    /// This submission has to be sent later; others can be sent now.
    Later,
    /// The register is not available.
    Unavailable,
}

impl Report {
    fn problem(log: String, outcome: Outcome, problem: String) -> Self {
        Self {
            log,
            outcome,
            submission: Value::Null,
            notes: Vec::new(),
            problem: Some(problem),
            is_final: outcome == Outcome::Refused,
        }
    }
}

/// The register, the spool, and how to report.
struct Sender {
    client: Client,
    spool: Spool,
    wait: Duration,
    is_json: bool,
    codes: Vec<u8>,
}

impl Args {
    /// Runs the command. For several submissions, the exit code is the first of 3, 4, 5, 1 and 2 that any of them has.
    pub fn run(self) -> ExitCode {
        let mut sender = match self.sender() {
            Ok(sender) => sender,
            Err((code, sentence)) => {
                print_diagnostic(&sentence);
                return ExitCode::from(code);
            }
        };
        let ended = match self.spool {
            true => sender.send_spool(),
            false => self.send_logs(&mut sender),
        };
        let code = most_serious(&sender.codes);
        match ended {
            Ok(()) => ExitCode::from(code),
            Err(Stop::Usage(code)) => code,
            Err(Stop::Output(error)) => output_failed(&error, code),
            Err(Stop::Spool(sentence)) => {
                print_diagnostic(&sentence);
                ExitCode::from(EXIT_ERROR)
            }
        }
    }

    /// Returns the sender, or an exit code and why there is none.
    fn sender(&self) -> Result<Sender, (u8, String)> {
        let unusable = |sentence| (EXIT_USAGE, sentence);
        let register = self.register.clone().or_else(|| env::var(REGISTER_VARIABLE).ok());
        let mut settings = Settings {
            address: register
                .ok_or_else(|| unusable(format!("no register: set --register URL or {REGISTER_VARIABLE}")))?,
            token: String::new(),
            ca_file: self.ca_file.clone(),
            patience: Duration::from_secs(self.retry_sec),
            on_retry: |error, wait| {
                print_diagnostic(&format_args!("{error}; next attempt in {} s", wait.as_secs()))
            },
        };
        let folder = self.spool_dir.clone().or_else(default_spool);
        let folder = folder.ok_or_else(|| {
            unusable(format!(
                "no spool folder: set --spool-dir DIR or {SPOOL_VARIABLE}"
            ))
        })?;
        let spool = Spool::open(&folder)
            .map_err(|error| unusable(format!("{}: no spool folder: {error}", folder.display())))?;
        settings.token = match &self.organisation {
            Some(organisation) => identity::exchanged_token(&settings, organisation)
                .map_err(|sentence| (EXIT_ERROR, sentence))?,
            None => token::token(self.token_file.as_deref()).map_err(unusable)?,
        };
        let client = Client::new(&settings).map_err(|error| unusable(error.to_string()))?;
        Ok(Sender {
            client,
            spool,
            wait: Duration::from_secs(self.wait_sec),
            is_json: self.json,
            codes: Vec::new(),
        })
    }

    fn send_logs(&self, sender: &mut Sender) -> Result<(), Stop> {
        let logs = Logs {
            paths: self.logs.clone(),
        };
        self.options.prepare(&logs, None).map_err(Stop::Usage)?;
        if let Some(sentence) = self.logs.iter().find_map(|log| unnamed(log)) {
            return Err(Stop::Usage(usage(&sentence)));
        }
        for log in &self.logs {
            let report = self.send_log(sender, log)?;
            sender.report(&report)?;
        }
        Ok(())
    }

    /// Reads a log as the register will, and sends it.
    fn send_log(&self, sender: &Sender, log: &Path) -> Result<Report, Stop> {
        let shown = log.display().to_string();
        let read = self.options.read(log, None, SinkOptions::default());
        if let Some(error) = &read.reading.error {
            let problem = format!(
                "the log cannot be read ({}): {}; it was not sent",
                error.id, error.sentence
            );
            return Ok(Report::problem(shown, Outcome::Refused, problem));
        }
        let files = std::iter::once(log).chain(self.options.attachments().iter().map(PathBuf::as_path));
        let submission = Submission {
            files: files.map(sent_file).collect(),
            facts: self.facts.stated(),
            slice_s: self.options.slice_s(),
        };
        let mut stored = || Ok(());
        let (report, next) = sender.send(shown, &submission, &mut stored)?;
        if next == Next::Answered {
            return Ok(report);
        }
        let register = sender.client.address();
        match sender.spool.add(register, &submission) {
            Ok(entry) => {
                let problem = report.problem.unwrap_or_default();
                let problem = format!("{problem}; the submission waits in {}", entry.display());
                Ok(Report::problem(report.log, Outcome::Spooled, problem))
            }
            Err(error) => Err(Stop::Spool(format!(
                "{}: not sent and not spooled: {error}",
                report.log
            ))),
        }
    }
}

/// Why the command ends before all submissions are handled.
enum Stop {
    Usage(ExitCode),
    Output(io::Error),
    Spool(String),
}

impl Sender {
    /// Sends a submission and waits for its verdict. `stored` is called as soon as the register has stored it.
    fn send(
        &self,
        log: String,
        submission: &Submission,
        stored: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<(Report, Next), Stop> {
        let delivered = match deliver(&self.client, submission, self.wait) {
            Ok(delivered) => delivered,
            Err(Failure::Unreadable(sentence)) => {
                let problem = format!("the register cannot read the log: {sentence}");
                return Ok((Report::problem(log, Outcome::Refused, problem), Next::Answered));
            }
            Err(Failure::Unread(sentence)) => {
                return Ok((Report::problem(log, Outcome::Spooled, sentence), Next::Later));
            }
            Err(Failure::Request(Error::Refused(refusal))) => {
                let mut report = Report::problem(log, Outcome::Refused, refusal_text(&refusal));
                report.is_final = refusal.is_of_request();
                return Ok((report, Next::Answered));
            }
            Err(Failure::Request(error @ Error::File { .. })) => {
                return Ok((
                    Report::problem(log, Outcome::Refused, error.to_string()),
                    Next::Answered,
                ));
            }
            Err(Failure::Request(error)) => {
                return Ok((
                    Report::problem(log, Outcome::Spooled, error.to_string()),
                    Next::Unavailable,
                ));
            }
        };
        stored().map_err(|error| Stop::Spool(format!("the spool cannot be changed: {error}")))?;
        let report = |submission: Value, outcome, problem| Report {
            log: log.clone(),
            outcome,
            submission,
            notes: delivered.notes.clone(),
            problem,
            is_final: true,
        };
        let report = match await_verdict(&self.client, &delivered.submission, self.wait) {
            Ok((submission, true)) if submission["state"] == "failed" => {
                let problem = reading_error(&submission["reading"]);
                report(submission, Outcome::Refused, Some(problem))
            }
            Ok((submission, true)) => {
                let outcome = outcome_of(&submission);
                report(submission, outcome, None)
            }
            Ok((submission, false)) => {
                let problem = format!(
                    "the register has not read the log within {} s",
                    self.wait.as_secs()
                );
                report(submission, Outcome::NoVerdict, Some(problem))
            }
            Err(error) => report(
                delivered.submission.clone(),
                Outcome::NoVerdict,
                Some(error.to_string()),
            ),
        };
        Ok((report, Next::Answered))
    }

    /// Sends the submissions of the spool that are for this register.
    fn send_spool(&mut self) -> Result<(), Stop> {
        let failed = |error: io::Error| Stop::Spool(format!("the spool cannot be used: {error}"));
        let Some(lock) = self.spool.lock().map_err(failed)? else {
            return Err(Stop::Spool(
                "another drivetest submit --spool sends the submissions of this spool".to_owned(),
            ));
        };
        let mut damaged = Vec::new();
        let entries = self.spool.entries(&lock, &mut damaged).map_err(failed)?;
        for error in damaged {
            print_diagnostic(&error);
            self.codes.push(EXIT_ERROR);
        }
        for entry in entries {
            let log = entry.submission.files.first();
            let log = log.map_or_else(String::new, |file| file.name.clone());
            if entry.register != self.client.address() {
                print_diagnostic(&format_args!(
                    "{log}: stays in the spool, because it is for {}",
                    entry.register
                ));
                continue;
            }
            let spool = &self.spool;
            let mut stored = || spool.remove(&entry);
            let (mut report, next) = self.send(log, &entry.submission, &mut stored)?;
            if report.outcome == Outcome::Refused && report.submission.is_null() && report.is_final {
                let problem = report.problem.take().unwrap_or_default();
                let place = self.spool.set_aside(&entry, &problem).map_err(failed)?;
                report.problem = Some(format!("{problem}; the submission is in {}", place.display()));
            }
            self.report(&report)?;
            if next == Next::Unavailable || !report.is_final && report.outcome == Outcome::Refused {
                break;
            }
        }
        Ok(())
    }

    fn report(&mut self, report: &Report) -> Result<(), Stop> {
        self.codes.push(report.outcome.exit_code());
        let text = match self.is_json {
            true => format!("{}\n", document(report)),
            false => text(report, self.client.address()),
        };
        print(&text).map_err(Stop::Output)
    }
}

fn usage(sentence: &str) -> ExitCode {
    print_diagnostic(&sentence);
    ExitCode::from(EXIT_USAGE)
}

/// Returns why a log has no file name that the register could show; `None` if it has one.
fn unnamed(log: &Path) -> Option<String> {
    let is_named = log != Path::new("-") && log.file_name().is_some_and(|name| name.to_str().is_some());
    (!is_named).then(|| {
        format!(
            "{}: expected a file with a name in UTF-8; submit reads no pipes",
            log.display()
        )
    })
}

fn sent_file(path: &Path) -> SentFile {
    let name = path.file_name().unwrap_or(path.as_os_str());
    SentFile {
        path: path.to_owned(),
        name: name.to_string_lossy().into_owned(),
    }
}

fn default_spool() -> Option<PathBuf> {
    let variable = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let state = || variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
    variable(SPOOL_VARIABLE).or_else(|| Some(state()?.join("drivecert/spool")))
}

fn most_serious(codes: &[u8]) -> u8 {
    let weights = [
        EXIT_ERROR,
        EXIT_SPOOLED,
        EXIT_NO_VERDICT,
        EXIT_FAILED,
        EXIT_UNDECIDED,
    ];
    weights.into_iter().find(|code| codes.contains(code)).unwrap_or(0)
}

/// Returns the outcome of the run: the verdict of ACT's and drivetest's runs, the validity of YCSB's.
fn run_outcome(run: &Value) -> &str {
    let validity = run["ycsb"]["validity"]
        .as_str()
        .filter(|validity| !validity.is_empty());
    validity
        .or_else(|| run["verdict"]["outcome"].as_str())
        .unwrap_or("undecided")
}

fn outcome_of(submission: &Value) -> Outcome {
    let runs: Vec<&str> = submission["runs"]
        .as_array()
        .into_iter()
        .flatten()
        .map(run_outcome)
        .collect();
    if runs.iter().any(|outcome| matches!(*outcome, "fail" | "invalid")) {
        Outcome::Failed
    } else if !runs.is_empty() && runs.iter().all(|outcome| matches!(*outcome, "pass" | "valid")) {
        Outcome::Passed
    } else {
        Outcome::Undecided
    }
}

/// Returns the `drivecert.submission-report/1` document of a submission.
fn document(report: &Report) -> Value {
    let submission = &report.submission;
    let runs = submission["runs"].as_array().into_iter().flatten();
    let runs = runs.map(|run| {
        json!({"id": run["id"], "url": run["url"], "outcome": run_outcome(run), "headline": run["verdict"]["headline"]})
    });
    json!({
        "schema": "drivecert.submission-report/1", "log": report.log, "outcome": report.outcome.code(),
        "exit_status": report.outcome.exit_code(), "submission": submission["id"], "url": submission["url"],
        "state": submission["state"], "runs": runs.collect::<Vec<_>>(), "notes": report.notes,
        "problem": report.problem,
    })
}

fn text(report: &Report, register: &str) -> String {
    let mut text = format!("{}: {}\n", report.log, report.outcome.code());
    if let Some(problem) = &report.problem {
        text.push_str(&format!("  {problem}\n"));
    }
    for run in report.submission["runs"].as_array().into_iter().flatten() {
        let headline = run["verdict"]["headline"]
            .as_str()
            .unwrap_or_else(|| run_outcome(run));
        text.push_str(&format!("  {headline}\n"));
    }
    for note in &report.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    if let Some(url) = report.submission["url"].as_str() {
        text.push_str(&format!("  {register}{url}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submission(runs: &[(&str, &str)]) -> Value {
        let run = |(verdict, validity): &(&str, &str)| match validity.is_empty() {
            true => json!({"verdict": {"outcome": verdict}, "ycsb": null}),
            false => json!({"verdict": null, "ycsb": {"validity": validity}}),
        };
        json!({"runs": runs.iter().map(run).collect::<Vec<_>>()})
    }

    #[test]
    fn the_outcome_is_that_of_the_worst_run() {
        assert_eq!(
            outcome_of(&submission(&[("pass", ""), ("", "valid")])),
            Outcome::Passed
        );
        assert_eq!(
            outcome_of(&submission(&[("pass", ""), ("fail", "")])),
            Outcome::Failed
        );
        assert_eq!(
            outcome_of(&submission(&[("void", ""), ("", "invalid")])),
            Outcome::Failed
        );
        assert_eq!(
            outcome_of(&submission(&[("pass", ""), ("void", "")])),
            Outcome::Undecided
        );
        assert_eq!(outcome_of(&submission(&[])), Outcome::Undecided);
    }

    #[test]
    fn the_exit_code_is_the_most_serious() {
        assert_eq!(most_serious(&[]), 0);
        assert_eq!(most_serious(&[0, 2, 1]), 1);
        assert_eq!(most_serious(&[1, 5, 0]), 5);
        assert_eq!(most_serious(&[5, 4]), 4);
        assert_eq!(most_serious(&[4, 3, 1]), 3);
    }
}
