//! `drivetest read`: what a log holds, as a document for programs or a summary for people.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_logs::act::blocks::histogram::{Tally, Unit};
use drivetest_logs::act::run::Run;
use drivetest_logs::act::semantics::judged;
use drivetest_logs::act::slices::sinks::SinkOptions;
use drivetest_logs::act::stop::StopKind;
use drivetest_logs::finding::{Finding, rule};
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::judge::share::Share;
use drivetest_logs::plural::counted;
use drivetest_logs::read_error::ReadError;
use drivetest_logs::series::SeriesRequest;
use serde::Serialize;

use super::export::{Export, Format};
use super::log_file::{
    EXIT_UNREADABLE, EXIT_USAGE, HowToRead, Input, LogFile, Logs, complain, finding_line, profile,
    refuse_profile, unwritable, write,
};
use super::side_told;
use super::ycsb_table;

/// Arguments of `read`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    how: HowToRead,
    /// Print one JSON object a line and log (docs/formats.md)
    #[arg(long)]
    json: bool,
    /// Judge by a profile: operational-database (compiled in; by version: operational-database.1), or a file
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<PathBuf>,
    #[command(flatten)]
    series: SeriesArgs,
    #[command(flatten)]
    export: ExportArgs,
}

/// Tables instead of a document.
#[derive(clap::Args)]
struct ExportArgs {
    /// Write the intervals and slices of every log as tables LOG.TABLE.FORMAT into this directory, which is made where
    /// it is not there (docs/formats.md); two logs of one name need two directories
    #[arg(long, value_name = "DIR", requires = "format", conflicts_with = "json")]
    export: Option<PathBuf>,
    /// How tables are written
    #[arg(long, requires = "export")]
    format: Option<Format>,
}

impl ExportArgs {
    /// Makes the directory, and refuses what could not be written there: two logs whose tables would have one name.
    fn refusal(&self, logs: &[PathBuf]) -> Option<ExitCode> {
        let directory = self.export.as_deref()?;
        let alike = |at: usize| {
            logs[..at]
                .iter()
                .find(|earlier| earlier.file_name() == logs[at].file_name())
        };
        if let Some((earlier, log)) = (0..logs.len()).find_map(|at| Some((alike(at)?, &logs[at]))) {
            complain(&format!(
                "{} and {}: expected logs of different names in one export; export them into two directories",
                earlier.display(),
                log.display()
            ));
            return Some(ExitCode::from(EXIT_USAGE));
        }
        let made = std::fs::create_dir_all(directory).err()?;
        complain(&format!(
            "{}: cannot be made a directory for the tables: {made}",
            directory.display()
        ));
        Some(ExitCode::from(EXIT_UNREADABLE))
    }
}

/// The series of runs, for those who keep them.
#[derive(clap::Args)]
struct SeriesArgs {
    /// Give every run the counts of intervals of N seconds (60: minutes), compressed (docs/formats.md)
    #[arg(long, value_name = "N", requires = "json", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    series_sec: Option<u64>,
    /// Only intervals of the series that begin A seconds after the start or later
    #[arg(long, value_name = "A", requires = "series_sec", default_value_t = 0)]
    from_sec: u64,
    /// Only intervals of the series that end B seconds after the start or earlier
    #[arg(long, value_name = "B", requires = "series_sec", default_value_t = u64::MAX, hide_default_value = true)]
    to_sec: u64,
}

