//! The table of the scripts of 1.x to 4.0: reads with queue time ("trans") and without ("device") side by side.
//!
//! Source: aerospike/act e1bc5c4, latency_calc/act_latency.py and act_latency_w.py.

use drivetest_logs::act::blocks::histogram::Tally;
use drivetest_logs::act::run::Run;
use drivetest_logs::act::semantics::Role;
use drivetest_logs::act::slices::Slice;
use drivetest_logs::finding::rule;

use super::table::{Cell, Column, Figures, Table};

/// Returns the columns of the reads, or of the writes.
pub fn old_columns(run: &Run, writes: bool) -> Vec<Column> {
    let (trans, device) = match writes {
        true => (Role::Writes, Role::DeviceWrites),
        false => (Role::Reads, Role::DeviceReads),
    };
    let column = |(name, role): (&str, Role)| Column {
        name: name.to_owned(),
        ordinal: ordinal(run, role),
    };
    [("trans", trans), ("device", device)].map(column).into()
}

/// Returns the index of the histogram with a role. None if no block has it.
fn ordinal(run: &Run, role: Role) -> Option<usize> {
    let mut histograms = run.histograms.iter();
    let found = histograms.find(|histogram| histogram.meaning.role == role);
    found.map(|histogram| histogram.ordinal)
}

/// Returns the thresholds in units. What is above bucket b of 1.x is above 2^(b+1), which its script labels 2^b.
pub fn thresholds(run: &Run, buckets: &[u32]) -> Vec<u64> {
    let more = u32::from(has_old_buckets(run));
    buckets.iter().map(|bucket| 1 << (bucket + more)).collect()
}

/// A table to print.
pub struct OldTable<'a> {
    /// The run.
    pub run: &'a Run,
    /// The table without rates, in the form of later scripts.
    pub table: &'a Table<'a>,
    /// Whether slices show their rates.
    pub with_rates: bool,
}

impl OldTable<'_> {
    /// Returns the four lines above the figures.
    pub fn heading(&self) -> String {
        let heading = self.table.heading();
        let lines = heading.lines().map(|line| format!("{}\n", line.trim_end()));
        lines.collect()
    }

    /// Returns the slices, their averages and maxima. None if no slice can be read.
    pub fn body(&self, figures: &Figures) -> Option<String> {
        let rows = self.run.slices.iter().zip(&figures.rows);
        let known = rows.filter(|(_, row)| row.iter().all(Option::is_some));
        let lines = known.map(|(slice, row)| {
            let rates = Some(slice).filter(|_| self.with_rates);
            let rates = rates.map_or_else(String::new, |slice| self.rates(slice));
            format!("{}{rates}\n", self.table.line(&slice.number.to_string(), row))
        });
        let lines: String = lines.collect();
        (!lines.is_empty()).then(|| lines + &self.table.totals(figures))
    }

    /// Returns the figures of the slices, with a rate at the end of each column. The table omits slices without
    /// figures.
    pub fn figures(&self) -> Figures {
        let row = |slice: &Slice| -> Vec<Cell> {
            let columns = self.table.columns.iter();
            let cells = columns.map(|column| Some(self.cell(slice.tally(column.ordinal?)?)));
            let cells: Vec<Cell> = cells.collect();
            match cells.iter().all(Option::is_some) {
                true => cells,
                false => vec![None; cells.len()],
            }
        };
        Figures::of(self.run.slices.iter().map(row).collect())
    }

    /// Returns the percentages above each bucket, added as the script does, and the rate. The script omits buckets 17
    /// and above, which are counted here.
    fn cell(&self, tally: &Tally) -> Vec<f64> {
        let total = tally.ops_count().max(1) as f64;
        let over = |bucket: &u32| {
            let counts = tally.counts().iter().skip(*bucket as usize + 1);
            let over = counts.fold(0.0, |sum, &count| sum + count as f64 / total * 100.0);
            self.table.rounding.round(over, 2)
        };
        self.table
            .buckets
            .iter()
            .map(over)
            .chain([self.rate(tally)])
            .collect()
    }

    fn rate(&self, tally: &Tally) -> f64 {
        let Table {
            rounding,
            slice_length_s,
            ..
        } = self.table;
        rounding.round(tally.ops_count() as f64 / *slice_length_s as f64, 1)
    }

    fn rates(&self, slice: &Slice) -> String {
        let rate = |ordinal: Option<usize>| {
            let tally = ordinal.and_then(|ordinal| slice.tally(ordinal));
            tally.map_or("-".to_owned(), |tally| format!("{:.1}", self.rate(tally)))
        };
        let large_blocks = [Role::LargeBlockReads, Role::LargeBlockWrites];
        let large_blocks = large_blocks.map(|role| rate(ordinal(self.run, role)));
        format!(
            "   [{}, {}]",
            rate(self.table.columns[0].ordinal),
            large_blocks.join(", ")
        )
    }
}

/// Returns whether a run has the buckets of 1.x.
pub fn has_old_buckets(run: &Run) -> bool {
    let mut ids = run.findings.iter().map(|finding| finding.id);
    ids.any(|id| id == rule::OLD_BUCKETS.id)
}
