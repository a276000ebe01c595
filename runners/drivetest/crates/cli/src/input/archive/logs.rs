//! The logs of an archive, each with a reader of its own that its companions are handed to.

use std::io::{self, Read};

use drivetest_logs::finding::{Finding, Findings, rule};
use drivetest_logs::read_error::{ARCHIVE_WITHOUT_LOG, ReadError};
use drivetest_logs::reader::{LogReader, Part, Reading, Role};
use drivetest_logs::text::decode::Encoding;

use super::Archive;
use super::member::{Member, owner};
use super::read_archive::Begin;
use crate::input::content::{Content, End};
use crate::input::limits::LimitExceeded;

/// Logs of an archive that are read.
pub const LOGS_MAX: usize = 64;

/// A log and how far it is read.
struct Log {
    member: usize,
    has_companions: bool,
    damage: Option<Finding>,
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
    places: &'m [u64],
    begin: &'b Begin<'b>,
    runs_count: usize,
    logs: Vec<Log>,
    left_out_count: usize,
    /// The log that each member belongs to.
    owners: Vec<Option<usize>>,
    used_bytes: u64,
    findings: Vec<Finding>,
}

impl<'m, 'b> Logs<'m, 'b> {
    /// The logs among the members, which stand at these places among all entries.
    pub fn new(members: &'m [Member], places: &'m [u64], begin: &'b Begin<'b>) -> Self {
        let is_log = |at: &usize| members[*at].role == Role::Log;
        let mut all: Vec<usize> = (0..members.len()).filter(is_log).collect();
        let left_out_count = all.len().saturating_sub(LOGS_MAX);
        all.truncate(LOGS_MAX);
        let named: Vec<(usize, &str)> = all
            .iter()
            .enumerate()
            .map(|(log, &member)| (log, members[member].name.as_str()))
            .collect();
        let owners: Vec<Option<usize>> = members
            .iter()
            .map(|member| {
                is_companion(member)
                    .then(|| owner(&member.name, &named))
                    .flatten()
            })
            .collect();
        let log = |(log, member): (usize, usize)| Log {
            member,
            has_companions: owners.contains(&Some(log)),
            damage: None,
            state: State::Waiting,
        };
        Self {
            logs: all.into_iter().enumerate().map(log).collect(),
            members,
            places,
            begin,
            runs_count: 0,
            left_out_count,
            owners,
            used_bytes: 0,
            findings: Vec::new(),
        }
    }

