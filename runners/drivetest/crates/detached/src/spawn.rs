//! Spawning of a background run: forks the monitor and the program, and records how the program ends.
//!
//! The functions after the fork run in a child of a process that may have had threads. Locks that those threads held
//! stay locked in the child. Therefore these functions do not allocate, print or panic: they use only system calls and
//! memory that the launcher prepared before the fork.

use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::{AtFlags, Mode, OFlags, fsync, ftruncate, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Pid, WaitOptions, WaitStatus, fchdir, getpid, setsid, waitpid};

use crate::process::parse_stat;
use crate::run_dir::RECORD_BYTES_MAX;

/// Signals that a shutdown or a terminal sends to every process. The monitor ignores them, because it must record the end
/// of the program.
const IGNORED_SIGNALS: [c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
/// Exit status of a process that could not execute the program. It is not recorded.
const EXIT_EXEC_FAILED: c_int = 127;

/// A program with its arguments, in the form that exec needs.
pub(crate) struct Program {
    path: CString,
    pointers: Vec<*const c_char>,
    /// The strings that `pointers` points to.
    _words: Vec<CString>,
}

impl Program {
    /// Prepares a program. `words` are its argv: its name and its arguments.
    pub fn new(path: CString, words: Vec<CString>) -> Self {
        let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
        pointers.push(std::ptr::null());
        Self {
            path,
            pointers,
            _words: words,
        }
    }
}

/// Everything that monitor and program need, prepared by the launcher.
pub(crate) struct SpawnContext<'a> {
    /// The program to run.
    pub program: &'a Program,
    /// The run directory.
    pub directory: BorrowedFd<'a>,
    /// Standard input, output and error of both.
    pub streams: [BorrowedFd<'a>; 3],
    /// The locks of the run directory and of the drive. Monitor and program hold both as long as they live, except that
    /// the monitor releases the lock of the drive when the program has ended.
    pub locks: [BorrowedFd<'a>; 2],
    /// Pipe for an error before exec. exec closes it.
    pub error_pipe: BorrowedFd<'a>,
    /// Generation for `pid`.
    pub generation: u64,
    /// Boot id for `pid`.
    pub boot_id: &'a str,
}

/// Forks the monitor, which forks the program. Returns only in the launcher.
pub(crate) fn fork(context: &SpawnContext<'_>) -> io::Result<()> {
    // SAFETY: the child only runs `monitor`, which follows the rule at the top of this file and never returns.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => monitor(context),
        _ => Ok(()),
    }
}

fn monitor(context: &SpawnContext<'_>) -> ! {
    if let Err(errno) = detach(context) {
        abandon(context, SpawnError(SpawnStage::Detach, errno));
    }
    // SAFETY: as in `fork`; this process has one thread, and the child only runs `exec_program`, which never returns.
    match unsafe { libc::fork() } {
        -1 => abandon(context, SpawnError(SpawnStage::Fork, last_errno())),
        0 => exec_program(context),
        pid => wait_for_program(context, pid),
    }
}

fn detach(context: &SpawnContext<'_>) -> Result<(), Errno> {
    setsid()?;
    for signal in IGNORED_SIGNALS {
        set_disposition(signal, libc::SIG_IGN);
    }
    // The caller may have ignored it; then waitpid returns no status.
    set_disposition(libc::SIGCHLD, libc::SIG_DFL);
    fchdir(context.directory)?;
    let [stdin, stdout, stderr] = context.streams;
    rustix::stdio::dup2_stdin(stdin)?;
    rustix::stdio::dup2_stdout(stdout)?;
    rustix::stdio::dup2_stderr(stderr)?;
    close_others(context);
    Ok(())
}

/// Closes all other descriptors. A caller that reads from a pipe would otherwise wait until this process ends.
fn close_others(context: &SpawnContext<'_>) {
    let [lock, drive_lock] = context.locks;
    let mut used = [lock, drive_lock, context.directory, context.error_pipe].map(|fd| fd.as_raw_fd());
    used.sort_unstable();
    let mut first = libc::STDERR_FILENO + 1;
    for fd in used {
        close_range(first, fd - 1);
        first = fd + 1;
    }
    close_range(first, c_int::MAX);
}

fn close_range(first: c_int, last: c_int) {
    if first <= last {
        // SAFETY: the call takes two numbers and flags and accesses no memory. Nothing in this process uses the closed
        // descriptors: `close_others` excludes all that are used. A kernel without the call leaves them open, which is
        // harmless.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}

fn exec_program(context: &SpawnContext<'_>) -> ! {
    if let Err(errno) = prepare(context) {
        remove_pid_file(context);
        abandon(context, SpawnError(SpawnStage::Record, errno));
    }
    let Program { path, pointers, .. } = context.program;
    // SAFETY: path and words end in a zero byte and the list of words in a null pointer. `program` owns all of them.
    // Returns only if it fails.
    unsafe { libc::execv(path.as_ptr(), pointers.as_ptr()) };
    let failure = SpawnError(SpawnStage::Exec, last_errno());
    remove_pid_file(context);
    abandon(context, failure)
}

fn prepare(context: &SpawnContext<'_>) -> Result<(), Errno> {
    setsid()?;
    restore_signals();
    for lock in context.locks {
        fcntl_setfd(lock, FdFlags::empty())?;
    }
    record_self(context)
}

/// Writes `pid` and syncs it before the load begins.
fn record_self(context: &SpawnContext<'_>) -> Result<(), Errno> {
    let start_ticks = own_start_ticks()?;
    let (pid, generation, boot_id) = (getpid().as_raw_nonzero(), context.generation, context.boot_id);
    write_atomically(
        context.directory,
        c"pid.tmp",
        c"pid",
        format_args!(
            r#"{{"pid": {pid}, "start_ticks": {start_ticks}, "generation": {generation}, "boot_id": "{boot_id}"}}"#
        ),
    )
}

/// Removes `pid`, because the program was not started.
fn remove_pid_file(context: &SpawnContext<'_>) {
    if unlinkat(context.directory, c"pid", AtFlags::empty()).is_ok() {
        // If a power cut undoes the removal, the run counts as ended without a monitor, which is harmless.
        let _not_synced = fsync(context.directory);
    }
}

fn own_start_ticks() -> Result<u64, Errno> {
    let mut bytes = [0; 1024];
    let stat = openat(
        rustix::fs::CWD,
        c"/proc/self/stat",
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let length = rustix::io::read(&stat, &mut bytes)?;
    bytes
        .get(..length)
        .and_then(parse_stat)
        .map(|stat| stat.start_ticks)
        .ok_or(Errno::IO)
}

/// Resets all signals to their defaults. The program would inherit ignored and blocked signals from its ancestors.
fn restore_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        set_disposition(signal, libc::SIG_DFL);
    }
    // SAFETY: the set is a local variable, filled before use. The old set is not requested.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

fn set_disposition(signal: c_int, disposition: libc::sighandler_t) {
    // SAFETY: both dispositions used here, default and ignore, run no code of this program. The kernel refuses to change
    // KILL and STOP, and the C library its internal signals; they stay unchanged.
    unsafe { libc::signal(signal, disposition) };
}

fn wait_for_program(context: &SpawnContext<'_>, pid: libc::pid_t) -> ! {
    // The launcher waits until every copy of this pipe is closed.
    // SAFETY: the descriptor is open, and nothing in this process uses it after this line.
    unsafe { libc::close(context.error_pipe.as_raw_fd()) };
    let ended = wait_for(pid);
    // The lock of the drive is released before `exit` is synced. The next run can then start although a stalled disk delays
    // this process.
    let [_, drive_lock] = context.locks;
    // SAFETY: the descriptor is open, and nothing in this process uses it after this line.
    unsafe { libc::close(drive_lock.as_raw_fd()) };
    if let Some(status) = ended
        && statat(context.directory, c"pid", AtFlags::empty()).is_ok()
    {
        // Without the file, the run counts as ended without a monitor. No process could receive the error.
        let _not_written = record_end(context, status);
    }
    exit(0)
}

fn wait_for(pid: libc::pid_t) -> Option<WaitStatus> {
    let pid = Pid::from_raw(pid)?;
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Err(Errno::INTR) => {}
            Err(_) => return None,
            Ok(ended) => return ended.map(|(_, status)| status),
        }
    }
}

fn record_end(context: &SpawnContext<'_>, status: WaitStatus) -> Result<(), Errno> {
    let (exit_status, signal) = (
        JsonInteger(status.exit_status()),
        JsonInteger(status.terminating_signal()),
    );
    let record = format_args!(r#"{{"exit_status": {exit_status}, "signal": {signal}, "reason": ""}}"#);
    write_atomically(context.directory, c"exit.tmp", c"exit", record)
}

/// A JSON integer or null.
struct JsonInteger(Option<i32>);

impl fmt::Display for JsonInteger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => write!(formatter, "{number}"),
            None => formatter.write_str("null"),
        }
    }
}

