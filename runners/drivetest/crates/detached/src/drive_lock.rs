//! The lock of a drive: one holder at a time, and never an older generation after a newer one.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::DetachError;
use crate::lock;
use crate::records::{self, DriveRecord};

/// Another launcher holds the lock for some milliseconds while it makes up its mind; a load holds it far longer.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(10);
/// A record is one line: a path of at most 4096 bytes, escaped, and a number.
const LONGEST_RECORD_BYTES: usize = 16 * 1024;

/// Why a drive is not given to this start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A program of another run has the drive.
    #[error("{lock}: the drive is busy: {holder}; wait until that run has ended")]
    Busy {
        /// The lock file of the drive.
        lock: PathBuf,
        /// Who has it, as far as the file tells.
        holder: String,
    },
    /// A later start was let in before this one came.
    #[error(
        "{lock}: generation {asked} is older than {newest}, which was given to {owner}; order the run anew"
    )]
    Older {
        /// The lock file of the drive.
        lock: PathBuf,
        /// The generation of this start.
        asked: u64,
        /// The newest that was let in.
        newest: u64,
        /// The run directory that has it.
        owner: PathBuf,
    },
    /// Two starts came with one generation: one of them was not counted.
    #[error("{lock}: generation {asked} was already given to {owner}; order the run anew")]
    Taken {
        /// The lock file of the drive.
        lock: PathBuf,
        /// The generation of both.
        asked: u64,
        /// The run directory that has it.
        owner: PathBuf,
    },
}

/// What a lock file says about a start.
pub(crate) enum Admission {
    /// The drive is ours as long as the file, or a copy of its descriptor, is open.
    Granted(File),
    /// The drive is not for this start.
    Refused(Refused),
}

/// Takes the drive's lock for a generation and records it, or tells why not.
pub(crate) fn take(path: &Path, wish: &DriveRecord) -> Result<Admission, DetachError> {
    let file = open(path)?;
    if !take_patiently(path, &file)? {
        let holder = holder(path, &file);
        return Ok(Admission::Refused(Refused::Busy {
            lock: path.to_path_buf(),
            holder,
        }));
    }
    let recorded = recorded(path, &file)?;
    if let Some(refused) = recorded
        .as_ref()
        .and_then(|recorded| objection(path, recorded, wish))
    {
        return Ok(Admission::Refused(refused));
    }
    if recorded.as_ref() != Some(wish) {
        record(path, &file, wish)?;
    }
    Ok(Admission::Granted(file))
}

/// Returns the newest generation that was let in on a drive; None when none ever was. Takes nothing.
pub(crate) fn newest(path: &Path) -> Result<Option<u64>, DetachError> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(DetachError::file(path, "open as the drive's lock", source)),
        Ok(file) => Ok(recorded(path, &file)?.map(|record| record.generation)),
    }
}

/// A record that stands in a drive's lock and may not be on the disk yet. Nobody waits for that: the lock is free.
pub(crate) struct Retired {
    path: PathBuf,
    file: File,
}

impl Retired {
    /// Waits until the disk has the record; a disk that stalls takes seconds.
    pub fn keep(self) -> Result<(), DetachError> {
        sync(&self.path, &self.file)
    }
}

/// Lets nobody in any more with this generation, or an older one: it is given to `retired`, a name that no run directory has.
/// None where somebody holds the drive; a later generation that was let in says as much already, and its record stays.
///
/// A start beside this must not be refused because a removal waits for its disk: the lock is held while the record is
/// written, and let go before it is kept. Nothing may be removed before that.
pub(crate) fn retire(path: &Path, generation: u64, retired: &Path) -> Result<Option<Retired>, DetachError> {
    let file = open(path)?;
    // Opened before anything is written, so that it is told of a failure to write; the lock ends with the other one.
    let kept = open(path)?;
    if !take_patiently(path, &file)? {
        return Ok(None);
    }
    if recorded(path, &file)?.is_none_or(|newest| newest.generation <= generation) {
        let wish = DriveRecord {
            generation,
            run_dir: retired.to_path_buf(),
        };
        write(path, &file, &wish)?;
    }
    drop(file);
    Ok(Some(Retired {
        path: path.to_path_buf(),
        file: kept,
    }))
}

