//! What only YCSB prints about a run: its rows, by metric, and the lines of its client.

use crate::ycsb::command::Command;
use crate::ycsb::common::number;
use crate::ycsb::fragment::{self, Dialect, Message, Place};
use crate::ycsb::java::build_run;
use crate::ycsb::java::row::Row;
use crate::ycsb::join;
use crate::ycsb::rules;
use crate::ycsb::run::Run;
use crate::ycsb::settings::ConfigFile;

/// Maximum number of stored metrics of a run; real runs have a few dozen.
const METRICS_MAX: usize = 256;

/// Maximum number of stored rows of a metric, without those named by numbers.
const NAMED_ROWS_MAX: usize = 512;

/// A row whose measurement has a name.
#[derive(Clone, Debug)]
pub struct NamedRow {
    /// As printed.
    pub measurement: String,
    /// As printed.
    pub value: String,
    /// Where.
    pub place: Place,
}

/// A row named by a number.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The number.
    pub key: u64,
    /// Whether the count is beyond the number (`>1000`).
    pub is_beyond: bool,
    /// As printed.
    pub value: Box<str>,
}

/// The rows of one metric.
#[derive(Clone, Debug)]
pub struct MetricRows {
    /// As printed.
    pub name: String,
    /// Place of its first row.
    pub place: Place,
    /// Rows with names.
    pub named: Vec<NamedRow>,
    /// Rows with numbers.
    pub cells: Vec<Cell>,
}

/// What only YCSB prints about a run.
#[derive(Debug, Default)]
pub struct Java {
    /// The command line that YCSB printed.
    pub command: Option<Command>,
    /// Version in the banner.
    pub version: Option<String>,
    /// `Loading workload...` was seen.
    pub has_loaded: bool,
    /// The rows, by metric in their order.
    pub metrics: Vec<MetricRows>,
    /// Number of rows, including those that are not stored.
    pub rows_count: u64,
    /// Elapsed seconds and operations of the last status line.
    pub progress: Option<(u64, u64)>,
    /// `Maximum execution time specified as: N secs`.
    pub limit_s: Option<u64>,
    /// `Maximum time elapsed. ...`.
    pub limit_hit: Option<Place>,
    /// `Couldn't read hdrhistogram.percentiles value ...`.
    pub percentiles_fell_back: Option<Message>,
    /// `Could not find exporter ...`.
    pub exporter_fell_back: Option<Message>,
}

/// Content of one file about one YCSB run.
pub type Fragment = fragment::Fragment<Java>;

impl Dialect for Java {
    fn commands(script: &str) -> Vec<Command> {
        Command::of_script(script)
    }

    fn absorb(&mut self, other: Self) -> bool {
        self.command = self.command.take().or(other.command);
        self.version = self.version.take().or(other.version);
        self.has_loaded |= other.has_loaded;
        self.limit_s = self.limit_s.or(other.limit_s);
        self.limit_hit = self.limit_hit.take().or(other.limit_hit);
        self.percentiles_fell_back = self.percentiles_fell_back.take().or(other.percentiles_fell_back);
        self.exporter_fell_back = self.exporter_fell_back.take().or(other.exporter_fell_back);
        let has_no_rows = self.metrics.is_empty();
        if has_no_rows {
            (self.metrics, self.rows_count) = (other.metrics, other.rows_count);
        }
        has_no_rows
    }

    fn join_streams(fragments: &mut Vec<Fragment>) {
        join::streams_in_one_file(fragments);
    }

    fn run(fragment: Fragment, configs: &[ConfigFile]) -> Run {
        build_run::run(fragment, configs)
    }
}

impl Java {
    /// Return the rows of a metric.
    pub fn metric(&self, name: &str) -> Option<&MetricRows> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

impl Fragment {
    /// Read a row; report it if the memory budget is used up.
    pub fn take_row(&mut self, row: Row<'_>, line: u64, rows_left: &mut usize) {
        self.own.rows_count += 1;
        let Some(left) = rows_left.checked_sub(1) else {
            return self.report_full_budget(line);
        };
        *rows_left = left;
        let place = self.span.place(line);
        let metrics = &mut self.own.metrics;
        let known = metrics.iter().position(|metric| metric.name == row.metric);
        let at = known.unwrap_or(metrics.len());
        if at >= METRICS_MAX {
            return self.report_full_budget(line);
        }
        if known.is_none() {
            metrics.push(MetricRows {
                name: row.metric.to_owned(),
                place: place.clone(),
                named: Vec::new(),
                cells: Vec::new(),
            });
        }
        match cell(row) {
            Some(cell) => self.own.metrics[at].cells.push(cell),
            None => self.take_named(at, row, place),
        }
    }

    fn take_named(&mut self, at: usize, row: Row<'_>, place: Place) {
        let named = &mut self.own.metrics[at].named;
        if let Some(same) = named.iter().find(|known| known.measurement == row.measurement) {
            let sentence = format!("[{}], {} occurs twice", row.metric, row.measurement);
            let values = format!("{sentence}: {} and {}", same.value, row.value);
            return self.span.findings.add(match same.value == row.value {
                true => place.finding(&rules::ROW_REPEATED, &sentence),
                false => place.finding(&rules::ROWS_CONFLICT, &values),
            });
        }
        if named.len() >= NAMED_ROWS_MAX {
            return self.report_full_budget(place.line);
        }
        named.push(NamedRow {
            measurement: row.measurement.to_owned(),
            value: row.value.to_owned(),
            place,
        });
    }

    fn report_full_budget(&mut self, line: u64) {
        let sentence = "too many rows: this one and similar ones are ignored";
        self.span.report(&rules::TOO_MANY_ROWS, line, sentence);
    }
}

fn cell(row: Row<'_>) -> Option<Cell> {
    let beyond = row.measurement.strip_prefix('>');
    Some(Cell {
        key: number::whole(beyond.unwrap_or(row.measurement))?,
        is_beyond: beyond.is_some(),
        value: row.value.into(),
    })
}
