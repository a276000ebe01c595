//! Sizes on the command line, such as 16GiB and 4KiB, and the texts of sizes.

use drivetest_device::size::BINARY;
pub use drivetest_device::size::{exact_text, text, text_with_bytes};

/// Units that are only read, as manufacturers of drives use them.
const DECIMAL: [(&str, u64); 4] = [
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
];

/// Parses digits, with or without a unit. Fractions and blanks are refused.
///
/// # Errors
/// A sentence with the expected form.
pub fn parse(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let mut units = BINARY.into_iter().chain(DECIMAL).chain([("B", 1), ("", 1)]);
    let unit_bytes = units.find(|(name, _)| *name == unit).map(|(_, bytes)| bytes);
    // `u64::from_str` accepts a sign.
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let count: Option<u64> = digits.parse().ok().filter(|_| is_number);
    let bytes = count
        .zip(unit_bytes)
        .and_then(|(count, bytes)| count.checked_mul(bytes));
    bytes.ok_or_else(|| "expected bytes or a size with a unit, such as 4096, 4KiB or 16GiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_with_and_without_a_unit_are_read() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4_096),
            ("512B", 512),
            ("4KiB", 4_096),
            ("16GiB", 17_179_869_184),
            ("17179869184", 17_179_869_184),
            ("2TiB", 2 << 40),
            ("100MB", 100_000_000),
            ("1kB", 1_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn other_forms_are_refused_with_the_expected_one() {
        for text in [
            "",
            "GiB",
            "16 GiB",
            " 16GiB",
            "16gib",
            "16Gib",
            "16G",
            "1.5GiB",
            "-1",
            "+1",
            "1_000",
            "16GiBs",
            "16777216TiB",
            "18446744073709551616",
            "1\u{b5}B",
        ] {
            let error = parse(text);
            assert!(
                error
                    .as_ref()
                    .is_err_and(|error| error.contains("such as 4096, 4KiB or 16GiB")),
                "{text}: {error:?}"
            );
        }
    }

    #[test]
    fn a_text_of_whole_units_is_read_as_the_same_size() {
        for bytes in [1, 4_096, 16 << 30, 3 << 40] {
            assert_eq!(parse(&text(bytes)), Ok(bytes));
        }
    }
}
