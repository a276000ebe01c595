//! Reading of a log or of an archive of logs: the options that all commands on logs share, the profile that judges the log,
//! the log itself, and the files given with --with.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use drivetest_logs::act::slices::sinks::SinkOptions;
use drivetest_logs::finding::rule;
use drivetest_logs::judge;
use drivetest_logs::judge::profile::Profile;
use drivetest_logs::judge::verdict::Verdict;
use drivetest_logs::read_error::{
    ARCHIVE_IN_A_PIPE, COMPANION_ARCHIVE, COMPRESSION_UNREADABLE, FILE_UNREADABLE, ReadError,
};
use drivetest_logs::reader::{LogReader, Options, Part, Reading, Role, SLICE_S_DEFAULT};
use serde::Serialize;

use crate::input::archive::{self, Archive, Kind, Member, role_of};
use crate::input::background::Background;
use crate::input::content::{Content, End};
use crate::input::decompress::Compression;
use crate::input::digest::StreamDigest;
use crate::input::limits::{CONTENT_LIMIT, LimitExceeded};
use crate::output::{EXIT_USAGE, print_diagnostic};
use crate::size;

/// The file in the JSON document. Hashes are null if the file could not be read to its end.
#[derive(Serialize)]
pub struct Input {
    /// The file's name without its directory.
    pub name: String,
    compression: Compression,
    size_bytes: u64,
    sha256: Option<String>,
    content_size_bytes: u64,
    content_sha256: Option<String>,
    lines_count: u64,
    encoding: &'static str,
    members: Vec<Member>,
    companions: Vec<Member>,
}

/// A log after reading.
pub struct LogFile {
    /// The file.
    pub input: Input,
    /// The result of reading.
    pub reading: Reading,
    /// The path as given, which distinguishes logs with the same name.
    pub path: String,
}

impl LogFile {
    /// Returns why the log cannot be read; `None` if it was read.
    pub fn error_text(&self) -> Option<String> {
        let error = self.reading.error.as_ref()?;
        let (path, id, sentence) = (&self.path, error.id, &error.sentence);
        Some(format!("{path}: cannot be read ({id}): {sentence}\n"))
    }

    /// Returns the log's name in messages: the path as given, and `!` with the file in an archive.
    pub fn place(&self, member: Option<&str>) -> String {
        member.map_or_else(|| self.path.clone(), |member| format!("{}!{member}", self.path))
    }
}

/// Reads log files with fixed options.
pub struct LogFileReader<'a> {
    /// Options of the log reader.
    pub options: Options,
    /// Additional outputs: series and table rows.
    pub extras: SinkOptions,
    /// Maximum size of the decompressed content.
    pub limit_bytes: u64,
    /// Files that belong to the log. An archive contains its own.
    pub attachments: &'a [PathBuf],
}

