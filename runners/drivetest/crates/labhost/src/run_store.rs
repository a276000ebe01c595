//! The one directory that this program writes into.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::error::HostError;
use crate::validated_name;

/// What the register may send: the configuration of a load. Everything else in a run directory is written on the host.
const SENT: [(&str, u64); 1] = [("config", 1 << 20)];

/// The directory of the settings, which belongs to root.
pub(crate) struct Place<'a> {
    root: &'a Path,
}

impl<'a> Place<'a> {
    /// Makes the directory where it is missing, and checks that it is root's.
    pub fn at(root: &'a Path) -> Result<Self, HostError> {
        make(root)?;
        let found = fs::symlink_metadata(root).map_err(|error| HostError::file(root, "look at", &error))?;
        let is_ours =
            found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
        if !is_ours {
            return Err(HostError::refused(format!(
                "{}: expected a directory that only root can write",
                root.display()
            )));
        }
        Ok(Self { root })
    }

    /// Returns the directory of a run.
    pub fn run_dir(&self, run: &str) -> Result<PathBuf, HostError> {
        Ok(self.root.join(validated_name::run(run)?))
    }

    /// Returns the lock file of a drive; hashed, because a key may hold what a file name cannot.
    pub fn drive_lock(&self, drive_key: &str) -> Result<PathBuf, HostError> {
        let locks = self.root.join("locks");
        make(&locks)?;
        let hash = Sha256::digest(drive_key.as_bytes());
        Ok(locks.join(hex(&hash)))
    }

    /// Makes the directory of a run, and keeps a file in it: whole or not at all.
    pub fn put(
        &self,
        run: &str,
        file: Option<&str>,
        bytes: u64,
        content: &mut impl Read,
    ) -> Result<(), HostError> {
        let directory = self.run_dir(run)?;
        let Some(file) = file else {
            return make(&directory);
        };
        check_sent(file, bytes)?;
        make(&directory)?;
        let path = directory.join(file);
        write_whole(&directory, file, bytes, content).map_err(|error| HostError::file(&path, "write", &error))
    }

    /// Reads a piece of a file of a run.
    pub fn read(&self, run: &str, file: &str, offset: u64, limit: u64) -> Result<Vec<u8>, HostError> {
        let path = self.run_dir(run)?.join(validated_name::file(file)?);
        let read = || -> io::Result<Vec<u8>> {
            let mut opened = open_plain(&path)?;
            opened.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            opened.take(limit).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|error| HostError::file(&path, "read", &error))
    }

    /// Returns room on the file system of the directory: free and all, bytes.
    pub fn room(&self) -> Result<(u64, u64), HostError> {
        let told = rustix::fs::statvfs(self.root)
            .map_err(|error| HostError::file(self.root, "measure", &error.into()))?;
        Ok((told.f_bavail * told.f_frsize, told.f_blocks * told.f_frsize))
    }
}

fn check_sent(file: &str, bytes: u64) -> Result<(), HostError> {
    let most = SENT.iter().find(|(name, _)| *name == file).map(|(_, most)| *most);
    match most {
        Some(most) if bytes <= most => Ok(()),
        Some(most) => Err(HostError::refused(format!(
            "{file}: expected at most {most} bytes, got {bytes}"
        ))),
        None => Err(HostError::refused(format!(
            "{file:?}: this host takes no such file; it takes config"
        ))),
    }
}

fn make(directory: &Path) -> Result<(), HostError> {
    let made = DirBuilder::new().mode(0o700).recursive(true).create(directory);
    made.map_err(|error| HostError::file(directory, "make", &error))
}

/// Opens a file that is one: neither a link nor a device nor a pipe was put in its place.
fn open_plain(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    let kind = opened.metadata()?.file_type();
    if kind.is_file() && !kind.is_block_device() {
        return Ok(opened);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "expected a plain file",
    ))
}

fn write_whole(directory: &Path, file: &str, bytes: u64, content: &mut impl Read) -> io::Result<()> {
    let beside = directory.join(format!("{file}.new"));
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let mut open = OpenOptions::new();
    let mut opened = open
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(flags)
        .open(&beside)?;
    let copied = io::copy(&mut content.take(bytes), &mut opened)?;
    if copied != bytes {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the request ended within its file",
        ));
    }
    opened.flush()?;
    opened.sync_all()?;
    fs::rename(&beside, directory.join(file))?;
    File::open(directory)?.sync_all()
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn kept() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("state");
        (folder, root)
    }

    fn put(place: &Place<'_>, file: &str, content: &[u8]) -> Result<(), HostError> {
        place.put("d-a", Some(file), content.len() as u64, &mut &content[..])
    }

    #[test]
    fn a_file_that_was_put_is_read_in_pieces() {
        let (_folder, root) = kept();
        let place = Place::at(&root).unwrap();
        put(&place, "config", b"device-names: /dev/x").unwrap();
        assert_eq!(place.read("d-a", "config", 7, 6).unwrap(), b"names:");
        assert_eq!(place.read("d-a", "config", 100, 6).unwrap(), b"");
    }

    #[test]
    fn only_known_files_of_bounded_length_are_taken() {
        let (_folder, root) = kept();
        let place = Place::at(&root).unwrap();
        for name in ["pid", "exit", "lock", "log", "../x"] {
            assert_eq!(put(&place, name, b"").unwrap_err().kind, Kind::Refused, "{name}");
        }
        assert!(put(&place, "config", &vec![b'#'; 1 << 20]).is_ok());
        assert_eq!(
            put(&place, "config", &vec![b'#'; (1 << 20) + 1])
                .unwrap_err()
                .kind,
            Kind::Refused
        );
    }

    #[test]
    fn a_cut_file_is_not_kept() {
        let (_folder, root) = kept();
        let place = Place::at(&root).unwrap();
        assert!(place.put("d-a", Some("config"), 10, &mut &b"short"[..]).is_err());
        assert_eq!(
            place.read("d-a", "config", 0, 1).unwrap_err().kind,
            Kind::FileMissing
        );
    }

    #[test]
    fn a_link_is_not_followed() {
        let (_folder, root) = kept();
        let place = Place::at(&root).unwrap();
        place.put("d-a", None, 0, &mut io::empty()).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("d-a/log")).unwrap();
        assert_ne!(
            place.read("d-a", "log", 0, 1).unwrap_err().kind,
            Kind::FileMissing
        );
    }

    #[test]
    fn a_directory_that_others_can_write_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, root) = kept();
        Place::at(&root).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Place::at(&root).is_err());
    }

    #[test]
    fn drives_have_locks_of_their_own() {
        let (_folder, root) = kept();
        let place = Place::at(&root).unwrap();
        assert_ne!(
            place.drive_lock("nvme:a/b").unwrap(),
            place.drive_lock("nvme:a/c").unwrap()
        );
        assert_eq!(
            place.drive_lock("../x").unwrap().parent().unwrap(),
            root.join("locks")
        );
    }
}
