//! Headline of a verdict.
//!
//! The register finds the shares of `passes: at most ...` and `fails: slice ...` in it by their text.

use crate::act::run::Run;
use crate::act::stop::StopKind;
use crate::finding::{counted, rule};
use crate::judge::reasons::Reasons;
use crate::judge::verdict::{FoundShare, Outcome, Statistic, Violation, listed, time};

/// Findings about a slow host.
const OF_HOST: [&str; 3] = [rule::HOST_BUSY.id, rule::HOST_STOLEN.id, rule::GENERATOR_LATE.id];

/// Return a verdict in one sentence.
pub fn headline(
    outcome: Outcome,
    violations: &[Violation],
    shares: &[FoundShare],
    reasons: &Reasons,
    run: &Run,
) -> String {
    match outcome {
        Outcome::Pass => format!("passes: {} in {}", at_most(shares), slices_text(run)),
        Outcome::Fail => failed(violations, reasons, run),
        Outcome::Undecided => {
            let judged = if shares.is_empty() {
                ""
            } else {
                "no limit is exceeded, but "
            };
            format!("undecided: {judged}{}", first_of(&reasons.undecided))
        }
        Outcome::Void => {
            let decisive = if reasons.untrusted.is_empty() {
                &reasons.incomplete
            } else {
                &reasons.untrusted
            };
            format!("void: {}", first_of(decisive))
        }
    }
}

fn first_of(reasons: &[String]) -> String {
    let first = reasons.first().cloned().unwrap_or_default();
    let others = reasons.len().saturating_sub(1);
    match others {
        0 => first,
        1 => format!("{first} (and 1 more reason)"),
        _ => format!("{first} (and {others} more reasons)"),
    }
}

fn at_most(shares: &[FoundShare]) -> String {
    let worst = shares
        .iter()
        .filter(|share| share.statistic == Statistic::WorstSlice);
    let parts: Vec<String> = worst
        .map(|share| format!("{} % over {}", share.share_pct, time(share.threshold_us)))
        .collect();
    format!("at most {} of reads", listed(&parts))
}

fn slices_text(run: &Run) -> String {
    format!(
        "{} of {} s",
        counted(run.slices.len() as u64, "slice"),
        run.slice_length_s.unwrap_or(0)
    )
}

fn failed(violations: &[Violation], reasons: &Reasons, run: &Run) -> String {
    let stopped = reasons
        .failed
        .first()
        .filter(|_| run.stop.kind == StopKind::Overload);
    let host = host_text(run);
    let Some(first) = violations.first() else {
        return format!(
            "fails: could not keep up; {}{host}",
            stopped.cloned().unwrap_or_default()
        );
    };
    let mut others: Vec<u64> = violations.iter().map(|other| other.threshold_us).collect();
    others.sort_unstable();
    others.dedup();
    others.retain(|&threshold_us| threshold_us != first.threshold_us);
    let others: Vec<String> = others.into_iter().map(time).collect();
    let also = if others.is_empty() {
        String::new()
    } else {
        format!("; also over {}", listed(&others))
    };
    let stopped = stopped.map_or_else(String::new, |_| "; and could not keep up".to_owned());
    format!("fails: {}{also}{stopped}{host}", first.sentence())
}

/// Return a note if the side file shows a slow host: the figures are correct, but may not be due to the drive.
fn host_text(run: &Run) -> String {
    let host_findings = run
        .findings
        .iter()
        .filter(|finding| OF_HOST.contains(&finding.id));
    let ids: Vec<String> = host_findings.map(|finding| finding.id.to_owned()).collect();
    match ids.is_empty() {
        true => String::new(),
        false => format!("; the host may be the cause: {}", listed(&ids)),
    }
}