impl LogFileReader<'_> {
    /// Returns a reader without attachments and additional outputs.
    pub fn plain(options: Options, limit_bytes: u64) -> Self {
        Self {
            options,
            extras: SinkOptions::default(),
            limit_bytes,
            attachments: &[],
        }
    }

    /// Reads a log, or all logs of an archive.
    pub fn read(&self, path: &Path) -> LogFile {
        let opened = Content::open(path, self.limit_bytes).and_then(|mut content| {
            let kind = archive::kind(&mut content)?;
            Ok((content, kind))
        });
        let refuse = |error: ReadError| failed(refused(LogReader::new(self.options), |_| error));
        let read = opened.and_then(|(content, kind)| match kind {
            None => Ok(self.read_log(content)),
            Some(_) if path == Path::new("-") => {
                Ok(refuse(ARCHIVE_IN_A_PIPE.at(None, "an archive on standard input")))
            }
            Some(_) if !self.attachments.is_empty() => {
                // They could belong to any log of the archive.
                Ok(refuse(
                    COMPANION_ARCHIVE.at(None, "an archive of logs with attachments"),
                ))
            }
            Some(kind) => self.read_archive(path, kind),
        });
        let read = read.unwrap_or_else(|error| failed(unreadable(LogReader::new(self.options), &error)));
        let (mut input, reading) = read;
        let name = path.file_name().unwrap_or(path.as_os_str());
        input.name = name.to_string_lossy().into_owned();
        let path = path.to_string_lossy().into_owned();
        LogFile { input, reading, path }
    }

    fn read_archive(&self, path: &Path, kind: Kind) -> io::Result<(Input, Reading)> {
        let file = File::open(path)?;
        let archive = Archive::new(&file, kind, self.limit_bytes);
        let begin = |logs_count: usize| new_reader(self.options, self.extras.clone(), logs_count);
        let read = archive::read(&archive, &begin)?;
        let is_complete = matches!(read.pass.end, End::Complete | End::Trailing(_));
        let (received, content) = (read.pass.received, read.pass.content);
        let content = content.map(|content| (content, is_complete));
        let mut input = input(read.pass.compression, &read.reading, (received, true), content);
        input.members = read.members;
        Ok((input, read.reading))
    }

    fn read_log(&self, mut content: Content<'_>) -> (Input, Reading) {
        let compression = content.compression();
        let (options, wanted) = (self.options, self.extras.clone());
        let begin = move || new_reader(options, wanted.clone(), 1);
        let mut reader = Background::new(begin, LogReader::push, content.is_long());
        let ended = content.pump(|bytes| reader.add(bytes));
        let is_received_complete = match &ended {
            Ok(End::Stopped(_)) => compression != Compression::None,
            Ok(_) => true,
            Err(_) => false,
        };
        let is_content_complete = matches!(ended, Ok(End::Complete | End::Trailing(_)));
        let mut reader = reader.finish();
        let (companions, error) = read_attachments(self.attachments, &mut reader, self.limit_bytes);
        let reading = match error {
            Some(error) => refused(reader, |_| error),
            None => finish(reader, ended, content.size_bytes()),
        };
        let (received, content) = content.finish();
        let content = content.map(|content| (content, is_content_complete));
        let mut input = input(compression, &reading, (received, is_received_complete), content);
        input.companions = companions;
        (input, reading)
    }
}

/// Creates the reader of one of several logs.
fn new_reader(options: Options, wanted: SinkOptions, logs_count: usize) -> LogReader {
    let mut reader = LogReader::with_share(options, logs_count);
    reader.set_sinks(wanted);
    reader
}

/// Returns a file that could not be read at all.
fn failed(reading: Reading) -> (Input, Reading) {
    let nothing = StreamDigest {
        size_bytes: 0,
        sha256: String::new(),
    };
    (
        input(Compression::None, &reading, (nothing, false), None),
        reading,
    )
}

/// Returns the file for the JSON document, from its digests and whether each covers all bytes.
fn input(
    compression: Compression,
    reading: &Reading,
    received: (StreamDigest, bool),
    content: Option<(StreamDigest, bool)>,
) -> Input {
    let hash = |(digest, is_complete): &(StreamDigest, bool)| is_complete.then(|| digest.sha256.clone());
    let content = content.as_ref().unwrap_or(&received);
    Input {
        name: String::new(),
        compression,
        size_bytes: received.0.size_bytes,
        sha256: hash(&received),
        content_size_bytes: content.0.size_bytes,
        content_sha256: hash(content),
        lines_count: reading.lines_count,
        encoding: reading.encoding.code(),
        members: Vec::new(),
        companions: Vec::new(),
    }
}

fn finish(mut reader: LogReader, ended: io::Result<End>, content_bytes: u64) -> Reading {
    match ended {
        Ok(End::Complete) => reader.finish(),
        Ok(End::Trailing(count)) => {
            let sentence = format!("{count} bytes follow the compressed log");
            reader.add_finding(rule::TRAILING_BYTES.at(None, sentence));
            reader.finish()
        }
        Ok(End::Damaged(error)) if content_bytes == 0 => {
            let got = format!("a damaged one ({error})");
            refused(reader, |_| COMPRESSION_UNREADABLE.at(None, got))
        }
        Ok(End::Damaged(error)) => {
            let sentence =
                format!("the compressed stream ends early, after {content_bytes} bytes of content: {error}");
            reader.finish_damaged(rule::COMPRESSION_DAMAGED.at(None, sentence))
        }
        Ok(End::Stopped(limit)) => refused(reader, |line| limit.error(line)),
        Err(error) => unreadable(reader, &error),
    }
}

