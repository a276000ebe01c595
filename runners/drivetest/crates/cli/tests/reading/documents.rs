//! The document of `read --json` (docs/reference/formats.md), of real logs.

use crate::support::{Scratch, drivetest, gzip, ids, log, logs, read, text};
use serde_json::{Value, json};

fn document(case: &str) -> Value {
    read(case, &["--slice-sec", "10"]).0
}

fn run(case: &str) -> Value {
    document(case)["runs"][0].clone()
}

/// The finding of every log of the collection: its devices are memory or files.
const MEMORY: &str = "device-virtual";

#[test]
fn facts_of_a_complete_run_are_read() {
    let run = run("6.6/four-us.log");
    for (key, expected) in [
        ("ordinal", json!(0)),
        ("workload", json!("act-storage")),
        ("tool", json!("act_storage")),
        ("tool_version", json!("6.6")),
        ("generator", json!("act")),
        ("arrivals", json!("lockstep")),
        ("first_line", json!(2)),
        ("last_line", json!(1584)),
        ("device_count", json!(4)),
        ("unit", json!("us")),
        ("report_interval_s", json!(1)),
        ("asked_duration_s", json!(60)),
        ("reached_s", json!(60)),
        ("intervals_count", json!(60)),
        ("asked_reads_per_s", json!("8000")),
        ("asked_writes_per_s", json!("4000")),
        ("nx_load", json!("1")),
        ("record_bytes", json!(1536)),
        ("compress_pct", json!(100)),
        ("stop", json!({"kind": "finished", "line": null, "text": ""})),
        ("io_errors_count", json!(0)),
        ("slice_length_s", json!(10)),
        ("trailing_partial_s", json!(0)),
        ("is_virtual_device", json!(true)),
        ("side_file", json!(null)),
        ("verdict", json!(null)),
    ] {
        assert_eq!(run[key], expected, "{key}");
    }
    assert_eq!(ids(&run["findings"]), [MEMORY], "and nothing else");
    let device = json!({"name": "/dev/zram1", "size_bytes": 536_870_912, "minimum_io_bytes": 4096});
    assert_eq!(run["devices"][0], device);
    assert_eq!(
        run["config"][0],
        json!(["device-names", "/dev/zram1 /dev/zram2 /dev/zram3 /dev/zram4"])
    );
    assert_eq!(run["derived"][0], json!(["record-stored-bytes", "1536 ... 1536"]));
}

#[test]
fn histograms_are_the_last_dump_and_slices_are_differences() {
    let run = run("6.6/single-ms.log");
    let reads = &run["histograms"][0];
    assert_eq!(
        (&reads["name"], &reads["unit"], &reads["ordinal"]),
        (&json!("reads"), &json!("ms"), &json!(0))
    );
    let sum = |ordinal: usize| -> u64 {
        let slices = run["slices"].as_array().unwrap();
        slices
            .iter()
            .map(|slice| slice["histograms"][ordinal]["ops_count"].as_u64().unwrap())
            .sum()
    };
    for (ordinal, histogram) in run["histograms"].as_array().unwrap().iter().enumerate() {
        assert_eq!(
            sum(ordinal),
            histogram["ops_count"].as_u64().unwrap(),
            "six slices of 10 s are all 60 s"
        );
    }
    assert_eq!(run["slices"][1]["start_s"], json!(10));
    assert_eq!(run["slices"][1]["end_s"], json!(20));
}

#[test]
fn a_slice_names_the_lines_it_was_read_from() {
    let slice = run("6.6/four-us.log")["slices"][1].clone();
    let text = log("6.6/four-us.log");
    let line = |key: &str| {
        text.lines()
            .nth(slice[key].as_u64().unwrap() as usize - 1)
            .unwrap()
            .to_owned()
    };
    assert_eq!(line("first_line"), "after 11 sec:");
    let after_last = text.lines().skip(slice["last_line"].as_u64().unwrap() as usize);
    assert_eq!(after_last.take(2).collect::<Vec<_>>(), ["", "after 21 sec:"]);
}

#[test]
fn compressed_and_plain_give_the_same_runs_and_both_hashes() {
    let plain = log("6.6/four-us.log");
    let packed = Scratch::new("packed.gz", &gzip(plain.as_bytes()));
    let (document, status) = packed.read();
    let of_plain = self::document("6.6/four-us.log");
    assert_eq!((status, &document["runs"]), (0, &of_plain["runs"]));
    assert_eq!(document["input"]["compression"], json!("gzip"));
    assert_eq!(document["input"]["content_sha256"], of_plain["input"]["sha256"]);
    assert_eq!(document["input"]["content_size_bytes"], json!(plain.len()));
    assert_eq!(of_plain["input"]["sha256"], of_plain["input"]["content_sha256"]);
    assert_ne!(document["input"]["sha256"], document["input"]["content_sha256"]);
    assert_eq!(of_plain["input"]["lines_count"], json!(1584));
}

