//! One block: a dump of all histograms, from its `after N sec:` line to the next, collected line by line and then checked.
//!
//! Blank lines and noise do not end a histogram, so an ERROR line between a tag and its buckets loses no bucket.
//! A histogram ends where the next tag or block begins. The totals reveal lost lines.

use crate::act::blocks::histogram::Counts;
use crate::act::grammar::bucket_line;
use crate::act::grammar::line;

/// Maximum number of histograms read from one run; ACT has at most 2 x 128 of devices and 4 others.
pub const HISTOGRAMS_MAX: usize = 1024;

/// Reason why a histogram of a block cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Missing in this block, although other blocks contain it.
    Missing,
    /// Its buckets do not add up to its total.
    TotalDiffers {
        /// Total of the tag line.
        total: u64,
        /// Sum of the buckets; `None` above `i64::MAX`.
        sum: Option<u64>,
    },
    /// A line of its buckets cannot be read.
    Unreadable {
        /// Line number.
        line: u64,
    },
    /// Its tag occurs too often.
    Repeated {
        /// Line number of the repetition.
        line: u64,
    },
    /// One of several with the same name is missing, so they cannot be distinguished.
    Ambiguous,
}

/// Names of a run's histograms in the order of first appearance.
#[derive(Debug, Default)]
pub struct Names {
    names: Vec<Box<[u8]>>,
    namesakes: Vec<Vec<usize>>,
    listed: Vec<String>,
}

impl Names {
    /// Start with the names that the header lists, duplicates included.
    pub fn new(mut listed: Vec<String>) -> Self {
        listed.truncate(HISTOGRAMS_MAX);
        Self {
            listed,
            ..Self::default()
        }
    }

    /// Return the number of histograms that appeared.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Return the name of a histogram.
    ///
    /// # Panics
    /// Panics for a histogram that never appeared.
    pub fn name(&self, ordinal: usize) -> String {
        String::from_utf8_lossy(&self.names[ordinal]).into_owned()
    }

    /// Return the first histogram with a name; `None` if none appeared.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| **known == *name.as_bytes())
    }

    /// Return the listed names that never appeared.
    pub fn never_appeared(&self) -> impl Iterator<Item = &str> {
        let listed = self.listed.iter().map(String::as_str);
        listed.filter(|name| self.find(name).is_none())
    }

    fn is_listed(&self, name: &[u8]) -> bool {
        self.listed.is_empty() || self.listed.iter().any(|listed| listed.as_bytes() == name)
    }

    fn same_name(&self, name: &[u8]) -> impl Iterator<Item = usize> {
        (0..self.names.len()).filter(move |&ordinal| *self.names[ordinal] == *name)
    }

    fn add(&mut self, name: &[u8]) {
        let (ordinal, first) = (self.names.len(), self.same_name(name).next());
        if let Some(first) = first {
            match self.namesakes.iter_mut().find(|group| group[0] == first) {
                Some(group) => group.push(ordinal),
                None => self.namesakes.push(vec![first, ordinal]),
            }
        }
        self.names.push(name.into());
    }

    fn may_appear_again(&self, name: &[u8]) -> bool {
        let listed = self.listed.iter().filter(|listed| listed.as_bytes() == name);
        self.same_name(name).count() < listed.count().max(1)
    }
}

#[derive(Debug, Default)]
struct Entry {
    is_present: bool,
    tag_line: u64,
    total: u64,
    counts: Counts,
    next_bucket: usize,
    damage: Option<Damage>,
}

impl Entry {
    fn is_usable(&self) -> bool {
        self.is_present && self.damage.is_none()
    }
}

/// Irregularity of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// The header does not list the name.
    Unlisted,
    /// More histograms than [`HISTOGRAMS_MAX`].
    TooMany,
}

/// A block; the same value is reused for every block of a run.
#[derive(Debug, Default)]
pub struct Block {
    /// Seconds of its interval line.
    pub label_s: u64,
    /// Line number of its interval line.
    pub first_line: u64,
    /// Last line of the block.
    pub last_line: u64,
    /// First line of noise inside the block.
    pub noise_line: Option<u64>,
    noise_so_far: Option<u64>,
    entries: Vec<Entry>,
    current: Option<usize>,
    next: usize,
    slack_count: u64,
}

impl Block {
    /// Return a block whose totals may differ from the sums of their buckets by `slack_count`.
    pub fn with_slack(slack_count: u64) -> Self {
        Self {
            slack_count,
            ..Self::default()
        }
    }

