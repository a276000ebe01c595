//! `drivetest run start`: starts a run exactly once, however often it is repeated and wherever it is interrupted.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::pipe::{PipeFlags, pipe_with};

use crate::drive_lock::{self, Refusal};
use crate::run_dir::{DriveRecord, RunDir};
use crate::spawn::{self, Program, SpawnContext, SpawnError};
use crate::status::{self, State, Status};
use crate::{DetachError, process};

/// A request to start a run.
pub struct StartRequest<'a> {
    /// The directory of the run, which must exist.
    pub run_dir: &'a Path,
    /// The lock file of the drive, created if missing. Every program that loads the drive must use the same file.
    pub drive_lock: &'a Path,
    /// The number of this start on the drive, from 1. Every run on the drive gets a higher one.
    pub generation: u64,
    /// The program. `/proc/self/exe` is the calling one, even if its file was replaced.
    pub program: &'a Path,
    /// The argv of the program: its name and its arguments.
    pub words: &'a [OsString],
}

/// The result of a request.
#[derive(Debug)]
pub enum StartOutcome {
    /// The run was started, now or before.
    Started(Status),
    /// The run did not get the drive. Nothing was started.
    Refused(Refusal),
}

impl StartOutcome {
    /// Returns the record to print. For a refusal, it states that nothing was started, and why.
    pub fn status(&self) -> Status {
        match self {
            Self::Started(status) => status.clone(),
            Self::Refused(refused) => status::refused(refused.to_string()),
        }
    }
}

/// Starts the program in the background, or returns the status of the one that an earlier call started.
///
/// The caller can be killed at any moment. Repeated calls start exactly one process.
///
/// # Errors
/// If it is unknown whether the run was started, or if the program cannot be executed. Retry.
pub fn start(request: &StartRequest<'_>) -> Result<StartOutcome, DetachError> {
    let missing = || DetachError::file(request.run_dir, "find", ErrorKind::NotFound);
    let run_dir = RunDir::find(request.run_dir)?.ok_or_else(missing)?;
    status::poll(&run_dir, || {
        let status = status::settled(&run_dir)?;
        if status.state != State::Absent {
            return Ok(Some(StartOutcome::Started(status)));
        }
        let lock = run_dir.try_lock()?;
        lock.map(|lock| start_locked(request, &run_dir, lock)).transpose()
    })
}

fn start_locked(
    request: &StartRequest<'_>,
    run_dir: &RunDir,
    lock: File,
) -> Result<StartOutcome, DetachError> {
    // Between the check and the lock, another launcher may have started the run, and it may have ended.
    if run_dir.is_used()? {
        drop(lock);
        return status::settled(run_dir).map(StartOutcome::Started);
    }
    let run = DriveRecord {
        generation: request.generation,
        run_dir: run_dir.path().to_path_buf(),
    };
    match drive_lock::take(request.drive_lock, &run)? {
        Err(refused) => Ok(StartOutcome::Refused(refused)),
        Ok(drive_lock) => launch(request, run_dir, [lock, drive_lock]).map(StartOutcome::Started),
    }
}

/// Forks, closes its copies of the locks, which monitor and program have now, and waits for exec or its error.
fn launch(request: &StartRequest<'_>, run_dir: &RunDir, locks: [File; 2]) -> Result<Status, DetachError> {
    let pipe_error = |source| DetachError::file(run_dir.path(), "open a pipe for the start in", source);
    let (error_receiver, error_pipe) = pipe_with(PipeFlags::CLOEXEC).map_err(pipe_error)?;
    let boot_id = process::boot_id()?;
    let words = request
        .words
        .iter()
        .map(|word| c_string(word))
        .collect::<Result<_, _>>()?;
    let program = Program::new(c_string(request.program.as_os_str())?, words);
    let null = Path::new("/dev/null");
    let streams = [
        File::open(null).map_err(|source| DetachError::file(null, "open", source))?,
        run_dir.open_append(stdout_name(request.words))?,
        run_dir.open_append("stderr")?,
    ];
    run_dir.reserve_exit()?;
    let directory = run_dir.open()?;
    let context = SpawnContext {
        program: &program,
        directory: directory.as_fd(),
        streams: streams.each_ref().map(AsFd::as_fd),
        locks: locks.each_ref().map(AsFd::as_fd),
        error_pipe: error_pipe.as_fd(),
        generation: request.generation,
        boot_id: &boot_id,
    };
    spawn::fork(&context).map_err(|source| failed(request, "fork for", source))?;
    drop((locks, error_pipe));
    check_exec(request, File::from(error_receiver))?;
    let status = status::settled(run_dir)?;
    match status.state {
        State::Absent => Err(DetachError::EndedBeforeExec {
            run_dir: run_dir.path().to_path_buf(),
        }),
        State::Running | State::Ended => Ok(status),
    }
}

