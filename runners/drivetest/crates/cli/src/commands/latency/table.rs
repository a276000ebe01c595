//! The table: percentages above thresholds by slice, their averages and maxima.

use std::fmt::Write;

use drivetest_logs::act::blocks::histogram::{Tally, Unit};
use drivetest_logs::act::slices::Slice;
use drivetest_logs::judge::share::Share;

use super::rounding::Rounding;

const GAP: &str = "  ";

/// The width of a threshold's column and of the rate's, characters.
const THRESHOLD_CHARS: usize = 7;
const RATE_CHARS: usize = 11;

/// One histogram of the table.
pub struct Column {
    /// The name as requested.
    pub name: String,
    /// Its index among the run's histograms. None if no block has it.
    pub ordinal: Option<usize>,
}

/// A table to print.
pub struct Table<'a> {
    /// The unit of the thresholds.
    pub unit: Unit,
    /// The buckets: the figures are the shares above them.
    pub buckets: &'a [u32],
    /// The thresholds that label the buckets, in units.
    pub thresholds: Vec<u64>,
    /// The histograms.
    pub columns: &'a [Column],
    /// Whether each histogram shows its rate.
    pub with_rate: bool,
    /// The length of a slice.
    pub slice_length_s: u64,
    /// The rounding of the script of that version.
    pub rounding: Rounding,
}

/// The figures of a slice in one column: a percentage for each threshold, then the rate. None if the slice is damaged.
pub type Cell = Option<Vec<f64>>;

/// The figures of a table, by column.
pub struct Figures {
    /// The figures of each slice.
    pub rows: Vec<Vec<Cell>>,
    /// The means of the slices.
    pub average: Vec<Cell>,
    /// The maxima of the slices.
    pub maximum: Vec<Cell>,
}

impl Figures {
    /// Adds the averages and the maxima of rows.
    pub fn of(rows: Vec<Vec<Cell>>) -> Self {
        let columns = |fold: fn(&[&[f64]]) -> Vec<f64>| -> Vec<Cell> {
            let folded = |at: usize| {
                let known: Vec<&[f64]> = rows.iter().filter_map(|row| row[at].as_deref()).collect();
                (!known.is_empty()).then(|| fold(&known))
            };
            (0..rows.first().map_or(0, Vec::len)).map(folded).collect()
        };
        let (average, maximum) = (columns(average), columns(maximum));
        Self {
            rows,
            average,
            maximum,
        }
    }
}

