//! What a side file tells, in short, as the document of a reading holds it (docs/formats.md); sizes are bounded.

use serde::Serialize;

use crate::act::side_file::telemetry::Telemetry;

/// The program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Program {
    /// Always drivetest.
    pub name: &'static str,
    /// Its version.
    pub version: Option<String>,
    /// The commit it was built from.
    pub revision: Option<String>,
}

/// Where it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Its name.
    pub hostname: Option<String>,
    /// Its kernel.
    pub kernel: Option<String>,
    /// Of the first processor.
    pub cpu_model: Option<String>,
    /// Processors as the kernel counts them.
    pub cpus_count: Option<u64>,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// As it names itself; None on hardware.
    pub virtual_machine: Option<String>,
}

/// A device's identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Drive {
    /// The path of the load.
    pub name: Option<String>,
    /// `nvme`, `scsi`, `cloud` or `virtual`.
    pub kind: Option<String>,
    /// Names the physical drive.
    pub drive_key: Option<String>,
    /// As the drive tells it.
    pub model: Option<String>,
    /// As the drive tells it.
    pub serial: Option<String>,
    /// As the drive tells it.
    pub firmware: Option<String>,
    /// Of the device that was named.
    pub size_bytes: Option<u64>,
    /// Speed and lanes as the link of an NVMe drive ran, in the kernel's words: `16.0 GT/s PCIe x4`.
    pub pcie_link: Option<String>,
}

/// What was told before the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Stable.
    pub id: Option<String>,
    /// In words.
    pub sentence: Option<String>,
}

/// Times of a whole run, decimals in text, microseconds; None where too few requests tell them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Times {
    /// Exact.
    pub min: Option<String>,
    /// Within 0.1 %.
    pub mean: Option<String>,
    /// Half are no longer.
    pub p50: Option<String>,
    /// 90 %.
    pub p90: Option<String>,
    /// 99 %.
    pub p99: Option<String>,
    /// 99.9 %.
    pub p999: Option<String>,
    /// 99.99 %.
    pub p9999: Option<String>,
    /// 99.999 %.
    pub p99999: Option<String>,
    /// Exact.
    pub max: Option<String>,
}

/// One operation of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// `reads`, ...
    pub name: String,
    /// A decimal in text.
    #[serde(rename = "asked_per_s")]
    pub requested_per_s: Option<String>,
    /// A decimal in text.
    pub achieved_per_s: Option<String>,
    /// Completed.
    pub done_count: Option<u64>,
    /// Failed.
    pub failed_count: Option<u64>,
    /// Submitted to completed.
    pub service_us: Times,
    /// Due to completed.
    pub response_us: Times,
    /// Due to submitted.
    pub lateness_us: Times,
}

/// Reads over a threshold, counted without bucket edges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Over {
    /// The threshold.
    pub threshold_us: u64,
    /// At or over it.
    pub over_count: u64,
    /// All.
    pub ops_count: u64,
    /// Rounded as ACT does.
    pub share_pct: String,
}

/// A side file in short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SideFileSummary {
    /// Who ran.
    pub program: Program,
    /// `threads` or `io_uring`.
    pub engine: Option<String>,
    /// Why that.
    pub engine_reason: Option<String>,
    /// Rings; None of threads.
    pub workers: Option<u64>,
    /// As asked.
    pub service_threads: Option<u64>,
    /// `even`, ...
    pub arrivals: Option<String>,
    /// All random choices follow from it; it may pass 2^53.
    pub seed: Option<String>,
    /// RFC 3339.
    pub started_at: Option<String>,
    /// Where.
    pub host: Host,
    /// All devices, also those left out of the list.
    pub drives_count: u64,
    /// The first of them.
    pub drives: Vec<Drive>,
    /// What was told before the run.
    pub warnings: Vec<Warning>,
    /// Whether the rates were held; None where no end record tells.
    #[serde(rename = "is_rate_held")]
    pub is_rate_sustained: Option<bool>,
    /// In a word.
    pub rate_word: Option<String>,
    /// What fell short.
    pub rate_sentence: Option<String>,
    /// Every operation, by name.
    pub operations: Vec<Operation>,
    /// Exact counts.
    pub over: Vec<Over>,
    /// What host and drives told; None where no interval did.
    pub telemetry: Option<Telemetry>,
    /// `finished`, ...; None of a run that was killed.
    pub end_reason: Option<String>,
    /// The words for it.
    pub end_text: Option<String>,
}

impl SideFileSummary {
    /// Whether a device is no drive; None where that is not told of all.
    pub fn is_virtual(&self) -> Option<bool> {
        let kinds = || self.drives.iter().map(|drive| drive.kind.as_deref());
        if kinds().any(|kind| kind == Some("virtual")) {
            return Some(true);
        }
        let are_all_known = !self.drives.is_empty()
            && self.drives.len() as u64 == self.drives_count
            && kinds().all(|kind| kind.is_some());
        are_all_known.then_some(false)
    }
}
