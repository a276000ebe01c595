//! Numbers as Java and Go print them; displayed numbers never pass through a float.

/// Return whether a text is a finite number: `12`, `0.5`, `3.0E7`, `-1`.
pub fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'E' | b'-' | b'+');
    digits.bytes().all(is_plain) && value(text).is_some()
}

/// Return the value for arithmetic; `None` if the text is no finite number.
pub fn value(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Return a count, also where it was printed as a double (`2066.0`, `3.0E7`); `None` beyond 2^53 in a double, below 0, or broken.
pub fn count(text: &str) -> Option<u64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let whole = |value: &f64| value.fract() == 0.0 && (0.0..=EXACT_MAX).contains(value);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and within 0..=2^53"
    )]
    let cast = |value: f64| value as u64;
    text.parse().ok().or_else(|| value(text).filter(whole).map(cast))
}

/// Return a whole number that is written in digits alone.
pub fn whole(text: &str) -> Option<u64> {
    let only_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| only_digits)
}

/// Return a time in milliseconds as microseconds, digit by digit: `2.0` is `2000`, `1.2345` is `1234.5`.
pub fn ms_as_us(text: &str) -> Option<String> {
    if text.contains(['E', 'e']) {
        return value(text).map(|ms| (ms * 1000.0).to_string());
    }
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    is_number(text).then(|| shifted(whole, part, 3))
}

/// Return a decimal with its point some places further to the right, digit by digit.
pub fn shifted(whole: &str, part: &str, places: usize) -> String {
    let moved: String = part.chars().chain("000".chars()).take(places).collect();
    let rest = part.get(places..).unwrap_or("").trim_end_matches('0');
    let digits = format!("{whole}{moved}");
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{digits}{dot}{rest}")
}

/// Units and their nanoseconds; both signs for micro are in use.
const GO_UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
];

/// Return the nanoseconds of a duration as Go prints it: `1h2m3.5s`, `151.292618ms`, `12µs`.
///
/// `None` if it is not a duration, or above `u64::MAX`. Source: Go, time.Duration.String().
pub fn go_duration_ns(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut sum_ns = 0_u64;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(end);
        let (unit, unit_ns) = GO_UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
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
pub fn ns_as_ms(ns: u64) -> String {
    let text = format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_of_java_are_numbers_and_nothing_else_is() {
        for text in ["0", "12", "3633.0608537693006", "3.0E7", "1.0E-4", "-1"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", "NaN", "Infinity", "inf", "1,5", "0x1", "1e", "∞", "1 2"] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn counts_are_read_from_doubles_where_they_are_whole() {
        assert_eq!(count("2066.0"), Some(2066));
        assert_eq!(count("3.0E7"), Some(30_000_000));
        assert_eq!(count("9223372036854775807"), Some(i64::MAX as u64));
        assert_eq!(count("0.5"), None);
        assert_eq!(count("-1"), None);
        assert_eq!(count("1.0E300"), None);
    }

    #[test]
    fn milliseconds_become_microseconds_to_the_digit() {
        let pairs = [
            ("2", "2000"),
            ("2.0", "2000"),
            ("0.0", "0"),
            ("1.2345", "1234.5"),
            ("0.001", "1"),
        ];
        for (ms, us) in pairs {
            assert_eq!(ms_as_us(ms).as_deref(), Some(us), "{ms}");
        }
        assert_eq!(ms_as_us("NaN"), None);
    }

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
            assert_eq!(go_duration_ns(text), Some(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_none() {
        for text in ["", "s", "1", "1.s.", "1x", "-1s", "1.2.3s", "99999999999h", "1s2"] {
            assert_eq!(go_duration_ns(text), None, "{text}");
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
            assert_eq!(ns_as_ms(ns), ms);
        }
    }
}
