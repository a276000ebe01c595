//! `check`: verdicts and exit codes of real logs and of synthetic logs for edge cases.

use crate::support::{Scratch, drivetest, log, read, text};
use serde_json::{Value, json};

/// A profile whose conditions, except its limits, the short real logs of tests/data meet.
fn short_profile(name: &str, limit_1_ms: &str) -> Scratch {
    let profile = json!({
        "name": "short", "rule_version": 1, "reads_pct": "67", "writes_pct": "33", "ratio_tolerance_points": "1",
        "object_bytes": 1536, "duration_s": 60, "slice_length_s": 10,
        "limits": [{"threshold_us": 1000, "limit_pct": limit_1_ms}],
    });
    Scratch::new(name, profile.to_string().as_bytes())
}

fn check(args: &[&str]) -> (String, i32) {
    let output = drivetest(&[&["check"], args].concat());
    (text(&output.stdout), output.status.code().unwrap())
}

fn verdict(case: &str) -> Value {
    let (document, _) = read(case, &["--slice-sec", "10", "--profile", "operational-database"]);
    document["runs"][0]["verdict"].clone()
}

#[test]
fn a_slow_disk_fails_by_its_largest_excess_and_every_violation_is_listed() {
    let verdict = verdict("6.6/slow-disk-ms.log");
    let headline = "fails: slice 2 (10-20 s), reads over 64 ms: 0.33 % > 0.1 %; also over 1 ms and 8 ms";
    assert_eq!(
        (&verdict["outcome"], &verdict["headline"]),
        (&json!("fail"), &json!(headline))
    );
    let violations: Vec<_> = verdict["violations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| {
            json!([
                found["slice"],
                found["threshold_us"],
                found["share_pct"],
                found["limit_pct"],
                found["excess_ratio"]
            ])
        })
        .collect();
    assert_eq!(
        violations,
        [
            json!([2, 64000, "0.33", "0.1", "3.33"]),
            json!([3, 64000, "0.17", "0.1", "1.67"]),
            json!([4, 8000, "1.33", "1", "1.33"]),
            json!([4, 1000, "5.83", "5", "1.17"]),
        ]
    );
}

#[test]
fn shares_cover_the_worst_slice_and_the_whole_run() {
    let shares = verdict("6.6/slow-disk-ms.log")["shares"].clone();
    assert_eq!(
        shares[0],
        json!({
            "statistic": "worst-slice", "threshold_us": 1000, "read_at_us": 1000, "share_pct": "5.83",
            "over_count": 350, "over_at_most_count": 350, "ops_count": 6006, "at_most_pct": "5.83", "limit_pct": "5",
            "within": false, "at_most_within": false, "slice": 4,
        })
    );
    assert_eq!(
        (&shares[1]["statistic"], &shares[1]["slice"]),
        (&json!("overall"), &json!(null))
    );
    assert_eq!(shares.as_array().unwrap().len(), 6);
}

#[test]
fn microsecond_logs_are_read_at_1024_us_and_give_bounds_at_1000_us() {
    let share = verdict("6.6/slow-disk-lag.log")["shares"][0].clone();
    assert_eq!(
        (&share["threshold_us"], &share["read_at_us"]),
        (&json!(1000), &json!(1024))
    );
    assert!(share["over_at_most_count"].as_u64() > share["over_count"].as_u64());
}

#[test]
fn the_margin_is_to_the_limit_that_is_nearest() {
    // 20 of 6000 reads over 64 ms are 0.3333 % of 0.1 % allowed; then 2178 of 40000 over 1024 us, 5.445 % of 5 %.
    let margin = |case: &str| verdict(case)["margin"].clone();
    assert_eq!(
        margin("6.6/slow-disk-ms.log"),
        json!({"slice": 2, "threshold_us": 64000, "share_pct": "0.33", "limit_pct": "0.1", "points": "-0.2334", "ratio": "3.3333"})
    );
    assert_eq!(margin("6.6/slow-disk-lag.log")["points"], "-0.4450");
    assert_eq!(margin("6.6/slow-disk-lag.log")["ratio"], "1.0890");
}