/// Returns the file for standard output. Without --log, the program prints its log there.
fn stdout_name(words: &[OsString]) -> &'static str {
    let is_log_option = |word: &OsString| word == "--log" || word.as_bytes().starts_with(b"--log=");
    if words.iter().any(is_log_option) {
        "stdout"
    } else {
        "log"
    }
}

/// Reads the error pipe until every copy is closed. exec closes the last one, or the new process reports what failed.
fn check_exec(request: &StartRequest<'_>, mut error_receiver: File) -> Result<(), DetachError> {
    let mut bytes = Vec::new();
    let read = error_receiver.read_to_end(&mut bytes);
    read.map_err(|source| failed(request, "read the result of starting", source))?;
    match SpawnError::from_bytes(&bytes) {
        None => Ok(()),
        Some(SpawnError(stage, errno)) => Err(failed(request, stage.verb(), errno.into())),
    }
}

fn failed(request: &StartRequest<'_>, stage: &'static str, source: std::io::Error) -> DetachError {
    DetachError::Program {
        program: request.program.to_path_buf(),
        stage,
        source,
    }
}

fn c_string(word: &OsStr) -> Result<CString, DetachError> {
    CString::new(word.as_bytes()).map_err(|_| DetachError::Argument {
        argument: word.to_string_lossy().into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::fork_lock;

    fn stdout_of(words: &[&str]) -> &'static str {
        stdout_name(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn standard_output_is_the_log_unless_log_names_a_file() {
        assert_eq!(stdout_of(&["storage", "config"]), "log");
        assert_eq!(stdout_of(&["storage", "config", "--log", "log"]), "stdout");
        assert_eq!(stdout_of(&["storage", "config", "--log=log"]), "stdout");
    }

    #[test]
    fn an_argument_with_a_zero_byte_is_named() {
        let error = c_string(OsStr::new("a\0b")).unwrap_err();
        assert!(error.to_string().contains("a\\0b"), "{error}");
    }

    #[test]
    fn a_run_that_started_and_ended_before_the_lock_was_taken_is_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let run_dir = RunDir::find(folder.path()).unwrap().unwrap();
        let lock = run_dir.try_lock().unwrap().unwrap();
        let record = r#"{"pid": 1, "start_ticks": 0, "generation": 4, "boot_id": "an earlier one"}"#;
        std::fs::write(run_dir.file("pid"), record).unwrap();
        let request = StartRequest {
            run_dir: folder.path(),
            drive_lock: &folder.path().join("drive.lock"),
            generation: 5,
            program: Path::new("/never/run"),
            words: &[],
        };
        let status = start_locked(&request, &run_dir, lock).unwrap().status();
        assert_eq!((status.state, status.generation), (State::Ended, Some(4)));
    }

    #[test]
    fn a_program_that_cannot_be_executed_is_named_and_the_run_can_be_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let request = StartRequest {
            run_dir: folder.path(),
            drive_lock: &folder.path().join("drive.lock"),
            generation: 1,
            program: Path::new("/no/such/program"),
            words: &["program".into()],
        };
        let fork = fork_lock::begin_fork();
        let error = start(&request).unwrap_err();
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
