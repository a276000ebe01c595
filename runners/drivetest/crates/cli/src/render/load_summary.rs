//! The summary of a load: the verdict, the shares, the files, the next step, and the figures. Also as
//! `drivecert.load/1`.

use std::path::Path;

use drivetest_load::LoadEnd;
use drivetest_load::report::side::Over;
use drivetest_logs::judge::profile::Limit;
use drivetest_logs::judge::share::Share;
use drivetest_logs::judge::verdict::{Verdict, time};
use serde_json::{Value, json};

use super::colours::{Colours, Tone};
use super::verdict::headline;

/// The summary of a load that ended.
pub struct LoadSummary<'a> {
    /// The end.
    pub end: &'a LoadEnd,
    /// The exit status of the command.
    pub exit_status: u8,
    /// The verdict of the default profile. None if the log was not judged.
    pub verdict: Option<Verdict>,
    /// The limits of the default profile, if they apply to this load.
    pub limits: &'a [Limit],
    /// The log. None is standard output.
    pub log: Option<&'a Path>,
    /// The side file.
    pub side_file: Option<&'a Path>,
}

impl LoadSummary<'_> {
    /// Returns the summary for people. None if the load did not start.
    pub fn text(&self, colours: Colours) -> Option<String> {
        let summary = self.end.summary.as_ref()?;
        let elapsed_s = summary.end.totals.elapsed.0 as f64 / 1e9;
        let mut ended = match self.end.outcome.reason() {
            (_, "") => format!("finished after {elapsed_s:.3} s"),
            (_, message) => format!("stopped after {elapsed_s:.3} s: {message}"),
        };
        ended.extend(summary.rates_sentence().map(|sentence| format!("; {sentence}")));
        let begin = match &self.verdict {
            None => format!("drivetest: {ended}\n"),
            Some(verdict) => format!(
                "drivetest: {}\n{ended}; default profile {}, rule version {}\n",
                headline(verdict, colours),
                verdict.profile.name,
                verdict.profile.rule_version
            ),
        };
        let (count, over) = summary.reads();
        let shares = shares_text(count, &over, self.limits, colours);
        let shares = shares.map_or_else(String::new, |shares| {
            format!("reads of the whole run: {shares}\n")
        });
        let file = |name: &str, path: Option<&Path>| {
            path.map_or_else(String::new, |path| format!("{name}: {}\n", path.display()))
        };
        let next = match self.next() {
            Some(words) => words.join(" "),
            None => "save the log with --log FILE, and judge it with drivetest check FILE".to_owned(),
        };
        Some(format!(
            "{begin}{shares}{}{}next: {next}\n{summary}",
            file("log", self.log),
            file("side file", self.side_file)
        ))
    }

    /// Returns the summary as `drivecert.load/1`.
    pub fn document(&self) -> Value {
        let (outcome, message) = self.end.outcome.reason();
        let summary = self.end.summary.as_ref();
        let (count, over) = summary.map(|summary| summary.reads()).unwrap_or_default();
        let shares = shares(count, &over, self.limits).map(|(threshold_us, share, limit)| {
            let limit_pct = limit.map(|limit| limit.limit_pct);
            json!({
                "threshold_us": threshold_us,
                "over_count": share.over_count,
                "ops_count": share.ops_count,
                "share_pct": share.printed(),
                "limit_pct": limit_pct,
                "within": limit_pct.map(|limit_pct| share.is_within(limit_pct)),
            })
        });
        let path = |path: &Path| path.display().to_string();
        json!({
            "schema": "drivecert.load/1",
            "exit_status": self.exit_status,
            "outcome": outcome,
            "message": message,
            "log": self.log.map(path),
            "side_file": self.side_file.map(path),
            "verdict": self.verdict,
            "shares": shares.collect::<Vec<_>>(),
            "warnings": summary.map(|summary| summary.warnings()).unwrap_or_default(),
            "next": self.next(),
            "end": self.end.record,
        })
    }

    /// Returns the command line that judges the log, word by word. None if there is no log to judge.
    fn next(&self) -> Option<Vec<String>> {
        let log = self.log.filter(|_| self.end.summary.is_some())?;
        let words = [
            "drivetest".to_owned(),
            "check".to_owned(),
            log.display().to_string(),
        ];
        let side_file = self.side_file.map(|path| path.display().to_string());
        let with = side_file.map(|path| ["--with".to_owned(), path]);
        Some(words.into_iter().chain(with.into_iter().flatten()).collect())
    }
}

