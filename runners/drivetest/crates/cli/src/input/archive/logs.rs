//! The logs of an archive. Each has its own reader, which also receives its companion files.

use std::io::{self, Read};

use drivetest_logs::finding::{Finding, Findings, rule};
use drivetest_logs::read_error::{ARCHIVE_WITHOUT_LOG, ReadError};
use drivetest_logs::reader::{LogReader, Part, Reading, Role};

use super::Archive;
use super::member::{Member, owner};
use super::read_archive::Begin;
use crate::input::content::{Content, End};
use crate::input::limits::{LOGS_MAX, LimitExceeded};

/// A log and the state of its reading.
struct Log {
    member: usize,
    has_companions: bool,
    damage: Option<Finding>,
    /// The SHA-256 of the decompressed bytes, if the log is compressed and was read to its end.
    content_sha256: Option<String>,
    state: State,
}

enum State {
    Waiting,
    Open(Box<LogReader>),
    Read(Box<Reading>),
}

/// The logs of an archive.
pub struct Logs<'m, 'b> {
    members: &'m [Member],
    positions: &'m [u64],
    begin: &'b Begin<'b>,
    runs_count: usize,
    logs: Vec<Log>,
    skipped_count: usize,
    /// The log of each companion.
    owners: Vec<Option<usize>>,
    used_bytes: u64,
    findings: Vec<Finding>,
}

impl<'m, 'b> Logs<'m, 'b> {
    /// Finds the logs among the members, which have these positions among all entries.
    pub fn new(members: &'m [Member], positions: &'m [u64], begin: &'b Begin<'b>) -> Self {
        let is_log = |at: &usize| members[*at].role == Role::Log;
        let mut all: Vec<usize> = (0..members.len()).filter(is_log).collect();
        let skipped_count = all.len().saturating_sub(LOGS_MAX);
        all.truncate(LOGS_MAX);
        let named = all.iter().map(|&member| members[member].name.as_str());
        let named: Vec<(usize, &str)> = named.enumerate().collect();
        let owner_of = |member: &Member| owner(&member.name, &named).filter(|_| is_companion(member));
        let owners: Vec<Option<usize>> = members.iter().map(owner_of).collect();
        let log = |(log, member): (usize, usize)| Log {
            member,
            has_companions: owners.contains(&Some(log)),
            damage: None,
            content_sha256: None,
            state: State::Waiting,
        };
        Self {
            logs: all.into_iter().enumerate().map(log).collect(),
            members,
            positions,
            begin,
            runs_count: 0,
            skipped_count,
            owners,
            used_bytes: 0,
            findings: Vec::new(),
        }
    }

