//! Splitter of bytes into lines with the line ends LF, CR LF, CR CR LF or CR.

use memchr::memchr2;

/// Maximum length of a line in bytes; longer lines are cut. The longest line that ACT prints names
/// 128 devices of 127 characters: 16 KiB.
pub const LINE_BYTES_MAX: usize = 65_536;

/// One line without its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Line number, from 1.
    pub number: u64,
    /// Bytes without line end, carriage return, trailing blanks and NULs.
    pub text: &'a [u8],
    /// Whether a line end follows; false only for the last line.
    pub ended: bool,
    /// Whether NUL bytes were in or around the line.
    pub has_nuls: bool,
}

/// Maximum number of consecutive empty pieces that are passed on; further ones are only counted.
const BLANKS_PASSED_MAX: u64 = 1024;

/// Line ends that are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Line feeds, like editors, grep and wc. A single carriage return divides a line, but is not counted.
    #[default]
    Feeds,
    /// Carriage returns too: the text has no line feeds, like files of old Macintoshes.
    Returns,
}

impl Style {
    /// Detect the style by the first bytes: carriage returns without any line feed.
    pub fn of(head: &[u8]) -> Self {
        match head.contains(&b'\r') && !head.contains(&b'\n') {
            true => Self::Returns,
            false => Self::Feeds,
        }
    }
}

/// A piece of a line, or the whole of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Line number, from 1.
    pub number: u64,
    /// Bytes without the line end.
    pub bytes: &'a [u8],
    /// Whether a line end follows.
    pub ended: bool,
    /// Whether a carriage return ends the piece.
    pub has_return: bool,
    /// Whether NULs preceded the piece. They are not part of its bytes and do not count for the maximum length.
    pub has_nuls_before: bool,
}

/// Splitter of a stream; stores at most one incomplete line.
#[derive(Debug, Default)]
pub struct LineSplitter {
    /// Line ends that are counted.
    pub style: Style,
    /// Number of complete lines.
    pub count: u64,
    /// Number of additional pieces, because carriage returns divided lines.
    pub divided_count: u64,
    begun: Vec<u8>,
    is_open: bool,
    has_nuls_before: bool,
    returns: u64,
}

impl LineSplitter {
    /// Return whether a line is incomplete.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Read the next bytes, and pass every piece that ends in them to `each`.
    pub fn push(&mut self, mut bytes: &[u8], each: &mut impl FnMut(Piece<'_>)) {
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            let (before, rest) = bytes.split_at(end);
            self.append(before, each);
            // All returns at once, because each would cost a search.
            let returns_count = rest.iter().take_while(|&&byte| byte == b'\r').count();
            if returns_count == 0 {
                self.feed(each);
            } else {
                self.returns += returns_count as u64;
                self.is_open = true;
            }
            bytes = &rest[returns_count.max(1)..];
        }
        self.append(bytes, each);
    }

