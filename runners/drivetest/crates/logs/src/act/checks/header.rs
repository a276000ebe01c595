//! Consistency of a header: derived values must follow from configured values.

use crate::act::checks::{is_set, whole};
use crate::act::header::split_names;
use crate::act::run::Run;
use crate::finding::{Finding, rule};

/// Rates are printed with two decimals; half of the last, and as much for arithmetic in another order.
const PRINTED_ERROR: f64 = 0.011;
/// Allowed relative difference: counting the bytes of a block instead of whole records, as ACT does, gives 0.4 % less.
const SLACK_RATIO: f64 = 0.01;

/// Return the findings about inconsistent values.
pub fn of_run(run: &Run) -> Vec<Finding> {
    let sentences = [
        devices(run),
        reads(run),
        large_blocks(run, "reads"),
        large_blocks(run, "writes"),
    ];
    sentences
        .into_iter()
        .flatten()
        .map(|sentence| rule::HEADER_DIFFERS.at(run.first_line, sentence))
        .collect()
}

fn devices(run: &Run) -> Option<String> {
    let named = split_names(run.setting("device-names")?).count() as u64;
    let printed = run.device_count?;
    (named != printed)
        .then(|| format!("num-devices: expected {named}, the number of device-names; got {printed}"))
}

/// Source: aerospike/act, src/storage/cfg_storage.c: internal reads are reads and the reads of updates.
fn reads(run: &Run) -> Option<String> {
    let printed = whole(run, "internal-read-reqs-per-sec")?;
    let updates = whole(run, "write-reqs-per-sec")?.checked_mul(whole(run, "update-pct")?)? / 100;
    let derived = whole(run, "read-reqs-per-sec")?.checked_add(updates)?;
    (derived != printed).then(|| {
        format!("internal-read-reqs-per-sec: expected {derived}, from the configured reads and updates; got {printed}")
    })
}

/// Check the large-block rates for records of one size: for a range, the header does not contain the mean.
///
/// Source: aerospike/act, src/storage/cfg_storage.c: blocks of records, times the amplification by defragmentation.
fn large_blocks(run: &Run, kind: &str) -> Option<String> {
    let key = format!("large-block-{kind}-per-sec");
    let printed = run.setting(&key)?;
    let is_off = kind == "reads" && is_set(run, "no-defrag-reads");
    let derived = if is_off {
        0.0
    } else {
        derived_blocks_per_s(run, kind == "writes")?
    };
    let found: f64 = printed.parse().ok()?;
    let differs = (found - derived).abs() > PRINTED_ERROR + derived * SLACK_RATIO;
    differs.then(|| format!("{key}: expected {derived:.2}, from the configured writes; got {printed}"))
}

fn derived_blocks_per_s(run: &Run, are_writes: bool) -> Option<f64> {
    let (least, most) = run.setting("record-stored-bytes")?.split_once(" ... ")?;
    let stored: u64 = least
        .parse()
        .ok()
        .filter(|stored: &u64| least == most && *stored > 0)?;
    let records = (whole(run, "large-block-op-kbytes")?.checked_mul(1024)? / stored) as f64;
    let written = (whole(run, "write-reqs-per-sec")? as f64) * (whole(run, "replication-factor")? as f64);
    let amplification = 100.0 / (100.0 - whole(run, "defrag-lwm-pct").filter(|&pct| pct < 100)? as f64);
    if records < 1.0 {
        return None;
    }
    let of_commits = if is_set(run, "commit-to-device") && are_writes {
        1.0
    } else {
        0.0
    };
    Some(written / records * (amplification - of_commits))
}
