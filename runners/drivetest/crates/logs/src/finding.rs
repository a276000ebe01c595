//! Findings: facts that a reader should know about a log.
//!
//! docs/reference/findings.md describes every rule; a test compares that document with the rules in this module.

use serde::Serialize;

/// Weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The finding decides the verdict.
    Decides,
    /// A person should review the finding.
    Look,
    /// Background information.
    Note,
}

/// Effect of a finding on the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The counts are not trustworthy: the verdict is void.
    Untrusted,
    /// Part of the run is missing: the verdict is void, unless the rest already exceeds a limit.
    Incomplete,
    /// The run fails.
    Fails,
    /// The run cannot pass: the verdict is undecided if no limit is exceeded.
    Undecided,
    /// No effect.
    Nothing,
}

/// A kind of finding: stable id, severity, effect on the verdict, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Public name, which never changes.
    pub id: &'static str,
    /// Weight.
    pub severity: Severity,
    /// Effect on the verdict.
    pub effect: Effect,
    /// Action for the sender of the log; empty if there is none.
    pub remedy: &'static str,
}

/// One fact about one log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub id: &'static str,
    /// The rule's severity.
    pub severity: Severity,
    /// Line number, from 1; `None` if the finding concerns the whole log.
    pub line: Option<u64>,
    /// The object, the expected value and the value found.
    pub sentence: String,
    /// Action for the sender of the log.
    pub remedy: &'static str,
    /// File inside an archive; `None` without an archive, or if the finding concerns all of it.
    pub member: Option<String>,
    /// Effect on the verdict.
    #[serde(skip)]
    pub effect: Effect,
}

impl Finding {
    /// Return the finding with the name of a file inside an archive.
    #[must_use]
    pub fn of_member(self, name: &str) -> Self {
        Self {
            member: Some(name.to_owned()),
            ..self
        }
    }
}

impl Rule {
    /// Return a finding of this rule.
    pub fn at(&self, line: impl Into<Option<u64>>, sentence: impl Into<String>) -> Finding {
        Finding {
            id: self.id,
            severity: self.severity,
            line: line.into(),
            sentence: sentence.into(),
            remedy: self.remedy,
            member: None,
            effect: self.effect,
        }
    }
}

/// Findings of a run in the order of the log.
///
/// Only the first findings of each rule are stored and the rest are counted, so that a hostile log cannot exhaust memory.
#[derive(Debug, Default)]
pub struct Findings {
    findings: Vec<Finding>,
    left_out: Vec<(&'static str, u64)>,
}

/// Stored findings per rule: enough to show a pattern.
const MAX_PER_RULE: usize = 20;

impl Findings {
    /// Add a finding.
    pub fn add(&mut self, finding: Finding) {
        let same = self
            .findings
            .iter()
            .filter(|known| known.id == finding.id)
            .count();
        if same < MAX_PER_RULE {
            self.findings.push(finding);
            return;
        }
        match self.left_out.iter_mut().find(|(id, _)| *id == finding.id) {
            Some((_, count)) => *count += 1,
            None => self.left_out.push((finding.id, 1)),
        }
    }

    /// Add a finding if there is none of its rule yet.
    pub fn add_unless_known(&mut self, finding: Finding) {
        if self.findings.iter().all(|known| known.id != finding.id) {
            self.findings.push(finding);
        }
    }

    /// Add several findings.
    pub fn add_all(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.add(finding));
    }

    /// Return the findings of a list that fit the limit per rule.
    pub fn bounded(findings: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
        let mut bounded = Self::default();
        bounded.add_all(findings);
        bounded.into_list()
    }

    /// Return the stored findings by line. The last one of a rule states how many more there were.
    pub fn into_list(mut self) -> Vec<Finding> {
        for (id, count) in &self.left_out {
            if let Some(last) = self.findings.iter_mut().rev().find(|finding| finding.id == *id) {
                last.sentence.push_str(&format!(" (and {count} more like this)"));
            }
        }
        self.findings
            .sort_by_key(|finding| finding.line.unwrap_or(u64::MAX));
        self.findings
    }
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $effect:ident $remedy:literal)*) => {
        /// Rules by name.
        pub mod rule {
            use super::{Effect, Rule, Severity};
            $(
                #[doc = concat!("`", $id, "`: see docs/reference/findings.md.")]
                pub const $name: Rule = Rule {
                    id: $id, severity: Severity::$severity, effect: Effect::$effect, remedy: $remedy,
                };
            )*
        }

        /// All rules.
        pub const RULES: &[Rule] = &[$(rule::$name),*];
    };
}

