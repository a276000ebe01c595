//! A run of YCSB for people: what it was, what its operations took, whether it is valid.

use std::fmt::Write as _;

use drivetest_log::ycsb::run::{Operation, Outcome, Run};

use super::log_file::finding_line;

/// Percentiles that have a column; the document holds all.
const SHARES: [&str; 5] = ["50", "95", "99", "99.9", "99.99"];

/// What a run was, its table and its findings.
pub fn summary(run: &Run) -> String {
    let mut text = head(run);
    text.push_str(&table(run));
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
    value.map_or_else(|| "?".to_owned(), ToString::to_string)
}

fn head(run: &Run) -> String {
    let phase = run.phase.map(|phase| format!("{phase:?}").to_lowercase());
    let stop = serde_json::to_value(run.stop.kind).ok();
    let stop = stop
        .as_ref()
        .and_then(|kind| kind.as_str())
        .unwrap_or_default()
        .to_owned();
    format!(
        "{} {}, {} of workload {} on {}, {} threads\n  {stop}: {} operations in {} ms, {} a second; {} failed; lines {}-{}\n",
        run.tool,
        shown(run.tool_version.as_ref()),
        shown(phase.as_ref()),
        shown(run.workload.as_ref()),
        shown(run.binding.as_ref()),
        shown(run.threads_count.as_ref()),
        shown(run.done_ops_count.as_ref()),
        shown(run.runtime_ms.as_ref()),
        shown(run.throughput_ops_per_s.as_ref()),
        shown(run.failed_ops_count.as_ref()),
        run.first_line,
        run.last_line,
    )
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
