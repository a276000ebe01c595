//! The lines of a configuration: text, comments, keys and values.

use super::ConfigError;

/// A line with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Line number, from 1.
    pub number: usize,
    /// The key as typed.
    pub key: &'a str,
    /// The rest of the line, trimmed; empty if there is no value.
    pub value: &'a str,
}

/// Long enough for 128 device names of 127 bytes. Upstream reads 4095 bytes and takes the rest for the next line.
pub(super) const LONGEST_LINE_BYTES: usize = 65_536;

/// Returns the lines with a key. `#` starts a comment anywhere; `:` or blanks separate key and value.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Result<Line<'_>, ConfigError>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.split('\n')
        .enumerate()
        .filter_map(|(index, line)| match check(index + 1, line) {
            Ok(()) => split(index + 1, line).map(Ok),
            Err(error) => Some(Err(error)),
        })
}

fn check(number: usize, line: &str) -> Result<(), ConfigError> {
    if line.len() > LONGEST_LINE_BYTES {
        return Err(ConfigError::LongLine {
            line: number,
            found_bytes: line.len(),
        });
    }
    match line.contains('\0') {
        true => Err(ConfigError::NotText { line: number }),
        false => Ok(()),
    }
}

fn split(number: usize, line: &str) -> Option<Line<'_>> {
    let content = line.split('#').next().unwrap_or_default();
    let content = content
        .trim_start_matches(|c: char| c == ':' || c.is_whitespace())
        .trim_end();
    if content.is_empty() {
        return None;
    }
    let end = content
        .find(|c: char| c == ':' || c.is_whitespace())
        .unwrap_or(content.len());
    let (key, rest) = content.split_at(end);
    // Only one colon is a separator: /dev/disk/by-path names contain colons.
    let rest = rest.trim_start();
    let value = rest.strip_prefix(':').unwrap_or(rest).trim_start();
    Some(Line { number, key, value })
}

/// Maximum length of a configuration, bytes. One with 128 devices needs some tens of thousands.
pub const MOST_BYTES: usize = 1 << 20;

/// Returns the bytes as text. Comments may have another encoding than UTF-8, because upstream ignores them.
///
/// # Errors
/// [`ConfigError`] with the first line that is not text, or with the length.
pub fn text(bytes: &[u8]) -> Result<String, ConfigError> {
    if bytes.len() > MOST_BYTES {
        return Err(ConfigError::TooLong);
    }
    let is_text = |line: &[u8]| {
        let content = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        std::str::from_utf8(content).is_ok() && !line.contains(&0)
    };
    match bytes.split(|byte| *byte == b'\n').position(|line| !is_text(line)) {
        Some(index) => Err(ConfigError::NotText { line: index + 1 }),
        None => Ok(String::from_utf8_lossy(bytes).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(bytes: &[u8]) -> String {
        text(bytes)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn bytes_that_are_not_text_are_refused_with_their_line() {
        assert!(sentence(b"a: 1\n\xff\xfea\0").starts_with("line 2: expected text in UTF-8"));
        assert!(sentence(b"a: \0").starts_with("line 1: expected text"));
    }

    #[test]
    fn a_comment_may_be_in_latin_1() {
        assert_eq!(
            text(b"a: 1 # Gr\xf6\xdfe\nb: 2").unwrap(),
            "a: 1 # Gr\u{fffd}\u{fffd}e\nb: 2"
        );
    }

    #[test]
    fn a_configuration_has_a_maximum_length() {
        assert_eq!(sentence(&vec![b'\n'; MOST_BYTES]), "");
        assert!(sentence(&vec![b'\n'; MOST_BYTES + 1]).starts_with("expected at most 1048576 bytes"));
    }

    fn only(text: &str) -> (String, String) {
        let found: Vec<_> = lines(text).map(Result::unwrap).collect();
        assert_eq!(found.len(), 1, "{text:?}");
        (found[0].key.to_owned(), found[0].value.to_owned())
    }

    #[test]
    fn a_colon_or_blanks_or_both_separate_key_and_value() {
        for text in [
            "a: 1",
            "a 1",
            "a:1",
            "a : 1",
            "\ta\t1\r",
            "\u{feff}a: 1",
            ": a: 1",
            "a: 1 # why",
        ] {
            assert_eq!(only(text), ("a".to_owned(), "1".to_owned()), "{text:?}");
        }
    }

    #[test]
    fn comments_and_empty_lines_are_ignored() {
        assert_eq!(lines("# a: 1\n\n   \n:\n#").count(), 0);
    }

    #[test]
    fn a_value_may_contain_colons() {
        assert_eq!(
            only("device-names: /dev/disk/by-path/pci-0:1").1,
            "/dev/disk/by-path/pci-0:1"
        );
    }

    #[test]
    fn lines_are_counted_from_one() {
        assert_eq!(lines("\n\na: 1").next().unwrap().unwrap().number, 3);
    }

    #[test]
    fn a_line_has_a_maximum_length() {
        let of = |bytes: usize| {
            lines(&format!("a: {}", "1".repeat(bytes - 3)))
                .next()
                .unwrap()
                .is_ok()
        };
        assert_eq!(
            (of(LONGEST_LINE_BYTES), of(LONGEST_LINE_BYTES + 1)),
            (true, false)
        );
    }

    #[test]
    fn a_nul_byte_is_refused_even_in_a_comment() {
        for text in ["a: 1\0", "# \0", "\0"] {
            let found: Result<Vec<_>, _> = lines(text).collect();
            assert!(found.is_err(), "{text:?}");
        }
    }
}
