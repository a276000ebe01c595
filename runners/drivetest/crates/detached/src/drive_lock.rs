//! The lock of a drive: one run at a time, and never an older generation after a newer one.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{io, thread};

use crate::run_dir::{self, DriveRecord};
use crate::{DetachError, lock};

/// How long to wait for the lock. Another launcher holds it for milliseconds while it checks the record; a load holds it
/// much longer.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
const RETRY_INTERVAL: Duration = Duration::from_millis(10);
/// Maximum size of a record: one line with an escaped path of at most 4096 bytes and a number.
const RECORD_BYTES_MAX: usize = 16 * 1024;

/// Why a start does not get the drive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Another run uses the drive.
    #[error("{lock}: the drive is busy: {owner}; wait until that run has ended")]
    Busy {
        /// The lock file of the drive.
        lock: PathBuf,
        /// The run that uses it, according to the file.
        owner: String,
    },
    /// A newer start got the drive before this one.
    #[error("{lock}: generation {generation} is older than {newest}, which {owner} has; order the run again")]
    OlderGeneration {
        /// The lock file of the drive.
        lock: PathBuf,
        /// The generation of this start.
        generation: u64,
        /// The newest generation that got the drive.
        newest: u64,
        /// The run directory that has that generation.
        owner: PathBuf,
    },
    /// Another run has the same generation.
    #[error("{lock}: {owner} already has generation {generation}; order the run again")]
    GenerationTaken {
        /// The lock file of the drive.
        lock: PathBuf,
        /// The generation of both runs.
        generation: u64,
        /// The run directory that has that generation.
        owner: PathBuf,
    },
}

/// Takes the lock of a drive for a run and records its generation, or returns why not. The lock is taken while the file,
/// or a copy of its descriptor, is open.
pub(crate) fn take(path: &Path, run: &DriveRecord) -> Result<Result<File, Refusal>, DetachError> {
    let file = open(path)?;
    if !take_with_timeout(path, &file)? {
        return Ok(Err(Refusal::Busy {
            lock: path.to_path_buf(),
            owner: describe_owner(path, &file),
        }));
    }
    let recorded = recorded(path, &file)?;
    if let Some(refused) = recorded
        .as_ref()
        .and_then(|recorded| refusal(path, recorded, run))
    {
        return Ok(Err(refused));
    }
    if recorded.as_ref() != Some(run) {
        write(path, &file, run)?;
        sync(path, &file)?;
    }
    Ok(Ok(file))
}

/// Returns the newest generation that got a drive, or None if there was none. Does not take the lock.
pub(crate) fn newest_generation(path: &Path) -> Result<Option<u64>, DetachError> {
    match DetachError::unless_missing(File::open(path), path, "open the drive lock")? {
        None => Ok(None),
        Some(file) => Ok(recorded(path, &file)?.map(|record| record.generation)),
    }
}

/// Retires a generation: no start with it, or with an older one, gets the drive any more. `retired` becomes its owner, a
/// name that no run directory has. A newer generation in the record has the same effect and stays.
///
/// Returns None if a run uses the drive. The lock is released before the record is synced, because a concurrent start
/// must not be refused while a removal waits for its disk. The caller must [`sync`] the returned file before it removes
/// anything.
pub(crate) fn retire(path: &Path, generation: u64, retired: &Path) -> Result<Option<File>, DetachError> {
    let file = open(path)?;
    // Opened before the write, so that its sync reports a failed write. Closing `file` releases the lock.
    let sync_file = open(path)?;
    if !take_with_timeout(path, &file)? {
        return Ok(None);
    }
    if recorded(path, &file)?.is_none_or(|newest| newest.generation <= generation) {
        let retirement = DriveRecord {
            generation,
            run_dir: retired.to_path_buf(),
        };
        write(path, &file, &retirement)?;
    }
    drop(file);
    Ok(Some(sync_file))
}

fn open(path: &Path) -> Result<File, DetachError> {
    lock::open(path).map_err(|source| DetachError::file(path, "open the drive lock", source))
}

