//! Removing the directory of a run whose evidence is kept elsewhere: never under a program, and never too early.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::drive_lock;
use crate::error::DetachError;
use crate::run_dir::RunDir;

/// What became of a run directory that was to be removed; its JSON is `drivecert.removal/1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removal {
    /// Name and version of this record.
    pub schema: &'static str,
    /// Whether nothing of the directory is left, now or before.
    pub removed: bool,
    /// Why it was left as it is; empty where it was not.
    pub reason: String,
}

impl Removal {
    /// The answer where nothing of a directory is left, now or before.
    pub const fn nothing_left() -> Self {
        told(true, String::new())
    }
}

/// Removes the directory of a run, or tells why it stays; asked again, it ends what a crash left half done.
///
/// It stays while anything of the run lives, and while a file system is mounted in it. A start of this very run that is
/// still on its way would begin anew in an empty directory: before anything is removed, the lock of the drive has let in a
/// later generation than `generation`, or is made to refuse this one for good.
///
/// # Errors
/// When the directory or the lock of the drive cannot be read, or something in it cannot be removed: ask again.
pub fn remove(run_dir: &Path, drive_lock: &Path, generation: u64) -> Result<Removal, DetachError> {
    let doomed = doomed(run_dir)?;
    if !is_over(drive_lock, generation, &doomed)? {
        return Ok(kept(run_dir, "its drive is held by a program of this generation"));
    }
    match fs::symlink_metadata(run_dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(source) => return Err(DetachError::file(run_dir, "find", source)),
        Ok(found) if !found.is_dir() => return Ok(kept(run_dir, "is no directory")),
        Ok(_) => {
            if let Some(removal) = put_aside(run_dir, &doomed)? {
                return Ok(removal);
            }
        }
    }
    clear(&doomed)?;
    Ok(Removal::nothing_left())
}

/// Returns the name under which a directory is cleared: no run has one with a leading dot.
fn doomed(run_dir: &Path) -> Result<PathBuf, DetachError> {
    let name = run_dir
        .file_name()
        .ok_or_else(|| DetachError::file(run_dir, "name", ErrorKind::InvalidInput))?;
    let mut hidden = OsString::from(".removed-");
    hidden.push(name);
    Ok(run_dir.with_file_name(hidden))
}

/// Tells whether no start of a generation can come any more; false while its drive is held.
fn is_over(drive_lock: &Path, generation: u64, retired: &Path) -> Result<bool, DetachError> {
    if drive_lock::newest(drive_lock)?.is_some_and(|newest| newest > generation) {
        return Ok(true);
    }
    match drive_lock::retire(drive_lock, generation, retired)? {
        Some(retired) => retired.keep().map(|()| true),
        None => Ok(false),
    }
}

/// Takes the directory out of the way in one step, so that no half of it is ever asked for; None when it is.
fn put_aside(run_dir: &Path, doomed: &Path) -> Result<Option<Removal>, DetachError> {
    let Some(found) = RunDir::find(run_dir)? else {
        return Ok(None);
    };
    let Some(_lock) = found.try_lock()? else {
        return Ok(Some(kept(run_dir, "its program or its monitor still runs")));
    };
    if let Some(place) =
        mounted_in(run_dir).map_err(|source| DetachError::file(run_dir, "look through", source))?
    {
        let reason = format!("another file system is mounted at {}", place.display());
        return Ok(Some(kept(run_dir, &reason)));
    }
    clear(doomed)?;
    fs::rename(run_dir, doomed).map_err(|source| DetachError::file(run_dir, "put aside", source))?;
    Ok(None)
}

/// Finds a directory below that lies on another file system: what it holds is no part of the run.
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

/// Removes a directory that was put aside, where there is one. Links are removed, never followed.
fn clear(doomed: &Path) -> Result<(), DetachError> {
    match fs::remove_dir_all(doomed) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(DetachError::file(doomed, "remove", source)),
        Ok(()) => sync(doomed),
    }
}

