//! `drivetest run remove`: deletes the directory of a run, but not while a process of the run lives or can still start.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::DetachError;
use crate::drive_lock;
use crate::run_dir::{self, RunDir};

/// The result of a removal. Its JSON is `drivecert.removal/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removal {
    /// Name and version of this record.
    pub schema: &'static str,
    /// Whether the directory is gone, removed now or before.
    pub removed: bool,
    /// Why it was not removed, or empty.
    pub reason: String,
}

impl Removal {
    /// Returns the result for a directory that is gone.
    pub const fn nothing_left() -> Self {
        removal(true, String::new())
    }
}

/// Removes the directory of a run, or returns why not. Repeating it completes a removal that a crash interrupted.
///
/// The directory is not removed while a process of the run lives, or while a file system is mounted in it. A delayed start
/// of the same run would start again in an empty directory. Therefore the lock of the drive must have a newer generation
/// than `generation`; otherwise `generation` is retired first.
///
/// # Errors
/// If the directory or the lock of the drive cannot be read, or a file cannot be removed. Retry.
pub fn remove(run_dir: &Path, drive_lock: &Path, generation: u64) -> Result<Removal, DetachError> {
    let trash = trash_path(run_dir)?;
    if !can_no_longer_start(drive_lock, generation, &trash)? {
        return Ok(not_removed(
            run_dir,
            "a program of this generation uses its drive",
        ));
    }
    match DetachError::unless_missing(fs::symlink_metadata(run_dir), run_dir, "find")? {
        None => {}
        Some(found) if !found.is_dir() => return Ok(not_removed(run_dir, "not a directory")),
        Some(_) => {
            if let Some(removal) = move_to_trash(run_dir, &trash)? {
                return Ok(removal);
            }
        }
    }
    empty_trash(&trash)?;
    Ok(Removal::nothing_left())
}

/// Returns the path to which a directory is moved before its deletion. No run has a name with a leading dot.
fn trash_path(run_dir: &Path) -> Result<PathBuf, DetachError> {
    let name = run_dir
        .file_name()
        .ok_or_else(|| DetachError::file(run_dir, "name", ErrorKind::InvalidInput))?;
    let mut hidden = OsString::from(".removed-");
    hidden.push(name);
    Ok(run_dir.with_file_name(hidden))
}

/// Returns whether every later start of a generation is refused. Retires the generation if needed. False while a run uses
/// the drive.
fn can_no_longer_start(drive_lock: &Path, generation: u64, retired: &Path) -> Result<bool, DetachError> {
    if drive_lock::newest_generation(drive_lock)?.is_some_and(|newest| newest > generation) {
        return Ok(true);
    }
    match drive_lock::retire(drive_lock, generation, retired)? {
        Some(file) => drive_lock::sync(drive_lock, &file).map(|()| true),
        None => Ok(false),
    }
}

/// Renames the directory in one step, so that no command sees a partly deleted one. Returns None if it is gone.
fn move_to_trash(run_dir: &Path, trash: &Path) -> Result<Option<Removal>, DetachError> {
    let Some(found) = RunDir::find(run_dir)? else {
        return Ok(None);
    };
    let Some(_lock) = found.try_lock()? else {
        return Ok(Some(not_removed(
            run_dir,
            "its program or its monitor is still running",
        )));
    };
    if let Some(place) = mounted_in(run_dir).map_err(|source| DetachError::file(run_dir, "search", source))? {
        let reason = format!("another file system is mounted at {}", place.display());
        return Ok(Some(not_removed(run_dir, &reason)));
    }
    empty_trash(trash)?;
    fs::rename(run_dir, trash).map_err(|source| DetachError::file(run_dir, "rename", source))?;
    Ok(None)
}

