//! Texts of sizes, such as 16GiB and 4KiB.

/// Units with their bytes, the largest first.
pub const BINARY: [(&str, u64); 4] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
];

/// Returns a size rounded to one decimal of a binary unit: 16GiB, 1788.5GiB, 512B. Below 1024 units, the number fits
/// into its unit.
pub fn text(bytes: u64) -> String {
    if bytes < 1_024 {
        return format!("{bytes}B");
    }
    let tenths = |unit_bytes: u64| {
        let unit_bytes = u128::from(unit_bytes);
        (u128::from(bytes) * 10 + unit_bytes / 2) / unit_bytes
    };
    // The rounded number decides: 1048575 bytes are 1MiB, not 1024KiB.
    let mut units = BINARY.into_iter().rev();
    let fitting = units.find(|(_, unit_bytes)| tenths(*unit_bytes) < 10_240);
    let (unit, unit_bytes) = fitting.unwrap_or(BINARY[0]);
    match (tenths(unit_bytes) / 10, tenths(unit_bytes) % 10) {
        (whole, 0) => format!("{whole}{unit}"),
        (whole, tenth) => format!("{whole}.{tenth}{unit}"),
    }
}

/// Returns a size without rounding: with a binary unit if it is a multiple of one, otherwise in bytes.
pub fn exact_text(bytes: u64) -> String {
    let whole = BINARY
        .into_iter()
        .find(|(_, unit_bytes)| bytes > 0 && bytes.is_multiple_of(*unit_bytes));
    match whole {
        Some((unit, unit_bytes)) => format!("{}{unit}", bytes / unit_bytes),
        None => format!("{bytes} bytes"),
    }
}

/// Returns a size for people and the exact number of bytes: `256GiB (274877906944 bytes)`.
pub fn text_with_bytes(bytes: u64) -> String {
    format!("{} ({bytes} bytes)", text(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_largest_unit_and_one_decimal() {
        for (bytes, expected) in [
            (0, "0B"),
            (512, "512B"),
            (1_023, "1023B"),
            (1_024, "1KiB"),
            (12_345, "12.1KiB"),
            (1_048_524, "1023.9KiB"),
            (1_048_525, "1MiB"),
            (1_048_575, "1MiB"),
            (1_048_576, "1MiB"),
            ((1 << 40) - 1, "1TiB"),
            (17_179_869_184, "16GiB"),
            (1_920_383_410_176, "1.7TiB"),
            (960_197_124_096, "894.3GiB"),
            (u64::MAX, "16777216TiB"),
        ] {
            assert_eq!(text(bytes), expected);
        }
    }

    #[test]
    fn an_exact_text_is_never_rounded() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1_000, "1000 bytes"),
            (1_025, "1025 bytes"),
            (1_536, "1536 bytes"),
            (17_179_869_184, "16GiB"),
            (1_536 << 20, "1536MiB"),
        ] {
            assert_eq!(exact_text(bytes), expected);
        }
    }
}
