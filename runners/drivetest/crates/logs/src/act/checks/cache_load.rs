//! The load of the cache threads of `act_index`, which reaches several devices only in part.

use crate::act::checks::whole;
use crate::act::run::Run;
use crate::finding::{Finding, rule};

/// What is told where there are several devices.
///
/// Source: aerospike/act 5.0 to 6.6, src/index/act_index.c, run_cache_simulation(): `target_factor` holds
/// `num_devices`, though every thread chooses among all devices. tests/data/act/6.6/index-four-ms-int5.log: 80,000 writes
/// in 40 s where 320,000 were asked.
pub fn of_run(run: &Run) -> Option<Finding> {
    let requested_per_s =
        whole(run, "cache-thread-reads-and-writes-per-sec").filter(|&requested_per_s| requested_per_s > 0)?;
    let devices = run.device_count.filter(|&devices| devices > 1)?;
    let sentence = format!(
        "cache-thread-reads-and-writes-per-sec: {requested_per_s} are asked of all {devices} devices; the program divides them by the \
         devices and makes {}",
        requested_per_s / devices
    );
    (run.origin.generator == "act").then(|| rule::CACHE_LOAD_DIVIDED.at(run.first_line, sentence))
}
