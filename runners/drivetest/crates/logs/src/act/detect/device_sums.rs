//! Comparison of the total with the sum of the device histograms.
//!
//! A block is not an atomic snapshot: the program copies the total first, then each device. A thread counts an operation
//! in the total and immediately afterwards in its device. So at each dump the devices contain at least the operations of
//! the total, less one per thread that is between its two counts. They contain at most the operations that the total
//! has one dump later. Neither limit depends on the speed of the copies, and every clean log meets both.
//!
//! A slow copy explains far less than the operations of an interval. A copy that takes a tenth of an interval is rare,
//! and delays of consecutive blocks are independent, so three consecutive blocks beyond a tenth are reported too.

use crate::act::blocks::block::{Block, Names};
use crate::act::detect::device_buckets::DeviceBuckets;
use crate::finding::{Findings, counted, rule};

/// Assumed number of threads if the header does not state it.
const THREADS_UNKNOWN: u64 = 1024;

/// Consecutive blocks whose devices are ahead by more than a tenth of an interval.
const AHEAD_IN_A_ROW: u64 = 3;

/// Comparison for one kind of operations.
#[derive(Debug, Default)]
pub struct DeviceSums {
    name: String,
    total: usize,
    parts: Vec<usize>,
    threads: u64,
    before: Option<Sums>,
    grown_max: u64,
    ahead_count: u64,
    odd_count: u64,
    first_odd: Option<(u64, String)>,
    buckets: DeviceBuckets,
}

#[derive(Clone, Copy, Debug)]
struct Sums {
    line: u64,
    label_s: u64,
    total: u64,
    parts: u64,
}

impl DeviceSums {
    /// Return a comparison of the histogram `total` with its devices.
    pub fn new(names: &Names, total: usize, parts: Vec<usize>, threads: Option<u64>) -> Self {
        let threads = threads.unwrap_or(THREADS_UNKNOWN);
        Self {
            name: names.name(total),
            total,
            parts,
            threads,
            buckets: DeviceBuckets::new(threads),
            ..Self::default()
        }
    }

    /// Add a checked block; ignore it if one of its histograms cannot be used.
    pub fn take(&mut self, block: &Block) {
        self.buckets.take(block, self.total, &self.parts);
        let mut parts = self.parts.iter();
        let parts = parts.try_fold(0_u64, |sum, &part| sum.checked_add(block.ops_count(part)?));
        let (Some(total), Some(parts)) = (block.ops_count(self.total), parts) else {
            self.before = None;
            return;
        };
        let now = Sums {
            line: block.first_line,
            label_s: block.label_s,
            total,
            parts,
        };
        if parts.saturating_add(self.threads) < total {
            self.odd(now);
        }
        match self.before {
            Some(before) => self.compare(before, total.saturating_sub(before.total), total),
            None => self.grown_max = self.grown_max.max(total),
        }
        self.before = Some(now);
    }

    /// Add the finding. The last block is compared with the largest interval, because it has no later block.
    pub fn report(mut self, findings: &mut Findings) {
        if let Some(last) = self.before {
            let greatest = last.total.saturating_add(self.grown_max);
            self.compare(last, self.grown_max, greatest);
        }
        let blocks = counted(self.odd_count, "block");
        let of_sums = self
            .first_odd
            .map(|(line, sentence)| (line, format!("{sentence}; {blocks} in total")));
        let found = of_sums.or_else(|| self.buckets.report(&self.name, self.parts.len()));
        findings.add_all(found.map(|(line, sentence)| rule::DEVICE_SUMS_DIFFER.at(line, sentence)));
    }

    /// Compare the devices of a dump with the total one dump later.
    fn compare(&mut self, dump: Sums, grown: u64, total_later: u64) {
        self.grown_max = self.grown_max.max(grown);
        let ahead = dump.parts.saturating_sub(dump.total);
        let is_ahead = ahead > self.threads.saturating_add(grown / 10);
        self.ahead_count = if is_ahead { self.ahead_count + 1 } else { 0 };
        if dump.parts > total_later.saturating_add(self.threads) || self.ahead_count >= AHEAD_IN_A_ROW {
            self.odd(dump);
        }
    }

    fn odd(&mut self, dump: Sums) {
        self.odd_count += 1;
        self.first_odd.get_or_insert_with(|| {
            let (label_s, name, devices) = (dump.label_s, &self.name, self.parts.len());
            let sentence = format!(
                "after {label_s} sec, {name}: expected about {} operations in its {devices} devices together; they have {}",
                dump.total, dump.parts
            );
            (dump.line, sentence)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return the sentence about dumps of the total, then of two devices; the program has one thread.
    fn odd_blocks(dumps: &[[u64; 3]]) -> Option<String> {
        let mut names = Names::default();
        let mut block = Block::default();
        let mut sums = None;
        for (label_s, dump) in (1..).zip(dumps) {
            block.begin(label_s, label_s);
            for (name, ops) in ["reads", "a-reads", "b-reads"].into_iter().zip(dump) {
                block.tag(label_s, name.as_bytes(), *ops, &mut names);
                block.buckets(label_s, format!(" (01: {ops})").as_bytes());
            }
            block.examine(&names);
            sums.get_or_insert_with(|| DeviceSums::new(&names, 0, vec![1, 2], Some(1)))
                .take(&block);
        }
        let mut findings = Findings::default();
        sums.unwrap().report(&mut findings);
        findings.into_list().pop().map(|finding| finding.sentence)
    }

    #[test]
    fn operations_between_snapshots_have_no_finding() {
        assert_eq!(
            odd_blocks(&[[100, 51, 50], [200, 100, 99], [300, 150, 151]]),
            None
        );
        assert_eq!(
            odd_blocks(&[[100, 100, 101], [200, 100, 101]]),
            None,
            "a dump that took an interval"
        );
    }

    #[test]
    fn devices_that_lack_more_than_one_operation_per_thread_are_reported() {
        assert_eq!(odd_blocks(&[[100, 50, 49]]), None);
        assert!(odd_blocks(&[[100, 50, 48]]).is_some());
    }

    #[test]
    fn devices_with_more_than_the_total_of_the_next_dump_are_reported() {
        assert_eq!(odd_blocks(&[[100, 100, 101], [200, 100, 101]]), None);
        let sentence = odd_blocks(&[[100, 100, 102], [200, 100, 102]]).unwrap();
        let expected = "after 1 sec, reads: expected about 100 operations in its 2 devices together; they have 202; 1 block in total";
        assert_eq!(sentence, expected);
    }

    #[test]
    fn three_consecutive_slow_dumps_are_reported_and_two_are_not() {
        let ahead = |at: u64| [at * 100, at * 50 + 12, at * 50];
        let even = |at: u64| [at * 100, at * 50, at * 50];
        assert!(odd_blocks(&[even(1), ahead(2), ahead(3), ahead(4), even(5)]).is_some());
        assert_eq!(
            odd_blocks(&[even(1), ahead(2), ahead(3), even(4), ahead(5), even(6)]),
            None
        );
    }
}
