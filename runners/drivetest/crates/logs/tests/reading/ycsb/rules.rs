//! Every rule can fire, and no rule that weighs fires on a clean run.

use drivetest_logs::finding::Severity;
use drivetest_logs::reader::{LogReader, Options, Reading, Role};
use drivetest_logs::ycsb::rules::RULES;
use drivetest_logs::ycsb::run::Outcome;

use super::handwritten::{CLEAN, CONFIGURATION};
use super::support::{case, ids, one, read};

/// Rule, what the log has instead of the clean one, what the command line has instead.
type Change = (
    &'static str,
    (&'static str, &'static str),
    (&'static str, &'static str),
);

const SAME: (&str, &str) = ("", "");

const CHANGES: [Change; 36] = [
    ("nothing-done", ("ops/sec), 100.0", "ops/sec), 0.0"), SAME),
    ("operations-failed", ("Return=OK, 100", "Return=ERROR, 100"), SAME),
    ("verification-failed", ("[CLEANUP]", "[VERIFY]"), SAME),
    (
        "operations-do-not-add-up",
        ("Operations, 100", "Operations, 99"),
        SAME,
    ),
    (
        "rows-conflict",
        ("[READ], Min", "[READ], Operations, 99\n[READ], Min"),
        SAME,
    ),
    (
        "row-repeated",
        ("[READ], Min", "[READ], Operations, 100\n[READ], Min"),
        SAME,
    ),
    (
        "operation-count-differs",
        SAME,
        ("operationcount=100", "operationcount=101"),
    ),
    (
        "load-cut",
        SAME,
        ("-t ", "-load -p maxexecutiontime=1 -p insertcount=200 "),
    ),
    (
        "time-limit-hit",
        SAME,
        ("operationcount=100", "operationcount=101 -p maxexecutiontime=1"),
    ),
    ("threads-differ", SAME, ("-threads 2", "-threads 3")),
    (
        "result-cut",
        ("[CLEANUP], 50thPercentileLatency(us), 1\n", "[CLEANUP], 50thPerc"),
        SAME,
    ),
    (
        "asked-count-unknown",
        SAME,
        ("-p operationcount=100", "-P workloads/workloada"),
    ),
    ("threads-unknown", SAME, ("-threads 2", "-P mine")),
    ("option-unreadable", SAME, ("-target 100", "-target Infinity")),
    ("row-unreadable", ("Operations, 2\n", "Operations, two\n"), SAME),
    (
        "row-unknown",
        ("[READ], Min", "[READ], Median(us), 3\n[READ], Min"),
        SAME,
    ),
    ("row-missing", ("[READ], MinLatency(us), 900\n", ""), SAME),
    (
        "last-row-open",
        ("50thPercentileLatency(us), 1\n", "50thPercentileLatency(us), 1"),
        SAME,
    ),
    ("more-in-flight-than-threads", ("1500.5", "90000.0"), SAME),
    ("target-not-reached", SAME, ("-target 100", "-target 106")),
    ("intended-times-missing", SAME, SAME),
    (
        "intended-without-target",
        SAME,
        (
            "-target 100 -p measurement.interval=op",
            "-p measurement.interval=intended",
        ),
    ),
    ("closed-loop", SAME, ("-target 100", "")),
    (
        "percentile-of-few-samples",
        ("50thPercentile", "99thPercentile"),
        SAME,
    ),
    (
        "percentiles-fell-back",
        SAME,
        ("percentiles=50", "percentiles=50,99.9"),
    ),
    (
        "percentile-row-missing",
        ("[CLEANUP], 50thPercentileLatency(us), 1\n", ""),
        SAME,
    ),
    (
        "percentile-is-the-90th",
        (
            "Operations, 100\n",
            "Operations, 100.0\n[READ], 95thPercentileLatency(ms), 2.0\n",
        ),
        SAME,
    ),
    (
        "percentiles-floored",
        ("[READ], Min", "[READ], LatencyVariance(us), 9.5\n[READ], Min"),
        SAME,
    ),
    ("fork-zipfian", SAME, ("-t ", "-p requestdistribution=zipfian ")),
    (
        "latest-replaced",
        SAME,
        ("-t ", "-P workloadd -p requestdistribution=uniform "),
    ),
    ("credentials", SAME, ("-t ", "-p as.password=hunter2 -t ")),
    ("record-count-untold", SAME, ("-p recordcount=50", "-P workloada")),
    ("workload-file-missing", SAME, ("-t ", "-P workloada ")),
    (
        "updates-shrink-records",
        ("[CLEANUP]", "[UPDATE]"),
        ("site.ycsb.BasicDB", "site.ycsb.db.AerospikeClient"),
    ),
    (
        "options-file-ignored",
        SAME,
        (
            "site.ycsb.BasicDB",
            "rocksdb -p rocksdb.optionsfile=/etc/rocks.ini",
        ),
    ),
    (
        "collections-heavy",
        ("[READ], Op", "[TOTAL_GC_TIME_%], Time(%), 5.0\n[READ], Op"),
        SAME,
    ),
];

