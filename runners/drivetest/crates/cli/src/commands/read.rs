//! `drivetest read`: the content of a log, as a JSON document (`--json`), a summary or tables.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_logs::act::run::Run;
use drivetest_logs::act::slices::sinks::SinkOptions;
use drivetest_logs::finding::Finding;
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::read_error::ReadError;
use drivetest_logs::series::SeriesRequest;
use serde::Serialize;

use crate::export::{Export, Format};
use crate::input::read_log::{Input, LogFile, Logs, ReadOptions};
use crate::output::{EXIT_ERROR, EXIT_USAGE, output_failed, print, print_diagnostic};
use crate::render::findings::findings_text;
use crate::render::tables::run_summary;
use crate::render::ycsb;

/// Arguments of `read`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    options: ReadOptions,
    /// Print one line of JSON for each log, as docs/reference/formats.md describes
    #[arg(long)]
    json: bool,
    /// Profile with the limits for runs of ACT and drivetest: the name of a profile that drivetest contains
    /// (operational-database, or operational-database.1 with its version), or the path of a profile file
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<PathBuf>,
    #[command(flatten)]
    series: SeriesArgs,
    #[command(flatten)]
    export: ExportArgs,
}

/// Options for tables.
#[derive(clap::Args)]
struct ExportArgs {
    /// Directory for the tables of intervals and slices, one file LOG.TABLE.FORMAT for each table of a log, as
    /// docs/reference/formats.md describes; logs with the same name need different directories
    #[arg(long, value_name = "DIR", requires = "format", conflicts_with = "json")]
    export: Option<PathBuf>,
    /// File format of the tables that --export writes
    #[arg(long, requires = "export")]
    format: Option<Format>,
}

impl ExportArgs {
    /// Creates the directory. Refuses logs with the same name, because their tables would overwrite each other.
    fn refusal(&self, logs: &[PathBuf]) -> Option<ExitCode> {
        let directory = self.export.as_deref()?;
        let namesake = |at: usize| {
            let mut earlier = logs[..at].iter();
            earlier.find(|earlier| earlier.file_name() == logs[at].file_name())
        };
        if let Some((earlier, log)) = (0..logs.len()).find_map(|at| Some((namesake(at)?, &logs[at]))) {
            let (earlier, log) = (earlier.display(), log.display());
            print_diagnostic(&format_args!(
                "{earlier} and {log}: both logs have the same name; export them into different directories"
            ));
            return Some(ExitCode::from(EXIT_USAGE));
        }
        let (error, directory) = (std::fs::create_dir_all(directory).err()?, directory.display());
        print_diagnostic(&format_args!(
            "{directory}: cannot create the directory for the tables: {error}"
        ));
        Some(ExitCode::from(EXIT_ERROR))
    }
}

/// Options for the series of runs.
#[derive(clap::Args)]
struct SeriesArgs {
    /// Add the operations of each interval of N seconds to the JSON of each run, compressed as docs/reference/formats.md
    /// describes
    #[arg(long, value_name = "N", requires = "json", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    series_sec: Option<u64>,
    /// Omit the intervals of --series-sec that begin less than A seconds after the start of the run
    #[arg(long, value_name = "A", requires = "series_sec", default_value_t = 0)]
    from_sec: u64,
    /// Omit the intervals of --series-sec that end more than B seconds after the start of the run
    #[arg(long, value_name = "B", requires = "series_sec", default_value_t = u64::MAX, hide_default_value = true)]
    to_sec: u64,
}

impl SeriesArgs {
    fn request(&self) -> Option<SeriesRequest> {
        self.series_sec.map(|interval_s| SeriesRequest {
            interval_s,
            from_s: self.from_sec,
            to_s: self.to_sec,
        })
    }
}

#[derive(Serialize)]
struct Reader {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    reader: Reader,
    input: &'a Input,
    error: &'a Option<ReadError>,
    findings: &'a [Finding],
    runs: &'a [Run],
    ycsb_runs: &'a [drivetest_logs::ycsb::run::Run],
}

