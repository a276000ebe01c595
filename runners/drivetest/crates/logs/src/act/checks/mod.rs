//! What a run's header and figures say once all of it was read, each question in a module of its own.

pub mod bursts;
pub mod cache_load;
pub mod consistency;
pub mod coverage;
pub mod duplicate_devices;
pub mod header;
pub mod non_defaults;
pub mod virtual_devices;

use crate::act::grammar::family::Family;
use crate::act::header::settings;
use crate::act::run::{Histogram, Run};
use crate::act::semantics::Role;
use crate::finding::Finding;

/// All that is found; `requested_slice_s` is the length of a slice before it was rounded to whole intervals.
pub fn of_run(run: &Run, requested_slice_s: u64) -> Vec<Finding> {
    let mut found = non_defaults::of_run(run);
    found.extend(bursts::of_run(run));
    found.extend(cache_load::of_run(run));
    found.extend(duplicate_devices::of_run(run));
    found.extend(virtual_devices::by_name(run));
    found.extend(header::of_run(run));
    found.extend(consistency::of_run(run));
    found.extend(coverage::of_run(run, requested_slice_s));
    found
}

/// Operations of a run, each counted once: with queues a read is in `reads` and in `device-reads`, and always in its
/// device's. None where there are none, or more than a number holds.
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
        .into_iter()
        .flatten()
        .map(|histogram| histogram.tally.ops_count());
    counts.reduce(u64::saturating_add)
}

/// A setting as a whole number, None where it is not given or none.
fn whole(run: &Run, key: &str) -> Option<u64> {
    settings::whole(run.setting(key)?)
}

/// Whether a setting is `yes`.
fn is_set(run: &Run, key: &str) -> bool {
    run.setting(key).is_some_and(|value| value.starts_with('y'))
}

/// Whether requests wait for a thread before they are made, as in 6.x: no queue stands between.
fn is_closed_loop(run: &Run) -> bool {
    run.origin.generator == "act" && run.origin.family == Some(Family::C)
}