/// Words on standard error that make a rule fire.
const WORDS: [(&str, &str); 5] = [
    ("exceptions", "java.lang.ArithmeticException: / by zero\n"),
    ("binding-errors", "Error inserting, not retrying any more\n"),
    (
        "exporter-fell-back",
        "Could not find exporter X, will use default text reporter.\n",
    ),
    (
        "comma-decimals",
        "2026-11-21 02:56:31:567 1 sec: 100 operations; 7573,33 current ops/sec; \n",
    ),
    (
        "status-differs",
        "2026-11-21 02:56:31:567 1 sec: 101 operations; 100 current ops/sec; \n",
    ),
];

fn changed(text: &str, (from, to): (&str, &str)) -> String {
    assert!(text.contains(from), "{from}");
    if from.is_empty() {
        text.to_owned()
    } else {
        text.replacen(from, to, 1)
    }
}

fn with_version(log: &str, configuration: &str, version: &str, words: &str) -> Reading {
    let stderr = format!("Command line: {configuration}\nYCSB Client {version}\n{words}");
    read(log.as_bytes(), &[(Role::Stderr, "err", stderr.into_bytes())])
}

fn all_ids(reading: &Reading) -> Vec<&'static str> {
    let of_runs = reading.ycsb_runs.iter().flat_map(|run| ids(&run.findings));
    of_runs.chain(ids(&reading.findings)).collect()
}

fn fired() -> Vec<&'static str> {
    let mut fired = Vec::new();
    for (rule, log, configuration) in CHANGES {
        let version = if rule == "fork-zipfian" {
            "0.17.0.1"
        } else {
            "0.17.0"
        };
        let mut log = changed(CLEAN, log);
        if rule == "verification-failed" {
            log.push_str("[VERIFY], Return=UNEXPECTED_STATE, 2\n");
        }
        let found = all_ids(&with_version(
            &log,
            &changed(CONFIGURATION, configuration),
            version,
            "",
        ));
        assert!(found.contains(&rule), "{rule}: {found:?}");
        fired.push(rule);
    }
    for (rule, words) in WORDS {
        let found = all_ids(&with_version(CLEAN, CONFIGURATION, "0.17.0", words));
        assert!(found.contains(&rule), "{rule}: {found:?}");
        fired.push(rule);
    }
    fired.extend(fired_otherwise());
    fired
}

