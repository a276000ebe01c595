//! The table as JSON: `drivecert.latency/1`, with the rounded figures of the text.

use std::path::Path;

use drivetest_logs::act::run::Run;
use drivetest_logs::act::slices::Slice;
use drivetest_logs::read_error::ReadError;
use serde_json::{Value, json};

use super::heading::Missing;
use super::table::{Cell, Figures, Table};

/// Returns the document of a log with its runs, or with the reason why it cannot be read.
pub fn document(log: &Path, error: Option<&ReadError>, runs: &[Value]) -> Value {
    let log = log.display().to_string();
    json!({"schema": "drivecert.latency/1", "log": log, "error": error, "runs": runs})
}

/// A run without a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTable {
    /// The part that the log lacks.
    pub missing: Missing,
    /// The length of a slice, if the log lacks only slices.
    pub slice_length_s: Option<u64>,
}

impl NoTable {
    /// Returns the run as a document without figures.
    pub fn document(self, run: &Run) -> Value {
        json!({
            "ordinal": run.ordinal, "unit": run.unit, "slice_length_s": self.slice_length_s, "thresholds": [],
            "missing": self.missing, "columns": [], "slices": [], "average": [], "maximum": [],
        })
    }
}

/// Returns a run with the figures of its table. A column has the index of its histogram, or null if no block has it.
pub fn with_table(run: &Run, table: &Table, figures: &Figures) -> Value {
    let columns = table.columns.iter();
    let columns = columns.map(|column| json!({"name": column.name, "histogram": column.ordinal}));
    let slice = |(slice, row): (&Slice, &Vec<Cell>)| {
        let Slice {
            number,
            start_s,
            end_s,
            ..
        } = slice;
        json!({"number": number, "start_s": start_s, "end_s": end_s, "columns": cells(row)})
    };
    let slices = run.slices.iter().zip(&figures.rows).map(slice);
    json!({
        "ordinal": run.ordinal, "unit": run.unit, "slice_length_s": table.slice_length_s,
        "thresholds": table.thresholds, "missing": null, "columns": columns.collect::<Vec<_>>(),
        "slices": slices.collect::<Vec<_>>(), "average": cells(&figures.average), "maximum": cells(&figures.maximum),
    })
}

fn cells(cells: &[Cell]) -> Vec<Option<Value>> {
    let cell = |figures: &Vec<f64>| {
        let (per_s, over_pct) = figures.split_last()?;
        let over_pct: Vec<String> = over_pct.iter().map(|pct| format!("{pct:.2}")).collect();
        Some(json!({"over_pct": over_pct, "per_s": format!("{per_s:.1}")}))
    };
    cells
        .iter()
        .map(|figures| figures.as_ref().and_then(cell))
        .collect()
}
