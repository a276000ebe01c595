//! The side file that drivetest writes together with its log.
//!
//! Its end record counts reads at each threshold, independent of bucket edges. It also contains facts that the log
//! lacks: whether the rates were sustained, and response times from the due time of requests.

mod findings;
mod records;
pub mod summary;
pub mod telemetry;

use serde_json::Value;

use crate::act::run::Run;
use crate::act::semantics::judged;
use crate::finding::{Finding, rule};
use crate::judge::share::{ExactCounts, Share};
use records::{text, whole};
use summary::{Over, SideFileSummary};
use telemetry::Telemetry;

/// Maximum stored length of a line; an end record has at most 128 devices and a thousand kinds of errors.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Reader of a side file, which stores a summary of its records.
#[derive(Debug, Default)]
pub struct SideFile {
    line: Vec<u8>,
    counts: Option<ExactCounts>,
    end: Option<Value>,
    summary: SideFileSummary,
    /// Program that ran during `drivetest watch`, as the operator named it; `None` for a load, or without a program.
    watched: Option<String>,
    telemetry: Telemetry,
    /// Reads so far, from the last record; `None` before the first one.
    reads_count: Option<u64>,
}

impl SideFile {
    /// Read the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.split(|&byte| byte == b'\n');
        let Some(first) = pieces.next() else { return };
        self.append(first);
        for piece in pieces {
            self.end_line();
            self.append(piece);
        }
    }

    /// Add the summary to its run: the only run of the log, made by drivetest, with as many reads.
    ///
    /// A run that ended early counted more reads than the last whole block of its log; these counts cannot be used.
    pub fn join(mut self, runs: &mut [Run]) -> Option<Finding> {
        self.end_line();
        let reads_count = self.reads_count?;
        if let [run] = runs
            && is_of(reads_count, run)
        {
            self.give(run);
            return None;
        }
        let sentence = format!(
            "the side file ends with {reads_count} reads; expected the reads of the one drivetest run in the log"
        );
        Some(rule::SIDE_FILE_DIFFERS.at(None, sentence))
    }

    /// Return the telemetry of the host with the drive; `None` for a host without it, or without intervals.
    pub fn telemetry(mut self) -> Option<Telemetry> {
        self.end_line();
        let has_drive = self.summary.drives_count > 0;
        self.telemetry.known().filter(|_| has_drive)
    }

    /// Return the program that ran during `drivetest watch`; `None` for the side file of a load, or without a program.
    pub fn watched(&mut self) -> Option<&str> {
        self.end_line();
        self.watched.as_deref()
    }

    fn give(mut self, run: &mut Run) {
        self.summary.telemetry = self.telemetry.known();
        self.summary.over = self.counts.as_ref().map(over).unwrap_or_default();
        let found = findings::of(self.end.as_ref(), &self.summary);
        self.summary.host_causes = findings::host_causes(&found, self.end.as_ref(), &self.summary);
        add_unknown(run, found);
        run.is_virtual_device = run.is_virtual_device.or(self.summary.is_virtual());
        let reads_count = reads_count_of(run);
        run.exact = self
            .counts
            .filter(|counts| Some(counts.ops_count()) == reads_count);
        run.side_file = Some(Box::new(self.summary));
    }

    fn append(&mut self, piece: &[u8]) {
        let room = LINE_BYTES_MAX - self.line.len();
        self.line.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Read the stored line; a line that is not a record is ignored.
    fn end_line(&mut self) {
        if let Ok(record) = serde_json::from_slice::<Value>(&self.line) {
            self.take(record);
        }
        self.line.clear();
    }

    fn take(&mut self, record: Value) {
        match text(&record, "record").as_deref() {
            Some("start") => {
                records::start(&record, &mut self.summary);
                self.watched = record.get("watch").and_then(|watch| text(watch, "program"));
            }
            Some("interval") => {
                self.reads_count = whole(&record, "reads_count").or(self.reads_count);
                if let Some(telemetry) = record.get("telemetry") {
                    self.telemetry.take(telemetry);
                }
            }
            Some("end") => {
                records::end(&record, &mut self.summary);
                if let Some(counts) = ExactCounts::parse(&self.line) {
                    self.reads_count = Some(counts.ops_count());
                    self.counts = Some(counts);
                }
                self.end = Some(record);
            }
            _ => {}
        }
    }
}

/// Add the findings whose rule the log does not already report.
fn add_unknown(run: &mut Run, found: Vec<Finding>) {
    for finding in found {
        if run.findings.iter().all(|known| known.id != finding.id) {
            run.findings.push(finding);
        }
    }
}

fn over(counts: &ExactCounts) -> Vec<Over> {
    let of = |(threshold_us, share): (u64, Share)| Over {
        threshold_us,
        over_count: share.over_count,
        ops_count: share.ops_count,
        share_pct: share.printed(),
    };
    counts.shares().map(of).collect()
}

