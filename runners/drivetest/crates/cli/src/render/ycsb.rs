//! A YCSB run as terminal text: program, operations, validity and findings.

use drivetest_logs::finding::counted;
use drivetest_logs::ycsb::run::{Operation, Run};

use super::findings::ycsb_findings_text;
use super::side_file;
use crate::output::code;

/// Percentiles with a column. The JSON document lists all.
const SHARES: [&str; 5] = ["50", "95", "99", "99.9", "99.99"];

/// Returns the summary of a run: program, table, telemetry, validity and findings.
pub fn summary(run: &Run) -> String {
    let telemetry = side_file::telemetry_lines(run.telemetry.as_deref());
    [head(run), table(run), telemetry, validity(run)].concat()
}

/// Returns whether a run is valid, and its findings.
pub fn validity(run: &Run) -> String {
    format!("  {}\n", code(&run.validity.outcome)) + &ycsb_findings_text(&run.findings)
}

fn shown(value: Option<&impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), ToString::to_string)
}

/// Joins the parts that are known.
fn joined<const N: usize>(parts: [Option<String>; N], separator: &str) -> String {
    let known: Vec<String> = parts.into_iter().flatten().collect();
    known.join(separator)
}

/// Returns the program, the phase and the workload. Omits what the output does not state.
fn head(run: &Run) -> String {
    let tool = joined([Some(run.tool.to_owned()), run.tool_version.clone()], " ");
    let phase = run.phase.map(|phase| code(&phase));
    let workload = run
        .workload
        .as_ref()
        .map(|letter| format!("of workload {letter}"));
    let binding = run.binding.as_ref().map(|binding| format!("on {binding}"));
    let did = Some(joined([phase, workload, binding], " ")).filter(|did| !did.is_empty());
    let threads = run.threads_count.map(|count| counted(count, "thread"));
    format!("{}\n  {}\n", joined([Some(tool), did, threads], ", "), ended(run))
}

/// Returns a rate with one decimal. The JSON document has all printed digits.
fn rounded(rate: &str) -> String {
    let number = rate.parse::<f64>().ok().filter(|number| number.is_finite());
    number.map_or_else(|| rate.to_owned(), |number| format!("{number:.1}"))
}

fn ended(run: &Run) -> String {
    let stop = code(&run.stop.kind);
    let done = run.done_ops_count.map(|count| counted(count, "operation"));
    let time = run.runtime_ms.as_ref().map(|time_ms| format!("in {time_ms} ms"));
    let made = Some(joined([done, time], " ")).filter(|made| !made.is_empty());
    let rate = run.throughput_ops_per_s.as_ref();
    let rate = rate.map(|rate| format!("{} ops/s", rounded(rate)));
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
    for share in SHARES {
        text.push_str(&format!(" {:>9}", format!("p{share}")));
    }
    text.push_str(&format!(" {:>10}\n", "max"));
    for operation in &run.operations {
        row(&mut text, operation);
    }
    text
}

fn row(text: &mut String, operation: &Operation) {
    let recorder = operation
        .recorder
        .map(|recorder| format!(" ({recorder})"))
        .unwrap_or_default();
    let outcome = match operation.outcome.as_str() {
        "ok" => String::new(),
        outcome => format!(" {outcome}"),
    };
    let from = match operation.from {
        "rows" => String::new(),
        from => format!(" from {from}"),
    };
    let name = format!("{}{outcome}{recorder}{from}", operation.name);
    let time = operation.time.map(|time| code(&time));
    let mean = operation.mean_us.as_deref().map(short);
    let mut cells = format!(
        "  {name:28} {:8} {:>12} {:>12}",
        shown(time.as_ref()),
        shown(operation.ops_count.as_ref()),
        mean.as_deref().unwrap_or("-"),
    );
    for share in SHARES {
        let found = operation.percentiles.iter().find(|(name, _)| name == share);
        cells.push_str(&format!(" {:>9}", found.map_or("-", |(_, time)| time)));
    }
    let max = operation.max_us.as_deref().unwrap_or("-");
    text.push_str(&format!("{cells} {max:>10}\n"));
}

/// Returns a mean with two decimals. Java prints up to 17 digits.
fn short(mean: &str) -> String {
    let number = mean.parse::<f64>();
    number.map_or_else(|_| mean.to_owned(), |mean| format!("{mean:.2}"))
}
