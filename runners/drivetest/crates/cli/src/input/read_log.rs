//! Reads a log, or an archive of logs, from a file or from standard input.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use drivetest_logs::act::slices::sinks::SinkOptions;
use drivetest_logs::finding::{Finding, rule};
use drivetest_logs::read_error::{
    ARCHIVE_IN_A_PIPE, COMPANION_ARCHIVE, COMPRESSION_UNREADABLE, FILE_UNREADABLE, ReadError,
};
use drivetest_logs::reader::{LogReader, Options, Reading};
use serde::Serialize;

use super::archive::{self, Archive, Kind, Member};
use super::attachments;
use super::background::Background;
use super::content::{Content, End};
use super::decompress::Compression;
use super::digest::StreamDigest;
use super::limits::LimitExceeded;

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
    members: Vec<Member>,
    companions: Vec<Member>,
}

/// A log that was read.
pub struct LogFile {
    /// The file.
    pub input: Input,
    /// What was read of it.
    pub reading: Reading,
    /// Its path as it was given, for people: of two logs of one name it tells which.
    pub path: String,
}

impl LogFile {
    /// The log as people are told of it: the path as given, and the file of an archive behind a `!`.
    pub fn place(&self, member: Option<&str>) -> String {
        member.map_or_else(|| self.path.clone(), |member| format!("{}!{member}", self.path))
    }
}

/// How to read a file, and with what.
pub struct LogFileReader<'a> {
    /// How its runs are read.
    pub options: Options,
    /// What else is made of their intervals.
    pub extras: SinkOptions,
    /// Content that is read at most.
    pub limit_bytes: u64,
    /// Files that belong to the log; an archive brings its own.
    pub attachments: &'a [PathBuf],
}

impl LogFileReader<'_> {
    /// A log by itself, of which nothing more is wanted.
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
        let read = match opened {
            Ok((content, None)) => Ok(self.read_log(content)),
            Ok((_, Some(_))) if path == Path::new("-") => Ok(self.in_a_pipe()),
            Ok((_, Some(_))) if !self.attachments.is_empty() => Ok(self.beside_an_archive()),
            Ok((_, Some(kind))) => self.read_archive(path, kind),
            Err(error) => Err(error),
        };
        let mut log = read.unwrap_or_else(|error| unread(unreadable(LogReader::new(self.options), &error)));
        log.input.name = name(path);
        log.path = path.to_string_lossy().into_owned();
        log
    }

    fn in_a_pipe(&self) -> LogFile {
        unread(refused(LogReader::new(self.options), |_| {
            ARCHIVE_IN_A_PIPE.at(None, "an archive on standard input")
        }))
    }

    /// Which of its logs the files belong to cannot be told.
    fn beside_an_archive(&self) -> LogFile {
        unread(refused(LogReader::new(self.options), |_| {
            COMPANION_ARCHIVE.at(None, "an archive of logs, with files beside it")
        }))
    }

    fn read_archive(&self, path: &Path, kind: Kind) -> io::Result<LogFile> {
        let file = File::open(path)?;
        let archive = Archive::new(&file, kind, self.limit_bytes);
        let begin = |logs_count: usize| begun(self.options, self.extras.clone(), logs_count);
        let read = archive::read(&archive, &begin)?;
        let is_whole = matches!(read.pass.end, End::Whole | End::Trailing(_));
        let (received, content) = (read.pass.received, read.pass.content);
        let content = content.map(|content| (content, is_whole));
        let mut input = input(read.pass.compression, &read.reading, (received, true), content);
        input.members = read.members;
        Ok(LogFile {
            input,
            reading: read.reading,
            path: String::new(),
        })
    }

    fn read_log(&self, mut content: Content<'_>) -> LogFile {
        let compression = content.compression();
        let (options, wanted) = (self.options, self.extras.clone());
        let begin = move || begun(options, wanted.clone(), 1);
        let mut reader = Background::new(begin, LogReader::push, compression != Compression::None);
        let ended = content.pump(|bytes| reader.add(bytes));
        let received_whole = match &ended {
            Ok(End::Stopped(_)) => compression != Compression::None,
            Ok(_) => true,
            Err(_) => false,
        };
        let content_whole = matches!(ended, Ok(End::Whole | End::Trailing(_)));
        let mut reader = reader.finish();
        let given = attachments::read(self.attachments, &mut reader, self.limit_bytes);
        let reading = match given.error {
            Some(error) => refused(reader, |_| error),
            None => end(reader, ended, content.size_bytes()),
        };
        let (received, content) = content.finish();
        let content = content.map(|content| (content, content_whole));
        let mut input = input(compression, &reading, (received, received_whole), content);
        input.companions = given.members;
        LogFile {
            input,
            reading,
            path: String::new(),
        }
    }
}

/// A reader of one of several logs.
fn begun(options: Options, wanted: SinkOptions, logs_count: usize) -> LogReader {
    let mut reader = LogReader::with_share(options, logs_count);
    reader.want(wanted);
    reader
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// A file of which nothing was had.
fn unread(reading: Reading) -> LogFile {
    let nothing = StreamDigest {
        size_bytes: 0,
        sha256: String::new(),
    };
    let input = input(Compression::None, &reading, (nothing, false), None);
    LogFile {
        input,
        reading,
        path: String::new(),
    }
}

/// The file as told, with its sums and whether each is of the whole.
fn input(
    compression: Compression,
    reading: &Reading,
    received: (StreamDigest, bool),
    content: Option<(StreamDigest, bool)>,
) -> Input {
    let hash = |(summed, is_whole): &(StreamDigest, bool)| is_whole.then(|| summed.sha256.clone());
    let content = content.as_ref().unwrap_or(&received);
    Input {
        name: String::new(),
        compression: compression.code(),
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

fn end(mut reader: LogReader, ended: io::Result<End>, content_bytes: u64) -> Reading {
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
        Ok(End::Damaged(error)) => reader.finish_damaged(breaks_off(content_bytes, &error)),
        Ok(End::Stopped(stop)) => stopped(reader, stop),
        Err(error) => unreadable(reader, &error),
    }
}

fn breaks_off(content_bytes: u64, error: &io::Error) -> Finding {
    let sentence =
        format!("the compressed stream breaks off after {content_bytes} bytes of content: {error}");
    rule::COMPRESSION_DAMAGED.at(None, sentence)
}

fn stopped(reader: LogReader, stop: LimitExceeded) -> Reading {
    refused(reader, |line| stop.error(line))
}

fn unreadable(reader: LogReader, error: &io::Error) -> Reading {
    refused(reader, |line| FILE_UNREADABLE.at(line, error.to_string()))
}

fn refused(reader: LogReader, why: impl FnOnce(Option<u64>) -> ReadError) -> Reading {
    let reading = reader.finish();
    let line = Some(reading.lines_count).filter(|&line| line > 0);
    Reading {
        error: Some(why(line)),
        runs: Vec::new(),
        ycsb_runs: Vec::new(),
        findings: Vec::new(),
        ..reading
    }
}
