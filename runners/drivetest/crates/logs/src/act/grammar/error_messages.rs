//! Messages of ACT and drivetest in a log: errors, stops and crashes. Only their text identifies them.

/// Kind of a line that is neither header nor figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// The load could not be sustained: the test stopped itself.
    Overload,
    /// One operation failed. The run continues, and no histogram counts the operation.
    IoError,
    /// The crash handler reported a signal.
    Crash,
    /// A line of the crash handler's stack trace.
    Trace,
    /// A signal stopped the program, and the program reported it.
    Interrupted,
    /// The rates differed from the requested ones. Only drivetest reports this.
    RateNotSustained,
    /// The scheduler could not be set; not fatal.
    Scheduler,
    /// Any other line with ERROR.
    Error,
    /// A line of another source: shell, kernel, terminal.
    Noise,
}

/// Stop messages of programs with queues. Another line follows them, which an edited log may lack.
const TOO_MANY_QUEUED: [&str; 2] = [
    "ERROR: too many read reqs queued",
    "ERROR: too many requests queued",
];

/// Prefix of the message that lists the rates that were not sustained.
pub const RATE_NOT_SUSTAINED: &str = "drivetest: rate not held: ";

/// Messages without `ERROR:` of programs that do not start.
const COULD_NOT_BEGIN: [&str; 2] = ["couldn't open config file", "usage: act"];

/// Return the kind of a line.
///
/// Source: aerospike/act, act.c and configuration.c (1.x to 4.0); src/storage/act_storage.c, src/index/act_index.c,
/// src/common/cfg.c and trace.c (from 5.0).
pub fn classify(text: &[u8]) -> MessageKind {
    let text = String::from_utf8_lossy(text);
    if text.starts_with("ERROR: ") {
        return error(&text);
    }
    if text.starts_with("drivetest: stopped by signal") || text == "Signal TERM received, aborting" {
        return MessageKind::Interrupted;
    }
    if text.starts_with(RATE_NOT_SUSTAINED) {
        return MessageKind::RateNotSustained;
    }
    if text.starts_with("stacktrace: ") {
        return MessageKind::Trace;
    }
    if is_crash(&text) {
        return MessageKind::Crash;
    }
    if COULD_NOT_BEGIN.iter().any(|begin| text.starts_with(begin)) {
        return MessageKind::Error;
    }
    // Such a line follows the ERROR line, which an edited log may lack: `drive(s) can't keep up - test stopped`.
    match text.ends_with(" - test stopped") {
        true => MessageKind::Overload,
        false => MessageKind::Noise,
    }
}

/// `SIGSEGV received` from 5.0, `Signal SEGV received: stack trace` before.
fn is_crash(text: &str) -> bool {
    let is_5 = text.starts_with("SIG") && text.ends_with(" received") && !text.contains("SIGTERM");
    is_5 || (text.starts_with("Signal ") && text.ends_with(" received: stack trace"))
}

fn error(text: &str) -> MessageKind {
    if text.contains("can't keep up") || TOO_MANY_QUEUED.contains(&text) {
        MessageKind::Overload
    } else if is_io_error(text) {
        MessageKind::IoError
    } else if text.contains("/queue/scheduler") {
        MessageKind::Scheduler
    } else {
        MessageKind::Error
    }
}

/// `ERROR: reading NAME: ERRNO '...'`, before 5.0 `ERROR: seek & read errno ERRNO '...'`, before 2016 without its
/// number; errors of reading `/sys` have no number.
fn is_io_error(text: &str) -> bool {
    if text.starts_with("ERROR: seek & read") || text.starts_with("ERROR: seek & write") {
        return true;
    }
    let rest = ["ERROR: reading ", "ERROR: writing "]
        .iter()
        .find_map(|begin| text.strip_prefix(begin));
    let reason = rest.and_then(|rest| rest.rsplit_once(": "));
    let errno = reason.and_then(|(_, reason)| reason.split_once(" '"));
    errno.is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Return whether a line only accompanies another: it is neither a finding nor noise.
pub fn accompanies(text: &[u8]) -> bool {
    text == b"try configuring more 'service-threads'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstream_messages_are_classified() {
        for (text, expected) in [
            ("ERROR: large block reads can't keep up", MessageKind::Overload),
            ("drive(s) can't keep up - test stopped", MessageKind::Overload),
            ("ERROR: service thread can't keep up", MessageKind::Overload),
            (
                "ACT can't do requested load - test stopped",
                MessageKind::Overload,
            ),
            (
                "ERROR: writing /dev/a: 28 'No space left on device'",
                MessageKind::IoError,
            ),
            (
                "ERROR: reading /dev/a: 5 'Input/output error'",
                MessageKind::IoError,
            ),
            ("ERROR: reading OS package index from /sys/x", MessageKind::Error),
            ("SIGSEGV received", MessageKind::Crash),
            (
                "stacktrace: frame 0: /opt/act_storage(+0x3f0f)",
                MessageKind::Trace,
            ),
            ("drivetest: stopped by signal TERM", MessageKind::Interrupted),
            (
                "drivetest: rate not held: reads: 1.000 a second, 2.000 were asked",
                MessageKind::RateNotSustained,
            ),
            (
                "ERROR: couldn't open /sys/block/a/queue/scheduler errno 13 'Permission denied'",
                MessageKind::Scheduler,
            ),
            (
                "ERROR: open device /dev/a errno 2 'No such file or directory'",
                MessageKind::Error,
            ),
            ("ERROR: too many requests queued", MessageKind::Overload),
            ("ERROR: seek & read", MessageKind::IoError),
            (
                "ERROR: seek & write errno 5 'Input/output error'",
                MessageKind::IoError,
            ),
            ("Signal TERM received, aborting", MessageKind::Interrupted),
            ("Signal SEGV received: stack trace", MessageKind::Crash),
            ("couldn't open config file: act.conf", MessageKind::Error),
            ("usage: act [config filename]", MessageKind::Error),
            ("[root@host act]# ", MessageKind::Noise),
        ] {
            assert_eq!(classify(text.as_bytes()), expected, "{text}");
        }
    }
}
