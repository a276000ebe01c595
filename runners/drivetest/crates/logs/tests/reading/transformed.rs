//! Every real log in all forms in which people send text: the reading equals that of the log, and repairs are reported.

use std::fs;
use std::path::{Path, PathBuf};

use drivetest_logs::act::run::Run;
use drivetest_logs::reader::{LogReader, Options, Reading};

/// Return every log of ACT in tests/data that is plain UTF-8 text, of any version.
fn logs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../tests/data/act");
    let versions = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let files = versions
        .filter(|path| path.is_dir())
        .flat_map(|path| fs::read_dir(path).unwrap());
    let logs = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"));
    let texts =
        logs.filter_map(|path| Some((path.clone(), String::from_utf8(fs::read(path).unwrap()).ok()?)));
    let is_plain = |text: &String| {
        text.bytes()
            .all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~'))
    };
    texts.filter(|(_, text)| is_plain(text)).collect()
}

fn read(bytes: &[u8]) -> Reading {
    let mut reader = LogReader::new(Options { slice_s: 10 });
    bytes.chunks(10_000).for_each(|chunk| reader.push(chunk));
    reader.finish()
}

fn each_line(log: &str, mut line: impl FnMut(usize, &str) -> String) -> Vec<u8> {
    let lines = log.split_inclusive('\n').enumerate();
    lines
        .map(|(at, text)| line(at, text))
        .collect::<String>()
        .into_bytes()
}

fn wide(log: &str, is_big: bool) -> Vec<u8> {
    let bytes = |unit: u16| {
        if is_big {
            unit.to_be_bytes()
        } else {
            unit.to_le_bytes()
        }
    };
    log.encode_utf16().flat_map(bytes).collect()
}

/// A text in colours, as `grep --color` and shells print it.
fn coloured(text: &str) -> String {
    let end = text.trim_end_matches('\n').len();
    format!("\u{1b}[01;32m{}\u{1b}[00m\u{1b}[K{}", &text[..end], &text[end..])
}

fn clock(at: usize) -> String {
    format!("{:02}:{:02}:{:02}", at / 3600 % 24, at / 60 % 60, at % 60)
}

