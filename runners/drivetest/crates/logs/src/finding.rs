//! Findings: facts that a reader should know about a log.

use serde::Serialize;

/// Weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The finding decides the verdict.
    Decides,
    /// A person should review the finding.
    Look,
    /// Background information.
    Note,
}

/// Effect of a finding on the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The counts are not trustworthy: the verdict is void.
    Untrusted,
    /// Part of the run is missing: the verdict is void, unless the rest already exceeds a limit.
    Incomplete,
    /// The run fails.
    Fails,
    /// The run cannot pass: the verdict is undecided if no limit is exceeded.
    Undecided,
    /// No effect.
    Nothing,
}

/// A kind of finding: stable id, severity, effect on the verdict, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Public name, which never changes.
    pub id: &'static str,
    /// Weight.
    pub severity: Severity,
    /// Effect on the verdict.
    pub effect: Effect,
    /// Action for the sender of the log; empty if there is none.
    pub remedy: &'static str,
}

/// One fact about one log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule's id.
    pub id: &'static str,
    /// The rule's severity.
    pub severity: Severity,
    /// Line number, from 1; `None` if the finding concerns the whole log.
    pub line: Option<u64>,
    /// The object, the expected value and the value found.
    pub sentence: String,
    /// Action for the sender of the log.
    pub remedy: &'static str,
    /// File inside an archive; `None` without an archive, or if the finding concerns all of it.
    pub member: Option<String>,
    /// Effect on the verdict.
    #[serde(skip)]
    pub effect: Effect,
}

impl Finding {
    /// Return the finding with the name of a file inside an archive.
    #[must_use]
    pub fn of_member(self, name: &str) -> Self {
        Self {
            member: Some(name.to_owned()),
            ..self
        }
    }
}

impl Rule {
    /// Return a finding of this rule.
    pub fn at(&self, line: impl Into<Option<u64>>, sentence: impl Into<String>) -> Finding {
        Finding {
            id: self.id,
            severity: self.severity,
            line: line.into(),
            sentence: sentence.into(),
            remedy: self.remedy,
            member: None,
            effect: self.effect,
        }
    }
}

/// Findings of a run in the order of the log.
///
/// Only the first findings of each rule are stored and the rest are counted, so that a hostile log cannot exhaust memory.
#[derive(Debug, Default)]
pub struct Findings {
    findings: Vec<Finding>,
    left_out: Vec<(&'static str, u64)>,
}

/// Stored findings per rule: enough to show a pattern.
const MAX_PER_RULE: usize = 20;

impl Findings {
    /// Add a finding.
    pub fn add(&mut self, finding: Finding) {
        let of_rule = self.findings.iter().filter(|known| known.id == finding.id);
        if of_rule.count() < MAX_PER_RULE {
            return self.findings.push(finding);
        }
        match self.left_out.iter_mut().find(|(id, _)| *id == finding.id) {
            Some((_, count)) => *count += 1,
            None => self.left_out.push((finding.id, 1)),
        }
    }

    /// Add a finding if there is none of its rule yet.
    pub fn add_unless_known(&mut self, finding: Finding) {
        if self.findings.iter().all(|known| known.id != finding.id) {
            self.findings.push(finding);
        }
    }

    /// Add several findings.
    pub fn add_all(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.add(finding));
    }

    /// Return the findings of a list that fit the limit per rule.
    pub fn bounded(findings: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
        let mut bounded = Self::default();
        bounded.add_all(findings);
        bounded.into_list()
    }

    /// Return the stored findings by line. The last one of a rule states how many more there were.
    pub fn into_list(mut self) -> Vec<Finding> {
        for (id, count) in &self.left_out {
            if let Some(last) = self.findings.iter_mut().rev().find(|finding| finding.id == *id) {
                last.sentence.push_str(&format!(" (and {count} more like this)"));
            }
        }
        self.findings
            .sort_by_key(|finding| finding.line.unwrap_or(u64::MAX));
        self.findings
    }
}

/// Return a number with its noun, given in the singular: `1 line`, `2 lines`, `0 lines`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Defines rules, and the list of all of them; each has a name, id, severity, effect and remedy.
macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $effect:ident $remedy:literal)*) => {
        $(
            #[doc = concat!("`", $id, "`: see docs/reference/findings.md.")]
            pub const $name: $crate::finding::Rule = $crate::finding::Rule {
                id: $id,
                severity: $crate::finding::Severity::$severity,
                effect: $crate::finding::Effect::$effect,
                remedy: $remedy,
            };
        )*
        /// All rules.
        pub const RULES: &[$crate::finding::Rule] = &[$($name),*];
    };
}
pub(crate) use rules;

pub use crate::rule::{self, RULES};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let texts = [0, 1, 2].map(|count| counted(count, "line"));
        assert_eq!(texts, ["0 lines", "1 line", "2 lines"]);
    }

    const DOCUMENT: &str = include_str!("../../../../../docs/reference/findings.md");

    /// Return id, severity, effect and remedy of each row.
    fn documented_rows() -> Vec<[String; 4]> {
        let table = DOCUMENT.split("## YCSB").next().unwrap();
        let rows = table.lines().filter(|line| line.starts_with("| `"));
        let cell = |row: &str, at: usize| {
            row.split('|')
                .nth(at)
                .unwrap()
                .trim()
                .trim_matches('`')
                .to_owned()
        };
        rows.map(|row| [1, 2, 3, 5].map(|at| cell(row, at))).collect()
    }

    #[test]
    fn every_rule_is_documented_with_severity_effect_and_remedy_and_nothing_else_is() {
        let written = |word: String| word.to_lowercase().replace("nothing", "");
        let row = |rule: &Rule| {
            [
                rule.id.to_owned(),
                written(format!("{:?}", rule.severity)),
                written(format!("{:?}", rule.effect)),
                rule.remedy.to_owned(),
            ]
        };
        let mut in_code: Vec<_> = RULES.iter().map(row).collect();
        let mut in_docs = documented_rows();
        in_code.sort();
        in_docs.sort();
        assert_eq!(in_code, in_docs);
    }

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<_> = RULES.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), RULES.len());
    }

    #[test]
    fn deciding_rules_have_an_effect_and_a_remedy() {
        for rule in RULES {
            let decides = rule.severity == Severity::Decides;
            assert!(!decides || rule.effect != Effect::Nothing, "{}", rule.id);
            assert!(!decides || !rule.remedy.is_empty(), "{}", rule.id);
        }
    }

    #[test]
    fn findings_beyond_the_limit_are_counted() {
        let mut findings = Findings::default();
        (1..=25).for_each(|line| findings.add(rule::ERROR_LINE.at(line, "x")));
        let list = findings.into_list();
        assert_eq!(list.len(), 20);
        assert_eq!(list[19].sentence, "x (and 5 more like this)");
    }
}
