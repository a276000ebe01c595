//! A line of buckets: ` (01: 0000006269) (02: 0000001669)`, one to four of them.

use crate::act::histogram::BUCKETS_COUNT;

/// One bucket as printed.
pub type Bucket = (usize, u64);

/// Hands the buckets of a line to `each` in their order; false when the line is not wholly of buckets.
///
/// Blanks between the buckets may be doubled (ACT 1.x prints two).
pub fn parse(mut text: &[u8], mut each: impl FnMut(Bucket)) -> bool {
    let mut found = false;
    loop {
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

/// Whether a line begins as a line of buckets does; what follows may still be damaged.
pub fn begins(text: &[u8]) -> bool {
    text.starts_with(b" (") && text.get(2).is_some_and(u8::is_ascii_digit)
}

fn parse_one(text: &[u8]) -> Option<(Bucket, &[u8])> {
    let (index, rest) = number(text.strip_prefix(b"(")?)?;
    let (count, rest) = number(rest.strip_prefix(b": ")?)?;
    let bucket = usize::try_from(index)
        .ok()
        .filter(|&index| index < BUCKETS_COUNT)?;
    Some(((bucket, count), rest.strip_prefix(b")")?))
}

/// The number a text begins with, and the rest; None where no digit stands or no u64 holds it.
pub fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    let mut used = 0;
    for digit in text
        .iter()
        .map(|byte| byte.wrapping_sub(b'0'))
        .take_while(|&digit| digit < 10)
    {
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        used += 1;
    }
    (used > 0).then(|| (value, &text[used..]))
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
    fn noise_in_the_line_is_refused() {
        assert_eq!(parsed(" (01: 0000006269) usb 1-1: reset"), None);
        assert_eq!(parsed(""), None);
    }
}
