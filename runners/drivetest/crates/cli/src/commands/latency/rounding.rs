//! Rounding of the original scripts: half away from zero in Python 2, half to even in Python 3.

use drivetest_logs::act::grammar::family::Family;
use drivetest_logs::act::run::Run;
use drivetest_logs::judge::share::rounded;

/// Decimals that show a double exactly enough near a half of the last printed place.
const EXACT_PLACES: usize = 40;

/// Rounding of a value exactly between two printable values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the larger value: Python 2.
    HalfAway,
    /// To the even last digit: Python 3.
    HalfEven,
}

impl Rounding {
    /// Returns the rounding of the script for a log's version. 5.0 without service-threads is the last for Python 2.
    pub fn of(run: &Run) -> Self {
        match run.origin.family {
            Some(Family::A) => Self::HalfAway,
            Some(Family::B) if run.origin.service_threads.is_none() => Self::HalfAway,
            Some(Family::B | Family::C) | None => Self::HalfEven,
        }
    }

    /// Rounds a non-negative value to a number of places.
    pub fn round(self, value: f64, places: usize) -> f64 {
        match self == Self::HalfAway && is_half(value, places) {
            true => rounded(value.next_up(), places),
            false => rounded(value, places),
        }
    }
}

/// Returns whether a double is exactly between two values with that number of places.
fn is_half(value: f64, places: usize) -> bool {
    let exact = format!("{value:.EXACT_PLACES$}");
    let rest = exact
        .split_once('.')
        .map_or("", |(_, decimals)| &decimals[places..]);
    let after_half = rest.strip_prefix('5');
    after_half.is_some_and(|rest| rest.bytes().all(|digit| digit == b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_half_goes_up_in_python_2_and_to_the_even_digit_in_python_3() {
        for (value, python_2, python_3) in [(0.125, 0.13, 0.12), (0.375, 0.38, 0.38), (0.625, 0.63, 0.62)] {
            assert_eq!(Rounding::HalfAway.round(value, 2), python_2);
            assert_eq!(Rounding::HalfEven.round(value, 2), python_3);
        }
        assert_eq!(Rounding::HalfAway.round(24.25, 1), 24.3);
        assert_eq!(Rounding::HalfEven.round(24.25, 1), 24.2);
    }

    #[test]
    fn a_double_near_a_half_rounds_to_the_nearest() {
        for rounding in [Rounding::HalfAway, Rounding::HalfEven] {
            assert_eq!(rounding.round(0.125_f64.next_down(), 2), 0.12);
            assert_eq!(rounding.round(0.125_f64.next_up(), 2), 0.13);
            assert_eq!(rounding.round(1.005, 2), 1.0, "the double is below 1.005");
            assert_eq!(rounding.round(100.0, 2), 100.0);
        }
    }
}
