//! Monitor and program: what happens between fork and exec, and while the program runs.
//!
//! Everything here runs in a child of a process that may have had threads, whose locks stay locked for ever in the child.
//! So nothing allocates, prints, or panics: only system calls, and memory that the launcher had prepared before the fork.

use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt::Write;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::{AtFlags, Mode, OFlags, fsync, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Pid, WaitOptions, WaitStatus, fchdir, getpid, setsid, waitpid};

use crate::process::parse_stat;
use crate::spawn_error::{Failure, Stage};
use crate::stack_buf::{Line, Whole};

/// Signals that are sent to every process at shutdown or with a terminal; the monitor outlives the program to see its end.
const SURVIVED: [c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
/// Exit status of a process that did not become the program; nobody records it.
const UNBORN: c_int = 127;

/// A program with its arguments, in the form that exec takes.
pub(crate) struct Program {
    path: CString,
    pointers: Vec<*const c_char>,
    /// What `pointers` points into.
    _words: Vec<CString>,
}

impl Program {
    /// Prepares a program; `words` are its name, as it will see it, and its arguments.
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

/// What the launcher hands to its offspring.
pub(crate) struct Offspring<'a> {
    /// What to run.
    pub program: &'a Program,
    /// The run directory.
    pub directory: BorrowedFd<'a>,
    /// Standard input, output and error of both.
    pub streams: [BorrowedFd<'a>; 3],
    /// Of the run directory and of the drive. Held by both as long as they live, but the drive's by the monitor only until
    /// the program has ended.
    pub locks: [BorrowedFd<'a>; 2],
    /// Closed by exec; a failure before it is written there.
    pub telling: BorrowedFd<'a>,
    /// For `pid`.
    pub generation: u64,
    /// For `pid`.
    pub boot_id: &'a str,
}

/// Forks the monitor, which forks the program. Returns in the launcher only.
pub(crate) fn fork(offspring: &Offspring<'_>) -> io::Result<()> {
    // SAFETY: the child only runs `monitor`, which keeps to the rule at the head of this file and never returns.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => monitor(offspring),
        _ => Ok(()),
    }
}

fn monitor(offspring: &Offspring<'_>) -> ! {
    if let Err(errno) = detach(offspring) {
        abandon(offspring, Failure::new(Stage::Detach, errno));
    }
    // SAFETY: as in `fork`; this process has one thread, and the child only runs `become_program`, which never returns.
    match unsafe { libc::fork() } {
        -1 => abandon(offspring, Failure::new(Stage::Fork, last_errno())),
        0 => become_program(offspring),
        pid => watch(offspring, pid),
    }
}

fn detach(offspring: &Offspring<'_>) -> Result<(), Errno> {
    setsid()?;
    for signal in SURVIVED {
        dispose(signal, libc::SIG_IGN);
    }
    // A caller may have ignored it, and then no status of a child could be had.
    dispose(libc::SIGCHLD, libc::SIG_DFL);
    fchdir(offspring.directory)?;
    let [stdin, stdout, stderr] = offspring.streams;
    rustix::stdio::dup2_stdin(stdin)?;
    rustix::stdio::dup2_stdout(stdout)?;
    rustix::stdio::dup2_stderr(stderr)?;
    close_others(offspring);
    Ok(())
}

/// Closes whatever else came from the caller: a pipe of its kept open here would keep it waiting for its end.
fn close_others(offspring: &Offspring<'_>) {
    let [lock, drive_lock] = offspring.locks;
    let mut kept = [lock, drive_lock, offspring.directory, offspring.telling].map(|kept| kept.as_raw_fd());
    kept.sort_unstable();
    let mut first = libc::STDERR_FILENO + 1;
    for fd in kept {
        close_range(first, fd - 1);
        first = fd + 1;
    }
    close_range(first, c_int::MAX);
}

fn close_range(first: c_int, last: c_int) {
    if first <= last {
        // SAFETY: takes two numbers and flags and touches no memory; nothing in this process uses the descriptors
        // that it closes, as the caller names all that are used. A kernel without it leaves them open, which is harmless.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}

fn become_program(offspring: &Offspring<'_>) -> ! {
    if let Err(errno) = set_up(offspring) {
        unrecord(offspring);
        abandon(offspring, Failure::new(Stage::Record, errno));
    }
    execute(offspring.program);
    let failure = Failure::new(Stage::Exec, last_errno());
    unrecord(offspring);
    abandon(offspring, failure)
}

fn set_up(offspring: &Offspring<'_>) -> Result<(), Errno> {
    setsid()?;
    restore_signals();
    for lock in offspring.locks {
        fcntl_setfd(lock, FdFlags::empty())?;
    }
    record_self(offspring)
}

/// Writes `pid`, for good before anything is loaded.
fn record_self(offspring: &Offspring<'_>) -> Result<(), Errno> {
    let start_ticks = own_start_ticks()?;
    let (pid, generation, boot_id) = (getpid().as_raw_nonzero(), offspring.generation, offspring.boot_id);
    let mut line = Line::default();
    let written = writeln!(
        line,
        r#"{{"pid": {pid}, "start_ticks": {start_ticks}, "generation": {generation}, "boot_id": "{boot_id}"}}"#
    );
    written.map_err(|_| Errno::OVERFLOW)?;
    write_whole(offspring.directory, c"pid.tmp", c"pid", line.bytes())
}

/// Takes `pid` back: the directory has not had its start.
fn unrecord(offspring: &Offspring<'_>) {
    if unlinkat(offspring.directory, c"pid", AtFlags::empty()).is_ok() {
        // Should a power cut undo the removal, the directory tells of an end that nobody saw, which is no lie.
        let _unsynced = fsync(offspring.directory);
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

/// Gives the program the signals it would have had from a login: it inherits what its ancestors ignored or blocked.
fn restore_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        dispose(signal, libc::SIG_DFL);
    }
    // SAFETY: the set is ours, filled before it is used, and the old one is not asked for.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

fn dispose(signal: c_int, disposition: libc::sighandler_t) {
    // SAFETY: both dispositions used here, default and ignore, run no code of ours. KILL, STOP and the C library's own
    // signals are refused, and stay as they are.
    unsafe { libc::signal(signal, disposition) };
}

/// Becomes the program; returns only when that fails.
fn execute(program: &Program) {
    // SAFETY: path and words end in a zero byte, the list of words in a null pointer, and all live in `program`.
    unsafe { libc::execv(program.path.as_ptr(), program.pointers.as_ptr()) };
}

fn watch(offspring: &Offspring<'_>, pid: libc::pid_t) -> ! {
    // This end would keep the launcher waiting for as long as the program runs.
    // SAFETY: the descriptor is open, and nothing in this process uses it after this line.
    unsafe { libc::close(offspring.telling.as_raw_fd()) };
    let ended = end_of(pid);
    let_go_of_the_drive(offspring);
    if let Some(status) = ended
        && statat(offspring.directory, c"pid", AtFlags::empty()).is_ok()
    {
        // Without the file, the run ends unseen; there is nobody left to tell.
        let _unwritten = record_end(offspring, status);
    }
    exit(0)
}

fn end_of(pid: libc::pid_t) -> Option<WaitStatus> {
    let pid = Pid::from_raw(pid)?;
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Err(Errno::INTR) => {}
            Err(_) => return None,
            Ok(ended) => return ended.map(|(_, status)| status),
        }
    }
}

/// Whoever hears of the end may give the drive to the next run at once, while a disk that stalls still keeps this process
/// from leaving.
fn let_go_of_the_drive(offspring: &Offspring<'_>) {
    let [_, drive_lock] = offspring.locks;
    // SAFETY: the descriptor is open, and nothing in this process uses it after this line.
    unsafe { libc::close(drive_lock.as_raw_fd()) };
}

fn record_end(offspring: &Offspring<'_>, status: WaitStatus) -> Result<(), Errno> {
    let mut line = Line::default();
    let (exit_status, signal) = (Whole(status.exit_status()), Whole(status.terminating_signal()));
    let written = writeln!(
        line,
        r#"{{"exit_status": {exit_status}, "signal": {signal}, "reason": ""}}"#
    );
    written.map_err(|_| Errno::OVERFLOW)?;
    write_whole(offspring.directory, c"exit.tmp", c"exit", line.bytes())
}

/// Writes a file that is there whole or not at all, also after a power cut.
fn write_whole(directory: BorrowedFd<'_>, unfinished: &CStr, name: &CStr, bytes: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = openat(directory, unfinished, flags, Mode::from_raw_mode(0o644))?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    fsync(&file)?;
    renameat(directory, unfinished, directory, name)?;
    fsync(directory)
}

fn abandon(offspring: &Offspring<'_>, failure: Failure) -> ! {
    // A launcher that has gone hears nothing; whoever asks next finds the lock free and nothing recorded.
    let _unheard = rustix::io::write(offspring.telling, &failure.to_bytes());
    exit(UNBORN)
}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn exit(status: c_int) -> ! {
    // SAFETY: ends this process at once; nothing of the launcher's (buffers, destructors) may run in its child.
    unsafe { libc::_exit(status) }
}