type Way = (&'static str, fn(&str) -> Vec<u8>);

/// Forms of sending a log, and the rules that report them; line numbers do not change.
const WAYS: &[Way] = &[
    ("carriage-returns", |log| log.replace('\n', "\r\n").into_bytes()),
    ("carriage-returns", |log| log.replace('\n', "\r\r\n").into_bytes()),
    ("carriage-returns", |log| log.replace('\n', "\r").into_bytes()),
    ("byte-order-mark", |log| format!("\u{feff}{log}").into_bytes()),
    ("utf-16", |log| wide(&format!("\u{feff}{log}"), false)),
    ("utf-16", |log| wide(log, false)),
    ("utf-16", |log| wide(&log.replace('\n', "\r\n"), true)),
    ("escape-sequences", |log| each_line(log, |_, text| coloured(text))),
    ("escape-sequences", |log| {
        each_line(log, |_, text| format!("x\u{8} \u{8}{text}"))
    }),
    ("non-breaking-spaces", |log| {
        log.replace(' ', "\u{a0}").into_bytes()
    }),
    ("non-breaking-spaces", |log| log.replace(' ', "\t").into_bytes()),
    ("non-breaking-spaces", |log| {
        [
            ("ACT v", "ACT\tv"),
            ("e act", "e\tact"),
            (": ", ":\t"),
            (" (", "\t("),
        ]
        .iter()
        .fold(log.to_owned(), |log, (from, to)| log.replace(from, to))
        .into_bytes()
    }),
    ("quoted", |log| each_line(log, |_, text| format!("> {text}"))),
    ("quoted", |log| {
        each_line(log, |_, text| format!(">> {text}").replace(" \n", "\n"))
    }),
    ("quoted", |log| each_line(log, |_, text| format!("| {text}"))),
    ("indented", |log| each_line(log, |_, text| format!("    {text}"))),
    ("indented", |log| {
        each_line(log, |_, text| format!("\t{text}").replace("\t\n", "\n"))
    }),
    ("line-prefix", |log| {
        each_line(log, |at, text| {
            format!("Nov {:2} {} bench01 act[123]: {text}", 9 + at / 86_400, clock(at))
        })
    }),
    ("line-prefix", |log| {
        each_line(log, |at, text| format!("2024-01-02T{}.5Z {text}", clock(at)))
    }),
    ("line-prefix", |log| {
        each_line(log, |at, text| format!("{at:6}\t{text}"))
    }),
];

/// Return a run without its findings, which depend on the form of sending.
fn facts(runs: &[Run]) -> Vec<Run> {
    let without = |run: &Run| Run {
        findings: Vec::new(),
        ..run.clone()
    };
    runs.iter().map(without).collect()
}

#[test]
fn every_form_of_sending_a_log_gives_the_same_reading() {
    let logs = logs();
    assert!(logs.len() > 60, "{}", logs.len());
    for (place, (path, log)) in logs.iter().enumerate() {
        let clean = read(log.as_bytes());
        // A quarter of the ways for each log: every way meets every family, and the test stays fast.
        for (way, (rule, send)) in WAYS.iter().enumerate().skip(place % 4).step_by(4) {
            let sent = read(&send(log));
            assert_eq!(
                facts(&sent.runs),
                facts(&clean.runs),
                "{}: way {way}, {rule}",
                path.display()
            );
            let is_reported = sent.findings.iter().any(|finding| finding.id == *rule);
            assert!(
                is_reported || clean.runs.is_empty(),
                "{}: way {way}, {rule}",
                path.display()
            );
        }
    }
}

#[test]
fn a_log_as_the_program_wrote_it_has_no_repair() {
    for (path, log) in logs() {
        let reading = read(log.as_bytes());
        let reported = reading
            .findings
            .iter()
            .find(|finding| WAYS.iter().any(|(rule, _)| finding.id == *rule));
        assert_eq!(reported, None, "{}", path.display());
    }
}

#[test]
fn runs_in_one_message_are_read_with_any_text_between() {
    let logs = logs();
    let (_, log) = logs
        .iter()
        .find(|(path, _)| path.ends_with("6.6/four-us.log"))
        .unwrap();
    let bare = log.trim_start();
    let message = [
        b"Dear all,\n\nour runs:\n\n```\n".to_vec(),
        bare.as_bytes().to_vec(),
        b"```\n[bench@node07 act]$ ./act_storage a.conf\n".to_vec(),
        bare.as_bytes().to_vec(),
        b"and quoted:\n".to_vec(),
        each_line(log, |_, text| format!("> {text}")),
        bare.as_bytes().to_vec(),
    ];
    let reading = read(&message.concat());
    let clean = read(log.as_bytes());
    assert_eq!(reading.runs.len(), 4);
    for run in &reading.runs {
        assert_eq!(run.histograms, clean.runs[0].histograms);
        assert_eq!(run.stop.kind, clean.runs[0].stop.kind);
    }
}

#[test]
fn lines_of_other_processes_between_forwarded_ones_are_ignored_and_reported() {
    let logs = logs();
    let (_, log) = logs
        .iter()
        .find(|(path, _)| path.ends_with("6.6/four-us.log"))
        .unwrap();
    let other = |at: usize| format!("Nov 21 {} bench01 act[777]: reads ({at} total)\n", clock(at));
    let shipped = each_line(log, |at, text| {
        let ours = format!("Nov 21 {} bench01 act[123]: {text}", clock(at));
        if at % 50 == 49 { other(at) + &ours } else { ours }
    });
    let (reading, clean) = (read(&shipped), read(log.as_bytes()));
    assert_eq!(reading.runs[0].histograms, clean.runs[0].histograms);
    let reported = reading
        .findings
        .iter()
        .find(|finding| finding.id == "lines-without-prefix")
        .unwrap();
    assert!(
        reported.sentence.contains("ignored without it: 31 lines"),
        "{}",
        reported.sentence
    );
}
