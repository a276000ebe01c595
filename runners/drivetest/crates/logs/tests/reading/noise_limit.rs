//! Floods of lines with nothing in them: refused or cut short by a sentence, never read for minutes.
//!
//! Each log here is one of very many of an archive, so that few lines are a flood.

use drivetest_logs::reader::{LogReader, Options, Reading};

const FOUR: &[u8] = include_bytes!("../../../../../../tests/data/act/6.6/four-us.log");
const YCSB: &[u8] = include_bytes!("../../../../../../tests/data/ycsb/ycsb-0.17.0/basicdb-run-a.log");

/// Lines that each of 64 logs may have, however short, and some more.
const MANY: usize = 70_000;

fn read(before: &[u8], line: &[u8], times: usize) -> Reading {
    let mut reader = LogReader::with_share(Options::default(), 64);
    reader.push(before);
    (0..times).for_each(|_| reader.push(line));
    reader.finish()
}

fn error_of(reading: &Reading) -> Option<&'static str> {
    reading.error.as_ref().map(|error| error.id)
}

#[test]
fn a_flood_of_any_short_lines_is_refused() {
    for line in [
        "\n",
        "a\n",
        "A\n",
        "\r\n",
        "x\r",
        "\0\n",
        " \n",
        "\u{a0}\n",
        "\u{1b}[m\n",
    ] {
        let reading = read(b"", line.as_bytes(), MANY);
        assert_eq!(error_of(&reading), Some("flood"), "{line:?}");
    }
}

#[test]
fn a_few_short_lines_are_no_flood() {
    assert_eq!(error_of(&read(b"", b"\n", 60_000)), Some("empty"));
    assert_eq!(error_of(&read(b"", b"a\n", 60_000)), Some("not-an-act-log"));
}

#[test]
fn as_many_lines_with_something_in_them_are_no_flood() {
    assert_eq!(error_of(&read(b"", b"seven b\n", MANY)), Some("not-an-act-log"));
    assert_eq!(error_of(&read(b"", b"six by\n", MANY)), Some("flood"));
}

#[test]
fn short_lines_after_a_run_end_its_reading_and_are_reported() {
    let reading = read(FOUR, b"\n", 200_000);
    assert_eq!(error_of(&reading), None);
    let reported = reading.runs[0]
        .findings
        .iter()
        .find(|finding| finding.id == "lines-flood");
    let reported = reported.expect("the flood is reported");
    assert!(reading.lines_count < 200_000 && reported.line == Some(reading.lines_count));
}

#[test]
fn short_lines_after_an_output_of_ycsb_are_reported_too() {
    let reading = read(YCSB, b"x\n", 200_000);
    let reported = |id| {
        reading.ycsb_runs[0]
            .findings
            .iter()
            .any(|finding| finding.id == id)
    };
    assert!(reported("lines-flood"));
}
