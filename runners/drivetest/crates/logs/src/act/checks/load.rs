//! The requested load: settings other than ACT's defaults, derived values that must follow from configured values, and
//! the distribution of requests over time and devices.

use crate::act::checks::{is_closed_loop, is_set, whole};
use crate::act::header::split_names;
use crate::act::run::Run;
use crate::finding::{Finding, Rule, rule};

/// Default of `defrag-lwm-pct`.
const DEFRAG_LWM_PCT: u64 = 50;

/// Return the findings about the settings.
pub fn non_defaults(run: &Run) -> Vec<Finding> {
    let when_set =
        |key: &str, rule: Rule, sentence: &str| is_set(run, key).then(|| rule.at(run.first_line, sentence));
    let sentence = "commit-to-device is yes: every record is written separately";
    let commits = when_set("commit-to-device", rule::COMMIT_TO_DEVICE, sentence);
    let sentence =
        "tomb-raider is yes: each device is also read sequentially; no histogram counts these reads";
    let tomb_raider = when_set("tomb-raider", rule::TOMB_RAIDER, sentence);
    let found = [defrag(run), commits, tomb_raider, copies(run), updates(run)];
    found.into_iter().flatten().collect()
}

/// Check `defrag-lwm-pct` above the default. Below it the load is lighter, which `lighter-load` reports.
///
/// Source: aerospike/act, src/storage/cfg_storage.c: amplification is 100 / (100 - defrag-lwm-pct).
fn defrag(run: &Run) -> Option<Finding> {
    let pct = whole(run, "defrag-lwm-pct").filter(|&pct| pct > DEFRAG_LWM_PCT && pct < 100)?;
    let times = 100.0 / (100 - pct) as f64;
    let sentence = format!(
        "defrag-lwm-pct: expected the default, {DEFRAG_LWM_PCT}; got {pct}: each block is written {times:.2} times instead of 2"
    );
    Some(rule::DEFRAG_CHANGED.at(run.first_line, sentence))
}

fn copies(run: &Run) -> Option<Finding> {
    let factor = whole(run, "replication-factor").filter(|&factor| factor != 1)?;
    let sentence = format!(
        "replication-factor: expected the default, 1; got {factor}: each write is issued {factor} times"
    );
    Some(rule::REPLICATION_CHANGED.at(run.first_line, sentence))
}

fn updates(run: &Run) -> Option<Finding> {
    let pct = whole(run, "update-pct").filter(|&pct| pct > 0)?;
    // drivetest counts every read of an update; upstream has no such histogram without requested reads.
    let counted = match whole(run, "read-reqs-per-sec") {
        Some(0) if run.origin.generator == "act" => "counted in no histogram",
        _ => "counted in 'reads'",
    };
    let sentence = format!(
        "update-pct: expected the default, 0; got {pct}: {pct} of 100 writes first read their record; these reads are {counted}"
    );
    Some(rule::UPDATES_READ.at(run.first_line, sentence))
}

/// Threads per device without a measured effect: on a slow disk at 1,000 reads/s, 10 threads gave 0.2 % over 1.024 ms
/// and 64 gave 40.5 % (tests/data/act/6.6/burst-cmp-disk-t10.log and -t64.log).
const THREADS_PER_DEVICE: u64 = 10;

/// Return a finding if many threads issue together.
///
/// Source: aerospike/act 6.6, src/storage/act_storage.c, run_service(): every thread counts its due times from
/// `g_run_start_us`, with the same whole number of requests per second.
pub fn bursts(run: &Run) -> Option<Finding> {
    let threads = whole(run, "service-threads").filter(|_| is_closed_loop(run))?;
    let devices = run.device_count?;
    if threads <= devices.checked_mul(THREADS_PER_DEVICE)? {
        return None;
    }
    let each_per_s = requests_per_s(run)?.checked_div(threads)?;
    if each_per_s == 0 {
        return None;
    }
    let sentence = format!(
        "{threads} service-threads issue together, {each_per_s} times per second (every {:.2} ms), {} per device on average: \
         requests behind a burst appear slow, and the number of threads depends on the host's processors",
        1000.0 / each_per_s as f64,
        threads / devices
    );
    Some(rule::LOCKSTEP_BURSTS.at(run.first_line, sentence))
}

fn requests_per_s(run: &Run) -> Option<u64> {
    let writes = whole(run, "internal-write-reqs-per-sec").unwrap_or(0);
    let all = whole(run, "internal-read-reqs-per-sec").and_then(|reads| reads.checked_add(writes));
    all.or_else(|| whole(run, "service-thread-reads-per-sec"))
}

/// Return a finding if there are several devices.
///
/// Source: aerospike/act 5.0 to 6.6, src/index/act_index.c, run_cache_simulation(): `target_factor` holds
/// `num_devices`, though every thread chooses among all devices. tests/data/act/6.6/index-four-ms-int5.log: 80,000 writes
/// in 40 s although 320,000 were requested.
pub fn cache_load(run: &Run) -> Option<Finding> {
    let requested_per_s = whole(run, "cache-thread-reads-and-writes-per-sec").filter(|&rate| rate > 0)?;
    let devices = run.device_count.filter(|&devices| devices > 1)?;
    let sentence = format!(
        "cache-thread-reads-and-writes-per-sec: {requested_per_s} are requested of all {devices} devices; the program divides \
         them by the number of devices and issues {}",
        requested_per_s / devices
    );
    (run.origin.generator == "act").then(|| rule::CACHE_LOAD_DIVIDED.at(run.first_line, sentence))
}

/// Rates are printed with two decimals; half of the last, and as much for arithmetic in another order.
const PRINTED_ERROR: f64 = 0.011;
/// Allowed relative difference: counting the bytes of a block instead of whole records, as ACT does, gives 0.4 % less.
const SLACK_RATIO: f64 = 0.01;

/// Return the findings about inconsistent values.
pub fn derived_values(run: &Run) -> Vec<Finding> {
    let blocks = ["reads", "writes"].map(|kind| large_blocks(run, kind));
    let sentences = [devices(run), reads(run)].into_iter().chain(blocks).flatten();
    let findings = sentences.map(|sentence| rule::HEADER_DIFFERS.at(run.first_line, sentence));
    findings.collect()
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
    let derived = match is_off {
        true => 0.0,
        false => derived_blocks_per_s(run, kind == "writes")?,
    };
    let found: f64 = printed.parse().ok()?;
    let differs = (found - derived).abs() > PRINTED_ERROR + derived * SLACK_RATIO;
    differs.then(|| format!("{key}: expected {derived:.2}, from the configured writes; got {printed}"))
}

fn derived_blocks_per_s(run: &Run, are_writes: bool) -> Option<f64> {
    let (least, most) = run.setting("record-stored-bytes")?.split_once(" ... ")?;
    let stored: u64 = least.parse().ok().filter(|_| least == most)?;
    let records = (whole(run, "large-block-op-kbytes")?
        .checked_mul(1024)?
        .checked_div(stored)?) as f64;
    let written = (whole(run, "write-reqs-per-sec")? as f64) * (whole(run, "replication-factor")? as f64);
    let amplification = 100.0 / (100.0 - whole(run, "defrag-lwm-pct").filter(|&pct| pct < 100)? as f64);
    if records < 1.0 {
        return None;
    }
    let of_commits = u8::from(is_set(run, "commit-to-device") && are_writes);
    Some(written / records * (amplification - f64::from(of_commits)))
}
