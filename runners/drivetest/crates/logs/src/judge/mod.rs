//! Judgement of a run with a profile: shares of reads in every slice are compared with limits, in integers.

pub mod ambiguity;
pub mod decimal;

pub mod bucket_edges;
pub mod headline;
pub mod margin;
pub mod profile;
pub mod reasons;
pub mod share;
pub mod verdict;
pub mod views;

use crate::act::blocks::histogram::Tally;
use crate::act::run::Run;
use crate::act::semantics::{self, Edges, judged};
use crate::finding::{Finding, Findings};
use crate::judge::bucket_edges::Edge;
use crate::judge::headline::headline;
use crate::judge::margin::Margin;
use crate::judge::profile::{Limit, Profile};
use crate::judge::reasons::Reasons;
use crate::judge::share::Share;
use crate::judge::verdict::{Strict, Verdict, Violation, read_at};
use crate::judge::views::{LimitEdge, Part, pairs};

/// Judge a run, and store the verdict in it.
pub fn apply(run: &mut Run, profile: &Profile) {
    let (verdict, findings) = judge(run, profile);
    run.findings.extend(findings);
    run.verdict = Some(verdict);
}

/// Judge a run by its reads ("latency requirements of read operations"); return the verdict and the findings about it.
pub fn judge(run: &Run, profile: &Profile) -> (Verdict, Vec<Finding>) {
    let rules = &profile.rules;
    let reads = judged(run);
    let limit_edges = limit_edges(run, &rules.limits);
    let parts = views::parts(run, reads);
    let violations = violations(&limit_edges, &parts);
    let mut differences = reasons::differences(run, rules, limit_edges.len());
    differences.extend(ambiguity::devices_over_limit(run, &limit_edges, &parts));
    let reasons = Reasons::of(run, &differences);
    let strict = strict(&limit_edges, &parts, &reasons);
    let outcome = strict.least;
    // A log of many slices may have a rounding finding for each of them: the limit per rule applies.
    let ambiguous =
        pairs(&limit_edges, &parts).filter_map(|(limit_edge, part)| ambiguity::rounding(limit_edge, part));
    let ambiguous = Findings::bounded(ambiguous.chain(ambiguity::edges(&limit_edges, &parts, outcome)));
    let shares = views::shares(&limit_edges, &parts, reads);
    let verdict = Verdict {
        outcome,
        profile: profile.name(),
        headline: headline(outcome, &violations, &shares, &reasons, run),
        histogram: reads.map_or_else(|| semantics::READS.to_owned(), |histogram| histogram.name.clone()),
        time: reads.and_then(|histogram| histogram.meaning.time),
        read_at: read_at(&limit_edges),
        margin: Margin::of(&limit_edges, &parts),
        strict,
        steady_state: views::steady_state(&limit_edges, &parts, rules),
        compared: views::comparison(run, &limit_edges),
        exact: views::exact(run, &rules.limits),
        shares,
        violations,
        reasons: reasons.all(),
    };
    (verdict, [differences, ambiguous].concat())
}

fn limit_edges<'a>(run: &Run, limits: &'a [Limit]) -> Vec<LimitEdge<'a>> {
    let edges = judged(run).map_or(Edges::default(), |histogram| histogram.meaning.edges);
    let limit_edge = |limit: &'a Limit| {
        let edge = Edge::of(limit.threshold_us, run.unit, edges)?;
        Some(LimitEdge { limit, edge })
    };
    limits.iter().filter_map(limit_edge).collect()
}

/// Return the outcomes for the minimum and for the maximum share over each threshold.
fn strict(limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>], reasons: &Reasons) -> Strict {
    let is_over = |share_of: fn(Edge, &Tally) -> Share| {
        let mut shares =
            pairs(limit_edges, parts).map(|(at, part)| (at.limit, share_of(at.edge, part.tally)));
        shares.any(|(limit, share)| !share.is_within(limit.limit_pct))
    };
    Strict {
        least: reasons.outcome(is_over(Edge::over)),
        most: reasons.outcome(is_over(Edge::at_most)),
    }
}

fn violations(limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>]) -> Vec<Violation> {
    let all = pairs(limit_edges, parts);
    let over = all.filter_map(|(limit_edge, part)| violation(limit_edge, part));
    let mut violations: Vec<Violation> = over.collect();
    let excess = |one: &Violation| one.share().excess(one.limit_pct).unwrap_or(f64::INFINITY);
    violations.sort_by(|one, two| {
        let by_share = || two.share().compare(one.share());
        let by_place = || (one.slice, one.threshold_us).cmp(&(two.slice, two.threshold_us));
        let by_excess = excess(two).total_cmp(&excess(one));
        by_excess.then_with(by_share).then_with(by_place)
    });
    violations
}

fn violation(limit_edge: &LimitEdge<'_>, part: &Part<'_>) -> Option<Violation> {
    let (slice, limit, found) = (part.slice, limit_edge.limit, limit_edge.edge.over(part.tally));
    let is_over = !found.is_within(limit.limit_pct);
    is_over.then(|| Violation {
        slice: slice.number,
        threshold_us: limit.threshold_us,
        read_at_us: limit_edge.edge.read_at_us,
        share_pct: found.printed(),
        limit_pct: limit.limit_pct,
        over_count: found.over_count,
        ops_count: found.ops_count,
        excess_ratio: found.excess(limit.limit_pct).map(|ratio| format!("{ratio:.2}")),
        start_s: slice.start_s,
        end_s: slice.end_s,
    })
}
