//! Archives of real logs and their companion files, through the real binary.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{Scratch, drivetest, gzip, ids, log, logs, read, tar, tar_entry, text};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Value, json};

struct Zipped<'a> {
    name: &'a str,
    method: u16,
    flags: u16,
    bytes: &'a [u8],
    crc: Option<u32>,
}

impl<'a> Zipped<'a> {
    fn new(name: &'a str, method: u16, bytes: &'a [u8]) -> Self {
        Self {
            name,
            method,
            flags: 0,
            bytes,
            crc: None,
        }
    }
}

/// Returns a zip in the layout of APPNOTE.TXT: local headers with their bytes, the central directory, its end.
fn zip(files: &[Zipped<'_>]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for file in files {
        let packed = if file.method == 8 {
            deflated(file.bytes)
        } else {
            file.bytes.to_vec()
        };
        let mut sum = flate2::Crc::new();
        sum.update(file.bytes);
        let crc = file.crc.unwrap_or(sum.sum());
        let at = u32::try_from(archive.len()).unwrap();
        let facts = [
            &20_u16.to_le_bytes()[..],
            &file.flags.to_le_bytes(),
            &file.method.to_le_bytes(),
            &[0; 4],
            &crc.to_le_bytes(),
            &u32::try_from(packed.len()).unwrap().to_le_bytes(),
            &u32::try_from(file.bytes.len()).unwrap().to_le_bytes(),
            &u16::try_from(file.name.len()).unwrap().to_le_bytes(),
            &[0; 2],
        ]
        .concat();
        archive.extend([b"PK\x03\x04", &facts[..], file.name.as_bytes(), &packed].concat());
        directory.extend(
            [
                b"PK\x01\x02\x14\x00",
                &facts[..],
                &[0; 10],
                &at.to_le_bytes(),
                file.name.as_bytes(),
            ]
            .concat(),
        );
    }
    let (at, size) = (archive.len() as u32, directory.len() as u32);
    let count = u16::try_from(files.len()).unwrap().to_le_bytes();
    archive.extend(directory);
    archive.extend(
        [
            b"PK\x05\x06",
            &[0; 4][..],
            &count,
            &count,
            &size.to_le_bytes(),
            &at.to_le_bytes(),
            &[0; 2],
        ]
        .concat(),
    );
    archive
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn roles(document: &Value) -> Vec<(String, String)> {
    let text = |member: &Value, key: &str| member[key].as_str().unwrap().to_owned();
    let members = document["input"]["members"].as_array().unwrap();
    members
        .iter()
        .map(|member| (text(member, "name"), text(member, "role")))
        .collect()
}

/// Returns runs without the fields that an archive adds.
fn bare_runs(document: &Value) -> Vec<Value> {
    let mut runs = document["runs"].as_array().unwrap().clone();
    for run in &mut runs {
        run["member"] = json!(null);
        run["ordinal"] = json!(0);
    }
    runs
}

fn runs_of(case: &str) -> Vec<Value> {
    read(case, &["--slice-sec", "10"]).0["runs"]
        .as_array()
        .unwrap()
        .clone()
}

const BOTH: [&str; 2] = ["6.6/four-us.log", "6.6/single-ms.log"];

fn both_logs() -> [String; 2] {
    BOTH.map(log)
}

#[test]
fn every_log_of_every_kind_of_archive_is_read_as_by_itself() {
    let [four, single] = both_logs();
    let files: [(&str, &[u8]); 3] = [
        ("x/four.log", four.as_bytes()),
        ("x/four.conf", b"a: b\n"),
        ("x/single.log", single.as_bytes()),
    ];
    let zipped = files.map(|(name, bytes)| Zipped::new(name, 8, bytes));
    let expected = [runs_of(BOTH[0]), runs_of(BOTH[1])].concat();
    for (name, bytes, compression) in [
        ("a.tar", tar(&files), "none"),
        ("a.tgz", gzip(&tar(&files)), "gzip"),
        ("a.zip", zip(&zipped), "none"),
    ] {
        let (document, status) = Scratch::new(name, &bytes).read();
        assert_eq!((bare_runs(&document), status), (expected.clone(), 0), "{name}");
        assert_eq!(document["input"]["compression"], json!(compression), "{name}");
        assert_eq!(document["runs"][1]["member"], json!("x/single.log"), "{name}");
        assert_eq!(document["runs"][1]["ordinal"], json!(1), "{name}");
        assert_eq!(
            roles(&document)[1],
            ("x/four.conf".to_owned(), "config".to_owned()),
            "{name}"
        );
        assert_eq!(document["findings"], json!([]), "{name}");
    }
}

#[test]
fn archives_of_the_usual_programs_are_read() {
    let expected = [runs_of(BOTH[0]), runs_of(BOTH[1])].concat();
    for (name, option) in [
        ("own.tar", "-cf"),
        ("own.tar.gz", "-czf"),
        ("own.tar.xz", "-cJf"),
        ("pax.tar", "-c --format=pax -f"),
    ] {
        let archive = Scratch::new(name, b"");
        let arguments = option.split(' ').chain([archive.arg()]).chain(BOTH);
        let made = Command::new("tar").current_dir(logs()).args(arguments).status();
        let Ok(status) = made else {
            eprintln!("skipped: no tar on this machine");
            return;
        };
        assert!(status.success(), "{name}");
        assert_eq!(bare_runs(&archive.read().0), expected, "{name}");
    }
}

#[test]
fn a_member_has_the_size_and_hash_of_its_bytes() {
    let (document, _) = Scratch::new("hash.tar", &tar(&[("abc.txt", b"abc")])).read();
    let expected = json!({"name": "abc.txt", "size_bytes": 3, "role": "other",
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"});
    assert_eq!(
        document["input"]["members"][0], expected,
        "FIPS 180-2, appendix B.1"
    );
    assert_eq!(document["error"]["id"], json!("archive-without-log"));
}

#[test]
fn a_compressed_log_in_an_archive_is_read_and_an_archive_in_it_is_not() {
    let [four, _] = both_logs();
    let inner = tar(&[("inner.log", four.as_bytes())]);
    let files: [(&str, &[u8]); 3] = [
        ("four.log.gz", &gzip(four.as_bytes())),
        ("inner.log", &inner),
        ("inner.log.gz", &gzip(&inner)),
    ];
    let (document, status) = Scratch::new("nested.tar", &tar(&files)).read();
    assert_eq!((bare_runs(&document), status), (runs_of(BOTH[0]), 0));
    assert_eq!(ids(&document["findings"]), ["nested-archive", "nested-archive"]);
    assert_eq!(document["findings"][0]["member"], json!("inner.log"));
}

#[test]
fn a_compressed_log_in_an_archive_has_the_hash_of_its_decompressed_bytes() {
    let [four, _] = both_logs();
    let packed = gzip(four.as_bytes());
    let alone = Scratch::new("alone.log.gz", &packed).read().0["input"]["content_sha256"].clone();
    let cut = &packed[..packed.len() / 2];
    let files: [(&str, &[u8]); 3] = [
        ("packed.log.gz", &packed),
        ("plain.log", four.as_bytes()),
        ("cut.log.gz", cut),
    ];
    let (document, _) = Scratch::new("hashes.tar", &tar(&files)).read();
    let members = document["input"]["members"].as_array().unwrap();
    let hashes: Vec<&Value> = members.iter().map(|member| &member["content_sha256"]).collect();
    assert!(alone.is_string());
    assert_eq!(hashes, [&alone, &Value::Null, &Value::Null]);
    assert_eq!(members[1]["sha256"], alone);
}

#[test]
fn names_are_labels_and_links_are_never_followed() {
    let [four, _] = both_logs();
    let four = four.as_bytes();
    let long = "x".repeat(99);
    let archive = [
        tar_entry(b"../../../etc/cron.d/a.log", b'0', four),
        tar_entry(b"/etc/passwd", b'0', b"root"),
        tar_entry(b"link.log", b'2', b""),
        tar_entry(b"hard.log", b'1', b""),
        tar_entry(b"device.log", b'3', b""),
        tar_entry(b"a\x1b[2Jb.txt", b'0', b""),
        tar_entry(long.as_bytes(), b'0', b""),
        tar_entry(long.as_bytes(), b'0', b""),
        tar_entry(b"././@LongLink", b'L', "y".repeat(5000).as_bytes()),
        tar_entry(b"short", b'0', b""),
    ]
    .concat();
    let (document, status) = Scratch::new("names.tar", &archive).read();
    assert_eq!((bare_runs(&document), status), (runs_of(BOTH[0]), 0));
    let mut found = ids(&document["findings"]);
    found.sort();
    let expected = [
        &["member-name"; 4][..],
        &["member-passed-over"; 3],
        &["member-repeated"],
    ]
    .concat();
    assert_eq!(found, expected);
    let names = roles(&document);
    assert_eq!(names[5].0, "a\u{fffd}[2Jb.txt");
    assert_eq!(names[8].0, "y".repeat(200));
}

#[test]
fn a_tar_that_breaks_off_is_read_to_there_and_void() {
    let [four, single] = both_logs();
    let whole = tar(&[("four.log", four.as_bytes()), ("single.log", single.as_bytes())]);
    let cut = Scratch::new("cut.tar", &whole[..whole.len() - 4000]);
    let (document, status) = read(
        cut.arg(),
        &["--slice-sec", "10", "--profile", "operational-database"],
    );
    assert_eq!(status, 0);
    assert_eq!(document["runs"][0]["stop"]["kind"], json!("finished"));
    let second = &document["runs"][1];
    assert_eq!(second["verdict"]["outcome"], json!("void"));
    assert!(ids(&second["findings"]).contains(&"archive-damaged".to_owned()));
    assert!(ids(&document["findings"]).contains(&"archive-damaged".to_owned()));
}

#[test]
fn unreadable_files_of_a_zip_are_reported_and_the_others_read() {
    let [four, _] = both_logs();
    let files = [
        Zipped::new("four.log", 0, four.as_bytes()),
        Zipped {
            flags: 1,
            ..Zipped::new("secret.log", 0, b"x")
        },
        Zipped::new("other.log", 12, b"x"),
        Zipped {
            crc: Some(1),
            ..Zipped::new("four.conf", 8, b"a: b\n")
        },
    ];
    let (document, status) = Scratch::new("parts.zip", &zip(&files)).read();
    assert_eq!((bare_runs(&document), status), (runs_of(BOTH[0]), 0));
    let expected = ["member-passed-over", "member-passed-over", "member-damaged"];
    assert_eq!(ids(&document["findings"])[..3], expected);
}

#[test]
fn a_log_whose_checksum_in_a_zip_differs_is_void() {
    let [four, _] = both_logs();
    let changed = Zipped {
        crc: Some(1),
        ..Zipped::new("four.log", 8, four.as_bytes())
    };
    let archive = Scratch::new("crc.zip", &zip(&[changed]));
    let (document, _) = read(
        archive.arg(),
        &["--slice-sec", "10", "--profile", "operational-database"],
    );
    let run = &document["runs"][0];
    assert!(ids(&run["findings"]).contains(&"archive-damaged".to_owned()));
    assert_eq!(run["verdict"]["outcome"], json!("void"));
}

#[test]
fn a_file_that_is_no_log_is_reported_with_the_other_findings() {
    let [four, _] = both_logs();
    let (document, status) = Scratch::new(
        "letter.tar",
        &tar(&[("letter.log", b"Dear sir\n"), ("four.log", four.as_bytes())]),
    )
    .read();
    assert_eq!(
        (ids(&document["findings"]), status),
        (vec!["member-not-read".to_owned()], 0)
    );
    assert_eq!(document["findings"][0]["member"], json!("letter.log"));
    let (document, status) = Scratch::new("letters.tar", &tar(&[("letter.log", b"Dear sir\n")])).read();
    assert_eq!((&document["error"]["id"], status), (&json!("not-an-act-log"), 3));
}

#[test]
fn files_and_logs_above_the_limit_are_counted() {
    let files: Vec<(String, &[u8])> = (0..1100)
        .map(|number| (format!("{number}.conf"), &b"a"[..]))
        .collect();
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, bytes)| (name.as_str(), *bytes))
        .collect();
    let (document, _) = Scratch::new("many.tar", &tar(&files)).read();
    assert_eq!(document["input"]["members"].as_array().unwrap().len(), 1000);
    assert_eq!(ids(&document["findings"]), ["too-many-members"]);
    let head = &log(BOTH[0]).into_bytes()[..4000];
    let logs: Vec<(String, &[u8])> = (0..70).map(|number| (format!("{number}.log"), head)).collect();
    let logs: Vec<(&str, &[u8])> = logs.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let (document, _) = Scratch::new("logs.tar", &tar(&logs)).read();
    assert_eq!(document["runs"].as_array().unwrap().len(), 64);
    assert!(ids(&document["findings"]).contains(&"too-many-members".to_owned()));
}

#[test]
fn attachments_of_a_log_are_listed() {
    let directory = logs();
    let config = directory.join("6.6/four-us.conf");
    let (document, status) = read("6.6/four-us.log", &["--with", config.to_str().unwrap()]);
    let companion = &document["input"]["companions"][0];
    assert_eq!(
        (&companion["name"], &companion["role"], status),
        (&json!("four-us.conf"), &json!("config"), 0)
    );
    assert_eq!(
        companion["size_bytes"],
        json!(fs::metadata(&config).unwrap().len())
    );
    let (document, status) = read("6.6/four-us.log", &["--with", "no-such.conf"]);
    assert_eq!((&document["error"]["id"], status), (&json!("file-unreadable"), 3));
    let several = drivetest(&[
        "read",
        "--with",
        "6.6/four-us.conf",
        "6.6/four-us.log",
        "6.6/single-us.log",
    ]);
    assert_eq!(several.status.code(), Some(64));
}

fn from_pipe(bytes: &[u8]) -> Value {
    let mut child = Command::new(env!("CARGO_BIN_EXE_drivetest"))
        .args(["read", "--json", "--slice-sec", "10", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // An archive is refused after its first bytes, so the pipe may be closed.
    drop(child.stdin.take().unwrap().write_all(bytes));
    serde_json::from_str(&text(&child.wait_with_output().unwrap().stdout)).unwrap()
}

#[test]
fn standard_input_is_read_and_must_not_be_an_archive() {
    let [four, _] = both_logs();
    assert_eq!(from_pipe(four.as_bytes())["runs"], json!(runs_of(BOTH[0])));
    assert_eq!(from_pipe(&gzip(four.as_bytes()))["runs"], json!(runs_of(BOTH[0])));
    let archive = from_pipe(&tar(&[("four.log", four.as_bytes())]));
    assert_eq!(archive["error"]["id"], json!("archive-in-a-pipe"));
}

#[test]
fn a_ycsb_run_gets_its_stderr_and_command_from_attachments_or_its_archive() {
    let directory = logs().join("../ycsb/ycsb-0.17.0");
    let mut stems: Vec<String> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".stderr").map(str::to_owned))
        .filter(|stem| {
            directory.join(format!("{stem}.log")).exists() && directory.join(format!("{stem}.cmd")).exists()
        })
        .collect();
    stems.sort();
    assert!(!stems.is_empty());
    for stem in stems {
        let path = |ending: &str| directory.join(format!("{stem}.{ending}"));
        let files = ["cmd", "log", "stderr"]
            .map(|ending| (format!("{stem}.{ending}"), fs::read(path(ending)).unwrap()));
        let files: Vec<(&str, &[u8])> = files
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
            .collect();
        let mut archived = Scratch::new("ycsb.tar", &tar(&files)).read().0["ycsb_runs"].clone();
        for run in archived.as_array_mut().unwrap() {
            run["member"] = json!(null);
        }
        let [log, command, stderr] =
            ["log", "cmd", "stderr"].map(|ending| path(ending).to_str().unwrap().to_owned());
        let (beside, _) = read(&log, &["--with", &command, "--with", &stderr]);
        assert_eq!(archived, beside["ycsb_runs"], "{stem}");
    }
}
