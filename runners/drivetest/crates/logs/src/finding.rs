//! What a reader should know about a log. Every rule is described in docs/findings.md, which a test compares.

use serde::Serialize;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It decides the verdict.
    Decides,
    /// It should be looked at.
    Look,
    /// Good to know.
    Note,
}

/// What a finding does to a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The counts cannot be believed: void, whatever they say.
    Untrusted,
    /// Something of the run is not there: void, unless what is there is already over a limit.
    Incomplete,
    /// The run failed for it.
    Fails,
    /// Nothing over a limit is not enough for a pass.
    Undecided,
    /// None.
    Nothing,
}

/// A kind of finding: stable id, severity, effect on the verdict, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable for ever.
    pub id: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// What it does to a verdict.
    pub effect: Effect,
    /// What the sender can do; empty where there is nothing to do.
    pub remedy: &'static str,
}

/// One thing found in one log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub id: &'static str,
    /// The rule's severity.
    pub severity: Severity,
    /// Where, from 1; None where the whole log is meant.
    pub line: Option<u64>,
    /// Object, what was expected, what was got.
    pub sentence: String,
    /// What the sender can do.
    pub remedy: &'static str,
    /// The file of an archive that it was found in; None where there is no archive, or all of it is meant.
    pub member: Option<String>,
    /// What it does to a verdict.
    #[serde(skip)]
    pub effect: Effect,
}

impl Finding {
    /// The same, found in a file of an archive.
    #[must_use]
    pub fn of_member(self, name: &str) -> Self {
        Self {
            member: Some(name.to_owned()),
            ..self
        }
    }
}

impl Rule {
    /// A finding under this rule.
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

/// The findings of a run in the order of the log: at most a few of each rule are kept, the rest are counted, so
/// that a hostile log cannot fill the memory.
#[derive(Debug, Default)]
pub struct Findings {
    findings: Vec<Finding>,
    left_out: Vec<(&'static str, u64)>,
}

/// Findings kept of one rule: enough to see a pattern.
const MAX_PER_RULE: usize = 20;

impl Findings {
    /// Adds one.
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

    /// Adds one where none of its rule is there.
    pub fn add_unless_known(&mut self, finding: Finding) {
        if self.findings.iter().all(|known| known.id != finding.id) {
            self.findings.push(finding);
        }
    }

    /// Adds all of a list.
    pub fn add_all(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.add(finding));
    }

    /// As many of a list as are kept, in its order.
    pub fn bounded(findings: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
        let mut bounded = Self::default();
        bounded.add_all(findings);
        bounded.into_list()
    }

    /// All that were kept, by line; the last of a rule tells how many more there were.
    pub fn into_list(mut self) -> Vec<Finding> {
        for (id, count) in &self.left_out {
            if let Some(last) = self.findings.iter_mut().rev().find(|finding| finding.id == *id) {
                last.sentence
                    .push_str(&format!(" (and {count} more of this kind)"));
            }
        }
        self.findings
            .sort_by_key(|finding| finding.line.unwrap_or(u64::MAX));
        self.findings
    }
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $effect:ident $remedy:literal)*) => {
        /// The rules by name.
        pub mod rule {
            use super::{Effect, Rule, Severity};
            $(
                #[doc = concat!("`", $id, "`: see docs/findings.md.")]
                pub const $name: Rule = Rule {
                    id: $id, severity: Severity::$severity, effect: Effect::$effect, remedy: $remedy,
                };
            )*
        }

        /// Every rule.
        pub const RULES: &[Rule] = &[$(rule::$name),*];
    };
}