fn take_with_timeout(path: &Path, file: &File) -> Result<bool, DetachError> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        let taken = lock::try_take(file).map_err(|source| DetachError::file(path, "lock", source))?;
        if taken || Instant::now() >= deadline {
            return Ok(taken);
        }
        thread::sleep(RETRY_INTERVAL);
    }
}

/// Describes the run that uses the drive. An unreadable record is no error here: it may be changing at this moment.
fn describe_owner(path: &Path, file: &File) -> String {
    match recorded(path, file) {
        Ok(Some(DriveRecord { generation, run_dir })) => {
            format!("{} runs as generation {generation}", run_dir.display())
        }
        Ok(None) | Err(_) => "an unknown run uses it".to_owned(),
    }
}

fn refusal(path: &Path, recorded: &DriveRecord, run: &DriveRecord) -> Option<Refusal> {
    let (lock, generation, owner) = (path.to_path_buf(), run.generation, recorded.run_dir.clone());
    if generation < recorded.generation {
        return Some(Refusal::OlderGeneration {
            lock,
            generation,
            newest: recorded.generation,
            owner,
        });
    }
    (generation == recorded.generation && run.run_dir != owner).then_some(Refusal::GenerationTaken {
        lock,
        generation,
        owner,
    })
}

/// Reads the record in the first line, or None if there is none. The rest of the file is left of a longer, older record.
fn recorded(path: &Path, file: &File) -> Result<Option<DriveRecord>, DetachError> {
    let mut bytes = vec![0; RECORD_BYTES_MAX];
    let read = file
        .read_at(&mut bytes, 0)
        .map_err(|source| DetachError::file(path, "read", source))?;
    let line = bytes[..read]
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    // After a power cut before the first data reached the disk, the file contains zero bytes: no start got the drive yet.
    if line.iter().all(|&byte| byte == 0) {
        return Ok(None);
    }
    run_dir::parse_record(path, line).map(Some)
}

/// Writes the record in place, with one call: a new file under the same name would be a second lock.
fn write(path: &Path, file: &File, run: &DriveRecord) -> Result<(), DetachError> {
    let write = || -> io::Result<()> {
        let mut line = serde_json::to_vec(run)?;
        line.push(b'\n');
        file.write_all_at(&line, 0)
    };
    write().map_err(|source| record_error(path, source))
}

/// Waits until the record is on disk. A stalled disk takes seconds.
pub(crate) fn sync(path: &Path, file: &File) -> Result<(), DetachError> {
    let synced = file.sync_all().and_then(|()| run_dir::sync_parent(path));
    synced.map_err(|source| record_error(path, source))
}