impl Table<'_> {
    /// Returns the four lines above the figures.
    pub fn heading(&self) -> String {
        let labels: String = self
            .thresholds
            .iter()
            .map(|label| format!("{label:>7}"))
            .collect();
        let rate = if self.with_rate { "       rate" } else { "" };
        let labels = labels + rate;
        let [mut names, mut units] = ["     ", "     "].map(str::to_owned);
        let mut thresholds = "slice".to_owned();
        let width = labels.len();
        for (at, column) in self.columns.iter().enumerate() {
            let pad = self.pad(at);
            names.push_str(&format!("{GAP} {:<width$}", column.name, width = width - 1));
            let unit = format!(" %>({})", self.unit.name());
            units.push_str(&format!("{GAP}{pad}{unit:<width$}"));
            thresholds.push_str(&format!("{GAP}{pad}{labels}"));
        }
        format!("{names}\n{units}\n{thresholds}\n{}\n", self.underline())
    }

    /// Returns the figures of slices.
    pub fn figures(&self, slices: &[Slice]) -> Figures {
        Figures::of(slices.iter().map(|slice| self.row(slice)).collect())
    }

    /// Returns the lines of slices, their averages and maxima. None without slices or histograms.
    pub fn body(&self, slices: &[Slice], figures: &Figures) -> Option<String> {
        if slices.is_empty() || self.columns.iter().all(|column| column.ordinal.is_none()) {
            return None;
        }
        let rows = slices.iter().zip(&figures.rows);
        let lines = rows.map(|(slice, row)| self.line(&slice.number.to_string(), row) + "\n");
        Some(lines.collect::<String>() + &self.totals(figures))
    }

    /// Returns the lines below the slices: averages and maxima.
    pub fn totals(&self, figures: &Figures) -> String {
        let lines = [
            self.underline(),
            self.line("avg", &figures.average),
            self.line("max", &figures.maximum),
        ];
        lines.join("\n") + "\n"
    }

    fn width(&self) -> usize {
        self.buckets.len() * THRESHOLD_CHARS + if self.with_rate { RATE_CHARS } else { 0 }
    }

    /// Returns the padding before a column. A name wider than its column moves the next column to the right.
    fn pad(&self, at: usize) -> String {
        let before = at.checked_sub(1).map(|before| &self.columns[before]);
        let before = before.map_or(0, |column| 1 + column.name.chars().count());
        " ".repeat(before.saturating_sub(self.width()))
    }

    fn underline(&self) -> String {
        let rate = if self.with_rate { " ----------" } else { "" };
        let one = " ------".repeat(self.buckets.len()) + rate;
        let columns = (0..self.columns.len()).map(|at| format!("{GAP}{}{one}", self.pad(at)));
        std::iter::once("-----".to_owned()).chain(columns).collect()
    }

    fn row(&self, slice: &Slice) -> Vec<Cell> {
        let cell = |column: &Column| match column.ordinal {
            None => Some(vec![0.0; self.buckets.len() + 1]),
            Some(ordinal) => slice.tally(ordinal).map(|tally| self.cell(tally)),
        };
        self.columns.iter().map(cell).collect()
    }

    fn cell(&self, tally: &Tally) -> Vec<f64> {
        let ops_count = tally.ops_count();
        let share = |bucket: u32| Share {
            over_count: tally.over_count(bucket),
            ops_count,
        };
        let pct = |&bucket: &u32| self.rounding.round(share(bucket).pct(), 2);
        let per_s = ops_count as f64 / self.slice_length_s as f64;
        let rate = self.rounding.round(per_s, 1);
        self.buckets.iter().map(pct).chain([rate]).collect()
    }

    /// Returns a line without its line break.
    pub fn line(&self, name: &str, cells: &[Cell]) -> String {
        let mut text = format!("{name:>5}");
        let thresholds = (0..self.buckets.len()).map(|at| (at, THRESHOLD_CHARS, 2));
        let rate = self.with_rate.then_some((self.buckets.len(), RATE_CHARS, 1));
        let figures: Vec<_> = thresholds.chain(rate).collect();
        for (at, cell) in cells.iter().enumerate() {
            text.push_str(GAP);
            text.push_str(&self.pad(at));
            for &(figure, width, places) in &figures {
                push(&mut text, cell.as_ref().map(|cell| cell[figure]), width, places);
            }
        }
        text
    }
}

fn push(text: &mut String, value: Option<f64>, width: usize, places: usize) {
    let written = match value {
        Some(value) => write!(text, "{value:width$.places$}"),
        None => write!(text, "{:>width$}", "-"),
    };
    debug_assert!(written.is_ok(), "writing to a String cannot fail");
}

/// Returns the means of the rounded figures of rows, added in order, as in the script.
fn average(rows: &[&[f64]]) -> Vec<f64> {
    let count = rows.len() as f64;
    let sums = fold(rows, |sum, figure| sum + figure);
    sums.into_iter().map(|sum| sum / count).collect()
}

/// Returns the largest figures of rows.
fn maximum(rows: &[&[f64]]) -> Vec<f64> {
    fold(rows, f64::max)
}

fn fold(rows: &[&[f64]], step: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let figures = rows.first().map_or(0, |row| row.len());
    let folded = |at: usize| rows.iter().fold(0.0, |so_far, row| step(so_far, row[at]));
    (0..figures).map(folded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_of_the_rounded_figures() {
        assert_eq!(average(&[&[0.01, 10.0], &[0.02, 11.0]]), [0.015, 10.5]);
    }

    #[test]
    fn a_name_wider_than_its_column_moves_the_next() {
        let column = |name: &str| Column {
            name: name.to_owned(),
            ordinal: None,
        };
        let columns = [column("/dev/nvme0n1-reads"), column("reads")];
        let table = Table {
            unit: Unit::Us,
            buckets: &[0, 1],
            thresholds: vec![1, 2],
            columns: &columns,
            with_rate: false,
            slice_length_s: 1,
            rounding: Rounding::HalfEven,
        };
        let printed_by_upstream = "        /dev/nvme0n1-reads   reads        \n        %>(us)               \
                                   %>(us)       \nslice        1      2             1      2\n\
                                   -----   ------ ------        ------ ------\n";
        assert_eq!(table.heading(), printed_by_upstream);
    }
}
