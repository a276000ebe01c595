//! Identity of a process: its id, its start time and its boot.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::DetachError;
use crate::run_dir::PidRecord;

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The fields of `/proc/PID/stat` that identify a process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The state letter. Z and X mean that the process has ended.
    pub state: u8,
    /// Clock ticks from boot to the start of the process. exec does not change them.
    pub start_ticks: u64,
}

/// Parses a stat file. Returns None if the text is invalid.
///
/// The second field is the name of the program in parentheses. The name can contain blanks and parentheses, so the other
/// fields are counted from the last parenthesis. Allocates no memory, because it runs between fork and exec.
/// Source: proc_pid_stat(5).
pub(crate) fn parse_stat(text: &[u8]) -> Option<Stat> {
    let after_name = text.iter().rposition(|&byte| byte == b')')? + 1;
    let mut fields = std::str::from_utf8(text.get(after_name..)?)
        .ok()?
        .split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    // The state is field 3 and the start time is field 22, with 18 fields between them.
    let start_ticks = fields.nth(18)?.parse().ok()?;
    Some(Stat { state, start_ticks })
}

/// Returns the id of this boot. A process id and a start time can repeat in another boot.
pub(crate) fn boot_id() -> Result<String, DetachError> {
    let path = Path::new(BOOT_ID);
    let text = fs::read_to_string(path).map_err(|source| DetachError::file(path, "read", source))?;
    Ok(text.trim().to_owned())
}

/// Returns whether the recorded process is alive. A zombie is not.
pub(crate) fn is_alive(record: &PidRecord) -> Result<bool, DetachError> {
    if record.boot_id != boot_id()? {
        return Ok(false);
    }
    // The file is missing if no process has this id.
    let stat = fs::read(format!("/proc/{}/stat", record.pid))
        .ok()
        .and_then(|text| parse_stat(&text));
    Ok(stat.is_some_and(|stat| stat.start_ticks == record.start_ticks && !matches!(stat.state, b'Z' | b'X')))
}

/// Sends SIGTERM to the recorded process and to no other. Returns false if it has ended.
///
/// A descriptor is opened before the identity is checked, so that another process cannot get the id in between.
pub(crate) fn terminate(record: &PidRecord) -> Result<bool, DetachError> {
    let Some(pid) = Pid::from_raw(record.pid) else {
        return Ok(false);
    };
    let path = format!("/proc/{}", record.pid);
    let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        result => result.map_err(|source| DetachError::file(path.as_ref(), "open", source))?,
    };
    if !is_alive(record)? {
        return Ok(false);
    }
    match pidfd_send_signal(&pidfd, Signal::TERM) {
        Err(rustix::io::Errno::SRCH) => Ok(false),
        result => result
            .map(|()| true)
            .map_err(|source| DetachError::file(path.as_ref(), "signal", source)),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;
    use crate::lock::fork_lock;

    fn own_record() -> PidRecord {
        record_of(std::process::id())
    }

    fn record_of(pid: u32) -> PidRecord {
        let stat = parse_stat(&fs::read(format!("/proc/{pid}/stat")).unwrap()).unwrap();
        let pid = i32::try_from(pid).unwrap();
        PidRecord {
            pid,
            start_ticks: stat.start_ticks,
            generation: 1,
            boot_id: boot_id().unwrap(),
        }
    }

    fn sleeping() -> Child {
        let _fork = fork_lock::begin_fork();
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_name_with_parentheses_and_blanks_is_skipped() {
        let text = b"7 (a) R 1 (b) S 1 7 7 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 1 0 4711 1000 10";
        assert_eq!(
            parse_stat(text),
            Some(Stat {
                state: b'S',
                start_ticks: 4711
            })
        );
    }

    #[test]
    fn a_truncated_stat_is_none() {
        assert_eq!(parse_stat(b"7 (sleep) S 1 7 7 0 -1"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn this_process_is_alive() {
        assert!(is_alive(&own_record()).unwrap());
    }

    #[test]
    fn a_reused_process_id_is_not_alive() {
        let mut reused = own_record();
        reused.start_ticks += 1;
        assert!(!is_alive(&reused).unwrap());
    }

    #[test]
    fn a_process_of_an_earlier_boot_is_not_alive() {
        let mut rebooted = own_record();
        rebooted.boot_id = "00000000-0000-0000-0000-000000000000".into();
        assert!(!is_alive(&rebooted).unwrap());
    }

    #[test]
    fn a_zombie_is_not_alive() {
        let mut child = sleeping();
        let record = record_of(child.id());
        child.kill().unwrap();
        let stat = || parse_stat(&fs::read(format!("/proc/{}/stat", record.pid)).unwrap()).unwrap();
        while stat().state != b'Z' {
            std::thread::yield_now();
        }
        assert!(!is_alive(&record).unwrap());
        child.wait().unwrap();
    }

    #[test]
    fn another_process_with_the_same_id_is_not_terminated() {
        let mut child = sleeping();
        let mut record = record_of(child.id());
        record.start_ticks -= 1;
        assert!(!terminate(&record).unwrap());
        assert!(child.try_wait().unwrap().is_none());
        end(child);
    }

    #[test]
    fn the_recorded_process_is_terminated() {
        let mut child = sleeping();
        assert!(terminate(&record_of(child.id())).unwrap());
        assert!(!child.wait().unwrap().success());
    }
}
