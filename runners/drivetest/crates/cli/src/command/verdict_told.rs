//! A verdict as people read it at a terminal.

use drivetest_logs::act::run::Run;
use drivetest_logs::finding::{Effect, Finding};
use drivetest_logs::judge::margin::Margin;
use drivetest_logs::judge::verdict::{FoundShare, Statistic, Verdict, time};
use drivetest_logs::plural::counted;

use super::log_file::place;

/// What is told below a verdict's headline: what was judged and how near the limits are, why, and what was found.
pub fn told(run: &Run, verdict: &Verdict) -> String {
    let mut lines = vec![judged(run, verdict)];
    lines.extend(verdict.read_at.clone());
    lines.extend(table(verdict));
    lines.extend(
        verdict
            .margin
            .as_ref()
            .map(|margin| format!("{}: {}", margin_word(margin), margin.sentence())),
    );
    lines.extend(strict(verdict));
    lines.extend(verdict.violations.iter().map(|violation| {
        let ratio = violation.excess_ratio.as_ref();
        let times = ratio.map_or_else(String::new, |ratio| format!(", {ratio} times the limit"));
        let counts = format!("{} of {}", violation.over_count, violation.ops_count);
        format!("over: {} ({counts}{times})", violation.sentence())
    }));
    let mut text: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    // What has an effect on the verdict is its reason, and comes first.
    let (reasons, others): (Vec<_>, Vec<_>) = run
        .findings
        .iter()
        .partition(|finding| finding.effect != Effect::Nothing);
    reasons
        .into_iter()
        .chain(others)
        .for_each(|finding| text.push_str(&finding_told(finding)));
    text
}

/// A finding: severity, id, line and sentence, and below them what to do.
pub fn finding_told(finding: &Finding) -> String {
    let severity = format!("{:?}", finding.severity).to_lowercase();
    let line = place(finding);
    let effect = match finding.effect {
        Effect::Untrusted | Effect::Incomplete => ", void",
        Effect::Fails => ", fails",
        Effect::Undecided => ", undecided",
        Effect::Nothing => "",
    };
    let mut text = format!(
        "  {severity}{effect} {}: {line}{}\n",
        finding.id, finding.sentence
    );
    if !finding.remedy.is_empty() {
        text.push_str(&format!("          what to do: {}\n", finding.remedy));
    }
    text
}

fn judged(run: &Run, verdict: &Verdict) -> String {
    let time = verdict.time.map_or("", |time| time.words());
    let slices = match run.slice_length_s {
        Some(length_s) if !run.slices.is_empty() => {
            format!("{} of {length_s} s", counted(run.slices.len() as u64, "slice"))
        }
        Some(length_s) => format!("no whole slice of {length_s} s"),
        None => "no slice".to_owned(),
    };
    format!(
        "profile {}, rule version {}; judged: {}{time}, {slices}",
        verdict.profile.name, verdict.profile.rule_version, verdict.histogram,
    )
}

/// The shares of every reading, a threshold a line.
fn table(verdict: &Verdict) -> Vec<String> {
    let steady = verdict
        .steady_state
        .as_ref()
        .map(|steady| steady.shares.as_slice());
    let compared = verdict
        .compared
        .as_ref()
        .map(|compared| compared.shares.as_slice());
    let exact = verdict.exact.as_deref();
    let readings: [(&str, Statistic, Option<&[FoundShare]>); 6] = [
        ("worst slice", Statistic::WorstSlice, Some(&verdict.shares)),
        ("steady state", Statistic::SteadyState, steady),
        ("whole run", Statistic::Overall, Some(&verdict.shares)),
        ("device's worst slice", Statistic::WorstSlice, compared),
        ("device's whole run", Statistic::Overall, compared),
        ("counted exactly", Statistic::Overall, exact),
    ];
    let mut lines = Vec::new();
    for (name, statistic, shares) in readings {
        let of_it = shares
            .unwrap_or_default()
            .iter()
            .filter(|share| share.statistic == statistic);
        let cells: Vec<String> = of_it.map(cell).collect();
        if !cells.is_empty() {
            lines.push(format!("{name:<21} {}", cells.join("   ")));
        }
    }
    lines
}

fn cell(share: &FoundShare) -> String {
    let mark = if share.within { "" } else { " !" };
    format!(
        "> {} {:>6} %{mark} (of {} %)",
        time(share.threshold_us),
        share.share_pct,
        share.limit_pct
    )
}

fn margin_word(margin: &Margin) -> &'static str {
    if margin.is_broken() {
        "limit passed by most"
    } else {
        "nearest limit"
    }
}

/// Only where the log leaves the verdict open.
fn strict(verdict: &Verdict) -> Option<String> {
    let (least, most) = (verdict.strict.least, verdict.strict.most);
    (least != most).then(|| {
        format!(
            "at the thresholds themselves the verdict lies between {} and {}: the log cannot tell",
            least.word(),
            most.word()
        )
    })
}
