//! Comparison of every bucket of the total with the sum of the device histograms.
//!
//! The program counts an operation with the same time in the total and in its device, so the limits of `device_sums`
//! also apply to every bucket. The devices may be behind the total by one operation per thread, and ahead by what the
//! total gains until the next dump. A thread is rarely between its two counts during a dump (in none of 133 real
//! histograms), and does not remain there. If the same bucket differs in several consecutive blocks, even a small
//! difference is not a matter of snapshots.
//!
//! A single block is reported if the total alone falls behind its rate, and all missing operations are of one bucket
//! although operations arrived in several: operations between two copies are spread over all buckets.

use crate::act::blocks::block::Block;
use crate::act::blocks::histogram::{BUCKETS_COUNT, Counts};

/// Number of consecutive blocks with a difference in one bucket: far more than chance explains.
const ODD_IN_A_ROW: u64 = 5;

/// Minimum share of the missing operations of a block that are of one bucket.
const ONE_BUCKET_SHARE: f64 = 0.99;

/// Minimum share of the missing operations of a block by which the total falls behind its rate.
const DIP_SHARE: f64 = 0.75;

/// Negative logarithm of the maximum probability that all missing operations are of one bucket by chance.
///
/// It is below 1 in 10^12, because a log has about 10^6 blocks and buckets.
const UNLIKELY: f64 = 27.6;

/// Counts of a block in the total and in all devices; the same value is reused for later blocks.
#[derive(Debug, Default)]
struct Dump {
    line: u64,
    label_s: u64,
    total: Counts,
    parts: Counts,
    total_ops: f64,
    parts_ops: f64,
}

/// A bucket of the total that differs from the devices.
#[derive(Clone, Copy, Debug)]
struct Odd {
    line: u64,
    label_s: u64,
    bucket: usize,
    total: u64,
    parts: u64,
}

/// Comparison of the total with its devices in every bucket.
#[derive(Debug, Default)]
pub struct DeviceBuckets {
    threads: u64,
    behind: Streaks,
    ahead: Streaks,
    /// Last blocks, the newest first.
    dumps: [Box<Dump>; 3],
    /// Number of consecutive blocks in `dumps`, from the newest.
    known_count: usize,
    grown_max: u64,
    odd_blocks_count: u64,
    /// Buckets that differed: bit b is bucket b.
    odd_buckets: u128,
    first_odd: Option<Odd>,
    first_dip: Option<Odd>,
}

impl DeviceBuckets {
    /// Start a run whose program has a number of threads.
    pub fn new(threads: u64) -> Self {
        Self {
            threads,
            ..Self::default()
        }
    }

    /// Add a block, with the ordinals of the total and of its devices; ignore it if one of them cannot be used.
    pub fn take(&mut self, block: &Block, total: usize, parts: &[usize]) {
        self.dumps.rotate_right(1);
        if self.dumps[0].fill(block, total, parts).is_none() {
            self.known_count = 0;
            return;
        }
        self.known_count = (self.known_count + 1).min(self.dumps.len());
        self.compare();
    }

    /// Return line and sentence about the first difference; `name` is the total.
    pub fn report(mut self, name: &str, devices: usize) -> Option<(u64, String)> {
        if self.known_count > 0 {
            self.end();
        }
        let (blocks_count, buckets_count) = (self.odd_blocks_count, self.odd_buckets.count_ones());
        let (odd, how) = match self.first_odd {
            Some(odd) => (
                odd,
                format!("{blocks_count} blocks and {buckets_count} buckets differ"),
            ),
            None => {
                let how = "the blocks before and after agree, and the devices have a steady rate";
                (self.first_dip?, how.to_owned())
            }
        };
        Some((odd.line, format!("{}; {how}", description(&odd, name, devices))))
    }

    /// Compare the last block with the largest interval, because it has no later block.
    fn end(&mut self) {
        let last = &self.dumps[0];
        let most = self.grown_max.saturating_add(self.threads);
        let lacking = lacking(&last.parts, &last.total).enumerate();
        let odd: Vec<usize> = lacking
            .filter(|(_, lacks)| *lacks > most)
            .map(|(bucket, _)| bucket)
            .collect();
        self.odd(0, &odd);
    }

    fn compare(&mut self) {
        let ([now, before, older], threads) = (&self.dumps, self.threads);
        let behind = self.behind.odd_ones(threads, lacking(&now.total, &now.parts));
        let mut ahead = Vec::new();
        let mut grown = now.total.trimmed().iter().sum();
        if self.known_count > 1 {
            ahead = self.ahead.odd_ones(threads, lacking(&before.parts, &now.total));
            grown = lacking(&now.total, &before.total).sum();
        }
        self.grown_max = self.grown_max.max(grown);
        if self.known_count > 2 && self.first_dip.is_none() {
            self.first_dip = dip([older, before, now], threads);
        }
        self.odd(0, &behind);
        self.odd(1, &ahead);
    }

