//! One block of the log: the histograms of all streams since the start of the run.
//! Source: src/storage/act_storage.c main(), src/common/histogram.c histogram_dump() (which fixes the format).

use std::fmt::Write;

use crate::buckets::Counts;
use crate::device::Device;
use crate::recorder::Tally;
use crate::stream::Operation;

/// Columns in a line.
const COLUMNS: usize = 4;

/// The histograms of a log, in their order.
pub fn names(devices: &[Device], operations: &[Operation], has_writes: bool) -> Vec<String> {
    let mut names = Vec::new();
    if operations.contains(&Operation::ReadRecord) {
        names.push("reads".to_owned());
        names.extend(devices.iter().map(|device| format!("{}-reads", device.name)));
    }
    if has_writes {
        names.extend(["large-block-reads".to_owned(), "large-block-writes".to_owned()]);
    }
    names
}

/// The histograms' counts in the order of [`names`]. Large-block reads are told even where there are none.
pub fn histograms(tallies: &[(Operation, Tally)], has_writes: bool) -> Vec<Counts> {
    let of = |operation| {
        tallies
            .iter()
            .find(|(found, _)| *found == operation)
            .map(|(_, tally)| tally)
    };
    let mut all = Vec::new();
    if let Some(reads) = of(Operation::ReadRecord) {
        all.push(reads.all_devices());
        all.extend(reads.by_device.iter().copied());
    }
    if has_writes {
        for operation in [Operation::ReadBlock, Operation::WriteBlock] {
            all.push(of(operation).map_or([0; crate::buckets::BUCKETS_COUNT], Tally::all_devices));
        }
    }
    all
}

/// Returns the whole block, with the empty line at its end.
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
    use crate::buckets::BUCKETS_COUNT;

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
    fn four_columns_fill_a_line_and_no_more() {
        let mut counts = [0; BUCKETS_COUNT];
        counts[..4].fill(1);
        assert_eq!(block(1, &["reads".to_owned()], &[counts]).lines().count(), 4);
        counts[4] = 12_345_678_901;
        let text = block(1, &["reads".to_owned()], &[counts]);
        assert!(text.ends_with("\n (04: 12345678901)\n\n"), "{text}");
    }

    #[test]
    fn a_log_names_what_its_blocks_hold() {
        let operations = [Operation::ReadRecord, Operation::WriteBlock];
        let tallies: Vec<_> = operations
            .iter()
            .map(|operation| (*operation, Tally::new(0)))
            .collect();
        for has_writes in [true, false] {
            let names = names(&[], &operations, has_writes);
            assert_eq!(names.len(), histograms(&tallies, has_writes).len());
        }
    }
}