#[test]
fn where_the_edge_decides_both_ends_are_judged() {
    // 1000 of 8000 reads are in [512, 1024) us: none above 1024 us, and 12.5 % may be above 1000 us.
    let header = log("6.6/four-us.log");
    let block = |at: u64| {
        let (all, below, between) = (at * 8000, at * 7000, at * 1000);
        format!("after {at} sec:\nreads ({all} total)\n (05: {below:010}) (10: {between:010})\n\n")
    };
    let text = header.split("HISTOGRAM NAMES").next().unwrap().to_owned()
        + "HISTOGRAM NAMES\nreads\n\n"
        + &(1..=60).map(block).collect::<String>();
    let made = Scratch::new("strict.log", text.as_bytes());
    let ends = |limit: &str| {
        let profile = short_profile(&format!("strict-{limit}"), limit);
        let (document, _) = read(made.arg(), &["--profile", profile.arg()]);
        let verdict = &document["runs"][0]["verdict"];
        assert_eq!(verdict["shares"][0]["at_most_pct"], "12.50");
        verdict["strict"].clone()
    };
    assert_eq!(ends("12.4"), json!({"least": "pass", "most": "fail"}));
    assert_eq!(ends("12.5"), json!({"least": "pass", "most": "pass"}));
}

#[test]
fn only_microsecond_logs_state_the_thresholds_that_were_used() {
    let read_at = |case: &str| verdict(case)["read_at"].clone();
    assert_eq!(
        read_at("6.6/four-us.log"),
        "the log lacks bucket edges at thresholds of the profile, so drivetest, like ACT, reads 1 ms at 1024 us, 8 ms at 8192 us and 64 ms at 65536 us"
    );
    assert_eq!(read_at("6.6/four-ms.log"), json!(null));
}

#[test]
fn up_to_5_3_the_judged_reads_and_the_compared_ones_stand_side_by_side() {
    // 5.3/single-us.latency.txt, slices of 10 s over 1024 us: reads 1.25, 1.05, 2.81; device-reads 0.01, 0.03, 0.04.
    let verdict = verdict("5.3/single-us.log");
    assert_eq!(
        (&verdict["histogram"], &verdict["time"]),
        (&json!("reads"), &json!("queue-and-service"))
    );
    assert_eq!(verdict["shares"][0]["share_pct"], "2.81");
    let compared = &verdict["compared"];
    assert_eq!(
        (&compared["histogram"], &compared["time"]),
        (&json!("device-reads"), &json!("service"))
    );
    assert_eq!(compared["shares"][0]["share_pct"], "0.04");
}

#[test]
fn reads_of_6_x_are_the_compared_ones_and_1_x_compares_with_none() {
    assert_eq!(verdict("6.6/four-us.log")["compared"], json!(null));
    assert_eq!(verdict("1.x/single.log")["compared"], json!(null));
    assert_eq!(verdict("1.x/single.log")["outcome"], "void");
}

#[test]
fn the_steady_state_is_the_slices_after_an_eighth_of_the_time() {
    // 60 s in slices of 10 s: from 10 s on, so slices 2 to 6; 6.6/slow-disk-ms has 40 s, and ends too early for a day.
    let profile = short_profile("steady", "5");
    let (document, _) = read("6.6/single-ms.log", &["--profile", profile.arg()]);
    let run = &document["runs"][0];
    let steady = &run["verdict"]["steady_state"];
    let slices = run["slices"].as_array().unwrap();
    let ops: u64 = slices[1..]
        .iter()
        .map(|slice| slice["histograms"][0]["ops_count"].as_u64().unwrap())
        .sum();
    assert_eq!(
        (&steady["from_s"], &steady["to_s"], &steady["slices_count"]),
        (&json!(10), &json!(60), &json!(5))
    );
    assert_eq!(steady["shares"][0]["ops_count"], ops);
    assert_eq!(verdict("6.6/slow-disk-ms.log")["steady_state"], json!(null));
}

