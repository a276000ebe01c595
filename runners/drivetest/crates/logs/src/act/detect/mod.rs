//! Detectors that see every block: stalls, device sums that do not add up, and counts that are not plausible.

pub mod device_buckets;
pub mod device_sums;
pub mod duplicate_intervals;
pub mod fabricated_counts;
pub mod request_rates;
pub mod stalls;

use crate::act::blocks::block::{Block, Names};
use crate::act::detect::device_sums::DeviceSums;
use crate::act::detect::duplicate_intervals::DuplicateDetector;
use crate::act::detect::fabricated_counts::RoundCountDetector;
use crate::act::detect::request_rates::{Pacing, request_rate, threads};
use crate::act::detect::stalls::{Ended, StallDetector};
use crate::act::header::Header;
use crate::act::header::settings::whole;
use crate::act::run_reader::owned;
use crate::finding::{Finding, Findings};

/// Histograms of all devices, with the suffix that a device name has in the name of its own histogram.
///
/// Source: aerospike/act, src/storage/act_storage.c and src/index/act_index.c.
const WHOLES: [(&str, &str); 6] = [
    ("reads", "-reads"),
    ("device-reads", "-reads"),
    ("RAW READS", "-reads"),
    ("writes", "-writes"),
    ("device-writes", "-writes"),
    ("RAW WRITES", "-writes"),
];

/// Detectors of one histogram of all devices.
#[derive(Debug)]
struct HistogramDetectors {
    ordinal: usize,
    pace: Option<StallDetector>,
    repeats: DuplicateDetector,
    round: RoundCountDetector,
}

/// All detectors of a run.
#[derive(Debug, Default)]
pub struct Detectors {
    header: Vec<(String, String)>,
    devices: Vec<String>,
    names_count: usize,
    watched: Vec<HistogramDetectors>,
    sums: Vec<DeviceSums>,
    is_closed: bool,
    pacing: Pacing,
}

impl Detectors {
    /// Return the detectors of a run with a header.
    pub fn new(header: &Header) -> Self {
        let pairs = header.config.pairs().chain(header.derived.pairs());
        let mut devices: Vec<_> = header.device_names().into_iter().map(str::to_owned).collect();
        devices.sort_unstable();
        devices.dedup();
        let drivetest = header.drivetest.as_ref();
        let mut detectors = Self {
            header: owned(pairs),
            devices,
            pacing: Pacing::of(drivetest.map(|drivetest| drivetest.arrivals.as_str())),
            ..Self::default()
        };
        detectors.is_closed = drivetest.is_none() && detectors.value("num-queues").is_none();
        detectors
    }

    /// Add the next block.
    pub fn take(&mut self, block: &Block, names: &Names) {
        if names.count() != self.names_count {
            self.add_histograms(names);
        }
        for watched in &mut self.watched {
            let (ordinal, line) = (watched.ordinal, block.first_line);
            let (Some(counts), Some(ops)) = (block.counts(ordinal), block.ops_count(ordinal)) else {
                continue;
            };
            if let Some(pace) = &mut watched.pace {
                pace.take(line, block.label_s, ops);
            }
            watched.repeats.take(line, block.label_s, counts, ops);
            watched.round.take(line, counts);
        }
        self.sums.iter_mut().for_each(|sums| sums.take(block));
    }

    /// Add the findings; `is_whole` means that the last label is a time.
    pub fn report(self, is_whole: bool, last_line: u64, findings: &mut Findings) {
        let ended = Ended { is_whole, last_line };
        let watched_count = self.watched.len();
        let paces = self.watched.iter().filter_map(|watched| watched.pace.as_ref());
        findings.add_all(merged(paces.flat_map(|pace| pace.report(&ended))));
        for watched in self.watched {
            findings.add_all(watched.repeats.report(watched_count));
            findings.add_all(watched.round.report());
        }
        self.sums.into_iter().for_each(|sums| sums.report(findings));
    }

    fn value(&self, key: &str) -> Option<&str> {
        let found = self.header.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Return the threads of a closed loop. Large blocks have one thread per device.
    fn closed_threads(&self, name: &str) -> Option<u64> {
        let threads = if name.starts_with("large-block") {
            self.value("num-devices").and_then(whole)
        } else {
            threads(&|key| self.value(key))
        };
        threads.filter(|_| self.is_closed)
    }

    /// Add detectors for new histograms.
    fn add_histograms(&mut self, names: &Names) {
        for ordinal in self.names_count..names.count() {
            let name = names.name(ordinal);
            if self.is_of_device(&name) {
                continue;
            }
            let rate = request_rate(&name, &|key| self.value(key), self.pacing);
            let closed = self.closed_threads(&name);
            self.watched.push(HistogramDetectors {
                ordinal,
                pace: rate.map(|rate| StallDetector::new(name.clone(), rate, closed)),
                repeats: DuplicateDetector::new(name.clone()),
                round: RoundCountDetector::new(name),
            });
        }
        self.names_count = names.count();
        self.sums = self.all_sums(names);
    }

    fn is_of_device(&self, name: &str) -> bool {
        self.is_histogram_of_device(name, "-reads") || self.is_histogram_of_device(name, "-writes")
    }

    fn is_histogram_of_device(&self, name: &str, suffix: &str) -> bool {
        let device = name.strip_suffix(suffix);
        device.is_some_and(|device| self.devices.iter().any(|known| known == device))
    }

    fn all_sums(&self, names: &Names) -> Vec<DeviceSums> {
        let in_flight = threads(&|key| self.value(key));
        let sums = WHOLES.iter().filter_map(|(whole, suffix)| {
            // With queues, devices add up to `device-reads`, because `reads` includes the time in queue; same for writes.
            let waits = names.find(&format!("device-{whole}")).is_some();
            let total = names.find(whole).filter(|_| !waits)?;
            let is_part = |at: &usize| self.is_histogram_of_device(&names.name(*at), suffix);
            let parts: Vec<usize> = (0..names.count()).filter(is_part).collect();
            (!parts.is_empty()).then(|| DeviceSums::new(names, total, parts, in_flight))
        });
        sums.collect()
    }
}

/// Merge findings with the same rule: the same cause delays all kinds of operations.
fn merged(reports: impl Iterator<Item = (Finding, String)>) -> Vec<Finding> {
    let mut merged_findings: Vec<Finding> = Vec::new();
    for (finding, name) in reports {
        match merged_findings.iter_mut().find(|known| known.id == finding.id) {
            Some(known) => known
                .sentence
                .push_str(&format!("; the same finding applies to {name}")),
            None => merged_findings.push(finding),
        }
    }
    merged_findings
}
