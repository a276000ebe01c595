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
    /// The thresholds, as powers of two.
    pub powers: &'a [u32],
    /// The histograms.
    pub columns: &'a [Column],
    /// Whether each histogram shows its rate.
    pub with_rate: bool,
    /// The length of a slice.
    pub slice_length_s: u64,
    /// The rounding of the script of that version.
    pub rounding: Rounding,
}

/// The figures of one histogram in one slice: percentages above the thresholds, then the rate.
struct Cells {
    overs_pct: Vec<f64>,
    rate_per_s: f64,
}

/// A cell: zeros, as in the script, for a histogram that never appears; None in a damaged slice.
type Cell = Option<Cells>;

impl Table<'_> {
    /// Returns the four lines above the figures.
    pub fn heading(&self) -> String {
        let labels: String = self
            .powers
            .iter()
            .map(|&power| format!("{:>7}", 1_u64 << power))
            .collect();
        let rate = if self.with_rate { "       rate" } else { "" };
        let labels = labels + rate;
        let [mut names, mut units] = ["     ", "     "].map(str::to_owned);
        let mut thresholds = "slice".to_owned();
        let width = labels.len();
        for (at, column) in self.columns.iter().enumerate() {
            let pad = self.pad(at);
            names.push_str(&format!("{GAP} {:<width$}", column.name, width = width - 1));
            units.push_str(&format!(
                "{GAP}{pad}{:<width$}",
                format!(" %>({})", self.unit.name())
            ));
            thresholds.push_str(&format!("{GAP}{pad}{labels}"));
        }
        format!("{names}\n{units}\n{thresholds}\n{}\n", self.underline())
    }

    /// Returns the slices, their averages and maxima.
    pub fn body(&self, slices: &[Slice]) -> String {
        let rows: Vec<Vec<Cell>> = slices.iter().map(|slice| self.row(slice)).collect();
        let mut text = String::new();
        for (slice, row) in slices.iter().zip(&rows) {
            text.push_str(&self.line(&slice.number.to_string(), row));
        }
        text.push_str(&format!("{}\n", self.underline()));
        let columns = |fold: fn(&[&Cells]) -> Cells| -> Vec<Cell> {
            let known = |at: usize| {
                rows.iter()
                    .filter_map(move |row| row[at].as_ref())
                    .collect::<Vec<_>>()
            };
            let folded = |known: Vec<&Cells>| (!known.is_empty()).then(|| fold(&known));
            (0..self.columns.len()).map(|at| folded(known(at))).collect()
        };
        text.push_str(&self.line("avg", &columns(average)));
        text.push_str(&self.line("max", &columns(maximum)));
        text
    }

    fn width(&self) -> usize {
        self.powers.len() * THRESHOLD_CHARS + if self.with_rate { RATE_CHARS } else { 0 }
    }

    /// Returns the padding before a column. A name wider than its column moves the next column to the right.
    fn pad(&self, at: usize) -> String {
        let before = at
            .checked_sub(1)
            .map_or(0, |before| 1 + self.columns[before].name.chars().count());
        " ".repeat(before.saturating_sub(self.width()))
    }

    fn underline(&self) -> String {
        let rate = if self.with_rate { " ----------" } else { "" };
        let one = " ------".repeat(self.powers.len()) + rate;
        let columns = (0..self.columns.len()).map(|at| format!("{GAP}{}{one}", self.pad(at)));
        std::iter::once("-----".to_owned()).chain(columns).collect()
    }

    fn row(&self, slice: &Slice) -> Vec<Cell> {
        let cell = |column: &Column| match column.ordinal {
            None => Some(Cells {
                overs_pct: vec![0.0; self.powers.len()],
                rate_per_s: 0.0,
            }),
            Some(ordinal) => slice.tally(ordinal).map(|tally| self.cells(tally)),
        };
        self.columns.iter().map(cell).collect()
    }

    fn cells(&self, tally: &Tally) -> Cells {
        let ops_count = tally.ops_count();
        let share = |power: u32| Share {
            over_count: tally.over_count(power),
            ops_count,
        };
        let overs_pct = self
            .powers
            .iter()
            .map(|&power| self.rounding.round(share(power).pct(), 2))
            .collect();
        Cells {
            overs_pct,
            rate_per_s: self
                .rounding
                .round(ops_count as f64 / self.slice_length_s as f64, 1),
        }
    }

    fn line(&self, name: &str, cells: &[Cell]) -> String {
        let mut text = format!("{name:>5}");
        for (at, cell) in cells.iter().enumerate() {
            text.push_str(GAP);
            text.push_str(&self.pad(at));
            for threshold in 0..self.powers.len() {
                push(
                    &mut text,
                    cell.as_ref().map(|cells| cells.overs_pct[threshold]),
                    THRESHOLD_CHARS,
                    2,
                );
            }
            if self.with_rate {
                push(
                    &mut text,
                    cell.as_ref().map(|cells| cells.rate_per_s),
                    RATE_CHARS,
                    1,
                );
            }
        }
        text.push('\n');
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

/// Returns the mean of the rounded figures, added in order, as in the script.
fn average(cells: &[&Cells]) -> Cells {
    let count = cells.len() as f64;
    fold(cells, |sum, value| sum + value, |sum| sum / count)
}

fn maximum(cells: &[&Cells]) -> Cells {
    fold(cells, f64::max, |most| most)
}

fn fold(cells: &[&Cells], step: impl Fn(f64, f64) -> f64, end: impl Fn(f64) -> f64) -> Cells {
    let thresholds = cells.first().map_or(0, |cells| cells.overs_pct.len());
    let folded = |figures: &dyn Fn(&Cells) -> f64| {
        end(cells
            .iter()
            .fold(0.0, |so_far, cells| step(so_far, figures(cells))))
    };
    Cells {
        overs_pct: (0..thresholds)
            .map(|at| folded(&|cells| cells.overs_pct[at]))
            .collect(),
        rate_per_s: folded(&|cells| cells.rate_per_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(over_pct: f64, rate_per_s: f64) -> Cells {
        Cells {
            overs_pct: vec![over_pct],
            rate_per_s,
        }
    }

    #[test]
    fn averages_are_of_the_rounded_figures() {
        let mean = average(&[&cells(0.01, 10.0), &cells(0.02, 11.0)]);
        assert_eq!((mean.overs_pct[0], mean.rate_per_s), (0.015, 10.5));
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
            powers: &[0, 1],
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
