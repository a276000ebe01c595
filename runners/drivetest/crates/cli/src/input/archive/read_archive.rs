//! Reads an archive: its files are listed in a first pass, its logs read in a second, what belongs to them in a third.

use std::collections::HashSet;
use std::io::{self, Read};

use drivetest_logs::finding::{Finding, Findings, Rule, rule};
use drivetest_logs::read_error::{ARCHIVE_UNREADABLE, ReadError};
use drivetest_logs::reader::{LogReader, Reading, Role};
use drivetest_logs::text::decode::Encoding;

use super::entry::{Entry, Nature, label, oddity};
use super::logs::Logs;
use super::member::{Member, role_of, settle_roles};
use super::{Archive, Pass, kind};
use crate::input::content::{Content, End};
use crate::input::limits::LimitExceeded;

/// Files of an archive that are listed and may be read; further ones are counted.
pub const MEMBERS_MAX: usize = 1000;

/// Bytes that tell what a file is.
const HEAD_BYTES: usize = 4096;

/// Makes the reader of one of so many logs.
pub type Begin<'b> = dyn Fn(usize) -> LogReader + 'b;

/// An archive that was read.
pub struct ArchiveRead {
    /// The first pass over it.
    pub pass: Pass,
    /// Its files.
    pub members: Vec<Member>,
    /// What was read of its logs.
    pub reading: Reading,
}

/// Reads an archive.
///
/// # Errors
/// Where the file cannot be read.
pub fn read(archive: &Archive<'_>, begin: &Begin<'_>) -> io::Result<ArchiveRead> {
    let mut list = List::default();
    let pass = list.fill(archive)?;
    let reading = match &pass.end {
        End::Stopped(stop) => unread(stop.error(None), list.findings.into_list()),
        End::Damaged(error) if list.members.is_empty() => {
            let got = format!("a damaged one ({error})");
            unread(ARCHIVE_UNREADABLE.at(None, got), Vec::new())
        }
        End::Whole | End::Trailing(_) | End::Damaged(_) => list.read_logs(archive, begin)?,
    };
    let members = list.members;
    Ok(ArchiveRead {
        pass,
        members,
        reading,
    })
}

fn unread(error: ReadError, findings: Vec<Finding>) -> Reading {
    Reading {
        error: Some(error),
        findings,
        runs: Vec::new(),
        ycsb_runs: Vec::new(),
        lines_count: 0,
        encoding: Encoding::default(),
    }
}

/// What the first pass found.
#[derive(Default)]
struct List {
    members: Vec<Member>,
    /// The place of each member among all entries, rising.
    places: Vec<u64>,
    names: HashSet<Vec<u8>>,
    entries_count: u64,
    left_out_count: u64,
    findings: Findings,
}

impl List {
    fn fill(&mut self, archive: &Archive<'_>) -> io::Result<Pass> {
        let pass = archive.pass(&mut |entry| self.take(entry, archive.limit_bytes()))?;
        settle_roles(&mut self.members);
        if self.left_out_count > 0 {
            let sentence = format!(
                "expected at most {MEMBERS_MAX} files in an archive; {} more are not read",
                self.left_out_count
            );
            self.findings.add(rule::TOO_MANY_MEMBERS.at(None, sentence));
        }
        if let End::Damaged(error) = &pass.end {
            let sentence = format!("the archive breaks off: {error}");
            self.findings.add(rule::ARCHIVE_DAMAGED.at(None, sentence));
        }
        Ok(pass)
    }

    fn take(&mut self, entry: Entry<'_>, limit_bytes: u64) -> io::Result<()> {
        self.entries_count += 1;
        if entry.nature == Nature::Directory {
            return Ok(());
        }
        if self.members.len() >= MEMBERS_MAX {
            self.left_out_count += 1;
            return Ok(());
        }
        let name = label(&entry.name);
        self.tell_name(&entry.name, &name);
        let mut member = Member {
            name,
            size_bytes: entry.size_bytes,
            sha256: None,
            role: Role::Other,
        };
        match entry.nature.passed_over() {
            Some(what) => self.tell(
                &member.name,
                &rule::MEMBER_PASSED_OVER,
                &format!("expected a file, got {what}"),
            ),
            None => self.look(&mut member, entry.bytes, limit_bytes)?,
        }
        self.places.push(self.entries_count);
        self.members.push(member);
        Ok(())
    }

    fn tell(&mut self, name: &str, rule: &Rule, sentence: &str) {
        let finding = rule.at(None, format!("{name}: {sentence}"));
        self.findings.add(finding.of_member(name));
    }

    fn tell_name(&mut self, name: &[u8], shown: &str) {
        if let Some(oddity) = oddity(name) {
            self.tell(
                shown,
                &rule::MEMBER_NAME,
                &format!("the name {oddity}; it is a label only"),
            );
        }
        if !self.names.insert(name.to_owned()) {
            self.tell(
                shown,
                &rule::MEMBER_REPEATED,
                "the name stands in the archive before",
            );
        }
    }

    /// Hashes a file and tells its role.
    fn look(&mut self, member: &mut Member, bytes: Box<dyn Read + '_>, limit_bytes: u64) -> io::Result<()> {
        match looked_at(bytes, limit_bytes) {
            Ok(looked) => {
                member.size_bytes = looked.size_bytes;
                member.sha256 = Some(looked.sha256);
                if looked.is_archive {
                    self.tell(
                        &member.name,
                        &rule::NESTED_ARCHIVE,
                        "an archive within an archive is not opened",
                    );
                } else {
                    member.role = role_of(&member.name, &looked.head);
                }
            }
            Err(error) if LimitExceeded::of(&error).is_some() => return Err(error),
            Err(error) => {
                member.role = role_of(&member.name, b"");
                self.tell(
                    &member.name,
                    &rule::MEMBER_DAMAGED,
                    &format!("cannot be read to its end: {error}"),
                );
            }
        }
        Ok(())
    }

    fn read_logs(&mut self, archive: &Archive<'_>, begin: &Begin<'_>) -> io::Result<Reading> {
        let mut logs = Logs::new(&self.members, &self.places, begin);
        let stopped = logs.read(archive)?;
        let findings = std::mem::take(&mut self.findings);
        Ok(match stopped {
            Some(stop) => unread(stop.error(None), findings.into_list()),
            None => logs.finish(findings),
        })
    }
}

struct Looked {
    size_bytes: u64,
    sha256: String,
    head: Vec<u8>,
    is_archive: bool,
}

fn looked_at(bytes: Box<dyn Read + '_>, limit_bytes: u64) -> io::Result<Looked> {
    let mut content = Content::of(bytes, 0, limit_bytes)?;
    let head = content.head(HEAD_BYTES)?;
    let is_archive = kind(&mut content)?.is_some();
    content.pass_over()?;
    let (received, _) = content.finish();
    Ok(Looked {
        size_bytes: received.size_bytes,
        sha256: received.sha256,
        head,
        is_archive,
    })
}
