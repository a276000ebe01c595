//! Real logs of every version with random damage: a reading shows only counts of the log, or has a finding.
//!
//! `FUZZ_CASES=100000 cargo test --release -p drivetest-logs --test reading fuzz` runs longer than usual.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use drivetest_logs::act::run::{Histogram, Run};
use drivetest_logs::act::slices::{Slice, SliceHistogram};
use drivetest_logs::finding::{Finding, Severity};
use drivetest_logs::judge;
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::reader::{LogReader, Options, Reading};
use proptest::prelude::*;

/// An undamaged log, its counts, and its number of findings by rule.
struct Log {
    name: String,
    bytes: Vec<u8>,
    truth: Truth,
    weighty: HashMap<&'static str, usize>,
}

/// Counts of a log: of each second's slice, and from its begin to each label.
#[derive(Default)]
struct Truth {
    slices: HashMap<(u64, u64, String, usize), Vec<u64>>,
    totals: HashMap<(u64, String, usize), Vec<u64>>,
}

static LOGS: LazyLock<Vec<Log>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../tests/data/act");
    let mut paths: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .flat_map(|version| fs::read_dir(version).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    paths.sort();
    paths.iter().filter_map(|path| log(path)).collect()
});

fn log(path: &Path) -> Option<Log> {
    let bytes = fs::read(path).unwrap();
    let reading = read(&bytes);
    let run = reading.runs.first().filter(|run| !run.slices.is_empty())?;
    let log = Log {
        name: path.display().to_string(),
        truth: truth(run),
        weighty: weighty(&reading, run),
        bytes,
    };
    // The true counts of a log with missing blocks are unknown, so only logs whose slices agree with the totals are used.
    (reading.runs.len() == 1 && untruth(run, &log).is_none()).then_some(log)
}

/// Return the name of a histogram, and the number of earlier histograms with this name.
fn key(run: &Run, ordinal: usize) -> (String, usize) {
    let name = |ordinal| {
        run.histograms
            .iter()
            .find(|histogram| histogram.ordinal == ordinal)
            .map(|one| &one.name)
    };
    let own = name(ordinal).cloned().unwrap_or_default();
    let before = (0..ordinal).filter(|&other| name(other) == Some(&own)).count();
    (own, before)
}

fn truth(run: &Run) -> Truth {
    let mut truth = Truth::default();
    let mut sums: HashMap<usize, Vec<u64>> = HashMap::new();
    for slice in &run.slices {
        for part in &slice.histograms {
            let (name, before) = key(run, part.ordinal);
            let counts = part.tally.counts();
            let sum = sums.entry(part.ordinal).or_default();
            sum.resize(sum.len().max(counts.len()), 0);
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            truth
                .totals
                .insert((slice.end_s, name.clone(), before), sum.clone());
            truth
                .slices
                .insert((slice.start_s, slice.end_s, name, before), counts.to_vec());
        }
    }
    truth
}

const PROFILE: &str = r#"{"name": "short", "rule_version": 1, "reads_pct": "67", "writes_pct": "33",
    "ratio_tolerance_points": "1", "object_bytes": 1536, "duration_s": 60, "slice_length_s": 1,
    "limits": [{"threshold_us": 1000, "limit_pct": "5"}, {"threshold_us": 64000, "limit_pct": "0.1"}]}"#;

fn read(bytes: &[u8]) -> Reading {
    let mut reader = LogReader::new(Options { slice_s: 1 });
    bytes.chunks(20_000).for_each(|chunk| reader.push(chunk));
    let mut reading = reader.finish();
    let profile = Profile::parse(PROFILE.as_bytes()).unwrap();
    reading
        .runs
        .iter_mut()
        .for_each(|run| judge::apply(run, &profile));
    reading
}

/// The findings above a note of the file and of a run, by their rule. What a profile of a minute finds in a run, and
/// what the load itself shows, is no word on the log's bytes.
fn weighty(reading: &Reading, run: &Run) -> HashMap<&'static str, usize> {
    let is_of_load =
        |id: &str| id.starts_with("profile-") || ["rounding-decides", "lockstep-bursts"].contains(&id);
    let weighs = |finding: &&Finding| finding.severity != Severity::Note && !is_of_load(finding.id);
    let all = reading.findings.iter().chain(&run.findings);
    let mut counts = HashMap::new();
    for finding in all.filter(weighs) {
        *counts.entry(finding.id).or_default() += 1;
    }
    counts
}

/// Return whether a finding reports something that none of the source logs has.
fn is_reported(reading: &Reading, run: &Run, logs: &[&Log]) -> bool {
    let is_more =
        |(id, count): (&&str, &usize)| logs.iter().all(|log| log.weighty.get(*id).unwrap_or(&0) < count);
    weighty(reading, run).iter().any(is_more)
}

/// How a log is damaged; places and lengths are shares of the log.
#[derive(Clone, Debug)]
enum Damage {
    Cut(f64),
    Lose(f64, usize),
    Double(f64, usize),
    Swap(f64, f64, usize),
    Overwrite(f64, Vec<u8>),
    Insert(f64, Vec<u8>),
    Nuls(f64, usize),
    Digit(f64, u8),
    LoseLines(f64, usize),
    SwapLines(f64, usize),
    Noise(f64, usize),
    Splice(f64, usize, f64),
}