rules! {
    CUT "cut" Decides Incomplete "send the whole file; a run that was cut cannot be certified"
    SHORT "short" Decides Incomplete "send the whole file; if the run was killed, run it again to its end"
    INTERRUPTED "interrupted" Decides Incomplete "run it again to its end"
    CRASHED "crashed" Decides Incomplete "run it again with a version that does not crash"
    NOT_STARTED "not-started" Decides Incomplete "mend what the error names and run it again"
    CANNOT_KEEP_UP "cannot-keep-up" Decides Fails "run it at a lower load"
    IO_ERRORS "io-errors" Decides Incomplete "operations that failed are in no histogram; check the drive, its cabling and its size, and run it again"
    COUNTS_FALL "counts-fall" Decides Untrusted "counts since the start cannot go down; send the log as the program wrote it"
    BLOCKS_CONFLICT "blocks-conflict" Decides Untrusted "send the log as the program wrote it, one run after the other"
    BLOCKS_OUT_OF_ORDER "blocks-out-of-order" Decides Untrusted "send the log as the program wrote it, one run after the other, each with its header"
    OLD_BUCKETS "old-buckets" Decides Untrusted "run it with a later version of ACT, or with drivetest"
    SLICE_MISSING "slice-missing" Decides Incomplete "send the whole file; a slice needs the blocks at its start and its end"
    TOO_MANY_SLICES "too-many-slices" Decides Incomplete "ask for longer slices"
    LINES_FLOOD "lines-flood" Decides Incomplete "send the log as the program wrote it, without blank or idle lines"
    COMPRESSION_DAMAGED "compression-damaged" Decides Incomplete "compress the log again and send it whole"
    BLOCKS_MISSING "blocks-missing" Look Nothing "send the log as the program wrote it; the slices whose ends are there are not touched"
    BLOCK_REPEATED "block-repeated" Look Nothing "the repetition is passed over; send the log as the program wrote it"
    LABEL_OFF_INTERVAL "label-off-interval" Look Nothing "send the log as the program wrote it"
    TOTAL_DIFFERS "total-differs" Look Nothing "the histogram is not used in this block; send the log as the program wrote it"
    HISTOGRAM_MISSING "histogram-missing" Look Nothing "the histogram is not used in this block; send the log as the program wrote it"
    HISTOGRAM_REPEATED "histogram-repeated" Look Nothing "the histogram is not used in this block; send the log as the program wrote it"
    HISTOGRAM_UNLISTED "histogram-unlisted" Look Nothing "it is read all the same; check what wrote it"
    TOO_MANY_HISTOGRAMS "too-many-histograms" Look Nothing "ACT itself names at most 128 devices"
    UNREADABLE_LINE "unreadable-line" Look Nothing "the histogram it belongs to is not used in this block; send the log as the program wrote it"
    NUL_BYTES "nul-bytes" Look Nothing "the machine lost power or the disk was full while the log was written; send what was written before"
    STALL "stall" Look Nothing "the program or the drive stood still; requests that were due then were issued late and measured from then on"
    RATE_BELOW_REQUESTED "rate-below-asked" Look Undecided "find what held the load back (service-threads, the host's processors, max-lag-sec 0) and run it again"
    RESPONSE_ABOVE_SERVICE "response-above-service" Look Nothing "look for what held them back (a host or a drive that stood still, a rate near the drive's limit); limits are for service time, as ACT's are, users wait the response time"
    GENERATOR_LATE "generator-late" Look Nothing "free the host for the load, or give it more processors; limits are for service time, as ACT's are, users wait the response time"
    HOST_BUSY "host-busy" Look Nothing "run it on a host with processors to spare, with nothing else on it"
    HOST_STOLEN "host-stolen" Look Nothing "run it on hardware, or on a virtual machine with processors of its own"
    DRIVE_HOT "drive-hot" Look Nothing "cool the drive, and run it again to see it without throttling"
    DEVICE_VIRTUAL "device-virtual" Look Nothing "a run on memory or on a file says nothing of a drive and never certifies; run it on the drive itself"
    INTERVALS_OFF_RATE "intervals-off-rate" Look Nothing "the load came in fits; look at what held it back, and at the latencies of those intervals"
    RATE_ABOVE_REQUESTED "rate-above-asked" Look Nothing "send the log as the program wrote it; no version makes more than it is asked"
    DEVICE_SUMS_DIFFER "device-sums-differ" Look Nothing "send the log as the program wrote it; the histograms of the devices do not add up to that of all"
    DEVICES_OVER_LIMIT "devices-over-limit" Look Undecided "send the log as the program wrote it; the histograms of the devices are over a limit that the one of all keeps"
    DUPLICATE_INTERVALS "intervals-alike" Look Nothing "send the log as the program wrote it; the interval may be a copy of the one before it"
    COUNTS_ROUND "counts-round" Look Nothing "send the log as the program wrote it, without rounding"
    LATENCY_BEYOND_RUN "latency-beyond-run" Look Nothing "send the log as the program wrote it; no operation lasts longer than the run"
    BUSY_BEYOND_THREADS "busy-beyond-threads" Look Nothing "send the log as the program wrote it; its operations need more time than its threads had"
    LONGER_THAN_REQUESTED "longer-than-asked" Look Nothing "send the log as the program wrote it, one run after the other, each with its header"
    HEADER_DIFFERS "header-differs" Look Undecided "send the log as the program wrote it; what it derives follows from what it is told"
    LOCKSTEP_BURSTS "lockstep-bursts" Look Nothing "compare it only with runs of as many threads to a device; drivetest's arrivals are even on every host"
    CACHE_LOAD_DIVIDED "cache-load-divided" Look Nothing "test each device by itself, or ask for as many times the writes as there are devices"
    DUPLICATE_DEVICES "devices-alike" Look Nothing "say how many drives there are; a drive in several parts takes the load of each"
    DEFRAG_CHANGED "defrag-changed" Look Nothing "run it with the default, 50, to compare it with other runs"
    COMMIT_TO_DEVICE "commit-to-device" Look Nothing "run it without to compare it with other runs"
    TOMB_RAIDER "tomb-raider" Look Nothing "run it without to compare it with other runs"
    REPLICATION_CHANGED "replication-changed" Look Nothing "run it with the default, 1, to compare it with other runs"
    UPDATES_READ "updates-read" Look Nothing "run it with the default, 0, to compare it with other runs"
    ERROR_LINE "error-line" Look Nothing "read what the program says there"
    LIGHTER_LOAD "lighter-load" Look Nothing "run it with the default to compare it with other runs"
    LAG_UNLIMITED "lag-unlimited" Look Nothing "with max-lag-sec 0 an overload never stops; look at the rate that was reached"
    COMMIT_WRITES_MEANINGLESS "commit-writes-meaningless" Look Nothing "use act_storage up to 6.3 where commit-to-device matters"
    DEVICE_NAMED_TWICE "device-named-twice" Look Nothing "name each device once; the load counts it as two"
    VERSION_UNKNOWN "version-unknown" Look Nothing "it is read by its keys; check the figures against the program's own analysis"
    SETTING_UNREADABLE "setting-unreadable" Look Nothing "send the log as the program wrote it"
    OTHER_PROGRAM "other-program" Look Nothing "send the output of each program in a file of its own"
    SEVERAL_RUNS "several-runs" Look Nothing "each is read by itself; send one file per run"
    RUN_NOT_READ "run-not-read" Look Nothing "the other runs of the file are read; send this one by itself"
    TOO_MANY_RUNS "too-many-runs" Look Nothing "send one file per run"
    SIDE_FILE_DIFFERS "side-file-differs" Look Nothing "send the side file that drivetest wrote beside this log"
    TRAILING_BYTES "trailing-bytes" Look Nothing "the compressed log before them is whole; compress it again without them"
    PROFILE_WORKLOAD "profile-workload" Look Undecided "run act_storage, or judge by a profile for this workload"
    PROFILE_READS "profile-reads" Look Undecided "run it with reads: the limits are for them"
    PROFILE_EDGES "profile-edges" Look Undecided "choose a profile whose thresholds are powers of two of the log's unit"
    PROFILE_DURATION "profile-duration" Look Undecided "run it as long as the profile asks, and judge it in slices of its length"
    PROFILE_RATIO "profile-ratio" Look Undecided "run it with the profile's reads and writes"
    PROFILE_OBJECTS "profile-objects" Look Undecided "run it with objects of the profile's size"
    PROFILE_SETTINGS "profile-settings" Look Undecided "run it with the default, no"
    PROFILE_WRITES "profile-writes" Look Undecided "run it with ACT's defaults for large blocks and defragmentation"
    ROUNDING_DECIDES "rounding-decides" Look Nothing "the verdict follows the counts, not the rounded percentage"
    SERIES_TOO_LARGE "series-too-large" Note Nothing "ask for longer intervals, or for a shorter time"
    TRAILING_PARTIAL "trailing-partial" Note Nothing ""
    SLICE_LENGTHENED "slice-lengthened" Note Nothing "choose a report interval that divides the slice"
    DURATION_OFF_INTERVAL "duration-off-interval" Note Nothing "choose a duration that the report interval divides"
    NX_NOT_WHOLE "nx-not-whole" Note Nothing "choose a multiple of 2000 reads/s and 1000 writes/s for each device to stand in a ladder"
    LINES_WITHOUT_PREFIX "lines-without-prefix" Look Nothing "send the log itself as a file, not a copy out of a message or a logger"
    ARCHIVE_DAMAGED "archive-damaged" Decides Incomplete "make the archive again and send it whole"
    MEMBER_NOT_READ "member-not-read" Look Nothing "send the log itself, as the program printed it"
    MEMBER_DAMAGED "member-damaged" Look Nothing "make the archive again and send it whole"
    MEMBER_PASSED_OVER "member-passed-over" Look Nothing "put the file itself into the archive, unencrypted, stored or deflated"
    MEMBER_NAME "member-name" Look Nothing "make the archive from within the directory of the logs"
    MEMBER_REPEATED "member-repeated" Look Nothing "give each file a name of its own"
    NESTED_ARCHIVE "nested-archive" Look Nothing "put the logs into one archive, or send each archive by itself"
    TOO_MANY_MEMBERS "too-many-members" Look Nothing "send the logs in several archives"
    NOISE "noise" Note Nothing ""
    UTF_16 "utf-16" Note Nothing ""
    BYTE_ORDER_MARK "byte-order-mark" Note Nothing ""
    CARRIAGE_RETURNS "carriage-returns" Note Nothing ""
    ESCAPE_SEQUENCES "escape-sequences" Note Nothing ""
    NON_BREAKING_SPACES "non-breaking-spaces" Note Nothing ""
    QUOTED "quoted" Note Nothing "send the log itself as a file"
    INDENTED "indented" Note Nothing "send the log itself as a file"
    LINE_PREFIX "line-prefix" Note Nothing "send the log itself, as the program wrote it"
    NOISE_INSIDE_BLOCK "noise-inside-block" Note Nothing ""
    HISTOGRAM_NEVER_APPEARS "histogram-never-appears" Note Nothing ""
    RATE_TRUNCATED "rate-truncated" Note Nothing "choose rates that the number of service-threads divides"
    COMPRESSIBLE_DATA "compressible-data" Note Nothing ""
    SCHEDULER_NOT_SET "scheduler-not-set" Note Nothing "set the scheduler of the device before the run"
    EDGE_DECIDES "edge-decides" Note Nothing "run it with millisecond histograms, or with drivetest, to know"
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../../../docs/findings.md");

    /// Id, severity and effect of each row.
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
    fn what_decides_has_an_effect_and_a_remedy() {
        for rule in RULES {
            let decides = rule.severity == Severity::Decides;
            assert!(!decides || rule.effect != Effect::Nothing, "{}", rule.id);
            assert!(!decides || !rule.remedy.is_empty(), "{}", rule.id);
        }
    }

    #[test]
    fn of_many_alike_a_few_are_kept_and_the_rest_counted() {
        let mut findings = Findings::default();
        (1..=25).for_each(|line| findings.add(rule::ERROR_LINE.at(line, "x")));
        let list = findings.into_list();
        assert_eq!(list.len(), 20);
        assert_eq!(list[19].sentence, "x (and 5 more of this kind)");
    }
}
