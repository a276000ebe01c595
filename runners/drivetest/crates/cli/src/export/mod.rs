//! `read --export`: the intervals and slices of ACT logs, and the operations of YCSB, as table files.

mod atomic_file;
mod parquet;
mod table;
mod text;
mod ycsb;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use clap::ValueEnum;
use drivetest_logs::act::run::Run;
use drivetest_logs::act::slices::sinks::Row;
use drivetest_logs::ycsb::run as ycsb_run;

use self::atomic_file::{AtomicFiles, NamedWriter};
use self::parquet::Parquet;
use self::table::{INTERVAL_BUCKETS, INTERVALS, PeriodTables, Rows, SLICE_BUCKETS, SLICES, Table};
use self::text::{Csv, JsonLines};

/// Maximum number of intervals that wait to be written.
const WAITING_MAX: usize = 256;

/// The format of table files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Parquet files, compressed with zstd.
    Parquet,
    /// CSV files with a header line.
    Csv,
    /// JSON files with one object on each line.
    Json,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Json => "jsonl",
        }
    }
}

/// The export of one log. While the log is read, a thread writes its intervals.
pub struct Export {
    /// Receives the intervals.
    pub intervals: SyncSender<Row>,
    writer: JoinHandle<io::Result<PeriodTables>>,
    slices: PeriodTables,
    files: AtomicFiles,
    destination: Destination,
}

/// The directory, the format and the name of the tables of a log.
struct Destination {
    directory: PathBuf,
    format: Format,
    log_name: String,
}

impl Destination {
    fn begin(&self, files: &mut AtomicFiles, table: &Table) -> io::Result<Box<dyn Rows + Send>> {
        let name = format!("{}.{}.{}", self.log_name, table.name, self.format.extension());
        let path = self.directory.join(name);
        let inner = files.begin(path.clone())?;
        let writer = NamedWriter { inner, path };
        Ok(match self.format {
            Format::Parquet => Box::new(Parquet::new(writer, table)?),
            Format::Csv => Box::new(Csv::new(writer, table)?),
            Format::Json => Box::new(JsonLines::new(writer, table)),
        })
    }
}

impl Export {
    /// Starts the tables of a log in a directory.
    ///
    /// # Errors
    /// `AlreadyExists` if a table exists already; another error if one cannot be created.
    pub fn begin(directory: &Path, format: Format, log: &Path) -> io::Result<Self> {
        let mut files = AtomicFiles::default();
        let log_name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let destination = Destination {
            directory: directory.to_owned(),
            format,
            log_name,
        };
        let mut open = |table: &Table| destination.begin(&mut files, table);
        let (periods, buckets) = (open(&INTERVALS)?, open(&INTERVAL_BUCKETS)?);
        let mut intervals = PeriodTables { periods, buckets };
        let (periods, buckets) = (open(&SLICES)?, open(&SLICE_BUCKETS)?);
        let slices = PeriodTables { periods, buckets };
        let (sender, receiver) = sync_channel::<Row>(WAITING_MAX);
        let writer = thread::Builder::new().spawn(move || {
            for row in receiver {
                intervals.add_interval(&row)?;
            }
            Ok(intervals)
        })?;
        Ok(Self {
            intervals: sender,
            writer,
            slices,
            files,
            destination,
        })
    }

    /// Completes the tables and returns their paths. Without a run, no file remains.
    ///
    /// # Errors
    /// If the tables cannot be written. No file remains then.
    ///
    /// # Panics
    /// If the writing thread panicked.
    pub fn finish(mut self, runs: &[Run], ycsb_runs: &[ycsb_run::Run]) -> io::Result<Vec<PathBuf>> {
        drop(self.intervals);
        let written = self.writer.join();
        let intervals = written.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let mut written = match ycsb_runs.is_empty() {
            true => Vec::new(),
            false => write_ycsb(&self.destination, ycsb_runs)?,
        };
        if runs.is_empty() {
            return Ok(written);
        }
        for run in runs {
            self.slices.add_slices(run)?;
        }
        intervals.finish()?;
        self.slices.finish()?;
        written.extend(self.files.commit()?);
        Ok(written)
    }
}

fn write_ycsb(destination: &Destination, runs: &[ycsb_run::Run]) -> io::Result<Vec<PathBuf>> {
    let mut files = AtomicFiles::default();
    let mut tables = ycsb::Tables {
        operations: destination.begin(&mut files, &ycsb::OPERATIONS)?,
        percentiles: destination.begin(&mut files, &ycsb::PERCENTILES)?,
        intervals: destination.begin(&mut files, &ycsb::INTERVALS)?,
        interval_percentiles: destination.begin(&mut files, &ycsb::INTERVAL_PERCENTILES)?,
    };
    runs.iter().try_for_each(|run| tables.add(run))?;
    tables.finish()?;
    files.commit()
}
