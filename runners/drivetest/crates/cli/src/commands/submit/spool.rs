//! The spool: submissions that wait for the register.
//!
//! An entry is a folder with the files and `submission.json`. It is complete and on disk before it gets its name, which is
//! the hash of its content: the same submission is in the spool once. It is removed only after the register has stored
//! the submission. The register recognises a log that it has, so that a crash between the two sends nothing twice.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

const SCHEMA: &str = "drivecert.spooled-submission/1";
const DOCUMENT: &str = "submission.json";
const LOCK: &str = ".lock";
const INCOMING: &str = ".incoming-";
const SENT: &str = ".sent-";
const REFUSED: &str = "refused";
const REASON: &str = "refusal.txt";
/// A folder without a name that is older belongs to a process that ended, if it is not locked.
const INCOMING_MAX: Duration = Duration::from_secs(3600);

/// What is submitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The log first, then the files that belong to it.
    pub files: Vec<SentFile>,
    /// The facts that the sender states.
    pub facts: Map<String, Value>,
    /// The slice length of the reading.
    pub slice_s: u64,
}

/// A file and its name at the register.
#[derive(Debug, Clone, PartialEq)]
pub struct SentFile {
    /// Where the file is.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
}

/// `submission.json` of an entry. The files are in its folder, named by their numbers.
#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    register: String,
    names: Vec<String>,
    sha256: Vec<String>,
    facts: Map<String, Value>,
    slice_s: u64,
    /// Not part of the name: the same submission is in the spool once.
    #[serde(default)]
    spooled_unix_ms: u64,
}

/// A submission in the spool.
#[derive(Debug)]
pub struct Entry {
    /// Its folder.
    pub folder: PathBuf,
    /// The register that it is for.
    pub register: String,
    /// The submission, with the files of the spool.
    pub submission: Submission,
    spooled_unix_ms: u64,
}

/// A folder of submissions.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
}

/// The right to send the submissions of a spool.
#[derive(Debug)]
pub struct SpoolLock {
    _file: File,
}

impl Spool {
    /// Opens a spool; creates its folder, which only its owner can read.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn open(folder: &Path) -> io::Result<Self> {
        new_folder().recursive(true).create(folder)?;
        let folder = folder.to_owned();
        Ok(Self { folder })
    }

    /// Adds a submission, and returns its entry. Its files are copied.
    ///
    /// # Errors
    /// If a file cannot be read, or the spool cannot be written. The spool then has no part of the submission.
    pub fn add(&self, register: &str, submission: &Submission) -> io::Result<PathBuf> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("{INCOMING}{}-{}", std::process::id(), now.as_nanos());
        let incoming = self.folder.join(name);
        new_folder().create(&incoming)?;
        let added = self.fill(&incoming, register, submission, now.as_millis());
        if added.is_err() {
            drop(fs::remove_dir_all(&incoming));
        }
        added
    }

    fn fill(
        &self,
        incoming: &Path,
        register: &str,
        submission: &Submission,
        now_ms: u128,
    ) -> io::Result<PathBuf> {
        let lock = File::open(incoming)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let mut document = Document {
            schema: SCHEMA.to_owned(),
            register: register.to_owned(),
            names: submission.files.iter().map(|file| file.name.clone()).collect(),
            sha256: Vec::new(),
            facts: submission.facts.clone(),
            slice_s: submission.slice_s,
            spooled_unix_ms: 0,
        };
        for (number, file) in submission.files.iter().enumerate() {
            document
                .sha256
                .push(copy(&file.path, &incoming.join(number.to_string()))?);
        }
        let name = hex(&Sha256::digest(serde_json::to_vec(&document)?));
        document.spooled_unix_ms = u64::try_from(now_ms).unwrap_or(u64::MAX);
        let mut file = new_file(&incoming.join(DOCUMENT))?;
        file.write_all(&serde_json::to_vec_pretty(&document)?)?;
        file.sync_all()?;
        lock.sync_all()?;
        let entry = self.folder.join(name);
        match fs::rename(incoming, &entry) {
            Err(_) if entry.join(DOCUMENT).is_file() => fs::remove_dir_all(incoming)?,
            renamed => renamed?,
        }
        self.sync()?;
        Ok(entry)
    }

    /// Locks the spool for sending. `None` if another process sends its submissions.
    ///
    /// # Errors
    /// If the lock file cannot be created.
    pub fn lock(&self) -> io::Result<Option<SpoolLock>> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).mode(0o600);
        let file = file.open(self.folder.join(LOCK))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(SpoolLock { _file: file })),
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the submissions, the oldest first. Removes what ended processes left. `damaged` gets the errors of entries
    /// that cannot be read.
    ///
    /// # Errors
    /// If the spool cannot be read.
    pub fn entries(&self, _: &SpoolLock, damaged: &mut Vec<io::Error>) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for found in fs::read_dir(&self.folder)? {
            let folder = found?.path();
            let name = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name.starts_with(SENT) || (name.starts_with(INCOMING) && is_abandoned(&folder)) {
                fs::remove_dir_all(&folder)?;
            } else if is_entry_name(&name) {
                match read_entry(folder) {
                    Ok(entry) => entries.push(entry),
                    Err(error) => damaged.push(error),
                }
            }
        }
        entries.sort_by_key(|entry| entry.spooled_unix_ms);
        Ok(entries)
    }

    /// Removes a submission that the register has stored.
    ///
    /// # Errors
    /// If the entry cannot be renamed or removed.
    pub fn remove(&self, entry: &Entry) -> io::Result<()> {
        let name = entry.folder.file_name().unwrap_or_default().to_string_lossy();
        let sent = self.folder.join(format!("{SENT}{name}"));
        fs::rename(&entry.folder, &sent)?;
        self.sync()?;
        fs::remove_dir_all(sent)
    }

    /// Puts a submission aside that the register refuses, with the reason. Returns its folder.
    ///
    /// # Errors
    /// If the entry cannot be moved.
    pub fn set_aside(&self, entry: &Entry, reason: &str) -> io::Result<PathBuf> {
        fs::write(entry.folder.join(REASON), format!("{reason}\n"))?;
        let refused = self.folder.join(REFUSED);
        new_folder().recursive(true).create(&refused)?;
        let place = refused.join(entry.folder.file_name().unwrap_or_default());
        if place.exists() {
            // The same submission was refused before.
            fs::remove_dir_all(&place)?;
        }
        fs::rename(&entry.folder, &place)?;
        File::open(&refused)?.sync_all()?;
        self.sync()?;
        Ok(place)
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}