rules! {
    CUT "cut" Decides Incomplete "send the whole file; a truncated run cannot be certified"
    SHORT "short" Decides Incomplete "send the whole file; if the run was killed, repeat it to its end"
    INTERRUPTED "interrupted" Decides Incomplete "repeat the run to its end"
    CRASHED "crashed" Decides Incomplete "repeat the run with a version that does not crash"
    NOT_STARTED "not-started" Decides Incomplete "fix the error that the log reports, then repeat the run"
    CANNOT_KEEP_UP "cannot-keep-up" Decides Fails "run it at a lower load"
    IO_ERRORS "io-errors" Decides Incomplete "failed operations are in no histogram; check the drive, its cables and its size, then repeat the run"
    COUNTS_FALL "counts-fall" Decides Untrusted "cumulative counts cannot decrease; send the unmodified log file"
    BLOCKS_CONFLICT "blocks-conflict" Decides Untrusted "send the unmodified log file, with its runs one after the other"
    BLOCKS_OUT_OF_ORDER "blocks-out-of-order" Decides Untrusted "send the unmodified log file, with its runs one after the other, each with its header"
    OLD_BUCKETS "old-buckets" Decides Untrusted "use a later version of ACT, or drivetest"
    SLICE_MISSING "slice-missing" Decides Incomplete "send the whole file; a slice needs the blocks at its start and its end"
    TOO_MANY_SLICES "too-many-slices" Decides Incomplete "request longer slices"
    LINES_FLOOD "lines-flood" Decides Incomplete "send the unmodified log file, without blank or idle lines"
    COMPRESSION_DAMAGED "compression-damaged" Decides Incomplete "compress the log again and send the whole file"
    BLOCKS_MISSING "blocks-missing" Look Nothing "send the unmodified log file; slices that have their first and last block are not affected"
    BLOCK_REPEATED "block-repeated" Look Nothing "the duplicate is ignored; send the unmodified log file"
    LABEL_OFF_INTERVAL "label-off-interval" Look Nothing "send the unmodified log file"
    TOTAL_DIFFERS "total-differs" Look Nothing "this histogram of the block is ignored; send the unmodified log file"
    HISTOGRAM_MISSING "histogram-missing" Look Nothing "this histogram of the block is ignored; send the unmodified log file"
    HISTOGRAM_REPEATED "histogram-repeated" Look Nothing "this histogram of the block is ignored; send the unmodified log file"
    HISTOGRAM_UNLISTED "histogram-unlisted" Look Nothing "the histogram is read; check which program wrote it"
    TOO_MANY_HISTOGRAMS "too-many-histograms" Look Nothing "ACT supports at most 128 devices"
    UNREADABLE_LINE "unreadable-line" Look Nothing "the histogram of this line is ignored in this block; send the unmodified log file"
    NUL_BYTES "nul-bytes" Look Nothing "the host lost power, or the file system was full, while the log was written; send what was written before"
    STALL "stall" Look Nothing "the program or the drive paused; requests due during the pause were issued late and measured from then on"
    RATE_BELOW_REQUESTED "rate-below-asked" Look Undecided "find the bottleneck (service-threads, the host's processors, max-lag-sec 0), then repeat the run"
    RESPONSE_ABOVE_SERVICE "response-above-service" Look Nothing "find the cause of the delay (a pause of the host or drive, a rate near the drive's limit); limits apply to service time, as in ACT, but users experience response time"
    GENERATOR_LATE "generator-late" Look Nothing "reduce other work on the host, or add processors; limits apply to service time, as in ACT, but users experience response time"
    HOST_BUSY "host-busy" Look Nothing "use a host with spare processors and no other work"
    HOST_STOLEN "host-stolen" Look Nothing "use physical hardware, or a virtual machine with dedicated processors"
    DRIVE_HOT "drive-hot" Look Nothing "cool the drive, then repeat the run to measure it without throttling"
    DEVICE_VIRTUAL "device-virtual" Look Nothing "a run on memory or on a file cannot certify a drive; run it on the drive itself"
    INTERVALS_OFF_RATE "intervals-off-rate" Look Nothing "the load was uneven; find the cause, and check the latencies of those intervals"
    RATE_ABOVE_REQUESTED "rate-above-asked" Look Nothing "send the unmodified log file; no version exceeds the requested rate"
    DEVICE_SUMS_DIFFER "device-sums-differ" Look Nothing "send the unmodified log file; the histograms of the devices do not add up to the total"
    DEVICES_OVER_LIMIT "devices-over-limit" Look Undecided "send the unmodified log file; the histograms of the devices exceed a limit that the total meets"
    DUPLICATE_INTERVALS "intervals-alike" Look Nothing "send the unmodified log file; the interval may be a copy of the previous one"
    COUNTS_ROUND "counts-round" Look Nothing "send the unmodified log file, without rounded counts"
    LATENCY_BEYOND_RUN "latency-beyond-run" Look Nothing "send the unmodified log file; no operation can last longer than the run"
    BUSY_BEYOND_THREADS "busy-beyond-threads" Look Nothing "send the unmodified log file; its operations need more time than its threads had"
    LONGER_THAN_REQUESTED "longer-than-asked" Look Nothing "send the unmodified log file, with its runs one after the other, each with its header"
    HEADER_DIFFERS "header-differs" Look Undecided "send the unmodified log file; derived values must follow from the configured values"
    LOCKSTEP_BURSTS "lockstep-bursts" Look Nothing "compare it only with runs that have as many threads per device; drivetest spaces its requests evenly on every host"
    CACHE_LOAD_DIVIDED "cache-load-divided" Look Nothing "test each device separately, or multiply the requested writes by the number of devices"
    DUPLICATE_DEVICES "devices-alike" Look Nothing "state the number of physical drives; a drive with several partitions takes the load of all of them"
    DEFRAG_CHANGED "defrag-changed" Look Nothing "use the default, 50, to compare it with other runs"
    COMMIT_TO_DEVICE "commit-to-device" Look Nothing "turn it off to compare it with other runs"
    TOMB_RAIDER "tomb-raider" Look Nothing "turn it off to compare it with other runs"
    REPLICATION_CHANGED "replication-changed" Look Nothing "use the default, 1, to compare it with other runs"
    UPDATES_READ "updates-read" Look Nothing "use the default, 0, to compare it with other runs"
    ERROR_LINE "error-line" Look Nothing "read the error message of the program"
    LIGHTER_LOAD "lighter-load" Look Nothing "use the default to compare it with other runs"
    LAG_UNLIMITED "lag-unlimited" Look Nothing "with max-lag-sec 0, overload does not stop the test; check the achieved rate"
    COMMIT_WRITES_MEANINGLESS "commit-writes-meaningless" Look Nothing "use act_storage 6.3 or earlier where commit-to-device matters"
    DEVICE_NAMED_TWICE "device-named-twice" Look Nothing "name each device once; the load counts this one twice"
    VERSION_UNKNOWN "version-unknown" Look Nothing "the log is read by its keys; compare the figures with the program's own analysis"
    SETTING_UNREADABLE "setting-unreadable" Look Nothing "send the unmodified log file"
    OTHER_PROGRAM "other-program" Look Nothing "send the output of each program as a separate file"
    SEVERAL_RUNS "several-runs" Look Nothing "each run is read separately; send one file per run"
    RUN_NOT_READ "run-not-read" Look Nothing "the other runs of the file are read; send this run as a separate file"
    TOO_MANY_RUNS "too-many-runs" Look Nothing "send one file per run"
    SIDE_FILE_DIFFERS "side-file-differs" Look Nothing "send the side file that drivetest wrote together with this log"
    TRAILING_BYTES "trailing-bytes" Look Nothing "the compressed log before them is complete; compress it again without these bytes"
    PROFILE_WORKLOAD "profile-workload" Look Undecided "run act_storage, or judge with a profile for this workload"
    PROFILE_READS "profile-reads" Look Undecided "include reads: the limits apply to them"
    PROFILE_EDGES "profile-edges" Look Undecided "choose a profile whose thresholds are powers of two in the log's unit"
    PROFILE_DURATION "profile-duration" Look Undecided "run it as long as the profile requires, and judge it in slices of its length"
    PROFILE_RATIO "profile-ratio" Look Undecided "run it with the profile's ratio of reads to writes"
    PROFILE_OBJECTS "profile-objects" Look Undecided "run it with objects of the profile's size"
    PROFILE_SETTINGS "profile-settings" Look Undecided "use the default, no"
    PROFILE_WRITES "profile-writes" Look Undecided "use ACT's defaults for large blocks and defragmentation"
    ROUNDING_DECIDES "rounding-decides" Look Nothing "the verdict uses the counts, not the rounded percentage"
    SERIES_TOO_LARGE "series-too-large" Note Nothing "request longer intervals or a shorter time range"
    TRAILING_PARTIAL "trailing-partial" Note Nothing ""
    SLICE_LENGTHENED "slice-lengthened" Note Nothing "choose a report interval that divides the slice length"
    DURATION_OFF_INTERVAL "duration-off-interval" Note Nothing "choose a duration that is a multiple of the report interval"
    NX_NOT_WHOLE "nx-not-whole" Note Nothing "to appear in a load ladder, choose a multiple of 2000 reads/s and 1000 writes/s for each device"
    LINES_WITHOUT_PREFIX "lines-without-prefix" Look Nothing "send the original log file, not a copy from a message or a logger"
    ARCHIVE_DAMAGED "archive-damaged" Decides Incomplete "create the archive again and send the whole file"
    MEMBER_NOT_READ "member-not-read" Look Nothing "send the unmodified log file"
    MEMBER_DAMAGED "member-damaged" Look Nothing "create the archive again and send the whole file"
    MEMBER_PASSED_OVER "member-passed-over" Look Nothing "add the file itself to the archive: unencrypted, stored or deflated"
    MEMBER_NAME "member-name" Look Nothing "create the archive from inside the directory of the logs"
    MEMBER_REPEATED "member-repeated" Look Nothing "give each file a unique name"
    NESTED_ARCHIVE "nested-archive" Look Nothing "put the logs into one archive, or send each archive separately"
    TOO_MANY_MEMBERS "too-many-members" Look Nothing "send the logs in several archives"
    NOISE "noise" Note Nothing ""
    UTF_16 "utf-16" Note Nothing ""
    BYTE_ORDER_MARK "byte-order-mark" Note Nothing ""
    CARRIAGE_RETURNS "carriage-returns" Note Nothing ""
    ESCAPE_SEQUENCES "escape-sequences" Note Nothing ""
    NON_BREAKING_SPACES "non-breaking-spaces" Note Nothing ""
    QUOTED "quoted" Note Nothing "send the original log file"
    INDENTED "indented" Note Nothing "send the original log file"
    LINE_PREFIX "line-prefix" Note Nothing "send the unmodified log file"
    NOISE_INSIDE_BLOCK "noise-inside-block" Note Nothing ""
    HISTOGRAM_NEVER_APPEARS "histogram-never-appears" Note Nothing ""
    RATE_TRUNCATED "rate-truncated" Note Nothing "choose rates that are multiples of the number of service-threads"
    COMPRESSIBLE_DATA "compressible-data" Note Nothing ""
    SCHEDULER_NOT_SET "scheduler-not-set" Note Nothing "set the scheduler of the device before the run"
    EDGE_DECIDES "edge-decides" Note Nothing "use millisecond histograms, or drivetest, to find out"
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../../../docs/reference/findings.md");

    /// Return id, severity and effect of each row.
    fn documented_rows() -> Vec<[String; 3]> {
        let table = DOCUMENT.split("## YCSB").next().unwrap();
        let rows = table.lines().filter(|line| line.starts_with("| `"));
        let cell = |row: &str, at: usize| {
            row.split('|')
                .nth(at)
                .unwrap()
                .trim()
                .trim_matches('`')
                .to_owned()
        };
        rows.map(|row| [1, 2, 3].map(|at| cell(row, at))).collect()
    }

    #[test]
    fn every_rule_is_documented_with_severity_and_effect_and_nothing_else_is() {
        let written = |word: String| word.to_lowercase().replace("nothing", "");
        let row = |rule: &Rule| {
            [
                rule.id.to_owned(),
                written(format!("{:?}", rule.severity)),
                written(format!("{:?}", rule.effect)),
            ]
        };
        let mut in_code: Vec<_> = RULES.iter().map(row).collect();
        let mut in_docs = documented_rows();
        in_code.sort();
        in_docs.sort();
        assert_eq!(in_code, in_docs);
    }

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<_> = RULES.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), RULES.len());
    }

    #[test]
    fn deciding_rules_have_an_effect_and_a_remedy() {
        for rule in RULES {
            let decides = rule.severity == Severity::Decides;
            assert!(!decides || rule.effect != Effect::Nothing, "{}", rule.id);
            assert!(!decides || !rule.remedy.is_empty(), "{}", rule.id);
        }
    }

    #[test]
    fn findings_beyond_the_limit_are_counted() {
        let mut findings = Findings::default();
        (1..=25).for_each(|line| findings.add(rule::ERROR_LINE.at(line, "x")));
        let list = findings.into_list();
        assert_eq!(list.len(), 20);
        assert_eq!(list[19].sentence, "x (and 5 more like this)");
    }
}
