//! Kinds of lines in YCSB's output.

use crate::ycsb::command::Command;
use crate::ycsb::common::raw::{self, RawRow};
use crate::ycsb::fragment::stars;
use crate::ycsb::java::row::{self, Shape};
use crate::ycsb::java::status;

/// Kind of a line.
#[derive(Debug)]
pub enum LineKind<'a> {
    /// A launcher's `java ... site.ycsb.Client ...`.
    Launcher(Box<Command>),
    /// `Command line: ...`.
    CommandLine(&'a str),
    /// `YCSB Client VERSION`.
    Banner(&'a str),
    /// `Loading workload...`.
    Loading,
    /// A row, or one that is broken.
    Row(Shape<'a>),
    /// A status line: elapsed seconds and operations.
    Status((u64, u64)),
    /// The rest of a split status line.
    StatusRest,
    /// One operation's latency.
    RawLatency(RawRow<'a>),
    /// The time limit.
    Limit(u64),
    /// The time limit was reached.
    LimitHit,
    /// The requested percentiles could not be read.
    PercentilesFellBack,
    /// The requested exporter does not exist.
    ExporterFellBack,
    /// The head of an exception.
    Exception,
    /// A place in YCSB's own code, below an exception.
    Frame,
    /// An error of the binding.
    Error,
    /// The head or the end of BasicDB's block of properties.
    Stars {
        /// It begins one.
        is_head: bool,
    },
    /// Any other line.
    Other,
}

/// Return the kind of a line.
pub fn of(line: &str) -> LineKind<'_> {
    match line.as_bytes().first() {
        None => LineKind::Other,
        Some(b'[') => bracketed(line),
        Some(b'*') => stars(line).map_or(LineKind::Other, |is_head| LineKind::Stars { is_head }),
        Some(b'\t') if is_frame_of_ycsb(line) => LineKind::Frame,
        Some(b'\t') => LineKind::Other,
        _ => raw::parse(line).map_or_else(|| worded(line), LineKind::RawLatency),
    }
}

fn bracketed(line: &str) -> LineKind<'_> {
    if let Some(shape) = row::parse(line) {
        return LineKind::Row(shape);
    }
    if status::continues(line) {
        return LineKind::StatusRest;
    }
    if line.starts_with("[WARN] Couldn't read hdrhistogram.percentiles value") {
        return LineKind::PercentilesFellBack;
    }
    match line.split_once("] ") {
        Some((_, rest)) if rest.starts_with("ERROR ") => LineKind::Error,
        _ => LineKind::Other,
    }
}

fn worded(line: &str) -> LineKind<'_> {
    if let Some(arguments) = line.strip_prefix("Command line:") {
        return LineKind::CommandLine(arguments.strip_prefix(' ').unwrap_or(arguments));
    }
    if let Some(version) = line.strip_prefix("YCSB Client ") {
        return LineKind::Banner(version);
    }
    if let Some(limit) = line.strip_prefix("Maximum execution time specified as: ") {
        let seconds = limit.split(' ').next().and_then(|word| word.parse().ok());
        return seconds.map_or(LineKind::Other, LineKind::Limit);
    }
    if line.starts_with("Could not find exporter ") {
        return LineKind::ExporterFellBack;
    }
    match line {
        "Loading workload..." => LineKind::Loading,
        "Maximum time elapsed. Requesting stop for the workload." => LineKind::LimitHit,
        _ => kinds(line),
    }
}

fn kinds(line: &str) -> LineKind<'_> {
    if let Some(progress) = status::progress(line) {
        return LineKind::Status(progress);
    }
    if is_exception(line) {
        return LineKind::Exception;
    }
    if line.starts_with("Error ") {
        return LineKind::Error;
    }
    Command::of_java(line).map_or(LineKind::Other, |command| LineKind::Launcher(Box::new(command)))
}

fn is_frame_of_ycsb(line: &str) -> bool {
    line.starts_with("\tat site.ycsb.") || line.starts_with("\tat com.yahoo.ycsb.")
}

/// `java.lang.ArithmeticException: / by zero`, alone or after `Exception in thread "main"`.
fn is_exception(line: &str) -> bool {
    if memchr::memchr(b'.', line.as_bytes()).is_none() {
        return false;
    }
    let of_thread = line.strip_prefix("Exception in thread \"");
    let of_thread = of_thread.and_then(|rest| rest.split_once("\" "));
    let thrown = of_thread.map_or(line, |(_, thrown)| thrown);
    let class = thrown.split(':').next().unwrap_or(thrown);
    let last = class.rsplit(['.', '$']).next().unwrap_or(class);
    let is_class = class.contains('.') && !class.contains([' ', '/', '(']);
    is_class && (last.ends_with("Exception") || last.ends_with("Error"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_recognized() {
        for line in [
            "java.lang.ArithmeticException: / by zero",
            "Exception in thread \"main\" java.lang.NumberFormatException: For input string: \"3\"",
            "site.ycsb.DBException: org.rocksdb.RocksDBException: While lock file",
        ] {
            assert!(matches!(of(line), LineKind::Exception), "{line}");
        }
        for line in [
            "\tat java.lang.Exception",
            "Exception",
            "read of x.Exception failed",
            "a/b.Exception",
        ] {
            assert!(matches!(of(line), LineKind::Other), "{line}");
        }
    }

    #[test]
    fn raw_latencies_have_three_cells() {
        assert!(matches!(of("READ,1795229746741,1866"), LineKind::RawLatency(_)));
        assert!(matches!(of("READ-MODIFY-WRITE,1,2"), LineKind::RawLatency(_)));
        for line in ["READ,1", "READ,1,2,3", "read,1,2", ",1,2", "READ,,2", "READ,1,-2"] {
            assert!(matches!(of(line), LineKind::Other), "{line}");
        }
    }

    #[test]
    fn errors_of_bindings_are_seen() {
        assert!(matches!(
            of("[Thread-1] ERROR site.ycsb.db.X - no space"),
            LineKind::Error
        ));
        assert!(matches!(
            of("[Thread-1] INFO site.ycsb.db.X - dir"),
            LineKind::Other
        ));
        assert!(matches!(
            of("Error inserting, not retrying any more."),
            LineKind::Error
        ));
    }
}