/// Writes a file of one line atomically, also with respect to a power cut. The line is formatted on the stack. Bytes of
/// the temporary file are overwritten in place: on a full disk, only they have space.
fn write_atomically(
    directory: BorrowedFd<'_>,
    temporary: &CStr,
    name: &CStr,
    line: fmt::Arguments<'_>,
) -> Result<(), Errno> {
    let mut bytes = [0; RECORD_BYTES_MAX];
    let mut unused = &mut bytes[..];
    writeln!(unused, "{line}").map_err(|_| Errno::OVERFLOW)?;
    let length = RECORD_BYTES_MAX - unused.len();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    let file = openat(directory, temporary, flags, Mode::from_raw_mode(0o644))?;
    let mut rest = bytes.get(..length).unwrap_or_default();
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    ftruncate(&file, length as u64)?;
    fsync(&file)?;
    renameat(directory, temporary, directory, name)?;
    fsync(directory)
}

fn abandon(context: &SpawnContext<'_>, failure: SpawnError) -> ! {
    // The launcher may have been killed. The next command then finds the lock free and no record.
    let _not_received = rustix::io::write(context.error_pipe, &failure.to_bytes());
    exit(EXIT_EXEC_FAILED)
}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn exit(status: c_int) -> ! {
    // SAFETY: ends this process at once. Buffers and destructors of the launcher must not run in its child.
    unsafe { libc::_exit(status) }
}

