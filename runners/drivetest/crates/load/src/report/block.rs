//! One block of the log: the histograms of all streams since the start of the run.
//!
//! Source: main() of src/storage/act_storage.c and src/index/act_index.c; the format is that of
//! src/common/histogram.c histogram_dump().

use crate::config::{Config, Model};
use crate::schedule::stream::{ActHistogram, Operation};
use crate::stats::act_buckets::{BUCKETS_COUNT, Counts};
use crate::stats::recorder::Tally;

/// Columns per line.
const COLUMNS: usize = 4;

/// Returns the names of the log's histograms in order, with the counts of all operations in `tallies`.
pub fn histograms(config: &Config, tallies: &[(Operation, Tally)]) -> Vec<(String, Counts)> {
    let rates = config.rates();
    let mut found = Vec::new();
    for histogram in ActHistogram::ALL {
        let is_shown = match histogram {
            // Like upstream, include large-block reads even if there are none.
            ActHistogram::LargeBlockReads | ActHistogram::LargeBlockWrites => {
                config.model == Model::Storage && config.has_writes()
            }
            _ => rates
                .iter()
                .any(|(operation, _)| operation.histogram() == Some(histogram)),
        };
        if !is_shown {
            continue;
        }
        let by_device = counts_by_device(config.device_names.len(), histogram, tallies);
        let mut total = [0; BUCKETS_COUNT];
        by_device.iter().for_each(|counts| add(&mut total, counts));
        found.push((histogram.name().to_owned(), total));
        if histogram.has_devices() {
            let devices = config.device_names.iter();
            let names = devices.map(|device| format!("{device}-{}", histogram.name()));
            found.extend(names.zip(by_device));
        }
    }
    found
}

/// Sums the counts of all operations of a histogram, by device.
fn counts_by_device(
    devices_count: usize,
    histogram: ActHistogram,
    tallies: &[(Operation, Tally)],
) -> Vec<Counts> {
    let mut by_device = vec![[0; BUCKETS_COUNT]; devices_count];
    for (operation, tally) in tallies {
        if operation.histogram() == Some(histogram) {
            for (total, counts) in by_device.iter_mut().zip(&tally.by_device) {
                add(total, counts);
            }
        }
    }
    by_device
}

fn add(total: &mut Counts, counts: &Counts) {
    for (sum, count) in total.iter_mut().zip(counts) {
        *sum += count;
    }
}

/// Returns the whole block with its final empty line.
pub fn block(label_s: u64, histograms: &[(String, Counts)]) -> String {
    let mut text = format!("after {label_s} sec:\n");
    for (name, counts) in histograms {
        text += &format!("{name} ({} total)\n", counts.iter().sum::<u64>());
        let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let columns: Vec<_> = filled
            .map(|(bucket, count)| format!(" ({bucket:02}: {count:010})"))
            .collect();
        for line in columns.chunks(COLUMNS) {
            text += &(line.concat() + "\n");
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_printed_as_act_prints_it() {
        // The first block of tests/data/act/6.6/io-errors-writes.log, its reads and large-block reads.
        let mut reads = [0; BUCKETS_COUNT];
        reads[4..13].copy_from_slice(&[2, 106, 690, 1_039, 85, 11, 36, 8, 23]);
        let blocks = ("large-block-reads".to_owned(), [0; BUCKETS_COUNT]);
        let expected = "after 1 sec:\nreads (2000 total)\n (04: 0000000002) (05: 0000000106) (06: 0000000690) \
                        (07: 0000001039)\n (08: 0000000085) (09: 0000000011) (10: 0000000036) (11: 0000000008)\n \
                        (12: 0000000023)\nlarge-block-reads (0 total)\n\n";
        assert_eq!(block(1, &[("reads".to_owned(), reads), blocks]), expected);
    }

    #[test]
    fn a_line_has_at_most_four_columns() {
        let mut counts = [0; BUCKETS_COUNT];
        counts[..4].fill(1);
        let text = |counts| block(1, &[("reads".to_owned(), counts)]);
        assert_eq!(text(counts).lines().count(), 4);
        counts[4] = 12_345_678_901;
        let text = text(counts);
        assert!(text.ends_with("\n (04: 12345678901)\n\n"), "{text}");
    }

    fn config(model: Model, more: &str) -> Config {
        let text = format!("device-names: /dev/a /dev/b\ntest-duration-sec: 1\n{more}");
        Config::read_of(model, &text, 1).unwrap().0
    }

    fn names_of(model: Model, more: &str) -> String {
        let histograms = histograms(&config(model, more), &[]);
        histograms
            .into_iter()
            .map(|(name, _)| name)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_storage_log_has_acts_histograms_in_their_order() {
        let of = |more| names_of(Model::Storage, more);
        let (reads, writes) = (
            "reads /dev/a-reads /dev/b-reads",
            "writes /dev/a-writes /dev/b-writes",
        );
        let blocks = "large-block-reads large-block-writes";
        assert_eq!(of("read-reqs-per-sec: 1"), reads);
        assert_eq!(of("write-reqs-per-sec: 1"), blocks);
        assert_eq!(
            of("write-reqs-per-sec: 1\nno-defrag-reads: yes\ntomb-raider: yes"),
            blocks
        );
        assert_eq!(
            of("read-reqs-per-sec: 1\nwrite-reqs-per-sec: 1\ncommit-to-device: yes"),
            format!("{reads} {blocks} {writes}")
        );
        assert_eq!(of("read-reqs-per-sec: 1\ncommit-to-device: yes"), reads);
    }

    #[test]
    fn an_index_log_has_acts_histograms_in_their_order() {
        let of = |more| names_of(Model::Index, more);
        let (reads, writes) = (
            "reads /dev/a-reads /dev/b-reads",
            "writes /dev/a-writes /dev/b-writes",
        );
        assert_eq!(of("read-reqs-per-sec: 1"), reads);
        assert_eq!(of("write-reqs-per-sec: 1"), format!("{reads} {writes}"));
    }

    #[test]
    fn both_kinds_of_index_reads_count_as_reads() {
        let config = config(Model::Index, "write-reqs-per-sec: 1");
        let mut tallies = Vec::new();
        for (index, (operation, _)) in config.rates().into_iter().enumerate() {
            let mut tally = Tally::new(2);
            tally.by_device[1][5] = 10 + index as u64;
            tallies.push((operation, tally));
        }
        let found: Vec<u64> = histograms(&config, &tallies)
            .iter()
            .map(|(_, counts)| counts[5])
            .collect();
        assert_eq!(found, [21, 0, 21, 12, 0, 12]);
    }
}
