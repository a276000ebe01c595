//! Malicious input through the real binary: it is refused or read with limited memory.
//!
//! The measured memory is the maximum of all children of this process so far. Each test therefore also limits the earlier ones.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::{Command, Stdio};

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};
use support::{Scratch, ids, log};

/// Maximum memory for reading, in KiB: 64 MB.
const MEMORY_KIB_MAX: i64 = 64_000;

/// A file that is written in parts, because this process must not be larger than the measured ones.
fn written(name: &str, write: impl FnOnce(&mut dyn Write)) -> Scratch {
    let scratch = Scratch::new(name, b"");
    let mut file = BufWriter::new(File::create(scratch.arg()).unwrap());
    write(&mut file);
    file.flush().unwrap();
    scratch
}

/// Returns the document of a file without slices, and the exit status. Checks the memory limit.
fn read(path: &str, args: &[&str]) -> (Value, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_drivetest"))
        .args([&["read", "--json", path], args].concat())
        .output()
        .unwrap();
    let memory_kib = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    assert!(memory_kib <= MEMORY_KIB_MAX, "{path}: {memory_kib} KiB");
    let document = serde_json::from_slice(&output.stdout).unwrap();
    (document, output.status.code().unwrap())
}

fn error_of(scratch: &Scratch, args: &[&str]) -> String {
    let (document, status) = read(scratch.arg(), args);
    assert_eq!(status, 3);
    assert!(!document["error"]["sentence"].as_str().unwrap().is_empty());
    document["error"]["id"].as_str().unwrap().to_owned()
}

fn header() -> String {
    let log = log("6.6/four-us.log");
    log[..log.find("HISTOGRAM NAMES").unwrap()].to_owned()
}

#[test]
fn a_log_of_10_gb_is_refused_at_the_limit() {
    let scratch = written("10gb.log", |file| file.write_all(header().as_bytes()).unwrap());
    File::options()
        .write(true)
        .open(scratch.arg())
        .unwrap()
        .set_len(10 << 30)
        .unwrap();
    assert_eq!(
        error_of(&scratch, &["--content-limit-bytes", "50000000"]),
        "content-too-large"
    );
}

#[test]
fn bombs_of_gzip_and_zstd_are_refused() {
    let nothing = vec![0; 1 << 20];
    let gzip = written("bomb.gz", |file| {
        let mut encoder = GzEncoder::new(file, Compression::best());
        (0..80).for_each(|_| encoder.write_all(&nothing).unwrap());
        encoder.finish().unwrap();
    });
    assert_eq!(error_of(&gzip, &[]), "content-too-large");
    let zstd = written("bomb.zst", |file| {
        let mut encoder = zstd::Encoder::new(file, 1).unwrap();
        (0..80).for_each(|_| encoder.write_all(&nothing).unwrap());
        encoder.finish().unwrap();
    });
    assert_eq!(error_of(&zstd, &[]), "content-too-large");
}

#[test]
fn streams_that_ask_for_gigabytes_are_refused() {
    let crc = |bytes: &[u8]| {
        let mut crc = Crc::new();
        crc.update(bytes);
        crc.sum().to_le_bytes()
    };
    // One block of LZMA2 with the largest dictionary, 4 GiB. Source: The .xz File Format, 2.1.1, 3.1 and 5.3.1.
    let block = [2, 0, 0x21, 1, 40, 0, 0, 0];
    let xz = [
        b"\xFD7zXZ\0\0\0",
        &crc(&[0, 0])[..],
        &block,
        &crc(&block),
        &[0; 64],
    ]
    .concat();
    assert_eq!(error_of(&Scratch::new("window.xz", &xz), &[]), "window-too-large");
    // A window of 2 GiB. Source: RFC 8878, 3.1.1.1.2.
    let zstd = [&[0x28, 0xB5, 0x2F, 0xFD, 0, 21 << 3][..], &[0; 64]].concat();
    assert_eq!(
        error_of(&Scratch::new("window.zst", &zstd), &[]),
        "window-too-large"
    );
}

#[test]
fn one_line_of_100_mb_is_refused() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_drivetest"))
        .args(["read", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let stretch = vec![b'x'; 1 << 20];
    (0..100).for_each(|_| input.write_all(&stretch).unwrap());
    drop(input);
    let output = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["error"]["id"], json!("not-an-act-log"));
    assert!(document["error"]["sentence"].as_str().unwrap().len() < 1000);
    assert!(getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() <= MEMORY_KIB_MAX);
}

#[test]
fn random_bytes_are_refused() {
    let mut state = 1_u64;
    let noise = written("noise.bin", |file| {
        for _ in 0..500_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            file.write_all(&state.to_be_bytes()).unwrap();
        }
    });
    assert_eq!(error_of(&noise, &[]), "binary");
}

#[test]
fn counts_beyond_64_bits_are_not_believed() {
    let blocks = "HISTOGRAM NAMES\nreads\n\nafter 1 sec:\nreads (99999999999999999999999 total)\n (01: 99999999999999999999999)\n\n\
        after 2 sec:\nreads (18446744073709551615 total)\n (01: 18446744073709551615) (02: 0000000001)\n\n";
    let (document, status) = read(
        Scratch::new("counts.log", (header() + blocks).as_bytes()).arg(),
        &[],
    );
    assert_eq!((status, &document["runs"][0]["slices"]), (0, &json!([])));
    assert_eq!(document["runs"][0]["stop"]["kind"], json!("cut"));
}

