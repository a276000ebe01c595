//! Real logs of every family, read by their keys: meanings of histograms, and findings about their ends.

use std::fs;
use std::path::Path;

use drivetest_logs::act::grammar::family::Family;
use drivetest_logs::act::run::Run;
use drivetest_logs::act::semantics::{Edges, Role, Time, compared, judged};
use drivetest_logs::act::stop::StopKind;
use drivetest_logs::judge;
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::judge::verdict::Outcome;
use drivetest_logs::reader::{LogReader, Options, Reading};

fn text(case: &str) -> String {
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../tests/data/act");
    fs::read_to_string(logs.join(format!("{case}.log"))).unwrap()
}

fn read(log: &str) -> Reading {
    let mut reader = LogReader::new(Options { slice_s: 10 });
    reader.push(log.as_bytes());
    reader.finish()
}

fn run(log: &str) -> Run {
    let reading = read(log);
    assert_eq!(reading.error, None);
    reading.runs.into_iter().next().unwrap()
}

fn ids(run: &Run) -> Vec<&'static str> {
    run.findings.iter().map(|finding| finding.id).collect()
}

fn names(run: &Run) -> Vec<&str> {
    run.histograms
        .iter()
        .map(|histogram| histogram.name.as_str())
        .collect()
}

fn edit(log: &str, from: &str, to: &str) -> String {
    assert!(log.contains(from), "{from}");
    log.replacen(from, to, 1)
}

#[test]
fn verdicts_take_reads_with_queue_and_comparisons_take_them_without() {
    for (case, family, judged_name, compared_name) in [
        ("2.0/single-us", Family::A, "READS", Some("RAW READS")),
        ("4.0/commit-us", Family::A, "READS", Some("RAW READS")),
        ("5.0/four-us", Family::B, "reads", Some("device-reads")),
        ("5.3/index-us", Family::B, "trans-reads", Some("device-reads")),
        ("6.0/single-us", Family::C, "reads", Some("reads")),
        ("6.6/index-single-us", Family::C, "reads", Some("reads")),
        ("1.x/single", Family::A, "READS", None),
    ] {
        let run = run(&text(case));
        assert_eq!(run.origin.family, Some(family), "{case}");
        assert_eq!(judged(&run).unwrap().name, judged_name, "{case}");
        assert_eq!(
            compared(&run).map(|histogram| histogram.name.as_str()),
            compared_name,
            "{case}"
        );
    }
}

#[test]
fn no_histogram_of_a_real_log_is_without_a_role() {
    for case in [
        "3.1-ctd/commit-us",
        "5.2/commit-us",
        "5.2/index-us",
        "6.6/two-same-device",
    ] {
        for histogram in run(&text(case)).histograms {
            assert_ne!(histogram.meaning.role, Role::Other, "{case}: {}", histogram.name);
            let of_device = matches!(histogram.meaning.role, Role::ReadsOfDevice | Role::WritesOfDevice);
            assert_eq!(histogram.meaning.device.is_some(), of_device, "{case}");
        }
    }
}

#[test]
fn one_tag_of_4_0_is_read_as_reads_and_as_writes_by_its_place() {
    let run = run(&text("4.0/commit-us"));
    let expected = [
        "LARGE BLOCK READS",
        "LARGE BLOCK WRITES",
        "RAW READS",
        "/dev/zram4-reads",
        "READS",
        "RAW WRITES",
        "/dev/zram4-writes",
        "WRITES",
    ];
    assert_eq!(names(&run), expected);
    let counts = |at: usize| run.histograms[at].tally.counts();
    assert_eq!(counts(3), counts(2), "one device's reads are all reads");
    assert_eq!(counts(6), counts(5), "and its writes all writes");
    assert_eq!(run.histograms[7].meaning.time, Some(Time::QueueAndService));
}

#[test]
fn buckets_of_1_x_have_their_own_edges_and_a_void_verdict() {
    let mut run = run(&text("1.x/single"));
    assert_eq!(run.origin.tool_version, "1.x");
    assert!(ids(&run).contains(&"old-buckets"));
    assert!(
        run.histograms
            .iter()
            .all(|histogram| histogram.meaning.edges == Edges::Act1)
    );
    judge::apply(
        &mut run,
        &Profile::parse(Profile::known("operational-database").unwrap()).unwrap(),
    );
    let verdict = run.verdict.unwrap();
    assert_eq!(verdict.outcome, Outcome::Void);
    assert!(verdict.shares.iter().any(|share| share.threshold_us == 1000));
    for share in verdict.shares.iter().filter(|share| share.threshold_us == 1000) {
        assert_eq!(share.read_at_us, 2000, "1.x has no edge at 1 ms");
        assert_eq!(share.over_at_most_count, share.ops_count, "all may be over it");
    }
    assert_eq!(verdict.compared, None, "its buckets compare with no others");
}

#[test]
fn over_8_ms_of_1_x_counts_from_its_bucket_3() {
    // The last block of the log: `READS (59999 total)`, whose buckets 03 and above are added by hand below.
    let log = text("1.x/single");
    let last = &log[log.rfind("\nREADS ").unwrap()..];
    let buckets = last.split('(').skip(2).map(|part| part.split_once(": ").unwrap());
    let over: u64 = buckets
        .filter(|(bucket, _)| bucket.parse::<u32>().unwrap() >= 3)
        .map(|(_, count)| count.split(')').next().unwrap().parse::<u64>().unwrap())
        .sum();
    let run = run(&log);
    let reads = judged(&run).unwrap();
    let bucket = reads.meaning.edges.bucket_below(3).unwrap();
    assert_eq!(reads.tally.over_count(bucket), over);
    assert!(over > 0);
}

#[test]
fn a_2_0_log_without_its_unit_is_not_taken_for_1_x() {
    let lost = edit(&text("2.0/single-us"), "microsecond-histograms: yes\n", "");
    assert_eq!(run(&lost).histograms[0].meaning.edges, Edges::Act);
}

#[test]
fn a_log_of_1_to_4_cut_anywhere_in_its_last_block_loses_that_block_only() {
    let log = text("4.0/commit-us");
    let last = log.rfind("After 30 sec:").unwrap();
    for end in (last..log.len() - 3).step_by(7) {
        let run = run(&log[..end]);
        assert_eq!(
            (run.stop.kind, run.reached_s),
            expected_end(&log[last..end]),
            "{}",
            &log[last..end]
        );
    }
    assert_eq!(run(&log).stop.kind, StopKind::Finished);
}

/// A log that ends at a block's end is short, not cut.
fn expected_end(rest: &str) -> (StopKind, u64) {
    if rest.is_empty() {
        (StopKind::Short, 29)
    } else {
        (StopKind::Cut, 29)
    }
}

#[test]
fn too_few_large_blocks_are_reported_in_every_family() {
    let profile = Profile::parse(Profile::known("operational-database").unwrap()).unwrap();
    let reported = |case: &str| {
        let (verdict, _) = judge::judge(&run(&text(case)), &profile);
        let fewer = "the run writes 11.76 large blocks per second";
        verdict.reasons.iter().any(|reason| reason.starts_with(fewer))
    };
    for version in ["3.1-ctd", "4.0", "5.2", "6.2"] {
        assert!(reported(&format!("{version}/commit-us")), "{version}");
        assert!(!reported(&format!("{version}/single-us")), "{version}");
    }
}
