//! `drivetest latency`: the slice table of upstream's act_latency.py, byte for byte where that one is right.
//!
//! Source: aerospike/act 6.6, analysis/act_latency.py.

mod differences;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ArgAction;
use drivetest_log::act::header::Section;
use drivetest_log::act::run::Run;
use drivetest_log::reader::Options;

use self::table::{Column, Table};
use super::log_file::{CONTENT_LIMIT_BYTES, EXIT_UNREADABLE, answer, complain, read};

/// Thresholds that act_latency.py knows: 1 to 65536 units.
const EDGES_COUNT: usize = 17;

/// Arguments of `latency`; `-h` names a histogram, as upstream's does, so that help is `--help` only.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    /// Output of act_storage, act_index or drivetest
    #[arg(short = 'l', long)]
    log: PathBuf,
    /// Histogram to analyse; may be given again [default: reads]
    #[arg(short = 'h', long = "histogram", value_name = "HIST")]
    histograms: Vec<String>,
    /// Slice length in seconds
    #[arg(short = 't', long, value_name = "SEC", default_value_t = 3600,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    slice: u64,
    /// Begin with this bucket
    #[arg(short = 's', long = "start_bucket", value_name = "START", default_value_t = 0,
          value_parser = clap::value_parser!(u8).range(0..EDGES_COUNT as i64))]
    start: u8,
    /// Number of thresholds
    #[arg(short = 'n', long = "num_buckets", value_name = "THRESHOLDS", default_value_t = 7,
          value_parser = clap::value_parser!(u16).range(1..))]
    thresholds: u16,
    /// Show every n-th threshold
    #[arg(short = 'e', long = "every_nth", value_name = "EVERY", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..))]
    every: u16,
    /// Show the rate of each slice
    #[arg(short = 'x', long)]
    extra: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(self) -> ExitCode {
        let typed: Vec<String> = std::env::args_os()
            .skip(2)
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect();
        let mut text = format!("act_latency.py {}\n", typed.join(" "));
        let log = read(&self.log, Options { slice_s: self.slice }, CONTENT_LIMIT_BYTES);
        if let Some(error) = &log.reading.error {
            complain(&format!("{}: {}", self.log.display(), error.sentence));
            return answer(&text, EXIT_UNREADABLE);
        }
        let mut found_all = true;
        for run in &log.reading.runs {
            if run.ordinal > 0 {
                text.push('\n');
            }
            found_all &= self.add_run(run, &mut text);
        }
        differences::tell(&self.log, &log.reading);
        answer(&text, if found_all { 0 } else { EXIT_UNREADABLE })
    }

    /// Adds a run's table; false when it has not one whole slice.
    fn add_run(&self, run: &Run, text: &mut String) -> bool {
        text.push_str(&heading(&self.log, run, self.slice));
        let Some(slice_length_s) = run.slice_length_s else {
            complain(&format!(
                "{}: line {}: the run has no block",
                self.log.display(),
                run.last_line
            ));
            return false;
        };
        let columns = self.columns(run);
        differences::tell_columns(&columns, run);
        let powers = self.powers();
        let table = Table {
            unit: run.unit,
            powers: &powers,
            columns: &columns,
            with_rate: self.extra,
            slice_length_s,
        };
        text.push_str(&table.heading());
        let any_appears = columns.iter().any(|column| column.ordinal.is_some());
        if run.slices.is_empty() || !any_appears {
            text.push_str(&format!("could not find {slice_length_s} seconds of data\n"));
            return false;
        }
        text.push_str(&table.body(&run.slices));
        true
    }

    /// The k-th time a name is asked for, the k-th histogram of that name is meant.
    fn columns(&self, run: &Run) -> Vec<Column> {
        let default = ["reads".to_owned()];
        let asked = if self.histograms.is_empty() {
            &default[..]
        } else {
            &self.histograms
        };
        let column = |(at, name): (usize, &String)| {
            let before = asked[..at].iter().filter(|earlier| *earlier == name).count();
            let alike = run.histograms.iter().filter(|histogram| histogram.name == *name);
            Column {
                name: name.clone(),
                ordinal: alike.map(|histogram| histogram.ordinal).nth(before),
            }
        };
        asked.iter().enumerate().map(column).collect()
    }

    fn powers(&self) -> Vec<u32> {
        let all = (u32::from(self.start)..EDGES_COUNT as u32).step_by(usize::from(self.every));
        all.take(usize::from(self.thresholds)).collect()
    }
}

fn heading(log: &Path, run: &Run, asked_slice_s: u64) -> String {
    let printed = &run.printed;
    let mut text = format!("{} is ACT version {}\n\n", log.display(), printed.version);
    if !printed
        .config
        .pairs()
        .any(|(key, _)| key == "microsecond-histograms")
    {
        text.push_str("can't find histograms' scale, assuming milliseconds\n");
    }
    if let Some(length_s) = run.slice_length_s.filter(|&length_s| length_s != asked_slice_s) {
        text.push_str(&format!("analyzing time slices of {length_s} seconds\n"));
    }
    let sections = [&printed.config, &printed.derived, &printed.names];
    sections
        .into_iter()
        .for_each(|section| text.push_str(&echo(section)));
    text
}

fn echo(section: &Section) -> String {
    let lines = std::iter::once(&section.title).chain(&section.lines);
    lines
        .map(|line| format!("{line}\n"))
        .chain(["\n".to_owned()])
        .collect()
}
