//! What was parsed, line by line: keys and values as text, comments and separators taken away.

use super::ConfigError;

/// One line of a configuration that says something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// 1-based line in the file.
    pub number: usize,
    /// The key as parsed.
    pub key: &'a str,
    /// The rest of the line, without blanks at its ends; empty when nothing was given.
    pub value: &'a str,
}

/// Upstream reads 4095 bytes of a line and takes the rest for the next; 128 device names of 127 bytes fit in here.
const LONGEST_LINE_BYTES: usize = 65_536;

/// Returns the lines that hold a key. `#` starts a comment anywhere; `:` or blanks separate key and value.
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
            most_bytes: LONGEST_LINE_BYTES,
        });
    }
    match line.contains('\0') {
        true => Err(ConfigError::NotText { line: number }),
        false => Ok(()),
    }
}

fn split(number: usize, line: &str) -> Option<Line<'_>> {
    let said = line.split('#').next().unwrap_or_default();
    let said = said
        .trim_start_matches(|c: char| c == ':' || c.is_whitespace())
        .trim_end();
    if said.is_empty() {
        return None;
    }
    let end = said
        .find(|c: char| c == ':' || c.is_whitespace())
        .unwrap_or(said.len());
    let (key, rest) = said.split_at(end);
    // Only one colon belongs to the separator: /dev/disk/by-path names hold colons of their own.
    let rest = rest.trim_start();
    let value = rest.strip_prefix(':').unwrap_or(rest).trim_start();
    Some(Line { number, key, value })
}

/// The longest configuration, bytes; one with 128 devices needs some tens of thousands.
pub const MOST_BYTES: usize = 1 << 20;

/// Returns the bytes as text; comments may be in another encoding than UTF-8, as upstream does not look at them.
///
/// # Errors
/// [`ConfigError`] names the first line that is not text, or the length.
pub fn text(bytes: &[u8]) -> Result<String, ConfigError> {
    if bytes.len() > MOST_BYTES {
        return Err(ConfigError::TooLong {
            most_bytes: MOST_BYTES,
        });
    }
    let is_text = |line: &[u8]| {
        let said = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        std::str::from_utf8(said).is_ok() && !line.contains(&0)
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
    fn what_is_not_text_is_refused_with_its_line() {
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
    fn a_configuration_has_its_length() {
        assert_eq!(sentence(&vec![b'\n'; MOST_BYTES]), "");
        assert!(sentence(&vec![b'\n'; MOST_BYTES + 1]).starts_with("expected at most 1048576 bytes"));
    }

    fn only(text: &str) -> (String, String) {
        let found: Vec<_> = lines(text).map(Result::unwrap).collect();
        assert_eq!(found.len(), 1, "{text:?}");
        (found[0].key.to_owned(), found[0].value.to_owned())
    }

    #[test]
    fn colon_blanks_and_both_separate() {
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
    fn comments_and_empty_lines_say_nothing() {
        assert_eq!(lines("# a: 1\n\n   \n:\n#").count(), 0);
    }

    #[test]
    fn a_value_keeps_its_colons() {
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
    fn a_line_has_its_length() {
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
