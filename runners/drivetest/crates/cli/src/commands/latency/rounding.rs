//! How upstream's scripts round: those of Python 2 half away from zero, those of Python 3 half to even.

use drivetest_logs::act::grammar::family::Family;
use drivetest_logs::act::run::Run;
use drivetest_logs::judge::share::rounded;

/// Decimals that show a double as it is, where it lies near a half of the last place that is printed.
const EXACT_PLACES: usize = 40;

/// What becomes of a value that lies exactly between two that can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// The larger: Python 2.
    HalfAway,
    /// The one with an even last digit: Python 3.
    HalfEven,
}

impl Rounding {
    /// That of the script that came with a log's version: 5.0 is the last for Python 2, before service-threads came.
    pub fn of(run: &Run) -> Self {
        let is_python_2 = match run.origin.family {
            Some(Family::A) => true,
            Some(Family::B) => run.origin.service_threads.is_none(),
            Some(Family::C) | None => false,
        };
        if is_python_2 {
            Self::HalfAway
        } else {
            Self::HalfEven
        }
    }

    /// Rounds a value from 0 on to some places.
    pub fn round(self, value: f64, places: usize) -> f64 {
        if self == Self::HalfAway && is_half(value, places) {
            rounded(value.next_up(), places)
        } else {
            rounded(value, places)
        }
    }
}

/// Whether a double lies exactly between two values of so many places.
fn is_half(value: f64, places: usize) -> bool {
    let exact = format!("{value:.EXACT_PLACES$}");
    let rest = exact
        .split_once('.')
        .map_or("", |(_, decimals)| &decimals[places..]);
    rest.strip_prefix('5')
        .is_some_and(|rest| rest.bytes().all(|digit| digit == b'0'))
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
    fn a_double_beside_a_half_goes_where_it_lies() {
        for rounding in [Rounding::HalfAway, Rounding::HalfEven] {
            assert_eq!(rounding.round(0.125_f64.next_down(), 2), 0.12);
            assert_eq!(rounding.round(0.125_f64.next_up(), 2), 0.13);
            assert_eq!(rounding.round(1.005, 2), 1.0, "the double lies below 1.005");
            assert_eq!(rounding.round(100.0, 2), 100.0);
        }
    }
}
