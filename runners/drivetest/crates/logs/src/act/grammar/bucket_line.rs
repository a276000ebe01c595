//! A line of buckets: ` (01: 0000006269) (02: 0000001669)`, one to four of them.

use crate::act::blocks::histogram::BUCKETS_COUNT;

/// Index and count of one printed bucket.
pub type Bucket = (usize, u64);

/// Bytes of a bucket with a count of ten digits, its blank before it: ` (01: 0000006269)`.
pub const CELL_BYTES: usize = 17;

/// Parse a bucket in the format of all but the largest counts; `None` if any byte differs.
#[inline]
pub fn parse_cell(cell: &[u8; CELL_BYTES]) -> Option<Bucket> {
    let (head, tail) = (word(&cell[..8]), word(&cell[8..16]));
    let is_form = head & FORM_MASK == FORM && cell[16] == b')';
    // The fixed characters become the digit 0, so that one comparison checks whether all others are digits.
    let digits = (head & !FORM_MASK) | (ZEROS & FORM_MASK);
    if !(is_form && are_digits(digits) && are_digits(tail)) {
        return None;
    }
    let (index, leading) = (two_digits(cell[2], cell[3]), two_digits(cell[6], cell[7]));
    (index < BUCKETS_COUNT as u64).then(|| (index as usize, leading * 100_000_000 + eight_digits(tail)))
}

/// ` (` and `: ` at their positions in a cell.
const FORM: u64 = u64::from_le_bytes(*b" (\0\0: \0\0");
const FORM_MASK: u64 = u64::from_le_bytes(*b"\xFF\xFF\0\0\xFF\xFF\0\0");
const ZEROS: u64 = u64::from_le_bytes(*b"00000000");

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// Return whether all eight bytes are `0` to `9`: the high half is 3, and remains 3 when 6 is added.
fn are_digits(word: u64) -> bool {
    const HIGH_HALVES: u64 = u64::from_le_bytes([0xF0; 8]);
    let raised = word.wrapping_add(u64::from_le_bytes([6; 8]));
    (word & HIGH_HALVES) | ((raised & HIGH_HALVES) >> 4) == u64::from_le_bytes([0x33; 8])
}

/// Return the number that two digits print. With only four bits of each, the compiler sees that nothing can overflow.
fn two_digits(tens: u8, ones: u8) -> u64 {
    u64::from(tens & 0x0F) * 10 + u64::from(ones & 0x0F)
}

/// Return the number that eight digits print, the first in the lowest byte: pairs, then fours, then all.
fn eight_digits(word: u64) -> u64 {
    let digits = word & u64::from_le_bytes([0x0F; 8]);
    let pairs = digits.wrapping_mul((10 << 8) + 1) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul((100 << 16) + 1) >> 16 & 0x0000_FFFF_0000_FFFF;
    fours.wrapping_mul((10_000 << 32) + 1) >> 32
}

/// Pass the buckets of a line to `each` in their order; return false if the line contains anything else.
///
/// Blanks between the buckets may be doubled (ACT 1.x prints two).
pub fn parse(mut text: &[u8], mut each: impl FnMut(Bucket)) -> bool {
    let mut found = false;
    loop {
        if let Some((cell, rest)) = text.split_first_chunk()
            && let Some(bucket) = parse_cell(cell)
        {
            each(bucket);
            (found, text) = (true, rest);
            continue;
        }
        text = text.trim_ascii_start();
        if text.is_empty() {
            return found;
        }
        let Some((bucket, rest)) = parse_one(text) else {
            return false;
        };
        each(bucket);
        found = true;
        text = rest;
    }
}

/// Return whether a line begins like a line of buckets; the rest may still be damaged.
pub fn begins(text: &[u8]) -> bool {
    let cell = text.trim_ascii_start();
    cell.len() < text.len() && matches!(cell, [b'(', b'0'..=b'9', ..])
}

fn parse_one(text: &[u8]) -> Option<(Bucket, &[u8])> {
    let (index, rest) = number(text.strip_prefix(b"(")?)?;
    let (count, rest) = number(rest.strip_prefix(b": ")?)?;
    let rest = rest.strip_prefix(b")")?;
    (index < BUCKETS_COUNT as u64).then_some(((index as usize, count), rest))
}

