//! Attachments of a log: the files given with --with.

use std::io;
use std::path::{Path, PathBuf};

use drivetest_logs::read_error::{COMPANION_ARCHIVE, FILE_UNREADABLE, ReadError};
use drivetest_logs::reader::{LogReader, Part, Role};

use super::archive::{self, Member, role_of};
use super::bomb_limits::LimitExceeded;
use super::content::{Content, End};

/// First bytes of a file that show its role if its name does not.
const HEAD_BYTES: usize = 4096;

/// Passes files to the reader of their log. Returns them up to the first that cannot be read, and the reason.
pub fn read(paths: &[PathBuf], reader: &mut LogReader, limit_bytes: u64) -> (Vec<Member>, Option<ReadError>) {
    let mut members = Vec::new();
    for path in paths {
        let error = match read_one(path, reader, limit_bytes) {
            Ok(Some(member)) => {
                members.push(member);
                continue;
            }
            Ok(None) => COMPANION_ARCHIVE.at(None, format!("{}: an archive", path.display())),
            Err(error) => read_error(path, &error),
        };
        return (members, Some(error));
    }
    (members, None)
}

fn read_error(path: &Path, error: &io::Error) -> ReadError {
    match LimitExceeded::of(error) {
        Some(limit) => limit.error(None),
        None => FILE_UNREADABLE.at(None, format!("{}: {error}", path.display())),
    }
}

/// Reads one attachment. Returns None for an archive, because its files could belong to several logs.
fn read_one(path: &Path, reader: &mut LogReader, limit_bytes: u64) -> io::Result<Option<Member>> {
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
        role,
    }))
}
