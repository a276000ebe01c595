//! Starting a run: once, however often it is asked and wherever the asking breaks off.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::Instant;

use rustix::pipe::{PipeFlags, pipe_with};

use crate::drive_lock::{self, Admission, Refused};
use crate::error::DetachError;
use crate::process;
use crate::records::DriveRecord;
use crate::run_dir::RunDir;
use crate::spawn::{self, Offspring, Program};
use crate::spawn_error::Failure;
use crate::status::{self, PAUSE, SETTLING, State, Status};

/// What is to be started, where, and under which right.
pub struct Order<'a> {
    /// The directory of the run; it exists.
    pub run_dir: &'a Path,
    /// The lock file of the drive; created when missing. Everything that loads the drive must name the same file.
    pub drive_lock: &'a Path,
    /// Count of starts for the drive, from 1; grows with every run that is given the drive.
    pub generation: u64,
    /// The program; the calling one is `/proc/self/exe`, even when its file was replaced meanwhile.
    pub program: &'a Path,
    /// Its name and its arguments, as it will see them.
    pub words: &'a [OsString],
}

/// What became of an order.
#[derive(Debug)]
pub enum Answer {
    /// The run was started, now or before.
    Told(Status),
    /// The drive is not for this run; nothing was started.
    Refused(Refused),
}

impl Answer {
    /// Returns the record to print: of a refused order, that nothing was started and why.
    pub fn status(&self) -> Status {
        match self {
            Self::Told(status) => status.clone(),
            Self::Refused(refused) => status::refused(refused.to_string()),
        }
    }
}

/// Starts the program detached, or tells the process that an earlier call started in the same directory.
///
/// Whoever calls may be killed at any moment: calling again leads to exactly one process.
///
/// # Errors
/// When it cannot be told whether the run was started, or the program does not come to life: call again.
pub fn start(order: &Order<'_>) -> Result<Answer, DetachError> {
    let missing = || {
        DetachError::file(
            order.run_dir,
            "find",
            std::io::Error::from(std::io::ErrorKind::NotFound),
        )
    };
    let run_dir = RunDir::find(order.run_dir)?.ok_or_else(missing)?;
    let deadline = Instant::now() + SETTLING;
    loop {
        let status = status::settled(&run_dir)?;
        if status.state != State::Absent {
            return Ok(Answer::Told(status));
        }
        if let Some(lock) = run_dir.try_lock()? {
            return start_locked(order, &run_dir, lock);
        }
        if Instant::now() >= deadline {
            return Err(status::unsettled(&run_dir));
        }
        thread::sleep(PAUSE);
    }
}

fn start_locked(order: &Order<'_>, run_dir: &RunDir, lock: File) -> Result<Answer, DetachError> {
    // Somebody else may have started it, and it may have ended, between the look and the lock.
    if run_dir.is_spent()? {
        drop(lock);
        return status::settled(run_dir).map(Answer::Told);
    }
    let wish = DriveRecord {
        generation: order.generation,
        run_dir: run_dir.path().to_path_buf(),
    };
    match drive_lock::take(order.drive_lock, &wish)? {
        Admission::Refused(refused) => Ok(Answer::Refused(refused)),
        Admission::Granted(drive_lock) => launch(order, run_dir, [lock, drive_lock]).map(Answer::Told),
    }
}

/// Forks, lets go of the locks (the offspring has them now), and waits until the program began or failed to.
fn launch(order: &Order<'_>, run_dir: &RunDir, locks: [File; 2]) -> Result<Status, DetachError> {
    let broken = |source| DetachError::file(run_dir.path(), "open a pipe for the start in", source);
    let (told, telling) = pipe_with(PipeFlags::CLOEXEC).map_err(broken)?;
    let boot_id = process::boot_id()?;
    let program = Program::new(c_string(order.program.as_os_str())?, c_strings(order.words)?);
    let streams = [
        null()?,
        run_dir.appended(stdout_name(order.words))?,
        run_dir.appended("stderr")?,
    ];
    let directory = run_dir.open()?;
    let offspring = Offspring {
        program: &program,
        directory: directory.as_fd(),
        streams: streams.each_ref().map(AsFd::as_fd),
        locks: locks.each_ref().map(AsFd::as_fd),
        telling: telling.as_fd(),
        generation: order.generation,
        boot_id: &boot_id,
    };
    spawn::fork(&offspring).map_err(|source| failed(order, "fork for", source))?;
    drop((locks, telling));
    heard(order, File::from(told))?;
    let status = status::settled(run_dir)?;
    match status.state {
        State::Absent => Err(DetachError::Stillborn {
            run_dir: run_dir.path().to_path_buf(),
        }),
        State::Running | State::Ended => Ok(status),
    }
}

