//! Finding for device histograms that exceed a limit that the total meets, although both count the same reads.

use crate::act::blocks::histogram::{BUCKETS_COUNT, Counts, Tally};
use crate::act::run::Run;
use crate::act::semantics::Role;
use crate::act::slices::Slice;
use crate::finding::{Finding, rule};
use crate::judge::verdict::{time, when};
use crate::judge::views::{LimitEdge, Part};

/// Return a finding for the first such slice, only if the devices do not add up to the total.
pub fn over_limit(run: &Run, limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>]) -> Option<Finding> {
    let is_of_device_sums = |finding: &Finding| finding.id == rule::DEVICE_SUMS_DIFFER.id;
    if !run.findings.iter().any(is_of_device_sums) {
        return None;
    }
    let of_devices: Vec<usize> = run
        .histograms
        .iter()
        .filter(|histogram| histogram.meaning.role == Role::ReadsOfDevice)
        .map(|histogram| histogram.ordinal)
        .collect();
    parts.iter().find_map(|part| {
        let slice = run.slices.iter().find(|slice| slice.number == part.slice.0)?;
        let devices = together(slice, &of_devices)?;
        limit_edges
            .iter()
            .find_map(|limit_edge| exceeded(limit_edge, part, &devices, of_devices.len()))
    })
}

fn exceeded(
    limit_edge: &LimitEdge<'_>,
    part: &Part<'_>,
    devices: &Tally,
    devices_count: usize,
) -> Option<Finding> {
    let limit_pct = limit_edge.limit.limit_pct;
    let (of_all, of_devices) = (limit_edge.edge.over(part.tally), limit_edge.edge.over(devices));
    let is_passed = of_all.is_within(limit_pct) && !of_devices.is_within(limit_pct);
    is_passed.then(|| {
        let (number, start_s, end_s) = part.slice;
        let sentence = format!(
            "slice {number} ({}), reads over {}: {} % in the total, {} % in the {devices_count} devices together; the limit \
             is {limit_pct} %",
            when(start_s, end_s),
            time(limit_edge.limit.threshold_us),
            of_all.printed(),
            of_devices.shown_over(limit_pct),
        );
        rule::DEVICES_OVER_LIMIT.at(None, sentence)
    })
}

fn together(slice: &Slice, of_devices: &[usize]) -> Option<Tally> {
    let mut sums = [0_u64; BUCKETS_COUNT];
    for &ordinal in of_devices {
        for (sum, count) in sums.iter_mut().zip(slice.tally(ordinal)?.counts()) {
            *sum = sum.checked_add(*count)?;
        }
    }
    let mut counts = Counts::default();
    sums.iter()
        .enumerate()
        .for_each(|(bucket, &count)| counts.set(bucket, count));
    Tally::of(&counts)
}