    /// Record the differing buckets of a dump.
    fn odd(&mut self, dump: usize, buckets: &[usize]) {
        let dump = &self.dumps[dump];
        let off = |bucket: usize| dump.total.at(bucket).abs_diff(dump.parts.at(bucket));
        let Some(&most) = buckets.iter().max_by_key(|&&bucket| off(bucket)) else {
            return;
        };
        self.odd_blocks_count += 1;
        buckets.iter().for_each(|bucket| self.odd_buckets |= 1 << bucket);
        self.first_odd.get_or_insert_with(|| dump.odd_at(most));
    }
}

/// Number of consecutive blocks in which each bucket differed; no bucket after these differed.
#[derive(Debug, Default)]
struct Streaks {
    blocks_counts: Vec<u64>,
}

impl Streaks {
    /// Return the buckets that differ by more than the threads, or at all in several consecutive blocks.
    fn odd_ones(&mut self, threads: u64, off_by: impl ExactSizeIterator<Item = u64>) -> Vec<usize> {
        self.blocks_counts.resize(off_by.len(), 0);
        let mut odd = Vec::new();
        for (bucket, (blocks, off_by)) in self.blocks_counts.iter_mut().zip(off_by).enumerate() {
            *blocks = if off_by > 0 { *blocks + 1 } else { 0 };
            if off_by > threads || *blocks >= ODD_IN_A_ROW {
                odd.push(bucket);
            }
        }
        odd
    }
}

impl Dump {
    /// Copy the counts of a block; `None` if one of its histograms cannot be used.
    fn fill(&mut self, block: &Block, total: usize, parts: &[usize]) -> Option<()> {
        (self.line, self.label_s) = (block.first_line, block.label_s);
        self.total.clone_from(block.counts(total)?);
        self.parts.clear();
        for &part in parts {
            self.parts.add(block.counts(part)?)?;
        }
        (self.total_ops, self.parts_ops) = (ops(&self.total), ops(&self.parts));
        Some(())
    }

    fn odd_at(&self, bucket: usize) -> Odd {
        Odd {
            line: self.line,
            label_s: self.label_s,
            bucket,
            total: self.total.at(bucket),
            parts: self.parts.at(bucket),
        }
    }
}

/// Return the operations in all buckets as a float: with 100 devices the sum may exceed an integer.
fn ops(counts: &Counts) -> f64 {
    counts.trimmed().iter().map(|&count| count as f64).sum()
}

/// Return by how much `found` is below `expected`, bucket by bucket.
fn lacking(expected: &Counts, found: &Counts) -> impl ExactSizeIterator<Item = u64> {
    let expected = expected.trimmed().iter().enumerate();
    expected.map(|(bucket, count)| count.saturating_sub(found.at(bucket)))
}

/// Return the bucket of the middle of three dumps in which operations are missing.
fn dip([older, middle, newer]: [&Dump; 3], threads: u64) -> Option<Odd> {
    if middle.label_s - older.label_s.min(middle.label_s) != newer.label_s.saturating_sub(middle.label_s) {
        return None;
    }
    let below = |ops: fn(&Dump) -> f64| (ops(older) + ops(newer)) / 2.0 - ops(middle);
    let (of_total, of_parts) = (below(|dump| dump.total_ops), below(|dump| dump.parts_ops));
    let lacks = of_total - of_parts;
    if lacks <= threads as f64 || of_total < lacks * DIP_SHARE {
        return None;
    }
    let bucket = only_bucket(older, middle, newer)?;
    Some(middle.odd_at(bucket))
}

/// Return the only bucket in which the total is below its devices, if chance does not explain it.
fn only_bucket(older: &Dump, middle: &Dump, newer: &Dump) -> Option<usize> {
    let lacks = |bucket: usize| middle.parts.at(bucket).saturating_sub(middle.total.at(bucket)) as f64;
    let all: f64 = (0..BUCKETS_COUNT).map(lacks).sum();
    let bucket = (0..BUCKETS_COUNT).max_by(|&one, &other| lacks(one).total_cmp(&lacks(other)))?;
    let grown = |bucket: usize| newer.parts.at(bucket).saturating_sub(older.parts.at(bucket)) as f64;
    let usual = grown(bucket) / (0..BUCKETS_COUNT).map(grown).sum::<f64>();
    let share = lacks(bucket) / all;
    (share >= ONE_BUCKET_SHARE && all * divergence(share, usual) > UNLIKELY).then_some(bucket)
}

/// Return the divergence of a share from the usual one: e^(-n x divergence) bounds the probability of such a share.
///
/// Source: Chernoff's bound; Hoeffding, Probability inequalities for sums of bounded random variables, 1963, (2.1).
fn divergence(share: f64, usual: f64) -> f64 {
    let part = |of: f64, among: f64| if of > 0.0 { of * (of / among).ln() } else { 0.0 };
    match share > usual {
        true => part(share, usual) + part(1.0 - share, 1.0 - usual),
        false => 0.0,
    }
}

