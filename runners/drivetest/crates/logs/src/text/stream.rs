//! Reader of a text: bytes to the lines that the program wrote, with repairs of later changes.
//!
//! The sink reads lines that are exactly as the program prints them, which nearly all are. Other lines are decoded,
//! split, cleaned and stripped of a prefix. Findings report these repairs, because the lines then differ from the bytes
//! of the program.

use std::mem;

use memchr::memchr;

use crate::act::grammar::line::Clean;
use crate::finding::{Finding, Findings};
use crate::text::decode::{Encoding, HEAD_BYTES, Utf16};
use crate::text::line_split::{LineSplitter, Piece, Style};
use crate::text::repair::ansi::{self, Marks};
use crate::text::repair::header_anchor::{Dialect, is_plain};
use crate::text::repair::noise_limit::NoiseLimit;
use crate::text::repair::prefix_stripper::PrefixStripper;
use crate::text::repair::repairs::RepairLog;
use crate::text::{LINE_BYTES_MAX, Line};

/// Number of bytes after which the noise limit is checked, independent of the size of chunks.
const CHECKED_BYTES: usize = 1 << 20;

/// Receiver of the lines of a text.
pub trait Sink {
    /// Read the lines at the start of the bytes that are exactly as a program prints them; the first is `line`.
    fn clean(&mut self, bytes: &[u8], line: u64) -> Clean {
        let _ = (bytes, line);
        Clean::default()
    }

    /// Read a line.
    fn line(&mut self, line: Line<'_>);
}

impl<F: FnMut(Line<'_>)> Sink for F {
    fn line(&mut self, line: Line<'_>) {
        self(line);
    }
}

/// Reader of a text; stores the first bytes until their encoding is known, then at most two incomplete lines.
#[derive(Debug, Default)]
pub struct Text {
    head: Vec<u8>,
    is_decided: bool,
    encoding: Encoding,
    utf16: Utf16,
    decoded: Vec<u8>,
    ends: LineSplitter,
    stripped: PrefixStripper,
    repairs: RepairLog,
    flood: NoiseLimit,
    is_flood: bool,
}

impl Text {
    /// Return one of several texts, which share one noise limit.
    pub fn with_share(texts_count: usize) -> Self {
        Self {
            flood: NoiseLimit::share(texts_count),
            ..Self::default()
        }
    }

    /// Set the program whose output is expected.
    #[must_use]
    pub fn of(mut self, dialect: Dialect) -> Self {
        self.stripped.dialect = dialect;
        self
    }

    /// Return the line at which reading stopped because of too many short lines; `None` otherwise.
    pub fn flooded_line(&self) -> Option<u64> {
        self.is_flood.then_some(self.ends.count)
    }

    /// Read the next bytes, and pass on every line that ends in them; the first lines may be delayed.
    pub fn push(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        if self.is_flood {
            return;
        }
        let mut rest = bytes;
        if !self.is_decided {
            let wanted = (HEAD_BYTES - self.head.len()).min(rest.len());
            self.head.extend_from_slice(&rest[..wanted]);
            rest = &rest[wanted..];
            if self.head.len() < HEAD_BYTES {
                return;
            }
            self.decide(sink);
        }
        self.decode(rest, sink);
    }

    /// Detect the encoding from the bytes so far, and pass on their lines.
    pub fn settle(&mut self, sink: &mut impl Sink) {
        if !self.is_decided {
            self.decide(sink);
        }
    }

    /// Pass on the rest, and return the number of lines.
    pub fn finish(&mut self, sink: &mut impl Sink) -> u64 {
        self.settle(sink);
        let mut decoded = mem::take(&mut self.decoded);
        decoded.clear();
        self.utf16.finish(&mut decoded);
        self.split(&decoded, sink);
        let (stripped, repairs) = (&mut self.stripped, &mut self.repairs);
        self.ends
            .finish(&mut |piece| take_piece(piece, stripped, repairs, sink));
        self.stripped.finish(&mut |line| sink.line(line));
        self.ends.count
    }

    /// Return the encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Return the first bytes of the text, decoded.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Return the findings about repairs.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Findings::default();
        self.repairs.report(self.encoding, &mut findings);
        self.stripped.report(&mut findings);
        findings.into_list()
    }

