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

/// Returns one line per statistic with the share above each threshold. Only the worst slice decides the verdict.
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
    let statistics: [(&str, Statistic, &[FoundShare], &str); 6] = [
        ("worst slice", Statistic::WorstSlice, &verdict.shares, DECISIVE),
        ("steady state", Statistic::SteadyState, steady, NOT_JUDGED),
        ("whole run", Statistic::Overall, &verdict.shares, NOT_JUDGED),
        ("device, worst slice", Statistic::WorstSlice, compared, NOT_JUDGED),
        ("device, whole run", Statistic::Overall, compared, NOT_JUDGED),
        ("exact counts", Statistic::Overall, exact, NOT_JUDGED),
    ];
    let mut lines = Vec::new();
    for (name, statistic, shares, mark) in statistics {
        let shares = shares.iter().filter(|share| share.statistic == statistic);
        let cells: Vec<String> = shares.map(|share| cell(share, mark)).collect();
        if !cells.is_empty() {
            lines.push(format!("{name:<21} {}", cells.join("   ")));
        }
    }
    if lines.iter().any(|line| line.contains(NOT_JUDGED)) {
        lines.push(not_judged_note(run));
    }
    lines
}

/// Returns the meaning of the mark for shares over a limit that do not decide the verdict.
fn not_judged_note(run: &Run) -> String {
    let incomplete = match run.trailing_partial_s {
        0 => String::new(),
        length_s => format!("; the last {length_s} s are an incomplete slice"),
    };
    format!("{NOT_JUDGED}: above the limit, but only complete slices are judged{incomplete}")
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
