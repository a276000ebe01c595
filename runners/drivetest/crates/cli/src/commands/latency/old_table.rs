//! The table of the scripts of 1.x to 4.0: reads with queue time ("trans") and without ("device") side by side.
//!
//! Source: aerospike/act e1bc5c4, latency_calc/act_latency.py and act_latency_w.py.

use drivetest_logs::act::blocks::histogram::Tally;
use drivetest_logs::act::run::Run;
use drivetest_logs::act::semantics::Role;
use drivetest_logs::act::slices::Slice;
use drivetest_logs::finding::rule;

use super::rounding::Rounding;
use super::table::{Cell, Figures, average, maximum};

const GAP: &str = "  ";
const PREFIX: &str = "slice";

/// The width of a threshold's column, characters.
const THRESHOLD_CHARS: usize = 7;

/// The four histograms of a slice line, as ordinals. None if no block has one.
pub struct Sources {
    /// Requests with their queue time.
    pub trans: Option<usize>,
    /// Requests of the device.
    pub device: Option<usize>,
    large_block_reads: Option<usize>,
    large_block_writes: Option<usize>,
}

impl Sources {
    /// Returns the histograms of the reads, or of the writes.
    pub fn of(run: &Run, writes: bool) -> Self {
        let ordinal = |role: Role| {
            let found = run
                .histograms
                .iter()
                .find(|histogram| histogram.meaning.role == role);
            found.map(|histogram| histogram.ordinal)
        };
        let (trans, device) = match writes {
            true => (Role::Writes, Role::DeviceWrites),
            false => (Role::Reads, Role::DeviceReads),
        };
        Self {
            trans: ordinal(trans),
            device: ordinal(device),
            large_block_reads: ordinal(Role::LargeBlockReads),
            large_block_writes: ordinal(Role::LargeBlockWrites),
        }
    }
}

/// A table to print.
pub struct OldTable<'a> {
    /// The run.
    pub run: &'a Run,
    /// The columns: a column shows the share above the bucket with this number.
    pub buckets: &'a [u32],
    /// Whether slices show their rates.
    pub with_rates: bool,
    /// The length of a slice.
    pub slice_length_s: u64,
    /// The histograms.
    pub sources: Sources,
}

impl OldTable<'_> {
    /// Returns the four lines above the figures.
    pub fn heading(&self) -> String {
        let pad = " ".repeat(self.buckets.len().saturating_sub(1) * THRESHOLD_CHARS);
        let unit = format!(" %>({})", self.run.unit.name());
        let labels: String = self.labels().map(|label| format!("{label:>7}")).collect();
        let before = " ".repeat(PREFIX.len());
        format!(
            "{before}{GAP} trans {pad}{GAP} device\n{before}{GAP}{unit}{pad}{GAP}{unit}\n\
             {PREFIX}{GAP}{labels}{GAP}{labels}\n{}\n",
            self.underline()
        )
    }

    /// Returns the slices, their averages and maxima. None if no slice can be read.
    pub fn body(&self) -> Option<String> {
        let slices = self.run.slices.iter();
        let known = slices.filter_map(|slice| Some((slice, self.row(slice)?)));
        let known: Vec<(&Slice, Vec<f64>)> = known.collect();
        if known.is_empty() {
            return None;
        }
        let mut text = String::new();
        for (slice, row) in &known {
            let rates = if self.with_rates {
                self.rates(slice)
            } else {
                String::new()
            };
            text.push_str(&self.line(&slice.number.to_string(), row, &rates));
        }
        let rows: Vec<&[f64]> = known.iter().map(|(_, row)| row.as_slice()).collect();
        text.push_str(&format!("{}\n", self.underline()));
        text.push_str(&self.line("avg", &average(&rows), ""));
        text.push_str(&self.line("max", &maximum(&rows), ""));
        Some(text)
    }

    /// Returns the figures of the slices, with a rate at the end of each column. The table omits slices without figures.
    pub fn figures(&self) -> Figures {
        let row = |slice: &Slice| -> Vec<Cell> {
            let cell = |ordinal: Option<usize>| {
                let tally = slice.tally(ordinal?)?;
                Some([self.overs(tally), vec![self.rate(tally)]].concat())
            };
            match (cell(self.sources.trans), cell(self.sources.device)) {
                (Some(trans), Some(device)) => vec![Some(trans), Some(device)],
                _ => vec![None, None],
            }
        };
        Figures::of(self.run.slices.iter().map(row).collect())
    }

    /// Returns the thresholds in units. What is above bucket b of 1.x is above 2^(b+1), which its script labels 2^b.
    pub fn labels(&self) -> impl Iterator<Item = u64> {
        let more = u32::from(has_old_buckets(self.run));
        self.buckets.iter().map(move |bucket| 1 << (bucket + more))
    }

    fn underline(&self) -> String {
        let one = " ------".repeat(self.buckets.len());
        format!("{}{GAP}{one}{GAP}{one}", "-".repeat(PREFIX.len()))
    }

    /// Returns the percentages of a slice: of the requests, then of the device. None if it lacks a histogram.
    fn row(&self, slice: &Slice) -> Option<Vec<f64>> {
        let overs = |ordinal: Option<usize>| Some(self.overs(slice.tally(ordinal?)?));
        Some([overs(self.sources.trans)?, overs(self.sources.device)?].concat())
    }

    fn line(&self, name: &str, row: &[f64], rates: &str) -> String {
        let cells = |overs: &[f64]| overs.iter().map(|pct| format!("{pct:7.2}")).collect::<String>();
        let (trans, device) = row.split_at(self.buckets.len());
        format!("{name:>5}{GAP}{}{GAP}{}{rates}\n", cells(trans), cells(device))
    }

    /// Returns the percentages above each bucket, added as the script does. The script omits buckets 17 and above, which
    /// are counted here.
    fn overs(&self, tally: &Tally) -> Vec<f64> {
        let total = tally.ops_count().max(1) as f64;
        let over = |bucket: &u32| {
            let counts = tally.counts().iter().skip(*bucket as usize + 1);
            counts.fold(0.0, |sum, &count| sum + count as f64 / total * 100.0)
        };
        let overs = self.buckets.iter().map(over);
        overs.map(|over| Rounding::HalfAway.round(over, 2)).collect()
    }

    fn rate(&self, tally: &Tally) -> f64 {
        Rounding::HalfAway.round(tally.ops_count() as f64 / self.slice_length_s as f64, 1)
    }

    fn rates(&self, slice: &Slice) -> String {
        let rate = |ordinal: Option<usize>| {
            let tally = ordinal.and_then(|ordinal| slice.tally(ordinal));
            tally.map_or("-".to_owned(), |tally| format!("{:.1}", self.rate(tally)))
        };
        let sources = &self.sources;
        let large_blocks = [sources.large_block_reads, sources.large_block_writes].map(rate);
        format!("{GAP} [{}, {}]", rate(sources.trans), large_blocks.join(", "))
    }
}

/// Returns whether a run has the buckets of 1.x.
pub fn has_old_buckets(run: &Run) -> bool {
    let mut ids = run.findings.iter().map(|finding| finding.id);
    ids.any(|id| id == rule::OLD_BUCKETS.id)
}