fn description(odd: &Odd, name: &str, devices: usize) -> String {
    let (label_s, bucket, total, parts) = (odd.label_s, odd.bucket, odd.total, odd.parts);
    format!(
        "after {label_s} sec, {name}: bucket {bucket:02} contains {total} operations; its {devices} devices together have {parts}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::blocks::block::Names;

    /// Return the sentence about dumps of buckets 1 and 2, first of the total, then of its device; the program has one thread.
    fn sentence_of(dumps: &[[u64; 4]]) -> Option<String> {
        let mut names = Names::default();
        let mut block = Block::default();
        let mut buckets = DeviceBuckets::new(1);
        for (at, dump) in (1..).zip(dumps) {
            block.begin(at, at);
            for (name, ops) in ["reads", "a-reads"].into_iter().zip(dump.chunks(2)) {
                block.tag(at, name.as_bytes(), ops[0] + ops[1], &mut names);
                block.buckets(at, format!(" (01: {}) (02: {})", ops[0], ops[1]).as_bytes());
            }
            block.examine(&names);
            buckets.take(&block, 0, &[1]);
        }
        buckets.report("reads", 1).map(|(_, sentence)| sentence)
    }

    /// Move operations from bucket 2 to bucket 1 of the total, from the first block on.
    fn moved(count: u64, blocks: u64) -> Option<String> {
        let dumps = (1..=blocks).map(|at| [at * 90 + count, at * 10 - count, at * 90, at * 10]);
        sentence_of(&dumps.collect::<Vec<_>>())
    }

    #[test]
    fn equal_buckets_have_no_finding() {
        assert_eq!(moved(0, 9), None);
    }

    #[test]
    fn only_one_operation_per_thread_may_be_between_its_counts() {
        assert_eq!(moved(1, 4), None);
        let sentence = "after 1 sec, reads: bucket 01 contains 92 operations; its 1 devices together have 90; 4 blocks and 1 buckets \
                        differ";
        assert_eq!(moved(2, 4).as_deref(), Some(sentence));
    }

    #[test]
    fn a_difference_in_five_consecutive_blocks_is_reported() {
        assert_eq!((moved(1, 4), moved(1, 5).is_some()), (None, true));
    }

    #[test]
    fn slow_operations_that_only_the_devices_count_are_reported() {
        let dumps = |slow: u64| -> Vec<[u64; 4]> {
            (1..=9).map(|at| [at * 100, 0, at * 100, slow.min(at)]).collect()
        };
        assert_eq!(sentence_of(&dumps(0)), None);
        let sentence = sentence_of(&dumps(1)).unwrap();
        assert!(
            sentence.starts_with("after 5 sec, reads: bucket 02 contains 0 operations"),
            "{sentence}"
        );
    }

    #[test]
    fn operations_between_two_copies_are_spread_over_all_buckets() {
        let even = |at: u64| [at * 800, at * 200, at * 800, at * 200];
        let late_copy = [3200, 800, 3440, 860];
        assert_eq!(
            sentence_of(&[even(1), even(2), even(3), late_copy, even(5)]),
            None
        );
        let paused = [2960, 740, 3200, 800];
        assert_eq!(
            sentence_of(&[even(1), even(2), even(3), paused, even(5)]),
            None,
            "all buckets lack"
        );
    }

    #[test]
    fn a_lowered_bucket_of_one_block_is_reported() {
        let even = |at: u64| [at * 800, at * 200, at * 800, at * 200];
        let lowered = [2900, 800, 3200, 800];
        let sentence = sentence_of(&[even(1), even(2), even(3), lowered, even(5)]).unwrap();
        assert!(
            sentence.starts_with(
                "after 4 sec, reads: bucket 01 contains 2900 operations; its 1 devices together have 3200"
            ),
            "{sentence}"
        );
        let ahead = [3200, 800, 3500, 800];
        assert_eq!(
            sentence_of(&[even(1), even(2), even(3), ahead, even(5)]),
            None,
            "the total has a steady rate: a slow copy"
        );
    }

    #[test]
    fn a_bucket_that_is_no_longer_used_begins_a_new_row() {
        let mut streaks = Streaks::default();
        let mut odd = |off_by: &[u64]| streaks.odd_ones(1, off_by.iter().copied());
        for _ in 1..ODD_IN_A_ROW {
            assert!(odd(&[0, 1]).is_empty());
        }
        assert!(odd(&[0]).is_empty(), "the block ends before the bucket");
        assert!(odd(&[0, 1]).is_empty());
        assert_eq!(odd(&[2, 1]), [0], "more than the threads");
    }

    #[test]
    fn a_bucket_that_all_operations_come_to_is_not_chosen() {
        assert_eq!(divergence(1.0, 1.0), 0.0);
        assert!((divergence(1.0, 0.5) - 2_f64.ln()).abs() < 1e-12);
    }
}
