//! What speaks against a pass besides the limits: damage, ends, and differences from what the profile asks.

use crate::act::run::Run;
use crate::act::semantics::judged;
use crate::finding::{Effect, Finding, Rule, rule};
use crate::judge::profile::Rules;
use crate::judge::verdict::{Outcome, when};

/// Settings that change what the drive has to write, where the profile asks for the default, `no`.
const LIGHTER: [(&str, &str); 3] = [
    ("no-defrag-reads", "there were no large-block reads"),
    ("disable-odsync", "writes may be buffered by the drive"),
    (
        "commit-to-device",
        "records were written one by one, not in large blocks",
    ),
];
/// What the versions call the large blocks written in a second; 3.0 and 3.1 read as many as they write.
const BLOCK_WRITES_KEYS: [&str; 3] = [
    "large-block-writes-per-sec",
    "large block writes per sec",
    "large block ops per sec",
];
/// The large block of ACT's default, which the profile's write load is counted in.
const LARGE_BLOCK_BYTES: u64 = 128 * 1024;
/// At the default `defrag-lwm-pct` of 50 every block is written twice: once with new records, once by defragmentation.
const WRITES_PER_BLOCK: f64 = 2.0;
/// How far below what the profile asks the large-block writes may lie, as with the rate of reads: one percent.
const BLOCKS_RATIO_MIN: f64 = 0.99;

/// Everything that speaks against a pass besides the limits.
pub struct Reasons {
    /// The counts cannot be believed.
    pub untrusted: Vec<String>,
    /// The run failed for these.
    pub failed: Vec<String>,
    /// Something of the run is not there.
    pub incomplete: Vec<String>,
    /// The run is not what the profile asks.
    pub undecided: Vec<String>,
}

impl Reasons {
    /// Gathers them from what was found in the run, and from where it is not what the profile asks.
    pub fn of(run: &Run, differences: &[Finding]) -> Self {
        let sentences = |effect: Effect| {
            let found = differences.iter().chain(&run.findings);
            found
                .filter(|finding| finding.effect == effect)
                .map(sentence)
                .collect::<Vec<_>>()
        };
        Self {
            untrusted: sentences(Effect::Untrusted),
            failed: sentences(Effect::Fails),
            incomplete: sentences(Effect::Incomplete),
            undecided: sentences(Effect::Undecided),
        }
    }

    /// What follows, where some slice is over a limit or none is.
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

    /// All of them, the weightiest first.
    pub fn all(self) -> Vec<String> {
        [self.untrusted, self.failed, self.incomplete, self.undecided].concat()
    }
}

fn sentence(finding: &Finding) -> String {
    let text = &finding.sentence;
    finding
        .line
        .map_or_else(|| text.clone(), |line| format!("line {line}: {text}"))
}

/// Where the run is not what the profile asks; `readable_limits_count` of its limits can be read in the log.
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
    lighter_settings(run).for_each(|sentence| add(rule::PROFILE_SETTINGS, Some(sentence)));
    add(rule::PROFILE_WRITES, fewer_blocks(run, rules));
    found
}

fn workload_differs(run: &Run) -> Option<String> {
    let workload = run.origin.workload;
    (workload != "act-storage").then(|| format!("the workload is {workload}; the profile is for act-storage"))
}

fn edges_lack(run: &Run, rules: &Rules, readable_limits_count: usize) -> Option<String> {
    let unit = run.unit.name();
    (readable_limits_count < rules.limits.len())
        .then(|| format!("the log counts in {unit} and has no edge for every threshold of the profile"))
}

fn lighter_settings(run: &Run) -> impl Iterator<Item = String> {
    let is_set = |key: &str| {
        run.config
            .iter()
            .any(|(name, value)| name == key && value == "yes")
    };
    let set = LIGHTER.iter().filter(move |(key, _)| is_set(key));
    set.map(|(key, meaning)| format!("{key} is yes: {meaning}; the profile asks for no"))
}

/// Fewer large blocks than the writes make with ACT's defaults: `defrag-lwm-pct` was lowered or blocks enlarged.
fn fewer_blocks(run: &Run, rules: &Rules) -> Option<String> {
    let (_, writes) = run.rates_per_s?;
    let records_per_block = LARGE_BLOCK_BYTES.checked_div(rules.object_bytes)?.max(1);
    let origin = writes as f64 / records_per_block as f64 * WRITES_PER_BLOCK;
    let is_it = |name: &str| BLOCK_WRITES_KEYS.contains(&name);
    let printed = run.derived.iter().find(|(name, _)| is_it(name))?.1.as_str();
    let found: f64 = printed.parse().ok()?;
    (found < origin * BLOCKS_RATIO_MIN).then(|| {
        format!(
            "{printed} large blocks are written per second; the profile asks {origin:.2} for {writes} writes"
        )
    })
}

fn without_reads(run: &Run) -> Option<String> {
    let Some(reads) = judged(run) else {
        return Some("the log has no histogram of reads, which is what the profile limits".to_owned());
    };
    let empty = run.slices.iter().find(|slice| {
        slice
            .tally(reads.ordinal)
            .is_some_and(|tally| tally.ops_count() == 0)
    });
    empty.map(|slice| {
        format!(
            "slice {} ({}) holds no reads",
            slice.number,
            when(slice.start_s, slice.end_s)
        )
    })
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
    let (reached_s, required_s, required_slice_s) = (run.reached_s, rules.duration_s, rules.slice_length_s);
    Some(format!(
        "it ran {reached_s} s in slices of {slice_s} s; the profile asks {required_s} s in slices of {required_slice_s} s"
    ))
}

fn ratio_differs(run: &Run, rules: &Rules) -> Option<String> {
    let Some((reads, writes)) = run.rates_per_s.filter(|(reads, writes)| reads + writes > 0) else {
        return Some("the log does not say how many reads and writes were asked".to_owned());
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
        "{pct:.1} % of requests are reads; the profile asks {wanted} % within {tolerance} points"
    ))
}

fn objects_differ(run: &Run, rules: &Rules) -> Option<String> {
    let origin = rules.object_bytes;
    match (run.record_bytes, run.record_bytes_max) {
        (Some(least), Some(most)) if least == origin && most == origin => None,
        (Some(least), Some(most)) if least == most => {
            Some(format!("objects are of {least} bytes; the profile asks {origin}"))
        }
        (Some(least), Some(most)) => Some(format!(
            "objects are of {least} to {most} bytes; the profile asks {origin}"
        )),
        _ => Some(format!(
            "the log does not say how large objects are; the profile asks {origin} bytes"
        )),
    }
}
