//! The verdict on a run (pass, fail, undecided, void): the shares of reads in every slice are compared with the limits of a
//! profile, in integers. `reasons` makes a cut or damaged run void, and leaves a run undecided that is shorter than the
//! profile demands. `act::stop` determines how a run ended.

pub mod decimal;

pub mod bucket_edges;
pub mod margin;
pub mod profile;
pub mod reasons;
pub mod share;
pub mod verdict;
pub mod views;

use crate::act::blocks::histogram::{Counts, Tally};
use crate::act::run::{Histogram, Run};
use crate::act::semantics::{self, Edges, Role, judged};
use crate::act::slices::Slice;
use crate::act::stop::StopKind;
use crate::finding::{Finding, Findings, counted, rule};
use crate::judge::bucket_edges::Edge;
use crate::judge::decimal::Decimal;
use crate::judge::margin::Margin;
use crate::judge::profile::{Limit, Profile};
use crate::judge::reasons::Reasons;
use crate::judge::share::Share;
use crate::judge::verdict::{
    FoundShare, Outcome, Statistic, Strict, Verdict, Violation, listed, read_at, time, when,
};
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
    differences.extend(devices_over_limit(run, &limit_edges, &parts));
    let reasons = Reasons::of(run, &differences);
    let strict = strict(&limit_edges, &parts, &reasons);
    let outcome = strict.least;
    // A log of many slices may have a rounding finding for each of them: the limit per rule applies.
    let ambiguous =
        pairs(&limit_edges, &parts).filter_map(|(limit_edge, part)| rounding_decides(limit_edge, part));
    let ambiguous = Findings::bounded(ambiguous.chain(edge_decides(&limit_edges, &parts, outcome)));
    let shares = views::shares(&limit_edges, &parts, reads);
    let verdict = Verdict {
        outcome,
        profile: profile.name(),
        headline: headline(&strict, &violations, &shares, &reasons, run),
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

/// Return a verdict in one sentence. The register finds the shares of `passes: at most ...` and `fails: slice ...` in it by
/// their text.
fn headline(
    strict: &Strict,
    violations: &[Violation],
    shares: &[FoundShare],
    reasons: &Reasons,
    run: &Run,
) -> String {
    let may_fail = strict.most == Outcome::Fail;
    match strict.least {
        Outcome::Pass => format!("passes: {} in {}", at_most(shares), slices_text(run)),
        Outcome::Fail => failed(violations, reasons, run),
        Outcome::Undecided if shares.is_empty() => format!("undecided: {}", first_of(&reasons.undecided)),
        Outcome::Undecided => undecided(shares, run, &first_of(&reasons.undecided), may_fail),
        Outcome::Void if reasons.untrusted.is_empty() => format!("void: {}", first_of(&reasons.incomplete)),
        Outcome::Void => format!("void: {}", first_of(&reasons.untrusted)),
    }
}

/// Return the headline of a run without a complete slice over a limit; the whole run may still be over it, because of
/// an incomplete slice. `may_fail` means that a slice may be over a limit by the buckets of the log.
fn undecided(shares: &[FoundShare], run: &Run, reason: &str, may_fail: bool) -> String {
    let over = |share: &&FoundShare| share.statistic == Statistic::Overall && !share.within;
    let over: Vec<String> = shares.iter().filter(over).map(excess_text).collect();
    let over = listed(&over);
    match (over.is_empty(), run.slices.is_empty()) {
        (true, _) if may_fail => format!("undecided: no limit is surely exceeded, but {reason}"),
        (true, _) => format!("undecided: no limit is exceeded, but {reason}"),
        (false, false) => {
            format!(
                "undecided: no complete slice exceeds a limit, but the whole run has {over}; also, {reason}"
            )
        }
        (false, true) => {
            format!("undecided: the log has no complete slice; the whole run has {over}; also, {reason}")
        }
    }
}

/// Return `5.77 % of reads over 1 ms (limit 5 %)`.
fn excess_text(found: &FoundShare) -> String {
    let share = Share {
        over_count: found.over_count,
        ops_count: found.ops_count,
    };
    let (pct, limit_pct) = (share.shown_over(found.limit_pct), found.limit_pct);
    format!(
        "{pct} % of reads over {} (limit {limit_pct} %)",
        time(found.threshold_us)
    )
}

fn first_of(reasons: &[String]) -> String {
    match reasons {
        [] => String::new(),
        [first] => first.clone(),
        [first, _] => format!("{first} (and 1 more reason)"),
        [first, others @ ..] => format!("{first} (and {} more reasons)", others.len()),
    }
}

fn at_most(shares: &[FoundShare]) -> String {
    let worst = shares
        .iter()
        .filter(|share| share.statistic == Statistic::WorstSlice);
    let parts = worst.map(|share| format!("{} % over {}", share.share_pct, time(share.threshold_us)));
    format!("at most {} of reads", listed(&parts.collect::<Vec<_>>()))
}

fn slices_text(run: &Run) -> String {
    let (slices, length_s) = (
        counted(run.slices.len() as u64, "slice"),
        run.slice_length_s.unwrap_or(0),
    );
    format!("{slices} of {length_s} s")
}

fn failed(violations: &[Violation], reasons: &Reasons, run: &Run) -> String {
    let stopped = reasons
        .failed
        .first()
        .filter(|_| run.stop.kind == StopKind::Overload);
    let host = host_text(run);
    let Some(first) = violations.first() else {
        let reason = stopped.cloned().unwrap_or_default();
        return format!("fails: could not keep up; {reason}{host}");
    };
    let mut others: Vec<u64> = violations.iter().map(|other| other.threshold_us).collect();
    others.sort_unstable();
    others.dedup();
    others.retain(|&threshold_us| threshold_us != first.threshold_us);
    let others: Vec<String> = others.into_iter().map(time).collect();
    let also = match others.is_empty() {
        true => String::new(),
        false => format!("; also over {}", listed(&others)),
    };
    let stopped = stopped.map_or("", |_| "; and could not keep up");
    format!("fails: {}{also}{stopped}{host}", first.sentence())
}

/// Return a note if the side file shows that the host may be the cause: the figures are correct, but may not be due to
/// the drive.
fn host_text(run: &Run) -> String {
    let causes = run.side_file.iter().flat_map(|side_file| &side_file.host_causes);
    let ids: Vec<String> = causes.map(|&id| id.to_owned()).collect();
    match ids.is_empty() {
        true => String::new(),
        false => format!("; the host may be the cause: {}", listed(&ids)),
    }
}

/// Return a finding for a slice in which the rounded percentage and the counts disagree about a limit.
fn rounding_decides(limit_edge: &LimitEdge<'_>, part: &Part<'_>) -> Option<Finding> {
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
fn edge_decides(limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>], outcome: Outcome) -> Option<Finding> {
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
        at_most.shown_over(limit_edge.limit.limit_pct)
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
fn devices_over_limit(run: &Run, limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>]) -> Option<Finding> {
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
