//! `read --export`: the intervals and slices of ACT logs, and the operations of YCSB, as table files. Each appears under its
//! name complete or not at all, and never replaces an existing file.

mod parquet;
mod table;
mod text;
mod ycsb;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use clap::ValueEnum;
use drivetest_logs::act::run::Run;
use drivetest_logs::act::slices::sinks::Row;
use drivetest_logs::ycsb::run as ycsb_run;

use crate::export::parquet::Parquet;
use crate::export::table::{INTERVAL_BUCKETS, INTERVALS, PeriodTables, Rows, SLICE_BUCKETS, SLICES, Table};
use crate::export::text::{Csv, JsonLines};

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

/// The files of an export while they are written. Dropping it removes those that were not committed.
#[derive(Debug, Default)]
pub struct AtomicFiles(Vec<PartialFile>);

#[derive(Debug)]
struct PartialFile {
    partial: PathBuf,
    path: PathBuf,
}

impl AtomicFiles {
    /// Creates a file that will get this path.
    ///
    /// # Errors
    /// `AlreadyExists` if the path exists; another error if the file cannot be created.
    pub fn begin(&mut self, path: PathBuf) -> io::Result<BufWriter<File>> {
        if path.symlink_metadata().is_ok() {
            return Err(already_exists(&path));
        }
        let partial = partial_path(&path);
        let file = at(&path, File::create_new(&partial))?;
        self.0.push(PartialFile { partial, path });
        Ok(BufWriter::with_capacity(256 * 1024, file))
    }

    /// Gives all files their paths, and returns these in the order of creation.
    ///
    /// # Errors
    /// If a path was taken in the meantime. The files without a path are removed.
    pub fn commit(mut self) -> io::Result<Vec<PathBuf>> {
        let mut committed = Vec::new();
        while let Some(file) = self.0.last() {
            at(&file.path, file.publish())?;
            committed.extend(self.0.pop().map(|file| file.path));
        }
        committed.reverse();
        Ok(committed)
    }
}

impl Drop for AtomicFiles {
    fn drop(&mut self) {
        for file in &self.0 {
            // If this fails, the name of the file still shows that it is partial.
            drop(fs::remove_file(&file.partial));
        }
    }
}

impl PartialFile {
    /// Links the file to its path, because a link fails if the path exists and a rename does not. Renames it on file
    /// systems without links.
    fn publish(&self) -> io::Result<()> {
        match fs::hard_link(&self.partial, &self.path) {
            Ok(()) => fs::remove_file(&self.partial),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(already_exists(&self.path)),
            Err(_) => fs::rename(&self.partial, &self.path),
        }
    }
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    path.with_file_name(name)
}

fn already_exists(path: &Path) -> io::Error {
    let path = path.display();
    let sentence = format!("{path}: already exists; remove it or choose another directory");
    io::Error::new(io::ErrorKind::AlreadyExists, sentence)
}

fn at<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => error,
        kind => io::Error::new(kind, format!("{}: cannot be written: {error}", path.display())),
    })
}

/// A writer whose errors name the file.
pub struct NamedWriter<W> {
    /// The writer.
    pub inner: W,
    /// The path of the file.
    pub path: PathBuf,
}

impl<W: Write> Write for NamedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at(&self.path, self.inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        at(&self.path, self.inner.flush())
    }
}