#[test]
fn check_prints_the_margin_and_the_remedy_of_each_finding() {
    let (text, _) = check(&[
        "6.6/pause6.log",
        "--slice-sec",
        "10",
        "--profile",
        "operational-database",
    ]);
    assert!(text.contains("  nearest limit: reads over 8 ms in slice 2 (10-20 s): 0.02 %, 0.9801 percentage points below the limit of 1 %\n"));
    assert!(
        text.contains("  REVIEW    stall line 182: reads stalled in 5 intervals"),
        "{text}"
    );
    assert!(
        text.contains("\n            remedy: find out why the program or the drive paused"),
        "{text}"
    );
}

#[test]
fn no_limit_is_surely_exceeded_if_the_buckets_leave_one_undecided() {
    let (text, status) = check(&["5.3/single-us.log", "--slice-sec", "5"]);
    assert_eq!(status, 2);
    assert!(
        text.contains("undecided: no limit is surely exceeded, but"),
        "{text}"
    );
}

#[test]
fn each_outcome_has_its_status() {
    let profile = "operational-database";
    for (case, status, begins) in [
        ("6.6/slow-disk-ms.log", 1, "6.6/slow-disk-ms.log: fails: slice 2"),
        (
            "6.6/lag-default10.log",
            1,
            "6.6/lag-default10.log: fails: could not keep up",
        ),
        (
            "6.6/four-us.log",
            2,
            "6.6/four-us.log: undecided: no limit is exceeded, but the test ran 1 minute",
        ),
        (
            "6.6/truncated-midline.log",
            2,
            "6.6/truncated-midline.log: void: line 583",
        ),
        (
            "6.6/io-errors-writes.log",
            2,
            "6.6/io-errors-writes.log: void: line 109: 232 operations failed",
        ),
        (
            "6.6/nodev.log",
            2,
            "6.6/nodev.log: void: line 38: the program ended before its first report",
        ),
        (
            "6.6/no-header.log",
            3,
            "6.6/no-header.log: cannot be read (header-missing)",
        ),
    ] {
        let (text, found) = check(&[case, "--slice-sec", "10", "--profile", profile]);
        assert_eq!(found, status, "{case}");
        assert!(text.starts_with(begins), "{text}");
    }
}

/// Returns a log of 65 s with 8000 reads per second, of which 75 % are slow in these 5 s.
fn with_slow_reads_after(slow_from_s: u64) -> String {
    let header = log("6.6/four-us.log").replace("test-duration-sec: 60", "test-duration-sec: 65");
    let block = |at: u64| {
        let (all, slow) = (at * 8000, at.saturating_sub(slow_from_s).min(5) * 6000);
        format!(
            "after {at} sec:\nreads ({all} total)\n (05: {:010}) (11: {slow:010})\n\n",
            all - slow
        )
    };
    header.split("HISTOGRAM NAMES").next().unwrap().to_owned()
        + "HISTOGRAM NAMES\nreads\n\n"
        + &(1..=65).map(block).collect::<String>()
}

#[test]
fn an_incomplete_slice_over_a_limit_is_named() {
    let made = Scratch::new("incomplete-slice.log", with_slow_reads_after(60).as_bytes());
    let (printed, status) = check(&[
        made.arg(),
        "--slice-sec",
        "10",
        "--profile",
        "operational-database",
    ]);
    let headline = "undecided: no complete slice exceeds a limit, but the whole run has 5.77 % of reads over 1 ms \
                    (limit 5 %)";
    assert_eq!(status, 2);
    assert!(printed.lines().next().unwrap().contains(headline), "{printed}");
    assert!(
        printed.contains("> 1 ms   5.77 % (over) (limit 5 %)") && !printed.contains(" % ! "),
        "{printed}"
    );
    let why = "(over): above the limit, but only the worst complete slice decides; the last 5 s are an incomplete \
               slice\n";
    assert!(printed.contains(why), "{printed}");
}

