//! Kinds of lines by their form: the grammar that all versions of ACT share.

use crate::act::grammar::bucket_line;

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
}
