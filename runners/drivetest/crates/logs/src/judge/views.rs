//! Views of one run: worst slice, steady state, whole run, and the reads for comparisons.

use serde::Serialize;

use crate::act::blocks::histogram::Tally;
use crate::act::run::{Histogram, Run};
use crate::act::semantics::{Time, compared, judged};
use crate::judge::bucket_edges::Edge;
use crate::judge::exact_counts::ExactCounts;
use crate::judge::profile::{Limit, Rules};
use crate::judge::share::Share;
use crate::judge::verdict::{FoundShare, Statistic};

/// A limit, and the bucket edges of the log at its threshold.
pub struct LimitEdge<'a> {
    /// Limit.
    pub limit: &'a Limit,
    /// Bucket edges at its threshold.
    pub edge: Edge,
}

/// Counts of one histogram in a slice.
pub struct Part<'a> {
    /// Number of the slice, and its start and end in seconds.
    pub slice: (u64, u64, u64),
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
    let Some(histogram) = histogram else {
        return Vec::new();
    };
    let part = |slice: &'a crate::act::slices::Slice| {
        Some(Part {
            slice: (slice.number, slice.start_s, slice.end_s),
            tally: slice.tally(histogram.ordinal)?,
        })
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
    used.reduce(|worst, part| {
        if of(part).compare(of(worst)).is_gt() {
            part
        } else {
            worst
        }
    })
}

/// Return the shares after the first hours; `None` without a complete slice after them.
pub fn steady_state(limit_edges: &[LimitEdge<'_>], parts: &[Part<'_>], rules: &Rules) -> Option<SteadyState> {
    let from_s = rules.steady_from_s();
    let steady: Vec<_> = parts.iter().filter(|part| part.slice.1 >= from_s).collect();
    let (to_s, slices_count) = (steady.last()?.slice.2, steady.len());
    let sum = |share: &dyn Fn(&Tally) -> Share| {
        let shares = steady.iter().map(|part| share(part.tally));
        shares.fold(Share::default(), Share::plus)
    };
    let of = |limit_edge: &LimitEdge<'_>| {
        let (over, at_most) = (
            sum(&|tally| limit_edge.edge.over(tally)),
            sum(&|tally| limit_edge.edge.at_most(tally)),
        );
        found(limit_edge, Statistic::SteadyState, over, at_most, None)
    };
    let shares = limit_edges.iter().filter_map(of).collect();
    Some(SteadyState {
        from_s,
        to_s,
        slices_count,
        shares,
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
        let over = counts.share(limit.threshold_us)?;
        Some(FoundShare::new(
            Statistic::Overall,
            limit,
            limit.threshold_us,
            over,
            over,
            None,
        ))
    };
    Some(limits.iter().filter_map(of).collect())
}

fn worst(limit_edge: &LimitEdge<'_>, parts: &[Part<'_>]) -> Option<FoundShare> {
    let part = worst_part(limit_edge, parts)?;
    let (over, at_most) = (
        limit_edge.edge.over(part.tally),
        limit_edge.edge.at_most(part.tally),
    );
    found(
        limit_edge,
        Statistic::WorstSlice,
        over,
        at_most,
        Some(part.slice.0),
    )
}

fn whole(limit_edge: &LimitEdge<'_>, histogram: Option<&Histogram>) -> Option<FoundShare> {
    let tally = &histogram?.tally;
    found(
        limit_edge,
        Statistic::Overall,
        limit_edge.edge.over(tally),
        limit_edge.edge.at_most(tally),
        None,
    )
}

fn found(
    limit_edge: &LimitEdge<'_>,
    statistic: Statistic,
    over: Share,
    at_most: Share,
    slice: Option<u64>,
) -> Option<FoundShare> {
    let is_some = over.ops_count > 0;
    is_some.then(|| {
        FoundShare::new(
            statistic,
            limit_edge.limit,
            limit_edge.edge.read_at_us,
            over,
            at_most,
            slice,
        )
    })
}