    /// Start a new block at an interval line.
    pub fn begin(&mut self, line: u64, label_s: u64) {
        (self.label_s, self.first_line, self.last_line) = (label_s, line, line);
        (self.noise_line, self.noise_so_far) = (None, None);
        (self.current, self.next) = (None, 0);
        for entry in &mut self.entries {
            (entry.is_present, entry.damage) = (false, None);
        }
    }

    /// Read a tag line.
    pub fn tag(&mut self, line: u64, name: &[u8], total: u64, names: &mut Names) -> Option<Odd> {
        self.extend_to(line);
        self.current = None;
        let odd = match self.place(name, names) {
            Place::At(ordinal) => {
                self.open(ordinal, line, total);
                None
            }
            Place::New(odd) => {
                names.add(name);
                self.open(names.count() - 1, line, total);
                odd
            }
            Place::Again(ordinal) => {
                self.damage(ordinal, Damage::Repeated { line });
                None
            }
            Place::Full => Some(Odd::TooMany),
        };
        self.next = self.current.map_or(self.next, |ordinal| ordinal + 1);
        odd
    }

    /// Read a line of buckets; a line that belongs to no histogram is ignored.
    pub fn buckets(&mut self, line: u64, text: &[u8]) {
        self.extend_to(line);
        let Some(ordinal) = self.current else { return };
        let entry = &mut self.entries[ordinal];
        let mut rises = true;
        let whole = bucket_line::parse(text, |(bucket, count)| {
            rises &= bucket >= entry.next_bucket;
            entry.next_bucket = bucket + 1;
            entry.counts.set(bucket, count);
        });
        if !(whole && rises) {
            self.damage(ordinal, Damage::Unreadable { line });
        }
    }

    /// Read the clean line of buckets at the start of a text, and return the rest.
    ///
    /// `None` if the line is not clean, is not in rising order, or belongs to no histogram. Some of its counts may be set
    /// by then; `buckets`, which reads the line next, sets the same counts.
    pub fn take_clean_buckets<'a>(&mut self, line: u64, text: &'a [u8]) -> Option<&'a [u8]> {
        let entry = self.entries.get_mut(self.current?)?;
        let mut next_bucket = entry.next_bucket;
        let rest = line::clean_buckets(text, |(bucket, count)| {
            let rises = bucket >= next_bucket;
            next_bucket = bucket + 1;
            entry.counts.set(bucket, count);
            rises
        })?;
        entry.next_bucket = next_bucket;
        self.extend_to(line);
        Some(rest)
    }

    /// Read the clean tag line of the expected histogram at the start of a text, and return the rest.
    ///
    /// `None` for any other line, which leaves the block unchanged.
    pub fn take_clean_tag<'a>(&mut self, line: u64, text: &'a [u8], names: &Names) -> Option<&'a [u8]> {
        let ordinal = self.next;
        let (total, rest) = line::clean_tag(text, names.names.get(ordinal)?)?;
        if !self.is_free(ordinal) {
            return None;
        }
        self.extend_to(line);
        self.open(ordinal, line, total);
        self.next = ordinal + 1;
        Some(rest)
    }

    /// Record a line of noise.
    pub fn noise(&mut self, line: u64) {
        if self.current.is_some() {
            self.noise_so_far.get_or_insert(line);
        }
    }

    /// Compare every histogram with its total and its namesakes. Call it at the end of the block.
    pub fn examine(&mut self, names: &Names) {
        self.entries.resize_with(names.count(), Entry::default);
        for entry in self.entries.iter_mut().filter(|entry| entry.is_usable()) {
            let (total, sum) = (entry.total, entry.counts.checked_sum());
            if sum.is_none_or(|sum| sum.abs_diff(total) > self.slack_count) {
                entry.damage = Some(Damage::TotalDiffers { total, sum });
            }
        }
        self.examine_namesakes(names);
    }

    /// Return the counts of a histogram; `None` if they cannot be used.
    pub fn counts(&self, ordinal: usize) -> Option<&Counts> {
        self.usable(ordinal).map(|entry| &entry.counts)
    }

    /// Return the operations of a histogram by its total; `None` if its counts cannot be used.
    pub fn ops_count(&self, ordinal: usize) -> Option<u64> {
        self.usable(ordinal).map(|entry| entry.total)
    }

    fn usable(&self, ordinal: usize) -> Option<&Entry> {
        self.entries.get(ordinal).filter(|entry| entry.is_usable())
    }

    /// Return why a histogram cannot be used, with a line number; `None` if it can be used.
    pub fn damage_of(&self, ordinal: usize) -> Option<(Damage, u64)> {
        match self.entries.get(ordinal) {
            Some(entry) if entry.is_present => entry.damage.map(|damage| (damage, entry.tag_line)),
            entry => {
                let damage = entry.and_then(|entry| entry.damage).unwrap_or(Damage::Missing);
                Some((damage, self.first_line))
            }
        }
    }

    /// Return whether the last histogram of the run is complete: if not, the block at the end of a file was cut.
    pub fn ends_whole(&self, names: &Names, is_first: bool) -> bool {
        let Some(last) = names.count().checked_sub(1) else {
            return false;
        };
        let is_seen = |listed: &String| names.find(listed).is_some();
        (!is_first || names.listed.last().is_none_or(is_seen)) && self.counts(last).is_some()
    }

    fn extend_to(&mut self, line: u64) {
        self.last_line = line;
        self.noise_line = self.noise_line.or(self.noise_so_far);
    }

    fn is_free(&self, ordinal: usize) -> bool {
        !self.entries.get(ordinal).is_some_and(|entry| entry.is_present)
    }

    fn place(&self, name: &[u8], names: &Names) -> Place {
        let expected = names.names.get(self.next);
        if expected.is_some_and(|expected| **expected == *name) && self.is_free(self.next) {
            return Place::At(self.next);
        }
        if let Some(ordinal) = names.same_name(name).find(|&ordinal| self.is_free(ordinal)) {
            return Place::At(ordinal);
        }
        if names.count() >= HISTOGRAMS_MAX {
            return Place::Full;
        }
        if names.may_appear_again(name) {
            return Place::New((!names.is_listed(name)).then_some(Odd::Unlisted));
        }
        names.same_name(name).last().map_or(Place::Full, Place::Again)
    }

    fn open(&mut self, ordinal: usize, line: u64, total: u64) {
        if self.entries.len() <= ordinal {
            self.entries.resize_with(ordinal + 1, Entry::default);
        }
        let entry = &mut self.entries[ordinal];
        (entry.is_present, entry.tag_line, entry.total) = (true, line, total);
        (entry.next_bucket, entry.damage) = (0, None);
        entry.counts.clear();
        self.current = Some(ordinal);
    }

    fn damage(&mut self, ordinal: usize, damage: Damage) {
        self.entries[ordinal].damage.get_or_insert(damage);
    }

    fn examine_namesakes(&mut self, names: &Names) {
        for group in &names.namesakes {
            let is_present = |ordinal: &usize| self.entries[*ordinal].is_present;
            if group.iter().any(is_present) && !group.iter().all(is_present) {
                for &ordinal in group {
                    self.entries[ordinal].damage = Some(Damage::Ambiguous);
                }
            }
        }
    }
}