    fn decide(&mut self, sink: &mut impl Sink) {
        self.is_decided = true;
        let head = mem::take(&mut self.head);
        self.encoding = Encoding::of(&head);
        let mut decoded = head.clone();
        if self.encoding != Encoding::Utf8 {
            decoded.clear();
            Utf16::default().push(&head, self.encoding == Encoding::Utf16Be, &mut decoded);
        }
        self.ends.style = Style::of(&decoded);
        self.head = decoded;
        self.decode(&head, sink);
    }

    fn decode(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        if self.encoding == Encoding::Utf8 {
            self.split(bytes, sink);
            return;
        }
        let mut decoded = mem::take(&mut self.decoded);
        decoded.clear();
        self.utf16
            .push(bytes, self.encoding == Encoding::Utf16Be, &mut decoded);
        self.split(&decoded, sink);
        self.decoded = decoded;
    }

    fn split(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        for part in bytes.chunks(CHECKED_BYTES) {
            if self.is_flood {
                return;
            }
            self.split_part(part, sink);
            let lines_count = self.ends.count + self.ends.divided_count;
            self.is_flood = self.flood.add(part.len(), lines_count);
        }
    }

    fn split_part(&mut self, mut bytes: &[u8], sink: &mut impl Sink) {
        while !bytes.is_empty() {
            if !self.ends.is_open() && self.stripped.is_plain() {
                let clean = sink.clean(bytes, self.ends.count + 1);
                self.ends.count += clean.lines_count;
                bytes = &bytes[clean.bytes_count..];
            }
            let length = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
            let (line, rest) = bytes.split_at(length);
            self.split_line(line, sink);
            bytes = rest;
        }
    }

    /// Read a line with its line end, or a part of one; a plain line needs no copy.
    fn split_line(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        let is_whole = !self.ends.is_open() && self.stripped.is_plain();
        let feed = bytes.strip_suffix(b"\n").filter(|_| is_whole);
        let whole = feed.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        if let Some(line) = whole.filter(|line| is_plain(line, self.stripped.dialect)) {
            self.ends.count += 1;
            if line.len() + 1 < bytes.len() {
                self.repairs.add(self.ends.count, true, Marks::default());
            }
            sink.line(Line {
                number: self.ends.count,
                text: line[..line.len().min(LINE_BYTES_MAX)].trim_ascii_end(),
                ended: true,
                has_nuls: false,
            });
            return;
        }
        let (stripped, repairs) = (&mut self.stripped, &mut self.repairs);
        self.ends
            .push(bytes, &mut |piece| take_piece(piece, stripped, repairs, sink));
    }
}

