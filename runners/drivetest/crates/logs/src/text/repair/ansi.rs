//! Removal of escape sequences, backspaces and non-breaking spaces that terminals and editors leave in lines.

use std::borrow::Cow;

/// Maximum number of columns that the cursor moves; no terminal is wider.
const MOVED_COLUMNS_MAX: usize = 512;

/// Control characters and other marks that a line contained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Whether it has escape sequences, backspaces or other control characters.
    pub has_escapes: bool,
    /// Whether it has non-breaking spaces or zero-width characters.
    pub has_odd_blanks: bool,
    /// Whether it has NUL bytes.
    pub has_nuls: bool,
    /// Whether it begins with a byte order mark.
    pub has_byte_order_mark: bool,
}

/// Return a line as a terminal shows it, without trailing blanks, and the removed marks.
pub fn clean(line: &[u8]) -> (Cow<'_, [u8]>, Marks) {
    let unmarked = line.strip_prefix(b"\xEF\xBB\xBF");
    let line = unmarked.unwrap_or(line);
    let mut marks = Marks {
        has_byte_order_mark: unmarked.is_some(),
        has_nuls: line.contains(&0),
        ..Marks::default()
    };
    let nuls = line.iter().take_while(|&&byte| byte == 0).count();
    let line = trimmed_end(&line[nuls..]);
    if line.iter().all(|byte| matches!(byte, b'\t' | 0 | b' '..=b'~')) {
        return (Cow::Borrowed(line), marks);
    }
    let mut text = shown(line, &mut marks);
    text.truncate(trimmed_end(&text).len());
    (Cow::Owned(text), marks)
}

fn trimmed_end(line: &[u8]) -> &[u8] {
    let is_padding = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0);
    let last = line.iter().rposition(|byte| !is_padding(byte));
    &line[..last.map_or(0, |last| last + 1)]
}

/// One line of a terminal with its cursor.
#[derive(Default)]
struct Screen {
    text: Vec<u8>,
    cursor: usize,
}

impl Screen {
    fn put(&mut self, byte: u8) {
        match self.text.get_mut(self.cursor) {
            Some(there) => *there = byte,
            None => self.text.push(byte),
        }
        self.cursor += 1;
    }

    /// Move back by one character of one or more bytes.
    fn back(&mut self) {
        let is_inside = |byte: Option<&u8>| byte.is_some_and(|byte| byte & 0xC0 == 0x80);
        self.cursor = self.cursor.saturating_sub(1);
        while self.cursor > 0 && is_inside(self.text.get(self.cursor)) {
            self.cursor -= 1;
        }
    }
}

fn shown(line: &[u8], marks: &mut Marks) -> Vec<u8> {
    let mut screen = Screen::default();
    screen.text.reserve_exact(line.len());
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        marks.has_escapes |= matches!(byte, 0x01..=0x08 | 0x0A..=0x1F | 0x7F);
        rest = match byte {
            0x1B => escape(after, &mut screen),
            0xC2 | 0xE2 | 0xE3 | 0xEF => wide(rest, &mut screen, marks),
            0x08 => {
                screen.back();
                after
            }
            0x01..=0x07 | 0x0A..=0x1F | 0x7F => after,
            _ => {
                screen.put(byte);
                after
            }
        };
    }
    screen.text
}

/// Characters that look like blanks (true), or are invisible (false).
const ODD_BLANKS: [(&[u8], bool); 8] = [
    (b"\xC2\xA0", true),      // no-break space
    (b"\xE2\x80\x87", true),  // figure space
    (b"\xE2\x80\xAF", true),  // narrow no-break space
    (b"\xE3\x80\x80", true),  // ideographic space
    (b"\xE2\x80\x8B", false), // zero width space
    (b"\xE2\x80\x8D", false), // zero width joiner
    (b"\xE2\x81\xA0", false), // word joiner
    (b"\xEF\xBB\xBF", false), // zero width no-break space
];

fn wide<'a>(rest: &'a [u8], screen: &mut Screen, marks: &mut Marks) -> &'a [u8] {
    let mut odd_blanks = ODD_BLANKS.iter();
    let known = odd_blanks.find_map(|(bytes, is_blank)| Some((rest.strip_prefix(*bytes)?, *is_blank)));
    if let Some((after, is_blank)) = known {
        marks.has_odd_blanks = true;
        if is_blank {
            screen.put(b' ');
        }
        return after;
    }
    screen.put(rest[0]);
    &rest[1..]
}

