//! What was typed, line by line: keys and values as text, comments and separators taken away.

use super::ConfigError;

/// One line of a configuration that says something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// 1-based line in the file.
    pub number: usize,
    /// The key as typed.
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

#[cfg(test)]
mod tests {
    use super::*;

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
