//! The directory that stands for one run on a host: what lies in it and who may change it.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::DetachError;
use crate::lock;
use crate::records::{self, ExitRecord, PidRecord};

/// A run directory under its one true path.
pub(crate) struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// Finds the directory; None when there is none.
    pub fn find(path: &Path) -> Result<Option<Self>, DetachError> {
        match fs::canonicalize(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(DetachError::file(path, "find", source)),
            Ok(path) => Ok(Some(Self { path })),
        }
    }

    /// Returns the path without links, by which the lock of a drive knows its owner.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in the directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns who became the program; None before that.
    pub fn pid(&self) -> Result<Option<PidRecord>, DetachError> {
        records::read(&self.file("pid"))
    }

    /// Returns how it ended; None while it runs, and when nobody was left to see it.
    pub fn exit(&self) -> Result<Option<ExitRecord>, DetachError> {
        records::read(&self.file("exit"))
    }

    /// Tells whether the directory has had its one start, or was stopped before it.
    pub fn is_spent(&self) -> Result<bool, DetachError> {
        Ok(self.pid()?.is_some() || self.exit()?.is_some())
    }

    /// Takes the lock; None when a launcher, a monitor or a program has it.
    pub fn try_lock(&self) -> Result<Option<File>, DetachError> {
        let path = self.file("lock");
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let file = open.map_err(|source| DetachError::file(&path, "open", source))?;
        let taken = lock::try_take(&file).map_err(|source| DetachError::file(&path, "lock", source))?;
        Ok(taken.then_some(file))
    }

    /// Tells whether anybody has the lock, without touching it.
    pub fn is_locked(&self) -> Result<bool, DetachError> {
        let path = self.file("lock");
        match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(source) => Err(DetachError::file(&path, "open", source)),
            Ok(file) => {
                lock::is_taken(&file).map_err(|source| DetachError::file(&path, "ask the lock of", source))
            }
        }
    }

    /// Returns how long a file is; 0 when it does not exist.
    pub fn length(&self, name: &str) -> Result<u64, DetachError> {
        let path = self.file(name);
        match fs::metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(source) => Err(DetachError::file(&path, "measure", source)),
            Ok(metadata) => Ok(metadata.len()),
        }
    }

    /// Opens a file for what a process of the run prints.
    pub fn appended(&self, name: &str) -> Result<File, DetachError> {
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

    /// Writes `exit` for good. The caller holds the lock.
    pub fn write_exit(&self, record: &ExitRecord) -> Result<(), DetachError> {
        let path = self.file("exit");
        let unfinished = self.file("exit.tmp");
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&unfinished)?;
            file.write_all(&serde_json::to_vec(record)?)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|source| DetachError::file(&path, "write", source))
    }
}
