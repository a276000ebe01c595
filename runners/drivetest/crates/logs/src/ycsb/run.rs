//! A run of YCSB as it was read (docs/reference/formats.md).

use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};

use crate::act::side_file::telemetry::Telemetry;
use crate::finding::{Effect, Finding, Severity, rule};
use crate::ycsb::command::{Command, Phase};
use crate::ycsb::common::number;
use crate::ycsb::fragment::{LineSpan, Message, StatusText};
use crate::ycsb::go::operations;
use crate::ycsb::java::status::{self, Status};
use crate::ycsb::settings::Settings;

/// Time that a run's operations measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Time {
    /// Service time: from submission.
    Service,
    /// Response time: from the due time.
    Response,
    /// Both, in separate operations.
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
    /// `service` or `response`; `None` if only the missing command line shows it.
    pub time: Option<Time>,
    /// Recorder, if there are two: `hdrhistogram`, `histogram` or `raw`.
    pub recorder: Option<&'static str>,
    /// Whether it is among the operations that YCSB counts as done.
    pub is_counted: bool,
    /// Whether another operation with the same name has the other time.
    #[serde(skip)]
    pub is_intended_twin: bool,
    /// Count.
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
    /// Count.
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
    /// The run completed the requested operations.
    #[default]
    Finished,
    /// `maxexecutiontime` ended it.
    TimeLimit,
    /// The result is missing without a message.
    Interrupted,
    /// The result is missing, and the program printed an exception.
    Crashed,
    /// The result is truncated, or its start is missing.
    Cut,
    /// The result has no operations.
    NotStarted,
}

/// End of a run, with its message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// The kind.
    pub kind: StopKind,
    /// Line number in the log.
    pub line: Option<u64>,
    /// Text of the message.
    pub text: String,
}

impl Stop {
    /// Return an end with the message that shows it.
    pub fn new(kind: StopKind, message: Option<&Message>) -> Self {
        Self {
            kind,
            line: message.and_then(|message| message.place.log_line()),
            text: message.map_or_else(String::new, |message| message.text.clone()),
        }
    }
}

/// Whether a run may be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The run completed all requested operations.
    Valid,
    /// The run is incomplete or failed.
    Invalid,
    /// The output does not show it.
    #[default]
    Undecided,
}

/// Validity of a run, with the reasons against it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Validity {
    /// Outcome.
    pub outcome: Outcome,
    /// The sentences of the findings that decide it.
    pub reasons: Vec<String>,
}

/// One execution of a workload.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Run {
    /// Index in the file, from 0.
    pub ordinal: usize,
    /// The member of an archive, which the caller knows.
    pub member: Option<String>,
    /// `ycsb` or `go-ycsb`.
    pub tool: &'static str,
    /// Version; `None` if unknown, as in YCSB up to 0.7.
    pub tool_version: Option<String>,
    /// First line in the log; 0 if the run is only in attachments.
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
    /// Properties of the files and the command line, which takes precedence.
    pub properties: Vec<(String, String)>,
    /// Files of `-P` that did not come with the log.
    pub missing_files: Vec<String>,
    /// Requested threads.
    pub threads_count: Option<u64>,
    /// Threads that ran to their end, from the rows of CLEANUP.
    pub threads_ran_count: Option<u64>,
    /// Requested operations per second; `None` for an unlimited rate.
    pub target_ops_per_s: Option<String>,
    /// Configured records in the database.
    pub record_count: Option<u64>,
    /// Bytes of a record's values, if the number and length of fields are known.
    pub record_bytes: Option<u64>,
    /// Requested operations; for a load, the inserts.
    pub operation_count: Option<u64>,
    /// The time limit.
    pub time_limit_s: Option<u64>,
    /// Distribution of keys.
    pub request_distribution: Option<String>,
    /// The type of measurement.
    pub measurement: Option<&'static str>,
    /// Requested times.
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
    /// Operations with their times.
    pub operations: Vec<Operation>,
    /// The status lines.
    #[serde(serialize_with = "written_intervals")]
    pub intervals: Vec<StatusText>,
    /// Telemetry of the host with the drive during the run, from a side file of drivetest.
    pub telemetry: Option<Box<Telemetry>>,
    /// End of the run.
    pub stop: Stop,
    /// Validity.
    pub validity: Validity,
    /// Facts that a reader should know.
    pub findings: Vec<Finding>,
}

fn written_intervals<S: Serializer>(texts: &[StatusText], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(None)?;
    for status in statuses(texts) {
        list.serialize_element(&status)?;
    }
    list.end()
}

/// Return the parsed status lines: those of YCSB, or else interval blocks of go-ycsb. A run has lines of one program.
fn statuses(texts: &[StatusText]) -> Box<dyn Iterator<Item = Status> + '_> {
    let texts = texts.iter().map(|status| &*status.text);
    if texts.clone().any(|text| status::progress(text).is_some()) {
        return Box::new(texts.filter_map(status::parse));
    }
    Box::new(operations::with_rates(texts))
}

/// Add telemetry to the only run of the log: a side file belongs to one execution, unknown for several runs.
pub fn give_telemetry(runs: &mut [Run], telemetry: Option<Telemetry>) -> Option<Finding> {
    let telemetry = telemetry?;
    if let [run] = runs {
        run.telemetry = Some(Box::new(telemetry));
        return None;
    }
    let count = runs.len();
    let sentence =
        format!("the side file is of one run, and the log holds {count}: its telemetry is of none of them");
    Some(rule::SIDE_FILE_DIFFERS.at(None, sentence))
}

/// Return the number of all operations together.
pub fn ops_of<'a>(operations: impl Iterator<Item = &'a Operation>) -> u64 {
    let counts = operations.filter_map(|operation| operation.ops_count);
    counts.fold(0, u64::saturating_add)
}

impl Run {
    /// Return a run with its configuration, as far as it is known.
    pub fn configured(
        tool: &'static str,
        span: &LineSpan,
        command: Option<&Command>,
        settings: &Settings,
        phase: Option<Phase>,
    ) -> Self {
        let set = |name: &str| settings.get(name).map(str::to_owned);
        let is_some_target = |target: &String| number::value(target).is_some_and(|ops| ops > 0.0);
        Self {
            tool,
            first_line: span.first_line,
            last_line: span.last_line,
            phase,
            workload: command.and_then(Command::workload).map(str::to_owned),
            binding: command.and_then(|command| command.binding.clone()),
            command_line: command.map(|command| command.text.clone()),
            properties: settings.pairs(),
            missing_files: settings.missing_files.clone(),
            threads_count: settings.whole_number("threadcount", Some(1)),
            target_ops_per_s: set("target").filter(is_some_target),
            record_count: settings.whole_number("recordcount", None),
            record_bytes: settings.record_bytes(),
            operation_count: settings.requested_operations(phase),
            request_distribution: set("requestdistribution"),
            ..Self::default()
        }
    }

    /// Return the status lines, read.
    pub fn statuses(&self) -> impl Iterator<Item = Status> + '_ {
        statuses(&self.intervals)
    }

    /// Return the operations that YCSB counts as done.
    pub fn counted(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| operation.is_counted)
    }

    /// Add a finding about the file itself: its content after the damage is unknown.
    pub fn add_damage(&mut self, finding: Finding) {
        self.findings.push(finding);
        self.validity = Validity::of(&self.findings);
    }
}

impl Validity {
    /// Return the validity: invalid with a deciding finding, undecided with an undecided one.
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
