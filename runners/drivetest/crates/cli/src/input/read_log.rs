//! Reading of a log, or of an archive of logs, from a file or standard input.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use drivetest_logs::act::slices::sinks::SinkOptions;
use drivetest_logs::finding::rule;
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
        let mut reader = Background::new(begin, LogReader::push, compression != Compression::None);
        let ended = content.pump(|bytes| reader.add(bytes));
        let is_received_complete = match &ended {
            Ok(End::Stopped(_)) => compression != Compression::None,
            Ok(_) => true,
            Err(_) => false,
        };
        let is_content_complete = matches!(ended, Ok(End::Complete | End::Trailing(_)));
        let mut reader = reader.finish();
        let (companions, error) = attachments::read(self.attachments, &mut reader, self.limit_bytes);
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
