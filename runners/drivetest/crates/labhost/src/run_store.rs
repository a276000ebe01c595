//! The state directory: directories of runs, their files, and the locks of drives. The service writes nowhere else.
//! A name in a request with a slash, with a leading dot, or too long never becomes part of a path.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use drivetest_device::hex;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::error::HostError;

/// The files that the register may send: the configuration of a load, or the workload and configuration of a database.
/// Programs on the host write all others.
const SENT_FILES: [&str; 8] = [
    "config",
    "database.conf",
    "workloada",
    "workloadb",
    "workloadc",
    "workloadd",
    "workloade",
    "workloadf",
];
/// Maximum size of such a file.
const SENT_BYTES_MAX: u64 = 1 << 20;
/// The directory of the run in which a program writes its files.
const OUTPUTS: &str = "out/";

/// The state directory from the settings, which belongs to root.
pub(crate) struct RunStore<'a> {
    root: &'a Path,
}

impl<'a> RunStore<'a> {
    /// Creates the directory if missing, and checks that it belongs to root.
    pub fn open(root: &'a Path) -> Result<Self, HostError> {
        create(root)?;
        let found = fs::symlink_metadata(root).map_err(|error| HostError::file(root, "inspect", &error))?;
        let is_private =
            found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
        HostError::refuse_unless(is_private, || {
            format!(
                "{}: expected a directory that only root can write",
                root.display()
            )
        })?;
        Ok(Self { root })
    }

    /// Returns the directory of a run.
    pub fn run_dir(&self, run: &str) -> Result<PathBuf, HostError> {
        Ok(self.root.join(run_name(run)?))
    }

    /// Returns the lock file of a drive. Its name is a hash, because a key can contain characters that a file name cannot.
    pub fn drive_lock(&self, drive_key: &str) -> Result<PathBuf, HostError> {
        let locks = self.root.join("locks");
        create(&locks)?;
        let hash = Sha256::digest(drive_key.as_bytes());
        Ok(locks.join(hex(&hash)))
    }

    /// Creates the directory of a run, and stores a file in it atomically.
    pub fn put(
        &self,
        run: &str,
        file: Option<&str>,
        bytes: u64,
        content: &mut impl Read,
    ) -> Result<(), HostError> {
        let directory = self.run_dir(run)?;
        let Some(file) = file else {
            return create(&directory);
        };
        check_accepted(file, bytes)?;
        create(&directory)?;
        let path = directory.join(file);
        write_atomically(&directory, file, bytes, content)
            .map_err(|error| HostError::file(&path, "write", &error))
    }

    /// Reads a part of a file of a run, or of a file that its program wrote into `out/`.
    pub fn read(&self, run: &str, file: &str, offset: u64, limit: u64) -> Result<Vec<u8>, HostError> {
        let path = self.run_dir(run)?.join(file_name(file)?);
        let read = || -> io::Result<Vec<u8>> {
            let mut opened = match file.starts_with(OUTPUTS) {
                true => open_output(&path)?,
                false => open_plain(&path)?,
            };
            opened.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            opened.take(limit).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|error| HostError::file(&path, "read", &error))
    }

    /// Returns the free and the total space on the file system of the directory, in bytes.
    pub fn free_space(&self) -> Result<(u64, u64), HostError> {
        let stat = rustix::fs::statvfs(self.root)
            .map_err(|error| HostError::file(self.root, "read the free space of", &error.into()))?;
        Ok((stat.f_bavail * stat.f_frsize, stat.f_blocks * stat.f_frsize))
    }
}

fn check_accepted(file: &str, bytes: u64) -> Result<(), HostError> {
    HostError::refuse_unless(SENT_FILES.contains(&file), || {
        format!(
            "{file:?}: not accepted; the register may send only {}",
            SENT_FILES.join(", ")
        )
    })?;
    HostError::refuse_unless(bytes <= SENT_BYTES_MAX, || {
        format!("{file}: expected at most {SENT_BYTES_MAX} bytes, got {bytes}")
    })
}

fn create(directory: &Path) -> Result<(), HostError> {
    let created = DirBuilder::new().mode(0o700).recursive(true).create(directory);
    created.map_err(|error| HostError::file(directory, "create", &error))
}

