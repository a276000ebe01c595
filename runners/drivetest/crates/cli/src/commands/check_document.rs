//! The verdicts on a log as JSON: `drivecert.check/1`.

use drivetest_logs::act::run::Run;
use drivetest_logs::finding::Finding;
use drivetest_logs::judge::profile::{Profile, ProfileName};
use drivetest_logs::judge::verdict::Verdict;
use drivetest_logs::read_error::ReadError;
use drivetest_logs::ycsb;
use drivetest_logs::ycsb::run::Validity;
use serde::Serialize;

use crate::input::read_log::LogFile;

/// The document of a log.
#[derive(Serialize)]
pub struct Document<'a> {
    schema: &'static str,
    log: &'a str,
    exit_status: u8,
    profile: Option<ProfileName>,
    is_default_profile: bool,
    error: Option<&'a ReadError>,
    findings: &'a [Finding],
    runs: Vec<RunDocument<'a>>,
    ycsb_runs: Vec<YcsbRunDocument<'a>>,
}

#[derive(Serialize)]
struct RunDocument<'a> {
    ordinal: usize,
    member: Option<&'a str>,
    first_line: u64,
    last_line: u64,
    verdict: Option<&'a Verdict>,
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct YcsbRunDocument<'a> {
    ordinal: usize,
    member: Option<&'a str>,
    first_line: u64,
    last_line: u64,
    validity: &'a Validity,
    findings: &'a [Finding],
}

impl<'a> Document<'a> {
    /// Creates the document of a log whose runs of ACT were judged by the profile.
    pub fn new(
        log: &'a LogFile,
        exit_status: u8,
        profile: Option<&Profile>,
        is_default_profile: bool,
    ) -> Self {
        let reading = &log.reading;
        Self {
            schema: "drivecert.check/1",
            log: &log.path,
            exit_status,
            profile: profile.map(Profile::name),
            is_default_profile,
            error: reading.error.as_ref(),
            findings: &reading.findings,
            runs: reading.runs.iter().map(RunDocument::of).collect(),
            ycsb_runs: reading.ycsb_runs.iter().map(YcsbRunDocument::of).collect(),
        }
    }
}

impl<'a> RunDocument<'a> {
    fn of(run: &'a Run) -> Self {
        Self {
            ordinal: run.ordinal,
            member: run.member.as_deref(),
            first_line: run.first_line,
            last_line: run.last_line,
            verdict: run.verdict.as_ref(),
            findings: &run.findings,
        }
    }
}

impl<'a> YcsbRunDocument<'a> {
    fn of(run: &'a ycsb::run::Run) -> Self {
        Self {
            ordinal: run.ordinal,
            member: run.member.as_deref(),
            first_line: run.first_line,
            last_line: run.last_line,
            validity: &run.validity,
            findings: &run.findings,
        }
    }
}
