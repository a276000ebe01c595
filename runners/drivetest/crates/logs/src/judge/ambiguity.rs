//! Findings about verdicts that depend on rounding or on the bucket edges of a log.

use crate::finding::{Finding, rule};
use crate::judge::decimal::Decimal;
use crate::judge::verdict::{Outcome, time, when};
use crate::judge::views::{LimitEdge, Part};

/// Return findings for slices in which the rounded percentage and the counts disagree about a limit.
pub fn rounding(limit_edge: &LimitEdge<'_>, parts: &[Part<'_>]) -> Vec<Finding> {
    let limit_pct = limit_edge.limit.limit_pct;
    let differ = parts.iter().filter_map(|part| {
        let found = limit_edge.edge.over(part.tally);
        let printed = Decimal::parse(&found.printed())?;
        let sides = (u128::from(printed.digits()), u128::from(printed.scale()));
        let rounded_within =
            sides.0 * u128::from(limit_pct.scale()) <= u128::from(limit_pct.digits()) * sides.1;
        (rounded_within != found.is_within(limit_pct)).then_some((part, found))
    });
    let findings = differ.map(|(part, found)| {
        let (number, start_s, end_s) = part.slice;
        let place = format!("slice {number} ({})", when(start_s, end_s));
        let is_within = if found.is_within(limit_pct) { "within" } else { "over" };
        rule::ROUNDING_DECIDES.at(
            None,
            format!(
                "{place}, reads over {}: {} of {} is {} % rounded; by the counts, the share is {is_within} the limit of {limit_pct} %",
                time(limit_edge.limit.threshold_us), found.over_count, found.ops_count, found.printed()
            ),
        )
    });
    findings.collect()
}

/// Return a finding if a microsecond log passes at 1024 us and could fail at 1000 us.
pub fn edges(limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>], outcome: Outcome) -> Option<Finding> {
    if !matches!(outcome, Outcome::Pass | Outcome::Undecided) {
        return None;
    }
    let mut pairs = limit_edges
        .iter()
        .flat_map(|limit_edge| parts.iter().map(move |part| (limit_edge, part)));
    let (limit_edge, part) = pairs.find(|(limit_edge, part)| {
        !limit_edge
            .edge
            .at_most(part.tally)
            .is_within(limit_edge.limit.limit_pct)
    })?;
    let (number, start_s, end_s) = part.slice;
    let (at_least, at_most) = (
        limit_edge.edge.over(part.tally),
        limit_edge.edge.at_most(part.tally),
    );
    let sentence = format!(
        "slice {number} ({}), reads over {}: the nearest bucket edge of the log is {} us; the share is between {} % and {} %",
        when(start_s, end_s),
        time(limit_edge.limit.threshold_us),
        limit_edge.edge.read_at_us,
        at_least.printed(),
        at_most.printed()
    );
    Some(rule::EDGE_DECIDES.at(None, sentence))
}
