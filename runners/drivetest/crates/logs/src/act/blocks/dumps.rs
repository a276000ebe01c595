//! Sequence of the blocks of a run: labels must rise by the report interval, and counts must never fall.

use std::collections::BTreeSet;

use crate::act::blocks::block::{Block, Damage, Names};
use crate::act::blocks::histogram::{Counts, Fall};
use crate::finding::{Finding, Findings, Rule, counted, rule};

/// Reported damaged histograms per block: a log of empty blocks must not create a thousand sentences for each.
const REPORTED_DAMAGE_MAX: usize = 8;

/// The last dump, and figures of all blocks so far.
#[derive(Debug, Default)]
pub struct Dumps {
    interval_s: u64,
    /// Label of the last block; 0 before the first.
    pub reached_s: u64,
    /// Number of blocks read.
    pub intervals_count: u64,
    /// Histograms that are missing in blocks.
    pub missing: Missing,
    known: Vec<Option<Counts>>,
}

impl Dumps {
    /// Start a run that reports every `interval_s`.
    pub fn new(interval_s: u64) -> Self {
        Self {
            interval_s,
            ..Self::default()
        }
    }

    /// Return the last usable counts of a histogram.
    pub fn last(&self, ordinal: usize) -> Option<&Counts> {
        self.known.get(ordinal)?.as_ref()
    }

    /// Accept a checked block; return false if its label is out of order and the block must be ignored.
    pub fn accept(&mut self, block: &Block, names: &Names, findings: &mut Findings) -> bool {
        if let Some(finding) = self.misplaced(block) {
            findings.add(finding);
            return false;
        }
        self.report_label(block, findings);
        report_damage(block, names, &mut self.missing, findings);
        self.compare_counts(block, names, findings);
        self.reached_s = block.label_s;
        self.intervals_count += 1;
        true
    }

    fn misplaced(&self, block: &Block) -> Option<Finding> {
        let (label_s, reached_s) = (block.label_s, self.reached_s);
        if label_s > reached_s {
            return None;
        }
        let place = format!("the block 'after {label_s} sec' follows the block 'after {reached_s} sec'");
        if label_s < reached_s || label_s == 0 {
            return Some(rule::BLOCKS_OUT_OF_ORDER.at(block.first_line, place));
        }
        let same = (0..self.known.len()).all(|ordinal| block.counts(ordinal) == self.last(ordinal));
        let (kind, counts) = match same {
            true => (rule::BLOCK_REPEATED, "the same"),
            false => (rule::BLOCKS_CONFLICT, "other"),
        };
        let sentence = format!("the block 'after {label_s} sec' occurs twice, with {counts} counts");
        Some(kind.at(block.first_line, sentence))
    }

    fn report_label(&self, block: &Block, findings: &mut Findings) {
        let (label_s, reached_s, interval_s) = (block.label_s, self.reached_s, self.interval_s);
        let grown_s = label_s - reached_s;
        if !grown_s.is_multiple_of(interval_s) {
            let sentence = format!(
                "the block 'after {label_s} sec' follows 'after {reached_s} sec'; expected a multiple of the report interval, {interval_s} s, between them"
            );
            findings.add(rule::LABEL_OFF_INTERVAL.at(block.first_line, sentence));
        } else if grown_s > interval_s {
            let missing = counted(grown_s / interval_s - 1, "block");
            let sentence =
                format!("{missing} missing between 'after {reached_s} sec' and 'after {label_s} sec'");
            findings.add(rule::BLOCKS_MISSING.at(block.first_line, sentence));
        }
    }

    fn compare_counts(&mut self, block: &Block, names: &Names, findings: &mut Findings) {
        self.known.resize_with(names.count(), || None);
        for (ordinal, known) in self.known.iter_mut().enumerate() {
            let Some(now) = block.counts(ordinal) else {
                continue;
            };
            let before = known.get_or_insert_default();
            if let Some(Fall { bucket, by_count }) = now.fall_since(before) {
                let name = names.name(ordinal);
                let sentence =
                    format!("{name}: the cumulative count of bucket {bucket} decreased by {by_count}");
                findings.add(rule::COUNTS_FALL.at(block.first_line, sentence));
            }
            before.clone_from(now);
        }
    }
}

fn report_damage(block: &Block, names: &Names, missing: &mut Missing, findings: &mut Findings) {
    if let Some(line) = block.noise_line {
        let sentence = format!("other lines interrupt the block 'after {} sec'", block.label_s);
        findings.add(rule::NOISE_INSIDE_BLOCK.at(line, sentence));
    }
    let damaged = (0..names.count()).filter_map(|ordinal| Some((ordinal, block.damage_of(ordinal)?)));
    for (ordinal, (damage, tag_line)) in damaged.take(REPORTED_DAMAGE_MAX) {
        let finding = damage_finding(damage, tag_line, &names.name(ordinal), block.label_s);
        match damage {
            Damage::Missing | Damage::Ambiguous => missing.add(ordinal, block.first_line, finding),
            _ => findings.add(finding),
        }
    }
}