/// Return the number at the start of a text, and the rest; `None` without a digit or above `u64::MAX`.
pub fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut value, mut rest) = (0_u64, text);
    while let [digit @ b'0'..=b'9', after @ ..] = rest {
        value = value.checked_mul(10)?.checked_add(u64::from(digit & 0x0F))?;
        rest = after;
    }
    (rest.len() < text.len()).then_some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<Vec<Bucket>> {
        let mut found = Vec::new();
        parse(text.as_bytes(), |bucket| found.push(bucket)).then_some(found)
    }

    #[test]
    fn buckets_are_read_with_one_blank_or_two() {
        let expected = Some(vec![(0, 5999), (2, 1)]);
        assert_eq!(parsed(" (00: 0000005999) (02: 0000000001)"), expected);
        assert_eq!(parsed(" (00: 0000005999)  (02: 0000000001) "), expected);
    }

    #[test]
    fn the_last_bucket_is_64_and_counts_may_be_wider_than_ten_digits() {
        assert_eq!(parsed(" (64: 18446744073709551615)"), Some(vec![(64, u64::MAX)]));
        assert_eq!(parsed(" (65: 0000000001)"), None);
        assert_eq!(parsed(" (64: 18446744073709551616)"), None);
    }

    #[test]
    fn a_cut_line_is_no_line_of_buckets() {
        let whole = " (01: 0000006269) (02: 0000001669)";
        for length in 0..whole.len() {
            let complete = (17..=18).contains(&length);
            assert_eq!(
                parsed(&whole[..length]).is_some(),
                complete,
                "{:?}",
                &whole[..length]
            );
        }
    }

    #[test]
    fn numbers_are_read_up_to_the_greatest_and_leading_zeros_are_free() {
        let value = |text: &str| number(text.as_bytes()).map(|(value, _)| value);
        assert_eq!(
            value("9999999999999999999"),
            Some(9_999_999_999_999_999_999),
            "19 digits"
        );
        assert_eq!(value("18446744073709551615"), Some(u64::MAX));
        assert_eq!(value("18446744073709551616"), None);
        assert_eq!(value("00000000000000000000000007"), Some(7));
        assert_eq!(value("x7"), None);
    }

    #[test]
    fn a_cell_is_read_as_the_general_way_reads_it() {
        for (index, count) in [(0, 1), (9, 12_345_678), (64, 9_999_999_999), (10, 100_000_000)] {
            let text = format!(" ({index:02}: {count:010})");
            let cell = text.as_bytes().try_into().unwrap();
            assert_eq!(parse_cell(cell), Some((index, count)), "{text}");
        }
        assert_eq!(parse_cell(b" (65: 0000000001)"), None);
    }

    #[test]
    fn a_wrong_byte_is_detected_at_every_position_of_a_cell() {
        let whole = *b" (01: 0000006269)";
        for (at, byte) in (0..CELL_BYTES).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
            let mut cell = whole;
            cell[at] = byte;
            let fits = if [2, 3].contains(&at) || (6..16).contains(&at) {
                byte.is_ascii_digit() && !(at == 2 && byte > b'6')
            } else {
                byte == whole[at]
            };
            assert_eq!(parse_cell(&cell).is_some(), fits, "byte {byte} at {at}");
        }
    }

    #[test]
    fn a_line_of_buckets_begins_with_blanks() {
        assert!(
            [" (01: 5)", "\t(01: 5)", "   (01"]
                .iter()
                .all(|text| begins(text.as_bytes()))
        );
        assert!(
            !["(01: 5)", " (x1: 5)", " 01: 5", " ", ""]
                .iter()
                .any(|text| begins(text.as_bytes()))
        );
    }

    #[test]
    fn noise_in_the_line_is_refused() {
        assert_eq!(parsed(" (01: 0000006269) usb 1-1: reset"), None);
        assert_eq!(parsed(""), None);
    }
}
