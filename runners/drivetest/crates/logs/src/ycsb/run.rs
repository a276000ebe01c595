//! A run of YCSB as it was read (docs/formats.md).

use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};

use crate::act::side_file::telemetry::Telemetry;
use crate::finding::{Effect, Finding, Severity, rule};
use crate::ycsb::go::interval;
use crate::ycsb::java::command::Phase;
use crate::ycsb::java::fragment::StatusText;
use crate::ycsb::java::status::{self, Status};

/// Which time a run's operations were measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Time {
    /// From when the operation was submitted.
    Service,
    /// From when it was due.
    Response,
    /// Both, in operations of their own.
    Both,
}

/// The rows named by numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Buckets {
    /// `ms` or `us`.
    pub unit: &'static str,
    /// Lower edge and count; edges without operations are left out.
    pub counts: Vec<(u64, u64)>,
    /// The last edge and the count beyond it.
    pub beyond: Option<(u64, u64)>,
}

/// The operations of one kind and outcome; times in microseconds, decimals as printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// `READ`, `READ-MODIFY-WRITE`, `CLEANUP` ...
    pub name: String,
    /// `ok`, `failed`, or the status that was tracked.
    pub outcome: String,
    /// `service` or `response`; None where only the command line would tell.
    pub time: Option<Time>,
    /// What recorded it where two did: `hdrhistogram`, `histogram` or `raw`.
    pub recorder: Option<&'static str>,
    /// Whether it is among the operations that YCSB counts as done.
    pub is_counted: bool,
    /// It stands beside an operation with the same name that holds the other time.
    #[serde(skip)]
    pub is_intended_twin: bool,
    /// How many.
    pub ops_count: Option<u64>,
    /// The mean.
    pub mean_us: Option<String>,
    /// The shortest.
    pub min_us: Option<String>,
    /// The longest.
    pub max_us: Option<String>,
    /// The variance, us squared.
    pub variance_us2: Option<String>,
    /// Percentile and time.
    pub percentiles: Vec<(String, String)>,
    /// Percentiles are rounded down to this, where they are.
    pub percentiles_floor_us: Option<u64>,
    /// Status and count.
    pub returns: Vec<(String, u64)>,
    /// The histogram, where it was printed.
    pub buckets: Option<Buckets>,
    /// Milliseconds since the start and mean time from there on, where it is a time series.
    pub series: Option<Vec<(u64, String)>>,
    /// Operations over the time since the first of their kind, as go-ycsb prints it: no run's throughput.
    pub ops_per_s_since_first: Option<String>,
    /// Seconds since the run's first operation and operations in that second, where single operations were printed.
    pub ops_by_second: Option<Vec<(u64, u64)>>,
    /// `rows`, `raw`, `hdr` or `hgrm`.
    pub from: &'static str,
}

/// Garbage collections since the virtual machine began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Collections {
    /// How many.
    pub count: Option<String>,
    /// Their time.
    pub time_ms: Option<String>,
    /// Their time in percent of the run's.
    pub time_pct: Option<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopKind {
    /// It made what was asked.
    #[default]
    Finished,
    /// `maxexecutiontime` ended it.
    TimeLimit,
    /// There is no result, and no word why.
    Interrupted,
    /// There is no result, but an exception.
    Crashed,
    /// The result breaks off, or its head is missing.
    Cut,
    /// There is a result and nothing was done.
    NotStarted,
}

/// How a run ended, and what told it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// The kind.
    pub kind: StopKind,
    /// Where in the log.
    pub line: Option<u64>,
    /// The words.
    pub text: String,
}

/// Whether a run is one that may be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It did all that was asked.
    Valid,
    /// It did not.
    Invalid,
    /// The output cannot tell.
    #[default]
    Undecided,
}

/// Whether a run is valid, and what speaks against it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Validity {
    /// The answer.
    pub outcome: Outcome,
    /// The sentences of the findings that decide it.
    pub reasons: Vec<String>,
}

