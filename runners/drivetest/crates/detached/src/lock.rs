//! Locks of open file descriptions (F_OFD_SETLK). Fork and exec pass them on, and they end with the last descriptor.
//!
//! `flock` has the same properties, but testing it means taking it, which can make a concurrent start fail.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Opens a lock file. Creates it if missing.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// Locks the whole file for this open file description and every process that inherits it. Returns false if it is taken.
pub(crate) fn try_take(file: &File) -> io::Result<bool> {
    match fcntl_lock(file, libc::F_OFD_SETLK) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether another open file description has the lock. Does not take it.
pub(crate) fn is_taken(file: &File) -> io::Result<bool> {
    Ok(fcntl_lock(file, libc::F_OFD_GETLK)?.l_type != libc::F_UNLCK as libc::c_short)
}

fn fcntl_lock(file: &File, command: libc::c_int) -> io::Result<libc::flock> {
    let mut range = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        // The kernel requires 0 for locks of open file descriptions.
        l_pid: 0,
    };
    // SAFETY: the descriptor is open while `file` is borrowed. The kernel writes only into `range`, a local variable of the
    // type that both commands expect.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut range) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(range),
    }
}

/// Separates tests that fork from tests that release a lock.
///
/// Until a child executes its program, it has a copy of every descriptor of this process, also of other tests. A lock that
/// another test releases in that time stays taken, for milliseconds on a busy machine.
#[cfg(test)]
pub(crate) mod fork_lock {
    use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

    static FORKS: RwLock<()> = RwLock::new(());

    /// Blocks forks of other tests while the guard lives.
    pub(crate) fn hold_forks() -> RwLockReadGuard<'static, ()> {
        FORKS.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks releases of locks in other tests while the guard lives. Hold it until the child has executed its program.
    pub(crate) fn begin_fork() -> RwLockWriteGuard<'static, ()> {
        FORKS.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_descriptions() -> (File, File) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let again = file.reopen().unwrap();
        (file.into_file(), again)
    }

    #[test]
    fn a_second_description_cannot_take_the_lock() {
        let (first, second) = two_descriptions();
        assert!(try_take(&first).unwrap());
        assert!(!try_take(&second).unwrap());
    }

    #[test]
    fn a_lock_ends_with_its_description() {
        let _no_forks = fork_lock::hold_forks();
        let (first, second) = two_descriptions();
        try_take(&first).unwrap();
        drop(first);
        assert!(try_take(&second).unwrap());
    }

    #[test]
    fn a_duplicate_descriptor_preserves_the_lock() {
        let _no_forks = fork_lock::hold_forks();
        let (first, second) = two_descriptions();
        try_take(&first).unwrap();
        let duplicate = first.try_clone().unwrap();
        drop(first);
        assert!(is_taken(&second).unwrap());
        drop(duplicate);
        assert!(!is_taken(&second).unwrap());
    }

    #[test]
    fn testing_the_lock_does_not_take_it() {
        let (first, second) = two_descriptions();
        assert!(!is_taken(&first).unwrap());
        assert!(try_take(&second).unwrap());
    }
}
