//! A run of ACT or drivetest, as the JSON document contains it (docs/reference/formats.md).

use serde::Serialize;

use crate::act::blocks::histogram::{Tally, Unit};
use crate::act::grammar::family::Family;
use crate::act::header::{Device, Section};
use crate::act::semantics::Meaning;
use crate::act::side_file::summary::SideFileSummary;
use crate::act::slices::Slice;
use crate::act::stop::Stop;
use crate::finding::Finding;
use crate::judge::share::ExactCounts;
use crate::judge::verdict::Verdict;
use crate::series::Series;

/// One histogram over the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// Index in the order of first appearance.
    pub ordinal: usize,
    /// Name; two histograms may have the same name.
    pub name: String,
    /// Unit of the bucket edges.
    pub unit: Unit,
    /// Meaning of the counts.
    #[serde(flatten)]
    pub meaning: Meaning,
    /// Counts by bucket.
    #[serde(flatten)]
    pub tally: Tally,
}

/// The header as printed, for programs that print it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Text after `ACT version`; empty in 1.x, which does not print it.
    pub version: String,
    /// Configuration.
    pub config: Section,
    /// Derived configuration.
    pub derived: Section,
    /// Names of the histograms.
    pub names: Section,
}

/// Program that made a run, and its workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunOrigin {
    /// `act-storage` or `act-index`.
    pub workload: &'static str,
    /// Program.
    pub tool: &'static str,
    /// Version of the program.
    pub tool_version: String,
    /// `act` or `drivetest`.
    pub generator: &'static str,
    /// Arrival of requests: `even`, `lockstep`, `bursts` or as drivetest reports it; `None` if unknown.
    pub arrivals: Option<String>,
    /// Time within which due requests are submitted together; `None` if the log does not state it.
    pub coalesce_us: Option<u64>,
    /// Version family; `None` if a run that never started does not show it.
    pub family: Option<Family>,
    /// Threads that issue the requests; `None` if the log does not state it.
    pub service_threads: Option<u64>,
}

/// One execution of a workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// Index in the file, from 0.
    pub ordinal: usize,
    /// File inside an archive; `None` without an archive.
    pub member: Option<String>,
    /// Program and workload.
    #[serde(flatten)]
    pub origin: RunOrigin,
    /// First line of the header.
    pub first_line: u64,
    /// Last line before the next run or the end of the file.
    pub last_line: u64,
    /// Configuration as printed in the header.
    pub config: Vec<(String, String)>,
    /// Derived configuration as printed in the header.
    pub derived: Vec<(String, String)>,
    /// Devices as the program found them.
    pub devices: Vec<Device>,
    /// Number of named devices; `None` if the header does not state it.
    pub device_count: Option<u64>,
    /// Unit of all histograms.
    pub unit: Unit,
    /// Seconds between two dumps.
    pub report_interval_s: Option<u64>,
    /// Requested duration.
    #[serde(rename = "asked_duration_s")]
    pub requested_duration_s: Option<u64>,
    /// Label of the last block.
    pub reached_s: u64,
    /// Number of blocks read.
    pub intervals_count: u64,
    /// Requested reads per second, a decimal as text.
    #[serde(rename = "asked_reads_per_s")]
    pub requested_reads_per_s: Option<String>,
    /// Requested writes per second, a decimal as text.
    #[serde(rename = "asked_writes_per_s")]
    pub requested_writes_per_s: Option<String>,
    /// N of the Nx load.
    pub nx_load: Option<String>,
    /// Size of the smallest object.
    pub record_bytes: Option<u64>,
    /// Size of the largest object.
    pub record_bytes_max: Option<u64>,
    /// Compressibility of the data: 100 is incompressible.
    pub compress_pct: Option<u64>,
    /// How the run ended.
    pub stop: Stop,
    /// Failed operations.
    pub io_errors_count: u64,
    /// Queued requests at the last block; `None` for programs without queues.
    pub requests_queued_count: Option<u64>,
    /// Histogram that the verdict judges; `None` if the log has none.
    pub judged_ordinal: Option<usize>,
    /// Histogram for comparisons between versions; `None` if the log has none.
    pub compared_ordinal: Option<usize>,
    /// Counts of the whole run.
    pub histograms: Vec<Histogram>,
    /// Length of a slice; `None` if the report interval is unknown.
    pub slice_length_s: Option<u64>,
    /// Complete slices.
    pub slices: Vec<Slice>,
    /// Length of the incomplete last slice, which is dropped.
    pub trailing_partial_s: u64,
    /// Counts in intervals of the requested length; `None` if not requested or too large.
    pub series: Option<Series>,
    /// Whether a device is virtual, not a drive; `None` if unknown.
    pub is_virtual_device: Option<bool>,
    /// Summary of drivetest's side file; `None` without one.
    pub side_file: Option<Box<SideFileSummary>>,
    /// Facts that a reader should know.
    pub findings: Vec<Finding>,
    /// Verdict; `None` without a profile.
    pub verdict: Option<Verdict>,
    /// Header as printed.
    #[serde(skip)]
    pub printed: Printed,
    /// Exact counts at the thresholds, from a side file.
    #[serde(skip)]
    pub exact: Option<ExactCounts>,
    /// Requested reads and writes per second.
    #[serde(skip)]
    pub rates_per_s: Option<(u64, u64)>,
}

impl Run {
    /// Return the value of a key of the configuration or derived configuration; `None` if it is not set.
    pub fn setting(&self, key: &str) -> Option<&str> {
        let mut pairs = self.config.iter().chain(&self.derived);
        pairs.find_map(|(name, value)| (name == key).then_some(value.as_str()))
    }

    /// Return the first histogram with a name; `None` if there is none.
    pub fn histogram(&self, name: &str) -> Option<&Histogram> {
        self.histograms.iter().find(|histogram| histogram.name == name)
    }
}
