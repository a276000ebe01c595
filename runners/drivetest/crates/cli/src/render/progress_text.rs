//! The text of live progress.

use drivetest_load::clock::Instant;
use drivetest_load::prep::MeterSample;
use drivetest_load::progress::{LoadProgress, OperationProgress, Snapshot};
use drivetest_logs::judge::profile::Limit;

use super::colours::{Colours, Tone};
use super::load_summary::shares_text;

const BAR_WIDTH: u64 = 30;

/// How snapshots are shown.
pub struct ProgressText {
    /// Name of the load.
    pub title: &'static str,
    /// Limits of the default profile that apply to the load.
    pub limits: Vec<Limit>,
    /// Colours of the terminal.
    pub colours: Colours,
}

impl ProgressText {
    /// Returns the lines of a snapshot.
    pub fn of(&self, snapshot: &Snapshot, now: Instant) -> String {
        match snapshot {
            Snapshot::Load(load) => self.load(load, now),
            Snapshot::Prep(phase, sample) => preparation(phase, *sample),
        }
    }

    fn load(&self, load: &LoadProgress, now: Instant) -> String {
        let (elapsed_ns, length_ns) = (now.since(load.start).0, load.length.0);
        let seconds = |ns: u64| ns.div_ceil(1_000_000_000);
        let time = match seconds(length_ns.saturating_sub(elapsed_ns)) {
            0 => "finishing".to_owned(),
            left_s => format!("{} left of {}", clock(left_s), clock(seconds(length_ns))),
        };
        let rates: Vec<_> = load.operations.iter().map(|rates| self.rate(rates)).collect();
        let rates = match rates.is_empty() {
            true => "waiting for the first report".to_owned(),
            false => rates.join(", "),
        };
        let mut lines = vec![
            format!("{}  {time}", bar(self.title, elapsed_ns, length_ns)),
            rates,
        ];
        let shares = shares_text(load.reads_count, &load.over, &self.limits, self.colours);
        lines.extend(shares.map(|shares| format!("reads so far: {shares}")));
        lines.extend(load.hottest.as_ref().map(|hottest| {
            let limit = hottest.limit_celsius.as_ref();
            let limit = limit.map_or_else(String::new, |limit| format!(" (limit {limit} C)"));
            format!("{} {} C{limit}", hottest.disk, hottest.celsius)
        }));
        lines.join("\n")
    }

    fn rate(&self, rates: &OperationProgress) -> String {
        let (achieved, requested) = (rates.achieved_per_s, rates.requested_per_s);
        let below = match rates.is_below {
            true => format!(" {}", self.colours.paint(Tone::Doubtful, "BELOW")),
            false => String::new(),
        };
        format!("{} {achieved:.1}/s of {requested:.1}/s{below}", rates.name)
    }
}

fn preparation(phase: &str, sample: MeterSample) -> String {
    let rate = format!("{:8.1} MB/s", sample.bytes_per_s as f64 / 1e6);
    let Some(whole) = sample.total_bytes else {
        return format!("{phase:6} {rate}");
    };
    let left = sample.remaining_s.map_or_else(|| "-:--:--".to_owned(), clock);
    format!("{}  {rate}  {left} left", bar(phase, sample.done_bytes, whole))
}

fn bar(title: &str, done: u64, whole: u64) -> String {
    let whole = whole.max(1);
    let part = |of: u64| (u128::from(done.min(whole)) * u128::from(of) / u128::from(whole)) as u64;
    let (filled, tenths) = (part(BAR_WIDTH), part(1_000));
    format!(
        "{title:6} [{}{}] {:3}.{} %",
        "#".repeat(filled as usize),
        " ".repeat((BAR_WIDTH - filled) as usize),
        tenths / 10,
        tenths % 10,
    )
}

fn clock(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use drivetest_load::clock::Nanos;
    use drivetest_load::report::rounded::Rounded;
    use drivetest_load::report::side::Over;
    use drivetest_load::report::worst::Hottest;
    use drivetest_logs::judge::profile::Profile;

    use super::*;

    const REQUESTED_PER_S: f64 = 20_000.0;

    fn load(achieved_per_s: f64, over_count: u64, hottest: Option<Hottest>) -> LoadProgress {
        let rates = OperationProgress {
            name: "reads",
            requested_per_s: REQUESTED_PER_S,
            achieved_per_s,
            is_below: achieved_per_s < REQUESTED_PER_S - 20.0,
        };
        LoadProgress {
            start: Instant::now(),
            length: Nanos::from_s(60),
            operations: vec![rates],
            reads_count: 10_000,
            over: Over::from([(1_000, over_count)]),
            hottest,
        }
    }

    fn lines(load: LoadProgress, elapsed_s: u64, limits: &[Limit]) -> Vec<String> {
        let text = ProgressText {
            title: "storage",
            limits: limits.to_vec(),
            colours: Colours::NONE,
        };
        let now = load.start.after(Nanos::from_s(elapsed_s));
        let text = text.of(&Snapshot::Load(load), now);
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_load_shows_time_rates_shares_and_temperature() {
        let limits = Profile::default_profile().unwrap().rules.limits;
        let hottest = Hottest {
            disk: "nvme0n1".to_owned(),
            celsius: Rounded::new(41.0, 1).unwrap(),
            limit_celsius: Rounded::new(81.85, 1),
        };
        let expected = [
            "storage [############                  ]  40.0 %  0:00:36 left of 0:01:00",
            "reads 19998.3/s of 20000.0/s",
            "reads so far: 0.42 % over 1 ms (limit 5 %)",
            "nvme0n1 41.0 C (limit 81.8 C)",
        ];
        assert_eq!(lines(load(19_998.3, 42, Some(hottest)), 24, &limits), expected);
    }

    #[test]
    fn what_is_not_reported_has_no_line_and_an_index_load_has_no_limits() {
        let expected = ["finishing", "reads so far: 0.42 % over 1 ms"];
        let found = lines(load(20_000.0, 42, None), 60, &[]);
        assert!(
            found[0].ends_with(expected[0]) && found[2..] == expected[1..],
            "{found:?}"
        );
        let mut early = load(0.0, 0, None);
        (early.operations, early.reads_count) = (Vec::new(), 0);
        let found = lines(early, 0, &[]);
        assert_eq!(found[1..], ["waiting for the first report"]);
    }

    #[test]
    fn a_rate_below_the_requested_one_and_a_share_over_its_limit_are_marked() {
        let limits = Profile::default_profile().unwrap().rules.limits;
        let found = lines(load(15_000.0, 501, None), 24, &limits);
        assert_eq!(
            found[1..],
            [
                "reads 15000.0/s of 20000.0/s BELOW",
                "reads so far: 5.01 % over 1 ms (OVER the limit of 5 %)"
            ]
        );
    }

    #[test]
    fn a_preparation_shows_percentage_rate_and_remaining_time() {
        let shown = |phase, done_bytes, remaining_s| {
            let sample = MeterSample {
                done_bytes,
                total_bytes: Some(3_000_000),
                bytes_per_s: 1_234_567_890,
                remaining_s,
            };
            preparation(phase, sample)
        };
        assert_eq!(
            shown("zero", 1_000_000, Some(3_725)),
            "zero   [##########                    ]  33.3 %    1234.6 MB/s  1:02:05 left"
        );
        assert!(shown("salt", 3_000_000, Some(0)).contains(&format!("[{}] 100.0 %", "#".repeat(30))));
        assert!(shown("salt", 0, None).ends_with("-:--:-- left"));
    }
}
