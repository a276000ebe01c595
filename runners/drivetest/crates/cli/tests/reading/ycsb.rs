//! Outputs of YCSB through the real binary: document, summary, verdict.

use crate::support::{Scratch, drivetest, ids, logs, read, text};
use serde_json::json;

fn path(case: &str) -> String {
    let path = logs().join("../ycsb").join(case);
    path.to_str().unwrap().to_owned()
}

fn check(case: &str) -> (String, i32) {
    let output = drivetest(&["check", &path(case), "--profile", "operational-database"]);
    (text(&output.stdout), output.status.code().unwrap())
}

#[test]
fn the_document_describes_a_run_of_merged_streams() {
    let (document, status) = read(&path("ycsb-0.18.0-SNAPSHOT/status-merged.log"), &[]);
    assert_eq!(
        (status, &document["runs"], &document["error"]),
        (0, &json!([]), &json!(null))
    );
    let run = &document["ycsb_runs"][0];
    for (key, expected) in [
        ("tool_version", json!("0.18.0-SNAPSHOT")),
        ("phase", json!("run")),
        ("workload", json!("a")),
        ("threads_count", json!(8)),
        ("record_count", json!(200_000)),
        ("record_bytes", json!(4096)),
        ("runtime_ms", json!("4486")),
        ("throughput_ops_per_s", json!("6687.472135532768")),
        ("done_ops_count", json!(30_000)),
        ("times", json!("service")),
        ("stop", json!({"kind": "finished", "line": null, "text": ""})),
        ("validity", json!({"outcome": "valid", "reasons": []})),
    ] {
        assert_eq!(run[key], expected, "{key}");
    }
    assert_eq!(run["operations"][0]["percentiles"][4], json!(["99.99", "8067"]));
    assert_eq!(run["intervals"].as_array().unwrap().len(), 6);
    assert_eq!(run["intervals"][3]["ops_count"], json!(18_627));
}

#[test]
fn check_has_an_exit_code_for_valid_invalid_and_undecided() {
    assert_eq!(check("ycsb-0.18.0-SNAPSHOT/status-merged.log").1, 0);
    let (printed, status) = check("ycsb-0.18.0-SNAPSHOT/fail-bad-optionsfile-merged.log");
    assert_eq!(status, 1);
    assert!(
        printed.contains(
            "invalid\n  INVALID   nothing-done line 10: throughput is 0: no operation was completed"
        ),
        "{printed}"
    );
    let (printed, status) = check("ycsb-0.18.0-SNAPSHOT/maxexecutiontime5.log");
    assert_eq!(status, 2);
    assert!(
        printed.contains("undecided\n  UNDECIDED command-line-missing: "),
        "{printed}"
    );
}

#[test]
fn the_summary_is_a_table() {
    let output = drivetest(&["read", &path("ycsb-0.18.0-SNAPSHOT/status-merged.log")]);
    let printed = text(&output.stdout);
    assert!(
        printed.contains("run of workload a on site.ycsb.db.rocksdb.RocksDBClient, 8 threads"),
        "{printed}"
    );
    let row = printed
        .lines()
        .find(|line| line.trim_start().starts_with("UPDATE"))
        .unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        cells,
        [
            "UPDATE", "service", "14954", "1139.79", "1106", "2143", "2907", "5623", "7991", "8487"
        ]
    );
}

#[test]
fn a_sweep_in_one_file_is_several_runs() {
    let logs = ["t001", "t016"].map(|threads| {
        let path = path(&format!("ycsb-0.18.0-SNAPSHOT/sweep/workloada-{threads}.log"));
        std::fs::read(path).unwrap()
    });
    let (document, _) = Scratch::new("sweep.log", &logs.concat()).read();
    assert_eq!(document["ycsb_runs"].as_array().unwrap().len(), 2);
    assert_eq!(ids(&document["findings"]), ["several-runs"]);
}

#[test]
fn latency_refuses_a_ycsb_output() {
    let output = drivetest(&["latency", "-l", &path("ycsb-0.18.0-SNAPSHOT/status-merged.log")]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("expected an ACT log, got a YCSB output"));
}
