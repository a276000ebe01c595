//! Bytes to lines, whatever the sizes of the chunks they come in.

use memchr::memchr;

/// The longest line that is kept, bytes; what is longer is cut there. The longest line that ACT prints names
/// 128 devices of 127 characters: 16 KiB.
pub const LINE_BYTES_MAX: usize = 65_536;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One line without its end: the number counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// 1 for the first line of the content.
    pub number: u64,
    /// The bytes, without line end, carriage return, trailing blanks and NULs.
    pub text: &'a [u8],
    /// False for a last line that no line end follows.
    pub ended: bool,
    /// NUL bytes stood at the end of the line.
    pub has_nuls: bool,
}

/// Splits a stream of bytes into lines; holds at most one unfinished line.
#[derive(Debug, Default)]
pub struct Lines {
    begun: Vec<u8>,
    open: bool,
    count: u64,
}

impl Lines {
    /// Takes the next bytes and hands every line that ends in them to `each`.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while !bytes.is_empty() {
            bytes = self.push_line(bytes, &mut each);
        }
    }

    /// Takes the next bytes up to the end of a line, which goes to `each`, or all; returns the others.
    pub fn push_line<'a>(&mut self, bytes: &'a [u8], each: impl FnOnce(Line<'_>)) -> &'a [u8] {
        let Some(end) = memchr(b'\n', bytes) else {
            self.open |= !bytes.is_empty();
            self.keep(bytes);
            return &[];
        };
        let head = &bytes[..end];
        if self.open {
            self.keep(head);
            let begun = std::mem::take(&mut self.begun);
            each(self.next(&begun, true));
            self.begun = begun;
            self.begun.clear();
            self.open = false;
        } else {
            each(self.next(&head[..head.len().min(LINE_BYTES_MAX)], true));
        }
        &bytes[end + 1..]
    }

    /// The number of the line that the next byte begins; None inside a line.
    pub fn begins(&self) -> Option<u64> {
        (!self.open).then_some(self.count + 1)
    }

    /// Passes over whole lines that another has read; to be called where a line begins.
    pub fn pass_over(&mut self, count: u64) {
        self.count += count;
    }

    /// Hands over the last line where no line end followed it, and returns the number of lines.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) -> u64 {
        if self.open {
            let begun = std::mem::take(&mut self.begun);
            each(self.next(&begun, false));
            self.open = false;
        }
        self.count
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX - self.begun.len();
        self.begun.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn next<'a>(&mut self, bytes: &'a [u8], ended: bool) -> Line<'a> {
        self.count += 1;
        let bytes = if self.count == 1 {
            bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
        } else {
            bytes
        };
        let text = trimmed_end(bytes);
        let has_nuls = text.len() < bytes.len() && bytes[text.len()..].contains(&0);
        Line {
            number: self.count,
            text,
            ended,
            has_nuls,
        }
    }
}

fn trimmed_end(bytes: &[u8]) -> &[u8] {
    let is_padding = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0);
    let kept = bytes
        .iter()
        .rposition(|byte| !is_padding(byte))
        .map_or(0, |last| last + 1);
    &bytes[..kept]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(chunks: &[&[u8]]) -> Vec<(u64, String, bool)> {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        let mut keep = |line: Line<'_>| {
            found.push((
                line.number,
                String::from_utf8_lossy(line.text).into_owned(),
                line.ended,
            ));
        };
        for chunk in chunks {
            lines.push(chunk, &mut keep);
        }
        lines.finish(&mut keep);
        found
    }

    #[test]
    fn a_line_cut_by_chunks_is_one_line() {
        let whole = lines_of(&[b"one\ntwo\nthree"]);
        assert_eq!(whole, lines_of(&[b"o", b"ne\nt", b"", b"wo\n", b"three"]));
        assert_eq!(whole[2], (3, "three".to_owned(), false));
    }

    #[test]
    fn an_empty_line_is_a_line_and_the_end_is_none() {
        assert_eq!(lines_of(&[b"\n", b"\n"]).len(), 2);
        assert_eq!(lines_of(&[]).len(), 0);
    }

    #[test]
    fn carriage_returns_blanks_and_the_byte_order_mark_fall_away() {
        let found = lines_of(&[b"\xEF\xBB\xBFone\r\ntwo  \t\r\n\xEF\xBB\xBF"]);
        assert_eq!(found[0].1, "one");
        assert_eq!(found[1].1, "two");
        assert_eq!(found[2].1, "\u{feff}", "only the first line can bear a mark");
    }

    #[test]
    fn lines_that_another_has_read_are_counted() {
        let mut lines = Lines::default();
        assert_eq!(lines.begins(), Some(1));
        let rest = lines.push_line(b"one\ntwo\nthree\nf", |line| assert_eq!(line.text, b"one"));
        assert_eq!((rest, lines.begins()), (&b"two\nthree\nf"[..], Some(2)));
        lines.pass_over(2);
        assert!(lines.push_line(b"f", |_| unreachable!()).is_empty());
        assert_eq!(lines.begins(), None);
        assert_eq!(lines.finish(|line| assert_eq!(line.number, 4)), 4);
    }

    #[test]
    fn a_line_at_the_bound_is_whole_and_one_over_it_is_cut() {
        for size in [LINE_BYTES_MAX, LINE_BYTES_MAX + 1] {
            let long = vec![b'x'; size];
            let (first, second) = long.split_at(100);
            for chunks in [vec![long.as_slice(), b"\n"], vec![first, second, b"\n"]] {
                assert_eq!(lines_of(&chunks)[0].1.len(), LINE_BYTES_MAX);
            }
        }
    }

    #[test]
    fn nuls_at_the_end_of_a_line_are_told() {
        let mut nuls = Vec::new();
        Lines::default().push(b"a\n\0\0\nb \n", |line| nuls.push(line.has_nuls));
        assert_eq!(nuls, [false, true, false]);
    }
}