enum Place {
    At(usize),
    New(Option<Odd>),
    Again(usize),
    Full,
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Read {
        names: Names,
        block: Block,
    }

    impl Read {
        fn new(listed: &[&str]) -> Self {
            let listed = listed.iter().map(|&name| name.to_owned()).collect();
            Self {
                names: Names::new(listed),
                block: Block::default(),
            }
        }

        fn block(&mut self, lines: &[(&str, u64, &str)]) -> Vec<bool> {
            self.block.begin(1, 1);
            for (at, (name, total, buckets)) in (2..).zip(lines) {
                self.block.tag(at, name.as_bytes(), *total, &mut self.names);
                self.block.buckets(at, buckets.as_bytes());
            }
            self.block.examine(&self.names);
            (0..self.names.count())
                .map(|ordinal| self.block.counts(ordinal).is_some())
                .collect()
        }
    }

    #[test]
    fn a_total_that_its_buckets_miss_damages_that_histogram_alone() {
        let mut read = Read::new(&[]);
        assert_eq!(
            read.block(&[("reads", 3, " (01: 2)"), ("writes", 1, " (01: 1)")]),
            [false, true]
        );
        assert_eq!(
            read.block.damage_of(0),
            Some((
                Damage::TotalDiffers {
                    total: 3,
                    sum: Some(2)
                },
                2
            ))
        );
    }

    #[test]
    fn a_total_may_differ_within_its_slack() {
        let mut read = Read::new(&[]);
        read.block = Block::with_slack(2);
        assert_eq!(
            read.block(&[("READS", 5, " (01: 3)"), ("RAW READS", 0, " (01: 3)")]),
            [true, false]
        );
    }

