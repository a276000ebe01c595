//! Runs that finish normally.

use sha2::{Digest, Sha256};

use super::bench::{Bench, labels, takes_direct_io, totals};

const SMALL: &str = "file-size-mbytes: 8\ntest-duration-sec: 2\nmicrosecond-histograms: yes\n";

#[test]
fn a_run_makes_exactly_the_requested_operations() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let lines = format!("{SMALL}service-threads: 10\nread-reqs-per-sec: 209\nwrite-reqs-per-sec: 1000\n");
    let output = bench.run_kept_up("storage", &lines);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = bench.log();
    assert_eq!(labels(&log), [1, 2]);
    // ACT makes 200 of the 209: it divides by the number of threads and drops the rest.
    assert_eq!(totals(&log, "reads").last(), Some(&418));
    // 100000 / 4250 a second from a third and two thirds of a period: both 47 in two seconds.
    assert_eq!(totals(&log, "large-block-reads").last(), Some(&47));
    assert_eq!(totals(&log, "large-block-writes").last(), Some(&47));
}

#[test]
fn the_log_has_its_sections_in_order() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    bench.run(&format!(
        "{SMALL}read-reqs-per-sec: 50\nwrite-reqs-per-sec: 100\n"
    ));
    let log = bench.log();
    let device = &bench.device;
    let expected = format!(
        "\n{device} size = 8388608 bytes, 64 large blocks, minimum IO size = 512 bytes\nENGINE\n\nHISTOGRAM NAMES\n\
         reads\n{device}-reads\nlarge-block-reads\nlarge-block-writes\n\nafter 1 sec:\nreads ("
    );
    let engine = log.lines().find(|line| line.starts_with("drivetest: engine "));
    let expected = expected.replace("ENGINE", engine.unwrap()).replace(
        "= 512",
        if log.contains("= 512 bytes") {
            "= 512"
        } else {
            "= 4096"
        },
    );
    assert!(log.contains(&expected), "{log}");
    // A disk that other programs also use may be late; the log reports that last.
    let said = log.split("drivetest: rate not held: ").next().unwrap();
    assert!(said.ends_with(")\n\n"), "{log}");
}

#[test]
fn the_counts_of_devices_add_up_in_every_block() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let other = bench.path("other.img").display().to_string();
    bench.run_kept_up(
        "storage",
        &format!("{SMALL}device-names: {other}\nread-reqs-per-sec: 2000\n"),
    );
    let log = bench.log();
    let [all, one, two] = [
        "reads",
        &format!("{}-reads", bench.device),
        &format!("{other}-reads"),
    ]
    .map(|name| totals(&log, name));
    assert_eq!(all.len(), 2);
    for block in 0..2 {
        assert_eq!(all[block], one[block] + two[block]);
    }
    assert!(one[1] > 1_700 && two[1] > 1_700, "{log}");
}

#[test]
fn a_duration_that_is_no_multiple_runs_to_the_end_of_its_interval() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let text = "file-size-mbytes: 8\ntest-duration-sec: 3\nreport-interval-sec: 2\nread-reqs-per-sec: 100\n";
    assert_eq!(bench.run_kept_up("storage", text).status.code(), Some(0));
    assert_eq!(
        (labels(&bench.log()), totals(&bench.log(), "reads").pop()),
        (vec![2, 4], Some(400))
    );
}

#[test]
fn the_side_file_describes_the_run_from_start_to_end() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let mut command = bench.command(&format!("{SMALL}read-reqs-per-sec: 200\n"));
    assert!(bench.kept_up(command.arg("--seed").arg("42")).status.success());
    let records = bench.side();
    let kinds: Vec<_> = records
        .iter()
        .map(|record| record["record"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["start", "interval", "interval", "end"]);
    assert_eq!(
        (&records[0]["seed"], &records[0]["schema"]),
        (&42.into(), &"drivecert.side/1".into())
    );
    assert_eq!(records[0]["config_text"].as_str().unwrap().lines().count(), 5);
    assert_eq!(records[3]["reason"], "finished");
    assert_eq!(
        (&records[3]["reads_count"], &records[2]["reads_count"]),
        (&400.into(), &400.into())
    );
}

#[test]
fn the_side_file_has_the_hash_of_the_configuration_file() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    let mut command = bench.command(&format!("{SMALL}read-reqs-per-sec: 50\n"));
    let config = bench.path("config");
    let mut bytes = std::fs::read(&config).unwrap();
    bytes.extend(b"# Gr\xf6\xdfe\n");
    std::fs::write(&config, &bytes).unwrap();
    assert!(command.status().unwrap().success());
    let start = &bench.side()[0];
    let sha256 = Sha256::digest(&bytes);
    let sha256 = sha256.iter().map(|byte| format!("{byte:02x}"));
    assert_eq!(start["config_sha256"], sha256.collect::<String>());
    assert!(
        start["config_text"]
            .as_str()
            .unwrap()
            .ends_with("# Gr\u{fffd}\u{fffd}e\n")
    );
}

#[test]
fn a_file_that_the_run_makes_is_identified_in_the_side_file() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    bench.run(&format!("{SMALL}read-reqs-per-sec: 50\n"));
    let device = &bench.side()[0]["devices"][0];
    assert_eq!(
        (&device["schema"], &device["path"], &device["size_bytes"]),
        (
            &"drivecert.identity/1".into(),
            &bench.device.as_str().into(),
            &8_388_608.into()
        )
    );
    assert_eq!(device["refusals"], serde_json::json!([]));
}

#[test]
fn a_file_is_filled_so_that_its_reads_are_real() {
    use std::os::unix::fs::MetadataExt;
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    bench.run("file-size-mbytes: 8\ntest-duration-sec: 1\nread-reqs-per-sec: 10\n");
    let found = std::fs::metadata(&bench.device).unwrap();
    assert_eq!(found.len(), 8 << 20);
    assert!(found.blocks() * 512 >= 8 << 20, "{} blocks", found.blocks());
}

#[test]
fn the_log_goes_to_standard_output_when_no_file_is_named() {
    let bench = Bench::new();
    if !takes_direct_io(&bench) {
        return;
    }
    bench.command("file-size-mbytes: 8\ntest-duration-sec: 1\nread-reqs-per-sec: 10\n");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_drivetest"));
    command.arg("storage").arg(bench.path("config"));
    command.arg("--side-file").arg(bench.path("side.jsonl"));
    let output = bench.kept_up(&mut command);
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("after 1 sec:\nreads (10 total)\n")
    );
}
