//! HDR files: what the rows of the same run say, and what other programs decode.

use std::io::Write as _;

use drivetest_log::act::listeners::Wanted;
use drivetest_log::reader::{LogReader, Options, Part, Reading, Role};
use drivetest_log::series::Asked;
use drivetest_log::ycsb::run::Operation;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::support::{self, ids};

fn hdr(metric: &str) -> Vec<u8> {
    std::fs::read(support::folder().join(format!("ycsb-0.18.0-SNAPSHOT/hdrfiles/{metric}.hdr"))).unwrap()
}

fn read(files: &[(&str, Vec<u8>)]) -> Reading {
    let log = support::case("ycsb-0.18.0-SNAPSHOT/hdr-fileoutput").bytes("log");
    let parts: Vec<_> = files
        .iter()
        .map(|(name, bytes)| (Role::Hdr, *name, bytes.clone()))
        .collect();
    support::read(&log, &parts)
}

fn of(reading: &Reading, from: &str, name: &str) -> Operation {
    let operations = reading.ycsb_runs[0].operations.iter();
    let mut found = operations.filter(|operation| operation.from == from && operation.name == name);
    found.next().unwrap().clone()
}

fn times(operation: &Operation) -> Vec<&str> {
    operation
        .percentiles
        .iter()
        .map(|(_, time)| time.as_str())
        .collect()
}

/// Readings in which each rule on HDR files fires.
pub fn odd() -> Vec<Reading> {
    let log = support::case("ycsb-0.18.0-SNAPSHOT/hdr-fileoutput").bytes("log");
    let twice = support::read(
        &[log.clone(), log].concat(),
        &[(Role::Hdr, "READ.hdr", hdr("READ"))],
    );
    let both = [("one/READ.hdr", hdr("READ")), ("two/READ.hdr", hdr("READ"))];
    vec![read(&[("x.hdr", Vec::new())]), read(&both), twice, within(1, 3)]
}

fn within(from_s: u64, to_s: u64) -> Reading {
    let mut reader = LogReader::new(Options::default());
    let asked = Asked {
        interval_s: 1,
        from_s,
        to_s,
    };
    reader.want(Wanted {
        series: Some(asked),
        rows: None,
    });
    reader.push(&support::case("ycsb-0.18.0-SNAPSHOT/hdr-fileoutput").bytes("log"));
    let role = Role::Hdr;
    reader.begin(Part {
        name: "READ.hdr",
        role,
    });
    reader.push(&hdr("READ"));
    reader.finish()
}

/// YCSB computed its rows from the same counts by HdrHistogram 2.1.12.
#[test]
fn merged_files_say_what_the_rows_say() {
    let metrics = ["READ", "UPDATE", "CLEANUP"];
    let reading = read(&metrics.map(|metric| (metric, hdr(metric))));
    for metric in metrics {
        let (rows, merged) = (of(&reading, "rows", metric), of(&reading, "hdr", metric));
        assert_eq!(
            (merged.ops_count, &merged.max_us),
            (rows.ops_count, &rows.max_us),
            "{metric}"
        );
        for printed in &rows.percentiles {
            assert!(merged.percentiles.contains(printed), "{metric} {printed:?}");
        }
        assert!(!merged.is_counted && merged.mean_us.is_none());
    }
    let told = ids(&reading.ycsb_runs[0].findings);
    assert!(!told.iter().any(|id| id.starts_with("hdr-")), "{told:?}");
}

/// Decoded and added by the Python package hdrhistogram 0.10.8; percentiles by counting from the least value up.
#[test]
fn files_of_two_clients_are_merged_by_their_counts() {
    let other = String::from_utf8(hdr("UPDATE"))
        .unwrap()
        .replace("for: UPDATE", "for: READ");
    let reading = read(&[
        ("one/READ.hdr", hdr("READ")),
        ("two/READ.hdr", other.into_bytes()),
    ]);
    let merged = of(&reading, "hdr", "READ");
    assert_eq!(
        (merged.ops_count, merged.max_us.as_deref()),
        (Some(30_000), Some("10463"))
    );
    assert_eq!(times(&merged), ["576", "1312", "2157", "4507", "6915", "9559"]);
    assert!(ids(&reading.ycsb_runs[0].findings).contains(&"hdr-of-several-clients"));
}

/// As above; of five intervals the last three lie within.
#[test]
fn a_warm_up_is_cut_by_intervals() {
    let reading = within(1, 3);
    let merged = of(&reading, "hdr", "READ");
    assert_eq!(
        (merged.ops_count, merged.max_us.as_deref()),
        (Some(7651), Some("5339"))
    );
    assert_eq!(times(&merged), ["513", "965", "1131", "1529", "2775", "5339"]);
    assert!(ids(&reading.ycsb_runs[0].findings).contains(&"hdr-cut-to-span"));
}

