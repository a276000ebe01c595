//! Kinds of lines by their form: the grammar that all versions of ACT share.
//!
//! The functions for clean lines are fast: a line that differs from the printed form in any byte goes to the general
//! parser, which returns the same result for clean lines.

use crate::act::grammar::bucket_line::{self, Bucket};

/// Largest plausible label in seconds: 31 years. A larger label is damage.
pub const LABEL_S_MAX: u64 = 1_000_000_000;

/// Maximum length of a histogram name in bytes: device names of ACT have at most 127, and `-writes` follows.
const NAME_BYTES_MAX: usize = 160;

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// An empty line.
    Blank,
    /// `after N sec:`, which begins a block.
    Interval(u64),
    /// `NAME (N total)`, which begins a histogram.
    Tag {
        /// The histogram's name.
        name: &'a [u8],
        /// Its number of operations.
        total: u64,
    },
    /// A line that begins like a line of buckets.
    Buckets,
    /// Anything else: header, message of the program, noise.
    Other,
}

/// Return the kind of a line; `interval_word` depends on the family (`after ` or `After `).
pub fn kind<'a>(text: &'a [u8], interval_word: &[u8]) -> Kind<'a> {
    if text.is_empty() {
        return Kind::Blank;
    }
    if bucket_line::begins(text) {
        return Kind::Buckets;
    }
    if let Some(label_s) = interval(text, interval_word) {
        return Kind::Interval(label_s);
    }
    tag(text).unwrap_or(Kind::Other)
}

/// Return the seconds of an interval line; `None` for any other line.
pub fn interval(text: &[u8], interval_word: &[u8]) -> Option<u64> {
    let (label_s, rest) = bucket_line::number(text.strip_prefix(interval_word)?)?;
    (rest == b" sec:" && label_s <= LABEL_S_MAX).then_some(label_s)
}

fn tag(text: &[u8]) -> Option<Kind<'_>> {
    let head = text.strip_suffix(b" total)")?;
    let open = memchr::memrchr(b'(', head)?;
    let (total, rest) = bucket_line::number(&head[open + 1..])?;
    let name = head[..open].trim_ascii_end();
    let named = (1..=NAME_BYTES_MAX).contains(&name.len()) && name.len() < open;
    (rest.is_empty() && named).then_some(Kind::Tag { name, total })
}

/// Maximum number of buckets in a line.
const BUCKETS_A_LINE: usize = 4;

/// The longest interval line: its word, ten digits and what follows them.
const INTERVAL_BYTES_MAX: usize = 24;

/// Number of clean lines (exactly as the programs print them) at the start of a byte slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clean {
    /// Bytes of the lines, including their line ends.
    pub bytes_count: usize,
    /// Number of lines.
    pub lines_count: u64,
}

/// Pass the buckets of the first line to `each`, and return the text after the line.
///
/// `None` if the line is not clean, or if `each` returns false; `each` may have received some of its buckets by then.
#[inline]
pub fn clean_buckets(mut text: &[u8], mut each: impl FnMut(Bucket) -> bool) -> Option<&[u8]> {
    for _ in 0..BUCKETS_A_LINE {
        let (cell, rest) = text.split_first_chunk()?;
        if !each(bucket_line::parse_cell(cell)?) {
            return None;
        }
        if let [b'\n', rest @ ..] = rest {
            return Some(rest);
        }
        text = rest;
    }
    None
}

/// Return the total of a tag line with this name, and the text after it; `None` for another name or if not clean.
pub fn clean_tag<'a>(text: &'a [u8], name: &[u8]) -> Option<(u64, &'a [u8])> {
    let mut padding = text.strip_prefix(name)?.strip_prefix(b" ")?;
    while let [b' ', rest @ ..] = padding {
        padding = rest;
    }
    let (total, rest) = bucket_line::number(padding.strip_prefix(b"(")?)?;
    Some((total, rest.strip_prefix(b" total)\n")?))
}

