//! The configuration of a run as numbers, and the findings about it.

use crate::act::blocks::histogram::Unit;
use crate::act::grammar::family::{Family, Workload};
use crate::act::header::pacing;
use crate::act::header::{Header, Section, split_names};
use crate::act::semantics::Edges;
use crate::finding::{Finding, Rule, rule};

/// The configuration as numbers; `None` for a key that is absent or not a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Seconds between two dumps.
    pub report_interval_s: Option<u64>,
    /// Requested duration.
    pub duration_s: Option<u64>,
    /// Unit of all histograms.
    pub unit: Unit,
    /// Requested reads per second of all devices together.
    pub reads_per_s: Option<u64>,
    /// Requested writes per second of all devices together.
    pub writes_per_s: Option<u64>,
    /// Number of named devices, duplicates included.
    pub device_count: Option<u64>,
    /// Size of the smallest object.
    pub record_bytes: Option<u64>,
    /// Size of the largest object.
    pub record_bytes_max: Option<u64>,
    /// Compressibility of the data: 100 is incompressible.
    pub compress_pct: Option<u64>,
    /// Threads that issue the requests.
    pub service_threads: Option<u64>,
}

impl Settings {
    /// Read the numbers of a header.
    pub fn of(header: &Header) -> Self {
        let configured = |key| header.config.value(key).and_then(whole);
        let record_bytes = configured("record-bytes");
        let range_max = configured("record-bytes-range-max").filter(|&most| most > 0);
        let microseconds = header.config.value("microsecond-histograms");
        let microseconds = microseconds.is_some_and(|is| is.starts_with('y'));
        Self {
            report_interval_s: configured("report-interval-sec").filter(|&interval| interval > 0),
            duration_s: configured("test-duration-sec"),
            unit: if microseconds { Unit::Us } else { Unit::Ms },
            reads_per_s: configured("read-reqs-per-sec"),
            writes_per_s: configured("write-reqs-per-sec"),
            device_count: configured("num-devices").filter(|&devices| devices > 0),
            record_bytes,
            record_bytes_max: range_max.or(record_bytes),
            compress_pct: configured("compress-pct"),
            service_threads: configured("service-threads"),
        }
    }

    /// Return N of the Nx load: reads / devices / 2000, with at most 4 decimals; `None` if a part is unknown.
    ///
    /// Source: aerospike/act, README: 1x is 2000 reads/s and 1000 writes/s per device.
    pub fn nx_load(&self) -> Option<String> {
        let ten_thousandths = u128::from(self.reads_per_s?) * 10_000;
        let per_device = u128::from(self.device_count?) * 2_000;
        let rounded = (ten_thousandths * 2 + per_device) / (per_device * 2);
        let text = format!("{}.{:04}", rounded / 10_000, rounded % 10_000);
        Some(text.trim_end_matches('0').trim_end_matches('.').to_owned())
    }
}

/// Parse a whole number; `None` for anything else, and above `i64::MAX`, the limit of the tables.
pub fn whole(text: &str) -> Option<u64> {
    text.parse()
        .ok()
        .filter(|&number: &u64| i64::try_from(number).is_ok())
}

/// Parse a setting for arithmetic; `None` if it is not a finite number, or if `setting-unreadable` reports it.
pub fn decimal(key: &str, text: &str) -> Option<f64> {
    if NUMBERS.contains(&key) {
        return whole(text).map(|number| number as f64);
    }
    let number = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    (0.0..=i64::MAX as f64).contains(&number).then_some(number)
}

const NUMBERS: [&str; 11] = [
    "num-devices",
    "service-threads",
    "test-duration-sec",
    "report-interval-sec",
    "read-reqs-per-sec",
    "write-reqs-per-sec",
    "record-bytes",
    "record-bytes-range-max",
    "defrag-lwm-pct",
    "compress-pct",
    "max-lag-sec",
];

/// Return the findings about the configuration of a run; `family` is `None` if the header does not show it.
pub fn findings(header: &Header, family: Option<Family>, workload: Workload, line: u64) -> Vec<Finding> {
    let config = &header.config;
    let mut found = Vec::new();
    let mut add = |rule: Rule, sentence: String| found.push(rule.at(line, sentence));
    let unreadable = NUMBERS.iter().filter_map(|&key| Some((key, config.value(key)?)));
    for (key, value) in unreadable.filter(|(_, value)| whole(value).is_none()) {
        let sentence = format!("{key}: expected a whole number; got '{value}'");
        add(rule::SETTING_UNREADABLE, sentence);
    }
    lighter(config).for_each(|sentence| add(rule::LIGHTER_LOAD, sentence));
    if let Some(sentence) = version(header, family) {
        add(rule::VERSION_UNKNOWN, sentence);
    }
    if let Some(family) = family {
        let sentences = pacing::truncated(header, family, workload);
        sentences.for_each(|sentence| add(rule::RATE_TRUNCATED, sentence));
    }
    if header.edges() == Edges::Act1 {
        let sentence = "in logs of ACT 1.x, the first bucket ends at 2 ms, so the share of operations over 1 ms is unknown";
        add(rule::OLD_BUCKETS, sentence.to_owned());
    }
    if let Some(sentence) = twice(config) {
        add(rule::DEVICE_NAMED_TWICE, sentence);
    }
    if config.value("max-lag-sec") == Some("0") {
        let sentence = "max-lag-sec is 0: the run could not stop itself on overload";
        add(rule::LAG_UNLIMITED, sentence.to_owned());
    }
    if writes_are_meaningless(header) {
        let what = "writes with commit-to-device to one place of the device only, so the histogram 'writes' is meaningless";
        add(
            rule::COMMIT_WRITES_MEANINGLESS,
            format!("act_storage {} {what}", header.version),
        );
    }
    let compress_pct = config.value("compress-pct").and_then(whole);
    if let Some(pct) = compress_pct.filter(|&pct| pct < 100) {
        let sentence =
            format!("compress-pct is {pct}: a drive can compress the written data to {pct} % of its size");
        add(rule::COMPRESSIBLE_DATA, sentence);
    }
    found
}

