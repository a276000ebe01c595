//! Missing histograms of all blocks of a run, combined into one finding: mixed runs lack one in every block.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::plural::counted;

/// Missing histograms so far.
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
        let (histograms, blocks) = (self.histograms.len() as u64, self.blocks_count);
        let sentence = format!(
            "{} missing in {}; the first: {}",
            counted(histograms, "histogram"),
            counted(blocks, "block"),
            first.sentence
        );
        Some(Finding { sentence, ..first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
