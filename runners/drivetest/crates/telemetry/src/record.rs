//! The records of the side file: as those of a load (schema `drivecert.side/1`), with what there is without one.

use std::path::Path;
use std::time::SystemTime;

use drivetest_device::Identity;
use drivetest_load::clock::Nanos;
use drivetest_load::clock::rfc3339;
use drivetest_load::host::Host;
use drivetest_load::telemetry::{Record, Root};
use serde_json::{Value, json};

/// What is watched, and the line that runs beside; `argv` is empty where none does.
pub fn start(device: Option<(&Path, &Identity)>, program: Option<&str>, argv: &[String]) -> Value {
    let devices: Vec<&Identity> = device.iter().map(|(_, identity)| *identity).collect();
    json!({
        "record": "start", "schema": "drivecert.side/1", "program_version": env!("CARGO_PKG_VERSION"),
        "started_at": rfc3339(SystemTime::now()), "host": Host::here(), "devices": devices,
        "watch": {"program": program, "argv": argv},
    })
}

/// One interval, `label_s` after the start.
pub fn interval(label_s: u64, elapsed: Nanos, length: Nanos, telemetry: &Record) -> Value {
    json!({
        "record": "interval", "memory": memory(), "label_s": label_s, "at": rfc3339(SystemTime::now()), "elapsed_ns": elapsed.0,
        "length_ns": length.0, "telemetry": telemetry,
    })
}

/// Bytes of the host's memory that the kernel could still give out, and that it keeps files in; null where untold.
fn memory() -> Value {
    let text = Root::host().text("proc/meminfo").unwrap_or_default();
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(
            line.trim()
                .strip_suffix(" kB")?
                .parse::<u64>()
                .ok()?
                .saturating_mul(1_024),
        )
    };
    json!({"total_bytes": bytes("MemTotal:"), "available_bytes": bytes("MemAvailable:"),
           "cached_bytes": bytes("Cached:")})
}

/// How it ended; `status` is the program's own.
pub fn end(reason: &str, text: &str, elapsed: Nanos, status: Option<i32>) -> Value {
    json!({
        "record": "end", "reason": reason, "text": text, "at": rfc3339(SystemTime::now()), "elapsed_ns": elapsed.0,
        "program_status": status,
    })
}