#[test]
fn a_complete_slice_with_the_same_reads_fails() {
    let made = Scratch::new("complete-slice.log", with_slow_reads_after(55).as_bytes());
    let (printed, status) = check(&[
        made.arg(),
        "--slice-sec",
        "10",
        "--profile",
        "operational-database",
    ]);
    assert_eq!(status, 1);
    assert!(
        printed.contains("worst slice           > 1 ms  37.50 % ! (limit 5 %)"),
        "{printed}"
    );
    assert!(
        printed.contains("whole run             > 1 ms   5.77 % (over) (limit 5 %)"),
        "{printed}"
    );
}

#[test]
fn a_log_without_a_complete_slice_says_so_if_the_whole_run_is_over_a_limit() {
    let made = Scratch::new("without-slice.log", with_slow_reads_after(60).as_bytes());
    let (printed, status) = check(&[made.arg(), "--profile", "operational-database"]);
    assert_eq!(status, 2);
    let headline =
        "undecided: the log has no complete slice; the whole run has 5.77 % of reads over 1 ms (limit 5 %)";
    assert!(printed.lines().next().unwrap().contains(headline), "{printed}");
}

#[test]
fn a_run_without_a_share_over_a_limit_has_no_mark() {
    let (printed, _) = check(&[
        "6.6/four-us.log",
        "--slice-sec",
        "10",
        "--profile",
        "operational-database",
    ]);
    assert!(
        !printed.contains("(over)") && !printed.contains(" % ! "),
        "{printed}"
    );
}

#[test]
fn a_run_that_meets_the_profile_passes() {
    let profile = short_profile("passes", "5");
    let (text, status) = check(&["6.6/four-us.log", "--profile", profile.arg()]);
    assert_eq!(status, 0, "{text}");
    assert!(
        text.starts_with("6.6/four-us.log: passes: at most 0.00 % over 1 ms of reads in 6 slices of 10 s\n")
    );
}

#[test]
fn a_lighter_write_load_does_not_pass() {
    let profile = short_profile("lighter", "5");
    let whole = log("6.6/four-us.log");
    let cases = [
        ("disable-odsync: no", "disable-odsync: yes", 2),
        ("no-defrag-reads: no", "no-defrag-reads: yes", 2),
        ("commit-to-device: no", "commit-to-device: yes", 2),
        // 4000 writes of 1536 bytes, 85 to a block, each written twice: 94.12, less one percent 93.18.
        (
            "large-block-writes-per-sec: 94.12",
            "large-block-writes-per-sec: 93.17",
            2,
        ),
        (
            "large-block-writes-per-sec: 94.12",
            "large-block-writes-per-sec: 93.18",
            0,
        ),
        // More than the 5648 in 60 s of the log: some are missing.
        (
            "large-block-writes-per-sec: 94.12",
            "large-block-writes-per-sec: 134.45",
            2,
        ),
        ("compress-pct: 100", "compress-pct: 50", 0),
    ];
    for (at, (from, to, status)) in cases.into_iter().enumerate() {
        assert!(whole.contains(from), "{from}");
        let edited = Scratch::new(&format!("lighter-{at}.log"), whole.replace(from, to).as_bytes());
        let (text, found) = check(&[edited.arg(), "--profile", profile.arg()]);
        assert_eq!(found, status, "{to}: {text}");
    }
}

#[test]
fn a_share_equal_to_its_limit_passes_and_one_operation_more_fails() {
    let reads = log("6.6/single-ms.log");
    let profile = short_profile("edge", "10");
    for (over_count, status) in [(2000, 0), (2001, 1)] {
        let edited = Scratch::new(
            &format!("edge-{over_count}.log"),
            with_reads(&reads, over_count).as_bytes(),
        );
        assert_eq!(
            check(&[edited.arg(), "--profile", profile.arg()]).1,
            status,
            "{over_count} of 20000"
        );
    }
}

/// Returns the log with other reads: 20000 in every slice, and this many above 1 ms in the first.
fn with_reads(log: &str, over_count: u64) -> String {
    let header = log.split("after 1 sec:").next().unwrap();
    let block = |at: u64| {
        let (all, over) = (at * 2000, over_count.min(at * 500));
        format!(
            "after {at} sec:\nreads ({all} total)\n (00: {:010}) (01: {over:010})\n\n",
            all - over
        )
    };
    header.to_owned() + &(1..=60).map(block).collect::<String>()
}

