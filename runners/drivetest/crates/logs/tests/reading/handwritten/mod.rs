//! Handwritten logs at the limits of the grammar: many devices, long and equal names, empty histograms, messages of the
//! program at any position, future versions.

mod print;

use drivetest_logs::act::grammar::family::Family;
use drivetest_logs::act::reader::{LogReader, Options};
use drivetest_logs::act::run::Run;
use drivetest_logs::act::semantics::{Role, judged};
use drivetest_logs::act::stop::StopKind;

use self::print::{FLAVOURS, Flavour, block, header, log, tags, version_of};

fn run(log: &str) -> Run {
    let mut reader = LogReader::new(Options { slice_s: 1 });
    reader.push(log.as_bytes());
    let reading = reader.finish();
    assert_eq!(reading.error, None);
    reading.runs.into_iter().next().unwrap()
}

/// What follows from logs being made by hand: a few counts are no load, and `commit-to-device` makes every histogram.
const OF_THE_LOAD: [&str; 5] = [
    "commit-to-device",
    "device-sums-differ",
    "intervals-off-rate",
    "nx-not-whole",
    "rate-above-asked",
];

/// Return the findings about the grammar of the log.
fn ids(run: &Run) -> Vec<&'static str> {
    let reported = run.findings.iter().map(|finding| finding.id);
    reported.filter(|id| !OF_THE_LOAD.contains(id)).collect()
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn one() -> Vec<String> {
    named(&["/dev/a"])
}

#[test]
fn as_many_devices_as_act_takes_are_read_each_with_its_own_histogram() {
    let devices: Vec<String> = (0..128)
        .map(|number| format!("/dev/disk/by-id/nvme-{number}"))
        .collect();
    for flavour in FLAVOURS {
        let run = run(&log(flavour, &devices));
        assert_eq!(ids(&run), Vec::<&str>::new());
        let of = |role: Role| -> Vec<String> {
            let matching = run
                .histograms
                .iter()
                .filter(|histogram| histogram.meaning.role == role);
            matching
                .map(|histogram| histogram.meaning.device.clone().unwrap())
                .collect()
        };
        assert_eq!(of(Role::ReadsOfDevice), devices);
        assert_eq!(of(Role::WritesOfDevice), devices);
        assert_eq!(run.slices.len(), 3);
    }
}

#[test]
fn a_name_as_wide_as_its_column_and_one_wider_are_both_read() {
    for length in [17, 18, 19, 127] {
        let device = "/".repeat(length);
        let run = run(&log(Flavour::A, std::slice::from_ref(&device)));
        assert_eq!(run.histograms[3].meaning.device, Some(device));
        assert_eq!(
            run.histograms[3].tally.ops_count(),
            12,
            "4th in the block, at 3 s"
        );
    }
}

#[test]
fn a_device_that_is_named_twice_has_two_histograms_of_each_kind() {
    for flavour in FLAVOURS {
        let run = run(&log(flavour, &named(&["/dev/a", "/dev/b", "/dev/a"])));
        assert_eq!(ids(&run), ["device-named-twice"]);
        let tags = tags(flavour, &named(&["/dev/a", "/dev/b", "/dev/a"]));
        for (place, histogram) in (1..).zip(&run.histograms) {
            let is_large = histogram.name.to_lowercase().starts_with("large");
            let expected = if is_large { 0 } else { place * 3 };
            assert_eq!(histogram.tally.ops_count(), expected, "{}", histogram.name);
        }
        assert_eq!(run.histograms.len(), tags.len());
    }
}

#[test]
fn a_lost_tag_between_a_devices_reads_and_writes_confuses_neither() {
    let whole = log(Flavour::A, &one());
    for tag in [
        "READS              (15 total)\n (03: 0000000015)\n",
        "RAW WRITES         (18 total)\n (03: 0000000018)\n",
    ] {
        assert!(whole.contains(tag), "{tag}");
        let run = run(&whole.replacen(tag, "", 1));
        let found = ids(&run).into_iter().filter(|id| *id != "slice-missing");
        assert_eq!(found.collect::<Vec<_>>(), ["histogram-missing"], "{tag}");
        let device = |role: Role| {
            let found = run
                .histograms
                .iter()
                .find(|histogram| histogram.meaning.role == role);
            found.unwrap().tally.ops_count()
        };
        assert_eq!(
            (device(Role::ReadsOfDevice), device(Role::WritesOfDevice)),
            (12, 21)
        );
    }
}