fn open(path: &Path) -> Result<File, DetachError> {
    let open = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path);
    open.map_err(|source| DetachError::file(path, "open as the drive's lock", source))
}

fn take_patiently(path: &Path, file: &File) -> Result<bool, DetachError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let taken = lock::try_take(file).map_err(|source| DetachError::file(path, "lock", source))?;
        if taken || Instant::now() >= deadline {
            return Ok(taken);
        }
        thread::sleep(PAUSE);
    }
}

/// Names who has the drive. The record may just be changing hands, so an unreadable one is no error here.
fn holder(path: &Path, file: &File) -> String {
    match recorded(path, file) {
        Ok(Some(owner)) => format!(
            "{} runs as generation {}",
            owner.run_dir.display(),
            owner.generation
        ),
        Ok(None) | Err(_) => "its holder has not said who it is".to_owned(),
    }
}

fn objection(path: &Path, recorded: &DriveRecord, wish: &DriveRecord) -> Option<Refused> {
    let (lock, asked, owner) = (path.to_path_buf(), wish.generation, recorded.run_dir.clone());
    if asked < recorded.generation {
        return Some(Refused::Older {
            lock,
            asked,
            newest: recorded.generation,
            owner,
        });
    }
    (asked == recorded.generation && wish.run_dir != owner).then_some(Refused::Taken { lock, asked, owner })
}

/// Reads the first line; what follows it is the rest of a longer record before it. None when nothing was ever recorded.
fn recorded(path: &Path, file: &File) -> Result<Option<DriveRecord>, DetachError> {
    let mut bytes = vec![0; LONGEST_RECORD_BYTES];
    let read = file
        .read_at(&mut bytes, 0)
        .map_err(|source| DetachError::file(path, "read", source))?;
    let line = bytes[..read]
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    // A power cut between the growth of the file and its first data leaves zero bytes: nothing was let in yet.
    if line.iter().all(|&byte| byte == 0) {
        return Ok(None);
    }
    records::parse(path, line).map(Some)
}

/// Writes the record in place and waits until the disk has it.
fn record(path: &Path, file: &File, wish: &DriveRecord) -> Result<(), DetachError> {
    write(path, file, wish)?;
    sync(path, file)
}

/// Writes the record in place, by one call: a new file under the old name would be a second lock.
fn write(path: &Path, file: &File, wish: &DriveRecord) -> Result<(), DetachError> {
    let write = || -> io::Result<()> {
        let mut line = serde_json::to_vec(wish)?;
        line.push(b'\n');
        file.write_all_at(&line, 0)
    };
    write().map_err(|source| unrecorded(path, source))
}

fn sync(path: &Path, file: &File) -> Result<(), DetachError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let synced = file
        .sync_all()
        .and_then(|()| File::open(parent.unwrap_or(Path::new(".")))?.sync_all());
    synced.map_err(|source| unrecorded(path, source))
}

