//! Reader of an HDR file: all its histograms are merged into one.

use crate::finding::{Finding, Findings};
use crate::ycsb::command::base;
use crate::ycsb::common::latencies::Latencies;
use crate::ycsb::common::number;
use crate::ycsb::fragment::shown;
use crate::ycsb::hdr::decode;
use crate::ycsb::rules;

/// Maximum length of a line in bytes: a histogram of three digits with all its counts is below a tenth of it.
const LINE_BYTES_MAX: usize = 4 << 20;

/// Time range of a run whose intervals are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Earlier intervals are skipped.
    pub from_s: u64,
    /// Later intervals are skipped.
    pub to_s: u64,
}

impl Span {
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run; u64::MAX is its end")]
    fn contains(self, start_s: f64, end_s: f64) -> bool {
        start_s >= self.from_s as f64 && end_s <= self.to_s as f64
    }
}

/// Content of a file.
#[derive(Debug, Default)]
pub struct HdrFile {
    /// File name, used as a label.
    pub name: String,
    /// The metric, from the head of the file or else from its name.
    pub metric: String,
    /// All its histograms.
    pub latencies: Latencies,
    /// Skipped histograms outside the time range.
    pub left_out_count: u64,
    /// Histograms that were read or skipped.
    pub known_count: u64,
    /// Unreadable histogram lines, so the number of operations is unknown.
    pub unread_count: u64,
    /// The counts exceed those of any run, so the file is ignored.
    pub is_overfull: bool,
}

impl HdrFile {
    /// Add the histograms of another file with the same metric.
    pub fn absorb(&mut self, other: &Self) {
        self.latencies.merge(&other.latencies);
        self.left_out_count += other.left_out_count;
        self.known_count += other.known_count;
        self.unread_count += other.unread_count;
    }
}

/// Reader of one file.
#[derive(Debug, Default)]
pub struct Reader {
    file: HdrFile,
    span: Option<Span>,
    begun: Vec<u8>,
    is_too_long: bool,
    lines_count: u64,
    findings: Findings,
}

impl Reader {
    /// Return a reader at the start of a file.
    pub fn new(name: &str, span: Option<Span>) -> Self {
        Self {
            file: HdrFile {
                name: shown(name),
                metric: metric_of(name),
                ..HdrFile::default()
            },
            span,
            ..Self::default()
        }
    }

    /// Read the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let line = part.strip_suffix(b"\n").unwrap_or(part);
            let budget = LINE_BYTES_MAX - self.begun.len();
            self.is_too_long |= line.len() > budget;
            self.begun.extend_from_slice(&line[..line.len().min(budget)]);
            if line.len() < part.len() {
                self.end_line();
            }
        }
    }

    /// End the file; return its content and the findings.
    pub fn finish(mut self) -> (HdrFile, Vec<Finding>) {
        if !self.begun.is_empty() {
            self.end_line();
        }
        if self.file.known_count == 0 {
            self.report("it has no readable histogram");
        }
        (self.file, self.findings.into_list())
    }

    fn end_line(&mut self) {
        self.lines_count += 1;
        let begun = std::mem::take(&mut self.begun);
        if std::mem::take(&mut self.is_too_long) {
            self.skip(&format!("expected at most {LINE_BYTES_MAX} bytes in a line"));
        } else {
            self.take(begun.trim_ascii());
        }
        self.begun = begun;
        self.begun.clear();
    }

    fn take(&mut self, line: &[u8]) {
        if let Some(metric) = line.strip_prefix(b"#[Logging for: ") {
            let metric = metric.strip_suffix(b"]").unwrap_or(metric);
            self.file.metric = shown(&String::from_utf8_lossy(metric));
        } else if !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"\"") {
            self.take_interval(line);
        }
    }

    /// Read `START,LENGTH,MAX,HISTOGRAM`; log format 1.3 has a tag before it.
    fn take_interval(&mut self, line: &[u8]) {
        let Some((start_s, length_s, histogram)) = cells(line) else {
            return self.skip("expected 'start,length,max,histogram'");
        };
        let is_within = |span: Span| span.contains(start_s, start_s + length_s);
        if !self.span.is_none_or(is_within) {
            self.file.left_out_count += 1;
            self.file.known_count += 1;
            return;
        }
        let mut whole = Latencies::default();
        match decode::decode(histogram, |value, count| whole.add(value, count)) {
            Ok(()) if !self.file.latencies.has_room_for(&whole) => {
                self.file.is_overfull = true;
                self.file.known_count += 1;
                self.report("its counts exceed 63 bits; the file is ignored");
            }
            Ok(()) => {
                self.file.latencies.merge(&whole);
                self.file.known_count += 1;
            }
            Err(why) => self.skip(&format!("a histogram is skipped: {why}")),
        }
    }

    fn skip(&mut self, sentence: &str) {
        self.file.unread_count += 1;
        self.report(sentence);
    }

    fn report(&mut self, sentence: &str) {
        let sentence = format!("{}, line {}: {sentence}", self.file.name, self.lines_count);
        self.findings.add(rules::HDR_UNREADABLE.at(None, sentence));
    }
}

fn cells(line: &[u8]) -> Option<(f64, f64, &[u8])> {
    let has_tag = line.starts_with(b"Tag=");
    let mut cells = line.splitn(if has_tag { 5 } else { 4 }, |&byte| byte == b',');
    if has_tag {
        cells.next();
    }
    let mut seconds = || number::value(std::str::from_utf8(cells.next()?).ok()?);
    let (start_s, length_s, _) = (seconds()?, seconds()?, seconds()?);
    Some((start_s, length_s, cells.next()?))
}

/// Return the metric in a file name: `hdr/run1-READ.hdr` is of READ. The head of the file takes precedence.
fn metric_of(name: &str) -> String {
    let base = base(name);
    shown(base.split('.').next().unwrap_or(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (HdrFile, Vec<Finding>) {
        let mut reader = Reader::new("x/UPDATE.hdr", None);
        reader.push(text.as_bytes());
        reader.finish()
    }

    #[test]
    fn the_head_names_the_metric_and_else_the_file_does() {
        assert_eq!(read("#[Logging for: READ-FAILED]\n").0.metric, "READ-FAILED");
        assert_eq!(read("").0.metric, "UPDATE");
    }

    #[test]
    fn damage_is_reported_with_its_line() {
        let (file, findings) = read("#[x]\n0.0,1.0,0.5,SElTVA==\n0.0,x\n");
        assert_eq!(file.latencies.ops_count(), 0);
        let sentences: Vec<_> = findings.iter().map(|finding| finding.sentence.as_str()).collect();
        assert!(
            sentences[0]
                .starts_with("x/UPDATE.hdr, line 2: a histogram is skipped: its encoding is not supported"),
            "{sentences:?}"
        );
        assert_eq!((file.known_count, file.unread_count), (0, 2));
        assert!(sentences[1].contains("line 3: expected 'start"), "{sentences:?}");
    }

    #[test]
    fn a_line_without_end_fills_no_memory() {
        let mut reader = Reader::new("x", None);
        for _ in 0..3 {
            reader.push(&vec![b'A'; 2 << 20]);
        }
        assert_eq!(reader.begun.len(), LINE_BYTES_MAX);
        reader.push(b"\n#\n");
        let (_, findings) = reader.finish();
        assert!(findings[0].sentence.contains("line 1: expected at most"));
    }
}
