//! Records of the side file: the schema of a load (`drivecert.side/1`), without the figures of a load.

use std::path::Path;
use std::time::SystemTime;

use drivetest_device::Identity;
use drivetest_load::clock::{Nanos, rfc3339};
use drivetest_load::host::Host;
use drivetest_load::telemetry::{Record, Root};
use serde_json::{Value, json};

/// Returns the start record: the drive, and the program. `argv` is empty without a program.
pub fn start(device: Option<(&Path, &Identity)>, program: Option<&str>, argv: &[String]) -> Value {
    let devices: Vec<&Identity> = device.iter().map(|(_, identity)| *identity).collect();
    json!({
        "record": "start", "schema": "drivecert.side/1", "program_version": env!("CARGO_PKG_VERSION"),
        "started_at": rfc3339(SystemTime::now()), "host": Host::here(), "devices": devices,
        "watch": {"program": program, "argv": argv},
    })
}

/// Returns the record of an interval, `label_s` after the start.
pub fn interval(label_s: u64, elapsed: Nanos, length: Nanos, telemetry: &Record) -> Value {
    json!({
        "record": "interval", "memory": memory(), "label_s": label_s, "at": rfc3339(SystemTime::now()), "elapsed_ns": elapsed.0,
        "length_ns": length.0, "telemetry": telemetry,
    })
}

/// Returns the host's total, available and cached memory in bytes. Null if unknown.
fn memory() -> Value {
    let bytes = |name: &str| Root::host().line_bytes("proc/meminfo", name);
    json!({"total_bytes": bytes("MemTotal:"), "available_bytes": bytes("MemAvailable:"),
           "cached_bytes": bytes("Cached:")})
}

/// Returns the end record. `status` is the exit status of the program.
pub fn end(reason: &str, text: &str, elapsed: Nanos, status: Option<i32>) -> Value {
    json!({
        "record": "end", "reason": reason, "text": text, "at": rfc3339(SystemTime::now()), "elapsed_ns": elapsed.0,
        "program_status": status,
    })
}