/// The log goes to standard output unless the program is told a file for it.
fn stdout_name(words: &[OsString]) -> &'static str {
    let names_log = |word: &OsString| word == "--log" || word.as_bytes().starts_with(b"--log=");
    if words.iter().any(names_log) {
        "stdout"
    } else {
        "log"
    }
}

fn null() -> Result<File, DetachError> {
    let path = Path::new("/dev/null");
    let open = OpenOptions::new().read(true).open(path);
    open.map_err(|source| DetachError::file(path, "open", source))
}

/// Reads until every writer is gone: the program closes its end by becoming the load, or tells first what failed.
fn heard(order: &Order<'_>, mut told: File) -> Result<(), DetachError> {
    let mut bytes = Vec::new();
    let read = told.read_to_end(&mut bytes);
    read.map_err(|source| failed(order, "hear from", source))?;
    match Failure::from_bytes(&bytes) {
        None => Ok(()),
        Some(failure) => Err(failed(order, failure.stage.verb(), failure.source())),
    }
}

fn failed(order: &Order<'_>, stage: &'static str, source: std::io::Error) -> DetachError {
    DetachError::Program {
        program: order.program.to_path_buf(),
        stage,
        source,
    }
}

fn c_strings(words: &[OsString]) -> Result<Vec<CString>, DetachError> {
    words.iter().map(|word| c_string(word)).collect()
}

fn c_string(word: &OsStr) -> Result<CString, DetachError> {
    CString::new(word.as_bytes()).map_err(|_| DetachError::Argument {
        argument: word.to_string_lossy().into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork_lock;

    fn stdout_of(words: &[&str]) -> &'static str {
        stdout_name(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn standard_output_is_the_log_unless_a_log_is_named() {
        assert_eq!(stdout_of(&["storage", "config"]), "log");
        assert_eq!(stdout_of(&["storage", "config", "--log", "log"]), "stdout");
        assert_eq!(stdout_of(&["storage", "config", "--log=log"]), "stdout");
    }

    #[test]
    fn an_argument_with_a_zero_byte_is_named() {
        let error = c_strings(&[OsString::from("a\0b")]).unwrap_err();
        assert!(error.to_string().contains("a\\0b"), "{error}");
    }

    #[test]
    fn a_run_that_came_and_went_before_the_lock_was_had_is_told_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let run_dir = RunDir::find(folder.path()).unwrap().unwrap();
        let lock = run_dir.try_lock().unwrap().unwrap();
        let record = r#"{"pid": 1, "start_ticks": 0, "generation": 4, "boot_id": "an earlier one"}"#;
        std::fs::write(run_dir.file("pid"), record).unwrap();
        let order = Order {
            run_dir: folder.path(),
            drive_lock: &folder.path().join("drive.lock"),
            generation: 5,
            program: Path::new("/never/run"),
            words: &[],
        };
        let status = start_locked(&order, &run_dir, lock).unwrap().status();
        assert_eq!((status.state, status.generation), (State::Ended, Some(4)));
    }

    #[test]
    fn a_program_that_cannot_be_executed_is_named_and_leaves_the_directory_unspent() {
        let folder = tempfile::tempdir().unwrap();
        let order = Order {
            run_dir: folder.path(),
            drive_lock: &folder.path().join("drive.lock"),
            generation: 1,
            program: Path::new("/no/such/program"),
            words: &["program".into()],
        };
        let fork = fork_lock::one();
        let error = start(&order).unwrap_err();
        drop(fork);
        assert!(
            error
                .to_string()
                .starts_with("/no/such/program: cannot execute: No such file"),
            "{error}"
        );
        assert_eq!(status::status(folder.path()).unwrap().state, State::Absent);
    }
}
