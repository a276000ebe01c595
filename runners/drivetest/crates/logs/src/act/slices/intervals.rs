//! Intervals of equal length: the increase of every histogram between two dumps.

use crate::act::blocks::block::Block;
use crate::act::blocks::histogram::Counts;

/// One interval of a run.
#[derive(Debug)]
pub struct Interval<'a> {
    /// Seconds from the start of the run.
    pub start_s: u64,
    /// Seconds from the start of the run.
    pub end_s: u64,
    /// Counts by ordinal; `None` if one of the two dumps cannot be used.
    pub histograms: &'a [Option<Counts>],
}

/// End of an interval.
#[derive(Debug)]
pub enum Ended<'a> {
    /// The block ends this interval.
    Known(Interval<'a>),
    /// The block at the start of the interval that ends at `end_s` is missing.
    Missing {
        /// Seconds from the start of the run.
        end_s: u64,
    },
}

/// Divides a run into intervals; stores the dump at the start of the current one.
#[derive(Debug, Default)]
pub struct Intervals {
    length_s: u64,
    start_s: u64,
    start: Vec<Option<Counts>>,
    grown: Vec<Option<Counts>>,
}

impl Intervals {
    /// Start intervals of `requested_s`, rounded up to whole report intervals like slices.
    ///
    /// # Panics
    /// Panics when `report_interval_s` is 0.
    pub fn new(requested_s: u64, report_interval_s: u64) -> Self {
        let reports = requested_s.max(1).div_ceil(report_interval_s);
        Self {
            length_s: reports.saturating_mul(report_interval_s),
            ..Self::default()
        }
    }

    /// Return the length of an interval in seconds.
    pub fn length_s(&self) -> u64 {
        self.length_s
    }

    /// Return the end of the last interval, in seconds from the start of the run.
    pub fn reached_s(&self) -> u64 {
        self.start_s
    }

    /// Add the next block of the run; return whether it ends an interval.
    pub fn take(&mut self, block: &Block, histograms: usize) -> Option<Ended<'_>> {
        if !block.label_s.is_multiple_of(self.length_s) {
            return None;
        }
        let (start_s, end_s) = (self.start_s, block.label_s);
        let follows = end_s == start_s + self.length_s;
        if follows {
            let grown = (0..histograms).map(|ordinal| grown(&self.start, start_s, block, ordinal));
            self.grown.clear();
            self.grown.extend(grown);
        }
        self.start_s = end_s;
        self.start.resize_with(histograms, || None);
        for (ordinal, start) in self.start.iter_mut().enumerate() {
            match (block.counts(ordinal), start) {
                (Some(now), Some(before)) => before.clone_from(now),
                (now, start) => *start = now.cloned(),
            }
        }
        let histograms = &self.grown;
        Some(match follows {
            true => Ended::Known(Interval {
                start_s,
                end_s,
                histograms,
            }),
            false => Ended::Missing { end_s },
        })
    }
}

/// Return the increase of a histogram; at the start of the run every histogram is empty.
fn grown(start: &[Option<Counts>], start_s: u64, block: &Block, ordinal: usize) -> Option<Counts> {
    let now = block.counts(ordinal)?;
    if start_s == 0 {
        return Some(now.clone());
    }
    now.since(start.get(ordinal)?.as_ref()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::blocks::block::Names;

    /// Return the intervals of dumps, given by label and cumulative count of bucket 1 (`None` for damage).
    fn cut(length_s: u64, dumps: &[(u64, Option<u64>)]) -> Vec<(u64, u64, Option<u64>)> {
        let (mut intervals, mut names) = (Intervals::new(length_s, 1), Names::default());
        let mut found = Vec::new();
        for &(label_s, count) in dumps {
            let mut block = Block::default();
            block.begin(label_s, label_s);
            block.tag(label_s, b"reads", count.unwrap_or(9), &mut names);
            block.buckets(label_s, format!(" (01: {})", count.unwrap_or(0)).as_bytes());
            block.examine(&names);
            if let Some(Ended::Known(interval)) = intervals.take(&block, 1) {
                let grown = interval.histograms[0].as_ref().and_then(Counts::checked_sum);
                found.push((interval.start_s, interval.end_s, grown));
            }
        }
        found
    }

    #[test]
    fn an_interval_is_the_difference_of_its_ends() {
        let dumps = [
            (1, Some(5)),
            (2, Some(9)),
            (3, Some(9)),
            (4, Some(20)),
            (5, Some(21)),
        ];
        assert_eq!(cut(2, &dumps), [(0, 2, Some(9)), (2, 4, Some(11))]);
    }

    #[test]
    fn an_interval_without_a_dump_at_an_end_is_none() {
        let dumps = [(1, Some(5)), (3, Some(9)), (4, Some(10))];
        assert_eq!(cut(1, &dumps), [(0, 1, Some(5)), (3, 4, Some(1))]);
    }

    #[test]
    fn damage_at_an_end_leaves_the_counts_on_both_sides_unknown() {
        let dumps = [(1, Some(5)), (2, None), (3, Some(9)), (4, Some(10))];
        let expected = [(0, 1, Some(5)), (1, 2, None), (2, 3, None), (3, 4, Some(1))];
        assert_eq!(cut(1, &dumps), expected);
    }

    #[test]
    fn counts_that_fall_are_unknown() {
        let dumps = [(1, Some(5)), (2, Some(4)), (3, Some(9))];
        assert_eq!(cut(1, &dumps), [(0, 1, Some(5)), (1, 2, None), (2, 3, Some(5))]);
    }

    #[test]
    fn a_length_is_rounded_up_to_whole_reports() {
        assert_eq!(Intervals::new(60, 60).length_s(), 60);
        assert_eq!(Intervals::new(61, 60).length_s(), 120);
        assert_eq!(Intervals::new(1, 5).length_s(), 5);
    }
}