fn lighter(config: &Section) -> impl Iterator<Item = String> {
    let is_yes = |key| config.value(key) == Some("yes");
    let lwm_pct = config.value("defrag-lwm-pct").and_then(whole);
    let no_reads = "no-defrag-reads is yes: the run has no large-block reads";
    let buffered = "disable-odsync is yes: the drive may buffer writes";
    let fewer = |pct| {
        format!("defrag-lwm-pct is {pct}, below its default of 50: the run has fewer large-block operations")
    };
    let printed = [
        is_yes("no-defrag-reads").then(|| no_reads.to_owned()),
        is_yes("disable-odsync").then(|| buffered.to_owned()),
        lwm_pct.filter(|&pct| pct < 50).map(fewer),
    ];
    printed.into_iter().flatten()
}

fn version(header: &Header, family: Option<Family>) -> Option<String> {
    let printed = header.shown_version();
    let Some(family) = family else {
        return Some(format!(
            "expected a log of ACT 1.x to 6.6; got version '{printed}'"
        ));
    };
    let (name, known) = (family.name(), family.known_versions());
    let (first, last) = (known.first()?, known.last()?);
    (!known.contains(&printed)).then(|| {
        format!("the header has keys of {name}: expected a version from {first} to {last}; got '{printed}'")
    })
}

fn twice(config: &Section) -> Option<String> {
    let mut names: Vec<&str> = split_names(config.value("device-names")?).collect();
    names.sort_unstable();
    let same = names.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(format!("device-names lists {} more than once", same[0]))
}

/// Return whether the histogram `writes` of a log is meaningless.
///
/// Source: aerospike/act 6.4 to 6.6, src/storage/act_storage.c: `min_commit_bytes` is read and never set.
pub fn writes_are_meaningless(header: &Header) -> bool {
    let broken = matches!(header.version.as_str(), "6.4" | "6.5" | "6.6");
    broken && header.drivetest.is_none() && header.config.value("commit-to-device") == Some("yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(reads_per_s: u64, device_count: u64) -> Settings {
        let header = Header::default();
        Settings {
            reads_per_s: Some(reads_per_s),
            device_count: Some(device_count),
            ..Settings::of(&header)
        }
    }

    #[test]
    fn nx_load_is_reads_per_device_over_2000() {
        assert_eq!(settings(8000, 4).nx_load().as_deref(), Some("1"));
        assert_eq!(settings(600, 1).nx_load().as_deref(), Some("0.3"));
        assert_eq!(settings(60_000, 1).nx_load().as_deref(), Some("30"));
        assert_eq!(settings(933_333, 1).nx_load().as_deref(), Some("466.6665"));
        assert_eq!(settings(2000, 3).nx_load().as_deref(), Some("0.3333"));
        assert_eq!(settings(0, 1).nx_load().as_deref(), Some("0"));
    }

    #[test]
    fn nx_load_is_unknown_where_the_device_count_is() {
        assert_eq!(Settings::of(&Header::default()).nx_load(), None);
        assert_eq!(
            Settings {
                device_count: None,
                ..settings(2000, 1)
            }
            .nx_load(),
            None
        );
    }

    fn header(lines: &[&str]) -> Header {
        let mut header = Header::new("6.6");
        header.config.lines = lines.iter().map(|&line| line.to_owned()).collect();
        header.derived.lines = vec![
            "internal-read-reqs-per-sec: 2009".to_owned(),
            "internal-write-reqs-per-sec: 0".to_owned(),
        ];
        header
    }

    fn ids(lines: &[&str]) -> Vec<&'static str> {
        findings(&header(lines), Some(Family::C), Workload::Storage, 1)
            .iter()
            .map(|finding| finding.id)
            .collect()
    }

    #[test]
    fn a_lighter_load_is_reported_and_the_default_is_not() {
        assert_eq!(ids(&["defrag-lwm-pct: 49"]), ["lighter-load"]);
        assert!(ids(&["defrag-lwm-pct: 50", "no-defrag-reads: no", "disable-odsync: no"]).is_empty());
    }

    #[test]
    fn a_rate_that_threads_do_not_divide_is_reported() {
        assert_eq!(ids(&["service-threads: 10"]), ["rate-truncated"]);
        assert!(ids(&["service-threads: 7"]).is_empty(), "2009 = 7 x 287");
    }

    #[test]
    fn writes_to_the_device_count_among_the_requests_of_threads() {
        let mut header = header(&["service-threads: 7"]);
        header.derived.lines[1] = "internal-write-reqs-per-sec: 1".to_owned();
        assert_eq!(
            findings(&header, Some(Family::C), Workload::Storage, 1)[0].id,
            "rate-truncated",
            "2010 is no multiple of 7"
        );
    }

    #[test]
    fn a_version_that_does_not_match_its_keys_is_reported() {
        let printed = |version: &str, family| super::version(&Header::new(version), family).is_some();
        assert!(!printed("5.3", Some(Family::B)) && printed("5.4", Some(Family::B)));
        assert!(printed("6.2", Some(Family::B)) && printed("7.0", Some(Family::C)));
        assert!(printed("7.0", None));
    }

    #[test]
    fn a_setting_that_is_not_a_number_is_reported() {
        assert_eq!(ids(&["record-bytes: many"]), ["setting-unreadable"]);
    }
}