impl Args {
    /// Runs the command and returns its exit code.
    pub fn run(self) -> ExitCode {
        let profile = match self.options.prepare(&self.logs, self.profile.as_deref()) {
            Ok(profile) => profile,
            Err(code) => return code,
        };
        if let Some(refused) = self.export.refusal(&self.logs.paths) {
            return refused;
        }
        let mut code = 0;
        for path in &self.logs.paths {
            let (log, tables) = match self.read(path, profile.as_ref()) {
                Ok(read) => read,
                Err(error) => return export_failed(&error),
            };
            if log.reading.error.is_some() {
                code = EXIT_ERROR;
            }
            let written = if self.json {
                write_document(&log)
            } else {
                print(&(summary(&log) + &tables_text(&log, &tables)))
            };
            if let Err(error) = written {
                return output_failed(&error, code);
            }
        }
        ExitCode::from(code)
    }

    /// Reads a log and exports its tables if requested. Returns the log and the paths of the tables.
    fn read(&self, path: &Path, profile: Option<&Profile>) -> io::Result<(LogFile, Vec<PathBuf>)> {
        let requested = self.export.export.as_deref().zip(self.export.format);
        let export = requested.map(|(directory, format)| Export::begin(directory, format, path));
        let export = export.transpose()?;
        let extras = SinkOptions {
            series: self.series.request(),
            rows: export.as_ref().map(|export| export.intervals.clone()),
        };
        let log = self.options.read(path, profile, extras);
        let tables = export.map(|export| export.finish(&log.reading.runs, &log.reading.ycsb_runs));
        Ok((log, tables.transpose()?.unwrap_or_default()))
    }
}

/// Returns the list of written tables, and the reason if those of slices are empty.
fn tables_text(log: &LogFile, tables: &[PathBuf]) -> String {
    let written = tables.iter().map(|path| format!("  wrote {}\n", path.display()));
    let mut text: String = written.collect();
    let runs = &log.reading.runs;
    if !tables.is_empty() && !runs.is_empty() && runs.iter().all(|run| run.slices.is_empty()) {
        text.push_str("  the slice tables are empty: the log has no complete slice; choose shorter slices with --slice-sec\n");
    }
    text
}

/// Prints why tables cannot be written. An existing file is a usage error.
fn export_failed(error: &io::Error) -> ExitCode {
    print_diagnostic(error);
    let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
    ExitCode::from(if is_taken { EXIT_USAGE } else { EXIT_ERROR })
}

/// Writes the JSON document of a log as a stream, because it can be many times larger than the log in memory.
fn write_document(log: &LogFile) -> io::Result<()> {
    let reading = &log.reading;
    let document = Document {
        schema: "drivecert.reading/2",
        reader: Reader {
            name: "drivetest",
            version: env!("CARGO_PKG_VERSION"),
        },
        input: &log.input,
        error: &reading.error,
        findings: &reading.findings,
        runs: &reading.runs,
        ycsb_runs: &reading.ycsb_runs,
    };
    let mut output = BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut output, &document)?;
    output.write_all(b"\n")?;
    output.flush()
}

fn summary(log: &LogFile) -> String {
    if let Some(error) = log.error_text() {
        return error;
    }
    let mut text = String::new();
    let of_act = log.reading.runs.iter().map(|run| &run.member);
    let of_ycsb = log.reading.ycsb_runs.iter().map(|run| &run.member);
    let members: Vec<&Option<String>> = of_act.chain(of_ycsb).collect();
    let heading = |member: &Option<String>, ordinal: usize| {
        let place = log.place(member.as_deref());
        match members.iter().filter(|other| **other == member).count() {
            1 => format!("{place}: "),
            _ => format!("{place}, run {}: ", ordinal + 1),
        }
    };
    for run in &log.reading.runs {
        text.push_str(&heading(&run.member, run.ordinal));
        text.push_str(&run_summary(run));
    }
    for run in &log.reading.ycsb_runs {
        text.push_str(&heading(&run.member, run.ordinal));
        text.push_str(&ycsb::summary(run));
    }
    text + &findings_text(&log.reading.findings)
}
