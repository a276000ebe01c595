//! A log on disk, read and, where a profile is given, judged; what the commands on logs share.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_log::act::listeners::Wanted;
use drivetest_log::finding::{Finding, rule};
use drivetest_log::judge;
use drivetest_log::judge::profile::{Profile, ProfileError};
use drivetest_log::reader::{LogReader, Options, Reading, SLICE_S_DEFAULT};
use drivetest_log::unreadable::{COMPRESSION_UNREADABLE, CONTENT_TOO_LARGE, FILE_UNREADABLE, ReadError};
use serde::Serialize;

use super::behind::Behind;
use super::content::{Content, End};

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
}

/// The file as a document tells it; hashes are null where it could not be read to its end.
#[derive(Serialize)]
pub struct Input {
    /// The file's name without its directory.
    pub name: String,
    compression: &'static str,
    size_bytes: u64,
    sha256: Option<String>,
    content_size_bytes: u64,
    content_sha256: Option<String>,
    lines_count: u64,
    encoding: &'static str,
}

/// A log that was read.
pub struct LogFile {
    /// The file.
    pub input: Input,
    /// What was read of it.
    pub reading: Reading,
}

impl HowToRead {
    /// Reads a log, and judges its runs where a profile is given.
    pub fn read(&self, path: &Path, profile: Option<&Profile>) -> LogFile {
        self.read_wanting(path, profile, Wanted::default())
    }

    /// Reads a log as `read` does, and makes more of its intervals.
    pub fn read_wanting(&self, path: &Path, profile: Option<&Profile>, wanted: Wanted) -> LogFile {
        let profile_slice_s = profile.map(|profile| profile.rules.slice_length_s);
        let slice_s = self.slice_sec.or(profile_slice_s).unwrap_or(SLICE_S_DEFAULT);
        let reading = How {
            options: Options { slice_s },
            wanted,
            limit_bytes: self.content_limit_bytes,
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

/// Reads a log.
pub fn read(path: &Path, options: Options, limit_bytes: u64) -> LogFile {
    let wanted = Wanted::default();
    How {
        options,
        wanted,
        limit_bytes,
    }
    .read(path)
}

struct How {
    options: Options,
    wanted: Wanted,
    limit_bytes: u64,
}

impl How {
    fn read(self, path: &Path) -> LogFile {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy().into_owned();
        match Content::open(path) {
            Ok(content) => read_content(content, name, self),
            Err(error) => unopened(name, unreadable(LogReader::new(self.options), &error)),
        }
    }
}

fn unopened(name: String, reading: Reading) -> LogFile {
    let input = Input {
        name,
        compression: "none",
        size_bytes: 0,
        sha256: None,
        content_size_bytes: 0,
        content_sha256: None,
        lines_count: 0,
        encoding: reading.encoding.code(),
    };
    LogFile { input, reading }
}

fn read_content(mut content: Content, name: String, how: How) -> LogFile {
    let (compression, limit_bytes) = (content.compression(), how.limit_bytes);
    let begin = move || {
        let mut reader = LogReader::new(how.options);
        reader.want(how.wanted.clone());
        reader
    };
    let mut reader = Behind::new(begin, LogReader::push, compression != "none");
    let ended = content.read(limit_bytes, |bytes| reader.add(bytes));
    let received_whole = match &ended {
        Ok(End::TooLarge) => compression != "none",
        Ok(_) => true,
        Err(_) => false,
    };
    let content_whole = matches!(ended, Ok(End::Whole | End::Trailing(_)));
    let reading = end(reader.finish(), ended, content.content_bytes(), limit_bytes);
    let (received, content) = content.finish();
    let content = content.as_ref().unwrap_or(&received);
    let input = Input {
        name,
        compression,
        size_bytes: received.size_bytes,
        sha256: received_whole.then(|| received.sha256.clone()),
        content_size_bytes: content.size_bytes,
        content_sha256: content_whole.then(|| content.sha256.clone()),
        lines_count: reading.lines_count,
        encoding: reading.encoding.code(),
    };
    LogFile { input, reading }
}

fn end(mut reader: LogReader, ended: io::Result<End>, content_bytes: u64, limit_bytes: u64) -> Reading {
    match ended {
        Ok(End::Whole) => reader.finish(),
        Ok(End::Trailing(count)) => {
            reader.add_finding(
                rule::TRAILING_BYTES.at(None, format!("{count} bytes follow the compressed log")),
            );
            reader.finish()
        }
        Ok(End::Damaged(error)) if content_bytes == 0 => refused(reader, |_| {
            COMPRESSION_UNREADABLE.at(None, format!("a damaged one ({error})"))
        }),
        Ok(End::Damaged(error)) => {
            let sentence =
                format!("the compressed stream breaks off after {content_bytes} bytes of content: {error}");
            reader.finish_damaged(rule::COMPRESSION_DAMAGED.at(None, sentence))
        }
        Ok(End::TooLarge) => refused(reader, |line| {
            CONTENT_TOO_LARGE.at(line, format!("more than {limit_bytes} bytes"))
        }),
        Err(error) => unreadable(reader, &error),
    }
}

fn unreadable(reader: LogReader, error: &io::Error) -> Reading {
    refused(reader, |line| {
        FILE_UNREADABLE.at(Some(line).filter(|&line| line > 0), error.to_string())
    })
}

fn refused(reader: LogReader, why: impl FnOnce(u64) -> ReadError) -> Reading {
    let reading = reader.finish();
    let error = Some(why(reading.lines_count));
    Reading {
        error,
        runs: Vec::new(),
        ycsb_runs: Vec::new(),
        findings: Vec::new(),
        lines_count: reading.lines_count,
        encoding: reading.encoding,
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
    /// Logs, plain or compressed with gzip
    #[arg(required = true, value_name = "LOG")]
    pub paths: Vec<PathBuf>,
}

/// A finding as people read it.
pub fn finding_line(finding: &Finding) -> String {
    let severity = format!("{:?}", finding.severity).to_lowercase();
    let place = finding
        .line
        .map_or_else(String::new, |line| format!("line {line}: "));
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
