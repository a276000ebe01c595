//! The cache load of `act_index`, of which several devices get only a part.

use crate::act::checks::whole;
use crate::act::run::Run;
use crate::finding::{Finding, rule};

/// Return a finding if there are several devices.
///
/// Source: aerospike/act 5.0 to 6.6, src/index/act_index.c, run_cache_simulation(): `target_factor` holds
/// `num_devices`, though every thread chooses among all devices. tests/data/act/6.6/index-four-ms-int5.log: 80,000 writes
/// in 40 s although 320,000 were requested.
pub fn of_run(run: &Run) -> Option<Finding> {
    let requested_per_s =
        whole(run, "cache-thread-reads-and-writes-per-sec").filter(|&requested_per_s| requested_per_s > 0)?;
    let devices = run.device_count.filter(|&devices| devices > 1)?;
    let sentence = format!(
        "cache-thread-reads-and-writes-per-sec: {requested_per_s} are requested of all {devices} devices; the program divides \
         them by the number of devices and issues {}",
        requested_per_s / devices
    );
    (run.origin.generator == "act").then(|| rule::CACHE_LOAD_DIVIDED.at(run.first_line, sentence))
}
