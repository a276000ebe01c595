//! Checks on the header and the figures of a whole run.

mod consistency;
pub mod device_names;
mod load;

use crate::act::grammar::family::Family;
use crate::act::header::settings;
use crate::act::run::{Histogram, Run};
use crate::act::semantics::Role;
use crate::finding::Finding;

/// Return the findings of all checks; `requested_slice_s` is the slice length before rounding to whole intervals.
pub fn of_run(run: &Run, requested_slice_s: u64) -> Vec<Finding> {
    let mut found = load::non_defaults(run);
    found.extend(load::bursts(run));
    found.extend(load::cache_load(run));
    found.extend(device_names::duplicates(run));
    found.extend(device_names::virtual_devices(run));
    found.extend(load::derived_values(run));
    found.extend(consistency::of_run(run));
    found.extend(consistency::coverage(run, requested_slice_s));
    found
}

/// Return the operations of a run, each counted once; `None` without histograms.
///
/// With queues, a read is in `reads` and in `device-reads`; and always in the histogram of its device.
pub fn ops_count(histograms: &[Histogram]) -> Option<u64> {
    let of = |role: Role| histograms.iter().find(|histogram| histogram.meaning.role == role);
    let either = |device: Role, plain: Role| of(device).or_else(|| of(plain));
    let wholes = [
        either(Role::DeviceReads, Role::Reads),
        either(Role::DeviceWrites, Role::Writes),
        of(Role::LargeBlockReads),
        of(Role::LargeBlockWrites),
    ];
    let counts = wholes
        .iter()
        .flatten()
        .map(|histogram| histogram.tally.ops_count());
    counts.reduce(u64::saturating_add)
}

/// Return a setting as a whole number; `None` if it is not set or not a number.
fn whole(run: &Run, key: &str) -> Option<u64> {
    settings::whole(run.setting(key)?)
}

/// Return whether a setting is `yes`.
fn is_set(run: &Run, key: &str) -> bool {
    run.setting(key).is_some_and(|value| value.starts_with('y'))
}

/// Return whether requests wait for a thread before they are issued, as in 6.x, which has no queues.
fn is_closed_loop(run: &Run) -> bool {
    run.origin.generator == "act" && run.origin.family == Some(Family::C)
}
