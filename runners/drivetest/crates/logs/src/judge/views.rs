//! The ways to read one run: its worst slice, its steady state, the whole, and the reads that comparisons take.

use serde::Serialize;

use crate::act::blocks::histogram::Tally;
use crate::act::run::{Histogram, Run};
use crate::act::semantics::{Time, compared, judged};
use crate::judge::bucket_edges::Edge;
use crate::judge::exact_counts::ExactCounts;
use crate::judge::profile::{Limit, Rules};
use crate::judge::share::Share;
use crate::judge::verdict::{FoundShare, Statistic};

/// One limit and where the log shows it.
pub struct LimitEdge<'a> {
    /// The limit.
    pub limit: &'a Limit,
    /// The edge that stands for its threshold.
    pub edge: Edge,
}

/// A slice's operations of one histogram.
pub struct Part<'a> {
    /// Its number, and its start and end in seconds.
    pub slice: (u64, u64, u64),
    /// Its counts.
    pub tally: &'a Tally,
}

/// The run after its first hours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SteadyState {
    /// Where it begins, seconds from the start.
    pub from_s: u64,
    /// The end of its last whole slice.
    pub to_s: u64,
    /// The slices that are in it.
    pub slices_count: usize,
    /// Its shares.
    pub shares: Vec<FoundShare>,
}

/// The reads that comparisons between versions take, where the verdict takes others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// The histogram's name.
    pub histogram: String,
    /// What it measures.
    pub time: Option<Time>,
    /// Its shares, of the worst slice and of the whole.
    pub shares: Vec<FoundShare>,
}

/// The slices of a histogram that can be used.
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

/// Worst slice and whole run, for each limit.
pub fn shares(
    limit_edges: &[LimitEdge<'_>],
    parts: &[Part<'_>],
    histogram: Option<&Histogram>,
) -> Vec<FoundShare> {
    let both = |limit_edge| [worst(limit_edge, parts), whole(limit_edge, histogram)];
    limit_edges.iter().flat_map(both).flatten().collect()
}

/// The slice with the largest share, the first of several; None without operations.
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

/// The reading after the profile's first hours, None where no whole slice lies behind them.
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

/// The reading that comparisons take, None where it is the judged one or the log has none.
pub fn comparison(run: &Run, limit_edges: &[LimitEdge<'_>]) -> Option<Compared> {
    let judged = judged(run).map(|histogram| histogram.ordinal);
    let histogram = compared(run).filter(|histogram| Some(histogram.ordinal) != judged)?;
    Some(Compared {
        histogram: histogram.name.clone(),
        time: histogram.meaning.time,
        shares: shares(limit_edges, &parts(run, Some(histogram)), Some(histogram)),
    })
}

/// The shares of the whole run by counts that have no edges.
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