/// Opens a plain file. Refuses a link, a device or a pipe with that name.
fn open_plain(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    match opened.metadata()?.is_file() {
        true => Ok(opened),
        false => Err(io::Error::other("expected a plain file")),
    }
}

/// Opens a plain file of a program, which is another user: with a second name, it could be a file of someone else. Other
/// kinds of files count as missing.
fn open_output(path: &Path) -> io::Result<File> {
    let found = fs::symlink_metadata(path)?;
    let opened = match found.is_file() {
        true => open_plain(path)?,
        false => return Err(io::ErrorKind::NotFound.into()),
    };
    match opened.metadata()?.nlink() {
        1 => Ok(opened),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

fn write_atomically(directory: &Path, file: &str, bytes: u64, content: &mut impl Read) -> io::Result<()> {
    let temporary = directory.join(format!("{file}.new"));
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let mut open = OpenOptions::new();
    let mut opened = open
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(flags)
        .open(&temporary)?;
    // The user of a program reads it; the directory above keeps all others out.
    opened.set_permissions(Permissions::from_mode(0o644))?;
    let copied = io::copy(&mut content.take(bytes), &mut opened)?;
    if copied != bytes {
        return Err(io::Error::other("the input ended in the middle of the file"));
    }
    opened.flush()?;
    opened.sync_all()?;
    fs::rename(&temporary, directory.join(file))?;
    File::open(directory)?.sync_all()
}

const RUN_BYTES_MAX: usize = 64;
const FILE_BYTES_MAX: usize = 48;

/// Checks the name of a run: `d-`, then lower-case letters and digits. A dot and the name of a part can follow.
fn run_name(name: &str) -> Result<&str, HostError> {
    let is_run = name.strip_prefix("d-").is_some_and(|rest| {
        let parts: Vec<_> = rest.split('.').collect();
        parts.len() <= 2 && parts.iter().all(|part| is_word(part))
    });
    checked(
        name,
        is_run && name.len() <= RUN_BYTES_MAX,
        "the name of a run, such as d-7kd2m9qp",
    )
}

/// Checks the name of a file in a run directory or in its `out/`, where programs choose the names.
fn file_name(name: &str) -> Result<&str, HostError> {
    let is_known = match name.strip_prefix(OUTPUTS) {
        Some(output) => output.split('.').all(|part| is_word(&part.to_ascii_lowercase())),
        None => name.split('.').all(is_word),
    };
    let is_file = is_known && name.len() <= FILE_BYTES_MAX;
    checked(name, is_file, "the name of a file of a run, such as side.jsonl")
}

fn is_word(part: &str) -> bool {
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    !part.is_empty() && !part.starts_with('-') && part.bytes().all(allowed)
}

fn checked<'a>(name: &'a str, is_valid: bool, expected: &str) -> Result<&'a str, HostError> {
    match is_valid {
        true => Ok(name),
        false => Err(HostError::usage(format!("{name:?}: expected {expected}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn state_folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("state");
        (folder, root)
    }

    fn put(store: &RunStore<'_>, file: &str, content: &[u8]) -> Result<(), HostError> {
        store.put("d-a", Some(file), content.len() as u64, &mut &content[..])
    }

    #[test]
    fn a_stored_file_can_be_read_in_parts() {
        let (_folder, root) = state_folder();
        let store = RunStore::open(&root).unwrap();
        put(&store, "config", b"device-names: /dev/x").unwrap();
        assert_eq!(store.read("d-a", "config", 7, 6).unwrap(), b"names:");
        assert_eq!(store.read("d-a", "config", 100, 6).unwrap(), b"");
    }

    #[test]
    fn only_accepted_files_of_limited_size_are_stored() {
        let (_folder, root) = state_folder();
        let store = RunStore::open(&root).unwrap();
        for name in ["pid", "exit", "lock", "log", "../x"] {
            assert_eq!(put(&store, name, b"").unwrap_err().kind, Kind::Refused, "{name}");
        }
        for name in ["workloada", "workloadf", "database.conf"] {
            assert!(put(&store, name, b"").is_ok(), "{name}");
        }
        for name in ["workloadg", "workload", "out/workloada", "database.conf.new"] {
            assert_eq!(put(&store, name, b"").unwrap_err().kind, Kind::Refused, "{name}");
        }
        assert!(put(&store, "config", &vec![b'#'; 1 << 20]).is_ok());
        assert_eq!(
            put(&store, "config", &vec![b'#'; (1 << 20) + 1])
                .unwrap_err()
                .kind,
            Kind::Refused
        );
    }

    #[test]
    fn a_truncated_file_is_not_stored() {
        let (_folder, root) = state_folder();
        let store = RunStore::open(&root).unwrap();
        assert!(store.put("d-a", Some("config"), 10, &mut &b"short"[..]).is_err());
        assert_eq!(
            store.read("d-a", "config", 0, 1).unwrap_err().kind,
            Kind::FileMissing
        );
    }

    #[test]
    fn a_link_is_not_followed() {
        let (_folder, root) = state_folder();
        let store = RunStore::open(&root).unwrap();
        store.put("d-a", None, 0, &mut io::empty()).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("d-a/log")).unwrap();
        assert_ne!(
            store.read("d-a", "log", 0, 1).unwrap_err().kind,
            Kind::FileMissing
        );
    }

    #[test]
    fn a_plain_file_of_a_program_can_be_read() {
        let (_folder, root) = state_folder();
        let store = RunStore::open(&root).unwrap();
        store.put("d-a.load", None, 0, &mut io::empty()).unwrap();
        let outputs = root.join("d-a.load/out");
        fs::create_dir(&outputs).unwrap();
        fs::write(outputs.join("hdr-READ.hdr"), "counts").unwrap();
        assert_eq!(
            store.read("d-a.load", "out/hdr-READ.hdr", 0, 9).unwrap(),
            b"counts"
        );
        std::os::unix::fs::symlink("/etc/passwd", outputs.join("link")).unwrap();
        fs::hard_link(outputs.join("hdr-READ.hdr"), outputs.join("second")).unwrap();
        for name in ["out/link", "out/second", "out/hdr-READ.hdr", "out/none"] {
            let error = store.read("d-a.load", name, 0, 9).unwrap_err();
            assert_eq!(error.kind, Kind::FileMissing, "{name}");
        }
    }

    #[test]
    fn a_directory_that_others_can_write_is_not_used() {
        let (_folder, root) = state_folder();
        RunStore::open(&root).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(RunStore::open(&root).is_err());
    }

    #[test]
    fn each_drive_has_its_own_lock() {
        let (_folder, root) = state_folder();
        let store = RunStore::open(&root).unwrap();
        assert_ne!(
            store.drive_lock("nvme:a/b").unwrap(),
            store.drive_lock("nvme:a/c").unwrap()
        );
        assert_eq!(
            store.drive_lock("../x").unwrap().parent().unwrap(),
            root.join("locks")
        );
    }

    #[test]
    fn names_of_runs_and_their_parts_are_valid() {
        for good in ["d-7kd2m9qp", "d-7kd2m9qp.load-2"] {
            assert!(run_name(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn no_name_of_a_run_is_a_path() {
        for bad in [
            "", "d-", "locks", "d-a/b", "d-..", "d-a..b", "../d-a", "d-A", "d-a\0", "d-a b", "d-a.b.c",
            "d--a", "/d-a",
        ] {
            assert!(run_name(bad).is_err(), "{bad:?}");
        }
        assert!(run_name(&format!("d-{}", "a".repeat(62))).is_ok());
        assert!(run_name(&format!("d-{}", "a".repeat(63))).is_err());
    }

    #[test]
    fn no_name_of_a_file_is_a_path() {
        for bad in [
            "",
            ".",
            "..",
            "a/b",
            "/etc/shadow",
            ".hidden",
            "a.",
            "a\n",
            "-a",
            "\u{e9}",
            "Log",
            "out/",
            "out/..",
            "out/.a",
            "out/a/b",
            "other/a",
        ] {
            assert!(file_name(bad).is_err(), "{bad:?}");
        }
        for good in [
            "log",
            "side.jsonl",
            "prep.state",
            "out/hdr-READ-MODIFY-WRITE-FAILED.hdr",
        ] {
            assert!(file_name(good).is_ok(), "{good}");
        }
    }
}