/// Returns whether a name is that of an entry: a SHA-256. Others are no business of the spool, such as lost+found.
fn is_entry_name(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn new_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)
}

fn is_abandoned(incoming: &Path) -> bool {
    let changed = fs::metadata(incoming).and_then(|metadata| metadata.modified());
    let is_old = changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > INCOMING_MAX));
    let is_free = |file: File| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    is_old && File::open(incoming).is_ok_and(is_free)
}

fn read_entry(folder: PathBuf) -> io::Result<Entry> {
    let damaged = |problem: String| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "{}: expected a submission of the spool; {problem}",
                folder.display()
            ),
        )
    };
    let text = fs::read(folder.join(DOCUMENT)).map_err(|error| damaged(format!("{DOCUMENT}: {error}")))?;
    let document: Document = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    if document.schema != SCHEMA {
        return Err(damaged(format!("got the schema {}", document.schema)));
    }
    let names = document.names.into_iter().enumerate();
    let files = names
        .map(|(number, name)| SentFile {
            path: folder.join(number.to_string()),
            name,
        })
        .collect();
    Ok(Entry {
        register: document.register,
        submission: Submission {
            files,
            facts: document.facts,
            slice_s: document.slice_s,
        },
        spooled_unix_ms: document.spooled_unix_ms,
        folder,
    })
}