fn take_piece(
    piece: Piece<'_>,
    stripped: &mut PrefixStripper,
    repairs: &mut RepairLog,
    sink: &mut impl Sink,
) {
    let (text, marks) = ansi::clean(piece.bytes);
    repairs.add(piece.number, piece.has_return, marks);
    let line = Line {
        number: piece.number,
        text: &text,
        ended: piece.ended,
        has_nuls: marks.has_nuls || piece.has_nuls_before,
    };
    stripped.take(line, &mut |line| sink.line(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = Vec<(u64, String, bool)>;

    fn read(chunks: &[&[u8]]) -> (Found, u64, Vec<&'static str>) {
        let (mut text, mut found) = (Text::default(), Vec::new());
        let mut text_of = |line: Line<'_>| {
            found.push((
                line.number,
                String::from_utf8_lossy(line.text).into_owned(),
                line.ended,
            ));
        };
        for chunk in chunks {
            text.push(chunk, &mut text_of);
        }
        let count = text.finish(&mut text_of);
        (
            found,
            count,
            text.findings().iter().map(|finding| finding.id).collect(),
        )
    }

    fn texts(found: &Found) -> Vec<&str> {
        found.iter().map(|(_, text, _)| text.as_str()).collect()
    }

    const RUN: &str =
        "\nACT version 6.6\nStorage device IO test\n\nafter 1 sec:\nreads (5 total)\n (01: 0000000005)\n\n";

    fn prefixed(prefix: &str) -> String {
        RUN.lines().map(|line| format!("{prefix}{line}\n")).collect()
    }

    #[test]
    fn a_plain_text_is_split_and_has_no_repair() {
        let long = RUN.repeat(200);
        let (found, count, repairs) = read(&[long.as_bytes()]);
        assert_eq!(texts(&found), long.lines().collect::<Vec<_>>());
        assert_eq!((count, repairs.len()), (1600, 0));
        assert!((1..).zip(&found).all(|(number, line)| line.0 == number));
    }

    #[test]
    fn marks_in_a_long_text_cost_no_line() {
        let long = [RUN.repeat(200), "\u{1b}[0m\n".to_owned(), RUN.repeat(200)].concat();
        for size in [1, 7, 1000, 4096, 5000, long.len()] {
            let chunks: Vec<&[u8]> = long.as_bytes().chunks(size).collect();
            let (found, count, repairs) = read(&chunks);
            assert_eq!((count, repairs), (3201, vec!["escape-sequences"]), "{size}");
            assert!((1..).zip(&found).all(|(number, line)| line.0 == number), "{size}");
            assert_eq!(found[1601].1, "", "{size}");
        }
    }

    #[test]
    fn every_encoding_and_line_end_gives_the_same_lines() {
        let wide = |mark: &str, is_big: bool| -> Vec<u8> {
            let bytes = |unit: u16| {
                if is_big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            };
            format!("{mark}{RUN}").encode_utf16().flat_map(bytes).collect()
        };
        let plain = read(&[RUN.as_bytes()]).0;
        for (content, note) in [
            (RUN.replace('\n', "\r\n").into_bytes(), "carriage-returns"),
            (RUN.replace('\n', "\r\r\n").into_bytes(), "carriage-returns"),
            (RUN.replace('\n', "\r").into_bytes(), "carriage-returns"),
            (format!("\u{feff}{RUN}").into_bytes(), "byte-order-mark"),
            (wide("\u{feff}", false), "utf-16"),
            (wide("\u{feff}", true), "utf-16"),
            (wide("", false), "utf-16"),
            (wide("", true), "utf-16"),
        ] {
            let (found, _, repairs) = read(&[&content]);
            assert_eq!((found, repairs), (plain.clone(), vec![note]));
        }
    }

    #[test]
    fn a_run_is_freed_of_its_prefix() {
        for (prefix, note) in [
            ("> ", "quoted"),
            ("    ", "indented"),
            ("\t", "indented"),
            ("Nov 21 02:55:29 bench01 act[123]: ", "line-prefix"),
        ] {
            let (found, _, repairs) = read(&["text\n".as_bytes(), prefixed(prefix).as_bytes()]);
            let behind: Vec<&str> = texts(&found).into_iter().skip(2).collect();
            assert_eq!(
                (behind, repairs),
                (RUN.lines().skip(1).collect(), vec![note]),
                "{prefix:?}"
            );
        }
    }

    #[test]
    fn lines_without_the_prefix_are_ignored_and_reported() {
        let answer = format!("{}reads (7 total)\nRegards\n", prefixed("> "));
        let (found, count, repairs) = read(&[answer.as_bytes()]);
        assert_eq!(
            (found.len(), count, repairs),
            (8, 10, vec!["quoted", "lines-without-prefix"])
        );
    }

    #[test]
    fn a_plain_run_behind_a_quoted_one_has_no_prefix() {
        let both = [prefixed("> "), RUN.to_owned(), prefixed("| ")].concat();
        let (found, _, repairs) = read(&[both.as_bytes()]);
        let begins = texts(&found)
            .iter()
            .filter(|text| **text == "ACT version 6.6")
            .count();
        assert_eq!(begins, 3);
        assert_eq!(repairs, ["quoted", "quoted"]);
    }

    #[test]
    fn a_sentence_that_names_the_version_begins_no_run() {
        let table = "x.log is ACT version 6.6\n\nACT-STORAGE CONFIGURATION\n  ACT version 6.6\nfoo\n";
        let (found, _, repairs) = read(&[table.as_bytes()]);
        assert_eq!(texts(&found), table.lines().collect::<Vec<_>>());
        assert!(repairs.is_empty());
    }
}
