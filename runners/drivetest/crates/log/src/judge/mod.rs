//! Judges a run under a profile: shares of reads in every slice against limits, on whole numbers.

pub mod decimal;
pub mod headline;
pub mod profile;
pub mod reasons;
pub mod share;
pub mod verdict;

use crate::act::histogram::{Tally, Unit};
use crate::act::meaning::{self, Edges, judged};
use crate::act::run::Run;
use crate::finding::{Finding, Findings, rule};
use crate::judge::decimal::Decimal;
use crate::judge::headline::headline;
use crate::judge::profile::{Limit, Profile};
use crate::judge::reasons::Reasons;
use crate::judge::share::Share;
use crate::judge::verdict::{FoundShare, Outcome, Statistic, Verdict, Violation, time, when};

/// Where a log shows a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    /// Its power of two in the log's unit: what is over it lies in buckets above this one.
    power: u32,
    /// The same for the nearest edge not above the threshold.
    power_below: u32,
    read_at_us: u64,
}

/// One limit and where the log shows it.
struct Ask<'a> {
    limit: &'a Limit,
    edge: Edge,
}

/// A slice's reads.
struct Part<'a> {
    slice: Option<(u64, u64, u64)>,
    tally: &'a Tally,
}

/// Judges a run and keeps the verdict with it.
pub fn apply(run: &mut Run, profile: &Profile) {
    let (verdict, findings) = judge(run, profile);
    run.findings.extend(findings);
    run.verdict = Some(verdict);
}

/// Judges a run by its reads ("latency requirements of read operations"), and tells what a reader should know of the judgement.
pub fn judge(run: &Run, profile: &Profile) -> (Verdict, Vec<Finding>) {
    let rules = &profile.rules;
    let asks = asks(run, &rules.limits);
    let parts = slices_of(run);
    let whole = judged(run).map(|histogram| Part {
        slice: None,
        tally: &histogram.tally,
    });
    let violations = violations(&asks, &parts);
    let reasons = Reasons::of(run, rules, asks.len());
    let outcome = reasons.outcome(!violations.is_empty());
    let shares = asks
        .iter()
        .flat_map(|ask| found_shares(ask, &parts, whole.as_ref()))
        .collect::<Vec<_>>();
    // A log of many slices may round at each of them: no more are kept than of any other rule.
    let told = asks.iter().flat_map(|ask| rounding(ask, &parts));
    let findings = Findings::bounded(told.chain(edges(&asks, &parts, outcome)));
    let headline = headline(outcome, &violations, &shares, &reasons, run);
    let reasons = reasons.all();
    let verdict = Verdict {
        outcome,
        profile: profile.name(),
        headline,
        histogram: judged(run).map_or_else(|| meaning::READS.to_owned(), |histogram| histogram.name.clone()),
        shares,
        violations,
        reasons,
    };
    (verdict, findings)
}

fn asks<'a>(run: &Run, limits: &'a [Limit]) -> Vec<Ask<'a>> {
    let edges = judged(run).map_or(Edges::default(), |histogram| histogram.meaning.edges);
    let ask = |limit: &'a Limit| {
        let edge = edge(limit.threshold_us, run.unit)?.by(edges)?;
        Some(Ask { limit, edge })
    };
    limits.iter().filter_map(ask).collect()
}

impl Edge {
    /// The same edge in buckets of another meaning, None where they have no such edge.
    fn by(self, edges: Edges) -> Option<Self> {
        Some(Self {
            power: edges.bucket_below(self.power)?,
            power_below: edges.bucket_below(self.power_below)?,
            ..self
        })
    }
}

/// The edge that stands for a threshold by ACT's practice, None where the log has none.
///
/// Milliseconds are read at 1024 us in microsecond logs. Source: aerospike/act, README ("1ms ... 1024us").
fn edge(threshold_us: u64, unit: Unit) -> Option<Edge> {
    let power_of = |number: u64| number.is_power_of_two().then(|| number.trailing_zeros());
    let milliseconds = threshold_us
        .is_multiple_of(1000)
        .then_some(threshold_us / 1000)
        .and_then(power_of);
    match (unit, milliseconds) {
        (Unit::Ms, Some(power)) => Some(Edge {
            power,
            power_below: power,
            read_at_us: threshold_us,
        }),
        (Unit::Ms, None) => None,
        (Unit::Us, Some(power)) => {
            let edge = Edge {
                power: power + 10,
                power_below: power + 9,
                read_at_us: 1024 << power,
            };
            Some(edge)
        }
        (Unit::Us, None) => power_of(threshold_us).map(|power| Edge {
            power,
            power_below: power,
            read_at_us: threshold_us,
        }),
    }
}

