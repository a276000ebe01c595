//! A latency histogram with a resolution of three digits.
//!
//! Each octave has 1,024 cells. A cell is within 0.1 % of any time from 16 us, and within 8 ns of any shorter time.
//! The unit is 125/16 ns, that is 1/128 us. So every power of two of a microsecond is a cell edge, and so are 1, 8
//! and 64 ms (1000/512 = 2000/1024): counts at or over these thresholds are exact.
//!
//! The reader drains the counts. With one drain a minute, 32 bits suffice for 70 million events a second and cell. An
//! interval is what one drain returned, not the difference of two snapshots.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::clock::Nanos;

/// Cells in an octave.
const OCTAVE: usize = 1_024;

/// Octaves above the first 1,024 units (8 us), up to 2^37 us or 38 hours. Longer times count in the last cell.
const OCTAVES_COUNT: usize = 34;

const CELLS_COUNT: usize = (OCTAVES_COUNT + 1) * OCTAVE;

/// The shortest time beyond the last octave.
const TOO_LONG: u64 = 8_000 << OCTAVES_COUNT;

fn cell_of(time: Nanos) -> usize {
    let units = time.0.min(TOO_LONG - 1) * 16 / 125;
    let octave = (units / OCTAVE as u64).checked_ilog2().unwrap_or(0);
    octave as usize * OCTAVE + (units >> octave) as usize
}

/// Returns the shortest time of a cell.
fn lower_edge(cell: usize) -> Nanos {
    let octave = (cell / OCTAVE).saturating_sub(1);
    let units = ((cell - octave * OCTAVE) as u64) << octave;
    Nanos((units * 125).div_ceil(16))
}

/// Cells that threads add to and the collector drains. No thread ever waits for another.
#[derive(Debug)]
pub struct AtomicHistogram {
    counts: Box<[AtomicU32]>,
    /// One bit for each octave with counts, so that a drain skips the others.
    octaves: AtomicU64,
    shortest_ns: AtomicU64,
    longest_ns: AtomicU64,
}

impl Default for AtomicHistogram {
    fn default() -> Self {
        Self {
            counts: (0..CELLS_COUNT).map(|_| AtomicU32::new(0)).collect(),
            octaves: AtomicU64::new(0),
            shortest_ns: AtomicU64::new(u64::MAX),
            longest_ns: AtomicU64::new(0),
        }
    }
}

impl AtomicHistogram {
    /// Counts one time.
    pub fn record(&self, time: Nanos) {
        let cell = cell_of(time);
        self.counts[cell].fetch_add(1, Relaxed);
        let octave = 1 << (cell / OCTAVE);
        // A read first keeps the cache line shared between the threads.
        if self.octaves.load(Relaxed) & octave == 0 {
            self.octaves.fetch_or(octave, Relaxed);
        }
        if time.0 < self.shortest_ns.load(Relaxed) {
            self.shortest_ns.fetch_min(time.0, Relaxed);
        }
        if time.0 > self.longest_ns.load(Relaxed) {
            self.longest_ns.fetch_max(time.0, Relaxed);
        }
    }

    /// Moves the counts since the last call to each of `all`. Returns their sum.
    pub fn drain_into<const N: usize>(&self, mut all: [&mut Histogram; N]) -> u64 {
        let shortest = Nanos(self.shortest_ns.swap(u64::MAX, Relaxed));
        let longest = Nanos(self.longest_ns.swap(0, Relaxed));
        let octaves = self.octaves.load(Relaxed);
        let mut sum = 0;
        for cell in cells_of(octaves) {
            if self.counts[cell].load(Relaxed) > 0 {
                let count = u64::from(self.counts[cell].swap(0, Relaxed));
                all.iter_mut().for_each(|times| times.add(cell, count));
                sum += count;
            }
        }
        for times in all {
            times.shortest = times.shortest.min(shortest);
            times.longest = times.longest.max(longest);
            times.widen_to_counted_cells();
        }
        sum
    }
}

/// Iterates over the cells of the octaves whose bit is set, in ascending order.
fn cells_of(octaves: u64) -> impl DoubleEndedIterator<Item = usize> {
    let set = (0..=OCTAVES_COUNT).filter(move |octave| octaves >> octave & 1 == 1);
    set.flat_map(|octave| octave * OCTAVE..(octave + 1) * OCTAVE)
}

/// The times of a run or an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    counts: Vec<u64>,
    octaves: u64,
    count: u64,
    shortest: Nanos,
    longest: Nanos,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; CELLS_COUNT],
            octaves: 0,
            count: 0,
            shortest: Nanos(u64::MAX),
            longest: Nanos(0),
        }
    }
}

impl Histogram {
    fn add(&mut self, cell: usize, count: u64) {
        self.counts[cell] += count;
        self.octaves |= 1 << (cell / OCTAVE);
        self.count += count;
    }