const NOISE: [&str; 8] = [
    "[12345.6] nvme0: I/O timeout\n",
    "\n",
    "root@bench01:~# \u{1b}[K\r",
    "Message from syslogd@node07 ...\n",
    " (12) (34: x)\n",
    "after lunch\n",
    "> ACT version 6.6\n",
    "\u{feff}\r\n",
];

fn damages() -> impl Strategy<Value = Damage> {
    let place = 0.0..1.0_f64;
    prop_oneof![
        place.clone().prop_map(Damage::Cut),
        (place.clone(), 1_usize..3000).prop_map(|(at, length)| Damage::Lose(at, length)),
        (place.clone(), 1_usize..3000).prop_map(|(at, length)| Damage::Double(at, length)),
        (place.clone(), place.clone(), 1_usize..1000)
            .prop_map(|(at, other, length)| Damage::Swap(at, other, length)),
        (place.clone(), any::<Vec<u8>>()).prop_map(|(at, bytes)| Damage::Overwrite(at, bytes)),
        (place.clone(), any::<Vec<u8>>()).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (place.clone(), 1_usize..5000).prop_map(|(at, length)| Damage::Nuls(at, length)),
        (place.clone(), 1_u8..10).prop_map(|(at, shift)| Damage::Digit(at, shift)),
        (place.clone(), 1_usize..40).prop_map(|(at, lines)| Damage::LoseLines(at, lines)),
        (place.clone(), 1_usize..40).prop_map(|(at, lines)| Damage::SwapLines(at, lines)),
        (place.clone(), 0..NOISE.len()).prop_map(|(at, which)| Damage::Noise(at, which)),
        (place.clone(), any::<usize>(), place)
            .prop_map(|(at, which, other)| Damage::Splice(at, which, other)),
    ]
}

fn place(log: &[u8], at: f64) -> usize {
    (at * log.len() as f64) as usize
}

/// The begin of the line at a place, and of the one so many lines later.
fn lines(log: &[u8], at: f64, count: usize) -> (usize, usize) {
    let begin = log[..place(log, at)]
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    let ends = log[begin..]
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n');
    let end = ends
        .map(|(end, _)| begin + end + 1)
        .nth(count - 1)
        .unwrap_or(log.len());
    (begin, end)
}

impl Damage {
    /// The log of which a part is put in.
    fn donor(&self) -> Option<&'static Log> {
        match self {
            Self::Splice(_, which, _) => Some(&LOGS[which % LOGS.len()]),
            _ => None,
        }
    }

    fn apply(&self, log: &[u8]) -> Vec<u8> {
        let stretch = |at: f64, length: usize| (place(log, at), (place(log, at) + length).min(log.len()));
        match self {
            Self::Cut(at) => log[..place(log, *at)].to_vec(),
            Self::Lose(at, length) => replaced(log, stretch(*at, *length), b""),
            Self::Double(at, length) => {
                let (begin, end) = stretch(*at, *length);
                [&log[..end], &log[begin..]].concat()
            }
            Self::Swap(at, other, length) => swapped(log, stretch(*at, *length), stretch(*other, *length)),
            Self::Overwrite(at, bytes) => replaced(log, stretch(*at, bytes.len()), bytes),
            Self::Insert(at, bytes) => replaced(log, stretch(*at, 0), bytes),
            Self::Nuls(at, length) => {
                let (begin, end) = stretch(*at, *length);
                replaced(log, (begin, end), &vec![0; end - begin])
            }
            Self::Digit(at, shift) => changed_digit(log, place(log, *at), *shift),
            Self::LoseLines(at, count) => replaced(log, lines(log, *at, *count), b""),
            Self::SwapLines(at, count) => {
                let (begin, end) = lines(log, *at, *count);
                let (_, after) = lines(log, (end as f64 / log.len() as f64).min(0.999_999), *count);
                swapped(log, (begin, end), (end, after.max(end)))
            }
            Self::Noise(at, which) => {
                let (begin, _) = lines(log, *at, 1);
                replaced(log, (begin, begin), NOISE[*which].as_bytes())
            }
            Self::Splice(at, which, other) => {
                let second = &LOGS[which % LOGS.len()].bytes;
                [&log[..place(log, *at)], &second[place(second, *other)..]].concat()
            }
        }
    }
}

fn replaced(log: &[u8], (begin, end): (usize, usize), by: &[u8]) -> Vec<u8> {
    [&log[..begin], by, &log[end..]].concat()
}

fn swapped(log: &[u8], one: (usize, usize), other: (usize, usize)) -> Vec<u8> {
    let ((a, b), (c, d)) = if one.0 <= other.0 {
        (one, other)
    } else {
        (other, one)
    };
    if b > c {
        return log.to_vec();
    }
    [&log[..a], &log[c..d], &log[b..c], &log[a..b], &log[d..]].concat()
}