    /// Pass on the last line, if it has no line end.
    pub fn finish(&mut self, each: &mut impl FnMut(Piece<'_>)) {
        if self.style == Style::Returns && self.returns > 0 {
            self.divide(each);
        } else if self.is_open {
            self.pass_piece(false, each);
            self.count += 1;
        }
    }

    fn append(&mut self, bytes: &[u8], each: &mut impl FnMut(Piece<'_>)) {
        if bytes.is_empty() {
            return;
        }
        if self.returns > 0 {
            self.divide(each);
        }
        self.is_open = true;
        let mut bytes = bytes;
        if self.begun.is_empty() {
            let nuls = bytes.iter().take_while(|&&byte| byte == 0).count();
            self.has_nuls_before |= nuls > 0;
            bytes = &bytes[nuls..];
        }
        let room = LINE_BYTES_MAX - self.begun.len();
        self.begun.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// End a line, or a piece of one, at each carriage return, because no line feed follows.
    fn divide(&mut self, each: &mut impl FnMut(Piece<'_>)) {
        for _ in 0..self.returns.min(BLANKS_PASSED_MAX) {
            self.pass_piece(true, each);
            self.count_pieces(1);
        }
        self.count_pieces(self.returns.saturating_sub(BLANKS_PASSED_MAX));
        self.returns = 0;
    }

    fn count_pieces(&mut self, pieces_count: u64) {
        match self.style {
            Style::Returns => self.count += pieces_count,
            Style::Feeds => self.divided_count += pieces_count,
        }
    }

    /// End a line at a line feed, including carriage returns before it; terminals print two.
    fn feed(&mut self, each: &mut impl FnMut(Piece<'_>)) {
        if self.style == Style::Returns && self.returns > 0 {
            self.divide(each);
            return;
        }
        self.pass_piece(true, each);
        self.count += 1;
        self.returns = 0;
    }

    fn pass_piece(&mut self, ended: bool, each: &mut impl FnMut(Piece<'_>)) {
        each(Piece {
            number: self.count + 1,
            bytes: &self.begun,
            ended,
            has_return: self.returns > 0,
            has_nuls_before: self.has_nuls_before,
        });
        self.has_nuls_before = false;
        self.begun.clear();
        self.is_open = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces_of(style: Style, chunks: &[&[u8]]) -> Vec<(u64, String, bool)> {
        let mut found = Vec::new();
        let mut ends = LineSplitter {
            style,
            ..LineSplitter::default()
        };
        let mut append = |piece: Piece<'_>| {
            let text = String::from_utf8_lossy(piece.bytes).into_owned();
            found.push((piece.number, text, piece.ended));
        };
        for chunk in chunks {
            ends.push(chunk, &mut append);
        }
        ends.finish(&mut append);
        found
    }

    fn numbered(texts: &[(u64, &str, bool)]) -> Vec<(u64, String, bool)> {
        texts
            .iter()
            .map(|&(number, text, ended)| (number, text.to_owned(), ended))
            .collect()
    }

    #[test]
    fn returns_before_a_feed_are_one_end_with_it() {
        let expected = numbered(&[
            (1, "one", true),
            (2, "two", true),
            (3, "", true),
            (4, "end", false),
        ]);
        let whole: &[u8] = b"one\r\ntwo\r\r\n\nend";
        assert_eq!(pieces_of(Style::Feeds, &[whole]), expected);
        let single: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(pieces_of(Style::Feeds, &single), expected);
    }

    #[test]
    fn a_single_carriage_return_divides_a_line_without_a_new_number() {
        let expected = numbered(&[(1, "10 %", true), (1, "20 %", true), (2, "x", true)]);
        assert_eq!(pieces_of(Style::Feeds, &[b"10 %\r20 %\nx\n"]), expected);
    }

    #[test]
    fn without_feeds_a_return_ends_a_line() {
        let expected = numbered(&[(1, "one", true), (2, "", true), (3, "two", true)]);
        let content = b"one\r\rtwo\r";
        assert_eq!(pieces_of(Style::of(content), &[content]), expected);
        assert_eq!(
            pieces_of(Style::Feeds, &[b"\n", content])[1..3],
            [(2, "one".to_owned(), true), (2, String::new(), true)]
        );
        assert_eq!(Style::of(b"one\r\n"), Style::Feeds);
        assert_eq!(Style::of(b"one"), Style::Feeds);
    }

    #[test]
    fn of_very_many_returns_some_are_handed_over_and_all_are_counted() {
        let returns = "\r".repeat(BLANKS_PASSED_MAX as usize + 500);
        let content = format!("{returns}x");
        let pieces = pieces_of(Style::Returns, &[content.as_bytes()]);
        assert_eq!(pieces.len() as u64, BLANKS_PASSED_MAX + 1);
        assert_eq!(pieces.last().unwrap().0, BLANKS_PASSED_MAX + 501);
    }

    #[test]
    fn nuls_before_a_line_take_nothing_of_its_bound() {
        let nuls = vec![0; LINE_BYTES_MAX * 2];
        let mut ends = LineSplitter::default();
        let mut found = Vec::new();
        let mut append = |piece: Piece<'_>| found.push((piece.bytes.to_owned(), piece.has_nuls_before));
        ends.push(&nuls, &mut append);
        ends.push(b"after 5 sec:\nreads\n", &mut append);
        assert_eq!(
            found,
            [(b"after 5 sec:".to_vec(), true), (b"reads".to_vec(), false)]
        );
    }

    #[test]
    fn a_line_is_cut_at_the_maximum_length() {
        let long = vec![b'x'; LINE_BYTES_MAX + 1];
        assert_eq!(
            pieces_of(Style::Feeds, &[&long, b"\n"])[0].1.len(),
            LINE_BYTES_MAX
        );
    }
}