#[test]
fn the_queue_of_the_last_block_is_stored_and_programs_without_queues_have_none() {
    let queued = |flavour| run(&log(flavour, &one())).requests_queued_count;
    assert_eq!(FLAVOURS.map(queued), [Some(7), Some(7), None]);
}

#[test]
fn the_queue_of_a_truncated_block_is_not_stored() {
    let log = log(Flavour::B, &one()) + "after 4 sec:\nrequests-queued: 99999\n";
    let run = run(&log);
    assert_eq!(
        (run.stop.kind, run.requests_queued_count),
        (StopKind::Cut, Some(7))
    );
}

#[test]
fn a_future_version_is_read_by_its_keys_and_reported() {
    for (flavour, version, family) in [
        (Flavour::C, "6.7", Family::C),
        (Flavour::C, "7.0", Family::C),
        (Flavour::B, "5.4", Family::B),
        (Flavour::A, "4.1", Family::A),
        (Flavour::B, "6.3", Family::B),
    ] {
        let log = log(flavour, &one()).replacen(version_of(flavour), version, 1);
        let run = run(&log);
        assert_eq!(run.origin.family, Some(family), "{version}");
        assert_eq!(ids(&run), ["version-unknown"], "{version}");
        assert!(judged(&run).unwrap().tally.ops_count() > 0, "{version}");
    }
}

#[test]
fn what_no_version_prints_is_read_without_a_role() {
    let log = log(Flavour::A, &one()).replace("WRITES             (24", "OTHERS             (24");
    let run = run(&log);
    assert!(ids(&run).contains(&"histogram-unlisted"));
    let other = run
        .histograms
        .iter()
        .find(|histogram| histogram.name == "OTHERS")
        .unwrap();
    assert_eq!((other.meaning.role, other.meaning.time), (Role::Other, None));
}

/// The words with which each version stops, and what they mean.
const STOPS: [(&str, StopKind, &[&str]); 11] = [
    (
        "ERROR: too many read reqs queued\ndrive(s) can't keep up - test stopped\n",
        StopKind::Overload,
        &["cannot-keep-up"],
    ),
    (
        "ERROR: too many requests queued\ndrive(s) can't keep up - test stopped\n",
        StopKind::Overload,
        &["cannot-keep-up"],
    ),
    (
        "ERROR: too many requests queued\n",
        StopKind::Overload,
        &["cannot-keep-up"],
    ),
    (
        "ERROR: large block writes can't keep up\ndrive(s) can't keep up - test stopped\n",
        StopKind::Overload,
        &["cannot-keep-up"],
    ),
    (
        "ERROR: write request generator can't keep up\nACT can't do requested load - test stopped\n\
         try configuring more 'service-threads'\n",
        StopKind::Overload,
        &["cannot-keep-up"],
    ),
    (
        "ERROR: cache thread device IO can't keep up\ndrive(s) can't keep up - test stopped\n",
        StopKind::Overload,
        &["cannot-keep-up"],
    ),
    (
        "Signal TERM received, aborting\nstacktrace: frame 0: ./act() [0x4022f5]\n",
        StopKind::Interrupted,
        &["interrupted"],
    ),
    (
        "Signal SEGV received: stack trace\nstacktrace: frame 0: ./act() [0x4022f5]\n",
        StopKind::Crashed,
        &["crashed"],
    ),
    (
        "SIGABRT received\nstacktrace: found 2 frames: 0x1 0x2 offset 0x0\nstacktrace: found no symbols\n",
        StopKind::Crashed,
        &["crashed"],
    ),
    (
        "ERROR: seek & read errno 5 'Input/output error'\n",
        StopKind::Finished,
        &["io-errors"],
    ),
    (
        "ERROR: writing /dev/a: 28 'No space left on device'\n",
        StopKind::Finished,
        &["io-errors"],
    ),
];

