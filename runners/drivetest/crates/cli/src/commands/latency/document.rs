//! The table as JSON: `drivecert.latency/1`, with the rounded figures of the text.

use drivetest_logs::act::blocks::histogram::Unit;
use drivetest_logs::act::run::Run;
use drivetest_logs::read_error::ReadError;
use serde::Serialize;

use super::heading::Missing;
use super::table::{Cell, Figures};

/// The document of a log.
#[derive(Serialize)]
pub struct Document<'a> {
    schema: &'static str,
    log: String,
    error: Option<&'a ReadError>,
    runs: Vec<RunDocument>,
}

impl<'a> Document<'a> {
    /// Creates the document of a log with its runs, or with the reason why it cannot be read.
    pub fn new(log: String, error: Option<&'a ReadError>, runs: Vec<RunDocument>) -> Self {
        Self {
            schema: "drivecert.latency/1",
            log,
            error,
            runs,
        }
    }
}

/// The table of a run.
#[derive(Serialize)]
pub struct RunDocument {
    ordinal: usize,
    unit: Unit,
    slice_length_s: Option<u64>,
    thresholds: Vec<u64>,
    missing: Option<Missing>,
    columns: Vec<ColumnDocument>,
    slices: Vec<SliceDocument>,
    average: Vec<Option<CellDocument>>,
    maximum: Vec<Option<CellDocument>>,
}

#[derive(Serialize)]
struct ColumnDocument {
    name: String,
    /// Index among the run's histograms. None if no block has it.
    histogram: Option<usize>,
}

#[derive(Serialize)]
struct SliceDocument {
    number: u64,
    start_s: u64,
    end_s: u64,
    columns: Vec<Option<CellDocument>>,
}

#[derive(Serialize)]
struct CellDocument {
    over_pct: Vec<String>,
    per_s: String,
}

impl RunDocument {
    /// Creates the document of a run without a table.
    pub fn without_table(run: &Run, slice_length_s: Option<u64>, missing: Missing) -> Self {
        Self {
            ordinal: run.ordinal,
            unit: run.unit,
            slice_length_s,
            thresholds: Vec::new(),
            missing: Some(missing),
            columns: Vec::new(),
            slices: Vec::new(),
            average: Vec::new(),
            maximum: Vec::new(),
        }
    }

    /// Creates the document of a table with named histograms.
    pub fn of(
        run: &Run,
        slice_length_s: u64,
        thresholds: Vec<u64>,
        columns: impl Iterator<Item = (String, Option<usize>)>,
        figures: Figures,
    ) -> Self {
        let slice = |(slice, cells): (&drivetest_logs::act::slices::Slice, Vec<Cell>)| SliceDocument {
            number: slice.number,
            start_s: slice.start_s,
            end_s: slice.end_s,
            columns: documents(cells),
        };
        Self {
            ordinal: run.ordinal,
            unit: run.unit,
            slice_length_s: Some(slice_length_s),
            thresholds,
            missing: None,
            columns: columns
                .map(|(name, histogram)| ColumnDocument { name, histogram })
                .collect(),
            slices: run.slices.iter().zip(figures.rows).map(slice).collect(),
            average: documents(figures.average),
            maximum: documents(figures.maximum),
        }
    }

    /// Returns whether the run has a table.
    pub fn has_table(&self) -> bool {
        self.missing.is_none()
    }
}

fn documents(cells: Vec<Cell>) -> Vec<Option<CellDocument>> {
    let document = |figures: Vec<f64>| {
        let (per_s, over_pct) = figures.split_last()?;
        Some(CellDocument {
            over_pct: over_pct.iter().map(|pct| format!("{pct:.2}")).collect(),
            per_s: format!("{per_s:.1}"),
        })
    };
    cells.into_iter().map(|cell| cell.and_then(document)).collect()
}