#[test]
fn counts_decide_where_rounding_hides_an_excess_and_a_finding_reports_it() {
    let edited = Scratch::new(
        "rounding.log",
        with_reads(&log("6.6/single-ms.log"), 601).as_bytes(),
    );
    let profile = short_profile("rounding", "3");
    let (text, status) = check(&[edited.arg(), "--profile", profile.arg()]);
    assert_eq!(status, 1, "601 of 20000 is 3.005 %, printed as 3.00: {text}");
    assert!(text.contains("reads over 1 ms: 3.005 % > 3 %"), "{text}");
    assert!(text.contains("rounding-decides"), "{text}");
    let equal = short_profile("rounding-equal", "3.005");
    assert_eq!(check(&[edited.arg(), "--profile", equal.arg()]).1, 0);
}

#[test]
fn only_a_few_of_many_slices_where_rounding_decides_are_reported() {
    // 25 slices of 10 s with 601 of 20000 reads over 1 ms in each: 3.005 %, printed as 3.00.
    let header = log("6.6/single-ms.log");
    let header = header.split("after 1 sec:").next().unwrap();
    let header = header.replace("test-duration-sec: 60", "test-duration-sec: 250");
    let block = |at: u64| {
        let (all, over) = (at * 2_000, at / 10 * 601);
        let under = all - over;
        format!("after {at} sec:\nreads ({all} total)\n (00: {under:010}) (01: {over:010})\n\n")
    };
    let text = header + &(1..=250).map(block).collect::<String>();
    let edited = Scratch::new("rounding-often.log", text.as_bytes());
    let profile = short_profile("rounding-often", "3");
    let (document, _) = read(edited.arg(), &["--profile", profile.arg()]);
    let found = document["runs"][0]["findings"].as_array().unwrap();
    let printed: Vec<_> = found
        .iter()
        .filter(|finding| finding["id"] == "rounding-decides")
        .collect();
    assert_eq!(printed.len(), 20);
    let last = printed[19]["sentence"].as_str().unwrap();
    assert!(last.ends_with("(and 5 more like this)"), "{last}");
}

#[test]
fn the_weightiest_status_of_several_logs_is_given() {
    let status = |logs: &[&str]| check(&[logs, &["--profile", "operational-database"]].concat()).1;
    assert_eq!(status(&["6.6/four-us.log", "6.6/lag-default10.log"]), 1);
    assert_eq!(status(&["6.6/no-header.log", "6.6/lag-default10.log"]), 3);
}

#[test]
fn only_storage_logs_with_reads_can_pass() {
    let reasons = |case: &str| verdict(case)["reasons"].to_string();
    assert!(reasons("6.6/index-single-us.log").contains("the workload is act-index"));
    assert!(reasons("6.6/writeonly-us.log").contains("no histogram of reads"));
    assert!(
        reasons("6.6/range-us.log")
            .contains("the objects have 512 to 8192 bytes; the profile requires objects of 1536")
    );
    assert!(reasons("6.6/readonly-us.log").contains("100.0 % of all requests are reads"));
}

#[test]
fn the_profile_is_named_with_the_hash_of_its_bytes() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../logs/profiles/operational-database.1.json"
    );
    let (by_file, _) = read("6.6/four-us.log", &["--slice-sec", "10", "--profile", file]);
    let by_name = verdict("6.6/four-us.log");
    assert_eq!(by_file["runs"][0]["verdict"], by_name);
    assert_eq!(by_name["profile"]["sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn a_profile_that_cannot_be_used_is_wrong_usage() {
    let output = drivetest(&["check", "6.6/four-us.log", "--profile", "no-such"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(text(&output.stderr).contains("compiled-in profiles: operational-database.1"));
    let broken = Scratch::new("broken.json", b"{}");
    assert_eq!(check(&["6.6/four-us.log", "--profile", broken.arg()]).1, 64);
}
