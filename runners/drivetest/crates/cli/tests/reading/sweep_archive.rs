//! The archive of a sweep in the lab: each run with its workload file, and telemetry.

use serde_json::{Value, json};

use crate::support::{Scratch, ids, tar};

const LOG: &str = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 100.0\n[READ], Operations, 100\n\
    [READ], AverageLatency(us), 1500.5\n[READ], MinLatency(us), 900\n[READ], MaxLatency(us), 4000\n[READ], Return=OK, 100\n\
    [CLEANUP], Operations, 2\n[CLEANUP], AverageLatency(us), 5.0\n[CLEANUP], MinLatency(us), 1\n[CLEANUP], MaxLatency(us), 9\n";
const WORKLOAD: &str = "recordcount=1000\noperationcount=1000\nworkload=site.ycsb.workloads.CoreWorkload\n\
    readproportion=1\nupdateproportion=0\nrequestdistribution=zipfian\n";

fn stderr(threads: u32) -> String {
    format!(
        "Command line: -t -db site.ycsb.BasicDB -P ../workloadc -p recordcount=50 -p operationcount=100 -threads {threads} -s\n\
         YCSB Client 0.17.0\n"
    )
}

fn side_file(devices: &str, busy_pct: &str) -> String {
    let telemetry = format!(
        r#"{{"cpu": {{"busy_pct": "{busy_pct}", "iowait_pct": "4.0", "steal_pct": "0.0"}}, "disks": [{{"disk": "nvme0n1", "devices": [],
        "io": {{"busy_pct": "50.0", "read_await_us": "90.0", "write_await_us": null, "read_bytes_per_s": "1000", "write_bytes_per_s": "500"}},
        "temperature": null}}], "power": [{{"sensor": "s", "boundary": "drive", "watts": "8.00"}}]}}"#
    );
    let interval =
        format!(r#"{{"record": "interval", "label_s": 1, "telemetry": {telemetry}}}"#).replace('\n', " ");
    format!("{{\"record\":\"start\",\"schema\":\"drivecert.side/1\",\"devices\":{devices}}}\n{interval}\n")
}

const DRIVE: &str = r#"[{"path": "/dev/nvme0n1", "kind": "nvme", "drive_key": "nvme:M:S"}]"#;

/// Returns the files of a run, with the names of `runners/recipes/ycsb.py`.
fn files(name: &str, threads: u32, side: &[(&str, String)]) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![
        (format!("{name}.log"), LOG.as_bytes().to_vec()),
        (format!("{name}.stderr"), stderr(threads).into_bytes()),
        (format!("{name}/workloadc"), WORKLOAD.as_bytes().to_vec()),
    ];
    let named = |(ending, text): &(&str, String)| (format!("{name}{ending}"), text.clone().into_bytes());
    files.extend(side.iter().map(named));
    files
}

fn read(files: &[(String, Vec<u8>)]) -> Value {
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
        .collect();
    Scratch::new("sweep.tar", &tar(&files)).read().0
}

#[test]
fn a_run_has_the_workload_file_that_it_was_given() {
    let mut all = files("run-c-t002", 2, &[]);
    all.extend(files("run-c-t004", 4, &[]));
    let document = read(&all);
    let runs = document["ycsb_runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(
            (&run["missing_files"], &run["workload"]),
            (&json!([]), &json!("c"))
        );
        assert_eq!(run["request_distribution"], json!("zipfian"));
        assert!(!ids(&run["findings"]).contains(&"workload-file-missing".to_owned()));
    }
    let members = document["input"]["members"].as_array().unwrap().iter();
    assert_eq!(members.filter(|member| member["role"] == "config").count(), 2);
}

#[test]
fn each_thread_count_has_the_telemetry_of_its_own_time_and_of_the_host_with_the_drive() {
    let one = [(".jsonl", side_file(DRIVE, "20.0"))];
    let two = [
        (".jsonl", side_file("[]", "95.0")),
        ("-database.jsonl", side_file(DRIVE, "40.0")),
    ];
    let mut all = files("run-c-t002", 2, &one);
    all.extend(files("run-c-t004", 4, &two));
    all.extend(files("run-c-t008", 8, &[]));
    let document = read(&all);
    let busy = |at: usize| &document["ycsb_runs"][at]["telemetry"]["cpu_busy_pct"]["mean"];
    assert_eq!((busy(0), busy(1)), (&json!("20.0"), &json!("40.0")));
    assert_eq!(document["ycsb_runs"][2]["telemetry"], json!(null));
    let record = &document["ycsb_runs"][0]["telemetry"];
    assert_eq!(record["disks"][0]["read_await_us"]["mean"], json!("90.0"));
    assert_eq!(record["disks"][0]["write_await_us"], json!(null));
    let watts = json!({"min": "8.00", "mean": "8.00", "max": "8.00"});
    assert_eq!(record["power"], json!([{"boundary": "drive", "watts": watts}]));
}

#[test]
fn a_side_file_of_a_log_with_several_runs_belongs_to_none() {
    let log = format!("{}{LOG}{}{LOG}", stderr(2), stderr(4));
    let files = [
        ("sweep.log".to_owned(), log.into_bytes()),
        ("sweep.jsonl".to_owned(), side_file(DRIVE, "20.0").into_bytes()),
    ];
    let document = read(&files);
    assert_eq!(document["ycsb_runs"].as_array().unwrap().len(), 2);
    assert_eq!(document["ycsb_runs"][0]["telemetry"], json!(null));
    assert!(ids(&document["findings"]).contains(&"side-file-differs".to_owned()));
}