    #[test]
    fn one_device_named_twice_has_two_histograms() {
        let mut read = Read::new(&["/dev/a-reads", "/dev/a-reads"]);
        let lines = [("/dev/a-reads", 2, " (01: 2)"), ("/dev/a-reads", 1, " (01: 1)")];
        assert_eq!(read.block(&lines), [true, true]);
        assert_eq!(read.block.counts(1).map(Counts::trimmed), Some(&[0, 1][..]));
    }

    #[test]
    fn without_one_of_two_namesakes_neither_can_be_used() {
        let mut read = Read::new(&["/dev/a-reads", "/dev/b-reads", "/dev/a-reads"]);
        let (one, other) = (("/dev/a-reads", 2, " (01: 2)"), ("/dev/b-reads", 1, " (01: 1)"));
        assert_eq!(read.block(&[one, other, one]), [true, true, true]);
        assert_eq!(read.block(&[other, one]), [false, true, false]);
        assert_eq!(read.block.damage_of(0), Some((Damage::Ambiguous, 1)));
    }

    #[test]
    fn a_histogram_with_a_repeated_tag_is_not_used() {
        let mut read = Read::new(&["reads"]);
        assert_eq!(
            read.block(&[("reads", 2, " (01: 2)"), ("reads", 2, " (01: 2)")]),
            [false]
        );
        assert_eq!(read.block.damage_of(0), Some((Damage::Repeated { line: 3 }, 2)));
    }

    #[test]
    fn a_clean_tag_is_taken_where_it_is_the_next_and_new_to_the_block() {
        let mut read = Read::new(&[]);
        let (reads, writes) = (("reads", 0, ""), ("writes", 0, ""));
        read.block(&[reads, writes]);
        read.block(&[writes, reads]);
        let take = |read: &mut Read, text: &str| {
            let taken = read.block.take_clean_tag(9, text.as_bytes(), &read.names);
            taken.is_some()
        };
        assert!(
            !take(&mut read, "writes (0 total)\n"),
            "it is in the block already"
        );
        read.block.begin(10, 2);
        assert!(!take(&mut read, "writes (0 total)\n"), "reads are next");
        assert!(take(&mut read, "reads (0 total)\n") && take(&mut read, "writes (0 total)\n"));
    }

    #[test]
    fn buckets_out_of_order_make_the_histogram_unusable() {
        let mut read = Read::new(&[]);
        assert_eq!(read.block(&[("reads", 2, " (02: 1) (01: 1)")]), [false]);
        assert_eq!(read.block(&[("reads", 2, " (01: 1) (02: 1)")]), [true]);
    }

    #[test]
    fn a_histogram_that_a_block_lacks_is_missing() {
        let mut read = Read::new(&[]);
        read.block(&[("reads", 1, " (01: 1)"), ("writes", 0, "")]);
        read.block(&[("reads", 1, " (01: 1)")]);
        assert_eq!(read.block.damage_of(1), Some((Damage::Missing, 1)));
        assert!(!read.block.ends_whole(&read.names, false));
    }

    #[test]
    fn noise_is_inside_a_block_only_where_more_of_it_follows() {
        let mut read = Read::new(&[]);
        read.block(&[("reads", 1, " (01: 1)")]);
        read.block.noise(3);
        assert_eq!(read.block.noise_line, None);
        read.block.tag(4, b"writes", 0, &mut read.names);
        assert_eq!(read.block.noise_line, Some(3));
    }

    #[test]
    fn an_empty_histogram_is_whole() {
        let mut read = Read::new(&[]);
        read.block.begin(1, 1);
        read.block.tag(2, b"writes", 0, &mut read.names);
        read.block.examine(&read.names);
        assert!(read.block.ends_whole(&read.names, true));
    }

    #[test]
    fn an_unlisted_name_is_read_and_reported() {
        let mut read = Read::new(&["reads"]);
        read.block.begin(1, 1);
        assert_eq!(read.block.tag(2, b"reads", 0, &mut read.names), None);
        assert_eq!(
            read.block.tag(3, b"others", 0, &mut read.names),
            Some(Odd::Unlisted)
        );
    }

    #[test]
    fn histograms_are_bounded() {
        let mut read = Read::new(&[]);
        read.block.begin(1, 1);
        for number in 0..HISTOGRAMS_MAX {
            assert_eq!(
                read.block
                    .tag(2, format!("h{number}").as_bytes(), 0, &mut read.names),
                None
            );
        }
        assert_eq!(read.block.tag(3, b"more", 0, &mut read.names), Some(Odd::TooMany));
    }
}