#[test]
fn counts_and_times_of_64_bits_in_a_side_file_are_read() {
    let mark = "Generated by drivetest 0.4.0, arrivals even, engine io_uring";
    let ours = log("6.6/slow-disk-ms.log").replace("Copyright 2020 by Aerospike. All rights reserved.", mark);
    let scratch = Scratch::new("ours.log", ours.as_bytes());
    let start = r#"{"record":"start","schema":"drivecert.side/1","program_version":"0.4.0","arrivals":"even","engine":"io_uring"}"#;
    let telemetry = json!({"cpu": {"busy_pct": "97.5"}, "disks": []});
    let interval = json!({"record": "interval", "reads_count": 24_006, "telemetry": telemetry});
    let greatest = json!({"mean_ns": u64::MAX, "p99_ns": u64::MAX, "max_ns": u64::MAX});
    let times = json!({"count": u64::MAX, "response": greatest, "backlog": greatest});
    let backlog_alone = json!({"count": u64::MAX, "backlog": {"mean_ns": u64::MAX}});
    for operations in [
        json!({"reads": backlog_alone}),
        json!({"reads": times}),
        json!({"reads": times, "index-reads": times, "cache-reads": times}),
    ] {
        let end = json!({"record": "end", "reads_count": 24_006, "over": {"1000": 3_180}, "operations": operations});
        let side = Scratch::new("ours.side", format!("{start}\n{interval}\n{end}\n").as_bytes());
        let (document, status) = read(scratch.arg(), &["--with", side.arg()]);
        let side_file = &document["runs"][0]["side_file"];
        assert_eq!(
            (status, &side_file["operations"][0]["done_count"]),
            (0, &json!(u64::MAX))
        );
        assert_eq!(side_file["host_causes"], json!([]), "{operations}");
    }
}

#[test]
fn a_million_devices_are_bounded() {
    let scratch = written("devices.log", |file| {
        let whole = header();
        let (before, after) = whole.split_once("device-names: ").unwrap();
        write!(file, "{before}device-names: ").unwrap();
        (0..1_000_000).for_each(|number| write!(file, "/dev/d{number} ").unwrap());
        write!(file, "\n{after}").unwrap();
        (0..1_000_000).for_each(|number| writeln!(file, "/dev/d{number} size = 1 bytes").unwrap());
        writeln!(file, "\nHISTOGRAM NAMES").unwrap();
        (0..1_000_000).for_each(|number| writeln!(file, "/dev/d{number}-reads").unwrap());
        writeln!(file, "\nafter 1 sec:\nreads (1 total)\n (01: 0000000001)\n").unwrap();
    });
    let (document, status) = read(scratch.arg(), &[]);
    assert_eq!((document["runs"].as_array().unwrap().len(), status), (1, 0));
    assert!(document.to_string().len() < 10_000_000);
}

#[test]
fn two_hundred_thousand_histograms_are_limited_and_reported() {
    let scratch = written("histograms.log", |file| {
        write!(file, "{}HISTOGRAM NAMES\nreads\n\nafter 1 sec:\n", header()).unwrap();
        (0..200_000).for_each(|number| writeln!(file, "h{number} (1 total)\n (01: 0000000001)").unwrap());
    });
    let (document, _) = read(scratch.arg(), &[]);
    assert!(ids(&document["runs"][0]["findings"]).contains(&"too-many-histograms".to_owned()));
}

#[test]
fn a_million_runs_are_limited_and_reported() {
    let scratch = written("runs.log", |file| {
        let start = log("6.6/nodev.log");
        write!(file, "{start}").unwrap();
        (0..1_000_000).for_each(|_| writeln!(file, "ACT version 6.6\nStorage device IO test").unwrap());
    });
    let (document, status) = read(scratch.arg(), &[]);
    assert_eq!((document["runs"].as_array().unwrap().len(), status), (1, 0));
    assert!(ids(&document["findings"]).contains(&"too-many-runs".to_owned()));
    assert!(document.to_string().len() < 1_000_000);
}

/// An empty file in a tar.
fn empty_entry(name: &str) -> [u8; 512] {
    let mut block = [0_u8; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[124..135].copy_from_slice(b"00000000000");
    block[156] = b'0';
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block
}

#[test]
fn a_tar_of_twenty_thousand_deep_names_is_limited_and_reported() {
    let deep = "d/".repeat(40);
    let scratch = written("deep.tar", |file| {
        (0..20_000).for_each(|number| {
            file.write_all(&empty_entry(&format!("{deep}{number}.log")))
                .unwrap()
        });
    });
    let (document, status) = read(scratch.arg(), &[]);
    assert_eq!((&document["error"]["id"], status), (&json!("empty"), 3));
    assert!(ids(&document["findings"]).contains(&"too-many-members".to_owned()));
}