/// One execution, read.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Run {
    /// Its place in the file, from 0.
    pub ordinal: usize,
    /// The member of an archive, which the caller knows.
    pub member: Option<String>,
    /// `ycsb` or `go-ycsb`.
    pub tool: &'static str,
    /// None where it is not told; YCSB up to 0.7 does not.
    pub tool_version: Option<String>,
    /// In the log; 0 where only companions tell of the run.
    pub first_line: u64,
    /// In the log.
    pub last_line: u64,
    /// None without a command line.
    pub phase: Option<Phase>,
    /// The letter of a standard workload file.
    pub workload: Option<String>,
    /// The class or the name of the database's binding.
    pub binding: Option<String>,
    /// The client's arguments.
    pub command_line: Option<String>,
    /// What was set, by files and then by the line.
    pub properties: Vec<(String, String)>,
    /// Files of `-P` that did not come with the log.
    pub missing_files: Vec<String>,
    /// Threads that were asked for.
    pub threads_count: Option<u64>,
    /// Threads that ran to their end, as CLEANUP tells.
    pub threads_ran_count: Option<u64>,
    /// Operations a second that were asked for; None where as many as go.
    pub target_ops_per_s: Option<String>,
    /// Records in the database, as told.
    pub record_count: Option<u64>,
    /// Bytes of a record's values, where fields and their lengths are told.
    pub record_bytes: Option<u64>,
    /// Operations that were asked for: of a load, its inserts.
    pub operation_count: Option<u64>,
    /// The time limit.
    pub time_limit_s: Option<u64>,
    /// How keys are chosen.
    pub request_distribution: Option<String>,
    /// The type of measurement.
    pub measurement: Option<&'static str>,
    /// Which times were asked for.
    pub times: Option<Time>,
    /// From the first thread's start to the last one's end, with opening and closing the database.
    pub runtime_ms: Option<String>,
    /// Operations done, failed ones too, over that time.
    pub throughput_ops_per_s: Option<String>,
    /// Operations done, failed ones too.
    pub done_ops_count: Option<u64>,
    /// Operations that failed.
    pub failed_ops_count: Option<u64>,
    /// Garbage collections.
    pub collections: Option<Collections>,
    /// What the operations took.
    pub operations: Vec<Operation>,
    /// The status lines.
    #[serde(serialize_with = "written_intervals")]
    pub intervals: Vec<StatusText>,
    /// What the host with the drive told from the client's start to its end, where a side file of drivetest came with it.
    pub telemetry: Option<Box<Telemetry>>,
    /// How it ended.
    pub stop: Stop,
    /// Whether it is valid.
    pub validity: Validity,
    /// What a reader should know.
    pub findings: Vec<Finding>,
}

fn written_intervals<S: Serializer>(texts: &[StatusText], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(None)?;
    for status in statuses(texts) {
        list.serialize_element(&status)?;
    }
    list.end()
}

/// A run's lines are all of one program.
fn statuses(texts: &[StatusText]) -> Box<dyn Iterator<Item = Status> + '_> {
    let texts = texts.iter().map(|status| &*status.text);
    if texts.clone().any(|text| status::progress(text).is_some()) {
        return Box::new(texts.filter_map(status::parse));
    }
    Box::new(interval::with_rates(texts))
}

/// Gives telemetry to the run that it was taken beside: a side file is of one execution. Of several runs in one log nobody
/// can tell which it is of.
pub fn give_telemetry(runs: &mut [Run], telemetry: Option<Telemetry>) -> Option<Finding> {
    let telemetry = telemetry?;
    if let [run] = runs {
        run.telemetry = Some(Box::new(telemetry));
        return None;
    }
    let sentence = format!(
        "the side file is of one run, and the log holds {}: its telemetry is of none of them",
        runs.len()
    );
    Some(rule::SIDE_FILE_DIFFERS.at(None, sentence))
}

impl Run {
    /// The status lines, read.
    pub fn statuses(&self) -> impl Iterator<Item = Status> + '_ {
        statuses(&self.intervals)
    }

    /// The operations that YCSB counts as done.
    pub fn counted(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| operation.is_counted)
    }

    /// Adds a finding on the bytes themselves: what came after them is not known.
    pub fn add_damage(&mut self, finding: Finding) {
        self.findings.push(finding);
        self.validity = Validity::of(&self.findings);
    }
}

impl Validity {
    /// What findings make of a run: invalid by one that decides, undecided by one that leaves it open.
    pub fn of(findings: &[Finding]) -> Self {
        let reasons = |wanted: fn(&Finding) -> bool| {
            let wanted = findings.iter().filter(|finding| wanted(finding));
            wanted.map(|finding| finding.sentence.clone()).collect::<Vec<_>>()
        };
        let against = reasons(|finding| finding.severity == Severity::Decides);
        let open = reasons(|finding| finding.effect == Effect::Undecided);
        let outcome = match (against.is_empty(), open.is_empty()) {
            (false, _) => Outcome::Invalid,
            (true, false) => Outcome::Undecided,
            (true, true) => Outcome::Valid,
        };
        Self {
            outcome,
            reasons: [against, open].concat(),
        }
    }
}
