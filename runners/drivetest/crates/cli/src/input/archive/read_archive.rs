//! Reading of an archive: the first pass lists its files, the second reads the logs, the third their companions.

use std::collections::HashSet;
use std::io::{self, Read};

use drivetest_logs::finding::{Finding, Findings, Rule, rule};
use drivetest_logs::read_error::{ARCHIVE_UNREADABLE, ReadError};
use drivetest_logs::reader::{LogReader, Reading, Role};

use super::entry::{Entry, EntryType, label, oddity};
use super::logs::Logs;
use super::member::{Member, resolve_roles, role_of};
use super::{Archive, Pass, kind};
use crate::input::content::{Content, End};
use crate::input::digest::StreamDigest;
use crate::input::limits::{LimitExceeded, MEMBERS_MAX};

/// First bytes of a file that show its role.
const HEAD_BYTES: usize = 4096;

/// Creates the reader of one of `n` logs.
pub type Begin<'b> = dyn Fn(usize) -> LogReader + 'b;

/// An archive after reading.
pub struct ArchiveRead {
    /// The first pass over it.
    pub pass: Pass,
    /// Its files.
    pub members: Vec<Member>,
    /// The readings of its logs, combined.
    pub reading: Reading,
}

/// Reads an archive.
///
/// # Errors
/// If the file cannot be read.
pub fn read(archive: &Archive<'_>, begin: &Begin<'_>) -> io::Result<ArchiveRead> {
    let mut list = List::default();
    let pass = list.run_first_pass(archive)?;
    let reading = match &pass.end {
        End::Stopped(limit) => failed(limit.error(None), list.findings.into_list()),
        End::Damaged(error) if list.members.is_empty() => {
            let got = format!("a damaged one ({error})");
            failed(ARCHIVE_UNREADABLE.at(None, got), Vec::new())
        }
        End::Complete | End::Trailing(_) | End::Damaged(_) => list.read_logs(archive, begin)?,
    };
    let members = list.members;
    Ok(ArchiveRead {
        pass,
        members,
        reading,
    })
}

fn failed(error: ReadError, findings: Vec<Finding>) -> Reading {
    Reading {
        error: Some(error),
        findings,
        ..Reading::default()
    }
}

/// The result of the first pass.
#[derive(Default)]
struct List {
    members: Vec<Member>,
    /// The position of each member among all entries, ascending.
    positions: Vec<u64>,
    names: HashSet<Vec<u8>>,
    entries_count: u64,
    skipped_count: u64,
    findings: Findings,
}

impl List {
    fn run_first_pass(&mut self, archive: &Archive<'_>) -> io::Result<Pass> {
        let pass = archive.pass(&mut |entry| self.add_entry(entry, archive.limit_bytes()))?;
        resolve_roles(&mut self.members);
        if self.skipped_count > 0 {
            let count = self.skipped_count;
            let sentence =
                format!("expected at most {MEMBERS_MAX} files in an archive; {count} more are not read");
            self.findings.add(rule::TOO_MANY_MEMBERS.at(None, sentence));
        }
        if let End::Damaged(error) = &pass.end {
            let sentence = format!("the archive ends early: {error}");
            self.findings.add(rule::ARCHIVE_DAMAGED.at(None, sentence));
        }
        Ok(pass)
    }

    fn add_entry(&mut self, entry: Entry<'_>, limit_bytes: u64) -> io::Result<()> {
        self.entries_count += 1;
        if entry.entry_type == EntryType::Directory {
            return Ok(());
        }
        if self.members.len() >= MEMBERS_MAX {
            self.skipped_count += 1;
            return Ok(());
        }
        let name = label(&entry.name);
        self.check_name(&entry.name, &name);
        let mut member = Member {
            name,
            size_bytes: entry.size_bytes,
            sha256: None,
            content_sha256: None,
            role: Role::Other,
        };
        match entry.entry_type.skipped() {
            Some(what) => {
                let sentence = format!("expected a file, got {what}");
                self.report(&member.name, &rule::MEMBER_PASSED_OVER, &sentence);
            }
            None => self.inspect(&mut member, entry.bytes, limit_bytes)?,
        }
        self.positions.push(self.entries_count);
        self.members.push(member);
        Ok(())
    }

    fn report(&mut self, name: &str, rule: &Rule, sentence: &str) {
        let finding = rule.at(None, format!("{name}: {sentence}"));
        self.findings.add(finding.of_member(name));
    }

    fn check_name(&mut self, name: &[u8], shown: &str) {
        if let Some(oddity) = oddity(name) {
            let sentence = format!("the name {oddity}; it is used only as a label");
            self.report(shown, &rule::MEMBER_NAME, &sentence);
        }
        if !self.names.insert(name.to_owned()) {
            let sentence = "an earlier file in the archive has the same name";
            self.report(shown, &rule::MEMBER_REPEATED, sentence);
        }
    }

    /// Hashes a file and determines its role.
    fn inspect(
        &mut self,
        member: &mut Member,
        bytes: Box<dyn Read + '_>,
        limit_bytes: u64,
    ) -> io::Result<()> {
        match inspect(bytes, limit_bytes) {
            Ok((received, head)) => {
                member.size_bytes = received.size_bytes;
                member.sha256 = Some(received.sha256);
                if let Some(head) = head {
                    member.role = role_of(&member.name, &head);
                } else {
                    let sentence = "an archive within an archive is not opened";
                    self.report(&member.name, &rule::NESTED_ARCHIVE, sentence);
                }
            }
            Err(error) if LimitExceeded::of(&error).is_some() => return Err(error),
            Err(error) => {
                member.role = role_of(&member.name, b"");
                let sentence = format!("cannot be read to the end: {error}");
                self.report(&member.name, &rule::MEMBER_DAMAGED, &sentence);
            }
        }
        Ok(())
    }

    fn read_logs(&mut self, archive: &Archive<'_>, begin: &Begin<'_>) -> io::Result<Reading> {
        let mut logs = Logs::new(&self.members, &self.positions, begin);
        let exceeded = logs.read(archive)?;
        let digests = logs.content_digests();
        let findings = std::mem::take(&mut self.findings);
        let reading = match exceeded {
            Some(limit) => failed(limit.error(None), findings.into_list()),
            None => logs.finish(findings),
        };
        for (member, sha256) in digests {
            self.members[member].content_sha256 = Some(sha256);
        }
        Ok(reading)
    }
}

/// Returns the digest of a file and its first decompressed bytes, which are None for an archive.
fn inspect(bytes: Box<dyn Read + '_>, limit_bytes: u64) -> io::Result<(StreamDigest, Option<Vec<u8>>)> {
    let mut content = Content::of(bytes, 0, limit_bytes)?;
    let head = content.head(HEAD_BYTES)?;
    let is_archive = kind(&mut content)?.is_some();
    content.skip_rest()?;
    let (received, _) = content.finish();
    Ok((received, (!is_archive).then_some(head)))
}