/// The step at which the new process failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SpawnStage {
    /// Setting up the session, the streams and the descriptors.
    Detach = 1,
    /// The second fork.
    Fork = 2,
    /// Writing `pid`.
    Record = 3,
    /// Executing the program.
    Exec = 4,
}

impl SpawnStage {
    const ALL: [Self; 4] = [Self::Detach, Self::Fork, Self::Record, Self::Exec];

    /// Returns the step as a verb whose object is the program.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Detach => "set up a session for",
            Self::Fork => "fork for",
            Self::Record => "record the process of",
            Self::Exec => "execute",
        }
    }
}

/// The failed step and its error, small enough for one atomic write to a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpawnError(pub SpawnStage, pub Errno);

impl SpawnError {
    /// Returns the bytes for the pipe.
    pub fn to_bytes(self) -> [u8; 5] {
        let [a, b, c, d] = self.1.raw_os_error().to_le_bytes();
        [self.0 as u8, a, b, c, d]
    }

    /// Parses the bytes from the pipe. None if there are none: the program was executed.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&first, rest) = bytes.split_first()?;
        let stage = SpawnStage::ALL.into_iter().find(|stage| *stage as u8 == first)?;
        let errno = i32::from_le_bytes(rest.try_into().ok()?);
        Some(Self(stage, Errno::from_raw_os_error(errno)))
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_missing_number_is_null() {
        assert_eq!(
            format!("{} {}", JsonInteger(None), JsonInteger(Some(-1))),
            "null -1"
        );
    }

    #[test]
    fn a_line_beyond_the_size_is_an_error_and_writes_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let directory = std::fs::File::open(folder.path()).unwrap();
        let write = |line: &str| write_atomically(directory.as_fd(), c"a.tmp", c"a", format_args!("{line}"));
        assert_eq!(write(&"x".repeat(256)), Err(Errno::OVERFLOW));
        assert!(!folder.path().join("a.tmp").exists());
        assert_eq!(write(&"x".repeat(255)), Ok(()));
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap().len(), 256);
    }

    #[test]
    fn an_error_survives_the_pipe_unchanged() {
        for stage in SpawnStage::ALL {
            let error = SpawnError(stage, Errno::NOSPC);
            assert_eq!(SpawnError::from_bytes(&error.to_bytes()), Some(error));
        }
    }

    #[test]
    fn an_empty_pipe_is_no_error() {
        assert_eq!(SpawnError::from_bytes(b""), None);
    }
}
