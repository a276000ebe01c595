//! The directory of a run: its lock, its files, and the records in `pid`, in `exit` and in the lock file of a drive.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{DetachError, lock};

/// Longer than any record in `pid` and `exit`.
pub(crate) const RECORD_BYTES_MAX: usize = 256;
/// The name of `exit` until it is complete.
const UNFINISHED_EXIT: &str = "exit.tmp";

/// A run directory with its canonical path.
pub(crate) struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// Finds the directory. Returns None if it does not exist.
    pub fn find(path: &Path) -> Result<Option<Self>, DetachError> {
        let found = DetachError::unless_missing(fs::canonicalize(path), path, "find")?;
        Ok(found.map(|path| Self { path }))
    }

    /// Returns the canonical path, which identifies the run in the lock of a drive.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in the directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the record of the program's process, or None before the start.
    pub fn pid(&self) -> Result<Option<PidRecord>, DetachError> {
        read_record(&self.file("pid"))
    }

    /// Returns how the program ended. None while it runs, or if the monitor was killed as well.
    pub fn exit(&self) -> Result<Option<ExitRecord>, DetachError> {
        read_record(&self.file("exit"))
    }

    /// Returns whether the run was started, or stopped before its start.
    pub fn is_used(&self) -> Result<bool, DetachError> {
        Ok(self.pid()?.is_some() || self.exit()?.is_some())
    }

    /// Takes the lock. Returns None if a launcher, a monitor or a program has it.
    pub fn try_lock(&self) -> Result<Option<File>, DetachError> {
        let path = self.file("lock");
        let file = lock::open(&path).map_err(|source| DetachError::file(&path, "open", source))?;
        let taken = lock::try_take(&file).map_err(|source| DetachError::file(&path, "lock", source))?;
        Ok(taken.then_some(file))
    }

    /// Returns whether a process has the lock. Does not take it.
    pub fn is_locked(&self) -> Result<bool, DetachError> {
        let path = self.file("lock");
        match DetachError::unless_missing(File::open(&path), &path, "open")? {
            None => Ok(false),
            Some(file) => {
                lock::is_taken(&file).map_err(|source| DetachError::file(&path, "test the lock of", source))
            }
        }
    }

    /// Returns the size of a file, or 0 if it does not exist.
    pub fn size_bytes(&self, name: &str) -> Result<u64, DetachError> {
        let path = self.file(name);
        let found = DetachError::unless_missing(fs::metadata(&path), &path, "read the size of")?;
        Ok(found.map_or(0, |metadata| metadata.len()))
    }

    /// Opens a file for the output of a process.
    pub fn open_append(&self, name: &str) -> Result<File, DetachError> {
        let path = self.file(name);
        let open = OpenOptions::new().append(true).create(true).open(&path);
        open.map_err(|source| DetachError::file(&path, "append to", source))
    }

    /// Opens the directory itself.
    pub fn open(&self) -> Result<File, DetachError> {
        let open = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY)
            .open(&self.path);
        open.map_err(|source| DetachError::file(&self.path, "open as a directory", source))
    }

    /// Reserves the space of `exit`, so that the end of the run is recorded even if its disk is full then. The caller
    /// holds the lock.
    pub fn reserve_exit(&self) -> Result<(), DetachError> {
        let path = self.file(UNFINISHED_EXIT);
        let write = || -> io::Result<()> {
            let mut file = File::create(&path)?;
            file.write_all(&[b' '; RECORD_BYTES_MAX])?;
            file.sync_all()
        };
        write().map_err(|source| DetachError::file(&path, "reserve", source))
    }

    /// Writes `exit` and syncs it. The caller holds the lock.
    pub fn write_exit(&self, record: &ExitRecord) -> Result<(), DetachError> {
        let path = self.file("exit");
        let unfinished = self.file(UNFINISHED_EXIT);
        let write = || -> io::Result<()> {
            let mut file = File::create(&unfinished)?;
            file.write_all(&serde_json::to_vec(record)?)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|source| DetachError::file(&path, "write", source))
    }
}

/// `pid`: the process that executes the program. It writes the file once, before the load begins.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct PidRecord {
    /// The process id.
    pub pid: i32,
    /// Clock ticks from boot to its start.
    pub start_ticks: u64,
    /// The generation of the start on its drive.
    pub generation: u64,
    /// The boot of the host.
    pub boot_id: String,
}

/// `exit`: how the program ended, written by the monitor, or that the run was stopped before its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExitRecord {
    /// The exit status, if the program exited.
    pub exit_status: Option<i32>,
    /// The signal, if one ended the program.
    pub signal: Option<i32>,
    /// An explanation, or empty.
    pub reason: String,
}

/// The content of a drive's lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DriveRecord {
    /// The newest generation that got the drive.
    pub generation: u64,
    /// The run directory of that generation.
    pub run_dir: PathBuf,
}

/// Reads a record. Returns None if the file does not exist.
pub(crate) fn read_record<Record: DeserializeOwned>(path: &Path) -> Result<Option<Record>, DetachError> {
    let bytes = DetachError::unless_missing(fs::read(path), path, "read")?;
    bytes.map(|bytes| parse_record(path, &bytes)).transpose()
}

/// Parses the bytes of the record at `path`.
pub(crate) fn parse_record<Record: DeserializeOwned>(
    path: &Path,
    bytes: &[u8],
) -> Result<Record, DetachError> {
    serde_json::from_slice(bytes).map_err(|_| DetachError::Record {
        path: path.to_path_buf(),
        got: String::from_utf8_lossy(bytes).chars().take(60).collect(),
    })
}

/// Waits until the name of a file is on disk, or its removal.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}
