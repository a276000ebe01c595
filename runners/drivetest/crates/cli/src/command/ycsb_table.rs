//! A run of YCSB for people: what it was, what its operations took, whether it is valid.

use std::fmt::Write as _;

use drivetest_logs::plural::counted;
use drivetest_logs::ycsb::run::{Operation, Outcome, Run};

use super::log_file::finding_line;
use super::side_told;

/// Percentiles that have a column; the document holds all.
const SHARES: [&str; 5] = ["50", "95", "99", "99.9", "99.99"];

/// What a run was, its table and its findings.
pub fn summary(run: &Run) -> String {
    let mut text = head(run);
    text.push_str(&table(run));
    text.push_str(&side_told::telemetry_told(run.telemetry.as_deref()));
    text.push_str(&validity(run));
    text
}

/// Whether a run is valid, and every finding.
pub fn validity(run: &Run) -> String {
    let mut text = format!("  {}\n", outcome(run));
    for reason in &run.validity.reasons {
        text.push_str(&format!("  reason: {reason}\n"));
    }
    run.findings
        .iter()
        .for_each(|finding| text.push_str(&finding_line(finding)));
    text
}

/// One word on a run.
pub fn outcome(run: &Run) -> &'static str {
    match run.validity.outcome {
        Outcome::Valid => "valid",
        Outcome::Invalid => "invalid",
        Outcome::Undecided => "undecided",
    }
}

fn shown(value: Option<&impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), ToString::to_string)
}

/// The parts that are known, one behind the other.
fn joined<const N: usize>(parts: [Option<String>; N], between: &str) -> String {
    let known: Vec<String> = parts.into_iter().flatten().collect();
    known.join(between)
}

/// Which program did what; what the output does not tell is left out.
fn head(run: &Run) -> String {
    let tool = joined([Some(run.tool.to_owned()), run.tool_version.clone()], " ");
    let phase = run.phase.map(|phase| format!("{phase:?}").to_lowercase());
    let workload = run
        .workload
        .as_ref()
        .map(|letter| format!("of workload {letter}"));
    let binding = run.binding.as_ref().map(|binding| format!("on {binding}"));
    let did = Some(joined([phase, workload, binding], " ")).filter(|did| !did.is_empty());
    let threads = run.threads_count.map(|count| counted(count, "thread"));
    format!("{}\n  {}\n", joined([Some(tool), did, threads], ", "), ended(run))
}

/// A rate with one decimal, as people compare it; the document has every digit that was printed.
fn rounded(rate: &str) -> String {
    let number = rate.parse::<f64>().ok().filter(|number| number.is_finite());
    number.map_or_else(|| rate.to_owned(), |number| format!("{number:.1}"))
}

fn ended(run: &Run) -> String {
    let stop = serde_json::to_value(run.stop.kind).ok();
    let stop = stop.as_ref().and_then(|kind| kind.as_str()).unwrap_or_default();
    let done = run.done_ops_count.map(|count| counted(count, "operation"));
    let time = run.runtime_ms.as_ref().map(|time_ms| format!("in {time_ms} ms"));
    let made = Some(joined([done, time], " ")).filter(|made| !made.is_empty());
    let rate = run
        .throughput_ops_per_s
        .as_ref()
        .map(|rate| format!("{} a second", rounded(&rate.to_string())));
    let made = Some(joined([made, rate], ", ")).filter(|made| !made.is_empty());
    let failed = run.failed_ops_count.map(|count| format!("{count} failed"));
    let lines = Some(format!("lines {}-{}", run.first_line, run.last_line));
    format!("{stop}: {}", joined([made, failed, lines], "; "))
}

fn table(run: &Run) -> String {
    if run.operations.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "  {:28} {:8} {:>12} {:>12}",
        "operation, times in us", "time", "count", "mean"
    );
    SHARES
        .iter()
        .for_each(|share| text.push_str(&format!(" {:>9}", format!("p{share}"))));
    text.push_str(&format!(" {:>10}\n", "max"));
    for operation in &run.operations {
        row(&mut text, operation);
    }
    text
}

fn row(text: &mut String, operation: &Operation) {
    let recorder = operation
        .recorder
        .map_or_else(String::new, |recorder| format!(" ({recorder})"));
    let outcome = if operation.outcome == "ok" {
        String::new()
    } else {
        format!(" {}", operation.outcome)
    };
    let from = match operation.from {
        "rows" => String::new(),
        from => format!(" from {from}"),
    };
    let name = format!("{}{outcome}{recorder}{from}", operation.name);
    let time = operation.time.map(|time| format!("{time:?}").to_lowercase());
    let mean = operation.mean_us.as_deref().map(short);
    let mut cells = format!(
        "  {name:28} {:8} {:>12} {:>12}",
        shown(time.as_ref()),
        shown(operation.ops_count.as_ref()),
        mean.as_deref().unwrap_or("-"),
    );
    for share in SHARES {
        let found = operation.percentiles.iter().find(|(name, _)| name == share);
        let written = write!(cells, " {:>9}", found.map_or("-", |(_, time)| time));
        debug_assert!(written.is_ok(), "a String takes everything");
    }
    text.push_str(&format!(
        "{cells} {:>10}\n",
        operation.max_us.as_deref().unwrap_or("-")
    ));
}

/// A mean of Java has up to 17 digits: in a table two after the point are enough.
fn short(mean: &str) -> String {
    mean.parse::<f64>()
        .map_or_else(|_| mean.to_owned(), |mean| format!("{mean:.2}"))
}
