//! A child process in its own process group, which ends with this process.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::unistd::Pid;

use crate::allowlist::AllowedCommand;

/// The working directory of the program, which separates its files from those of this process.
pub const OUTPUT_DIR: &str = "out";

/// Starts a command in `folder`/out, which is created for the user of the program. It inherits standard output and error.
///
/// # Errors
/// If the directory cannot be created or the program cannot be executed.
pub fn start(allowed: &AllowedCommand, folder: &Path) -> io::Result<Child> {
    let output_dir = folder.join(OUTPUT_DIR);
    create_output_dir(&output_dir, allowed.owner)?;
    let [program, arguments @ ..] = &allowed.argv[..] else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(output_dir)
        .stdin(Stdio::null())
        .process_group(0);
    if let Some((uid, gid)) = allowed.owner {
        command.uid(uid).gid(gid);
    }
    // SAFETY: `prepare` makes only two system calls, both async-signal-safe and without locks.
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// Sends a signal to the process group of a program.
pub fn signal(program: &Child, signal: Signal) {
    // The group may have ended already.
    let _ = killpg(Pid::from_raw(program.id().cast_signed()), signal);
}

/// Unblocks the signals that this process blocks. Makes the program end with this process, which holds the locks.
fn prepare() -> io::Result<()> {
    SigSet::empty().thread_set_mask()?;
    set_pdeathsig(Signal::SIGKILL)?;
    Ok(())
}

fn create_output_dir(output_dir: &Path, owner: Option<(u32, u32)>) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(output_dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let Some((uid, gid)) = owner else { return Ok(()) };
    // The parent has the files of the register. The program may open them by name, but not list the directory or write there.
    if let Some(folder) = output_dir.parent() {
        std::fs::set_permissions(folder, Permissions::from_mode(0o711))?;
    }
    std::os::unix::fs::chown(output_dir, Some(uid), Some(gid))
}

/// Returns how a program ended, as text.
pub fn describe_exit(status: ExitStatus) -> String {
    status.signal().map_or_else(
        || format!("ended with status {}", status.code().unwrap_or_default()),
        |signal| format!("was ended by signal {signal}"),
    )
}
