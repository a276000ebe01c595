//! Findings as terminal text.

use drivetest_logs::finding::{Effect, Finding, Severity};

/// Returns the findings of an ACT log or run, those that affect the verdict first.
pub fn findings_text(findings: &[Finding]) -> String {
    text(findings, label)
}

/// Returns the findings of a YCSB run, those that affect its validity first.
pub fn ycsb_findings_text(findings: &[Finding]) -> String {
    text(findings, ycsb_label)
}

fn text(findings: &[Finding], label: fn(&Finding) -> &'static str) -> String {
    let has_effect = |finding: &&Finding| finding.effect != Effect::Nothing;
    let (reasons, others): (Vec<_>, Vec<_>) = findings.iter().partition(has_effect);
    let ordered = reasons.into_iter().chain(others);
    ordered.map(|finding| lines(label(finding), finding)).collect()
}

/// Returns a finding as `LABEL id place: sentence`, with the remedy on a second line.
fn lines(label: &str, finding: &Finding) -> String {
    let (id, place, sentence) = (finding.id, place(finding), &finding.sentence);
    let mut text = format!("  {label:<9} {id}{place}: {sentence}\n");
    if !finding.remedy.is_empty() {
        text.push_str(&format!("{:12}remedy: {}\n", "", finding.remedy));
    }
    text
}

/// Returns where a finding is: the file in an archive, unless the sentence starts with it, and the line.
fn place(finding: &Finding) -> String {
    let is_missing = |member: &&String| !finding.sentence.starts_with(member.as_str());
    let member = finding.member.as_ref().filter(is_missing);
    let member = member.map_or_else(String::new, |member| format!(" {member}"));
    let line = finding
        .line
        .map_or_else(String::new, |line| format!(" line {line}"));
    member + &line
}

fn label(finding: &Finding) -> &'static str {
    match finding.effect {
        Effect::Untrusted | Effect::Incomplete => "VOID",
        Effect::Fails => "FAIL",
        Effect::Undecided => "UNDECIDED",
        Effect::Nothing if finding.severity == Severity::Note => "NOTE",
        Effect::Nothing => "REVIEW",
    }
}

fn ycsb_label(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Decides => "INVALID",
        _ => label(finding),
    }
}

#[cfg(test)]
mod tests {
    use drivetest_logs::finding::rule;

    use super::*;

    #[test]
    fn findings_that_affect_the_verdict_come_first_with_their_effect() {
        let findings = [
            rule::NOISE.at(None, "3 lines"),
            rule::OLD_BUCKETS
                .at(2, "the first bucket ends at 2 ms")
                .of_member("a.log"),
        ];
        let text = findings_text(&findings);
        assert!(
            text.starts_with(
                "  VOID      old-buckets a.log line 2: the first bucket ends at 2 ms\n            remedy: "
            ),
            "{text}"
        );
        assert!(text.ends_with("\n  NOTE      noise: 3 lines\n"), "{text}");
    }

    #[test]
    fn a_sentence_that_names_its_file_does_not_repeat_it() {
        let finding = rule::ARCHIVE_DAMAGED
            .at(None, "a.log: ends early")
            .of_member("a.log");
        let text = ycsb_findings_text(&[finding]);
        assert!(
            text.starts_with("  INVALID   archive-damaged: a.log: ends early\n"),
            "{text}"
        );
    }
}