    fn cells(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> {
        let counted = cells_of(self.octaves).map(|cell| (cell, self.counts[cell]));
        counted.filter(|(_, count)| *count > 0)
    }

    /// Widens the extremes to the counted cells. A time that is recorded during a drain may be counted in this
    /// interval while its extreme value arrives in the next one.
    fn widen_to_counted_cells(&mut self) {
        let mut cells = self.cells();
        let Some((first, _)) = cells.next() else { return };
        let last = cells.next_back().map_or(first, |(last, _)| last);
        drop(cells);
        if lower_edge(first + 1) <= self.shortest {
            self.shortest = lower_edge(first);
        }
        if lower_edge(last) > self.longest {
            self.longest = lower_edge(last);
        }
    }

    /// Counts one time.
    pub fn record(&mut self, time: Nanos) {
        self.record_many(time, 1);
    }

    /// Counts `count` equal times.
    pub fn record_many(&mut self, time: Nanos, count: u64) {
        if count == 0 {
            return;
        }
        self.add(cell_of(time), count);
        self.shortest = self.shortest.min(time);
        self.longest = self.longest.max(time);
    }

    /// Sets all counts to 0 and retains the memory.
    pub fn clear(&mut self) {
        for cell in cells_of(self.octaves) {
            self.counts[cell] = 0;
        }
        self.octaves = 0;
        self.count = 0;
        self.shortest = Nanos(u64::MAX);
        self.longest = Nanos(0);
    }

    /// Adds the times of an interval.
    pub fn merge(&mut self, interval: &Self) {
        for (cell, count) in interval.cells() {
            self.add(cell, count);
        }
        self.shortest = self.shortest.min(interval.shortest);
        self.longest = self.longest.max(interval.longest);
    }

    /// Returns the number of times.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact shortest time, or None if nothing is counted.
    pub fn shortest(&self) -> Option<Nanos> {
        (self.count > 0).then_some(self.shortest)
    }

    /// Returns the exact longest time, or 0 if nothing is counted.
    pub fn longest(&self) -> Nanos {
        self.longest
    }

    /// Returns the mean of the cells' middles, or None if nothing is counted.
    /// Source: HdrHistogram, getMean().
    pub fn mean(&self) -> Option<Nanos> {
        let middle = |cell| u128::from(lower_edge(cell).0 + lower_edge(cell + 1).0 - 1) / 2;
        let weighted = self.cells().map(|(cell, count)| middle(cell) * u128::from(count));
        let mean = weighted.sum::<u128>().checked_div(u128::from(self.count))?;
        Some(Nanos(mean as u64).clamp(self.shortest.min(self.longest), self.longest))
    }

    /// Returns how many times are at or over `threshold`. This is exact if the threshold is an edge, as 1, 8 and 64
    /// ms are.
    pub fn at_or_over(&self, threshold: Nanos) -> u64 {
        let least = cell_of(threshold);
        let over = self.cells().rev().take_while(|(cell, _)| *cell >= least);
        over.map(|(_, count)| count).sum()
    }

    /// Returns the time that `per_100_000` of 100,000 times do not exceed, rounded up to the end of its cell but at
    /// most the longest time. None if there are too few times for one to be beyond it: p99.99 needs 10,000.
    pub fn percentile(&self, per_100_000: u64) -> Option<Nanos> {
        let beyond = 100_000 - per_100_000.min(99_999);
        if u128::from(self.count) * u128::from(beyond) < 100_000 {
            return None;
        }
        let rank = (u128::from(self.count) * u128::from(per_100_000)).div_ceil(100_000);
        let mut seen = 0;
        for (cell, count) in self.cells() {
            seen += u128::from(count);
            if seen >= rank {
                return Some(Nanos(lower_edge(cell + 1).0 - 1).min(self.longest));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(all: &[u64]) -> Histogram {
        let cells = AtomicHistogram::default();
        for ns in all {
            cells.record(Nanos(*ns));
        }
        let mut times = Histogram::default();
        cells.drain_into([&mut times]);
        times
    }

    #[test]
    fn every_cell_begins_at_its_lower_edge() {
        for cell in 1..CELLS_COUNT {
            let edge = lower_edge(cell).0;
            assert_eq!(
                (cell_of(Nanos(edge - 1)), cell_of(Nanos(edge))),
                (cell - 1, cell),
                "cell {cell}"
            );
        }
    }

    #[test]
    fn a_cell_is_at_most_a_thousandth_of_its_time_or_8_ns_wide() {
        for cell in 0..CELLS_COUNT {
            let (lower, upper) = (lower_edge(cell).0, lower_edge(cell + 1).0);
            assert!(
                upper - lower <= 8 || (upper - lower) * 1_000 <= lower,
                "cell {cell}"
            );
        }
    }

    #[test]
    fn thresholds_of_the_rules_are_edges() {
        for ms in [1, 2, 4, 8, 16, 32, 64] {
            let threshold = Nanos::from_ms(ms);
            assert_eq!(lower_edge(cell_of(threshold)), threshold, "{ms} ms");
        }
        for power in 0..36 {
            assert_eq!(
                lower_edge(cell_of(Nanos(1_000 << power))),
                Nanos(1_000 << power),
                "2^{power} us"
            );
        }
    }

    #[test]
    fn counts_over_a_threshold_are_exact_to_the_nanosecond() {
        let found = times(&[999_999, 1_000_000, 7_999_999, 8_000_000, 63_999_999, 64_000_000]);
        let over = |ms| found.at_or_over(Nanos::from_ms(ms));
        assert_eq!([over(1), over(8), over(64)], [5, 3, 1]);
    }

    #[test]
    fn the_longest_times_count_in_the_last_cell() {
        assert_eq!(cell_of(Nanos(u64::MAX)), CELLS_COUNT - 1);
        assert_eq!(cell_of(Nanos(TOO_LONG - 1)), CELLS_COUNT - 1);
        assert_eq!(times(&[u64::MAX]).longest(), Nanos(u64::MAX));
    }

    #[test]
    fn percentiles_are_within_a_thousandth_of_the_truth() {
        let found = times(&(1..=100_000).map(|tenths| tenths * 100).collect::<Vec<_>>());
        for per_100_000 in [50_000, 90_000, 99_000, 99_900, 99_990, 99_999] {
            let truth = per_100_000 * 100;
            let got = found.percentile(per_100_000).unwrap().0;
            assert!(
                got >= truth && got <= truth + truth / 1_000,
                "{per_100_000}: {got}"
            );
        }
    }

    #[test]
    fn a_percentile_needs_enough_times_for_one_to_be_beyond_it() {
        let of = |count: usize| times(&vec![5_000; count]);
        for (per_100_000, least) in [(50_000, 2), (99_000, 100), (99_900, 1_000), (99_990, 10_000)] {
            assert_eq!(of(least - 1).percentile(per_100_000), None, "{per_100_000}");
            assert_eq!(
                of(least).percentile(per_100_000),
                Some(Nanos(5_000)),
                "{per_100_000}"
            );
        }
        assert_eq!(times(&[]).percentile(50_000), None);
    }

    #[test]
    fn shortest_and_longest_are_exact_and_the_mean_within_a_thousandth() {
        let found = times(&[1_000_000, 2_000_003, 6_000_007]);
        assert_eq!(
            (found.shortest(), found.longest()),
            (Some(Nanos(1_000_000)), Nanos(6_000_007))
        );
        assert!(found.mean().unwrap().0.abs_diff(3_000_003) <= 3_000);
        assert_eq!((times(&[]).shortest(), times(&[]).mean()), (None, None));
        assert_eq!(times(&[7]).mean(), Some(Nanos(7)));
    }

    #[test]
    fn an_interval_has_the_times_since_the_last_drain_and_the_run_has_all() {
        let cells = AtomicHistogram::default();
        let (mut first, mut second) = (Histogram::default(), Histogram::default());
        cells.record(Nanos(5_000_000));
        cells.drain_into([&mut first]);
        cells.record(Nanos(3_000));
        cells.drain_into([&mut second]);
        assert_eq!((second.count(), second.longest()), (1, Nanos(3_000)));
        first.merge(&second);
        assert_eq!(first, times(&[5_000_000, 3_000]));
        first.clear();
        assert_eq!(first, Histogram::default());
    }

    #[test]
    fn a_drain_adds_the_same_times_to_several_histograms_and_returns_their_number() {
        let cells = AtomicHistogram::default();
        [5_000_000, 3_000, 3_001]
            .into_iter()
            .for_each(|ns| cells.record(Nanos(ns)));
        let (mut one, mut other) = (Histogram::default(), times(&[7]));
        assert_eq!(cells.drain_into([&mut one, &mut other]), 3);
        assert_eq!(
            (one, other),
            (
                times(&[5_000_000, 3_000, 3_001]),
                times(&[7, 5_000_000, 3_000, 3_001])
            )
        );
        assert_eq!(cells.drain_into([]), 0);
    }

    #[test]
    fn equal_times_are_counted_at_once() {
        let mut found = times(&[9_000]);
        found.record_many(Nanos(0), 3);
        found.record_many(Nanos(u64::MAX), 0);
        assert_eq!(found, times(&[0, 9_000, 0, 0]));
    }

    #[test]
    fn a_time_whose_extreme_arrives_late_is_still_between_the_extremes() {
        let mut found = Histogram::default();
        found.add(cell_of(Nanos(5_000_000)), 1);
        found.widen_to_counted_cells();
        let edge = lower_edge(cell_of(Nanos(5_000_000)));
        assert_eq!((found.shortest(), found.longest()), (Some(edge), edge));
    }

    #[test]
    fn no_count_is_lost_while_threads_record_and_the_collector_drains() {
        let cells = AtomicHistogram::default();
        let mut found = Histogram::default();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|_| scope.spawn(|| (0..50_000).for_each(|ns| cells.record(Nanos(ns)))))
                .collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                cells.drain_into([&mut found]);
            }
        });
        cells.drain_into([&mut found]);
        assert_eq!(
            (found.count(), found.shortest(), found.longest()),
            (150_000, Some(Nanos(0)), Nanos(49_999))
        );
    }
}
