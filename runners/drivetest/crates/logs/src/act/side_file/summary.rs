//! Summary of a side file in the JSON document of a reading (docs/reference/formats.md); sizes are limited.

use serde::Serialize;

use crate::act::side_file::telemetry::Telemetry;

/// Program that wrote the side file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Program {
    /// Always drivetest.
    pub name: &'static str,
    /// Version.
    pub version: Option<String>,
    /// Commit that it was built from.
    pub revision: Option<String>,
}

/// Host of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Host name.
    pub hostname: Option<String>,
    /// Kernel version.
    pub kernel: Option<String>,
    /// Model of the first processor.
    pub cpu_model: Option<String>,
    /// Number of processors that the kernel counts.
    pub cpus_count: Option<u64>,
    /// Memory size.
    pub memory_bytes: Option<u64>,
    /// Name of the virtual machine platform; `None` on physical hardware.
    pub virtual_machine: Option<String>,
}

/// Identity of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Drive {
    /// Path in the configuration.
    pub name: Option<String>,
    /// `nvme`, `scsi`, `cloud` or `virtual`.
    pub kind: Option<String>,
    /// Key of the physical drive.
    pub drive_key: Option<String>,
    /// Model that the drive reports.
    pub model: Option<String>,
    /// Serial number that the drive reports.
    pub serial: Option<String>,
    /// Firmware revision that the drive reports.
    pub firmware: Option<String>,
    /// Size of the named device.
    pub size_bytes: Option<u64>,
    /// Speed and lanes of the PCIe link of an NVMe drive, as the kernel reports them: `16.0 GT/s PCIe x4`.
    pub pcie_link: Option<String>,
}

/// Warning before the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Code.
    pub id: Option<String>,
    /// Sentence.
    pub sentence: Option<String>,
}

/// Times of a whole run in microseconds, decimals as text; `None` with too few requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Times {
    /// Exact minimum.
    pub min: Option<String>,
    /// Mean within 0.1 %.
    pub mean: Option<String>,
    /// Median.
    pub p50: Option<String>,
    /// 90th percentile.
    pub p90: Option<String>,
    /// 99th percentile.
    pub p99: Option<String>,
    /// 99.9th percentile.
    pub p999: Option<String>,
    /// 99.99th percentile.
    pub p9999: Option<String>,
    /// 99.999th percentile.
    pub p99999: Option<String>,
    /// Exact maximum.
    pub max: Option<String>,
}

/// One operation of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// `reads`, ...
    pub name: String,
    /// Requested rate, a decimal as text.
    #[serde(rename = "asked_per_s")]
    pub requested_per_s: Option<String>,
    /// Achieved rate, a decimal as text.
    pub achieved_per_s: Option<String>,
    /// Completed requests.
    pub done_count: Option<u64>,
    /// Failed requests.
    pub failed_count: Option<u64>,
    /// Service times: from submission to completion.
    pub service_us: Times,
    /// Response times: from the due time to completion.
    pub response_us: Times,
    /// Lateness: from the due time to submission.
    pub lateness_us: Times,
    /// Wait for a free slot of the device, a part of the lateness; `None` in side files of drivetest 0.3 or earlier.
    pub backlog_us: Option<Times>,
    /// Delay by the generator itself, the rest of the lateness; `None` like the backlog.
    pub generator_lateness_us: Option<Times>,
}

/// Exact count of reads over a threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Over {
    /// Threshold.
    pub threshold_us: u64,
    /// Reads at or over the threshold.
    pub over_count: u64,
    /// All reads.
    pub ops_count: u64,
    /// Percentage, rounded like ACT.
    pub share_pct: String,
}

/// Setup of a load. Each field is `None` if it is not reported or does not apply.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Setup {
    /// How the kernel runs the completions of rings.
    pub ring_mode: Option<String>,
    /// Whether the memory of rings is registered with the kernel.
    pub has_registered_buffers: Option<bool>,
    /// Whether the kernel counts how long threads are ready but have no processor.
    pub is_processor_wait_counted: Option<bool>,
    /// Whether idle processors stayed ready.
    pub has_cpu_latency_request: Option<bool>,
    /// Whether memory was locked.
    pub is_memory_locked: Option<bool>,
    /// The number of rings and its reason.
    pub rings_reason: Option<String>,
    /// NUMA node of the rings.
    pub numa_node: Option<u64>,
    /// Reasons for what was not set.
    pub sentences: Vec<String>,
}

/// Summary of a side file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SideFileSummary {
    /// Program.
    pub program: Program,
    /// `threads` or `io_uring`.
    pub engine: Option<String>,
    /// Reason for this engine.
    pub engine_reason: Option<String>,
    /// Number of rings; `None` for threads.
    pub workers: Option<u64>,
    /// Configured number of threads.
    pub service_threads: Option<u64>,
    /// Arrival of requests: `even`, ...
    pub arrivals: Option<String>,
    /// Time within which due requests are submitted together.
    pub coalesce_us: Option<u64>,
    /// Setup of the load; `None` in side files of earlier releases.
    pub setup: Option<Setup>,
    /// Seed of all random choices; it may exceed 2^53.
    pub seed: Option<String>,
    /// Start time (RFC 3339).
    pub started_at: Option<String>,
    /// Host.
    pub host: Host,
    /// Number of all devices, including those beyond the list.
    pub drives_count: u64,
    /// First devices.
    pub drives: Vec<Drive>,
    /// Warnings before the run.
    pub warnings: Vec<Warning>,
    /// Whether the rates were sustained; `None` without an end record.
    #[serde(rename = "is_rate_held")]
    pub is_rate_sustained: Option<bool>,
    /// Result as one word.
    pub rate_word: Option<String>,
    /// Sentence about the rates that were not sustained.
    pub rate_sentence: Option<String>,
    /// Operations by name.
    pub operations: Vec<Operation>,
    /// Exact counts over the thresholds.
    pub over: Vec<Over>,
    /// Telemetry of host and drives; `None` without intervals.
    pub telemetry: Option<Telemetry>,
    /// Findings that say that the host may be the cause if the run fails.
    pub host_causes: Vec<&'static str>,
    /// Reason for the end: `finished`, ...; `None` for a killed run.
    pub end_reason: Option<String>,
    /// Sentence about the end.
    pub end_text: Option<String>,
}

impl SideFileSummary {
    /// Return whether a device is virtual; `None` unless the kinds of all devices are known.
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