/// Returns the share of reads over each threshold, with its limit.
fn shares<'a>(
    count: u64,
    over: &'a Over,
    limits: &'a [Limit],
) -> impl Iterator<Item = (u64, Share, Option<&'a Limit>)> {
    let counted = over.iter().filter(move |_| count > 0);
    counted.map(move |(&threshold_us, &over_count)| {
        let share = Share {
            over_count,
            ops_count: count,
        };
        let limit = limits.iter().find(|limit| limit.threshold_us == threshold_us);
        (threshold_us, share, limit)
    })
}

/// Returns `0.42 % over 1 ms (limit 5 %), ...`. None without reads.
pub fn shares_text(count: u64, over: &Over, limits: &[Limit], colours: Colours) -> Option<String> {
    let parts = shares(count, over, limits).map(|(threshold_us, share, limit)| {
        let threshold = time(threshold_us);
        match limit.map(|limit| limit.limit_pct) {
            None => format!("{} % over {threshold}", share.printed()),
            Some(limit) if share.is_within(limit) => {
                format!("{} % over {threshold} (limit {limit} %)", share.printed())
            }
            Some(limit) => {
                let text = format!(
                    "{} % over {threshold} (OVER the limit of {limit} %)",
                    share.shown_over(limit)
                );
                colours.paint(Tone::Bad, &text)
            }
        }
    });
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use drivetest_load::Outcome;
    use drivetest_load::report::side::{End, RunTotals};
    use drivetest_load::report::summary::Summary;
    use drivetest_load::report::worst::Worst;
    use drivetest_load::stats::collector::RunEnd;
    use drivetest_logs::judge::profile::Profile;

    use super::*;

    fn text(outcome: Outcome, is_started: bool, log: Option<&str>) -> Option<String> {
        let record = End::new(&outcome, &RunTotals::default());
        let end = RunEnd {
            stop_reason: None,
            totals: RunTotals::default(),
            worst: Worst::default(),
        };
        let summary = is_started.then_some(Summary {
            end,
            limit_celsius: None,
        });
        let end = LoadEnd {
            outcome,
            record,
            summary,
        };
        let summary = LoadSummary {
            end: &end,
            exit_status: 0,
            verdict: None,
            limits: &[],
            log: log.map(Path::new),
            side_file: None,
        };
        summary.text(Colours::NONE)
    }

    #[test]
    fn without_a_verdict_the_end_is_in_the_first_line() {
        let stopped = text(
            Outcome::Overloaded("reads fell behind".to_owned()),
            true,
            Some("a.log"),
        );
        assert!(stopped.unwrap().starts_with(
            "drivetest: stopped after 0.000 s: reads fell behind\nlog: a.log\nnext: drivetest check a.log\n"
        ));
        let finished = text(Outcome::Finished, true, None).unwrap();
        assert!(
            finished.starts_with("drivetest: finished after 0.000 s\nnext: save the log with --log FILE"),
            "{finished}"
        );
        assert_eq!(text(Outcome::Refused("mounted".to_owned()), false, None), None);
    }

    #[test]
    fn shares_are_compared_with_their_limits() {
        let limits = Profile::default_profile().unwrap().rules.limits;
        let over = Over::from([(1_000, 50), (8_000, 11), (64_000, 0)]);
        let text = |count, limits| shares_text(count, &over, limits, Colours::NONE);
        assert_eq!(
            text(1_000, &limits[..]).unwrap(),
            "5.00 % over 1 ms (limit 5 %), 1.10 % over 8 ms (OVER the limit of 1 %), 0.00 % over 64 ms (limit 0.1 %)"
        );
        assert_eq!(
            text(1_000, &[]).unwrap(),
            "5.00 % over 1 ms, 1.10 % over 8 ms, 0.00 % over 64 ms"
        );
        assert_eq!(text(0, &limits[..]), None);
    }
}