fn is_of(reads: u64, run: &Run) -> bool {
    run.origin.generator == "drivetest" && reads_count_of(run).is_some_and(|of_log| reads >= of_log)
}

fn reads_count_of(run: &Run) -> Option<u64> {
    Some(judged(run)?.tally.ops_count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(lines: &[&str]) -> SideFile {
        let mut side = SideFile::default();
        side.push(lines.join("\n").as_bytes());
        side.end_line();
        side.summary.telemetry = std::mem::take(&mut side.telemetry).known();
        side
    }

    fn ids(lines: &[&str]) -> Vec<&'static str> {
        let side = side(lines);
        let found = findings::of(side.end.as_ref(), &side.summary);
        found.iter().map(|finding| finding.id).collect()
    }

    fn busy(pct: &str, steal: &str) -> String {
        format!(
            r#"{{"record": "interval", "telemetry": {{"cpu": {{"busy_pct": "{pct}", "iowait_pct": null, "steal_pct": "{steal}"}},
            "disks": []}}}}"#
        )
        .replace('\n', " ")
    }

    #[test]
    fn a_host_is_busy_above_90_percent_and_stolen_from_above_1() {
        assert!(ids(&[&busy("90.0", "1.0")]).is_empty());
        assert_eq!(ids(&[&busy("90.1", "1.0")]), ["host-busy"]);
        assert_eq!(ids(&[&busy("90.0", "1.1")]), ["host-stolen"]);
    }

    #[test]
    fn one_busy_interval_of_more_than_a_hundred_is_not_reported() {
        let (idle, busy) = (busy("1.0", "0.0"), busy("99.0", "0.0"));
        let of = |idle_count: usize, busy_count: usize| {
            let all = [vec![idle.as_str(); idle_count], vec![busy.as_str(); busy_count]].concat();
            ids(&all)
        };
        assert_eq!((of(198, 1).len(), of(199, 1).len(), of(198, 2).len()), (1, 0, 1));
    }

    #[test]
    fn telemetry_has_minimum_mean_and_maximum() {
        let side = side(&[&busy("10.0", "0.0"), &busy("20.0", "0.0"), "no record"]);
        let summary = side.summary.telemetry.unwrap();
        let span = summary.cpu_busy_pct.texts().unwrap();
        assert_eq!(
            (&span.min[..], &span.mean[..], &span.max[..]),
            ("10.0", "15.0", "20.0")
        );
        assert_eq!(
            (summary.intervals_count, summary.cpu_iowait_pct.texts()),
            (2, None)
        );
    }

    fn powered(sensors: &str) -> String {
        format!(
            r#"{{"record": "interval", "telemetry": {{"cpu": null, "disks": [], "power": [{sensors}]}}}}"#
        )
    }

    #[test]
    fn power_of_one_kind_adds_up_and_an_interval_with_a_missing_sensor_is_ignored() {
        let package = |watts: &str| format!(r#"{{"sensor": "p", "boundary": "package", "watts": {watts}}}"#);
        let drive = r#"{"sensor": "d", "boundary": "drive", "watts": "7.50"}"#;
        let both = format!("{}, {}, {drive}", package("\"10.00\""), package("\"5.25\""));
        let half = format!("{}, {}, {drive}", package("\"10.00\""), package("null"));
        let summary = side(&[&powered(&both), &powered(&half)])
            .summary
            .telemetry
            .unwrap();
        let summary: Vec<_> = summary
            .power
            .iter()
            .map(|power| (&power.boundary[..], power.watts.texts().unwrap().mean))
            .collect();
        let expected = [("package", "15.25".to_owned()), ("drive", "7.50".to_owned())];
        assert_eq!(summary, expected);
    }

    #[test]
    fn power_without_sensor_values_is_missing() {
        let silent = r#"{"sensor": "d", "boundary": "drive", "watts": null}"#;
        assert!(
            side(&[&powered(silent)])
                .summary
                .telemetry
                .unwrap()
                .power
                .is_empty()
        );
    }

    #[test]
    fn a_drive_is_hot_where_it_warns() {
        let at = |celsius: &str| {
            format!(
                r#"{{"record": "interval", "telemetry": {{"disks": [{{"disk": "nvme0n1", "devices": ["/dev/nvme0n1"], "io": null,
                "temperature": {{"sensor": "a", "celsius": "{celsius}", "limit_celsius": "70.0"}}}}]}}}}"#
            )
            .replace('\n', " ")
        };
        assert_eq!(
            (ids(&[&at("69.9")]).len(), ids(&[&at("70.0")])),
            (0, vec!["drive-hot"])
        );
    }

    #[test]
    fn a_run_is_on_drives_only_if_all_devices_are_drives() {
        let of = |devices: &str| {
            let start = format!(r#"{{"record": "start", "devices": [{devices}]}}"#);
            (side(&[&start]).summary.is_virtual(), ids(&[&start]))
        };
        let (nvme, file, unknown) = (
            r#"{"path": "/dev/a", "kind": "nvme"}"#,
            r#"{"path": "/dev/loop0", "kind": "virtual", "drive_key": "file:1:2"}"#,
            r#"{"path": "/dev/b"}"#,
        );
        assert_eq!(of(nvme), (Some(false), vec![]));
        assert_eq!(
            of(&format!("{nvme}, {file}")),
            (Some(true), vec!["device-virtual"])
        );
        assert_eq!((of(&format!("{nvme}, {unknown}")).0, of("").0), (None, None));
    }

    #[test]
    fn lists_of_any_length_are_bounded() {
        let devices = vec![r#"{"path": "/dev/a"}"#; 1000].join(", ");
        let summary = side(&[&format!(r#"{{"record": "start", "devices": [{devices}]}}"#)]).summary;
        assert_eq!((summary.drives.len(), summary.drives_count), (128, 1000));
    }

    #[test]
    fn times_are_microseconds_with_every_digit() {
        let end = r#"{"record": "end", "operations": {"reads": {"service": {"p50_ns": 34749, "p99_ns": null, "max_ns": 5}}}}"#;
        let summary = side(&[end]).summary;
        let service = &summary.operations[0].service_us;
        assert_eq!(service.p50.as_deref(), Some("34.749"));
        assert_eq!((service.max.as_deref(), &service.p99), (Some("0.005"), &None));
    }

    #[test]
    fn backlog_and_generator_lateness_are_read_and_missing_in_an_old_side_file() {
        let times_of = |operation: &str| {
            let end = format!(r#"{{"record": "end", "operations": {{"reads": {{{operation}}}}}}}"#);
            let operation = side(&[&end]).summary.operations.remove(0);
            [operation.backlog_us, operation.generator_lateness_us]
                .map(|times| times.and_then(|times| times.mean))
        };
        let new = r#""lateness": {"mean_ns": 9}, "backlog": {"mean_ns": 1234}, "generator_lateness": {"mean_ns": 5}"#;
        assert_eq!(
            times_of(new),
            [Some("1.234".to_owned()), Some("0.005".to_owned())]
        );
        assert_eq!(times_of(r#""lateness": {"mean_ns": 9}"#), [None, None]);
    }

    /// Return the findings of an end record with 20,000 reads at 2,000 per second.
    fn found(waited: u64, rate: &str) -> Vec<(&'static str, String)> {
        let line = format!(
            r#"{{"record": "end", "reads_count": 20000, "over": {{"64000": 3}}, "rate": {rate}, "operations": {{"reads":
            {{"count": 20000, "asked_per_s": "2000.000000", "service_over": {{"64000": 3}},
            "response_over": {{"64000": {}}}, "response": {{"max_ns": 6002000000}}}}}}}}"#,
            3 + waited
        );
        let side = side(&[&line.replace('\n', " ")]);
        let found = findings::of(side.end.as_ref(), &side.summary);
        found
            .into_iter()
            .map(|finding| (finding.id, finding.sentence))
            .collect()
    }

    #[test]
    fn requests_that_waited_before_submission_are_reported() {
        let summary = "reads: 12003 of 20000 requests completed 64 ms or more after their due time, but only 3 took that long after \
                    submission; the maximum response time is 6.002 s";
        assert_eq!(
            found(12_000, "null"),
            [("response-above-service", summary.to_owned())]
        );
    }

    #[test]
    fn a_thousandth_must_have_waited() {
        assert_eq!((found(19, "null").len(), found(20, "null").len()), (0, 1));
    }

    #[test]
    fn the_side_file_reports_a_rate_that_was_not_sustained() {
        let rate = |is_sustained| {
            format!(r#"{{"is_held": {is_sustained}, "word": "x", "sentence": "reads: too few"}}"#)
        };
        assert_eq!(found(0, &rate(true)), []);
        assert_eq!(
            found(0, &rate(false)),
            [("rate-below-asked", "reads: too few".to_owned())]
        );
    }

    #[test]
    fn an_end_record_of_an_earlier_version_still_counts() {
        let mut side = SideFile::default();
        side.push(br#"{"record": "end", "reason": "finished", "reads_count": 9, "over": {"1000": 1}}"#);
        side.end_line();
        assert!(side.counts.is_some_and(|counts| counts.ops_count() == 9));
        assert!(findings::of(side.end.as_ref(), &side.summary).is_empty());
    }
}
