//! Locks of open file descriptions: inherited over fork and exec, gone with the last holder, and askable without being taken.
//!
//! `flock` could be inherited as well, but asking it means taking it for a moment, which can make a start beside it fail.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Takes the whole file for this open file description and everything that inherits it; false when another has it.
pub(crate) fn try_take(file: &File) -> io::Result<bool> {
    match ask(file, libc::F_OFD_SETLK) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Tells whether another open file description has the file; takes nothing.
pub(crate) fn is_taken(file: &File) -> io::Result<bool> {
    Ok(ask(file, libc::F_OFD_GETLK)?.l_type != libc::F_UNLCK as libc::c_short)
}

fn ask(file: &File, command: libc::c_int) -> io::Result<libc::flock> {
    let mut range = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        // The kernel demands 0 here for locks of open file descriptions.
        l_pid: 0,
    };
    // SAFETY: the descriptor is open as long as `file` is borrowed, and the kernel writes only into `range`, which
    // is ours and of the type that both commands ask for.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut range) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork_lock;

    fn two_descriptions() -> (File, File) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let again = file.reopen().unwrap();
        (file.into_file(), again)
    }

    #[test]
    fn a_second_description_cannot_take_what_the_first_has() {
        let (first, second) = two_descriptions();
        assert!(try_take(&first).unwrap());
        assert!(!try_take(&second).unwrap());
    }

    #[test]
    fn a_lock_ends_with_its_description() {
        let _alone = fork_lock::none();
        let (first, second) = two_descriptions();
        try_take(&first).unwrap();
        drop(first);
        assert!(try_take(&second).unwrap());
    }

    #[test]
    fn a_duplicate_keeps_the_lock_alive() {
        let _alone = fork_lock::none();
        let (first, second) = two_descriptions();
        try_take(&first).unwrap();
        let duplicate = first.try_clone().unwrap();
        drop(first);
        assert!(is_taken(&second).unwrap());
        drop(duplicate);
        assert!(!is_taken(&second).unwrap());
    }

    #[test]
    fn asking_takes_nothing() {
        let (first, second) = two_descriptions();
        assert!(!is_taken(&first).unwrap());
        assert!(try_take(&second).unwrap());
    }
}