fn changed_digit(log: &[u8], from: usize, shift: u8) -> Vec<u8> {
    let mut changed = log.to_vec();
    if let Some(digit) = changed[from..].iter_mut().find(|byte| byte.is_ascii_digit()) {
        *digit = b'0' + (*digit - b'0' + shift) % 10;
    }
    changed
}

/// No share leaves 0 to 100, and what is counted adds up.
fn assert_sound(reading: &Reading) {
    for run in &reading.runs {
        let slices = run
            .slices
            .iter()
            .flat_map(|slice| &slice.histograms)
            .map(|part| &part.tally);
        for tally in slices.chain(run.histograms.iter().map(|histogram| &histogram.tally)) {
            let sum: u64 = tally.counts().iter().sum();
            assert!(sum == tally.ops_count() || !weighty(reading, run).is_empty());
        }
        for share in &run.verdict.as_ref().unwrap().shares {
            let pct: f64 = share.share_pct.parse().unwrap();
            assert!((0.0..=100.0).contains(&pct), "{pct}");
            assert!(
                share.over_count <= share.over_at_most_count && share.over_at_most_count <= share.ops_count
            );
        }
    }
    assert_eq!(
        reading.error.is_some(),
        reading.runs.is_empty() && reading.ycsb_runs.is_empty()
    );
}

/// Assert that the counts of each run without a finding are those of one of the logs over the same seconds.
///
/// 1.x counts its totals separately, so its buckets may differ slightly and one changed digit remains undetected. The
/// labels of a run that could not keep up are nominal, as its finding states.
fn assert_true(reading: &Reading, logs: &[&Log]) {
    let is_loose = |log: &&Log| log.name.contains("/1.x/") || log.weighty.contains_key("cannot-keep-up");
    if logs.iter().any(is_loose) {
        return;
    }
    for run in reading.runs.iter().filter(|run| !is_reported(reading, run, logs)) {
        let wrong: Vec<String> = logs.iter().filter_map(|log| untruth(run, log)).collect();
        assert!(wrong.len() < logs.len(), "{wrong:?}");
    }
}

/// Return where the counts of a run differ from those of a log; `None` if they agree.
fn untruth(run: &Run, log: &Log) -> Option<String> {
    let in_slice = |(slice, part): (&Slice, &SliceHistogram)| {
        let (name, before) = key(run, part.ordinal);
        let place = format!("{}: {name}, {}-{} s", log.name, slice.start_s, slice.end_s);
        let known = log.truth.slices.get(&(slice.start_s, slice.end_s, name, before));
        (!is_true(known, part.tally.counts())).then_some(place)
    };
    let in_total = |histogram: &Histogram| {
        let (name, before) = key(run, histogram.ordinal);
        let place = format!("{}: {name} to {} s", log.name, run.reached_s);
        let known = log.truth.totals.get(&(run.reached_s, name, before));
        (!is_true(known, histogram.tally.counts())).then_some(place)
    };
    let slices = run.slices.iter();
    let parts = slices.flat_map(|slice| slice.histograms.iter().map(move |part| (slice, part)));
    let totals = run.histograms.iter().map(in_total);
    parts.map(in_slice).chain(totals).flatten().next()
}

/// Return whether counts are equal, or differ only in the index of one bucket. No total depends on the index, so a changed
/// digit of it is undetectable if the blocks before and after allow it.
fn is_true(known: Option<&Vec<u64>>, counts: &[u64]) -> bool {
    let Some(known) = known else { return false };
    let count = |counts: &[u64], bucket: usize| i128::from(counts.get(bucket).copied().unwrap_or(0));
    let buckets = 0..known.len().max(counts.len());
    let moved: Vec<i128> = buckets
        .map(|bucket| count(counts, bucket) - count(known, bucket))
        .filter(|&difference| difference != 0)
        .collect();
    moved.is_empty() || (moved.len() == 2 && moved[0] + moved[1] == 0)
}

fn cases() -> u32 {
    std::env::var("FUZZ_CASES").map_or(3000, |cases| cases.parse().unwrap())
}

#[test]
fn logs_of_every_family_are_damaged() {
    let of = |version: &str| LOGS.iter().filter(|log| log.name.contains(version)).count();
    for version in ["/2.0/", "/3.1/", "/4.0/", "/5.0/", "/5.2/", "/6.0/", "/6.6/"] {
        assert!(of(version) > 0, "{version}");
    }
}

#[test]
fn a_log_as_it_is_is_true() {
    for log in LOGS.iter() {
        let reading = read(&log.bytes);
        assert_sound(&reading);
        assert_true(&reading, &[log]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_log_shows_its_own_counts_or_reports_the_damage(which: usize, damages in prop::collection::vec(damages(), 1..4)) {
        let log = &LOGS[which % LOGS.len()];
        let damaged = damages.iter().fold(log.bytes.clone(), |bytes, damage| damage.apply(&bytes));
        let reading = read(&damaged);
        assert_sound(&reading);
        let donors = damages.iter().filter_map(Damage::donor);
        assert_true(&reading, &donors.chain([log]).collect::<Vec<_>>());
    }
}
