//! Prefix before every line of a run that was quoted, indented, or forwarded by a logger.
//!
//! The first line of the header shows the prefix, and the next line, which is known, confirms it. Nothing else counts as a
//! prefix; a line of the run without it is ignored and reported.

const NAMES_OF_TIME: [&[u8]; 19] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec", b"Mon",
    b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun",
];

/// Kind of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// Blanks and tabs.
    Indented,
    /// Marks such as `> ` and `| `.
    Quoted,
    /// A time, a host or a program, which loggers add.
    Shipped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Fixed bytes.
    Same(Box<[u8]>),
    /// One or more digits: a time or a counter.
    Digits,
    /// The name of a month or a day of the week.
    TimeName,
    /// One or more blanks: a day of one digit is padded.
    Blanks,
}

/// A prefix of fixed bytes, and of digits and time names that change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    parts: Vec<Part>,
    nature: Nature,
}

impl Prefix {
    /// Return the prefix of a header's first line.
    pub fn of(before: &[u8]) -> Self {
        let nature = if before.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            Nature::Indented
        } else if before.iter().any(u8::is_ascii_alphanumeric) {
            Nature::Shipped
        } else {
            Nature::Quoted
        };
        let parts = match nature {
            Nature::Shipped => parts_of(before),
            Nature::Indented | Nature::Quoted => vec![Part::Same(before.into())],
        };
        Self { parts, nature }
    }

    /// Return the kind of the prefix.
    pub fn nature(&self) -> Nature {
        self.nature
    }

    /// Return the text after the prefix; `None` if the line does not have it.
    ///
    /// The text is empty if the line is a prefix whose trailing blanks were removed.
    pub fn strip<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        let mut rest = text;
        for (at, part) in self.parts.iter().enumerate() {
            let is_last = at + 1 == self.parts.len();
            match part.strip(rest) {
                Some(after) => rest = after,
                None if is_last && part.is_but_trailing_blanks(rest) => return Some(&[]),
                None => return None,
            }
        }
        Some(rest)
    }
}

impl Part {
    fn strip<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            Self::Same(bytes) => text.strip_prefix(&**bytes),
            Self::Digits => after_some(text, |byte| byte.is_ascii_digit()),
            Self::Blanks => Some(after_some(text, |byte| byte == b' ').unwrap_or(text)),
            Self::TimeName => NAMES_OF_TIME.iter().find_map(|name| text.strip_prefix(*name)),
        }
    }

    fn is_but_trailing_blanks(&self, rest: &[u8]) -> bool {
        matches!(self, Self::Same(bytes) if bytes.trim_ascii_end() == rest)
    }
}

fn after_some(text: &[u8], is_one: impl Fn(u8) -> bool) -> Option<&[u8]> {
    let count = text.iter().take_while(|&&byte| is_one(byte)).count();
    (count > 0).then(|| &text[count..])
}

/// Divide a prefix. Digits may change in times, dates and plain numbers only: `host7` and `act[123]` are fixed.
fn parts_of(before: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = before;
    while !rest.is_empty() {
        let blanks = rest.iter().take_while(|&&byte| byte == b' ').count();
        let (blanks, words) = rest.split_at(blanks);
        let end = words.iter().position(|byte| matches!(byte, b' ' | b'\t'));
        let (word, after) = words.split_at(end.unwrap_or(words.len()));
        add_blanks(blanks, words, &mut parts);
        add_word(word, &mut parts);
        rest = after;
        if let Some(after) = rest.strip_prefix(b"\t") {
            add_same(b"\t", &mut parts);
            rest = after;
        }
    }
    parts
}

fn add_same(bytes: &[u8], parts: &mut Vec<Part>) {
    match parts.last_mut() {
        _ if bytes.is_empty() => {}
        Some(Part::Same(before)) => *before = [before, bytes].concat().into(),
        _ => parts.push(Part::Same(bytes.into())),
    }
}

/// Allow blanks before a digit to change (`Dec  1`, `Dec 10`), but not those at the end.
fn add_blanks(blanks: &[u8], behind: &[u8], parts: &mut Vec<Part>) {
    if behind.first().is_some_and(u8::is_ascii_digit) {
        parts.push(Part::Blanks);
    } else {
        add_same(blanks, parts);
    }
}

