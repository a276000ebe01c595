//! Reasons for a verdict besides the limits. Cut runs (findings `short` and `cut`) and damaged runs are void. Differences
//! from the profile leave a run undecided, for example if it is shorter than the profile demands.

use crate::act::blocks::histogram::Tally;
use crate::act::run::Run;
use crate::act::semantics::judged;
use crate::act::slices::Slice;
use crate::finding::{Effect, Finding, Rule, counted, rule};
use crate::judge::profile::Rules;
use crate::judge::verdict::{Outcome, when};

/// Settings that change the written data, with the effect and the remedy; the profile requires the default, `no`.
const LIGHTER: [(&str, &str, &str); 3] = [
    (
        "no-defrag-reads",
        "the run has no large-block reads",
        "remove no-defrag-reads from the configuration; its default is no",
    ),
    (
        "disable-odsync",
        "the drive may buffer writes",
        "remove disable-odsync from the configuration; its default is no",
    ),
    (
        "commit-to-device",
        "records are written one by one, not in large blocks",
        "remove commit-to-device from the configuration; its default is no",
    ),
];
/// Keys of the large-block writes per second in all versions; 3.0 and 3.1 read as many blocks as they write.
const BLOCK_WRITES_KEYS: [&str; 3] = [
    "large-block-writes-per-sec",
    "large block writes per sec",
    "large block ops per sec",
];
/// Default size of a large block in ACT, the unit of the profile's write load.
const LARGE_BLOCK_BYTES: u64 = 128 * 1024;
/// Writes per block at the default `defrag-lwm-pct` of 50: once with new records, once by defragmentation.
const WRITES_PER_BLOCK: f64 = 2.0;
/// Minimum ratio of the large-block writes to the required rate: one percent below, as for the rate of reads.
const BLOCKS_RATIO_MIN: f64 = 0.99;

/// Reasons against a pass besides the limits.
pub struct Reasons {
    /// The counts are not trustworthy.
    pub untrusted: Vec<String>,
    /// The run failed.
    pub failed: Vec<String>,
    /// Part of the run is missing.
    pub incomplete: Vec<String>,
    /// The run does not match the profile.
    pub undecided: Vec<String>,
}

impl Reasons {
    /// Collect the reasons from the findings of the run, and from its differences from the profile.
    pub fn of(run: &Run, differences: &[Finding]) -> Self {
        let sentences = |effect: Effect| {
            let all = differences.iter().chain(&run.findings);
            all.filter(|finding| finding.effect == effect)
                .map(sentence)
                .collect()
        };
        Self {
            untrusted: sentences(Effect::Untrusted),
            failed: sentences(Effect::Fails),
            incomplete: sentences(Effect::Incomplete),
            undecided: sentences(Effect::Undecided),
        }
    }

    /// Return the outcome; `is_over` means that a slice exceeds a limit.
    pub fn outcome(&self, is_over: bool) -> Outcome {
        if !self.untrusted.is_empty() {
            Outcome::Void
        } else if is_over || !self.failed.is_empty() {
            Outcome::Fail
        } else if !self.incomplete.is_empty() {
            Outcome::Void
        } else if !self.undecided.is_empty() {
            Outcome::Undecided
        } else {
            Outcome::Pass
        }
    }

    /// Return all reasons, the most important first.
    pub fn all(self) -> Vec<String> {
        [self.untrusted, self.failed, self.incomplete, self.undecided].concat()
    }
}

fn sentence(finding: &Finding) -> String {
    match finding.line {
        Some(line) => format!("line {line}: {}", finding.sentence),
        None => finding.sentence.clone(),
    }
}

/// Return the differences of a run from the profile; the log has edges for `readable_limits_count` of its limits.
pub fn differences(run: &Run, rules: &Rules, readable_limits_count: usize) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add =
        |rule: Rule, sentence: Option<String>| found.extend(sentence.map(|text| rule.at(None, text)));
    add(rule::PROFILE_WORKLOAD, workload_differs(run));
    add(rule::PROFILE_READS, without_reads(run));
    add(rule::PROFILE_EDGES, edges_lack(run, rules, readable_limits_count));
    add(rule::PROFILE_DURATION, time_differs(run, rules));
    add(rule::PROFILE_RATIO, ratio_differs(run, rules));
    add(rule::PROFILE_OBJECTS, objects_differ(run, rules));
    found.extend(lighter_settings(run));
    let blocks = fewer_blocks(run, rules).map(|sentence| rule::PROFILE_WRITES.at(None, sentence));
    found.extend(blocks);
    found
}

fn workload_differs(run: &Run) -> Option<String> {
    let workload = run.origin.workload;
    (workload != "act-storage").then(|| format!("the workload is {workload}; the profile is for act-storage"))
}

fn edges_lack(run: &Run, rules: &Rules, readable_limits_count: usize) -> Option<String> {
    let unit = run.unit.name();
    (readable_limits_count < rules.limits.len()).then(|| {
        format!("the buckets of the log, in {unit}, do not have an edge for every threshold of the profile")
    })
}