/// Return the text after an escape sequence whose ESC was read; an incomplete one extends to the end of the line.
///
/// Source: ECMA-48, 5.3 to 5.6.
fn escape<'a>(rest: &'a [u8], screen: &mut Screen) -> &'a [u8] {
    match rest.first() {
        Some(b'[') => control(&rest[1..], screen),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => string(&rest[1..]),
        _ => {
            let between = rest.iter().take_while(|byte| matches!(byte, b' '..=b'/')).count();
            let is_final = rest.get(between).is_some_and(|byte| matches!(byte, b'0'..=b'~'));
            &rest[between + usize::from(is_final)..]
        }
    }
}

/// Skip a control sequence: parameters, then the final byte. Only moving the cursor right leaves blanks.
fn control<'a>(rest: &'a [u8], screen: &mut Screen) -> &'a [u8] {
    let parameters = rest.iter().take_while(|byte| matches!(byte, b' '..=b'?')).count();
    let last = rest.get(parameters).filter(|byte| matches!(byte, b'@'..=b'~'));
    if last == Some(&b'C') {
        let digits = std::str::from_utf8(&rest[..parameters]).unwrap_or_default();
        let columns = digits.parse().unwrap_or(1_usize).clamp(1, MOVED_COLUMNS_MAX);
        (0..columns).for_each(|_| screen.put(b' '));
    }
    &rest[parameters + usize::from(last.is_some())..]
}

/// Skip a string such as a window title, up to BEL or ESC \.
fn string(rest: &[u8]) -> &[u8] {
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            0x07 => return &rest[at + 1..],
            0x1B => return rest[at + 1..].strip_prefix(b"\\").unwrap_or(&rest[at..]),
            _ => {}
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(line: &str) -> (String, Marks) {
        let (text, marks) = clean(line.as_bytes());
        (String::from_utf8(text.into_owned()).unwrap(), marks)
    }

    #[test]
    fn a_plain_line_is_borrowed_and_has_no_mark() {
        let (text, marks) = clean(b"reads (5 total)");
        assert!(matches!(text, Cow::Borrowed(b"reads (5 total)")));
        assert_eq!(marks, Marks::default());
    }

    #[test]
    fn escape_sequences_fall_away() {
        for line in [
            "\u{1b}[01;32mreads\u{1b}[00m (5 total)",
            "\u{1b}[?2004l\u{1b}[Kreads (5 total)\u{1b}[0m  ",
            "\u{1b}]0;root@bench: ~\u{7}reads (5 total)",
            "\u{1b}]8;;x\u{1b}\\reads (5 total)",
            "\u{1b}(Breads (5 total)\u{7}",
            "reads (5 total)\u{1b}[3",
            "reads\u{1b}[C(5 total)",
        ] {
            let (text, marks) = cleaned(line);
            assert_eq!(
                (text.as_str(), marks.has_escapes),
                ("reads (5 total)", true),
                "{line:?}"
            );
        }
    }

    #[test]
    fn a_backspace_takes_its_letter_back() {
        assert_eq!(cleaned("readx\u{8}s (5 total)").0, "reads (5 total)");
        assert_eq!(cleaned("r\u{8}r\u{8}reads").0, "reads");
        assert_eq!(cleaned("x\u{8}\u{8}\u{8}y").0, "y");
        assert_eq!(cleaned("\u{e9}\u{8}reads").0.as_bytes()[..5], *b"reads");
    }

    #[test]
    fn blanks_that_do_not_break_are_blanks() {
        let (text, marks) = cleaned("\u{a0}(01:\u{202f}0000000005)\u{200b}");
        assert_eq!((text.as_str(), marks.has_odd_blanks), (" (01: 0000000005)", true));
        assert_eq!(cleaned("\u{a9}").0, "\u{a9}");
    }

    #[test]
    fn nuls_around_a_line_fall_away_and_inside_they_stay() {
        let (text, marks) = cleaned("\0\0after 5 sec:\0");
        assert_eq!((text.as_str(), marks.has_nuls), ("after 5 sec:", true));
        assert_eq!(cleaned("after\0 5 sec:").0, "after\0 5 sec:");
    }

    #[test]
    fn a_byte_order_mark_is_recognized_only_at_the_start() {
        assert!(cleaned("\u{feff}after 5 sec:").1.has_byte_order_mark);
        let (text, marks) = cleaned("after\u{feff} 5 sec:");
        assert_eq!(
            (text.as_str(), marks.has_byte_order_mark),
            ("after 5 sec:", false)
        );
    }

    #[test]
    fn bytes_that_are_no_utf_8_stay() {
        assert_eq!(clean(b"\xC2").0, &b"\xC2"[..]);
        assert_eq!(clean(b"\xE2\x80").0, &b"\xE2\x80"[..]);
    }
}