fn slices_of(run: &Run) -> Vec<Part<'_>> {
    let Some(reads) = judged(run) else {
        return Vec::new();
    };
    let parts = run.slices.iter().filter_map(|slice| {
        let tally = slice.tally(reads.ordinal)?;
        Some(Part {
            slice: Some((slice.number, slice.start_s, slice.end_s)),
            tally,
        })
    });
    parts.collect()
}

fn share(tally: &Tally, power: u32) -> Share {
    Share {
        over_count: tally.over_count(power),
        ops_count: tally.ops_count(),
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
    let (slice, start_s, end_s) = part.slice?;
    let found = share(part.tally, ask.edge.power);
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

fn found_shares(ask: &Ask<'_>, parts: &[Part<'_>], whole: Option<&Part<'_>>) -> Vec<FoundShare> {
    let mut worst: Option<&Part<'_>> = None;
    for part in parts.iter().filter(|part| part.tally.ops_count() > 0) {
        let is_worse = |than: &Part<'_>| {
            share(part.tally, ask.edge.power)
                .compare(share(than.tally, ask.edge.power))
                .is_gt()
        };
        if worst.is_none_or(is_worse) {
            worst = Some(part);
        }
    }
    let whole = whole.filter(|whole| whole.tally.ops_count() > 0);
    let both = [(Statistic::WorstSlice, worst), (Statistic::Overall, whole)];
    both.into_iter()
        .filter_map(|(statistic, part)| Some(found_share(ask, statistic, part?)))
        .collect()
}

fn found_share(ask: &Ask<'_>, statistic: Statistic, part: &Part<'_>) -> FoundShare {
    let found = share(part.tally, ask.edge.power);
    FoundShare {
        statistic,
        threshold_us: ask.limit.threshold_us,
        read_at_us: ask.edge.read_at_us,
        share_pct: found.printed(),
        over_count: found.over_count,
        over_at_most_count: share(part.tally, ask.edge.power_below).over_count,
        ops_count: found.ops_count,
        slice: part.slice.map(|(number, _, _)| number),
    }
}

/// Where the rounded percentage and the counts say different things of a limit.
fn rounding(ask: &Ask<'_>, parts: &[Part<'_>]) -> Vec<Finding> {
    let limit_pct = ask.limit.limit_pct;
    let differ = parts.iter().filter_map(|part| {
        let found = share(part.tally, ask.edge.power);
        let printed = Decimal::parse(&found.printed())?;
        let sides = (u128::from(printed.digits()), u128::from(printed.scale()));
        let rounded_within =
            sides.0 * u128::from(limit_pct.scale()) <= u128::from(limit_pct.digits()) * sides.1;
        (rounded_within != found.is_within(limit_pct)).then_some((part, found))
    });
    let told = differ.map(|(part, found)| {
        let place = part.slice.map_or_else(String::new, |(number, start_s, end_s)| {
            format!("slice {number} ({})", when(start_s, end_s))
        });
        let is_within = if found.is_within(limit_pct) { "within" } else { "over" };
        rule::ROUNDING_DECIDES.at(
            None,
            format!(
                "{place}, reads over {}: {} of {} round to {} %; the counts are {is_within} the limit of {limit_pct} %",
                time(ask.limit.threshold_us), found.over_count, found.ops_count, found.printed()
            ),
        )
    });
    told.collect()
}

/// Where a microsecond log passes at 1024 us and could fail at 1000 us.
fn edges(asks: &[Ask<'_>], parts: &[Part<'_>], outcome: Outcome) -> Option<Finding> {
    if !matches!(outcome, Outcome::Pass | Outcome::Undecided) {
        return None;
    }
    let mut pairs = asks
        .iter()
        .flat_map(|ask| parts.iter().map(move |part| (ask, part)));
    let (ask, part) =
        pairs.find(|(ask, part)| !share(part.tally, ask.edge.power_below).is_within(ask.limit.limit_pct))?;
    let (number, start_s, end_s) = part.slice?;
    let (at_least, at_most) = (
        share(part.tally, ask.edge.power),
        share(part.tally, ask.edge.power_below),
    );
    let sentence = format!(
        "slice {number} ({}), reads over {}: the log has an edge at {} us only; the share lies between {} % and {} %",
        when(start_s, end_s),
        time(ask.limit.threshold_us),
        ask.edge.read_at_us,
        at_least.printed(),
        at_most.printed()
    );
    Some(rule::EDGE_DECIDES.at(None, sentence))
}