/// Finds a subdirectory on another file system. Its files are not part of the run.
fn mounted_in(directory: &Path) -> io::Result<Option<PathBuf>> {
    let own = fs::symlink_metadata(directory)?.dev();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let found = fs::symlink_metadata(&path)?;
        if !found.is_dir() {
            continue;
        }
        if found.dev() != own {
            return Ok(Some(path));
        }
        if let Some(place) = mounted_in(&path)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// Deletes the renamed directory, if it exists. Links are deleted, not followed.
fn empty_trash(trash: &Path) -> Result<(), DetachError> {
    match DetachError::unless_missing(fs::remove_dir_all(trash), trash, "remove")? {
        None => Ok(()),
        Some(()) => run_dir::sync_parent(trash)
            .map_err(|source| DetachError::file(trash, "sync the directory of", source)),
    }
}

fn not_removed(run_dir: &Path, reason: &str) -> Removal {
    removal(false, format!("{}: {reason}", run_dir.display()))
}

const fn removal(removed: bool, reason: String) -> Removal {
    Removal {
        schema: "drivecert.removal/1",
        removed,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::fork_lock;
    use crate::run_dir::DriveRecord;

    /// A state directory with the run `d-a` and the lock of a drive with a newest generation.
    struct State {
        folder: tempfile::TempDir,
    }

    impl State {
        fn new(newest: u64) -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join("d-a/out")).unwrap();
            fs::write(folder.path().join("d-a/out/log"), "a line\n").unwrap();
            let record = format!("{{\"generation\": {newest}, \"run_dir\": \"/runs/d-b\"}}\n");
            fs::write(folder.path().join("drive"), record).unwrap();
            Self { folder }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn remove(&self, generation: u64) -> Removal {
            remove(&self.path("d-a"), &self.path("drive"), generation).unwrap()
        }

        fn names(&self) -> Vec<String> {
            let entries = self.folder.path().read_dir().unwrap();
            let mut names: Vec<_> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    #[test]
    fn a_run_is_removed_after_a_newer_one_and_removing_it_twice_is_no_error() {
        let state = State::new(8);
        for _ in 0..2 {
            assert_eq!(state.remove(7), removal(true, String::new()));
        }
        assert_eq!(state.names(), ["drive"]);
    }

    fn gets_drive(state: &State, generation: u64) -> bool {
        let run = DriveRecord {
            generation,
            run_dir: state.path("d-a"),
        };
        let outcome = drive_lock::take(&state.path("drive"), &run).unwrap();
        outcome.is_ok()
    }

    #[test]
    fn the_newest_run_is_removed_and_its_delayed_start_is_refused() {
        for newest in [6, 7] {
            let state = State::new(newest);
            assert!(state.remove(7).removed);
            assert!(!gets_drive(&state, 7) && gets_drive(&state, 8));
        }
    }

    #[test]
    fn a_delayed_start_of_a_run_without_a_directory_is_refused() {
        let state = State::new(7);
        fs::remove_dir_all(state.path("d-a")).unwrap();
        assert!(state.remove(7).removed && !gets_drive(&state, 7));
    }

    #[test]
    fn a_run_on_a_drive_without_a_lock_file_is_removed_and_cannot_start_later() {
        let state = State::new(8);
        fs::remove_file(state.path("drive")).unwrap();
        assert!(state.remove(7).removed && !gets_drive(&state, 7));
    }

    #[test]
    fn a_run_whose_drive_is_in_use_is_not_removed() {
        let state = State::new(7);
        let run = DriveRecord {
            generation: 7,
            run_dir: "/runs/d-b".into(),
        };
        let Ok(_lock) = drive_lock::take(&state.path("drive"), &run).unwrap() else {
            panic!("refused")
        };
        assert!(state.remove(7).reason.contains("uses its drive"));
        assert!(state.path("d-a/out/log").exists());
    }

    #[test]
    fn a_run_whose_lock_is_taken_is_not_removed() {
        let _no_forks = fork_lock::hold_forks();
        let state = State::new(8);
        let found = RunDir::find(&state.path("d-a")).unwrap().unwrap();
        let lock = found.try_lock().unwrap().unwrap();
        assert!(state.remove(7).reason.ends_with("still running"));
        drop(lock);
        assert!(state.remove(7).removed);
    }

    #[test]
    fn a_removal_that_a_crash_interrupted_is_completed() {
        let state = State::new(8);
        fs::rename(state.path("d-a"), state.path(".removed-d-a")).unwrap();
        assert!(state.remove(7).removed);
        assert_eq!(state.names(), ["drive"]);
    }

    #[test]
    fn a_link_instead_of_a_run_directory_is_not_followed() {
        let state = State::new(8);
        fs::rename(state.path("d-a"), state.path("elsewhere")).unwrap();
        std::os::unix::fs::symlink(state.path("elsewhere"), state.path("d-a")).unwrap();
        assert!(state.remove(7).reason.ends_with("not a directory"));
        assert!(state.path("elsewhere/out/log").exists());
    }

    #[test]
    fn the_target_of_a_link_in_a_run_is_not_removed() {
        let state = State::new(8);
        fs::write(state.path("target"), "").unwrap();
        std::os::unix::fs::symlink(state.path("target"), state.path("d-a/out/link")).unwrap();
        assert!(state.remove(7).removed);
        assert!(state.path("target").exists());
    }
}
