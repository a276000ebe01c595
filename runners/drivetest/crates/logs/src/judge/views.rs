//! Views of one run: worst slice, steady state, whole run, and the reads for comparisons.

use std::cmp::Ordering;

use serde::Serialize;

use crate::act::blocks::histogram::Tally;
use crate::act::run::{Histogram, Run};
use crate::act::semantics::{Time, compared, judged};
use crate::act::slices::Slice;
use crate::judge::bucket_edges::Edge;
use crate::judge::profile::{Limit, Rules};
use crate::judge::share::{ExactCounts, Share};
use crate::judge::verdict::{FoundShare, Statistic};

/// A limit, and the bucket edges of the log at its threshold.
pub struct LimitEdge<'a> {
    /// Limit.
    pub limit: &'a Limit,
    /// Bucket edges at its threshold.
    pub edge: Edge,
}

impl LimitEdge<'_> {
    /// Return the share that is certainly over the threshold, and the maximum share.
    pub fn shares(&self, tally: &Tally) -> (Share, Share) {
        (self.edge.over(tally), self.edge.at_most(tally))
    }

    fn found(&self, statistic: Statistic, shares: (Share, Share), slice: Option<u64>) -> Option<FoundShare> {
        let read_at_us = self.edge.read_at_us;
        (shares.0.ops_count > 0).then(|| FoundShare::new(statistic, self.limit, read_at_us, shares, slice))
    }
}

/// Return every limit with every slice.
pub fn pairs<'l, 'p>(
    limit_edges: &'l [LimitEdge<'l>],
    parts: &'p [Part<'p>],
) -> impl Iterator<Item = (&'l LimitEdge<'l>, &'p Part<'p>)> {
    let of_limit = |limit_edge| parts.iter().map(move |part| (limit_edge, part));
    limit_edges.iter().flat_map(of_limit)
}

/// Counts of one histogram in a slice.
pub struct Part<'a> {
    /// Slice.
    pub slice: &'a Slice,
    /// Counts.
    pub tally: &'a Tally,
}

/// Shares after the first hours of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SteadyState {
    /// Start in seconds from the start of the run.
    pub from_s: u64,
    /// End of its last complete slice.
    pub to_s: u64,
    /// Number of slices.
    pub slices_count: usize,
    /// Shares.
    pub shares: Vec<FoundShare>,
}

/// Shares of the histogram for comparisons between versions, if the verdict uses another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Name of the histogram.
    pub histogram: String,
    /// Time that it measures.
    pub time: Option<Time>,
    /// Shares of the worst slice and of the whole run.
    pub shares: Vec<FoundShare>,
}

/// Return the usable slices of a histogram.
pub fn parts<'a>(run: &'a Run, histogram: Option<&Histogram>) -> Vec<Part<'a>> {
    let part = |slice: &'a Slice| {
        let tally = slice.tally(histogram?.ordinal)?;
        Some(Part { slice, tally })
    };
    run.slices.iter().filter_map(part).collect()
}

/// Return the shares of the worst slice and of the whole run for each limit.
pub fn shares(
    limit_edges: &[LimitEdge<'_>],
    parts: &[Part<'_>],
    histogram: Option<&Histogram>,
) -> Vec<FoundShare> {
    let both = |limit_edge| [worst(limit_edge, parts), whole(limit_edge, histogram)];
    limit_edges.iter().flat_map(both).flatten().collect()
}

/// Return the first slice with the largest share; `None` without operations.
pub fn worst_part<'a, 'b>(limit_edge: &LimitEdge<'_>, parts: &'b [Part<'a>]) -> Option<&'b Part<'a>> {
    let of = |part: &Part<'_>| limit_edge.edge.over(part.tally);
    let used = parts.iter().filter(|part| part.tally.ops_count() > 0);
    used.reduce(|worst, part| match of(part).compare(of(worst)) {
        Ordering::Greater => part,
        Ordering::Less | Ordering::Equal => worst,
    })
}

/// Return the shares after the first hours; `None` without a complete slice after them.
pub fn steady_state(limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>], rules: &Rules) -> Option<SteadyState> {
    let from_s = rules.steady_from_s();
    let steady: Vec<_> = parts.iter().filter(|part| part.slice.start_s >= from_s).collect();
    let to_s = steady.last()?.slice.end_s;
    let of = |limit_edge: &LimitEdge<'_>| {
        let shares = steady.iter().map(|part| limit_edge.shares(part.tally));
        let sums = shares.fold((Share::default(), Share::default()), |sums, shares| {
            (sums.0.plus(shares.0), sums.1.plus(shares.1))
        });
        limit_edge.found(Statistic::SteadyState, sums, None)
    };
    Some(SteadyState {
        from_s,
        to_s,
        slices_count: steady.len(),
        shares: limit_edges.iter().filter_map(of).collect(),
    })
}

/// Return the shares for comparisons; `None` if the judged histogram is used, or if the log has none.
pub fn comparison(run: &Run, limit_edges: &[LimitEdge<'_>]) -> Option<Compared> {
    let judged = judged(run).map(|histogram| histogram.ordinal);
    let histogram = compared(run).filter(|histogram| Some(histogram.ordinal) != judged)?;
    Some(Compared {
        histogram: histogram.name.clone(),
        time: histogram.meaning.time,
        shares: shares(limit_edges, &parts(run, Some(histogram)), Some(histogram)),
    })
}

/// Return the shares of the whole run by exact counts.
pub fn exact(run: &Run, limits: &[Limit]) -> Option<Vec<FoundShare>> {
    let counts: &ExactCounts = run.exact.as_ref()?;
    let of = |limit: &Limit| {
        let (us, share) = (limit.threshold_us, counts.share(limit.threshold_us)?);
        let shares = (share, share);
        Some(FoundShare::new(Statistic::Overall, limit, us, shares, None))
    };
    Some(limits.iter().filter_map(of).collect())
}

fn worst(limit_edge: &LimitEdge<'_>, parts: &[Part<'_>]) -> Option<FoundShare> {
    let part = worst_part(limit_edge, parts)?;
    let shares = limit_edge.shares(part.tally);
    limit_edge.found(Statistic::WorstSlice, shares, Some(part.slice.number))
}

fn whole(limit_edge: &LimitEdge<'_>, histogram: Option<&Histogram>) -> Option<FoundShare> {
    limit_edge.found(Statistic::Overall, limit_edge.shares(&histogram?.tally), None)
}