fn lighter_settings(run: &Run) -> impl Iterator<Item = Finding> {
    let is_set = |key: &str| {
        run.config
            .iter()
            .any(|(name, value)| name == key && value == "yes")
    };
    let set = LIGHTER.iter().filter(move |(key, ..)| is_set(key));
    set.map(|(key, effect, remedy)| {
        let sentence = format!("{key} is yes, so {effect}; the profile requires the default, no");
        Finding {
            remedy,
            ..rule::PROFILE_SETTINGS.at(None, sentence)
        }
    })
}

/// Check for fewer large blocks than with ACT's defaults: `defrag-lwm-pct` was lowered or the block size raised.
fn fewer_blocks(run: &Run, rules: &Rules) -> Option<String> {
    let (_, writes) = run.rates_per_s?;
    let records_per_block = LARGE_BLOCK_BYTES.checked_div(rules.object_bytes)?.max(1);
    let required = writes as f64 / records_per_block as f64 * WRITES_PER_BLOCK;
    let is_it = |name: &str| BLOCK_WRITES_KEYS.contains(&name);
    let printed = run.derived.iter().find(|(name, _)| is_it(name))?.1.as_str();
    let found: f64 = printed.parse().ok()?;
    let sentence = || {
        format!(
            "the run writes {printed} large blocks per second; the profile requires {required:.2}, as with ACT's defaults for {writes} writes per second"
        )
    };
    (found < required * BLOCKS_RATIO_MIN).then(sentence)
}

fn without_reads(run: &Run) -> Option<String> {
    let Some(reads) = judged(run) else {
        return Some(
            "the log has no histogram of reads, to which the limits of the profile apply".to_owned(),
        );
    };
    let ops_count = |slice: &Slice| slice.tally(reads.ordinal).map(Tally::ops_count);
    let empty = run.slices.iter().find(|slice| ops_count(slice) == Some(0))?;
    let when = when(empty.start_s, empty.end_s);
    Some(format!("slice {} ({when}) has no reads", empty.number))
}

fn time_differs(run: &Run, rules: &Rules) -> Option<String> {
    let interval_s = run.report_interval_s?;
    let wanted_s = rules
        .slice_length_s
        .div_ceil(interval_s)
        .saturating_mul(interval_s);
    let slice_s = run.slice_length_s.unwrap_or(0);
    if run.reached_s >= rules.duration_s && slice_s == wanted_s && !run.slices.is_empty() {
        return None;
    }
    let [ran, in_slices, required, in_required_slices] =
        [run.reached_s, slice_s, rules.duration_s, rules.slice_length_s].map(duration);
    let in_slices = match slice_s {
        0 => String::new(),
        _ => format!(", judged in slices of {in_slices}"),
    };
    Some(format!(
        "the test ran {ran}{in_slices}; a verdict needs {required}, judged in slices of {in_required_slices}"
    ))
}

/// Return a duration in the largest unit that divides it: `24 hours`, `1 minute`, `10 s`.
fn duration(seconds: u64) -> String {
    match seconds {
        1.. if seconds.is_multiple_of(3600) => counted(seconds / 3600, "hour"),
        1.. if seconds.is_multiple_of(60) => counted(seconds / 60, "minute"),
        _ => format!("{seconds} s"),
    }
}

fn ratio_differs(run: &Run, rules: &Rules) -> Option<String> {
    let Some((reads, writes)) = run.rates_per_s.filter(|(reads, writes)| reads + writes > 0) else {
        return Some("the log does not state the requested reads and writes per second, whose ratio the profile requires".to_owned());
    };
    let (reads, all) = (u128::from(reads), u128::from(reads) + u128::from(writes));
    let (wanted, tolerance) = (rules.reads_pct, rules.ratio_tolerance_points);
    let scale = u128::from(wanted.scale()) * u128::from(tolerance.scale());
    let found = reads * 100 * scale;
    let middle = u128::from(wanted.digits()) * u128::from(tolerance.scale()) * all;
    let allowed = u128::from(tolerance.digits()) * u128::from(wanted.scale()) * all;
    if found.abs_diff(middle) <= allowed {
        return None;
    }
    let pct = reads as f64 * 100.0 / all as f64;
    Some(format!(
        "{pct:.1} % of all requests are reads; the profile requires {wanted} %, with a tolerance of {tolerance} % of all requests"
    ))
}

fn objects_differ(run: &Run, rules: &Rules) -> Option<String> {
    let required = rules.object_bytes;
    let Some((least, most)) = run.record_bytes.zip(run.record_bytes_max) else {
        return Some(format!(
            "the log does not state the object size; the profile requires {required} bytes"
        ));
    };
    let sizes = if least == most {
        least.to_string()
    } else {
        format!("{least} to {most}")
    };
    let is_same = least == required && most == required;
    (!is_same)
        .then(|| format!("the objects have {sizes} bytes; the profile requires objects of {required} bytes"))
}