    /// Reads the logs, then their companions. Returns the limit that was exceeded, if any.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&mut self, archive: &Archive<'_>) -> io::Result<Option<LimitExceeded>> {
        let limit_bytes = archive.limit_bytes();
        for companions in [false, true] {
            if companions && self.logs.iter().all(|log| !log.has_companions) {
                break;
            }
            let (mut position, mut next) = (0, 0);
            self.used_bytes = 0;
            let pass = archive.pass(&mut |entry| {
                position += 1;
                if self.positions.get(next) != Some(&position) {
                    return Ok(());
                }
                next += 1;
                if entry.entry_type.skipped().is_some() {
                    return Ok(());
                }
                if companions {
                    self.read_companion(next - 1, entry.bytes, limit_bytes)
                } else {
                    self.read_log(next - 1, entry.bytes, limit_bytes)
                }
            })?;
            if let End::Stopped(limit) = pass.end {
                return Ok(Some(limit));
            }
        }
        Ok(None)
    }

    /// Returns the members that are compressed logs, each with the SHA-256 of its decompressed bytes.
    pub fn content_digests(&self) -> Vec<(usize, String)> {
        let digest = |log: &Log| log.content_sha256.clone().map(|sha256| (log.member, sha256));
        self.logs.iter().filter_map(digest).collect()
    }

    /// Combines all readings, in the order of the archive.
    pub fn finish(self, mut findings: Findings) -> Reading {
        if self.skipped_count > 0 {
            let count = self.skipped_count;
            let sentence =
                format!("expected at most {LOGS_MAX} logs in an archive; {count} more are not read");
            findings.add(rule::TOO_MANY_MEMBERS.at(None, sentence));
        }
        findings.add_all(self.findings);
        let mut combined = Reading::default();
        let mut first_error = None;
        for log in self.logs {
            let name = &self.members[log.member].name;
            if let Some(reading) = log.reading() {
                first_error = first_error.or_else(|| reading.error.clone());
                combine(&mut combined, reading, name, &mut findings);
            }
        }
        if combined.runs.is_empty() && combined.ycsb_runs.is_empty() {
            combined.error = Some(first_error.unwrap_or_else(|| no_log(self.members.len())));
        }
        combined.findings = findings.into_list();
        combined
    }

    fn read_log(&mut self, member: usize, bytes: Box<dyn Read + '_>, limit_bytes: u64) -> io::Result<()> {
        let Some(at) = self.logs.iter().position(|log| log.member == member) else {
            return Ok(());
        };
        let parts_count = self.logs.len();
        let mut reader = (self.begin)(parts_count);
        reader.begin_runs_at(self.runs_count);
        let (name, role) = (&self.members[member].name, Role::Log);
        reader.begin(Part { name, role });
        let (ended, content_sha256) = self.feed(&mut reader, bytes, limit_bytes)?;
        self.runs_count = reader.next_ordinal().unwrap_or(self.runs_count);
        let log = &mut self.logs[at];
        log.content_sha256 = content_sha256;
        match ended {
            Ok(End::Damaged(error)) | Err(error) => {
                let sentence = format!("{name}: ends early: {error}");
                log.damage = Some(rule::ARCHIVE_DAMAGED.at(None, sentence));
            }
            Ok(End::Trailing(count)) => {
                let sentence = format!("{count} bytes follow the compressed log");
                reader.add_finding(rule::TRAILING_BYTES.at(None, sentence));
            }
            Ok(End::Complete | End::Stopped(_)) => {}
        }
        log.state = State::Open(Box::new(reader));
        if !log.has_companions {
            log.close();
        }
        Ok(())
    }

    fn read_companion(
        &mut self,
        member: usize,
        bytes: Box<dyn Read + '_>,
        limit_bytes: u64,
    ) -> io::Result<()> {
        let Some(owner) = self.owners[member] else {
            return Ok(());
        };
        let Member { name, role, .. } = &self.members[member];
        let state = std::mem::replace(&mut self.logs[owner].state, State::Waiting);
        let State::Open(mut reader) = state else {
            self.logs[owner].state = state;
            return Ok(());
        };
        reader.begin(Part { name, role: *role });
        let (ended, _) = self.feed(&mut reader, bytes, limit_bytes)?;
        if let Ok(End::Damaged(error)) | Err(error) = ended {
            let sentence = format!("{name}: cannot be read to the end: {error}");
            let finding = rule::MEMBER_DAMAGED.at(None, sentence);
            self.findings.push(finding.of_member(name));
        }
        self.logs[owner].state = State::Open(reader);
        Ok(())
    }

    /// Passes the content of a member to a reader. Returns how the reading ended, and the SHA-256 of the decompressed bytes
    /// if the member is compressed and complete. The outer error is an exceeded limit.
    fn feed(
        &mut self,
        reader: &mut LogReader,
        bytes: Box<dyn Read + '_>,
        limit_bytes: u64,
    ) -> io::Result<(io::Result<End>, Option<String>)> {
        let left_bytes = limit_bytes.saturating_sub(self.used_bytes);
        let mut content = match Content::of(bytes, 0, left_bytes) {
            Ok(content) => content,
            Err(error) => return Ok((separate_limit(Err(error))?, None)),
        };
        let ended = separate_limit(content.pump(|bytes| reader.push(bytes)));
        self.used_bytes += content.size_bytes();
        let ended = ended?;
        let is_complete = matches!(ended, Ok(End::Complete | End::Trailing(_)));
        let (_, decompressed) = content.finish();
        let sha256 = decompressed.filter(|_| is_complete).map(|digest| digest.sha256);
        Ok((ended, sha256))
    }
}

fn separate_limit(ended: io::Result<End>) -> io::Result<io::Result<End>> {
    match ended {
        Ok(End::Stopped(limit)) => Err(limit.into()),
        Err(error) if LimitExceeded::of(&error).is_some() => Err(error),
        ended => Ok(ended),
    }
}

fn is_companion(member: &Member) -> bool {
    !matches!(member.role, Role::Log | Role::Other)
}

fn no_log(members_count: usize) -> ReadError {
    ARCHIVE_WITHOUT_LOG.at(None, format!("{members_count} files without a log"))
}

fn combine(combined: &mut Reading, mut reading: Reading, name: &str, findings: &mut Findings) {
    reading.be_of_member(name, combined.ycsb_runs.len());
    if let Some(error) = reading.error {
        let sentence = format!("{name}: {}", error.sentence);
        findings.add(rule::MEMBER_NOT_READ.at(error.line, sentence).of_member(name));
    }
    findings.add_all(reading.findings);
    combined.runs.append(&mut reading.runs);
    combined.ycsb_runs.append(&mut reading.ycsb_runs);
    combined.lines_count += reading.lines_count;
}

impl Log {
    fn close(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Waiting) {
            State::Open(reader) => State::Read(Box::new(match self.damage.take() {
                Some(damage) => reader.finish_damaged(damage),
                None => reader.finish(),
            })),
            state => state,
        };
    }

    fn reading(mut self) -> Option<Reading> {
        self.close();
        match self.state {
            State::Read(reading) => Some(*reading),
            State::Waiting | State::Open(_) => None,
        }
    }
}
