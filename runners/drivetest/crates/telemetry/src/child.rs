//! A program that is run in a group of its own, ends with us, and is asked before it is killed.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child as Process, Command, ExitStatus, Stdio};

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::unistd::Pid;

use crate::allowlist::Line;

/// Where the program runs, so that the files it writes lie apart from ours.
pub const OUTPUTS: &str = "out";

/// A program that runs.
#[derive(Debug)]
pub struct Child {
    process: Process,
}

impl Child {
    /// Starts a line within `folder`/out, which is made and given to the program's user; standard output and error are ours.
    ///
    /// # Errors
    /// The system's, where the directory cannot be made or the program not be executed.
    pub fn start(line: &Line, folder: &Path) -> io::Result<Self> {
        let outputs = folder.join(OUTPUTS);
        make(&outputs, line.owner)?;
        let [program, arguments @ ..] = &line.argv[..] else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(outputs)
            .stdin(Stdio::null())
            .process_group(0);
        if let Some((uid, gid)) = line.owner {
            command.uid(uid).gid(gid);
        }
        // SAFETY: between fork and exec only two system calls are made, of functions that are async-signal-safe and take no
        // lock; `settle` upholds it.
        unsafe { command.pre_exec(settle) };
        Ok(Self {
            process: command.spawn()?,
        })
    }

    /// How it ended; None while it runs.
    ///
    /// # Errors
    /// The system's.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.process.try_wait()
    }

    /// Asks it and all of its group to end, or makes them.
    pub fn signal(&self, signal: Signal) {
        // A group that has gone already needs no signal.
        let _ = killpg(Pid::from_raw(self.process.id().cast_signed()), signal);
    }
}

/// The signals that we hold back are not held back from it; and it must not outlive us, whom the host's locks belong to.
fn settle() -> io::Result<()> {
    SigSet::empty().thread_set_mask()?;
    set_pdeathsig(Signal::SIGKILL)?;
    Ok(())
}

fn make(outputs: &Path, owner: Option<(u32, u32)>) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(outputs) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let Some((uid, gid)) = owner else { return Ok(()) };
    // The files that were sent lie above: it may open them by name, and neither list nor write there.
    if let Some(folder) = outputs.parent() {
        std::fs::set_permissions(folder, Permissions::from_mode(0o711))?;
    }
    std::os::unix::fs::chown(outputs, Some(uid), Some(gid))
}

/// Returns how a program ended, in words.
pub fn words(status: ExitStatus) -> String {
    status.signal().map_or_else(
        || format!("ended with status {}", status.code().unwrap_or_default()),
        |signal| format!("was ended by signal {signal}"),
    )
}
