//! Rounded numbers as strings with a fixed number of places, so that no digit is lost.

use serde::{Serialize, Serializer};

use crate::clock::Nanos;

/// A measured number that is written with a fixed number of decimal places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounded {
    value: f64,
    places: usize,
}

impl Rounded {
    /// Creates a rounded number, or None if the value is not finite, such as 0/0.
    pub fn new(value: f64, places: usize) -> Option<Self> {
        value.is_finite().then_some(Self { value, places })
    }

    /// Returns the number.
    pub fn value(self) -> f64 {
        self.value
    }
}

impl std::fmt::Display for Rounded {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:.*}", self.places, self.value)
    }
}

impl Serialize for Rounded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns requests per second with three decimal places, rounded down; "0.000" for no time.
pub fn rate(count: u64, length: Nanos) -> String {
    let thousandths = (u128::from(count) * 1_000 * 1_000_000_000)
        .checked_div(u128::from(length.0))
        .unwrap_or(0);
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_decimals_without_a_float() {
        assert_eq!(rate(120_000, Nanos::from_s(60)), "2000.000");
        assert_eq!(rate(1, Nanos::from_s(3)), "0.333");
        assert_eq!(rate(5, Nanos(0)), "0.000");
        assert_eq!(rate(u64::MAX, Nanos::from_s(1)), "18446744073709551615.000");
    }

    #[test]
    fn a_value_that_is_not_finite_is_not_shown() {
        assert_eq!(Rounded::new(f64::NAN, 1), None);
        assert_eq!(Rounded::new(f64::INFINITY, 1), None);
        let shown = serde_json::to_string(&Rounded::new(2.0 / 3.0, 2)).unwrap();
        assert_eq!(shown, "\"0.67\"");
    }
}
