//! Repairs of the lines of a text, counted for the findings.

use crate::finding::{Findings, Rule, counted, rule};
use crate::text::decode::Encoding;
use crate::text::repair::ansi::Marks;

/// Number of lines with a mark, and the first of them.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    lines: u64,
    first: u64,
}

impl Count {
    fn add(&mut self, is_there: bool, line: u64) {
        if is_there && self.lines == 0 {
            self.first = line;
        }
        self.lines += u64::from(is_there);
    }
}

/// Marks of the lines of a text.
#[derive(Debug, Default)]
pub struct RepairLog {
    returns: Count,
    escapes: Count,
    odd_blanks: Count,
    byte_order_marks: Count,
}

impl RepairLog {
    /// Count the marks of a line.
    pub fn add(&mut self, line: u64, has_return: bool, marks: Marks) {
        self.returns.add(has_return, line);
        self.escapes.add(marks.has_escapes, line);
        self.odd_blanks.add(marks.has_odd_blanks, line);
        self.byte_order_marks.add(marks.has_byte_order_mark, line);
    }

    /// Add the findings.
    pub fn report(&self, encoding: Encoding, findings: &mut Findings) {
        if encoding != Encoding::Utf8 {
            findings.add(rule::UTF_16.at(1, format!("the text is encoded as {}", encoding.code())));
        }
        let mut report = |count: Count, rule: Rule, what: &str| {
            let lines = counted(count.lines, "line");
            findings.add_all(
                (count.lines > 0).then(|| rule.at(count.first, format!("the log has {lines} with {what}"))),
            );
        };
        if encoding == Encoding::Utf8 {
            report(self.byte_order_marks, rule::BYTE_ORDER_MARK, "a byte order mark");
        }
        report(
            self.returns,
            rule::CARRIAGE_RETURNS,
            "a carriage return at the end",
        );
        let escapes = "escape sequences, backspaces or other control characters";
        report(self.escapes, rule::ESCAPE_SEQUENCES, escapes);
        let blanks = "non-breaking spaces or zero-width characters";
        report(self.odd_blanks, rule::NON_BREAKING_SPACES, blanks);
    }
}
