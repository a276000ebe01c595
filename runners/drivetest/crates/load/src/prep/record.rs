//! Start and end records and log lines of a preparation; schema `drivecert.prep/1`.

use std::io;

use serde_json::{Value, json};

use super::PrepOptions;
use super::device::PrepDevice;
use super::progress::{ProgressReporter, bytes_per_s};
use super::state::State;
use super::steady_state::DeviceRounds;
use crate::Outcome;
use crate::clock::Nanos;

/// Upstream counts devices in blocks of this size. Source: src/prep/act_prep.c.
const LARGE_BLOCK_BYTES: u64 = 128 * 1024;

/// Writes the first line.
pub(super) fn head(reporter: &mut ProgressReporter<'_>, options: &PrepOptions) -> io::Result<()> {
    let (version, seed, compress_pct) = (env!("CARGO_PKG_VERSION"), options.seed, options.compress_pct);
    reporter.log(&format!(
        "drivetest {version} prep, seed {seed}, compress-pct {compress_pct}"
    ))
}

/// Writes the first lines and the start record.
pub(super) fn start(
    reporter: &mut ProgressReporter<'_>,
    options: &PrepOptions,
    resumed: Option<&State>,
    devices: &[PrepDevice],
) -> io::Result<()> {
    head(reporter, options)?;
    for device in devices {
        let (name, size_bytes) = (&device.name, device.size_bytes);
        let blocks_count = size_bytes / LARGE_BLOCK_BYTES;
        reporter.log(&format!(
            "{name} size = {size_bytes} bytes, {blocks_count} large blocks"
        ))?;
    }
    if let Some(state) = resumed {
        let done: u64 = state.devices.iter().map(|device| device.done_bytes).sum();
        let passes = state.passes_done;
        reporter.log(&format!(
            "resumed: {passes} passes and {done} bytes of the next are done"
        ))?;
    }
    let identity = |device: &PrepDevice| serde_json::to_value(&device.identity).unwrap_or_default();
    let identities = devices.iter().map(identity).collect();
    start_record(reporter, options, resumed.is_some(), identities)
}

/// Writes the start record.
pub(super) fn start_record(
    reporter: &mut ProgressReporter<'_>,
    options: &PrepOptions,
    is_resumed: bool,
    devices: Vec<Value>,
) -> io::Result<()> {
    let fields = json!({
        "schema": "drivecert.prep/1", "program_version": env!("CARGO_PKG_VERSION"), "seed": options.seed,
        "compress_pct": options.compress_pct, "request_bytes": options.request_bytes, "streams": options.streams,
        "passes": options.passes, "steady": options.steady, "is_resumed": is_resumed, "devices": devices,
    });
    reporter.record("start", fields)
}

/// Writes a record for each device at the end of a round.
pub(super) fn rounds(reporter: &mut ProgressReporter<'_>, device_rounds: &[DeviceRounds]) -> io::Result<()> {
    for rounds_of_device in device_rounds {
        let fields = json!({"path": rounds_of_device.path, "ordinal": rounds_of_device.rounds.len(), "round": rounds_of_device.rounds.last(),
                            "window": rounds_of_device.window});
        reporter.record("round", fields)?;
    }
    Ok(())
}

/// Returns bytes, seconds and rate for people.
pub(super) fn rate(bytes: u64, elapsed: Nanos) -> String {
    let (seconds, megabytes) = (elapsed.0 as f64 / 1e9, bytes_per_s(bytes, elapsed) as f64 / 1e6);
    format!("{bytes} bytes in {seconds:.1} s, {megabytes:.1} MB/s")
}

/// Writes the end record and lines. Returns whether a person at a terminal reads the lines, and the first error.
pub(super) fn end(
    reporter: &mut ProgressReporter<'_>,
    ended: &Outcome,
    written_bytes: u64,
    elapsed: Nanos,
) -> (bool, io::Result<()>) {
    let (reason, text) = ended.reason();
    let line = match text {
        // Nothing was started, so there are no totals.
        _ if matches!(ended, Outcome::Refused(_)) => format!("drivetest: {reason}: {text}"),
        "" => format!("{reason}: {}", rate(written_bytes, elapsed)),
        _ => format!("drivetest: {reason}: {text}\n{}", rate(written_bytes, elapsed)),
    };
    let is_at_terminal = reporter.outputs.is_at_terminal();
    // The caller prints a refusal on standard error.
    let is_logged = !(is_at_terminal && matches!(ended, Outcome::Refused(_)));
    let logged = match is_logged {
        true => reporter.log(&line),
        false => Ok(()),
    };
    let is_shown = is_at_terminal && is_logged && logged.is_ok();
    // The side file may be on another disk than the log, so it is written even if the log is full.
    let fields = json!({"reason": reason, "text": text, "written_bytes": written_bytes, "elapsed_ns": elapsed.0,
                        "bytes_per_s": bytes_per_s(written_bytes, elapsed)});
    let written = reporter.record("end", fields).and(logged);
    // A person who saw the progress, but does not see the log, also reads the end. If it cannot be written, the caller
    // prints that.
    if matches!(ended, Outcome::Finished) && written.is_ok() && reporter.outputs.has_view() && !is_at_terminal
    {
        reporter.outputs.print_status(&format!("drivetest: {line}\n"));
    }
    (is_shown, written)
}