    /// Reads the logs, then what belongs to them; Some where a limit was reached.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn read(&mut self, archive: &Archive<'_>) -> io::Result<Option<LimitExceeded>> {
        let limit_bytes = archive.limit_bytes();
        for companions in [false, true] {
            if companions && self.logs.iter().all(|log| !log.has_companions) {
                break;
            }
            let (mut place, mut next) = (0, 0);
            self.used_bytes = 0;
            let pass = archive.pass(&mut |entry| {
                place += 1;
                if self.places.get(next) != Some(&place) {
                    return Ok(());
                }
                next += 1;
                if entry.nature.passed_over().is_some() {
                    return Ok(());
                }
                if companions {
                    self.take_companion(next - 1, entry.bytes, limit_bytes)
                } else {
                    self.take_log(next - 1, entry.bytes, limit_bytes)
                }
            })?;
            if let End::Stopped(stop) = pass.end {
                return Ok(Some(stop));
            }
        }
        Ok(None)
    }

    /// Puts all readings together, in the order of the archive.
    pub fn finish(self, mut findings: Findings) -> Reading {
        if self.left_out_count > 0 {
            let sentence = format!(
                "expected at most {LOGS_MAX} logs in an archive; {} more are not read",
                self.left_out_count
            );
            findings.add(rule::TOO_MANY_MEMBERS.at(None, sentence));
        }
        self.findings
            .into_iter()
            .for_each(|finding| findings.add(finding));
        let mut whole = Reading {
            error: None,
            findings: Vec::new(),
            runs: Vec::new(),
            ycsb_runs: Vec::new(),
            lines_count: 0,
            encoding: Encoding::default(),
        };
        let mut first_error = None;
        for log in self.logs {
            let name = &self.members[log.member].name;
            if let Some(reading) = log.reading() {
                first_error = first_error.or_else(|| reading.error.clone());
                add(&mut whole, reading, name, &mut findings);
            }
        }
        if whole.runs.is_empty() && whole.ycsb_runs.is_empty() {
            whole.error = Some(first_error.unwrap_or_else(|| without_log(self.members.len())));
        }
        whole.findings = findings.into_list();
        whole
    }

    fn take_log(&mut self, member: usize, bytes: Box<dyn Read + '_>, limit_bytes: u64) -> io::Result<()> {
        let Some(at) = self.logs.iter().position(|log| log.member == member) else {
            return Ok(());
        };
        let parts_count = self.logs.len();
        let mut reader = (self.begin)(parts_count);
        reader.begin_runs_at(self.runs_count);
        let name = &self.members[member].name;
        reader.begin(Part {
            name,
            role: Role::Log,
        });
        let ended = self.feed(&mut reader, bytes, limit_bytes)?;
        self.runs_count = reader.next_ordinal().unwrap_or(self.runs_count);
        let log = &mut self.logs[at];
        match ended {
            Ok(End::Damaged(error)) | Err(error) => {
                let sentence = format!("{name}: breaks off: {error}");
                log.damage = Some(rule::ARCHIVE_DAMAGED.at(None, sentence));
            }
            Ok(End::Trailing(count)) => {
                let sentence = format!("{count} bytes follow the compressed log");
                reader.add_finding(rule::TRAILING_BYTES.at(None, sentence));
            }
            Ok(End::Whole | End::Stopped(_)) => {}
        }
        log.state = State::Open(Box::new(reader));
        if !log.has_companions {
            log.close();
        }
        Ok(())
    }

    fn take_companion(
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
        if let Ok(End::Damaged(error)) | Err(error) = self.feed(&mut reader, bytes, limit_bytes)? {
            let sentence = format!("{name}: cannot be read to its end: {error}");
            self.findings
                .push(rule::MEMBER_DAMAGED.at(None, sentence).of_member(name));
        }
        self.logs[owner].state = State::Open(reader);
        Ok(())
    }

    /// Hands the content of a member to a reader; the outer error is a limit.
    fn feed(
        &mut self,
        reader: &mut LogReader,
        bytes: Box<dyn Read + '_>,
        limit_bytes: u64,
    ) -> io::Result<io::Result<End>> {
        let left_bytes = limit_bytes.saturating_sub(self.used_bytes);
        let mut content = match Content::of(bytes, 0, left_bytes) {
            Ok(content) => content,
            Err(error) => return limited(Err(error)),
        };
        let ended = content.pump(|bytes| reader.push(bytes));
        self.used_bytes += content.size_bytes();
        limited(ended)
    }
}

fn limited(ended: io::Result<End>) -> io::Result<io::Result<End>> {
    match ended {
        Ok(End::Stopped(stop)) => Err(stop.into()),
        Err(error) if LimitExceeded::of(&error).is_some() => Err(error),
        ended => Ok(ended),
    }
}

fn is_companion(member: &Member) -> bool {
    !matches!(member.role, Role::Log | Role::Other)
}

fn without_log(members_count: usize) -> ReadError {
    ARCHIVE_WITHOUT_LOG.at(None, format!("{members_count} files, and no log among them"))
}

fn add(whole: &mut Reading, mut reading: Reading, name: &str, findings: &mut Findings) {
    reading.be_of_member(name, whole.ycsb_runs.len());
    if let Some(error) = reading.error {
        let sentence = format!("{name}: {}", error.sentence);
        findings.add(rule::MEMBER_NOT_READ.at(error.line, sentence).of_member(name));
    }
    reading
        .findings
        .into_iter()
        .for_each(|finding| findings.add(finding));
    whole.runs.append(&mut reading.runs);
    whole.ycsb_runs.append(&mut reading.ycsb_runs);
    whole.lines_count += reading.lines_count;
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
