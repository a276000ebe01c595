//! Files that appear under their name complete or not at all, and never replace an existing file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The files of an export while they are written. Dropping it removes those that were not committed.
#[derive(Debug, Default)]
pub struct AtomicFiles(Vec<PartialFile>);

#[derive(Debug)]
struct PartialFile {
    partial: PathBuf,
    path: PathBuf,
}

impl AtomicFiles {
    /// Creates a file that will get this path.
    ///
    /// # Errors
    /// `AlreadyExists` if the path exists; another error if the file cannot be created.
    pub fn begin(&mut self, path: PathBuf) -> io::Result<BufWriter<File>> {
        if path.symlink_metadata().is_ok() {
            return Err(already_exists(&path));
        }
        let partial = partial_path(&path);
        let file = at(&path, File::create_new(&partial))?;
        self.0.push(PartialFile { partial, path });
        Ok(BufWriter::with_capacity(256 * 1024, file))
    }

    /// Gives all files their paths, and returns these in the order of creation.
    ///
    /// # Errors
    /// If a path was taken in the meantime. The files without a path are removed.
    pub fn commit(mut self) -> io::Result<Vec<PathBuf>> {
        let mut committed = Vec::new();
        while let Some(file) = self.0.last() {
            at(&file.path, file.publish())?;
            committed.extend(self.0.pop().map(|file| file.path));
        }
        committed.reverse();
        Ok(committed)
    }
}

impl Drop for AtomicFiles {
    fn drop(&mut self) {
        for file in &self.0 {
            // If this fails, the name of the file still shows that it is partial.
            drop(fs::remove_file(&file.partial));
        }
    }
}

impl PartialFile {
    /// Links the file to its path, because a link fails if the path exists and a rename does not. Renames it on file
    /// systems without links.
    fn publish(&self) -> io::Result<()> {
        match fs::hard_link(&self.partial, &self.path) {
            Ok(()) => fs::remove_file(&self.partial),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(already_exists(&self.path)),
            Err(_) => fs::rename(&self.partial, &self.path),
        }
    }
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    path.with_file_name(name)
}

fn already_exists(path: &Path) -> io::Error {
    let path = path.display();
    let sentence = format!("{path}: already exists; remove it or choose another directory");
    io::Error::new(io::ErrorKind::AlreadyExists, sentence)
}

fn at<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => error,
        kind => io::Error::new(kind, format!("{}: cannot be written: {error}", path.display())),
    })
}

/// A writer whose errors name the file.
pub struct NamedWriter<W> {
    /// The writer.
    pub inner: W,
    /// The path of the file.
    pub path: PathBuf,
}

impl<W: Write> Write for NamedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at(&self.path, self.inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        at(&self.path, self.inner.flush())
    }
}
