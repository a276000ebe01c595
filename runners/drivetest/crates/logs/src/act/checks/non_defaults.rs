//! Settings other than ACT's defaults, which make a run incomparable with others.

use crate::act::checks::{is_set, whole};
use crate::act::run::Run;
use crate::finding::{Finding, rule};

/// Default of `defrag-lwm-pct`.
const DEFRAG_LWM_PCT: u64 = 50;

/// Return the findings about the settings.
pub fn of_run(run: &Run) -> Vec<Finding> {
    let line = run.first_line;
    let commits = is_set(run, "commit-to-device").then(|| {
        rule::COMMIT_TO_DEVICE.at(
            line,
            "commit-to-device is yes: every record is written separately",
        )
    });
    let tomb_raider = is_set(run, "tomb-raider").then(|| {
        rule::TOMB_RAIDER.at(
            line,
            "tomb-raider is yes: each device is also read sequentially; no histogram counts these reads",
        )
    });
    [defrag(run), commits, tomb_raider, copies(run), updates(run)]
        .into_iter()
        .flatten()
        .collect()
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
    let counted = if whole(run, "read-reqs-per-sec") == Some(0) && run.origin.generator == "act" {
        "in no histogram"
    } else {
        "counted in 'reads'"
    };
    let sentence = format!(
        "update-pct: expected the default, 0; got {pct}: of 100 writes, {pct} read their record first, {counted}"
    );
    Some(rule::UPDATES_READ.at(run.first_line, sentence))
}
