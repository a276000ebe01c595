//! A histogram of high resolution: every octave of microseconds in 128 cells, within 0.8 % of any time.
//!
//! Cells count in units of 125/16 ns, 128 of them in a microsecond. So every power of two of a microsecond is a cell's
//! edge, and so are 1, 8 and 64 ms (1000/512 = 250/128): counts at or over these are exact, not interpolated.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::buckets::add_one;
use crate::clock::Nanos;

/// Cells in an octave.
const OCTAVE: u64 = 128;

/// Octaves above the first 128 units: up to 2^39 us, six days; longer times count in the last cell.
const OCTAVES_COUNT: u64 = 39;

const CELLS_COUNT: usize = ((OCTAVES_COUNT + 1) * OCTAVE) as usize;

/// The first length that no octave holds any more.
const TOO_LONG: u64 = 1_000 << OCTAVES_COUNT;

fn cell_of(time: Nanos) -> usize {
    let units = time.0.min(TOO_LONG - 1) * 16 / 125;
    let octave = (units / OCTAVE).checked_ilog2().unwrap_or(0);
    (u64::from(octave) * OCTAVE + (units >> octave)) as usize
}

/// The shortest time that a cell counts.
fn lower_edge(cell: usize) -> Nanos {
    let octave = (cell as u64 / OCTAVE).saturating_sub(1);
    let units = (cell as u64 - octave * OCTAVE) << octave;
    Nanos((units * 125).div_ceil(16))
}

/// Cells that one thread adds to and another reads.
#[derive(Debug)]
pub struct Cells {
    counts: Box<[AtomicU64]>,
    longest_ns: AtomicU64,
}

impl Default for Cells {
    fn default() -> Self {
        let counts = (0..CELLS_COUNT).map(|_| AtomicU64::new(0)).collect();
        Self {
            counts,
            longest_ns: AtomicU64::new(0),
        }
    }
}

impl Cells {
    /// Counts one time; only ever called by the thread that owns the cells.
    pub fn record(&self, time: Nanos) {
        add_one(&self.counts[cell_of(time)]);
        self.longest_ns.fetch_max(time.0, Relaxed);
    }

    /// Adds what is counted so far to `times`. The longest time is that since the last call.
    pub fn drain_into(&self, times: &mut Times) {
        for (sum, count) in times.counts.iter_mut().zip(&self.counts) {
            *sum += count.load(Relaxed);
        }
        times.longest = times.longest.max(Nanos(self.longest_ns.swap(0, Relaxed)));
    }
}

/// Times of a run or of an interval, frozen.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    counts: Vec<u64>,
    longest: Nanos,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            counts: vec![0; CELLS_COUNT],
            longest: Nanos(0),
        }
    }
}

impl Times {
    /// Puts every count back to none, and keeps the room.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.longest = Nanos(0);
    }

    /// Makes `self` what came since `earlier` was counted; the longest time is the interval's already.
    pub fn subtract(&mut self, earlier: &Self) {
        for (count, before) in self.counts.iter_mut().zip(&earlier.counts) {
            *count -= before;
        }
    }

    /// Adds those of another stream.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.longest = self.longest.max(other.longest);
    }

    /// How many times are counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The longest time, exact.
    pub fn longest(&self) -> Nanos {
        self.longest
    }

    /// Takes the longest time of an interval into the run's.
    pub fn raise_longest(&mut self, longest: Nanos) {
        self.longest = self.longest.max(longest);
    }

    /// How many times are at or over `threshold`; exact where the threshold is an edge, as 1, 8 and 64 ms are.
    pub fn at_or_over(&self, threshold: Nanos) -> u64 {
        self.counts[cell_of(threshold)..].iter().sum()
    }

    /// The time that `per_mille` of 1000 do not exceed, rounded up to its cell's end; 0 when nothing is counted.
    pub fn percentile(&self, per_mille: u64) -> Nanos {
        let rank = (u128::from(self.count()) * u128::from(per_mille)).div_ceil(1_000);
        let mut seen = 0;
        for (cell, count) in self.counts.iter().enumerate() {
            seen += u128::from(*count);
            if *count > 0 && seen >= rank {
                return Nanos(lower_edge(cell + 1).0 - 1).min(self.longest);
            }
        }
        Nanos(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(all: &[u64]) -> Times {
        let cells = Cells::default();
        for ns in all {
            cells.record(Nanos(*ns));
        }
        let mut times = Times::default();
        cells.drain_into(&mut times);
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
    fn percentiles_are_within_a_cell_of_the_truth() {
        let found = times(&(1..=1_000).map(|us| us * 1_000).collect::<Vec<_>>());
        for (per_mille, us) in [(500, 500_000), (990, 990_000), (999, 999_000)] {
            let got = found.percentile(per_mille).0;
            assert!(got >= us && got < us + us / 100, "{per_mille}: {got}");
        }
        assert_eq!(found.percentile(1_000), Nanos(1_000_000));
        assert_eq!(times(&[]).percentile(990), Nanos(0));
    }

    #[test]
    fn an_interval_is_what_came_since_and_has_a_longest_time_of_its_own() {
        let cells = Cells::default();
        let (mut first, mut second) = (Times::default(), Times::default());
        cells.record(Nanos(5_000_000));
        cells.drain_into(&mut first);
        cells.record(Nanos(3_000));
        cells.drain_into(&mut second);
        second.subtract(&first);
        assert_eq!((second.count(), second.longest()), (1, Nanos(3_000)));
    }
}
