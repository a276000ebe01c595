//! The series of a run, decoded as documented and compared with the slices of the same log.

use std::collections::BTreeMap;

use crate::support::{Scratch, log, read};
use serde_json::Value;

/// Histogram and interval, with their counts. Unknown intervals are missing.
type Intervals = BTreeMap<(u64, u64), Vec<u64>>;

/// Decodes a series as docs/reference/formats.md, "The series of a run", describes it.
struct Decoder {
    bytes: Vec<u8>,
    at: usize,
}

impl Decoder {
    fn of(series: &Value) -> Self {
        let bytes = zstd::decode_all(&plain(series["data"].as_str().unwrap())[..]).unwrap();
        Self { bytes, at: 0 }
    }

    fn number(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.bytes[self.at];
            self.at += 1;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    fn all(mut self) -> (Intervals, u64) {
        let (mut found, mut base) = (Intervals::new(), 0);
        while self.at < self.bytes.len() {
            let (intervals, histograms) = (self.number(), self.number());
            for ordinal in 0..histograms {
                let mut known: Vec<u64> = (base..base + intervals).collect();
                for _ in 0..self.number() {
                    let gap = (base + self.number(), self.number());
                    known.retain(|&interval| !(gap.0..gap.0 + gap.1).contains(&interval));
                }
                for interval in &known {
                    found.insert((ordinal, *interval), vec![0; 65]);
                }
                for _ in 0..self.number() {
                    self.column(ordinal, &known, &mut found);
                }
            }
            base += intervals;
        }
        (found, base)
    }

    fn column(&mut self, ordinal: u64, known: &[u64], found: &mut Intervals) {
        let (bucket, width) = (self.number() as usize, self.number());
        for plane in 0..width {
            for interval in known {
                let counts = found.get_mut(&(ordinal, *interval)).unwrap();
                counts[bucket] += u64::from(self.bytes[self.at]) << (8 * plane);
                self.at += 1;
            }
        }
    }
}

fn plain(base64: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = base64
        .trim_end_matches('=')
        .chars()
        .map(|letter| letters.find(letter).unwrap());
    let (mut bytes, mut held, mut count) = (Vec::new(), 0, 0);
    for six in bits {
        (held, count) = (held << 6 | six, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((held >> count) as u8);
            held &= (1 << count) - 1;
        }
    }
    bytes
}

fn series(path: &str, args: &[&str]) -> (Value, Intervals) {
    let (document, status) = read(path, args);
    assert_eq!(status, 0, "{path}");
    let run = document["runs"][0].clone();
    let (intervals, count) = Decoder::of(&run["series"]).all();
    assert_eq!(run["series"]["count"], count);
    (run, intervals)
}

fn counts(histogram: &Value) -> Vec<u64> {
    let mut counts: Vec<u64> = histogram["counts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|count| count.as_u64().unwrap())
        .collect();
    counts.resize(65, 0);
    counts
}

/// Returns the counts of the slices of the same length.
fn of_slices(run: &Value) -> Intervals {
    let mut found = Intervals::new();
    for slice in run["slices"].as_array().unwrap() {
        for histogram in slice["histograms"].as_array().unwrap() {
            let number = slice["number"].as_u64().unwrap() - 1;
            found.insert(
                (histogram["ordinal"].as_u64().unwrap(), number),
                counts(histogram),
            );
        }
    }
    found
}

const CASES: [&str; 8] = [
    "6.6/four-us.log",
    "6.6/four-us-int5.log",
    "6.6/slow-disk-ms.log",
    "6.6/hole.log",
    "6.6/two-same-device.log",
    "6.6/commit-us.log",
    "6.6/index-single-us.log",
    "6.6/duration-not-multiple.log",
];

#[test]
fn a_series_matches_the_slices_of_its_length() {
    for case in CASES {
        for length in ["1", "5", "7"] {
            let (run, intervals) = series(case, &["--series-sec", length, "--slice-sec", length]);
            assert_eq!(run["series"]["interval_s"], run["slice_length_s"], "{case}");
            assert!(intervals == of_slices(&run), "{case}, {length} s");
        }
    }
}

#[test]
fn the_seconds_add_up_to_the_run() {
    let (run, intervals) = series("6.6/four-us.log", &["--series-sec", "1"]);
    for histogram in run["histograms"].as_array().unwrap() {
        let ordinal = histogram["ordinal"].as_u64().unwrap();
        let mut sum = vec![0; 65];
        for (_, counts) in intervals.range((ordinal, 0)..(ordinal + 1, 0)) {
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        assert_eq!(sum, counts(histogram));
    }
}

#[test]
fn a_missing_block_is_a_gap_on_both_sides_of_it() {
    let text = log("6.6/four-us.log");
    let begin = text.find("\nafter 25 sec:").unwrap();
    let end = text.find("\nafter 26 sec:").unwrap();
    let holed = Scratch::new(
        "series-hole.log",
        [&text[..begin], &text[end..]].concat().as_bytes(),
    );
    let (_, intervals) = series(holed.arg(), &["--series-sec", "1"]);
    let missing: Vec<u64> = (0..60)
        .filter(|&second| !intervals.contains_key(&(0, second)))
        .collect();
    assert_eq!(missing, [24, 25]);
}

#[test]
fn a_window_equals_that_part_of_the_series() {
    let (_, whole) = series("6.6/four-us.log", &["--series-sec", "2"]);
    let (run, part) = series(
        "6.6/four-us.log",
        &["--series-sec", "2", "--from-sec", "9", "--to-sec", "21"],
    );
    assert_eq!(
        (&run["series"]["start_s"], &run["series"]["count"]),
        (&10.into(), &5.into())
    );
    let shifted: Intervals = part
        .into_iter()
        .map(|((ordinal, at), counts)| ((ordinal, at + 5), counts))
        .collect();
    let expected: Intervals = whole
        .into_iter()
        .filter(|((_, at), _)| (5..10).contains(at))
        .collect();
    assert!(shifted == expected);
}

#[test]
fn a_window_after_the_end_is_empty() {
    let (run, intervals) = series("6.6/four-us.log", &["--series-sec", "1", "--from-sec", "100"]);
    assert_eq!(run["series"]["count"], 0);
    assert!(intervals.is_empty());
}

#[test]
fn a_series_needs_a_request_and_blocks() {
    assert!(read("6.6/four-us.log", &[]).0["runs"][0]["series"].is_null());
    let (document, _) = read("6.6/nodev.log", &["--series-sec", "60"]);
    assert!(document["runs"][0]["series"].is_null());
}
