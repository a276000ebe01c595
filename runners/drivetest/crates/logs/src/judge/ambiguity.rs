//! Findings about verdicts that depend on rounding, on the bucket edges of a log, or on the histograms of its devices.

use crate::act::blocks::histogram::{Counts, Tally};
use crate::act::run::{Histogram, Run};
use crate::act::semantics::Role;
use crate::act::slices::Slice;
use crate::finding::{Finding, rule};
use crate::judge::decimal::Decimal;
use crate::judge::verdict::{Outcome, time, when};
use crate::judge::views::{LimitEdge, Part, pairs};

/// Return a finding for a slice in which the rounded percentage and the counts disagree about a limit.
pub fn rounding(limit_edge: &LimitEdge<'_>, part: &Part<'_>) -> Option<Finding> {
    let limit_pct = limit_edge.limit.limit_pct;
    let found = limit_edge.edge.over(part.tally);
    let printed = Decimal::parse(&found.printed())?;
    if printed.is_above(limit_pct) != found.is_within(limit_pct) {
        return None;
    }
    let relation = if found.is_within(limit_pct) {
        "within"
    } else {
        "over"
    };
    let sentence = format!(
        "{}: {} of {} is {} % rounded; by the counts, the share is {relation} the limit of {limit_pct} %",
        place(limit_edge, part),
        found.over_count,
        found.ops_count,
        found.printed()
    );
    Some(rule::ROUNDING_DECIDES.at(None, sentence))
}

/// Return a finding if a microsecond log passes at 1024 us and could fail at 1000 us.
pub fn edges(limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>], outcome: Outcome) -> Option<Finding> {
    if !matches!(outcome, Outcome::Pass | Outcome::Undecided) {
        return None;
    }
    let (limit_edge, part) = pairs(limit_edges, parts).find(|(limit_edge, part)| {
        let most = limit_edge.edge.at_most(part.tally);
        !most.is_within(limit_edge.limit.limit_pct)
    })?;
    let (at_least, at_most) = limit_edge.shares(part.tally);
    let sentence = format!(
        "{}: the nearest bucket edge of the log is {} us; the share is between {} % and {} %",
        place(limit_edge, part),
        limit_edge.edge.read_at_us,
        at_least.printed(),
        at_most.printed()
    );
    Some(rule::EDGE_DECIDES.at(None, sentence))
}

/// Return `slice 2 (10-20 s), reads over 64 ms`.
fn place(limit_edge: &LimitEdge<'_>, part: &Part<'_>) -> String {
    let slice = part.slice;
    let (when, time) = (
        when(slice.start_s, slice.end_s),
        time(limit_edge.limit.threshold_us),
    );
    format!("slice {} ({when}), reads over {time}", slice.number)
}

/// Return a finding for the first slice whose device histograms exceed a limit that the total meets.
///
/// Both count the same reads, so this happens only if the devices do not add up to the total.
pub fn devices_over_limit(run: &Run, limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>]) -> Option<Finding> {
    let is_of_device_sums = |finding: &Finding| finding.id == rule::DEVICE_SUMS_DIFFER.id;
    if !run.findings.iter().any(is_of_device_sums) {
        return None;
    }
    let is_of_device = |histogram: &&Histogram| histogram.meaning.role == Role::ReadsOfDevice;
    let of_devices = run.histograms.iter().filter(is_of_device);
    let of_devices: Vec<usize> = of_devices.map(|histogram| histogram.ordinal).collect();
    parts.iter().find_map(|part| {
        let devices = together(part.slice, &of_devices)?;
        let mut limit_edges = limit_edges.iter();
        limit_edges.find_map(|limit_edge| exceeded(limit_edge, part, &devices, of_devices.len()))
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
        let (place, total, sum) = (place(limit_edge, part), of_all.printed(), of_devices.shown_over(limit_pct));
        let sentence = format!(
            "{place}: {total} % in the total, {sum} % in the {devices_count} devices together; the limit is {limit_pct} %"
        );
        rule::DEVICES_OVER_LIMIT.at(None, sentence)
    })
}

fn together(slice: &Slice, of_devices: &[usize]) -> Option<Tally> {
    let mut sums = Counts::default();
    for &ordinal in of_devices {
        for (bucket, count) in slice.tally(ordinal)?.counts().iter().enumerate() {
            sums.set(bucket, sums.at(bucket).checked_add(*count)?);
        }
    }
    Tally::of(&sums)
}