impl SeriesArgs {
    fn asked(&self) -> Option<SeriesRequest> {
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
    /// Runs the command.
    pub fn run(self) -> ExitCode {
        if let Some(refused) = self.how.refusal(&self.logs) {
            return refused;
        }
        let profile = match self.profile.as_deref().map(|asked| (asked, profile(asked))) {
            Some((asked, Err(bad))) => return refuse_profile(asked, &bad),
            Some((_, Ok(profile))) => Some(profile),
            None => None,
        };
        if let Some(refused) = self.export.refusal(&self.logs.paths) {
            return refused;
        }
        let mut status = 0;
        for path in &self.logs.paths {
            let (log, tables) = match self.read(path, profile.as_ref()) {
                Ok(read) => read,
                Err(error) => return unexportable(&error),
            };
            if log.reading.error.is_some() {
                status = EXIT_UNREADABLE;
            }
            let written = if self.json {
                write_document(&log)
            } else {
                write(&(summary(&log) + &tables_told(&log, &tables)))
            };
            if let Err(error) = written {
                return unwritable(&error, status);
            }
        }
        ExitCode::from(status)
    }

    /// Reads a log, and exports it where that is asked; with the files of its tables.
    fn read(&self, path: &Path, profile: Option<&Profile>) -> io::Result<(LogFile, Vec<PathBuf>)> {
        let asked = self.export.export.as_deref().zip(self.export.format);
        let export = asked.map(|(directory, format)| Export::begin(directory, format, path));
        let export = export.transpose()?;
        let wanted = SinkOptions {
            series: self.series.asked(),
            rows: export.as_ref().map(|export| export.taker.clone()),
        };
        let log = self.how.read_wanting(path, profile, wanted);
        match export {
            Some(export) => export
                .finish(&log.reading.runs, &log.reading.ycsb_runs)
                .map(|tables| (log, tables)),
            None => Ok((log, Vec::new())),
        }
    }
}

/// The files that were written, and why those of slices hold no row.
fn tables_told(log: &LogFile, tables: &[PathBuf]) -> String {
    let mut text: String = tables
        .iter()
        .map(|path| format!("  wrote {}\n", path.display()))
        .collect();
    let runs = &log.reading.runs;
    if !tables.is_empty() && !runs.is_empty() && runs.iter().all(|run| run.slices.is_empty()) {
        text.push_str("  the tables of slices have no rows: there is no whole slice; ask for shorter ones with --slice-sec\n");
    }
    text
}

/// Says why tables cannot be written; names that are taken are a matter of the command line.
fn unexportable(error: &io::Error) -> ExitCode {
    complain(&error.to_string());
    let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
    ExitCode::from(if is_taken { EXIT_USAGE } else { EXIT_UNREADABLE })
}

/// Writes a log's document as it goes: it may be many times larger than what is kept of the log.
fn write_document(log: &LogFile) -> io::Result<()> {
    let reader = Reader {
        name: "drivetest",
        version: env!("CARGO_PKG_VERSION"),
    };
    let LogFile { input, reading, .. } = log;
    let (error, findings, runs) = (&reading.error, &reading.findings, &reading.runs);
    let ycsb_runs = &reading.ycsb_runs;
    let document = Document {
        schema: "drivecert.reading/2",
        reader,
        input,
        error,
        findings,
        runs,
        ycsb_runs,
    };
    let mut output = BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut output, &document)?;
    output.write_all(b"\n")?;
    output.flush()
}

fn summary(log: &LogFile) -> String {
    if let Some(error) = &log.reading.error {
        let name = &log.path;
        return format!("{name}: cannot be read ({}): {}\n", error.id, error.sentence);
    }
    let mut text = String::new();
    let of_act = log.reading.runs.iter().map(|run| &run.member);
    let members: Vec<&Option<String>> = of_act
        .chain(log.reading.ycsb_runs.iter().map(|run| &run.member))
        .collect();
    let heading = |member: &Option<String>, ordinal: usize| {
        let is_one = members.iter().filter(|other| **other == member).count() == 1;
        let of_many = if is_one {
            String::new()
        } else {
            format!(", run {}", ordinal + 1)
        };
        format!("{}{of_many}: ", log.place(member.as_deref()))
    };
    for run in &log.reading.runs {
        text.push_str(&heading(&run.member, run.ordinal));
        text.push_str(&run_summary(run));
    }
    for run in &log.reading.ycsb_runs {
        text.push_str(&heading(&run.member, run.ordinal));
        text.push_str(&ycsb_table::summary(run));
    }
    log.reading
        .findings
        .iter()
        .for_each(|finding| text.push_str(&finding_line(finding)));
    text
}

