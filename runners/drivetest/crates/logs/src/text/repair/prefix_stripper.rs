//! Removal of the prefix of a run's lines, which the first line of its header shows.

use crate::finding::{Findings, counted, rule};
use crate::text::Line;
use crate::text::repair::header_anchor::{Anchor, Dialect};
use crate::text::repair::line_prefix::{Nature, Prefix};

/// Maximum number of reported runs with a prefix.
const REPORTED_PREFIXES_MAX: usize = 20;

/// A line that may begin a run with a prefix, stored until the next line confirms it.
#[derive(Debug)]
struct PendingLine {
    number: u64,
    text: Vec<u8>,
    ended: bool,
    has_nuls: bool,
    anchor: Anchor,
}

impl PendingLine {
    fn of(line: Line<'_>, anchor: Anchor) -> Self {
        Self {
            number: line.number,
            text: line.text.to_owned(),
            ended: line.ended,
            has_nuls: line.has_nuls,
            anchor,
        }
    }

    fn line(&self, from: usize) -> Line<'_> {
        Line {
            number: self.number,
            text: &self.text[from..],
            ended: self.ended,
            has_nuls: self.has_nuls,
        }
    }
}

/// A removed prefix, for the findings.
#[derive(Debug)]
struct StrippedPrefix {
    line: u64,
    nature: Nature,
    shown: String,
    others_count: u64,
    first_other: Option<u64>,
}

/// Remover of prefixes.
#[derive(Debug, Default)]
pub struct PrefixStripper {
    /// Program whose output is expected.
    pub dialect: Dialect,
    prefix: Option<Prefix>,
    pending: Option<PendingLine>,
    stripped: Vec<StrippedPrefix>,
}

impl PrefixStripper {
    /// Return whether lines pass unchanged, unless they begin a header.
    pub fn is_plain(&self) -> bool {
        self.prefix.is_none() && self.pending.is_none()
    }

    /// Read the next line, and pass on the text of the program; a pending line comes first.
    pub fn take(&mut self, line: Line<'_>, each: &mut impl FnMut(Line<'_>)) {
        if let Some(pending) = self.pending.take() {
            self.settle(&pending, line, each);
        }
        match Anchor::find(line.text, self.dialect) {
            Some(anchor) if anchor.at == 0 => {
                self.prefix = None;
                each(line);
            }
            Some(anchor) if !self.has_prefix(line.text, anchor) => {
                self.pending = Some(PendingLine::of(line, anchor))
            }
            _ => self.strip(line, each),
        }
    }

    /// Pass on a pending line.
    pub fn finish(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if let Some(pending) = self.pending.take() {
            each(pending.line(0));
        }
    }

    /// Report the removed prefixes, and the lines without them.
    pub fn report(&self, findings: &mut Findings) {
        for stripped in &self.stripped {
            let prefix = &stripped.shown;
            let rule = match stripped.nature {
                Nature::Indented => &rule::INDENTED,
                Nature::Quoted => &rule::QUOTED,
                Nature::Shipped => &rule::LINE_PREFIX,
            };
            let sentence = format!("each line of the run begins with {prefix}, which is removed");
            findings.add(rule.at(stripped.line, sentence));
            if let Some(first) = stripped.first_other {
                let lines = counted(stripped.others_count, "line");
                let sentence =
                    format!("expected {prefix} before every line of the run; ignored without it: {lines}");
                findings.add(rule::LINES_WITHOUT_PREFIX.at(first, sentence));
            }
        }
    }

    fn has_prefix(&self, text: &[u8], anchor: Anchor) -> bool {
        let stripped = self.prefix.as_ref().and_then(|prefix| prefix.strip(text));
        stripped == Some(&text[anchor.at..])
    }

    /// Compare the line after a pending one: it confirms the prefix or refutes it.
    fn settle(&mut self, pending: &PendingLine, next: Line<'_>, each: &mut impl FnMut(Line<'_>)) {
        let before = &pending.text[..pending.anchor.at];
        let prefix = Prefix::of(before);
        let follower = prefix.strip(next.text);
        if follower.is_some_and(|text| pending.anchor.is_followed_by(text)) {
            self.note(pending.number, &prefix, before);
            self.prefix = Some(prefix);
            each(pending.line(before.len()));
        } else {
            self.strip(pending.line(0), each);
        }
    }

    fn note(&mut self, line: u64, prefix: &Prefix, before: &[u8]) {
        if self.stripped.len() < REPORTED_PREFIXES_MAX {
            self.stripped.push(StrippedPrefix {
                line,
                nature: prefix.nature(),
                shown: format!("{:?}", String::from_utf8_lossy(before)),
                others_count: 0,
                first_other: None,
            });
        }
    }

    fn strip(&mut self, line: Line<'_>, each: &mut impl FnMut(Line<'_>)) {
        let Some(prefix) = self.prefix.as_ref().filter(|_| !line.text.is_empty()) else {
            return each(line);
        };
        if let Some(text) = prefix.strip(line.text) {
            each(Line { text, ..line });
        } else if let Some(stripped) = self.stripped.last_mut() {
            stripped.others_count += 1;
            stripped.first_other.get_or_insert(line.number);
        }
    }
}
