//! One block of the log: the histograms of all streams since the start of the run.
//!
//! Source: main() of src/storage/act_storage.c and src/index/act_index.c; the format is that of
//! src/common/histogram.c histogram_dump().

use std::fmt::Write;

use crate::config::{Config, Model};
use crate::schedule::stream::{ActHistogram, Operation};
use crate::stats::act_buckets::{BUCKETS_COUNT, Counts};
use crate::stats::recorder::Tally;

/// Columns per line.
const COLUMNS: usize = 4;

/// Iterates over the histograms of a load. Like upstream, include large-block reads even if there are none.
fn shown(config: &Config) -> impl Iterator<Item = ActHistogram> {
    let operations: Vec<Operation> = config
        .rates()
        .into_iter()
        .map(|(operation, _)| operation)
        .collect();
    let has_blocks = config.model == Model::Storage && config.has_writes();
    let is_shown = move |histogram: &ActHistogram| match histogram {
        ActHistogram::LargeBlockReads | ActHistogram::LargeBlockWrites => has_blocks,
        _ => operations
            .iter()
            .any(|operation| operation.histogram() == Some(*histogram)),
    };
    ActHistogram::ALL.into_iter().filter(is_shown)
}

/// Returns the names of the log's histograms in order.
pub fn names(config: &Config) -> Vec<String> {
    let mut names = Vec::new();
    for histogram in shown(config) {
        names.push(histogram.name().to_owned());
        if histogram.has_devices() {
            let devices = config.device_names.iter();
            names.extend(devices.map(|device| format!("{device}-{}", histogram.name())));
        }
    }
    names
}

/// Returns the counts of the histograms, in the order of [`names`].
pub fn histograms(config: &Config, tallies: &[(Operation, Tally)]) -> Vec<Counts> {
    let mut all = Vec::new();
    for histogram in shown(config) {
        let by_device = counted(config.device_names.len(), histogram, tallies);
        all.push(sum(&by_device));
        if histogram.has_devices() {
            all.extend(by_device);
        }
    }
    all
}

/// Sums the counts of all operations of a histogram, by device.
fn counted(devices_count: usize, histogram: ActHistogram, tallies: &[(Operation, Tally)]) -> Vec<Counts> {
    let mut by_device = vec![[0; BUCKETS_COUNT]; devices_count];
    let counting = tallies
        .iter()
        .filter(|(operation, _)| operation.histogram() == Some(histogram));
    for (_, tally) in counting {
        for (total, counts) in by_device.iter_mut().zip(&tally.by_device) {
            add(total, counts);
        }
    }
    by_device
}

fn sum(by_device: &[Counts]) -> Counts {
    let mut total = [0; BUCKETS_COUNT];
    by_device.iter().for_each(|counts| add(&mut total, counts));
    total
}

fn add(total: &mut Counts, counts: &Counts) {
    for (sum, count) in total.iter_mut().zip(counts) {
        *sum += count;
    }
}

/// Returns the whole block with its final empty line.
pub fn block(label_s: u64, names: &[String], histograms: &[Counts]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_block(&mut text, label_s, names, histograms);
    text
}

fn write_block(out: &mut String, label_s: u64, names: &[String], histograms: &[Counts]) -> std::fmt::Result {
    writeln!(out, "after {label_s} sec:")?;
    for (name, counts) in names.iter().zip(histograms) {
        writeln!(out, "{name} ({} total)", counts.iter().sum::<u64>())?;
        write_buckets(out, counts)?;
    }
    writeln!(out)
}

fn write_buckets(out: &mut String, counts: &Counts) -> std::fmt::Result {
    let filled: Vec<(usize, u64)> = counts
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, count)| *count > 0)
        .collect();
    for line in filled.chunks(COLUMNS) {
        for (bucket, count) in line {
            write!(out, " ({bucket:02}: {count:010})")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_printed_as_act_prints_it() {
        // The first block of tests/data/act/6.6/io-errors-writes.log, its reads and large-block reads.
        let mut reads = [0; BUCKETS_COUNT];
        reads[4..13].copy_from_slice(&[2, 106, 690, 1_039, 85, 11, 36, 8, 23]);
        let names = ["reads".to_owned(), "large-block-reads".to_owned()];
        let expected = "after 1 sec:\nreads (2000 total)\n (04: 0000000002) (05: 0000000106) (06: 0000000690) \
                        (07: 0000001039)\n (08: 0000000085) (09: 0000000011) (10: 0000000036) (11: 0000000008)\n \
                        (12: 0000000023)\nlarge-block-reads (0 total)\n\n";
        assert_eq!(block(1, &names, &[reads, [0; BUCKETS_COUNT]]), expected);
    }

    #[test]
    fn a_line_has_at_most_four_columns() {
        let mut counts = [0; BUCKETS_COUNT];
        counts[..4].fill(1);
        assert_eq!(block(1, &["reads".to_owned()], &[counts]).lines().count(), 4);
        counts[4] = 12_345_678_901;
        let text = block(1, &["reads".to_owned()], &[counts]);
        assert!(text.ends_with("\n (04: 12345678901)\n\n"), "{text}");
    }

    fn config(model: Model, more: &str) -> Config {
        let text = format!("device-names: /dev/a /dev/b\ntest-duration-sec: 1\n{more}");
        Config::read_of(model, &text, 1).unwrap().0
    }

    fn names_of(model: Model, more: &str) -> String {
        names(&config(model, more)).join(" ")
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
            .map(|counts| counts[5])
            .collect();
        assert_eq!(found, [21, 0, 21, 12, 0, 12]);
    }

    #[test]
    fn the_header_names_the_histograms_of_the_blocks() {
        let modes = ["read-reqs-per-sec: 1", "write-reqs-per-sec: 1"];
        for (model, more) in [Model::Storage, Model::Index]
            .into_iter()
            .flat_map(|m| modes.map(|more| (m, more)))
        {
            let config = config(model, more);
            assert_eq!(names(&config).len(), histograms(&config, &[]).len());
        }
    }
}
