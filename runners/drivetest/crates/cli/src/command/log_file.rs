//! A log on disk, read and, where a profile is given, judged; what the commands on logs share.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_logs::act::slices::sinks::SinkOptions;
use drivetest_logs::finding::Finding;
use drivetest_logs::judge;
use drivetest_logs::judge::profile::{Profile, ProfileError};
use drivetest_logs::reader::{Options, SLICE_S_DEFAULT};

pub use super::log_read::{How, Input, LogFile};

/// Content that is read at most: a bomb of a few KiB can hold any amount.
pub const CONTENT_LIMIT_BYTES: u64 = 16 << 30;

/// Bytes of a profile that are read at most.
const PROFILE_BYTES_MAX: u64 = 1 << 20;

/// Exit status where a log cannot be read.
pub const EXIT_UNREADABLE: u8 = 3;

/// Exit status for a command line that cannot be understood.
pub const EXIT_USAGE: u8 = 64;

/// How logs are read, in all commands on logs.
#[derive(clap::Args)]
pub struct HowToRead {
    /// Slice length in seconds, rounded up to whole report intervals [default: the profile's, else 3600]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    slice_sec: Option<u64>,
    /// Refuse a log with more content than this, decompressed
    #[arg(long, value_name = "BYTES", default_value_t = CONTENT_LIMIT_BYTES)]
    content_limit_bytes: u64,
    /// A file that belongs to the one LOG: its stderr, command line, configuration, HDR or side file; may be given again
    #[arg(long = "with", value_name = "FILE")]
    companions: Vec<PathBuf>,
}

impl HowToRead {
    /// Says that companions of several logs cannot be told apart; None where they can.
    pub fn refusal(&self, logs: &Logs) -> Option<ExitCode> {
        let is_clear = self.companions.is_empty() || logs.paths.len() == 1;
        (!is_clear).then(|| {
            let count = logs.paths.len();
            complain(&format!(
                "--with FILE belongs to one LOG; got {count} of them: read each by itself"
            ));
            ExitCode::from(EXIT_USAGE)
        })
    }

    /// Reads a log, and judges its runs where a profile is given.
    pub fn read(&self, path: &Path, profile: Option<&Profile>) -> LogFile {
        self.read_wanting(path, profile, SinkOptions::default())
    }

    /// Reads a log as `read` does, and makes more of its intervals.
    pub fn read_wanting(&self, path: &Path, profile: Option<&Profile>, wanted: SinkOptions) -> LogFile {
        let profile_slice_s = profile.map(|profile| profile.rules.slice_length_s);
        let slice_s = self.slice_sec.or(profile_slice_s).unwrap_or(SLICE_S_DEFAULT);
        let reading = How {
            options: Options { slice_s },
            wanted,
            limit_bytes: self.content_limit_bytes,
            companions: &self.companions,
        };
        let mut log = reading.read(path);
        if let Some(profile) = profile {
            log.reading
                .runs
                .iter_mut()
                .for_each(|run| judge::apply(run, profile));
        }
        log
    }
}

/// A profile that was asked for and cannot be used.
#[derive(Debug)]
pub enum BadProfile {
    /// Neither a known name nor a file that can be read.
    Unknown(io::Error),
    /// A file that is no profile.
    Unusable(ProfileError),
}

/// The profile of a name that is compiled in, or else of a file.
pub fn profile(asked: &Path) -> Result<Profile, BadProfile> {
    if let Some(known) = asked.to_str().and_then(Profile::known) {
        return Profile::parse(known).map_err(BadProfile::Unusable);
    }
    let mut document = Vec::new();
    let file = fs::File::open(asked).map_err(BadProfile::Unknown)?;
    file.take(PROFILE_BYTES_MAX)
        .read_to_end(&mut document)
        .map_err(BadProfile::Unknown)?;
    Profile::parse(&document).map_err(BadProfile::Unusable)
}

/// Says why a profile cannot be used; the exit status is that of usage.
pub fn refuse_profile(asked: &Path, bad: &BadProfile) -> ExitCode {
    let known: Vec<&str> = Profile::known_names().collect();
    let (asked, known) = (asked.display(), known.join(", "));
    match bad {
        BadProfile::Unknown(error) if error.kind() == io::ErrorKind::NotFound => {
            complain(&format!(
                "{asked}: no profile of that name and no such file; the profiles compiled in: {known}"
            ));
        }
        BadProfile::Unknown(error) => {
            complain(&format!(
                "{asked}: expected a profile ({known}) or a file with one; got: {error}"
            ));
        }
        BadProfile::Unusable(error) => complain(&format!("{asked}: {error}")),
    }
    ExitCode::from(EXIT_USAGE)
}

/// Says something on the standard error stream; nobody there to read it is no error.
pub fn complain(sentence: &str) {
    let told = writeln!(io::stderr().lock(), "drivetest: {sentence}");
    drop(told);
}

/// Writes to the standard output stream.
///
/// # Errors
/// Where that is closed or full.
pub fn write(text: &str) -> io::Result<()> {
    io::stdout().lock().write_all(text.as_bytes())
}

/// The exit status where the answer cannot be written; a reader that closed the pipe has read enough.
pub fn unwritable(error: &io::Error, status: u8) -> ExitCode {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return ExitCode::from(status);
    }
    complain(&format!("standard output: cannot be written: {error}"));
    ExitCode::from(EXIT_UNREADABLE)
}

/// Prints a command's answer and gives its exit status.
pub fn answer(text: &str, status: u8) -> ExitCode {
    write(text).map_or_else(|error| unwritable(&error, status), |()| ExitCode::from(status))
}

/// The paths that all commands on logs take.
#[derive(clap::Args)]
pub struct Logs {
    /// Logs, plain or compressed with gzip, zstd or xz, or archives of them (tar, zip); - reads standard input
    #[arg(required = true, value_name = "LOG")]
    pub paths: Vec<PathBuf>,
}

/// Where something was found: the file of an archive, where the sentence does not begin with it, and the line.
pub fn place(finding: &Finding) -> String {
    let told = |member: &&String| !finding.sentence.starts_with(member.as_str());
    let member = finding.member.as_ref().filter(told);
    let line = finding.line.map(|line| format!("line {line}"));
    let parts: Vec<String> = member.cloned().into_iter().chain(line).collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("{}: ", parts.join(" "))
    }
}

/// A finding as people read it.
pub fn finding_line(finding: &Finding) -> String {
    let severity = format!("{:?}", finding.severity).to_lowercase();
    let place = place(finding);
    let remedy = if finding.remedy.is_empty() {
        String::new()
    } else {
        format!("; {}", finding.remedy)
    };
    format!(
        "  {severity:7} {}: {place}{}{remedy}\n",
        finding.id, finding.sentence
    )
}
