//! `read --export`: the intervals and slices of a log, and the operations of YCSB, as tables in files.

mod parquet;
mod table;
mod target;
mod text;
mod ycsb;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use clap::ValueEnum;
use drivetest_logs::act::run::Run;
use drivetest_logs::act::slices::sinks::Row;
use drivetest_logs::ycsb::run as ycsb_run;

use self::parquet::Parquet;
use self::table::{INTERVAL_BUCKETS, INTERVALS, Pair, Rows, SLICE_BUCKETS, SLICES, Table};
use self::target::{Named, Targets};
use self::text::{Csv, JsonLines};

/// Intervals that may wait to be written.
const WAITING_MAX: usize = 256;

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Parquet, compressed with zstd.
    Parquet,
    /// CSV with a header line.
    Csv,
    /// A JSON object on each line.
    Json,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Json => "jsonl",
        }
    }
}

/// The export of one log while it is read: a thread writes its intervals.
pub struct Export {
    /// Takes the intervals.
    pub taker: SyncSender<Row>,
    writer: JoinHandle<io::Result<Pair>>,
    slices: Pair,
    targets: Targets,
    place: Place,
}

/// Where the tables of a log are, and how they are written.
struct Place {
    directory: PathBuf,
    format: Format,
    log_name: String,
}

impl Place {
    fn begin(&self, targets: &mut Targets, table: &Table) -> io::Result<Box<dyn Rows + Send>> {
        let name = format!("{}.{}.{}", self.log_name, table.name, self.format.ending());
        rows(targets, self.directory.join(name), self.format, table)
    }
}

impl Export {
    /// Begins the tables of a log in a directory.
    ///
    /// # Errors
    /// `AlreadyExists` where a table is there already; else where one cannot be made.
    pub fn begin(directory: &Path, format: Format, log: &Path) -> io::Result<Self> {
        let mut targets = Targets::default();
        let log_name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = Place {
            directory: directory.to_owned(),
            format,
            log_name,
        };
        let mut open = |table: &Table| place.begin(&mut targets, table);
        let (times, buckets) = (open(&INTERVALS)?, open(&INTERVAL_BUCKETS)?);
        let intervals = Pair { times, buckets };
        let (times, buckets) = (open(&SLICES)?, open(&SLICE_BUCKETS)?);
        let slices = Pair { times, buckets };
        let (taker, taken) = sync_channel(WAITING_MAX);
        let writer = thread::Builder::new().spawn(move || write(&taken, intervals))?;
        Ok(Self {
            taker,
            writer,
            slices,
            targets,
            place,
        })
    }

    /// Ends the tables with the runs that were read, and tells their files; without a run, nothing stays.
    ///
    /// # Errors
    /// Where the tables cannot be written; nothing of them stays then.
    ///
    /// # Panics
    /// Goes on with a panic of the thread that wrote.
    pub fn finish(mut self, runs: &[Run], ycsb_runs: &[ycsb_run::Run]) -> io::Result<Vec<PathBuf>> {
        drop(self.taker);
        let written = self.writer.join();
        let intervals = written.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let mut written = match ycsb_runs.is_empty() {
            true => Vec::new(),
            false => write_ycsb(&self.place, ycsb_runs)?,
        };
        if runs.is_empty() {
            return Ok(written);
        }
        for run in runs {
            self.slices.add_slices(run)?;
        }
        intervals.finish()?;
        self.slices.finish()?;
        written.extend(self.targets.keep()?);
        Ok(written)
    }
}

fn write_ycsb(place: &Place, runs: &[ycsb_run::Run]) -> io::Result<Vec<PathBuf>> {
    let mut targets = Targets::default();
    let mut tables = ycsb::Tables {
        operations: place.begin(&mut targets, &ycsb::OPERATIONS)?,
        percentiles: place.begin(&mut targets, &ycsb::PERCENTILES)?,
        intervals: place.begin(&mut targets, &ycsb::INTERVALS)?,
        interval_percentiles: place.begin(&mut targets, &ycsb::INTERVAL_PERCENTILES)?,
    };
    runs.iter().try_for_each(|run| tables.add(run))?;
    tables.finish()?;
    targets.keep()
}

fn write(taken: &Receiver<Row>, mut intervals: Pair) -> io::Result<Pair> {
    for row in taken {
        intervals.add_interval(&row)?;
    }
    Ok(intervals)
}

fn rows(
    targets: &mut Targets,
    path: PathBuf,
    format: Format,
    table: &Table,
) -> io::Result<Box<dyn Rows + Send>> {
    let inner = targets.begin(path.clone())?;
    let target = Named { inner, path };
    Ok(match format {
        Format::Parquet => Box::new(Parquet::new(target, table)?),
        Format::Csv => Box::new(Csv::new(target, table)?),
        Format::Json => Box::new(JsonLines::new(target, table)),
    })
}
