//! Names of metrics: operation, outcome, time and recorder.
//!
//! Source: YCSB, Measurements.java, DBWrapper.measure(), TwoInOneMeasurement.java.

/// Recorder of latencies, if two record at the same time (`hdrhistogram+histogram`, `hdrhistogram+raw`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorder {
    /// `Hdr...`
    Hdr,
    /// `Bucket...`
    Histogram,
    /// `Raw...`
    Raw,
}

/// An operation's metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationName {
    /// `READ`, `READ-MODIFY-WRITE`, `CLEANUP` ...
    pub operation: String,
    /// `ok`, `failed`, or the status that was tracked (`NOT_FOUND`).
    pub outcome: String,
    /// Counted from when the operation was due (`Intended-`).
    pub is_intended: bool,
    /// Recorder; `None` if there is only one.
    pub recorder: Option<Recorder>,
}

/// The kinds of metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// `OVERALL`.
    Overall,
    /// Garbage collections over all collectors: `TOTAL_GCs`, `TOTAL_GC_TIME`, `TOTAL_GC_TIME_%`.
    Collections,
    /// A metric of the virtual machine. It is ignored, because its rows state wrong units (docs/reference/formats.md).
    Machine,
    /// An operation.
    Operation(OperationName),
}

/// Metrics of `measurement.trackjvm=true`; their rows say "(us)" and mean MB, threads, load, collections or ms.
const TRACKED: [&str; 5] = ["USED_MEM_MB", "THREAD_COUNT", "SYS_LOAD_AVG", "GCS", "GCS_TIME"];

const EXTREMES: [&str; 6] = [
    "MAX_MEM_USED",
    "MIN_MEM_USED",
    "MAX_THREADS",
    "MIN_THREADS",
    "MAX_SYS_LOAD_AVG",
    "MIN_SYS_LOAD_AVG",
];

/// Operations whose names contain a dash, which in other metrics begins the outcome.
const DASHED: [&str; 2] = ["READ-MODIFY-WRITE", "SCAN-LATENCY-PER-RECORD"];

impl Metric {
    /// Read a name.
    pub fn parse(name: &str) -> Self {
        let of_collector = name.starts_with("TOTAL_GCS_") || name.starts_with("TOTAL_GC_TIME_");
        match name {
            "OVERALL" => Self::Overall,
            "TOTAL_GCs" | "TOTAL_GC_TIME" | "TOTAL_GC_TIME_%" => Self::Collections,
            _ if of_collector || EXTREMES.contains(&name) => Self::Machine,
            _ => Self::operation(name),
        }
    }

    fn operation(name: &str) -> Self {
        let (recorder, name) = recorder(name);
        let intended = name.strip_prefix("Intended-");
        let name = intended.unwrap_or(name);
        if TRACKED.contains(&name) {
            return Self::Machine;
        }
        let (operation, outcome) = outcome(name);
        Self::Operation(OperationName {
            operation: operation.to_owned(),
            outcome,
            is_intended: intended.is_some(),
            recorder,
        })
    }
}

fn recorder(name: &str) -> (Option<Recorder>, &str) {
    let prefixes = [
        ("Hdr", Recorder::Hdr),
        ("Bucket", Recorder::Histogram),
        ("Raw", Recorder::Raw),
    ];
    for (prefix, recorder) in prefixes {
        let rest = name.strip_prefix(prefix);
        if let Some(rest) = rest.filter(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase())) {
            return (Some(recorder), rest);
        }
    }
    (None, name)
}

fn outcome(name: &str) -> (&str, String) {
    let dashed = DASHED.iter().find_map(|dashed| {
        let rest = name.strip_prefix(dashed)?;
        (rest.is_empty() || rest.starts_with('-')).then_some((&name[..dashed.len()], rest))
    });
    let (operation, rest) = dashed.unwrap_or_else(|| name.split_at(name.find('-').unwrap_or(name.len())));
    let outcome = match rest.strip_prefix('-') {
        None | Some("") => "ok".to_owned(),
        Some("FAILED") => "failed".to_owned(),
        Some(status) => status.to_owned(),
    };
    (operation, outcome)
}

impl OperationName {
    /// Return whether its operations are among those that YCSB calls done: not those made of others, and no extras.
    pub fn is_counted(&self) -> bool {
        let made_of_others = DASHED.contains(&self.operation.as_str());
        let extra = matches!(self.operation.as_str(), "CLEANUP" | "VERIFY");
        let twin = matches!(self.recorder, Some(Recorder::Histogram | Recorder::Raw));
        !made_of_others && !extra && !twin && !self.is_intended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> (String, String, bool, Option<Recorder>) {
        match Metric::parse(name) {
            Metric::Operation(name) => (name.operation, name.outcome, name.is_intended, name.recorder),
            other => (format!("{other:?}"), String::new(), false, None),
        }
    }

    #[test]
    fn names_contain_operation_and_outcome() {
        let plain = |operation: &str, outcome: &str| (operation.to_owned(), outcome.to_owned(), false, None);
        assert_eq!(named("READ"), plain("READ", "ok"));
        assert_eq!(named("UPDATE-FAILED"), plain("UPDATE", "failed"));
        assert_eq!(named("READ-NOT_FOUND"), plain("READ", "NOT_FOUND"));
        assert_eq!(named("READ-MODIFY-WRITE"), plain("READ-MODIFY-WRITE", "ok"));
        assert_eq!(
            named("READ-MODIFY-WRITE-FAILED"),
            plain("READ-MODIFY-WRITE", "failed")
        );
        assert_eq!(
            named("SCAN-LATENCY-PER-RECORD"),
            plain("SCAN-LATENCY-PER-RECORD", "ok")
        );
    }

    #[test]
    fn names_contain_time_and_recorder() {
        let read = |intended, recorder| ("READ".to_owned(), "ok".to_owned(), intended, recorder);
        assert_eq!(named("Intended-READ"), read(true, None));
        assert_eq!(named("HdrIntended-READ"), read(true, Some(Recorder::Hdr)));
        assert_eq!(named("BucketREAD"), read(false, Some(Recorder::Histogram)));
        assert_eq!(named("RawREAD"), read(false, Some(Recorder::Raw)));
    }

    #[test]
    fn what_is_of_the_machine_is_no_operation() {
        for name in [
            "TOTAL_GCS_Copy",
            "TOTAL_GC_TIME_%_ZGC_Cycles",
            "MAX_THREADS",
            "GCS",
            "HdrGCS_TIME",
        ] {
            assert_eq!(Metric::parse(name), Metric::Machine, "{name}");
        }
        assert_eq!(Metric::parse("TOTAL_GC_TIME_%"), Metric::Collections);
    }

    #[test]
    fn only_what_ycsb_calls_done_is_counted() {
        let counted = |name: &str| match Metric::parse(name) {
            Metric::Operation(name) => name.is_counted(),
            _ => false,
        };
        assert!(
            ["READ", "SCAN", "UPDATE-FAILED", "HdrREAD", "INSERT-NOT_FOUND"]
                .map(counted)
                .iter()
                .all(|&is| is)
        );
        let others = [
            "CLEANUP",
            "VERIFY",
            "READ-MODIFY-WRITE",
            "BucketREAD",
            "Intended-READ",
            "GCS",
        ];
        assert!(!others.map(counted).iter().any(|&is| is));
    }
}
