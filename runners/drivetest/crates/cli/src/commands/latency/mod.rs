//! `drivetest latency`: the slice table of act_latency.py for the log's version. Equal byte for byte where that script is
//! correct; standard error says where the two differ.
//!
//! Source: aerospike/act 5.0 to 6.6, analysis/act_latency.py; before 5.0 latency_calc/act_latency.py.

mod document;
mod heading;
mod old_table;
mod rounding;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ArgAction;
use drivetest_logs::act::grammar::family::Family;
use drivetest_logs::act::run::{Histogram, Run};
use drivetest_logs::act::slices::Slice;
use drivetest_logs::act::stop::StopKind;
use drivetest_logs::finding::{Finding, Severity, rule};
use drivetest_logs::read_error::ReadError;
use drivetest_logs::reader::{Options, Reading};
use serde_json::Value;

use crate::commands::latency::document::{NoTable, document, with_table};
use crate::commands::latency::heading::{Missing, heading, old_heading};
use crate::commands::latency::old_table::{OldTable, old_columns, thresholds};
use crate::commands::latency::rounding::Rounding;
use crate::commands::latency::table::{Column, Table};
use crate::input::limits::CONTENT_LIMIT_BYTES;
use crate::input::read_log::LogFileReader;
use crate::output::{EXIT_ERROR, print_and_exit, print_diagnostic, print_json};

/// Number of thresholds in act_latency.py: 1 to 65536 units.
const EDGES_COUNT: usize = 17;

/// Arguments of `latency`. `-h` is a histogram, as in act_latency.py, so help is only `--help`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Print this help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    /// Log to analyse: the output of act, act_storage, act_index or drivetest; `-` reads standard input
    #[arg(value_name = "LOG", required_unless_present = "log")]
    named: Option<PathBuf>,
    /// Log to analyse, given by the option of act_latency.py instead of the argument LOG
    #[arg(short = 'l', long, conflicts_with = "named")]
    log: Option<PathBuf>,
    /// Name of a histogram to analyse; repeat -h for several [default: the histograms that act_latency.py analyses for the
    /// log's version]
    #[arg(short = 'h', long = "histogram", value_name = "HIST")]
    histograms: Vec<String>,
    /// Length of a slice in seconds
    #[arg(short = 't', long, value_name = "SEC", default_value_t = 3600,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    slice: u64,
    /// First threshold to show, as a power of two: 0 means 1 unit of the log, 3 means 8 units
    #[arg(short = 's', long = "start_bucket", value_name = "START", default_value_t = 0,
          value_parser = clap::value_parser!(u8).range(0..EDGES_COUNT as i64))]
    start: u8,
    /// Number of thresholds to show
    #[arg(short = 'n', long = "num_buckets", value_name = "THRESHOLDS", default_value_t = 7,
          value_parser = clap::value_parser!(u16).range(1..))]
    thresholds: u16,
    /// Step between the shown thresholds: 1 shows every power of two, 3 shows every third
    #[arg(short = 'e', long = "every_nth", value_name = "EVERY", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..))]
    every: u16,
    /// Also show the operations per second of each slice
    #[arg(short = 'x', long)]
    extra: bool,
    /// Analyse the writes instead of the reads, as act_latency_w.py of ACT 3.1 and 4.0 does
    #[arg(short = 'w', long, conflicts_with = "histograms")]
    writes: bool,
    /// Print one line of JSON instead of the tables, as docs/reference/formats.md describes
    #[arg(long)]
    json: bool,
}

/// Returns why a log has no table: it cannot be read, or it is not from ACT.
fn refusal(reading: &Reading) -> Option<ReadError> {
    let is_ycsb = || ReadError {
        id: "not-an-act-log",
        sentence: "expected an ACT log, got a YCSB output; use drivetest read".to_owned(),
        line: None,
        expected: "an ACT log",
        got: "a YCSB output".to_owned(),
        remedy: "use drivetest read",
    };
    let error = reading.error.clone();
    error.or_else(|| reading.runs.is_empty().then(is_ycsb))
}

