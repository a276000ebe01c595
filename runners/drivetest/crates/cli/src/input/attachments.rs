//! The files that are given beside a log on the command line.

use std::io;
use std::path::{Path, PathBuf};

use drivetest_logs::read_error::{COMPANION_ARCHIVE, FILE_UNREADABLE, ReadError};
use drivetest_logs::reader::{LogReader, Part, Role};

use super::archive::{self, Member, role_of};
use super::content::{Content, End};
use super::limits::LimitExceeded;

/// What of a file shows its role where its name does not.
const HEAD_BYTES: usize = 4096;

/// Files that were handed to a reader.
pub struct Given {
    /// The files as documents tell them.
    pub members: Vec<Member>,
    /// Why one of them cannot be read.
    pub error: Option<ReadError>,
}

/// Hands files to the reader of the log that they belong to, in their order, up to one that cannot be read.
pub fn read(paths: &[PathBuf], reader: &mut LogReader, limit_bytes: u64) -> Given {
    let mut given = Given {
        members: Vec::new(),
        error: None,
    };
    for path in paths {
        given.error = match read_one(path, reader, limit_bytes) {
            Ok(Some(member)) => {
                given.members.push(member);
                continue;
            }
            Ok(None) => Some(COMPANION_ARCHIVE.at(None, format!("{}: an archive", path.display()))),
            Err(error) => Some(refusal(path, &error)),
        };
        break;
    }
    given
}

fn refusal(path: &Path, error: &io::Error) -> ReadError {
    match LimitExceeded::of(error) {
        Some(stop) => stop.error(None),
        None => FILE_UNREADABLE.at(None, format!("{}: {error}", path.display())),
    }
}

/// None for an archive: which of its files belongs to what cannot be told.
fn read_one(path: &Path, reader: &mut LogReader, limit_bytes: u64) -> io::Result<Option<Member>> {
    let name = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned();
    let mut content = Content::open(path, limit_bytes)?;
    if archive::kind(&mut content)?.is_some() {
        return Ok(None);
    }
    let head = content.head(HEAD_BYTES)?;
    let role = match role_of(&name, &head) {
        // The log is the one that was named; a second one beside it is what else was printed.
        Role::Log => Role::Other,
        role => role,
    };
    reader.begin(Part { name: &name, role });
    match content.pump(|bytes| reader.push(bytes))? {
        End::Whole | End::Trailing(_) => {}
        End::Damaged(error) => return Err(error),
        End::Stopped(stop) => return Err(stop.into()),
    }
    let (received, _) = content.finish();
    Ok(Some(Member {
        name,
        size_bytes: received.size_bytes,
        sha256: Some(received.sha256),
        role,
    }))
}
