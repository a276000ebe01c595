//! HDR files, compared with the rows of the same run and with other decoders.

use std::io::Write as _;

use drivetest_logs::act::slices::sinks::SinkOptions;
use drivetest_logs::reader::{LogReader, Options, Part, Reading, Role};
use drivetest_logs::series::SeriesRequest;
use drivetest_logs::ycsb::run::Operation;

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
    let other = String::from_utf8(hdr("UPDATE"))
        .unwrap()
        .replace("for: UPDATE", "for: READ");
    vec![
        read(&[("x.hdr", Vec::new())]),
        read(&[("READ.hdr", other.into_bytes())]),
        read(&both),
        twice,
        within(1, 3),
    ]
}

fn within(from_s: u64, to_s: u64) -> Reading {
    let mut reader = LogReader::new(Options::default());
    let requested = SeriesRequest {
        interval_s: 1,
        from_s,
        to_s,
    };
    reader.set_sinks(SinkOptions {
        series: Some(requested),
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
fn merged_files_agree_with_the_rows() {
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
    let reported = ids(&reading.ycsb_runs[0].findings);
    assert!(!reported.iter().any(|id| id.starts_with("hdr-")), "{reported:?}");
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
fn files_of_another_run_are_reported() {
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
fn counts_identify_the_run_of_a_file() {
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
fn damaged_histograms_are_skipped_and_reported() {
    let text = String::from_utf8(hdr("READ")).unwrap();
    let damaged = text.replacen("HISTFAAAA4p42j2U", "HISTFAAAA4p42j2V", 1);
    assert_ne!(damaged, text);
    let reading = read(&[("READ.hdr", damaged.into_bytes())]);
    assert!(ids(&reading.findings).contains(&"hdr-unreadable"));
    assert!(of(&reading, "hdr", "READ").ops_count < Some(14_990));
    let reported = ids(&reading.ycsb_runs[0].findings);
    assert!(
        reported.contains(&"hdr-not-compared") && !reported.contains(&"hdr-differs"),
        "{reported:?}"
    );
    let none = read(&[("READ.hdr", b"nothing of it\n".to_vec())]);
    assert!(ids(&none.findings).contains(&"hdr-unreadable"));
}

/// A file of one interval, of three digits, whose counts are these, as HdrHistogram writes it in V1 or V2.
pub fn file(encoding: u32, metric: &str, counts: &[i64]) -> String {
    let v1 = |&count: &i64| match u64::try_from(count) {
        Ok(count) => count.to_be_bytes().to_vec(),
        Err(_) => vec![0; 8 * count.unsigned_abs() as usize],
    };
    let (cookie, body): (u32, Vec<u8>) = if encoding == 1 {
        (0x1c84_9381, counts.iter().flat_map(v1).collect())
    } else {
        (
            0x1c84_9313,
            counts.iter().flat_map(|&count| zigzag(count)).collect(),
        )
    };
    let head = [cookie, body.len() as u32, 0, 3, 0, 1, 0, 1 << 30, 0x3ff0_0000, 0];
    let mut bytes: Vec<u8> = head.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.extend(body);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(&bytes).unwrap();
    let zlib = zlib.finish().unwrap();
    let whole = [
        &(cookie + 1).to_be_bytes()[..],
        &(zlib.len() as u32).to_be_bytes(),
        &zlib,
    ]
    .concat();
    format!("#[Logging for: {metric}]\n0.0,1.0,0.5,{}\n", base64(&whole))
}

fn histogram(counts: &[i64]) -> String {
    file(2, "READ", counts)
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
        let reported = (0..=part.len() as u32).map(|at| letter(bits, at));
        reported.chain("==".chars()).take(4).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn counts_beyond_any_run_are_not_believed_and_not_compared() {
    let reported = |files: &[(&str, Vec<u8>)]| {
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
    assert_eq!(reported(&[("READ.hdr", full())]), (vec![], true, true));
    let over = histogram(&[i64::MAX, 1]).into_bytes();
    assert_eq!(
        reported(&[("READ.hdr", over)]),
        (vec!["hdr-unreadable"], false, false)
    );
    let both = [("one/READ.hdr", full()), ("two/READ.hdr", full())];
    assert_eq!(reported(&both).0, ["hdr-unreadable"]);
}

#[test]
fn cut_files_never_panic() {
    let bytes = [hdr("READ"), first("READ")].concat();
    for end in (0..bytes.len()).step_by(7) {
        let reading = read(&[("READ.hdr", bytes[..end].to_vec())]);
        assert_eq!(reading.ycsb_runs.len(), 1);
    }
}

/// An HDR file of YCSB 0.17.0, whose HdrHistogram 2.1.4 writes V1.
fn first(metric: &str) -> Vec<u8> {
    std::fs::read(support::folder().join(format!("ycsb-0.17.0-central/hdrfiles/{metric}.hdr"))).unwrap()
}

fn read_first(log: &str, files: &[(&str, Vec<u8>)]) -> Reading {
    let case = support::case("ycsb-0.17.0-central/basicdb-hdr-fileoutput");
    let mut parts = vec![(Role::Stderr, "stderr", case.bytes("stderr"))];
    let files = files
        .iter()
        .map(|(name, bytes)| (Role::Hdr, *name, bytes.clone()));
    parts.extend(files);
    support::read(log.as_bytes(), &parts)
}

fn rows() -> String {
    let case = support::case("ycsb-0.17.0-central/basicdb-hdr-fileoutput");
    String::from_utf8(case.bytes("log")).unwrap()
}

fn of_hdr(reading: &Reading) -> Vec<&'static str> {
    let runs = reading.ycsb_runs.iter().flat_map(|run| ids(&run.findings));
    let all = runs.chain(ids(&reading.findings));
    all.filter(|id| id.starts_with("hdr-")).collect()
}

/// YCSB computed its rows from the same counts by HdrHistogram 2.1.4.
#[test]
fn files_of_0_17_agree_with_its_rows() {
    let metrics = ["READ", "UPDATE", "CLEANUP"];
    let reading = read_first(&rows(), &metrics.map(|metric| (metric, first(metric))));
    assert_eq!(of_hdr(&reading), [""; 0]);
    for (metric, count) in metrics.into_iter().zip([5029, 4971, 2]) {
        let (rows, merged) = (of(&reading, "rows", metric), of(&reading, "hdr", metric));
        assert_eq!(
            (merged.ops_count, &merged.max_us),
            (Some(count), &rows.max_us),
            "{metric}"
        );
        assert_eq!(rows.ops_count, Some(count), "{metric}");
        assert_eq!(rows.percentiles.len(), 5);
        // 2.1.4 rounds a rank to the nearer: where that is below, the row may be of the operation before.
        let is_same = |share: &str| {
            let share: f64 = share.parse().unwrap();
            metric == "CLEANUP" || (count as f64 * share / 100.0).fract() > 0.499
        };
        let same: Vec<_> = rows
            .percentiles
            .iter()
            .filter(|(share, _)| is_same(share))
            .collect();
        assert!(same.len() >= 2, "{metric} {same:?}");
        for printed in same {
            assert!(merged.percentiles.contains(printed), "{metric} {printed:?}");
        }
    }
}

#[test]
fn a_difference_of_one_operation_or_bucket_from_the_rows_of_0_17_is_reported() {
    let reported = |from: &str, to: &str| {
        let log = rows();
        assert!(log.contains(from), "{from}");
        of_hdr(&read_first(
            &log.replace(from, to),
            &[("READ.hdr", first("READ"))],
        ))
    };
    assert_eq!(reported("", ""), [""; 0]);
    assert_eq!(
        reported("[READ], Operations, 5029", "[READ], Operations, 5028"),
        ["hdr-differs"]
    );
    assert_eq!(
        reported("[READ], Operations, 5029", "[READ], Operations, 5030"),
        ["hdr-differs"]
    );
    // Buckets are 1 us wide there: both edges fit, and nothing beyond.
    let at = |us: &str| {
        let row = "[READ], 50thPercentileLatency(us), ";
        reported(&format!("{row}2\n"), &format!("{row}{us}\n"))
    };
    assert_eq!((at("1"), at("3")), (vec![], vec![]));
    assert_eq!((at("0"), at("4")), (vec!["hdr-differs"], vec!["hdr-differs"]));
}

/// 0x1c849386 is of no release that is known here.
#[test]
fn an_unsupported_encoding_is_never_reported_as_0_operations() {
    let later = String::from_utf8(first("READ"))
        .unwrap()
        .replace(",HISTggAA", ",HISThgAA");
    let reading = read_first(&rows(), &[("READ.hdr", later.clone().into_bytes())]);
    assert_eq!(of_hdr(&reading)[0], "hdr-not-compared");
    let sentences: Vec<_> = reading.findings.iter().map(|finding| &finding.sentence).collect();
    assert!(
        sentences[0].ends_with("its encoding is not supported: cookie 0x1c849386"),
        "{sentences:?}"
    );
    let findings = &reading.ycsb_runs[0].findings;
    let open = findings
        .iter()
        .find(|finding| finding.id == "hdr-not-compared")
        .unwrap();
    assert!(
        open.sentence.contains("3 of 3 histograms cannot be read"),
        "{}",
        open.sentence
    );
    assert!(findings.iter().all(|finding| !finding.sentence.contains("got 0")));
    let operations = &reading.ycsb_runs[0].operations;
    assert!(operations.iter().all(|operation| operation.from == "rows"));

    // The readable file of one client does not replace that of the other, and cannot choose one of several runs.
    let both = [
        ("one/READ.hdr", first("READ")),
        ("two/READ.hdr", later.clone().into_bytes()),
    ];
    let reading = read_first(&rows(), &both);
    assert_eq!(of_hdr(&reading)[0], "hdr-not-compared");
    let reading = read_first(&rows().repeat(2), &[("READ.hdr", later.into_bytes())]);
    assert!(
        of_hdr(&reading).contains(&"hdr-unmatched"),
        "{:?}",
        of_hdr(&reading)
    );
}

/// What HdrHistogram's own HistogramLogReaderWriterTest asserts of its samples (nanoseconds there). It adds their
/// histograms of two digits to one of three, whose buckets of 2^20 begin where those of 2^23 begin, and end 7 x 2^20 before.
#[test]
fn samples_of_older_encodings_are_read_as_upstream_reads_them() {
    let truth = [
        (
            "jHiccup-2.0.1.logV0.hlog",
            61_256,
            1_510_998_015_u64,
            1_569_718_271_u64,
        ),
        ("jHiccup-2.0.6.logV1.hlog", 65_964, 1_829_765_119, 1_888_485_375),
    ];
    let end = |upstream: u64| (upstream + (7 << 20)).to_string();
    for (name, count, p999, max) in truth {
        let path = support::folder().join("../hdrhistogram").join(name);
        let reading = read(&[("READ.hdr", std::fs::read(path).unwrap())]);
        assert_eq!(of_hdr(&reading), ["hdr-differs"], "{name}");
        let merged = of(&reading, "hdr", "READ");
        assert_eq!(
            (merged.ops_count, merged.max_us),
            (Some(count), Some(end(max))),
            "{name}"
        );
        assert!(
            merged.percentiles.contains(&("99.9".to_owned(), end(p999))),
            "{name}: {:?}",
            merged.percentiles
        );
    }
}