/// Suggests a slice length if the run is shorter than one slice.
fn hint(path: &Path, run: &Run) {
    let (path, reached_s) = (path.display(), run.reached_s);
    if let Some(length_s) = run
        .slice_length_s
        .filter(|_| run.slices.is_empty() && reached_s > 0)
    {
        print_diagnostic(&format_args!(
            "{path}: the run has {reached_s} s, a slice {length_s} s; choose shorter slices, such as -t {reached_s}"
        ));
    }
}

impl Args {
    /// Runs the command.
    pub fn run(self) -> ExitCode {
        // clap requires one of them.
        let path = self
            .named
            .clone()
            .or_else(|| self.log.clone())
            .unwrap_or_default();
        let typed = std::env::args_os().skip(2);
        let typed: Vec<String> = typed.map(|arg| arg.to_string_lossy().into_owned()).collect();
        let echo = format!("act_latency.py {}\n", typed.join(" "));
        let log = LogFileReader::plain(Options { slice_s: self.slice }, CONTENT_LIMIT_BYTES).read(&path);
        if let Some(error) = refusal(&log.reading) {
            print_diagnostic(&format_args!("{}: {}", path.display(), error.sentence));
            return match self.json {
                true => print_json(&document(&path, Some(&error), &[]), EXIT_ERROR),
                false => print_and_exit(&echo, EXIT_ERROR),
            };
        }
        let is_first_old = log.reading.runs.first().is_some_and(|run| self.is_old(run));
        let mut text = if is_first_old { String::new() } else { echo };
        let (mut documents, mut has_all) = (Vec::new(), true);
        for run in &log.reading.runs {
            if run.ordinal > 0 {
                text.push('\n');
            }
            let table = self.add_run(&path, run, &mut text);
            has_all &= table.is_ok();
            documents.push(table.unwrap_or_else(|absence| absence.document(run)));
            hint(&path, run);
        }
        print_differences(&path, &log.reading);
        let code = if has_all { 0 } else { EXIT_ERROR };
        match self.json {
            true => print_json(&document(&path, None, &documents), code),
            false => print_and_exit(&text, code),
        }
    }

    /// Adds the table of a run to the text, and returns it as a document; an error if the log has none.
    fn add_run(&self, path: &Path, run: &Run, text: &mut String) -> Result<Value, NoTable> {
        let is_old = self.is_old(run);
        let heading = match is_old {
            true => old_heading(run, self.slice, self.writes),
            false => heading(path, run, self.slice),
        };
        text.push_str(&heading.text);
        let slice_length_s = match heading.slice_length_s {
            Ok(slice_length_s) => slice_length_s,
            Err(missing) => {
                return Err(NoTable {
                    missing,
                    slice_length_s: None,
                });
            }
        };
        let buckets = self.buckets();
        let (columns, thresholds) = match is_old {
            true => (old_columns(run, self.writes), thresholds(run, &buckets)),
            false => (
                self.columns(run),
                buckets.iter().map(|power| 1 << power).collect(),
            ),
        };
        let table = Table {
            unit: run.unit,
            buckets: &buckets,
            thresholds,
            columns: &columns,
            with_rate: self.extra && !is_old,
            slice_length_s,
            rounding: Rounding::of(run),
        };
        let (heading, figures, body) = if is_old {
            let table = OldTable {
                run,
                table: &table,
                with_rates: self.extra,
            };
            let figures = table.figures();
            let body = table.body(&figures);
            (table.heading(), figures, body)
        } else {
            print_column_warnings(&columns, run);
            let figures = table.figures(&run.slices);
            let body = table.body(&run.slices, &figures);
            (table.heading(), figures, body)
        };
        text.push_str(&heading);
        let Some(body) = body else {
            text.push_str(&format!("could not find {slice_length_s} seconds of data\n"));
            return Err(NoTable {
                missing: Missing::Slices,
                slice_length_s: Some(slice_length_s),
            });
        };
        text.push_str(&body);
        Ok(with_table(run, &table, &figures))
    }

    /// Returns whether the scripts of 1.x to 4.0 apply, which accept no names and do not echo their arguments.
    fn is_old(&self, run: &Run) -> bool {
        run.origin.family == Some(Family::A) && self.histograms.is_empty()
    }