/// Copies a file and returns the hash of the copied bytes.
fn copy(source: &Path, target: &Path) -> io::Result<String> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", source.display()));
    let (mut input, mut output) = (File::open(source).map_err(named)?, new_file(target)?);
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        let count = input.read(&mut buffer).map_err(named)?;
        if count == 0 {
            break;
        }
        digest.update(&buffer[..count]);
        output.write_all(&buffer[..count])?;
    }
    output.sync_all()?;
    Ok(hex(&digest.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use serde_json::json;

    use super::*;

    const REGISTER: &str = "https://register.example";

    fn submission(folder: &Path, log: &str, model: &str) -> Submission {
        let path = folder.join("load.log");
        fs::write(&path, log).unwrap();
        let name = "load.log".to_owned();
        let facts = json!({"model": model}).as_object().unwrap().clone();
        let files = vec![SentFile { path, name }];
        Submission {
            files,
            facts,
            slice_s: 3600,
        }
    }

    #[test]
    fn an_entry_has_the_files_and_facts_of_its_submission() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(&folder.path().join("spool")).unwrap();
        let added = submission(folder.path(), "log", "EX4");
        spool.add(REGISTER, &added).unwrap();
        fs::remove_file(folder.path().join("load.log")).unwrap();
        let lock = spool.lock().unwrap().unwrap();
        let entries = spool.entries(&lock, &mut Vec::new()).unwrap();
        let entry = &entries[0].submission;
        assert_eq!((&entry.facts, entry.slice_s), (&added.facts, 3600));
        assert_eq!(entry.files[0].name, "load.log");
        assert_eq!(fs::read(&entry.files[0].path).unwrap(), b"log");
        assert_eq!(entries[0].register, REGISTER);
    }

    #[test]
    fn the_same_submission_is_in_the_spool_once_and_others_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path()).unwrap();
        for (log, model) in [("b", "EX4"), ("a", "EX4"), ("b", "EX4"), ("b", "EX5")] {
            spool
                .add(REGISTER, &submission(folder.path(), log, model))
                .unwrap();
            std::thread::sleep(Duration::from_millis(2));
        }
        let lock = spool.lock().unwrap().unwrap();
        let entries = spool.entries(&lock, &mut Vec::new()).unwrap();
        let read = |entry: &Entry| fs::read_to_string(&entry.submission.files[0].path).unwrap();
        assert_eq!(entries.iter().map(read).collect::<Vec<_>>(), ["b", "a", "b"]);
    }

    #[test]
    fn a_failed_or_interrupted_addition_is_no_entry() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path()).unwrap();
        let mut lost = submission(folder.path(), "log", "EX4");
        lost.files.push(SentFile {
            path: folder.path().join("missing"),
            name: "missing".to_owned(),
        });
        assert!(
            spool
                .add(REGISTER, &lost)
                .unwrap_err()
                .to_string()
                .contains("missing")
        );
        let interrupted = folder.path().join(format!("{INCOMING}1-1"));
        fs::create_dir(&interrupted).unwrap();
        fs::write(interrupted.join("0"), "lo").unwrap();
        let lock = spool.lock().unwrap().unwrap();
        assert!(spool.entries(&lock, &mut Vec::new()).unwrap().is_empty());
        // It may belong to a process that runs.
        assert!(interrupted.exists());
    }

    #[test]
    fn a_removal_that_a_crash_interrupted_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path()).unwrap();
        let entry = spool
            .add(REGISTER, &submission(folder.path(), "log", "EX4"))
            .unwrap();
        let sent = folder.path().join(format!("{SENT}1"));
        fs::rename(entry, &sent).unwrap();
        let lock = spool.lock().unwrap().unwrap();
        assert!(spool.entries(&lock, &mut Vec::new()).unwrap().is_empty());
        assert!(!sent.exists());
    }

    #[test]
    fn a_refused_entry_is_put_aside_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path()).unwrap();
        let lock = spool.lock().unwrap().unwrap();
        for _ in 0..2 {
            spool
                .add(REGISTER, &submission(folder.path(), "log", "EX4"))
                .unwrap();
            let entry = spool.entries(&lock, &mut Vec::new()).unwrap().remove(0);
            let place = spool.set_aside(&entry, "no category").unwrap();
            assert_eq!(fs::read_to_string(place.join(REASON)).unwrap(), "no category\n");
            assert_eq!(fs::read(place.join("0")).unwrap(), b"log");
            assert!(spool.entries(&lock, &mut Vec::new()).unwrap().is_empty());
        }
    }

    #[test]
    fn a_damaged_entry_is_reported_and_the_others_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path()).unwrap();
        spool
            .add(REGISTER, &submission(folder.path(), "log", "EX4"))
            .unwrap();
        fs::create_dir(folder.path().join("lost+found")).unwrap();
        fs::create_dir(folder.path().join("0".repeat(64))).unwrap();
        let (lock, mut damaged) = (spool.lock().unwrap().unwrap(), Vec::new());
        assert_eq!(spool.entries(&lock, &mut damaged).unwrap().len(), 1);
        assert_eq!(damaged.len(), 1);
    }

    #[test]
    fn one_process_sends_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(folder.path()).unwrap();
        let lock = spool.lock().unwrap();
        assert!(lock.is_some());
        assert!(spool.lock().unwrap().is_none());
        drop(lock);
        assert!(spool.lock().unwrap().is_some());
    }
}