#[test]
fn files_of_another_run_are_told() {
    let other = String::from_utf8(hdr("UPDATE"))
        .unwrap()
        .replace("for: UPDATE", "for: READ");
    let reading = read(&[("READ.hdr", other.into_bytes())]);
    assert!(ids(&reading.ycsb_runs[0].findings).contains(&"hdr-differs"));
    let unknown = String::from_utf8(hdr("UPDATE"))
        .unwrap()
        .replace("for: UPDATE", "for: DELETE");
    let reading = read(&[("DELETE.hdr", unknown.into_bytes())]);
    assert!(ids(&reading.ycsb_runs[0].findings).contains(&"hdr-differs"));
}

#[test]
fn of_several_runs_the_counts_tell_which_a_file_is_of() {
    let log = support::case("ycsb-0.18.0-SNAPSHOT/hdr-fileoutput").bytes("log");
    let other = support::case("ycsb-0.18.0-SNAPSHOT/mt-histogram").bytes("log");
    let part = || (Role::Hdr, "READ.hdr", hdr("READ"));
    let reading = support::read(&[other, log.clone()].concat(), &[part()]);
    let has = |at: usize| {
        reading.ycsb_runs[at]
            .operations
            .iter()
            .any(|operation| operation.from == "hdr")
    };
    assert_eq!((has(0), has(1)), (false, true));
    let twice = support::read(&[log.clone(), log].concat(), &[part()]);
    assert!(ids(&twice.findings).contains(&"hdr-unmatched"));
}

#[test]
fn damaged_histograms_are_left_out_and_told() {
    let text = String::from_utf8(hdr("READ")).unwrap();
    let damaged = text.replacen("HISTFAAAA4p42j2U", "HISTFAAAA4p42j2V", 1);
    assert_ne!(damaged, text);
    let reading = read(&[("READ.hdr", damaged.into_bytes())]);
    assert!(ids(&reading.findings).contains(&"hdr-unreadable"));
    assert!(of(&reading, "hdr", "READ").ops_count < Some(14_990));
    assert!(ids(&reading.ycsb_runs[0].findings).contains(&"hdr-differs"));
    let none = read(&[("READ.hdr", b"nothing of it\n".to_vec())]);
    assert!(ids(&none.findings).contains(&"hdr-unreadable"));
}

/// A file of one interval, of three digits, whose counts are these, as HdrHistogram 2.1 writes it.
pub fn file(metric: &str, counts: &[i64]) -> String {
    let body: Vec<u8> = counts.iter().flat_map(|&count| zigzag(count)).collect();
    let head = [
        0x1c84_9313,
        body.len() as u32,
        0,
        3,
        0,
        1,
        0,
        1 << 30,
        0x3ff0_0000,
        0,
    ];
    let mut bytes: Vec<u8> = head.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.extend(body);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(&bytes).unwrap();
    let zlib = zlib.finish().unwrap();
    let whole = [
        &0x1c84_9314_u32.to_be_bytes()[..],
        &(zlib.len() as u32).to_be_bytes(),
        &zlib,
    ]
    .concat();
    format!("#[Logging for: {metric}]\n0.0,1.0,0.5,{}\n", base64(&whole))
}

fn histogram(counts: &[i64]) -> String {
    file("READ", counts)
}

/// Seven bits a byte, the least first, and all eight of a ninth.
fn zigzag(count: i64) -> Vec<u8> {
    let mut left = ((count << 1) ^ (count >> 63)) as u64;
    let mut bytes = Vec::new();
    while left >= 0x80 && bytes.len() < 8 {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
    bytes
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32, at: u32| char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize]);
    let group = |part: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(*part.get(at).unwrap_or(&0)));
        let told = (0..=part.len() as u32).map(|at| letter(bits, at));
        told.chain("==".chars()).take(4).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn counts_beyond_any_run_are_not_believed_and_not_compared() {
    let told = |files: &[(&str, Vec<u8>)]| {
        let reading = read(files);
        let run = &reading.ycsb_runs[0];
        let has_hdr = run.operations.iter().any(|operation| operation.from == "hdr");
        (
            ids(&reading.findings),
            ids(&run.findings).contains(&"hdr-differs"),
            has_hdr,
        )
    };
    let full = || histogram(&[i64::MAX]).into_bytes();
    assert_eq!(told(&[("READ.hdr", full())]), (vec![], true, true));
    let over = histogram(&[i64::MAX, 1]).into_bytes();
    assert_eq!(
        told(&[("READ.hdr", over)]),
        (vec!["hdr-unreadable"], false, false)
    );
    let both = [("one/READ.hdr", full()), ("two/READ.hdr", full())];
    assert_eq!(told(&both).0, ["hdr-unreadable"]);
}

#[test]
fn cut_files_never_panic() {
    let bytes = hdr("READ");
    for end in (0..bytes.len()).step_by(7) {
        let reading = read(&[("READ.hdr", bytes[..end].to_vec())]);
        assert_eq!(reading.ycsb_runs.len(), 1);
    }
}