    /// Returns the default histograms of the script for the log's version.
    fn default_histograms(&self, run: &Run) -> Vec<String> {
        let names: &[&str] = match (run.origin.family, run.origin.workload, self.writes) {
            (Some(Family::B), "act-index", true) => &["device-writes"],
            (Some(Family::B), "act-index", false) => &["trans-reads", "device-reads"],
            (Some(Family::B), _, true) => &["writes", "device-writes"],
            (Some(Family::B), _, false) => &["reads", "device-reads"],
            (_, _, true) => &["writes"],
            (_, _, false) => &["reads"],
        };
        names.iter().map(|&name| name.to_owned()).collect()
    }

    /// Returns the columns. The k-th use of a name means the k-th histogram with that name.
    fn columns(&self, run: &Run) -> Vec<Column> {
        let requested = match self.histograms.is_empty() {
            true => self.default_histograms(run),
            false => self.histograms.clone(),
        };
        let column = |(at, name): (usize, &String)| {
            let earlier_uses = requested[..at].iter().filter(|earlier| *earlier == name).count();
            let namesakes = run.histograms.iter().filter(|histogram| histogram.name == *name);
            Column {
                name: name.clone(),
                ordinal: namesakes.map(|histogram| histogram.ordinal).nth(earlier_uses),
            }
        };
        requested.iter().enumerate().map(column).collect()
    }

    fn buckets(&self) -> Vec<u32> {
        let all = (u32::from(self.start)..EDGES_COUNT as u32).step_by(usize::from(self.every));
        all.take(usize::from(self.thresholds)).collect()
    }
}

/// Prints the findings of the log, and where the table of act_latency.py differs.
fn print_differences(log: &Path, reading: &Reading) {
    let log = log.display();
    let runs = reading.runs.iter().flat_map(|run| &run.findings);
    let findings = runs
        .chain(&reading.findings)
        .filter(|finding| finding.severity != Severity::Note)
        // The type of the devices does not affect the table.
        .filter(|finding| finding.id != rule::DEVICE_VIRTUAL.id);
    for finding in findings {
        let line = finding.line.map_or_else(String::new, |line| format!("{line}: "));
        print_diagnostic(&format_args!("{log}:{line}{}", finding.sentence));
    }
    for sentence in reading.runs.iter().flat_map(differences) {
        print_diagnostic(&format_args!("{log}: {sentence}"));
    }
    if reading.runs.len() > 1 {
        print_diagnostic(&format_args!("{log}: act_latency.py prints only the first run"));
    }
}

/// Prints warnings about the requested histograms.
fn print_column_warnings(columns: &[Column], run: &Run) {
    for (at, Column { name, ordinal }) in columns.iter().enumerate() {
        let is_damaged = |slice: &Slice| ordinal.is_some_and(|ordinal| slice.tally(ordinal).is_none());
        let warning = if ordinal.is_none() {
            "no block has this histogram; its zeros are meaningless"
        } else if columns[..at].iter().any(|earlier| earlier.name == *name) {
            "act_latency.py cannot distinguish two histograms with the same name"
        } else if run.slices.iter().any(is_damaged) {
            "act_latency.py repeats older figures in damaged slices"
        } else {
            continue;
        };
        print_diagnostic(&format_args!("{name}: {warning}"));
    }
}

fn differences(run: &Run) -> Vec<&'static str> {
    let has = |id: &str| run.findings.iter().any(|finding: &Finding| finding.id == id);
    let differences = [
        has(rule::SLICE_MISSING.id).then_some("act_latency.py stops at the first slice that cannot be read"),
        has(rule::NOISE_INSIDE_BLOCK.id)
            .then_some("act_latency.py may lose buckets after other lines inside a block"),
        has(rule::OLD_BUCKETS.id).then_some("act_latency.py of 1.x prints half of each threshold"),
        loses_slow(run).then_some("act_latency.py of this version omits buckets 17 and above"),
        (run.stop.kind == StopKind::Cut).then_some("act_latency.py treats a truncated block as complete"),
    ];
    differences.into_iter().flatten().collect()
}

/// Returns whether a script that adds the percentages of its 17 buckets loses operations of the run.
fn loses_slow(run: &Run) -> bool {
    let has_more = |histogram: &Histogram| histogram.tally.counts().len() > EDGES_COUNT;
    run.origin.family == Some(Family::A) && run.histograms.iter().any(has_more)
}