#[test]
fn a_hash_is_that_of_sha256sum() {
    let three = Scratch::new("abc.log", b"abc");
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(
        three.read().0["input"]["sha256"],
        json!(expected),
        "FIPS 180-2, appendix B.1"
    );
}

#[test]
fn two_gzip_members_are_one_log() {
    let plain = log("6.6/four-us.log");
    let (one, two) = plain.as_bytes().split_at(20_000);
    let packed = Scratch::new("members.gz", &[gzip(one), gzip(two)].concat());
    assert_eq!(packed.read().0["runs"], document("6.6/four-us.log")["runs"]);
}

#[test]
fn bytes_after_the_compressed_log_are_reported() {
    let packed = Scratch::new(
        "trailing.gz",
        &[gzip(log("6.6/four-us.log").as_bytes()), b"more".to_vec()].concat(),
    );
    let (document, status) = packed.read();
    assert_eq!(
        (ids(&document["findings"]), status),
        (vec!["trailing-bytes".to_owned()], 0)
    );
}

#[test]
fn a_compressed_log_that_breaks_off_is_read_to_there_and_void() {
    let whole = gzip(log("6.6/four-us.log").as_bytes());
    let packed = Scratch::new("broken.gz", &whole[..whole.len() / 2]);
    let (document, status) = read(
        packed.arg(),
        &["--slice-sec", "10", "--profile", "operational-database"],
    );
    let run = &document["runs"][0];
    assert!(ids(&run["findings"]).contains(&"compression-damaged".to_owned()));
    assert_eq!((&run["verdict"]["outcome"], status), (&json!("void"), 0));
}

#[test]
fn a_bomb_stops_at_the_limit() {
    let bomb = Scratch::new("bomb.gz", &gzip(&vec![b'\n'; 4 << 20]));
    let (document, status) = read(bomb.arg(), &["--content-limit-bytes", "1048576"]);
    assert_eq!(
        (&document["error"]["id"], status),
        (&json!("content-too-large"), 3)
    );
    assert_eq!(document["input"]["content_sha256"], json!(null));
    let (document, _) = read(bomb.arg(), &["--content-limit-bytes", "4194304"]);
    assert_eq!(
        document["error"]["id"],
        json!("empty"),
        "exactly the limit is within it"
    );
    let plain = Scratch::new("large.log", &vec![b'\n'; 1 << 20]);
    let error = |limit: &str| read(plain.arg(), &["--content-limit-bytes", limit]).0["error"]["id"].clone();
    assert_eq!(
        (error("1048576"), error("1048575")),
        (json!("empty"), json!("content-too-large"))
    );
}

#[test]
fn a_file_that_is_no_log_has_a_complete_error() {
    for (name, bytes, id) in [
        ("empty", &b""[..], "empty"),
        ("blank", b"\n \n", "empty"),
        ("letter", b"Dear sir,\nwe tested.\n", "not-an-act-log"),
        ("picture", b"\x89PNG\r\n\x1a\n\0\0", "binary"),
        ("gzip", b"\x1f\x8b\x08\x00", "compression-unreadable"),
        ("begun", b"\nACT ver", "cut-in-header"),
    ] {
        let (document, status) = Scratch::new(name, bytes).read();
        let error = &document["error"];
        assert_eq!((error["id"].as_str(), status), (Some(id), 3), "{name}");
        for key in ["sentence", "expected", "got", "remedy"] {
            assert!(!error[key].as_str().unwrap().is_empty(), "{name}: {key}");
        }
        assert_eq!(document["runs"], json!([]));
    }
}

#[test]
fn an_unreadable_log_has_a_reason() {
    for (case, id, line) in [
        ("6.6/record8M-crash.log", "empty", json!(null)),
        ("6.6/no-header.log", "header-missing", json!(1)),
        ("6.6/truncated-header.log", "cut-in-header", json!(19)),
        ("6.6/prep-usage.log", "not-an-act-log", json!(1)),
        ("6.6/no-such.log", "file-unreadable", json!(null)),
    ] {
        let (document, status) = read(case, &[]);
        assert_eq!(
            (&document["error"]["id"], &document["error"]["line"], status),
            (&json!(id), &line, 3),
            "{case}"
        );
    }
}