#[test]
fn stop_messages_are_recognized_at_any_position_and_number() {
    for flavour in FLAVOURS {
        let whole = log(flavour, &one());
        let first_block = whole.rfind("fter 1 sec:").unwrap() - 1;
        let in_block = whole[first_block..].find(" (03: ").unwrap() + first_block;
        let between = whole.rfind("fter 3 sec:").unwrap() - 1;
        for (words, kind, expected) in STOPS {
            for place in [first_block, in_block, between, whole.len()] {
                let reported = [&whole[..place], words, words, &whole[place..]].concat();
                let run = run(&reported);
                assert_eq!(run.stop.kind, kind, "{reported}");
                let found = ids(&run).into_iter().filter(|id| *id != "noise-inside-block");
                assert_eq!(found.collect::<Vec<_>>(), expected, "{reported}");
                assert_eq!(
                    judged(&run).unwrap().tally,
                    judged(&self::run(&whole)).unwrap().tally
                );
            }
        }
    }
}

#[test]
fn every_error_before_the_first_block_explains_why_there_is_none() {
    for (flavour, error) in [
        (Flavour::A, "ERROR: open device /dev/a\n"),
        (Flavour::A, "ERROR: invalid configuration\n"),
        (Flavour::A, "couldn't open config file: act.conf\n"),
        (Flavour::B, "usage: act_storage [config filename]\n"),
        (Flavour::B, "ERROR: ignoring unknown config item 'x'\n"),
        (
            Flavour::C,
            "ERROR: /dev/a read failed at all sizes from 512 to 4096 bytes\n",
        ),
    ] {
        let header = header(flavour, version_of(flavour), &one());
        let title = header.find("CONFIGURATION").unwrap();
        let banner = &header[..=header[..title].rfind('\n').unwrap()];
        for before in [header.as_str(), banner] {
            let run = run(&format!("{before}{error}"));
            assert_eq!(run.stop.kind, StopKind::NotStarted, "{before}{error}");
            assert_eq!(run.stop.text, error.trim_end());
            let expected = [Some(Family::A), Some(Family::B), Some(Family::C)];
            assert_eq!(run.origin.family, expected[flavour as usize]);
        }
    }
}

#[test]
fn a_total_of_1_x_may_run_ahead_of_its_buckets_but_not_far() {
    let header = "\nAerospike act - device IO test\n\nCIO CONFIGURATION\ndevice-names: /dev/a\nnum-devices: 1\n\
                  num-queues: 2\nthreads-per-queue: 4\ntest-duration-sec: 1\nreport-interval-sec: 1\n\
                  read-reqs-per-sec: 100\n\n/dev/a size = 1048576 bytes, 2048 512-byte blocks, 8 large blocks\n\n";
    let block = |label_s: u64, total: u64| {
        let tags = [
            "LARGE BLOCK READS ",
            "LARGE BLOCK WRITES",
            "RAW READS         ",
            "/dev/a            ",
        ];
        let rest: String = tags.iter().map(|tag| format!("{tag} (0 total)\n")).collect();
        format!(
            "After {label_s} sec:\nread-reqs queued: 0\n{rest}READS              ({total} total)\n (00: 0000000100) \n\n"
        )
    };
    let reported = |total: u64| {
        ids(&run(&[header, &block(1, total), &block(2, 100)].concat())).contains(&"total-differs")
    };
    // 8 threads, and the reads of a tenth of a second.
    assert!(!reported(118) && reported(119));
}

#[test]
fn a_log_cut_in_its_first_block_has_no_block() {
    for flavour in FLAVOURS {
        let header = header(flavour, version_of(flavour), &one());
        let first = block(flavour, 1, &one());
        for length in first.find('\n').unwrap() + 1..first.len() - 3 {
            let run = run(&(header.clone() + &first[..length]));
            assert_eq!(
                (run.stop.kind, run.intervals_count),
                (StopKind::Cut, 0),
                "{}",
                &first[..length]
            );
        }
        assert_eq!(run(&(header + &first)).intervals_count, 1);
    }
}

#[test]
fn a_whole_header_without_a_block_is_a_run_and_a_cut_one_is_none() {
    let devices = named(&["/dev/a", "/dev/b"]);
    for flavour in FLAVOURS {
        let header = header(flavour, version_of(flavour), &devices);
        assert_eq!(run(&header).stop.kind, StopKind::Short);
        let cut = &header[..header.find("/dev/b size").unwrap()];
        let mut reader = LogReader::new(Options { slice_s: 1 });
        reader.push(cut.as_bytes());
        assert_eq!(
            reader.finish().error.map(|error| error.id),
            Some("cut-in-header"),
            "{cut}"
        );
    }
}