fn unreadable(reader: LogReader, error: &io::Error) -> Reading {
    refused(reader, |line| FILE_UNREADABLE.at(line, error.to_string()))
}

fn refused(reader: LogReader, why: impl FnOnce(Option<u64>) -> ReadError) -> Reading {
    let reading = reader.finish();
    let line = Some(reading.lines_count).filter(|&line| line > 0);
    Reading {
        error: Some(why(line)),
        lines_count: reading.lines_count,
        encoding: reading.encoding,
        ..Reading::default()
    }
}

/// First bytes of a file that show its role if its name does not.
const HEAD_BYTES: usize = 4096;

/// Passes files to the reader of their log. Returns them up to the first that cannot be read, and the reason.
fn read_attachments(
    paths: &[PathBuf],
    reader: &mut LogReader,
    limit_bytes: u64,
) -> (Vec<Member>, Option<ReadError>) {
    let mut members = Vec::new();
    for path in paths {
        let error = match read_attachment(path, reader, limit_bytes) {
            Ok(Some(member)) => {
                members.push(member);
                continue;
            }
            Ok(None) => COMPANION_ARCHIVE.at(None, format!("{}: an archive", path.display())),
            Err(error) => attachment_error(path, &error),
        };
        return (members, Some(error));
    }
    (members, None)
}

fn attachment_error(path: &Path, error: &io::Error) -> ReadError {
    match LimitExceeded::of(error) {
        Some(limit) => limit.error(None),
        None => FILE_UNREADABLE.at(None, format!("{}: {error}", path.display())),
    }
}

/// Reads one attachment. Returns None for an archive, because its files could belong to several logs.
fn read_attachment(path: &Path, reader: &mut LogReader, limit_bytes: u64) -> io::Result<Option<Member>> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy().into_owned();
    let mut content = Content::open(path, limit_bytes)?;
    if archive::kind(&mut content)?.is_some() {
        return Ok(None);
    }
    let head = content.head(HEAD_BYTES)?;
    let role = match role_of(&name, &head) {
        // The LOG argument names the log. A second log is some other output.
        Role::Log => Role::Other,
        role => role,
    };
    reader.begin(Part { name: &name, role });
    match content.pump(|bytes| reader.push(bytes))? {
        End::Complete | End::Trailing(_) => {}
        End::Damaged(error) => return Err(error),
        End::Stopped(limit) => return Err(limit.into()),
    }
    let (received, _) = content.finish();
    Ok(Some(Member {
        name,
        size_bytes: received.size_bytes,
        sha256: Some(received.sha256),
        content_sha256: None,
        role,
    }))
}

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
    /// Maximum size of a log's decompressed content; a larger log is refused
    #[arg(long, value_name = "SIZE", default_value = CONTENT_LIMIT, value_parser = size::parse)]
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

    /// Returns the files that belong to the only log.
    pub fn attachments(&self) -> &[PathBuf] {
        &self.attachments
    }

    /// Returns the requested slice length, or the default without a profile.
    pub fn slice_s(&self) -> u64 {
        self.slice_sec.unwrap_or(SLICE_S_DEFAULT)
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

/// Judges the first run of a plain log by the default profile, as `drivetest check` does. None if the log cannot be
/// read or has no run.
pub fn default_verdict(log: &Path, side_file: Option<&Path>) -> Option<Verdict> {
    let options = ReadOptions {
        slice_sec: None,
        content_limit_bytes: u64::MAX,
        attachments: side_file.map(Path::to_owned).into_iter().collect(),
    };
    let profile = Profile::default_profile()?;
    // Reading a pipe would wait for its writer.
    let log = log
        .is_file()
        .then(|| options.read(log, Some(&profile), SinkOptions::default()))?;
    log.reading.runs.into_iter().next()?.verdict
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
