//! A verdict as terminal text.

use drivetest_logs::act::run::Run;
use drivetest_logs::finding::counted;
use drivetest_logs::judge::margin::Margin;
use drivetest_logs::judge::verdict::{FoundShare, Outcome, Statistic, Verdict, time};

use super::colours::{Colours, Tone};
use super::findings::findings_text;
use crate::output::code;

/// Mark of a share over a limit that decides the verdict.
const DECISIVE: &str = "!";

/// Mark of a share over a limit that does not decide the verdict.
const NOT_JUDGED: &str = "(over)";

/// Returns the headline of a verdict, in the colour of its outcome.
pub fn headline(verdict: &Verdict, colours: Colours) -> String {
    let tone = match verdict.outcome {
        Outcome::Pass => Tone::Good,
        Outcome::Fail => Tone::Bad,
        Outcome::Undecided | Outcome::Void => Tone::Doubtful,
    };
    colours.paint(tone, &verdict.headline)
}

/// Returns the lines below a verdict's headline: what was judged, the shares, violations and findings.
pub fn details(run: &Run, verdict: &Verdict, is_default_profile: bool) -> String {
    let mut lines = vec![judged(run, verdict, is_default_profile)];
    lines.extend(verdict.read_at.clone());
    lines.extend(table(run, verdict));
    lines.extend(verdict.margin.as_ref().map(margin_line));
    lines.extend(strict(verdict));
    lines.extend(verdict.violations.iter().map(|violation| {
        let ratio = violation.excess_ratio.as_ref();
        let times = ratio.map_or_else(String::new, |ratio| format!(", {ratio} times the limit"));
        let counts = format!("{} of {}", violation.over_count, violation.ops_count);
        format!("over the limit: {} ({counts}{times})", violation.sentence())
    }));
    let text: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    text + &findings_text(&run.findings)
}

fn judged(run: &Run, verdict: &Verdict, is_default_profile: bool) -> String {
    let time = verdict.time.map_or("", |time| time.words());
    let slices = match run.slice_length_s {
        Some(length_s) if !run.slices.is_empty() => {
            format!(
                "judged in {} of {length_s} s",
                counted(run.slices.len() as u64, "slice")
            )
        }
        Some(length_s) => format!("not judged, because the log has no complete slice of {length_s} s"),
        None => "not judged, because the log has no slices".to_owned(),
    };
    let (default, other) = match is_default_profile {
        true => ("default ", "; --profile chooses another profile"),
        false => ("", ""),
    };
    format!(
        "{default}profile {}, rule version {}: its limits apply to the histogram '{}'{time}, which is {slices}{other}",
        verdict.profile.name, verdict.profile.rule_version, verdict.histogram,
    )
}

/// Returns one line per statistic with the share above each threshold, and the meaning of [`NOT_JUDGED`] if a share has
/// it.
fn table(run: &Run, verdict: &Verdict) -> Vec<String> {
    let steady = verdict
        .steady_state
        .as_ref()
        .map_or(&[][..], |steady| &steady.shares);
    let compared = verdict
        .compared
        .as_ref()
        .map_or(&[][..], |compared| &compared.shares);
    let exact = verdict.exact.as_deref().unwrap_or_default();
    // Only the shares of the worst slice decide the verdict.
    let statistics: [(&str, Statistic, &[FoundShare], bool); 6] = [
        ("worst slice", Statistic::WorstSlice, &verdict.shares, true),
        ("steady state", Statistic::SteadyState, steady, false),
        ("whole run", Statistic::Overall, &verdict.shares, false),
        ("device, worst slice", Statistic::WorstSlice, compared, false),
        ("device, whole run", Statistic::Overall, compared, false),
        ("exact counts", Statistic::Overall, exact, false),
    ];
    let (mut lines, mut not_judged) = (Vec::new(), Vec::new());
    for (name, statistic, shares, decides) in statistics {
        let shares = shares.iter().filter(|share| share.statistic == statistic);
        let shares: Vec<&FoundShare> = shares.collect();
        let mark = if decides { DECISIVE } else { NOT_JUDGED };
        let cells: Vec<String> = shares.iter().map(|share| cell(share, mark)).collect();
        if !cells.is_empty() {
            lines.push(format!("{name:<21} {}", cells.join("   ")));
        }
        if !decides && shares.iter().any(|share| !share.within) {
            not_judged.push(statistic);
        }
    }
    if !not_judged.is_empty() {
        // Only the shares of the whole run contain the incomplete slice.
        let length_s = Some(run.trailing_partial_s).filter(|_| not_judged.contains(&Statistic::Overall));
        lines.push(not_judged_note(length_s.unwrap_or(0)));
    }
    lines
}

/// Returns the meaning of the mark for shares over a limit that do not decide the verdict.
fn not_judged_note(incomplete_s: u64) -> String {
    let incomplete = match incomplete_s {
        0 => String::new(),
        length_s => format!("; the last {length_s} s are an incomplete slice"),
    };
    format!("{NOT_JUDGED}: above the limit, but only the worst complete slice decides{incomplete}")
}

fn cell(share: &FoundShare, mark: &str) -> String {
    let mark = match share.within {
        true => String::new(),
        false => format!(" {mark}"),
    };
    let (threshold, pct, limit_pct) = (time(share.threshold_us), &share.share_pct, share.limit_pct);
    format!("> {threshold} {pct:>6} %{mark} (limit {limit_pct} %)")
}

fn margin_line(margin: &Margin) -> String {
    let label = if margin.is_broken() {
        "worst excess"
    } else {
        "nearest limit"
    };
    format!("{label}: {}", margin.sentence())
}

/// Returns a line if the log is too coarse to decide the verdict at the exact thresholds.
fn strict(verdict: &Verdict) -> Option<String> {
    let [least, most] = [verdict.strict.least, verdict.strict.most].map(|outcome| code(&outcome));
    (least != most).then(|| {
        format!(
            "at the exact thresholds, the verdict is between {least} and {most}: the buckets of the log are too coarse to decide"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_about_marks_names_an_incomplete_slice_only_if_there_is_one() {
        let decides = "(over): above the limit, but only the worst complete slice decides";
        assert_eq!(not_judged_note(0), decides);
        assert_eq!(
            not_judged_note(5),
            format!("{decides}; the last 5 s are an incomplete slice")
        );
    }
}
