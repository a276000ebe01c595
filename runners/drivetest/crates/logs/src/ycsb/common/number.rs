//! Numbers as Java prints them; what is shown is never rounded through a float.

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

/// Return a time in milliseconds as microseconds, digit by digit: `2.0` is `2000`, `1.2345` is `1234.5`.
pub fn ms_as_us(text: &str) -> Option<String> {
    if text.contains(['E', 'e']) {
        return value(text).map(|ms| (ms * 1000.0).to_string());
    }
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let moved: String = part.chars().chain("000".chars()).take(3).collect();
    let rest = part.get(3..).unwrap_or("").trim_end_matches('0');
    let digits = format!("{whole}{moved}");
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let dot = if rest.is_empty() { "" } else { "." };
    is_number(text).then(|| format!("{digits}{dot}{rest}"))
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
}