fn fired_otherwise() -> Vec<&'static str> {
    let statuses: String = [900, 100, 100, 100, 100, 100, 100]
        .iter()
        .enumerate()
        .map(|(at, rate)| {
            format!(
                "2026-11-21 02:56:31:567 {} sec: {at} operations; {rate} current ops/sec; \n",
                at + 1
            )
        })
        .collect();
    let stderr = format!("Command line: {CONFIGURATION}\nYCSB Client 0.1\n");
    let timeless = "[OVERALL], RunTime(ms), 1000\n[READ], Operations, 1\n[READ], 50thPercentileLatency(us), 2000\n[READ], 3, 4\n";
    let rows: String = (0..250_001).map(|at| format!("[READ], {at}, 1\n")).collect();
    let long = format!("1 sec: 1 operations; {}\n", "x".repeat(60_000));
    let readings = [
        read(CLEAN.as_bytes(), &[]),
        read(stderr.as_bytes(), &[]),
        read(format!("{CLEAN}{stderr}").as_bytes(), &[]),
        read(
            CLEAN.as_bytes(),
            &[(Role::Stderr, "err", stderr.repeat(2).into_bytes())],
        ),
        read(format!("{CLEAN}[UPDATE], Operations, 0\n").as_bytes(), &[]),
        read(timeless.replace("50th", "95th").as_bytes(), &[]),
        read(format!("{CLEAN}{rows}").as_bytes(), &[]),
        read(long.repeat(450).as_bytes(), &[]),
        with_version(CLEAN, CONFIGURATION, "0.17.0", &statuses),
    ];
    let others = super::go::odd().into_iter().chain(super::hdr::odd());
    readings
        .into_iter()
        .chain(others)
        .flat_map(|reading| all_ids(&reading))
        .collect()
}

#[test]
fn every_rule_fires() {
    let fired = fired();
    for rule in RULES {
        assert!(fired.contains(&rule.id), "{} never fires", rule.id);
    }
}

#[test]
fn a_target_that_cannot_be_read_is_neither_there_nor_absent() {
    for target in ["Infinity", "1e400", "many", "NaN"] {
        let run = one(
            CLEAN,
            &CONFIGURATION.replace("-target 100", &format!("-target {target}")),
        );
        let found = ids(&run.findings);
        assert!(found.contains(&"option-unreadable"), "{target}: {found:?}");
        let of_target = ["closed-loop", "intended-times-missing", "target-not-reached"];
        assert!(
            !of_target.iter().any(|id| found.contains(id)),
            "{target}: {found:?}"
        );
        assert_eq!(run.validity.outcome, Outcome::Undecided, "{target}");
    }
}

#[test]
fn a_log_of_act_after_an_output_of_ycsb_is_reported() {
    let reported = |log: &str| all_ids(&read(log.as_bytes(), &[])).contains(&"other-program");
    // Many lines of YCSB come first, so that the reader of ACT has been dropped.
    let mut reader = LogReader::new(Options::default());
    [CLEAN.repeat(200).as_bytes(), b"ACT version 6.6\n"]
        .iter()
        .for_each(|part| reader.push(part));
    let findings = reader.finish().findings;
    assert!(ids(&findings).contains(&"other-program"), "{findings:?}");
    assert!(!reported(CLEAN));
}

#[test]
fn a_target_of_nought_is_none_and_can_be_read() {
    let run = one(CLEAN, &CONFIGURATION.replace("-target 100", "-target 0"));
    let found = ids(&run.findings);
    assert!(
        found.contains(&"closed-loop") && !found.contains(&"option-unreadable"),
        "{found:?}"
    );
}

#[test]
fn a_clean_run_with_response_times_has_no_finding_at_all() {
    let intended = CLEAN
        .lines()
        .filter(|line| line.starts_with("[READ]") && !line.contains("Return"));
    let intended: String = intended
        .map(|line| line.replace("[READ]", "[Intended-READ]") + "\n")
        .collect();
    let run = one(
        &format!("{CLEAN}{intended}"),
        &CONFIGURATION.replace("interval=op", "interval=both"),
    );
    assert!(run.findings.is_empty(), "{:?}", run.findings);
}

#[test]
fn real_runs_that_are_clean_have_no_finding_to_review_but_few_samples() {
    for name in [
        "run-workloadc-p9999",
        "sweep/workloada-t016",
        "sweep/workloadc-t128",
        "load-200k-direct",
    ] {
        let case = case(&format!("ycsb-0.18.0-SNAPSHOT/{name}"));
        for run in case.read().ycsb_runs {
            let weighty = run
                .findings
                .iter()
                .filter(|finding| finding.severity != Severity::Note);
            let others: Vec<_> = weighty
                .filter(|finding| finding.id != "percentile-of-few-samples")
                .collect();
            assert!(others.is_empty(), "{name}: {others:?}");
        }
    }
}
