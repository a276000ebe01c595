//! Judges a run under a profile: shares of reads in every slice against limits, on whole numbers.

pub mod ambiguity;
pub mod decimal;

pub mod bucket_edges;
pub mod exact_counts;
pub mod headline;
pub mod margin;
pub mod per_device;
pub mod profile;
pub mod reasons;
pub mod share;
pub mod verdict;
pub mod views;

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
use crate::judge::views::{Ask, Part};

/// Judges a run and keeps the verdict with it.
pub fn apply(run: &mut Run, profile: &Profile) {
    let (verdict, findings) = judge(run, profile);
    run.findings.extend(findings);
    run.verdict = Some(verdict);
}

/// Judges a run by its reads ("latency requirements of read operations"), and tells what a reader should know of the judgement.
pub fn judge(run: &Run, profile: &Profile) -> (Verdict, Vec<Finding>) {
    let rules = &profile.rules;
    let reads = judged(run);
    let asks = asks(run, &rules.limits);
    let parts = views::parts(run, reads);
    let violations = violations(&asks, &parts);
    let mut differences = reasons::differences(run, rules, asks.len());
    differences.extend(per_device::over_limit(run, &asks, &parts));
    let reasons = Reasons::of(run, &differences);
    let strict = strict(&asks, &parts, &reasons);
    let outcome = strict.least;
    // A log of many slices may round at each of them: no more are kept than of any other rule.
    let told = asks.iter().flat_map(|ask| ambiguity::rounding(ask, &parts));
    let told = Findings::bounded(told.chain(ambiguity::edges(&asks, &parts, outcome)));
    let shares = views::shares(&asks, &parts, reads);
    let verdict = Verdict {
        outcome,
        profile: profile.name(),
        headline: headline(outcome, &violations, &shares, &reasons, run),
        histogram: reads.map_or_else(|| semantics::READS.to_owned(), |histogram| histogram.name.clone()),
        time: reads.and_then(|histogram| histogram.meaning.time),
        read_at: read_at(asks.iter().map(|ask| (ask.limit.threshold_us, ask.edge))),
        margin: Margin::of(&asks, &parts),
        strict,
        steady_state: views::steady_state(&asks, &parts, rules),
        compared: views::comparison(run, &asks),
        exact: views::exact(run, &rules.limits),
        shares,
        violations,
        reasons: reasons.all(),
    };
    (verdict, [differences, told].concat())
}

fn asks<'a>(run: &Run, limits: &'a [Limit]) -> Vec<Ask<'a>> {
    let edges = judged(run).map_or(Edges::default(), |histogram| histogram.meaning.edges);
    let ask = |limit: &'a Limit| {
        let edge = Edge::of(limit.threshold_us, run.unit, edges)?;
        Some(Ask { limit, edge })
    };
    limits.iter().filter_map(ask).collect()
}

/// What follows from the least that is over each threshold, and from the most that may be.
fn strict(asks: &[Ask<'_>], parts: &[Part<'_>], reasons: &Reasons) -> Strict {
    let is_over = |share: &dyn Fn(&Ask<'_>, &Part<'_>) -> Share| {
        let mut pairs = asks
            .iter()
            .flat_map(|ask| parts.iter().map(move |part| (ask, part)));
        pairs.any(|(ask, part)| !share(ask, part).is_within(ask.limit.limit_pct))
    };
    Strict {
        least: reasons.outcome(is_over(&|ask, part| ask.edge.over(part.tally))),
        most: reasons.outcome(is_over(&|ask, part| ask.edge.at_most(part.tally))),
    }
}

fn violations(asks: &[Ask<'_>], parts: &[Part<'_>]) -> Vec<Violation> {
    let pairs = asks
        .iter()
        .flat_map(|ask| parts.iter().map(move |part| (ask, part)));
    let mut violations: Vec<Violation> = pairs.filter_map(|(ask, part)| violation(ask, part)).collect();
    let excess = |violation: &Violation| {
        violation
            .share()
            .excess(violation.limit_pct)
            .unwrap_or(f64::INFINITY)
    };
    violations.sort_by(|one, two| {
        let by_share = || two.share().compare(one.share());
        let by_place = || (one.slice, one.threshold_us).cmp(&(two.slice, two.threshold_us));
        excess(two)
            .total_cmp(&excess(one))
            .then_with(by_share)
            .then_with(by_place)
    });
    violations
}

fn violation(ask: &Ask<'_>, part: &Part<'_>) -> Option<Violation> {
    let (slice, start_s, end_s) = part.slice;
    let found = ask.edge.over(part.tally);
    if found.is_within(ask.limit.limit_pct) {
        return None;
    }
    Some(Violation {
        slice,
        threshold_us: ask.limit.threshold_us,
        read_at_us: ask.edge.read_at_us,
        share_pct: found.printed(),
        limit_pct: ask.limit.limit_pct,
        over_count: found.over_count,
        ops_count: found.ops_count,
        excess_ratio: found
            .excess(ask.limit.limit_pct)
            .map(|ratio| format!("{ratio:.2}")),
        start_s,
        end_s,
    })
}