fn record_error(path: &Path, source: io::Error) -> DetachError {
    DetachError::file(path, "record the generation in", source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(generation: u64, run_dir: &str) -> DriveRecord {
        DriveRecord {
            generation,
            run_dir: run_dir.into(),
        }
    }

    fn start(path: &Path, generation: u64, run_dir: &str) -> Result<File, Refusal> {
        take(path, &run(generation, run_dir)).unwrap()
    }

    fn lock_file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive");
        (folder, path)
    }

    /// Retires a generation and syncs, as a removal does. Returns whether the drive was free.
    fn is_retired(path: &Path, generation: u64) -> bool {
        let retired = retire(path, generation, Path::new("/runs/.removed-a")).unwrap();
        retired.map(|file| sync(path, &file).unwrap()).is_some()
    }

    #[test]
    fn a_newer_generation_follows_an_older() {
        let (_folder, path) = lock_file();
        drop(start(&path, 3, "/runs/a").unwrap());
        assert!(start(&path, 4, "/runs/b").is_ok());
    }

    #[test]
    fn an_older_generation_is_refused_and_the_record_stays() {
        let (_folder, path) = lock_file();
        drop(start(&path, 4, "/runs/b").unwrap());
        assert!(matches!(
            start(&path, 3, "/runs/a"),
            Err(Refusal::OlderGeneration {
                generation: 3,
                newest: 4,
                ..
            })
        ));
        assert!(start(&path, 4, "/runs/b").is_ok());
    }

    #[test]
    fn an_equal_generation_is_for_the_same_directory_only() {
        let (_folder, path) = lock_file();
        drop(start(&path, 4, "/runs/b").unwrap());
        assert!(matches!(
            start(&path, 4, "/runs/a"),
            Err(Refusal::GenerationTaken { generation: 4, .. })
        ));
        assert!(start(&path, 4, "/runs/b").is_ok());
    }

    #[test]
    fn a_retired_generation_is_refused_and_the_next_one_starts() {
        let (_folder, path) = lock_file();
        drop(start(&path, 4, "/runs/a").unwrap());
        assert!(is_retired(&path, 4));
        assert!(matches!(
            start(&path, 4, "/runs/a"),
            Err(Refusal::GenerationTaken { .. })
        ));
        assert!(matches!(
            start(&path, 3, "/runs/a"),
            Err(Refusal::OlderGeneration { .. })
        ));
        assert!(start(&path, 5, "/runs/b").is_ok());
    }

    #[test]
    fn a_start_gets_the_drive_while_a_removal_waits_for_its_disk() {
        let (_folder, path) = lock_file();
        drop(start(&path, 4, "/runs/a").unwrap());
        let waiting = retire(&path, 4, Path::new("/runs/.removed-a")).unwrap().unwrap();
        assert!(matches!(
            start(&path, 4, "/runs/a"),
            Err(Refusal::GenerationTaken { .. })
        ));
        let started = start(&path, 5, "/runs/b").unwrap();
        sync(&path, &waiting).unwrap();
        drop(started);
        assert!(matches!(
            start(&path, 4, "/runs/a"),
            Err(Refusal::OlderGeneration { newest: 5, .. })
        ));
    }

    #[test]
    fn a_drive_in_use_retires_nothing() {
        let (_folder, path) = lock_file();
        let running = start(&path, 4, "/runs/a").unwrap();
        assert!(!is_retired(&path, 4));
        drop(running);
        assert!(start(&path, 4, "/runs/a").is_ok());
    }

    #[test]
    fn a_newer_generation_stays_recorded_when_an_older_one_is_retired() {
        let (_folder, path) = lock_file();
        drop(start(&path, 5, "/runs/b").unwrap());
        assert!(is_retired(&path, 4));
        assert!(start(&path, 5, "/runs/b").is_ok());
    }

    #[test]
    fn a_busy_drive_is_refused_and_the_message_names_its_run() {
        let (_folder, path) = lock_file();
        let _running = start(&path, 4, "/runs/b").unwrap();
        let refused = start(&path, 5, "/runs/c").unwrap_err();
        assert!(
            refused.to_string().contains("/runs/b runs as generation 4"),
            "{refused}"
        );
    }

    #[test]
    fn a_start_waits_for_another_launcher_that_checks_the_record() {
        let (_folder, path) = lock_file();
        let checking = start(&path, 4, "/runs/b").unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| start(&path, 5, "/runs/c").is_ok());
            thread::sleep(5 * RETRY_INTERVAL);
            drop(checking);
            assert!(waiting.join().unwrap());
        });
    }

    #[test]
    fn the_rest_of_a_longer_record_is_ignored() {
        let (_folder, path) = lock_file();
        drop(start(&path, 1, "/runs/with-a-long-name").unwrap());
        drop(start(&path, 2, "/r").unwrap());
        assert!(matches!(
            start(&path, 1, "/r"),
            Err(Refusal::OlderGeneration { newest: 2, .. })
        ));
    }

    #[test]
    fn zero_bytes_after_a_power_cut_count_as_no_record() {
        let (_folder, path) = lock_file();
        std::fs::write(&path, [0; 64]).unwrap();
        assert!(start(&path, 1, "/runs/a").is_ok());
    }

    #[test]
    fn foreign_content_is_an_error_that_names_the_file() {
        let (_folder, path) = lock_file();
        std::fs::write(&path, "not ours\n").unwrap();
        let Err(error) = take(&path, &run(1, "/runs/a")) else {
            panic!("the lock was taken")
        };
        assert!(
            error.to_string().contains("not ours") && error.to_string().contains("drive"),
            "{error}"
        );
    }
}
