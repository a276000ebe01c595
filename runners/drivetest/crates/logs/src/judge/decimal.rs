//! Exact decimals: limits are compared in integers, never in floats.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Maximum number of decimal places; limits are percentages.
const PLACES_MAX: usize = 9;

/// Maximum number of digits before the decimal point.
const WHOLE_DIGITS_MAX: usize = 9;

/// A number at or above zero with its decimal places: `digits` / 10^`places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u64,
    places: u32,
}

impl Decimal {
    /// Parse `5`, `0.1` or `5.00`; `None` for anything else.
    ///
    /// ```
    /// use drivetest_logs::judge::decimal::Decimal;
    /// assert_eq!(Decimal::parse("0.10").map(|limit| limit.to_string()), Some("0.10".to_owned()));
    /// assert!(Decimal::parse("-1").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let fits = whole.len() <= WHOLE_DIGITS_MAX && part.len() <= PLACES_MAX;
        let point_is_followed = part.is_empty() != text.contains('.');
        let digits = [whole, part].concat();
        let plain = !whole.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !(fits && plain && point_is_followed) {
            return None;
        }
        Some(Self {
            digits: digits.parse().ok()?,
            places: u32::try_from(part.len()).ok()?,
        })
    }

    /// Return all digits as an integer below 10^18.
    pub fn digits(self) -> u64 {
        self.digits
    }

    /// Return whether the value is greater than another.
    pub fn is_above(self, other: Self) -> bool {
        let side = |one: Self, two: Self| u128::from(one.digits) * u128::from(two.scale());
        side(self, other) > side(other, self)
    }

    /// Return 10^places, at most 10^9.
    pub fn scale(self) -> u64 {
        10_u64.pow(self.places)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.digits / self.scale(), self.digits % self.scale());
        write!(formatter, "{whole}")?;
        if self.places > 0 {
            write!(formatter, ".{part:0places$}", places = self.places as usize)?;
        }
        Ok(())
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unreadable = || de::Error::custom(format!("expected a decimal number in text; got '{text}'"));
        Self::parse(&text).ok_or_else(unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_places_are_preserved() {
        for text in ["5", "0.1", "5.00", "0.001", "100", "999999999.999999999"] {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_plain_decimal_is_refused() {
        for text in [
            "",
            ".",
            "5.",
            ".5",
            "-1",
            "+1",
            "1e2",
            " 1",
            "1,5",
            "1.2.3",
            "1.0123456789",
            "1234567890",
        ] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
