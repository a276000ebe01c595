//! What the program says in its log besides figures: errors, stops, crashes; the log's text is the only sign of them.

/// The meaning of a line that is neither figures nor header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The load could not be held: the test stopped itself.
    CannotKeepUp,
    /// One operation failed; the run goes on, the operation is not counted.
    IoError,
    /// A signal that the crash handler reports.
    Crash,
    /// A line of the crash handler's stack trace.
    Trace,
    /// Stopped by a signal that the program tells.
    Interrupted,
    /// The rates were not those that were asked; drivetest alone says so.
    RateNotHeld,
    /// The scheduler could not be set; not fatal.
    Scheduler,
    /// Any other line with ERROR.
    Error,
    /// Not of the program: shell, kernel, terminal.
    Noise,
}

/// Stops of programs with queues; a further line follows, which an edited log may lack.
const TOO_MANY_QUEUED: [&str; 2] = [
    "ERROR: too many read reqs queued",
    "ERROR: too many requests queued",
];

/// What follows tells which rates, and by how much.
pub const RATE_NOT_HELD: &str = "drivetest: rate not held: ";

/// What the programs say without `ERROR:` when they do not begin.
const COULD_NOT_BEGIN: [&str; 2] = ["couldn't open config file", "usage: act"];

/// Says what a line means.
///
/// Source: aerospike/act, act.c and configuration.c (1.x to 4.0); src/storage/act_storage.c, src/index/act_index.c,
/// src/common/cfg.c and trace.c (from 5.0).
pub fn word(text: &[u8]) -> Word {
    let text = String::from_utf8_lossy(text);
    if text.starts_with("ERROR: ") {
        return error(&text);
    }
    if text.starts_with("drivetest: stopped by signal") || text == "Signal TERM received, aborting" {
        return Word::Interrupted;
    }
    if text.starts_with(RATE_NOT_HELD) {
        return Word::RateNotHeld;
    }
    if text.starts_with("stacktrace: ") {
        return Word::Trace;
    }
    if is_crash(&text) {
        return Word::Crash;
    }
    if COULD_NOT_BEGIN.iter().any(|begin| text.starts_with(begin)) {
        return Word::Error;
    }
    follows_a_stop(&text)
}

/// `SIGSEGV received` from 5.0, `Signal SEGV received: stack trace` before.
fn is_crash(text: &str) -> bool {
    let is_5 = text.starts_with("SIG") && text.ends_with(" received") && !text.contains("SIGTERM");
    is_5 || (text.starts_with("Signal ") && text.ends_with(" received: stack trace"))
}

fn error(text: &str) -> Word {
    if text.contains("can't keep up") || TOO_MANY_QUEUED.contains(&text) {
        Word::CannotKeepUp
    } else if is_io_error(text) {
        Word::IoError
    } else if text.contains("/queue/scheduler") {
        Word::Scheduler
    } else {
        Word::Error
    }
}

/// `ERROR: reading NAME: ERRNO '...'`, before 5.0 `ERROR: seek & read errno ERRNO '...'`, before 2016 without its
/// number; errors of reading `/sys` have no number.
fn is_io_error(text: &str) -> bool {
    if text.starts_with("ERROR: seek & read") || text.starts_with("ERROR: seek & write") {
        return true;
    }
    let rest = text
        .strip_prefix("ERROR: reading ")
        .or_else(|| text.strip_prefix("ERROR: writing "));
    let errno = rest
        .and_then(|rest| rest.rsplit_once(": "))
        .and_then(|(_, reason)| reason.split_once(" '"));
    errno.is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `drive(s) can't keep up - test stopped` and its like stand after the ERROR line, which an edited log may lack.
fn follows_a_stop(text: &str) -> Word {
    if text.ends_with(" - test stopped") {
        Word::CannotKeepUp
    } else {
        Word::Noise
    }
}

/// Lines that only accompany another: they are neither a finding nor noise.
pub fn accompanies(text: &[u8]) -> bool {
    text == b"try configuring more 'service-threads'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstream_words_are_understood() {
        for (text, expected) in [
            ("ERROR: large block reads can't keep up", Word::CannotKeepUp),
            ("drive(s) can't keep up - test stopped", Word::CannotKeepUp),
            ("ERROR: service thread can't keep up", Word::CannotKeepUp),
            ("ACT can't do requested load - test stopped", Word::CannotKeepUp),
            (
                "ERROR: writing /dev/a: 28 'No space left on device'",
                Word::IoError,
            ),
            ("ERROR: reading /dev/a: 5 'Input/output error'", Word::IoError),
            ("ERROR: reading OS package index from /sys/x", Word::Error),
            ("SIGSEGV received", Word::Crash),
            ("stacktrace: frame 0: /opt/act_storage(+0x3f0f)", Word::Trace),
            ("drivetest: stopped by signal TERM", Word::Interrupted),
            (
                "drivetest: rate not held: reads: 1.000 a second, 2.000 were asked",
                Word::RateNotHeld,
            ),
            (
                "ERROR: couldn't open /sys/block/a/queue/scheduler errno 13 'Permission denied'",
                Word::Scheduler,
            ),
            (
                "ERROR: open device /dev/a errno 2 'No such file or directory'",
                Word::Error,
            ),
            ("ERROR: too many requests queued", Word::CannotKeepUp),
            ("ERROR: seek & read", Word::IoError),
            ("ERROR: seek & write errno 5 'Input/output error'", Word::IoError),
            ("Signal TERM received, aborting", Word::Interrupted),
            ("Signal SEGV received: stack trace", Word::Crash),
            ("couldn't open config file: act.conf", Word::Error),
            ("usage: act [config filename]", Word::Error),
            ("[root@host act]# ", Word::Noise),
        ] {
            assert_eq!(word(text.as_bytes()), expected, "{text}");
        }
    }
}
