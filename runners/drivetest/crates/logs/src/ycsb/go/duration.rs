//! Durations as Go prints them: `1h2m3.5s`, `151.292618ms`, `12µs`.
//!
//! Source: Go, time.Duration.String().

/// Units and their nanoseconds; both signs for micro are in use.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
];

/// Return the nanoseconds of a duration; `None` if it is not a duration, or above `u64::MAX`.
pub fn parse_ns(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut sum_ns = 0_u64;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(end);
        let (unit, unit_ns) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        sum_ns = sum_ns.checked_add(scaled(number, *unit_ns)?)?;
        rest = &after[unit.len()..];
    }
    (!text.is_empty()).then_some(sum_ns)
}

/// Convert digit by digit, because floats would lose nanoseconds.
fn scaled(number: &str, unit_ns: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let mut sum_ns = whole.parse::<u64>().ok()?.checked_mul(unit_ns)?;
    let mut place_ns = unit_ns;
    for digit in part.chars() {
        place_ns /= 10;
        sum_ns = sum_ns.checked_add(u64::from(digit.to_digit(10)?) * place_ns)?;
    }
    Some(sum_ns)
}

/// Return nanoseconds as milliseconds with all digits: `151.292618`.
pub fn as_ms(ns: u64) -> String {
    let text = format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_go_are_read_to_the_nanosecond() {
        let pairs = [
            ("0s", 0),
            ("7ns", 7),
            ("12µs", 12_000),
            ("12μs", 12_000),
            ("252.033us", 252_033),
            ("151.292618ms", 151_292_618),
            ("1.001442814s", 1_001_442_814),
            ("1m0s", 60_000_000_000),
            ("1h2m3.5s", 3_723_500_000_000),
        ];
        for (text, ns) in pairs {
            assert_eq!(parse_ns(text), Some(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_none() {
        for text in ["", "s", "1", "1.s.", "1x", "-1s", "1.2.3s", "99999999999h", "1s2"] {
            assert_eq!(parse_ns(text), None, "{text}");
        }
    }

    #[test]
    fn milliseconds_have_every_digit() {
        let pairs = [
            (0, "0"),
            (151_292_618, "151.292618"),
            (2_000_000, "2"),
            (100, "0.0001"),
        ];
        for (ns, ms) in pairs {
            assert_eq!(as_ms(ns), ms);
        }
    }
}