fn add_word(word: &[u8], parts: &mut Vec<Part>) {
    if NAMES_OF_TIME.contains(&word) {
        parts.push(Part::TimeName);
    } else if is_of_time(word) {
        add_digits(word, parts);
    } else {
        add_same(word, parts);
    }
}

/// Return whether a word is a time: digits with the separators of times; three dots are an address.
fn is_of_time(word: &[u8]) -> bool {
    let dots = word.iter().filter(|&&byte| byte == b'.').count();
    let is_part = |byte: &u8| {
        byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'.' | b',' | b'/' | b'+' | b'T' | b'Z')
    };
    let core = word.trim_ascii_start().strip_prefix(b"[").unwrap_or(word);
    let core = core.strip_suffix(b":").unwrap_or(core);
    let core = core.strip_suffix(b"]").unwrap_or(core);
    dots < 3 && core.first().is_some_and(u8::is_ascii_digit) && core.iter().all(is_part)
}

fn add_digits(word: &[u8], parts: &mut Vec<Part>) {
    for run in word.chunk_by(|one, other| one.is_ascii_digit() == other.is_ascii_digit()) {
        if run[0].is_ascii_digit() {
            parts.push(Part::Digits);
        } else {
            add_same(run, parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behind(prefix: &str, line: &str) -> Option<String> {
        let prefix = Prefix::of(prefix.as_bytes());
        let rest = prefix.strip(line.as_bytes())?;
        Some(String::from_utf8(rest.to_vec()).unwrap())
    }

    fn nature(prefix: &str) -> Nature {
        Prefix::of(prefix.as_bytes()).nature()
    }

    #[test]
    fn the_kind_of_a_prefix_is_detected() {
        assert_eq!(nature(" \t"), Nature::Indented);
        assert_eq!(nature(">> "), Nature::Quoted);
        assert_eq!(nature("Nov 21 02:55:29 "), Nature::Shipped);
    }

    #[test]
    fn marks_and_blanks_stay_as_they_are() {
        for prefix in ["> ", ">> ", "| ", "    ", "\t", "\u{2502} "] {
            let line = format!("{prefix} (01: 0000000005)");
            assert_eq!(
                behind(prefix, &line).as_deref(),
                Some(" (01: 0000000005)"),
                "{prefix:?}"
            );
            assert_eq!(
                behind(prefix, prefix.trim_ascii_end()).as_deref(),
                Some(""),
                "{prefix:?}"
            );
        }
        assert_eq!(behind("> ", ">  (01: 5)").as_deref(), Some(" (01: 5)"));
        assert_eq!(behind("> ", "reads (5 total)"), None);
    }

    #[test]
    fn times_change_and_their_shape_stays() {
        for (prefix, later) in [
            (
                "Nov 21 02:55:29 bench01 act[123]: ",
                "Dec  1 00:00:00 bench01 act[123]: ",
            ),
            ("2024-01-02T03:04:05.123456Z ", "2024-01-02T03:04:06.000001Z "),
            ("[2024-01-02 03:04:05] ", "[2024-01-03 00:00:00] "),
            ("[  9.125000] ", "[100.250000] "),
            ("act-1  | ", "act-1  | "),
            ("  7\t", "123456\t"),
            ("1700000000.5 host7 ", "1700000001.5 host7 "),
        ] {
            let line = format!("{later} (01: 5)");
            assert_eq!(behind(prefix, &line).as_deref(), Some(" (01: 5)"), "{prefix:?}");
        }
    }

    #[test]
    fn another_process_or_host_has_another_prefix() {
        let prefix = "Nov 21 02:55:29 bench01 act[123]: ";
        assert_eq!(
            behind(prefix, "Nov 21 02:55:29 bench01 act[124]: reads (5 total)"),
            None
        );
        assert_eq!(
            behind(prefix, "Nov 21 02:55:29 bench02 act[123]: reads (5 total)"),
            None
        );
        assert_eq!(behind("10.0.0.5: ", "10.0.0.6: reads (5 total)"), None);
        assert_eq!(behind(prefix, "reads (5 total)"), None);
        assert_eq!(
            behind(prefix, "Nov 21 02:55:30 bench01 act[123]:").as_deref(),
            Some("")
        );
    }
}
