//! What is told while it goes on: the log, the records, and a bar where a person looks on.

use std::io::{self, Write};
use std::time::SystemTime;

use serde_json::{Value, json};

use super::meter::Reading;
use crate::report::output::Outputs;
use crate::timestamp::rfc3339;

const BAR_WIDTH: u64 = 30;

/// What goes to standard error meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Live {
    /// A bar, on a terminal.
    Bar,
    /// The records, where it is no terminal and they have no file.
    Records,
    /// Nothing.
    Nothing,
}

pub(super) struct Voice<'a> {
    outputs: &'a mut Outputs,
    live: Live,
}

impl<'a> Voice<'a> {
    pub fn new(outputs: &'a mut Outputs, live: Live) -> Self {
        Self { outputs, live }
    }

    /// Appends a line to the log.
    pub fn log(&mut self, line: &str) -> io::Result<()> {
        self.clear_bar();
        self.outputs.log(&format!("{line}\n"))
    }

    /// Tells a record, with the time.
    pub fn record(&mut self, kind: &str, fields: Value) -> io::Result<()> {
        let mut record = json!({"record": kind, "at": rfc3339(SystemTime::now())});
        if let (Value::Object(record), Value::Object(fields)) = (&mut record, fields) {
            record.extend(fields);
        }
        if self.live == Live::Records {
            say(&format!("{record}\n"));
        }
        self.outputs.side(&record)
    }

    /// Tells how far it is.
    pub fn progress(&mut self, phase: &str, reading: Reading) -> io::Result<()> {
        if self.live == Live::Bar {
            say(&format!("\r{}\x1b[K", bar(phase, reading)));
        }
        let Reading {
            done_bytes,
            total_bytes,
            bytes_per_s,
            remaining_s,
        } = reading;
        let fields = json!({"phase": phase, "done_bytes": done_bytes, "total_bytes": total_bytes,
                            "bytes_per_s": bytes_per_s, "remaining_s": remaining_s});
        self.record("progress", fields)
    }

    /// Ends the line of the bar.
    pub fn clear_bar(&self) {
        if self.live == Live::Bar {
            say("\r\x1b[K");
        }
    }
}

/// With standard error gone nobody looks on; the log and the exit status still tell the end.
fn say(text: &str) {
    let mut stderr = io::stderr().lock();
    let _unseen = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

fn bar(phase: &str, reading: Reading) -> String {
    let rate = format!("{:8.1} MB/s", reading.bytes_per_s as f64 / 1e6);
    let Some(whole) = reading.total_bytes.map(|bytes| bytes.max(1)) else {
        return format!("{phase:6} {rate}");
    };
    let part =
        |of: u64| (u128::from(reading.done_bytes.min(whole)) * u128::from(of) / u128::from(whole)) as u64;
    let (filled, tenths) = (part(BAR_WIDTH), part(1_000));
    let left = reading.remaining_s.map_or_else(|| "-:--:--".to_owned(), clock);
    format!(
        "{phase:6} [{}{}] {:3}.{} %  {rate}  {left} left",
        "#".repeat(filled as usize),
        " ".repeat((BAR_WIDTH - filled) as usize),
        tenths / 10,
        tenths % 10,
    )
}

fn clock(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(done_bytes: u64, remaining_s: Option<u64>) -> Reading {
        Reading {
            done_bytes,
            total_bytes: Some(3_000_000),
            bytes_per_s: 1_234_567_890,
            remaining_s,
        }
    }

    #[test]
    fn a_bar_tells_part_rate_and_what_is_left() {
        assert_eq!(
            bar("zero", reading(1_000_000, Some(3_725))),
            "zero   [##########                    ]  33.3 %    1234.6 MB/s  1:02:05 left"
        );
        assert!(bar("salt", reading(3_000_000, Some(0))).contains(&format!("[{}] 100.0 %", "#".repeat(30))));
        assert!(bar("salt", reading(0, None)).ends_with("-:--:-- left"));
    }
}