/// Return the seconds of an interval line, and the text after it; `None` if it is not clean.
pub fn clean_interval<'a>(text: &'a [u8], word: &[u8]) -> Option<(u64, &'a [u8])> {
    let end = memchr::memchr(b'\n', &text[..text.len().min(INTERVAL_BYTES_MAX)])?;
    Some((interval(&text[..end], word)?, &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(text: &str) -> Kind<'_> {
        kind(text.as_bytes(), b"after ")
    }

    #[test]
    fn lines_of_a_block_are_distinguished() {
        assert_eq!(kind_of("after 3600 sec:"), Kind::Interval(3600));
        assert_eq!(
            kind_of("reads (8010 total)"),
            Kind::Tag {
                name: b"reads",
                total: 8010
            }
        );
        assert_eq!(kind_of(" (01: 0000006269)"), Kind::Buckets);
        assert_eq!(kind_of(""), Kind::Blank);
        assert_eq!(
            kind_of("ERROR: writing /dev/a: 28 'No space left on device'"),
            Kind::Other
        );
    }

    #[test]
    fn a_device_name_may_contain_blanks_and_brackets() {
        let expected = Kind::Tag {
            name: b"/dev/disk/by-id/a (1 total)-reads",
            total: 7,
        };
        assert_eq!(kind_of("/dev/disk/by-id/a (1 total)-reads (7 total)"), expected);
    }

    #[test]
    fn a_label_above_the_limit_is_not_an_interval() {
        assert_eq!(kind_of("after 1000000000 sec:"), Kind::Interval(LABEL_S_MAX));
        assert_eq!(kind_of("after 1000000001 sec:"), Kind::Other);
    }

    #[test]
    fn malformed_tags_and_intervals_are_other_lines() {
        for text in [
            "after sec:",
            "after 5 sec",
            "reads (x total)",
            "(5 total)",
            "reads(5 total)",
            "reads (5 tot)",
        ] {
            assert_eq!(kind_of(text), Kind::Other, "{text}");
        }
    }

    fn buckets_of(text: &str) -> Option<(Vec<Bucket>, String)> {
        let mut found = Vec::new();
        let rest = clean_buckets(text.as_bytes(), |bucket| {
            found.push(bucket);
            true
        })?;
        Some((found, String::from_utf8_lossy(rest).into_owned()))
    }

    #[test]
    fn a_line_has_one_to_four_buckets() {
        let cell = |index: usize| format!(" ({index:02}: 0000000007)");
        for count in 0..=5 {
            let line = (0..count).map(cell).collect::<String>() + "\nreads";
            let expected: Vec<Bucket> = (0..count).map(|index| (index, 7)).collect();
            let clean = (1..=4).contains(&count);
            assert_eq!(
                buckets_of(&line),
                clean.then_some((expected, "reads".to_owned())),
                "{count}"
            );
        }
    }

    #[test]
    fn a_line_without_its_end_is_not_clean() {
        let line = " (01: 0000006269) (02: 0000001669)\n";
        for length in 0..line.len() {
            assert_eq!(buckets_of(&line[..length]), None, "{length}");
        }
        assert!(buckets_of(line).is_some());
    }

    #[test]
    fn noise_and_wide_counts_are_not_clean() {
        for line in [
            " (01: 0000006269) x\n",
            " (01: 00000062690)\n",
            " (01: 0000006269)  (02: 0000001669)\n",
            " (01: 0000006269) \n",
        ] {
            assert_eq!(buckets_of(line), None, "{line}");
        }
    }

    #[test]
    fn a_tag_is_clean_under_its_own_name_only() {
        let total =
            |text: &str, name: &str| clean_tag(text.as_bytes(), name.as_bytes()).map(|(total, _)| total);
        assert_eq!(total("READS              (2001 total)\n", "READS"), Some(2001));
        assert_eq!(total("reads (8010 total)\nx", "reads"), Some(8010));
        assert_eq!(total("reads (8010 total)", "reads"), None);
        assert_eq!(total("reads (8010 total) \n", "reads"), None);
        assert_eq!(total("reads(8010 total)\n", "reads"), None);
        assert_eq!(total("reads-x (8010 total)\n", "reads"), None);
        assert_eq!(total("reads \n(8010 total)\n", "reads"), None);
    }

    #[test]
    fn an_interval_line_is_clean_up_to_its_bound() {
        let label = |text: &str| clean_interval(text.as_bytes(), b"after ").map(|(label_s, _)| label_s);
        assert_eq!(label("after 1000000000 sec:\n"), Some(1_000_000_000));
        assert_eq!(label("after 1000000001 sec:\n"), None);
        assert_eq!(label("after 5 sec:"), None);
        assert_eq!(label("After 5 sec:\n"), None);
    }
}
