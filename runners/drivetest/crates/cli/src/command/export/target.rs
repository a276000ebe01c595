//! A file that comes to its name whole, and never over another.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Files of an export while they are written; what is not kept is removed.
#[derive(Debug, Default)]
pub struct Targets(Vec<Target>);

#[derive(Debug)]
struct Target {
    partial: PathBuf,
    path: PathBuf,
}

impl Targets {
    /// Begins a file that will have this path.
    ///
    /// # Errors
    /// `AlreadyExists` where something has that name; else where the file cannot be made.
    pub fn begin(&mut self, path: PathBuf) -> io::Result<BufWriter<File>> {
        if path.symlink_metadata().is_ok() {
            return Err(there_already(&path));
        }
        let partial = partial_path(&path);
        let file = at(&path, File::create_new(&partial))?;
        self.0.push(Target { partial, path });
        Ok(BufWriter::with_capacity(256 * 1024, file))
    }

    /// Gives all files their names, and tells these in the order in which they were begun.
    ///
    /// # Errors
    /// Where a name was taken meanwhile; the files that have none yet are removed.
    pub fn keep(mut self) -> io::Result<Vec<PathBuf>> {
        let mut kept = Vec::new();
        while let Some(target) = self.0.last() {
            at(&target.path, target.name())?;
            kept.extend(self.0.pop().map(|target| target.path));
        }
        kept.reverse();
        Ok(kept)
    }
}

impl Drop for Targets {
    fn drop(&mut self) {
        for target in &self.0 {
            // A file that cannot be removed keeps its partial name, which tells what it is.
            drop(fs::remove_file(&target.partial));
        }
    }
}

impl Target {
    /// A link fails where the name is taken, which a rename does not; file systems without links get the latter.
    fn name(&self) -> io::Result<()> {
        match fs::hard_link(&self.partial, &self.path) {
            Ok(()) => fs::remove_file(&self.partial),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(there_already(&self.path)),
            Err(_) => fs::rename(&self.partial, &self.path),
        }
    }
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    path.with_file_name(name)
}

fn there_already(path: &Path) -> io::Error {
    let sentence = format!(
        "{}: is there already; remove it or choose another directory",
        path.display()
    );
    io::Error::new(io::ErrorKind::AlreadyExists, sentence)
}

fn at<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => error,
        kind => io::Error::new(kind, format!("{}: cannot be written: {error}", path.display())),
    })
}

/// A destination that tells which file failed.
pub struct Named<W> {
    /// The destination.
    pub inner: W,
    /// The file's path.
    pub path: PathBuf,
}

impl<W: Write> Write for Named<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at(&self.path, self.inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        at(&self.path, self.inner.flush())
    }
}
