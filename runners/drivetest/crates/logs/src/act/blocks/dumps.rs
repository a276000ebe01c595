//! The blocks of a run one after the other: labels must rise by the interval, and counts may never fall.

use crate::act::blocks::block::{Block, Damage, Names};
use crate::act::blocks::histogram::Counts;
use crate::act::blocks::missing_histograms::Missing;
use crate::finding::{Finding, Findings, rule};
use crate::plural::counted;

/// Damaged histograms told of one block: a log of empty blocks must not cost a sentence for each of a thousand.
const REPORTED_DAMAGE_MAX: usize = 8;

/// What is kept of the blocks that passed: the last dump.
#[derive(Debug)]
pub struct Dumps {
    interval_s: u64,
    /// The label of the last block, 0 before the first.
    pub reached_s: u64,
    /// Blocks that were read.
    pub intervals_count: u64,
    /// Histograms that blocks lack.
    pub missing: Missing,
    known: Vec<Option<Counts>>,
}

impl Dumps {
    /// A run that reports every `interval_s`.
    pub fn new(interval_s: u64) -> Self {
        Self {
            interval_s,
            reached_s: 0,
            intervals_count: 0,
            missing: Missing::default(),
            known: Vec::new(),
        }
    }

    /// The last usable counts of a histogram.
    pub fn last(&self, ordinal: usize) -> Option<&Counts> {
        self.known.get(ordinal)?.as_ref()
    }

    /// Takes an examined block; false when its label does not follow and it must be passed over.
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
        let place = format!("the block after {label_s} sec comes after that of {reached_s} sec");
        if label_s < reached_s || label_s == 0 {
            return Some(rule::BLOCKS_OUT_OF_ORDER.at(block.first_line, place));
        }
        let same = (0..self.known.len()).all(|ordinal| block.counts(ordinal) == self.last(ordinal));
        let (kind, how) = if same {
            (rule::BLOCK_REPEATED, "alike")
        } else {
            (rule::BLOCKS_CONFLICT, "with other counts")
        };
        Some(kind.at(
            block.first_line,
            format!("the block after {label_s} sec stands twice, {how}"),
        ))
    }

    fn report_label(&self, block: &Block, findings: &mut Findings) {
        let grown_s = block.label_s - self.reached_s;
        if !grown_s.is_multiple_of(self.interval_s) {
            let sentence = format!(
                "after {} sec: expected a multiple of the report interval, {} s, after {} sec",
                block.label_s, self.interval_s, self.reached_s
            );
            findings.add(rule::LABEL_OFF_INTERVAL.at(block.first_line, sentence));
        } else if grown_s > self.interval_s {
            let (count, from_s) = (grown_s / self.interval_s - 1, self.reached_s);
            let sentence = format!(
                "missing between {from_s} and {} sec: {}",
                block.label_s,
                counted(count, "block")
            );
            findings.add(rule::BLOCKS_MISSING.at(block.first_line, sentence));
        }
    }

    fn compare_counts(&mut self, block: &Block, names: &Names, findings: &mut Findings) {
        self.known.resize_with(names.count(), || None);
        for (ordinal, known) in self.known.iter_mut().enumerate() {
            let Some(now) = block.counts(ordinal) else {
                continue;
            };
            match known {
                Some(before) => {
                    if let Some(fall) = now.fall_since(before) {
                        let name = names.name(ordinal);
                        let sentence =
                            format!("{name}: bucket {} went down by {}", fall.bucket, fall.by_count);
                        findings.add(rule::COUNTS_FALL.at(block.first_line, sentence));
                    }
                    before.clone_from(now);
                }
                None => *known = Some(now.clone()),
            }
        }
    }
}

fn report_damage(block: &Block, names: &Names, missing: &mut Missing, findings: &mut Findings) {
    if let Some(line) = block.noise_line {
        let sentence = format!("other lines stand inside the block after {} sec", block.label_s);
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
    let place = format!("after {label_s} sec, {name}");
    match damage {
        Damage::Missing => rule::HISTOGRAM_MISSING.at(
            tag_line,
            format!("{place}: expected in the block; it is not there"),
        ),
        Damage::Ambiguous => {
            let sentence = format!("{place}: one of several of this name is not there");
            rule::HISTOGRAM_MISSING.at(tag_line, sentence)
        }
        Damage::TotalDiffers { total, sum } => {
            let sum = sum.map_or("more than any log can hold".to_owned(), |sum| sum.to_string());
            let sentence =
                format!("{place}: expected {total} operations as its total says; its buckets hold {sum}");
            rule::TOTAL_DIFFERS.at(tag_line, sentence)
        }
        Damage::Unreadable { line } => rule::UNREADABLE_LINE.at(
            line,
            format!("{place}: expected buckets in rising order; this line has others"),
        ),
        Damage::Repeated { line } => {
            rule::HISTOGRAM_REPEATED.at(line, format!("{place}: stands twice in the block"))
        }
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
    fn blocks_that_follow_each_other_are_taken_in_silence() {
        let mut log = Log::new(5);
        assert!(log.dump(5, 500) && log.dump(10, 1000));
        assert!(log.ids().is_empty());
    }

    #[test]
    fn a_block_that_stands_twice_is_taken_once() {
        let mut log = Log::new(5);
        assert!(log.dump(5, 500) && !log.dump(5, 500) && log.dump(10, 600));
        assert_eq!(log.ids(), ["block-repeated"]);
    }

    #[test]
    fn two_accounts_of_one_second_conflict() {
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
    fn counts_that_fall_are_told_with_bucket_and_loss() {
        let mut log = Log::new(5);
        assert!(log.dump(5, 500) && log.dump(10, 498));
        let list = log.findings.into_list();
        assert_eq!(list[0].sentence, "reads: bucket 1 went down by 2");
    }
}