fn unrecorded(path: &Path, source: io::Error) -> DetachError {
    DetachError::file(path, "record the generation in", source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(generation: u64, run_dir: &str) -> DriveRecord {
        DriveRecord {
            generation,
            run_dir: run_dir.into(),
        }
    }

    fn asked(path: &Path, generation: u64, run_dir: &str) -> Result<File, Refused> {
        match take(path, &wish(generation, run_dir)).unwrap() {
            Admission::Granted(file) => Ok(file),
            Admission::Refused(refused) => Err(refused),
        }
    }

    fn lock_file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive");
        (folder, path)
    }

    /// Retires a generation as a removal does, to its end; tells whether the drive was free for that.
    fn is_retired(path: &Path, generation: u64) -> bool {
        let retired = retire(path, generation, Path::new("/runs/.removed-a")).unwrap();
        retired.map(|retired| retired.keep().unwrap()).is_some()
    }

    #[test]
    fn a_newer_generation_follows_an_older() {
        let (_folder, path) = lock_file();
        drop(asked(&path, 3, "/runs/a").unwrap());
        assert!(asked(&path, 4, "/runs/b").is_ok());
    }

    #[test]
    fn an_older_generation_is_refused_and_the_record_stays() {
        let (_folder, path) = lock_file();
        drop(asked(&path, 4, "/runs/b").unwrap());
        assert!(matches!(
            asked(&path, 3, "/runs/a"),
            Err(Refused::Older {
                asked: 3,
                newest: 4,
                ..
            })
        ));
        assert!(asked(&path, 4, "/runs/b").is_ok());
    }

    #[test]
    fn an_equal_generation_is_for_the_same_directory_only() {
        let (_folder, path) = lock_file();
        drop(asked(&path, 4, "/runs/b").unwrap());
        assert!(matches!(
            asked(&path, 4, "/runs/a"),
            Err(Refused::Taken { asked: 4, .. })
        ));
        assert!(asked(&path, 4, "/runs/b").is_ok());
    }

    #[test]
    fn a_retired_generation_is_let_in_nowhere_and_the_next_one_is() {
        let (_folder, path) = lock_file();
        drop(asked(&path, 4, "/runs/a").unwrap());
        assert!(is_retired(&path, 4));
        assert!(matches!(asked(&path, 4, "/runs/a"), Err(Refused::Taken { .. })));
        assert!(matches!(asked(&path, 3, "/runs/a"), Err(Refused::Older { .. })));
        assert!(asked(&path, 5, "/runs/b").is_ok());
    }

    #[test]
    fn a_start_is_let_in_while_a_removal_still_waits_for_its_disk() {
        let (_folder, path) = lock_file();
        drop(asked(&path, 4, "/runs/a").unwrap());
        let waiting = retire(&path, 4, Path::new("/runs/.removed-a")).unwrap().unwrap();
        assert!(matches!(asked(&path, 4, "/runs/a"), Err(Refused::Taken { .. })));
        let started = asked(&path, 5, "/runs/b").unwrap();
        waiting.keep().unwrap();
        drop(started);
        assert!(matches!(
            asked(&path, 4, "/runs/a"),
            Err(Refused::Older { newest: 5, .. })
        ));
    }

    #[test]
    fn a_drive_that_is_held_retires_nothing() {
        let (_folder, path) = lock_file();
        let held = asked(&path, 4, "/runs/a").unwrap();
        assert!(!is_retired(&path, 4));
        drop(held);
        assert!(asked(&path, 4, "/runs/a").is_ok());
    }

    #[test]
    fn a_later_generation_stays_recorded_where_an_older_one_is_retired() {
        let (_folder, path) = lock_file();
        drop(asked(&path, 5, "/runs/b").unwrap());
        assert!(is_retired(&path, 4));
        assert!(asked(&path, 5, "/runs/b").is_ok());
    }

    #[test]
    fn a_held_drive_is_refused_and_names_its_holder() {
        let (_folder, path) = lock_file();
        let _held = asked(&path, 4, "/runs/b").unwrap();
        let refused = asked(&path, 5, "/runs/c").unwrap_err();
        assert!(
            refused.to_string().contains("/runs/b runs as generation 4"),
            "{refused}"
        );
    }

    #[test]
    fn a_launcher_that_makes_up_its_mind_is_waited_for() {
        let (_folder, path) = lock_file();
        let undecided = asked(&path, 4, "/runs/b").unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| asked(&path, 5, "/runs/c").is_ok());
            thread::sleep(5 * PAUSE);
            drop(undecided);
            assert!(waiting.join().unwrap());
        });
    }

    #[test]
    fn a_shorter_record_hides_the_rest_of_a_longer_one() {
        let (_folder, path) = lock_file();
        drop(asked(&path, 1, "/runs/with-a-long-name").unwrap());
        drop(asked(&path, 2, "/r").unwrap());
        assert!(matches!(
            asked(&path, 1, "/r"),
            Err(Refused::Older { newest: 2, .. })
        ));
    }

    #[test]
    fn zero_bytes_after_a_power_cut_count_as_nothing_recorded() {
        let (_folder, path) = lock_file();
        std::fs::write(&path, [0; 64]).unwrap();
        assert!(asked(&path, 1, "/runs/a").is_ok());
    }

    #[test]
    fn foreign_content_is_an_error_that_names_the_file() {
        let (_folder, path) = lock_file();
        std::fs::write(&path, "not ours\n").unwrap();
        let Err(error) = take(&path, &wish(1, "/runs/a")) else {
            panic!("taken")
        };
        assert!(
            error.to_string().contains("not ours") && error.to_string().contains("drive"),
            "{error}"
        );
    }
}