fn damage_finding(damage: Damage, tag_line: u64, name: &str, label_s: u64) -> Finding {
    let found = |rule: Rule, line: u64, what: &str| {
        rule.at(
            line,
            format!("block 'after {label_s} sec', histogram {name}: {what}"),
        )
    };
    match damage {
        Damage::Missing => found(
            rule::HISTOGRAM_MISSING,
            tag_line,
            "the block lacks this histogram",
        ),
        Damage::Ambiguous => {
            let what = "the block lacks one of several histograms with this name";
            found(rule::HISTOGRAM_MISSING, tag_line, what)
        }
        Damage::TotalDiffers { total, sum } => {
            let sum = sum.map_or("more than 63 bits".to_owned(), |sum| sum.to_string());
            let what = format!("the total is {total} operations, but the buckets add up to {sum}");
            found(rule::TOTAL_DIFFERS, tag_line, &what)
        }
        Damage::Unreadable { line } => {
            let what = "expected buckets in rising order; this line differs";
            found(rule::UNREADABLE_LINE, line, what)
        }
        Damage::Repeated { line } => found(
            rule::HISTOGRAM_REPEATED,
            line,
            "the block contains this histogram twice",
        ),
    }
}

/// Missing histograms so far, combined into one finding: mixed runs lack one in every block.
#[derive(Debug, Default)]
pub struct Missing {
    first: Option<Finding>,
    count: u64,
    histograms: BTreeSet<usize>,
    blocks_count: u64,
    last_block_line: u64,
}

impl Missing {
    /// Add the finding about one histogram in the block that begins at a line.
    pub fn add(&mut self, ordinal: usize, block_line: u64, finding: Finding) {
        self.count += 1;
        self.histograms.insert(ordinal);
        self.blocks_count += u64::from(self.blocks_count == 0 || block_line != self.last_block_line);
        self.last_block_line = block_line;
        self.first.get_or_insert(finding);
    }

    /// Return one finding for all of them; the original finding if there is only one.
    pub fn report(&mut self) -> Option<Finding> {
        let first = self.first.take()?;
        if self.count == 1 {
            return Some(first);
        }
        let histograms = counted(self.histograms.len() as u64, "histogram");
        let blocks = counted(self.blocks_count, "block");
        let sentence = format!("{histograms} missing in {blocks}; the first: {}", first.sentence);
        Some(Finding { sentence, ..first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Log {
        dumps: Dumps,
        names: Names,
        findings: Findings,
    }

    impl Log {
        fn new(interval_s: u64) -> Self {
            let dumps = Dumps::new(interval_s);
            Self {
                dumps,
                names: Names::default(),
                findings: Findings::default(),
            }
        }

        fn dump(&mut self, label_s: u64, reads: u64) -> bool {
            let mut block = Block::default();
            block.begin(label_s, label_s);
            block.tag(label_s, b"reads", reads, &mut self.names);
            block.buckets(label_s, format!(" (01: {reads})").as_bytes());
            block.examine(&self.names);
            self.dumps.accept(&block, &self.names, &mut self.findings)
        }

        fn ids(self) -> Vec<&'static str> {
            self.findings
                .into_list()
                .iter()
                .map(|finding| finding.id)
                .collect()
        }
    }

    #[test]
    fn blocks_in_sequence_have_no_findings() {
        let mut log = Log::new(5);
        assert!(log.dump(5, 500) && log.dump(10, 1000));
        assert!(log.ids().is_empty());
    }

    #[test]
    fn a_repeated_block_is_ignored() {
        let mut log = Log::new(5);
        assert!(log.dump(5, 500) && !log.dump(5, 500) && log.dump(10, 600));
        assert_eq!(log.ids(), ["block-repeated"]);
    }

    #[test]
    fn two_different_blocks_of_one_second_conflict() {
        let mut log = Log::new(5);
        assert!(log.dump(5, 500) && !log.dump(5, 501));
        assert_eq!(log.ids(), ["blocks-conflict"]);
    }

    #[test]
    fn an_earlier_block_is_out_of_order() {
        let mut log = Log::new(5);
        assert!(log.dump(5, 100) && log.dump(10, 500) && !log.dump(5, 100));
        assert_eq!(log.ids(), ["blocks-out-of-order"]);
    }

    #[test]
    fn falling_counts_are_reported_with_bucket_and_loss() {
        let mut log = Log::new(5);
        assert!(log.dump(5, 500) && log.dump(10, 498));
        let list = log.findings.into_list();
        assert_eq!(
            list[0].sentence,
            "reads: the cumulative count of bucket 1 decreased by 2"
        );
    }

    use crate::finding::rule;

    #[test]
    fn several_become_one_finding_and_one_is_unchanged() {
        let mut missing = Missing::default();
        let lacks = |line| rule::HISTOGRAM_MISSING.at(line, "after 9 sec, reads: is not there");
        missing.add(0, 789, lacks(789));
        assert_eq!(missing.report(), Some(lacks(789)));
        let mut missing = Missing::default();
        for (ordinal, line) in [(0, 789), (1, 789), (0, 800)] {
            missing.add(ordinal, line, lacks(line));
        }
        let reported = missing.report().map(|finding| (finding.line, finding.sentence));
        let sentence = "2 histograms missing in 2 blocks; the first: after 9 sec, reads: is not there";
        assert_eq!(reported, Some((Some(789), sentence.to_owned())));
        assert_eq!(missing.report(), None);
    }
}