/// Findings by which what was asked is not what was made.
const OFF_RATE: [&str; 3] = [
    rule::RATE_BELOW_REQUESTED.id,
    rule::RATE_ABOVE_REQUESTED.id,
    rule::HEADER_DIFFERS.id,
];

/// What was asked of the devices, without what the header does not tell.
fn asked_told(run: &Run) -> String {
    let rate = |value: &Option<String>, what: &str| value.as_ref().map(|rate| format!("{rate} {what}/s"));
    let rates = [
        rate(&run.requested_reads_per_s, "reads"),
        rate(&run.requested_writes_per_s, "writes"),
    ];
    let rates: Vec<String> = rates.into_iter().flatten().collect();
    let rates = if rates.is_empty() {
        "no rate that is told".to_owned()
    } else {
        rates.join(" and ")
    };
    let devices = run
        .device_count
        .map_or_else(|| "its devices".to_owned(), |count| counted(count, "device"));
    // What was not held is not claimed: the counts tell of another load than the header.
    let is_held = run.stop.kind != StopKind::CannotKeepUp
        && run.findings.iter().all(|finding| !OFF_RATE.contains(&finding.id));
    let load = run.nx_load.as_ref().filter(|_| is_held);
    let load = load.map_or_else(String::new, |load| format!("{load}x: "));
    format!("{load}{rates} asked of {devices}")
}

fn run_summary(run: &Run) -> String {
    let mut text = format!(
        "{} {}, {}\n",
        run.origin.tool,
        run.origin.tool_version,
        asked_told(run)
    );
    let stop = serde_json::to_value(run.stop.kind).ok();
    let stop = stop
        .as_ref()
        .and_then(|kind| kind.as_str())
        .unwrap_or_default()
        .to_owned();
    let asked = run
        .requested_duration_s
        .map_or_else(|| "an unknown time".to_owned(), |asked_s| format!("{asked_s} s"));
    text.push_str(&format!(
        "  {stop}: {} s of {asked}; lines {}-{}\n",
        run.reached_s, run.first_line, run.last_line
    ));
    text.push_str(&slice_table(run));
    text.push_str(&side_told::told(run));
    if let Some(verdict) = &run.verdict {
        text.push_str(&format!("  {}\n", verdict.headline));
    }
    run.findings
        .iter()
        .for_each(|finding| text.push_str(&finding_line(finding)));
    text
}

/// Shares of the reads, or else of the first histogram, at the edges that stand for 1, 8 and 64 ms and are there.
fn slice_table(run: &Run) -> String {
    let Some(histogram) = judged(run).or(run.histograms.first()) else {
        return String::new();
    };
    let powers: [u32; 3] = if histogram.unit == Unit::Us {
        [10, 13, 16]
    } else {
        [0, 3, 6]
    };
    let bucket_below = |power| histogram.meaning.edges.bucket_below(power);
    let edges = powers
        .into_iter()
        .filter(|&power| bucket_below(power).is_some())
        .map(|power| format!("% > {} {}", 1_u64 << power, histogram.unit.name()));
    let mut text = format!("  {:>5} {:>15} {:>14}", "slice", "seconds", histogram.name);
    edges.for_each(|edge| text.push_str(&format!(" {edge:>13}")));
    text.push('\n');
    let mut row = |name: &str, seconds: &str, tally: &Tally| {
        let ops_count = tally.ops_count();
        let written = write!(text, "  {name:>5} {seconds:>15} {ops_count:>14}");
        debug_assert!(written.is_ok(), "a String takes everything");
        for bucket in powers.into_iter().filter_map(bucket_below) {
            let share = Share {
                over_count: tally.over_count(bucket),
                ops_count,
            };
            text.push_str(&format!(" {:>13}", share.printed()));
        }
        text.push('\n');
    };
    for slice in &run.slices {
        if let Some(tally) = slice.tally(histogram.ordinal) {
            row(
                &slice.number.to_string(),
                &format!("{}-{}", slice.start_s, slice.end_s),
                tally,
            );
        }
    }
    row("all", &format!("0-{}", run.reached_s), &histogram.tally);
    text
}
