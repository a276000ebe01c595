//! Outputs as people send them: quoted, indented, forwarded by a logger.

use std::fmt::Write as _;

use drivetest_logs::reader::Reading;
use drivetest_logs::ycsb::run::Run;

use super::support::{self, go_cases, ids, java_cases};

type Way = (&'static str, fn(usize) -> String);

/// Prefix of a line, and the rule that reports it.
const WAYS: [Way; 7] = [
    ("quoted", |_| "> ".to_owned()),
    ("quoted", |_| "| ".to_owned()),
    ("indented", |_| "    ".to_owned()),
    ("indented", |_| "\t".to_owned()),
    ("line-prefix", |_| "ycsb-1  | ".to_owned()),
    ("line-prefix", |at| {
        format!("2026-11-21T02:{:02}:{:02}.5Z ", at / 60 % 60, at % 60)
    }),
    ("line-prefix", |at| {
        format!(
            "Nov {:2} 02:56:{:02} bench01 ycsb[123]: ",
            9 + at / 86_400,
            at % 60
        )
    }),
];

fn sent(log: &[u8], before: fn(usize) -> String) -> Vec<u8> {
    let log = String::from_utf8_lossy(log);
    let mut sent = String::new();
    for (at, line) in log.lines().enumerate() {
        writeln!(sent, "{}{line}", before(at)).unwrap();
    }
    sent.into_bytes()
}

fn facts(reading: &Reading) -> Vec<String> {
    let without = |run: &Run| Run {
        findings: Vec::new(),
        ..run.clone()
    };
    let runs = reading.ycsb_runs.iter();
    runs.map(|run| format!("{:?}", without(run))).collect()
}

/// Whether an output begins with a line that shows a prefix; the prefix is not removed from lines before it.
fn begins_so(log: &[u8]) -> bool {
    const BEGINNINGS: [&str; 6] = [
        "[OVERALL], RunTime(ms)",
        "Command line:",
        "YCSB Client ",
        "***************** properties ",
        "{",
        "[ {",
    ];
    let log = String::from_utf8_lossy(log);
    let first = log.lines().find(|line| !line.is_empty()).unwrap_or("");
    BEGINNINGS.iter().any(|beginning| first.starts_with(beginning))
}

#[test]
fn every_form_of_sending_an_output_gives_the_same_reading() {
    let mut seen = 0;
    let cases = java_cases().into_iter().chain(go_cases());
    let cases = cases.filter(|case| begins_so(&case.bytes("log")));
    for (place, case) in cases.enumerate() {
        // A last line without an end is a finding of its own, which a sender's copy mends.
        let mut log = case.bytes("log");
        log.extend((log.last() != Some(&b'\n')).then_some(b'\n'));
        let clean = support::read(&log, &[]);
        let (rule, before) = WAYS[place % WAYS.len()];
        let reading = support::read(&sent(&log, before), &[]);
        assert_eq!(facts(&reading), facts(&clean), "{}: {rule}", case.name);
        if !clean.ycsb_runs.is_empty() {
            assert!(ids(&reading.findings).contains(&rule), "{}: {rule}", case.name);
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn an_output_as_the_program_wrote_it_has_no_repair() {
    for case in java_cases().into_iter().chain(go_cases()) {
        let found = case.read().findings;
        let reported = ids(&found)
            .into_iter()
            .find(|id| WAYS.iter().any(|(rule, _)| rule == id));
        assert_eq!(reported, None, "{}", case.name);
    }
}
