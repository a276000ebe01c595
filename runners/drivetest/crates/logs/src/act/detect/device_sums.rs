//! The histograms of single devices must add up to that of all, but for what passes between their snapshots.
//!
//! A block is no moment: the total is copied first, then each device. An operation is counted in the total and at once
//! in its device, by one thread. So at each dump the devices hold at least what the total held, less one operation for
//! each thread that stood between its two counts; and they hold at most what the total holds one dump later. Neither
//! bound needs to know how fast the copies were made, and a clean log of any number of devices keeps both.
//!
//! Far below an interval's operations lies what a slow copy explains. A copy that takes a tenth of an interval is rare,
//! and one block's delay says nothing of the next: three blocks in a row beyond a tenth are told as well.

use crate::act::blocks::block::{Block, Names};
use crate::act::detect::device_buckets::DeviceBuckets;
use crate::finding::{Findings, rule};
use crate::plural::counted;

/// Threads that may stand between two counts where the header does not tell how many there are.
const THREADS_UNKNOWN: u64 = 1024;

/// Blocks in a row whose devices are ahead by more than a tenth of an interval.
const AHEAD_IN_A_ROW: u64 = 3;

/// The parts and the whole of one kind of operations.
#[derive(Debug)]
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
    /// The histogram `total` and those of the devices that make it up.
    pub fn new(names: &Names, total: usize, parts: Vec<usize>, threads: Option<u64>) -> Self {
        let threads = threads.unwrap_or(THREADS_UNKNOWN);
        Self {
            name: names.name(total),
            total,
            parts,
            threads,
            before: None,
            grown_max: 0,
            ahead_count: 0,
            odd_count: 0,
            first_odd: None,
            buckets: DeviceBuckets::new(threads),
        }
    }

    /// Takes an examined block; one with a histogram that cannot be used says nothing.
    pub fn take(&mut self, block: &Block) {
        self.buckets.take(block, self.total, &self.parts);
        let parts = self
            .parts
            .iter()
            .try_fold(0_u64, |sum, &part| sum.checked_add(block.ops_count(part)?));
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

    /// Tells what did not add up; the last block has no later one, so the greatest interval stands for it.
    pub fn report(mut self, findings: &mut Findings) {
        if let Some(last) = self.before {
            let greatest = last.total.saturating_add(self.grown_max);
            self.compare(last, self.grown_max, greatest);
        }
        let count = self.odd_count;
        let of_sums = self.first_odd.map(|(line, sentence)| {
            (
                line,
                format!("{sentence}; so it is in {}", counted(count, "block")),
            )
        });
        let found = of_sums.or_else(|| self.buckets.report(&self.name, self.parts.len()));
        findings.add_all(found.map(|(line, sentence)| rule::DEVICE_SUMS_DIFFER.at(line, sentence)));
    }

    /// Compares a dump's devices with what the total had a dump later.
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
        let Sums {
            label_s,
            total,
            parts,
            ..
        } = dump;
        self.first_odd.get_or_insert_with(|| {
            let sentence = format!(
                "after {label_s} sec, {}: expected about {total} operations in its {} devices together; they hold {parts}",
                self.name,
                self.parts.len()
            );
            (dump.line, sentence)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of one thread: total, then two devices.
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
    fn what_passes_between_snapshots_is_explained() {
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
    fn devices_that_lack_more_than_a_thread_can_hold_are_told() {
        assert_eq!(odd_blocks(&[[100, 50, 49]]), None);
        assert!(odd_blocks(&[[100, 50, 48]]).is_some());
    }

    #[test]
    fn devices_that_hold_what_the_total_has_not_a_dump_later_are_told() {
        assert_eq!(odd_blocks(&[[100, 100, 101], [200, 100, 101]]), None);
        let sentence = odd_blocks(&[[100, 100, 102], [200, 100, 102]]).unwrap();
        let expected = "after 1 sec, reads: expected about 100 operations in its 2 devices together; they hold 202; so it is in 1 block";
        assert_eq!(sentence, expected);
    }

    #[test]
    fn three_slow_dumps_in_a_row_are_told_and_two_are_not() {
        let ahead = |at: u64| [at * 100, at * 50 + 12, at * 50];
        let even = |at: u64| [at * 100, at * 50, at * 50];
        assert!(odd_blocks(&[even(1), ahead(2), ahead(3), ahead(4), even(5)]).is_some());
        assert_eq!(
            odd_blocks(&[even(1), ahead(2), ahead(3), even(4), ahead(5), even(6)]),
            None
        );
    }
}
