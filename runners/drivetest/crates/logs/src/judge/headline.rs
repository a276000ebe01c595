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
        Outcome::Undecided if shares.is_empty() => format!("undecided: {}", first_of(&reasons.undecided)),
        Outcome::Undecided => {
            format!(
                "undecided: no limit is exceeded, but {}",
                first_of(&reasons.undecided)
            )
        }
        Outcome::Void if reasons.untrusted.is_empty() => format!("void: {}", first_of(&reasons.incomplete)),
        Outcome::Void => format!("void: {}", first_of(&reasons.untrusted)),
    }
}

fn first_of(reasons: &[String]) -> String {
    match reasons {
        [] => String::new(),
        [first] => first.clone(),
        [first, _] => format!("{first} (and 1 more reason)"),
        [first, others @ ..] => format!("{first} (and {} more reasons)", others.len()),
    }
}

fn at_most(shares: &[FoundShare]) -> String {
    let worst = shares
        .iter()
        .filter(|share| share.statistic == Statistic::WorstSlice);
    let parts = worst.map(|share| format!("{} % over {}", share.share_pct, time(share.threshold_us)));
    format!("at most {} of reads", listed(&parts.collect::<Vec<_>>()))
}

fn slices_text(run: &Run) -> String {
    let (slices, length_s) = (
        counted(run.slices.len() as u64, "slice"),
        run.slice_length_s.unwrap_or(0),
    );
    format!("{slices} of {length_s} s")
}

fn failed(violations: &[Violation], reasons: &Reasons, run: &Run) -> String {
    let stopped = reasons
        .failed
        .first()
        .filter(|_| run.stop.kind == StopKind::Overload);
    let host = host_text(run);
    let Some(first) = violations.first() else {
        let reason = stopped.cloned().unwrap_or_default();
        return format!("fails: could not keep up; {reason}{host}");
    };
    let mut others: Vec<u64> = violations.iter().map(|other| other.threshold_us).collect();
    others.sort_unstable();
    others.dedup();
    others.retain(|&threshold_us| threshold_us != first.threshold_us);
    let others: Vec<String> = others.into_iter().map(time).collect();
    let also = match others.is_empty() {
        true => String::new(),
        false => format!("; also over {}", listed(&others)),
    };
    let stopped = stopped.map_or("", |_| "; and could not keep up");
    format!("fails: {}{also}{stopped}{host}", first.sentence())
}

/// Return a note if the side file shows a slow host: the figures are correct, but may not be due to the drive.
fn host_text(run: &Run) -> String {
    let ids = run.findings.iter().map(|finding| finding.id);
    let ids: Vec<String> = ids.filter(|id| OF_HOST.contains(id)).map(str::to_owned).collect();
    match ids.is_empty() {
        true => String::new(),
        false => format!("; the host may be the cause: {}", listed(&ids)),
    }
}