#[test]
fn the_ways_to_end_are_distinguished() {
    for (case, kind) in [
        ("6.6/four-us.log", "finished"),
        ("6.6/duration-not-multiple.log", "finished"),
        ("6.6/io-errors-writes.log", "finished"),
        ("6.6/lag-default10.log", "cannot-keep-up"),
        ("6.6/lag-service.log", "cannot-keep-up"),
        ("6.6/index-lag-cache.log", "cannot-keep-up"),
        ("6.6/sigsegv.log", "crashed"),
        ("6.6/no-defrag-reads-4dev.log", "crashed"),
        ("6.6/sigterm.log", "short"),
        ("6.6/sigkill.log", "short"),
        ("6.6/nul-tail.log", "short"),
        ("6.6/truncated-midline.log", "cut"),
        ("6.6/truncated-afterline.log", "cut"),
        ("6.6/nodev.log", "not-started"),
        ("6.6/cfg-load-small.log", "not-started"),
    ] {
        assert_eq!(run(case)["stop"]["kind"], json!(kind), "{case}");
    }
}

#[test]
fn a_truncated_block_is_not_used_and_its_line_is_reported() {
    let run = run("6.6/truncated-midline.log");
    assert_eq!(
        (&run["reached_s"], &run["intervals_count"]),
        (&json!(22), &json!(22))
    );
    let cut = &run["findings"][0];
    let lines = log("6.6/truncated-midline.log").lines().count();
    assert_eq!(
        (&cut["id"], &cut["severity"], &cut["line"]),
        (&json!("cut"), &json!("decides"), &json!(lines))
    );
}

#[test]
fn two_runs_in_one_file_are_two() {
    let document = document("6.6/two-runs-appended.log");
    let runs = document["runs"].as_array().unwrap();
    let places: Vec<_> = runs
        .iter()
        .map(|run| (run["ordinal"].clone(), run["reached_s"].clone()))
        .collect();
    assert_eq!(places, [(json!(0), json!(60)), (json!(1), json!(11))]);
    assert_eq!(
        runs[0]["slices"],
        self::document("6.6/four-us.log")["runs"][0]["slices"]
    );
    assert_eq!(ids(&document["findings"]), ["several-runs"]);
}

