//! Frees the lines of a run from the prefix that its header's first line bears.

use crate::finding::{Findings, Rule, rule};
use crate::plural::counted;
use crate::text::Line;
use crate::text::repair::header_anchor::{Anchor, Dialect};
use crate::text::repair::line_prefix::{Nature, Prefix};

/// Runs with a prefix that are told.
const TOLD_MAX: usize = 20;

/// A line that may begin a run with a prefix, held until the next one proves it.
#[derive(Debug)]
struct Held {
    number: u64,
    text: Vec<u8>,
    ended: bool,
    has_nuls: bool,
    anchor: Anchor,
}

impl Held {
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

/// A prefix that was taken off, for the findings.
#[derive(Debug)]
struct Told {
    line: u64,
    nature: Nature,
    shown: String,
    others_count: u64,
    first_other: Option<u64>,
}

/// Takes prefixes off.
#[derive(Debug, Default)]
pub struct Stripped {
    /// Whose output is looked for.
    pub dialect: Dialect,
    prefix: Option<Prefix>,
    held: Option<Held>,
    told: Vec<Told>,
}

impl Stripped {
    /// Whether lines pass as they are, unless they hold what a header begins with.
    pub fn is_plain(&self) -> bool {
        self.prefix.is_none() && self.held.is_none()
    }

    /// Takes the next line and hands on what is of the program's; the line before it may come now.
    pub fn take(&mut self, line: Line<'_>, each: &mut impl FnMut(Line<'_>)) {
        if let Some(held) = self.held.take() {
            self.settle(&held, line, each);
        }
        match Anchor::find(line.text, self.dialect) {
            Some(anchor) if anchor.at == 0 => {
                self.prefix = None;
                each(line);
            }
            Some(anchor) if !self.bears_prefix(line.text, anchor) => self.held = Some(Held::of(line, anchor)),
            _ => self.strip(line, each),
        }
    }

    /// Hands on a line that is still held.
    pub fn finish(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if let Some(held) = self.held.take() {
            each(held.line(0));
        }
    }

    /// Tells which prefixes were taken off, and which lines bore none.
    pub fn tell(&self, findings: &mut Findings) {
        for told in &self.told {
            let sentence = format!("each line of the run bears {}; it is taken off", told.shown);
            findings.add(rule_of(told.nature).at(told.line, sentence));
            if let Some(first) = told.first_other {
                let sentence = format!(
                    "expected {} before every line of the run; passed over without it: {}",
                    told.shown,
                    counted(told.others_count, "line")
                );
                findings.add(rule::LINES_WITHOUT_PREFIX.at(first, sentence));
            }
        }
    }

    fn bears_prefix(&self, text: &[u8], anchor: Anchor) -> bool {
        let stripped = self.prefix.as_ref().and_then(|prefix| prefix.strip(text));
        stripped == Some(&text[anchor.at..])
    }

    /// The line behind a held one proves a prefix, or that there was none.
    fn settle(&mut self, held: &Held, next: Line<'_>, each: &mut impl FnMut(Line<'_>)) {
        let before = &held.text[..held.anchor.at];
        let prefix = Prefix::of(before);
        let follower = prefix.strip(next.text);
        if follower.is_some_and(|text| held.anchor.is_followed_by(text)) {
            self.note(held.number, &prefix, before);
            self.prefix = Some(prefix);
            each(held.line(before.len()));
        } else {
            self.strip(held.line(0), each);
        }
    }

    fn note(&mut self, line: u64, prefix: &Prefix, before: &[u8]) {
        if self.told.len() < TOLD_MAX {
            self.told.push(Told {
                line,
                nature: prefix.nature(),
                shown: format!("{:?}", String::from_utf8_lossy(before)),
                others_count: 0,
                first_other: None,
            });
        }
    }

    fn strip(&mut self, line: Line<'_>, each: &mut impl FnMut(Line<'_>)) {
        let Some(prefix) = &self.prefix else {
            each(line);
            return;
        };
        if line.text.is_empty() {
            each(line);
        } else if let Some(text) = prefix.strip(line.text) {
            each(Line { text, ..line });
        } else if let Some(told) = self.told.last_mut() {
            told.others_count += 1;
            told.first_other.get_or_insert(line.number);
        }
    }
}

fn rule_of(nature: Nature) -> &'static Rule {
    match nature {
        Nature::Indented => &rule::INDENTED,
        Nature::Quoted => &rule::QUOTED,
        Nature::Shipped => &rule::LINE_PREFIX,
    }
}
