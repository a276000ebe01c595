//! Options that all commands on logs share, and the profile that judges a log.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_logs::act::slices::sinks::SinkOptions;
use drivetest_logs::judge;
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::reader::{Options, SLICE_S_DEFAULT};

use super::read_log::{LogFile, LogFileReader};
use crate::output::print_diagnostic;
use crate::render::exit_codes::EXIT_USAGE;

/// Default limit of decompressed content: a compressed file of a few KiB can expand to any size.
pub const CONTENT_LIMIT_BYTES: u64 = 16 << 30;

/// Maximum size of a profile.
const PROFILE_BYTES_MAX: u64 = 1 << 20;

/// The logs that a command reads.
#[derive(clap::Args)]
pub struct Logs {
    /// Logs to read: plain files, files compressed with gzip, zstd or xz, or tar or zip archives of such files; `-` reads
    /// standard input
    #[arg(required = true, value_name = "LOG")]
    pub paths: Vec<PathBuf>,
}

/// How a command reads logs.
#[derive(clap::Args)]
pub struct ReadOptions {
    /// Length of a slice in seconds, rounded up to whole report intervals [default: the slice length of the profile, or 3600
    /// without a profile]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    slice_sec: Option<u64>,
    /// Maximum size of a log's decompressed content in bytes; a larger log is refused
    #[arg(long, value_name = "BYTES", default_value_t = CONTENT_LIMIT_BYTES)]
    content_limit_bytes: u64,
    /// File that belongs to the only LOG: its standard error, command line, configuration, .hdr file or side file; repeat
    /// --with for several files
    #[arg(long = "with", value_name = "FILE")]
    attachments: Vec<PathBuf>,
}

impl ReadOptions {
    /// Checks the options, and returns the profile that `--profile` requests.
    ///
    /// # Errors
    /// The exit code for a usage error; the reason is printed.
    pub fn prepare(&self, logs: &Logs, profile: Option<&Path>) -> Result<Option<Profile>, ExitCode> {
        let refuse = |reason: String| {
            print_diagnostic(&reason);
            ExitCode::from(EXIT_USAGE)
        };
        // An attachment belongs to one log.
        let count = logs.paths.len();
        if !self.attachments.is_empty() && count != 1 {
            let needed = "--with FILE needs exactly one LOG";
            return Err(refuse(format!(
                "{needed}, got {count}; read each log with a command of its own"
            )));
        }
        profile.map(load_profile).transpose().map_err(refuse)
    }

    /// Reads a log, with the requested series and rows. Judges its runs if a profile is given.
    pub fn read(&self, path: &Path, profile: Option<&Profile>, extras: SinkOptions) -> LogFile {
        let profile_slice_s = profile.map(|profile| profile.rules.slice_length_s);
        let slice_s = self.slice_sec.or(profile_slice_s).unwrap_or(SLICE_S_DEFAULT);
        let reader = LogFileReader {
            options: Options { slice_s },
            extras,
            limit_bytes: self.content_limit_bytes,
            attachments: &self.attachments,
        };
        let mut log = reader.read(path);
        if let Some(profile) = profile {
            let runs = log.reading.runs.iter_mut();
            runs.for_each(|run| judge::apply(run, profile));
        }
        log
    }
}

/// Returns the compiled-in profile of that name, or else the profile in that file.
fn load_profile(requested: &Path) -> Result<Profile, String> {
    let known: Vec<&str> = Profile::known_names().collect();
    let (shown, known) = (requested.display(), known.join(", "));
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            format!("{shown}: not a profile and not a file; compiled-in profiles: {known}")
        }
        _ => format!("{shown}: expected a profile ({known}) or a profile file; got: {error}"),
    };
    let mut document = Vec::new();
    match requested.to_str().and_then(Profile::known) {
        Some(known) => document.extend_from_slice(known),
        None => {
            let mut file = fs::File::open(requested)
                .map_err(unreadable)?
                .take(PROFILE_BYTES_MAX);
            file.read_to_end(&mut document).map_err(unreadable)?;
        }
    }
    Profile::parse(&document).map_err(|error| format!("{shown}: {error}"))
}