#[test]
fn index_logs_are_read_with_their_histograms() {
    let run = run("6.6/index-single-us.log");
    let names: Vec<_> = run["histograms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].clone())
        .collect();
    assert_eq!(
        (&run["workload"], &run["tool"]),
        (&json!("act-index"), &json!("act_index"))
    );
    assert_eq!(
        names,
        ["reads", "/dev/zram6-reads", "writes", "/dev/zram6-writes"]
    );
    assert_eq!(run["devices"][0]["minimum_io_bytes"], json!(null));
}

#[test]
fn a_log_of_drivetest_names_its_generator_arrivals_and_coalescing() {
    let mark = "Generated by drivetest 0.1.0, arrivals even, engine threads, coalesce 50 us";
    let copyright = "Copyright 2020 by Aerospike. All rights reserved.";
    let ours = Scratch::new(
        "ours.log",
        log("6.6/single-us.log").replace(copyright, mark).as_bytes(),
    );
    let run = ours.read().0["runs"][0].clone();
    let facts =
        ["tool", "tool_version", "generator", "arrivals"].map(|key| run[key].as_str().unwrap().to_owned());
    assert_eq!(facts, ["drivetest", "0.1.0", "drivetest", "even"]);
    assert_eq!(run["coalesce_us"], 50);
    assert_eq!(ids(&run["findings"]), [MEMORY]);
}

/// Reads a log of drivetest with a side file that ends with this many reads, 4805 of them at or above 1 ms.
fn with_side_file(reads_count: u64) -> (Value, Value) {
    let mark = "Generated by drivetest 0.1.0, arrivals even, engine threads";
    let copyright = "Copyright 2020 by Aerospike. All rights reserved.";
    let ours = log("6.6/four-us.log").replace(copyright, mark);
    let log = Scratch::new(&format!("ours-{reads_count}.log"), ours.as_bytes());
    let end =
        json!({"record": "end", "reads_count": reads_count, "over": {"1000": 4805, "8000": 0, "64000": 0}});
    let lines = format!("{{\"record\": \"start\"}}\n{end}\n");
    let side = Scratch::new(&format!("side-{reads_count}.jsonl"), lines.as_bytes());
    let judged = ["--with", side.arg(), "--profile", "operational-database"];
    let (document, _) = read(log.arg(), &judged);
    let verdict = &document["runs"][0]["verdict"];
    (verdict["exact"].clone(), document["findings"].clone())
}

#[test]
fn a_side_file_of_as_many_reads_gives_counts_without_edges() {
    let (exact, findings) = with_side_file(480_006);
    assert_eq!(
        (&exact[0]["over_count"], &exact[0]["read_at_us"]),
        (&json!(4805), &json!(1000))
    );
    assert_eq!(findings, json!([]));
}

#[test]
fn a_side_file_with_more_reads_is_not_used_and_one_with_fewer_is_reported() {
    assert_eq!(with_side_file(480_007), (json!(null), json!([])));
    let (exact, findings) = with_side_file(480_005);
    assert_eq!(
        (exact, &findings[0]["id"]),
        (json!(null), &json!("side-file-differs"))
    );
}

#[test]
fn several_logs_are_one_document_a_line_and_the_worst_status() {
    let output = drivetest(&["read", "--json", "6.6/four-us.log", "6.6/no-header.log"]);
    let lines: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((lines.len(), output.status.code()), (2, Some(3)));
    assert_eq!(
        (&lines[0]["error"], &lines[1]["error"]["id"]),
        (&json!(null), &json!("header-missing"))
    );
}

#[test]
fn clean_logs_have_nothing_above_a_note() {
    for case in [
        "6.0/readonly-us",
        "6.0/single-ms-int5",
        "6.0/single-us",
        "6.2/index-us",
        "6.2/single-us",
        "6.2/writeonly-us",
        "6.4/index-us",
        "6.4/readonly-us",
        "6.4/single-us",
        "6.5/single-us",
        "6.5/writeonly-us",
        "6.6/bom-utf8",
        "6.6/burst-cmp-disk-t10",
        "6.6/compress50-us",
        "6.6/console-script",
        "6.6/crlf",
        "6.6/duration-not-multiple",
        "6.6/four-ms",
        "6.6/four-ms-int5",
        "6.6/four-us",
        "6.6/four-us-int5",
        "6.6/index-single-us",
        "6.6/index-writeonly-us",
        "6.6/loop512-us",
        "6.6/nohup-noise",
        "6.6/range-us",
        "6.6/rate-truncation",
        "6.6/readonly-us",
        "6.6/service-threads-1",
        "6.6/single-ms",
        "6.6/single-us",
        "6.6/single-us-int5",
        "6.6/sudo-noise",
        "6.6/writeonly-us",
    ] {
        let document = document(&format!("{case}.log"));
        let all = [&document["findings"], &document["runs"][0]["findings"]];
        let severities = all.iter().flat_map(|findings| findings.as_array().unwrap());
        assert!(
            severities
                .clone()
                .all(|finding| finding["severity"] == json!("note") || finding["id"] == MEMORY),
            "{case}: {all:?}"
        );
    }
}

#[test]
fn only_settings_that_differ_from_the_defaults_are_reported() {
    let cases: [(&str, &[&str]); 8] = [
        ("6.0/commit-us", &["commit-to-device"]),
        ("6.0/index-us", &["cache-load-divided"]),
        (
            "6.0/range-tomb-rf2-upd50-us",
            &["tomb-raider", "replication-changed", "updates-read"],
        ),
        ("6.2/commit-us", &["commit-to-device"]),
        ("6.6/index-four-ms-int5", &["cache-load-divided"]),
        ("6.6/slow-disk-ms", &["intervals-off-rate"]),
        ("6.6/tomb-us", &["tomb-raider"]),
        ("6.6/update50-us", &["updates-read"]),
    ];
    for (case, expected) in cases {
        let document = document(&format!("{case}.log"));
        let found = document["runs"][0]["findings"].as_array().unwrap();
        let looks = found
            .iter()
            .filter(|finding| finding["severity"] != json!("note") && finding["id"] != MEMORY);
        let looks: Vec<_> = looks.map(|finding| finding["id"].as_str().unwrap()).collect();
        assert_eq!(looks, expected, "{case}");
    }
}

#[test]
fn the_summary_shows_the_requested_load_and_the_findings() {
    let output = drivetest(&["read", "6.6/pause6.log", "--slice-sec", "10"]);
    let text = text(&output.stdout);
    assert!(text.starts_with(
        "6.6/pause6.log: act_storage 6.6, 1x: 2000 reads/s and 1000 writes/s requested on 1 device\n"
    ));
    assert!(text.contains("REVIEW    stall line 182: "));
}

#[test]
fn a_closed_pipe_does_not_crash_the_program() {
    let directory = logs();
    let script = format!(
        "{} read --json 6.6/four-us.log | true",
        env!("CARGO_BIN_EXE_drivetest")
    );
    let output = std::process::Command::new("sh")
        .current_dir(directory)
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_eq!(text(&output.stderr), "");
}
