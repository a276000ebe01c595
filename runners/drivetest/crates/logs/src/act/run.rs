//! A run as it was read (docs/formats.md).

use serde::Serialize;

use crate::act::blocks::histogram::{Tally, Unit};
use crate::act::grammar::family::Family;
use crate::act::header::{Device, Section};
use crate::act::semantics::Meaning;
use crate::act::side_file::summary::SideFileSummary;
use crate::act::slices::Slice;
use crate::act::stop::Stop;
use crate::finding::Finding;
use crate::judge::exact_counts::ExactCounts;
use crate::judge::verdict::Verdict;
use crate::series::Series;

/// One histogram over the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// Its place in the order of first appearance.
    pub ordinal: usize,
    /// Its name; two may have one name.
    pub name: String,
    /// The unit of its edges.
    pub unit: Unit,
    /// What its numbers mean.
    #[serde(flatten)]
    pub meaning: Meaning,
    /// Its counts.
    #[serde(flatten)]
    pub tally: Tally,
}

/// The header as printed, for those who print it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// What stands after `ACT version`; empty in 1.x, which prints none.
    pub version: String,
    /// The configuration.
    pub config: Section,
    /// The derived configuration.
    pub derived: Section,
    /// The names of the histograms.
    pub names: Section,
}

/// What was asked of a run and who asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunOrigin {
    /// `act-storage` or `act-index`.
    pub workload: &'static str,
    /// The program.
    pub tool: &'static str,
    /// Its version.
    pub tool_version: String,
    /// `act` or `drivetest`.
    pub generator: &'static str,
    /// How requests arrive: `even`, `lockstep`, `bursts` or as drivetest says; None where it is not known.
    pub arrivals: Option<String>,
    /// Whose grammar and meaning the log has, None where a run that never started does not show it.
    pub family: Option<Family>,
    /// Threads that make the requests, None where the log does not say.
    pub service_threads: Option<u64>,
}

/// One execution, read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Its place in the file, from 0.
    pub ordinal: usize,
    /// The file of an archive that it was read from, None where there is no archive.
    pub member: Option<String>,
    /// Who ran what.
    #[serde(flatten)]
    pub origin: RunOrigin,
    /// The header's first line.
    pub first_line: u64,
    /// The last line before the next run or the end.
    pub last_line: u64,
    /// The configuration as echoed.
    pub config: Vec<(String, String)>,
    /// The derived configuration as echoed.
    pub derived: Vec<(String, String)>,
    /// The devices as the program found them.
    pub devices: Vec<Device>,
    /// Devices named, None where the header does not say.
    pub device_count: Option<u64>,
    /// The unit of all histograms.
    pub unit: Unit,
    /// Seconds between two dumps.
    pub report_interval_s: Option<u64>,
    /// How long it should last.
    #[serde(rename = "asked_duration_s")]
    pub requested_duration_s: Option<u64>,
    /// The last block's label.
    pub reached_s: u64,
    /// Blocks that were read.
    pub intervals_count: u64,
    /// A decimal in text.
    #[serde(rename = "asked_reads_per_s")]
    pub requested_reads_per_s: Option<String>,
    /// A decimal in text.
    #[serde(rename = "asked_writes_per_s")]
    pub requested_writes_per_s: Option<String>,
    /// N of the Nx load.
    pub nx_load: Option<String>,
    /// The smallest object.
    pub record_bytes: Option<u64>,
    /// The largest object.
    pub record_bytes_max: Option<u64>,
    /// How far data was compressible: 100 is not.
    pub compress_pct: Option<u64>,
    /// How it ended.
    pub stop: Stop,
    /// Operations that failed.
    pub io_errors_count: u64,
    /// Requests in the program's queues at the last block, None for programs without queues.
    pub requests_queued_count: Option<u64>,
    /// The histogram that a verdict is about, None where there is none.
    pub judged_ordinal: Option<usize>,
    /// The histogram that comparisons between versions take, None where there is none.
    pub compared_ordinal: Option<usize>,
    /// Counts over the whole run.
    pub histograms: Vec<Histogram>,
    /// The length of a slice, None where the report interval is unknown.
    pub slice_length_s: Option<u64>,
    /// The whole slices.
    pub slices: Vec<Slice>,
    /// The length of the dropped rest.
    pub trailing_partial_s: u64,
    /// The counts in intervals of the asked length; None where none was asked or it is too large.
    pub series: Option<Series>,
    /// Whether a device is no drive; None where nothing tells.
    pub is_virtual_device: Option<bool>,
    /// What drivetest's side file tells, None without one.
    pub side_file: Option<Box<SideFileSummary>>,
    /// What a reader should know.
    pub findings: Vec<Finding>,
    /// The judgement, None where no profile was given.
    pub verdict: Option<Verdict>,
    /// The header as printed.
    #[serde(skip)]
    pub printed: Printed,
    /// Counts at the thresholds themselves, where a side file gives them.
    #[serde(skip)]
    pub exact: Option<ExactCounts>,
    /// Reads and writes per second asked, as numbers.
    #[serde(skip)]
    pub rates_per_s: Option<(u64, u64)>,
}

impl Run {
    /// The value of a key of the configuration or the derived configuration, None where it is not given.
    pub fn setting(&self, key: &str) -> Option<&str> {
        let pairs = self.config.iter().chain(&self.derived);
        pairs
            .into_iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    /// The first histogram of a name, None where there is none.
    pub fn histogram(&self, name: &str) -> Option<&Histogram> {
        self.histograms.iter().find(|histogram| histogram.name == name)
    }
}