fn sync(doomed: &Path) -> Result<(), DetachError> {
    let parent = doomed
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let synced = File::open(parent).and_then(|folder| folder.sync_all());
    synced.map_err(|source| DetachError::file(parent, "write down what was removed from", source))
}

fn kept(run_dir: &Path, reason: &str) -> Removal {
    told(false, format!("{}: {reason}", run_dir.display()))
}

const fn told(removed: bool, reason: String) -> Removal {
    Removal {
        schema: "drivecert.removal/1",
        removed,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_lock::Admission;
    use crate::fork_lock;
    use crate::records::DriveRecord;

    /// A state directory with the run `d-a` and the lock of a drive that has let in a generation.
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
    fn a_run_is_removed_once_a_later_one_was_let_in_and_a_second_time_is_no_error() {
        let state = State::new(8);
        for _ in 0..2 {
            assert_eq!(state.remove(7), told(true, String::new()));
        }
        assert_eq!(state.names(), ["drive"]);
    }

    fn is_let_in(state: &State, generation: u64) -> bool {
        let wish = DriveRecord {
            generation,
            run_dir: state.path("d-a"),
        };
        let admission = drive_lock::take(&state.path("drive"), &wish).unwrap();
        matches!(admission, Admission::Granted(_))
    }

    #[test]
    fn the_newest_run_of_a_drive_is_removed_and_no_late_start_of_it_is_let_in() {
        for newest in [6, 7] {
            let state = State::new(newest);
            assert!(state.remove(7).removed);
            assert!(!is_let_in(&state, 7) && is_let_in(&state, 8));
        }
    }

    #[test]
    fn a_late_start_of_a_run_that_left_nothing_is_not_let_in() {
        let state = State::new(7);
        fs::remove_dir_all(state.path("d-a")).unwrap();
        assert!(state.remove(7).removed && !is_let_in(&state, 7));
    }

    #[test]
    fn a_run_on_a_drive_that_let_nobody_in_is_removed_and_not_let_in_later() {
        let state = State::new(8);
        fs::remove_file(state.path("drive")).unwrap();
        assert!(state.remove(7).removed && !is_let_in(&state, 7));
    }

    #[test]
    fn a_run_whose_drive_is_held_stays() {
        let state = State::new(7);
        let wish = DriveRecord {
            generation: 7,
            run_dir: "/runs/d-b".into(),
        };
        let Admission::Granted(_held) = drive_lock::take(&state.path("drive"), &wish).unwrap() else {
            panic!("not let in")
        };
        assert!(state.remove(7).reason.contains("its drive is held"));
        assert!(state.path("d-a/out/log").exists());
    }

    #[test]
    fn a_run_whose_lock_is_held_stays() {
        let _alone = fork_lock::none();
        let state = State::new(8);
        let found = RunDir::find(&state.path("d-a")).unwrap().unwrap();
        let held = found.try_lock().unwrap().unwrap();
        assert!(state.remove(7).reason.ends_with("still runs"));
        drop(held);
        assert!(state.remove(7).removed);
    }

    #[test]
    fn what_a_crash_left_half_removed_is_removed() {
        let state = State::new(8);
        fs::rename(state.path("d-a"), state.path(".removed-d-a")).unwrap();
        assert!(state.remove(7).removed);
        assert_eq!(state.names(), ["drive"]);
    }

    #[test]
    fn a_link_in_the_place_of_a_run_is_not_followed() {
        let state = State::new(8);
        fs::rename(state.path("d-a"), state.path("elsewhere")).unwrap();
        std::os::unix::fs::symlink(state.path("elsewhere"), state.path("d-a")).unwrap();
        assert!(state.remove(7).reason.ends_with("is no directory"));
        assert!(state.path("elsewhere/out/log").exists());
    }

    #[test]
    fn what_a_link_in_a_run_leads_to_stays() {
        let state = State::new(8);
        fs::write(state.path("kept"), "").unwrap();
        std::os::unix::fs::symlink(state.path("kept"), state.path("d-a/out/link")).unwrap();
        assert!(state.remove(7).removed);
        assert!(state.path("kept").exists());
    }
}
