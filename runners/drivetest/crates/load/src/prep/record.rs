//! The records and lines at the beginning and end; schema `drivecert.prep/1`.

use std::io;

use serde_json::{Value, json};

use super::meter::bytes_per_s;
use super::rounds::Course;
use super::run::Written;
use super::state::State;
use super::target::Target;
use super::voice::Voice;
use super::{Ended, Wish};
use crate::clock::Nanos;

/// Upstream counts devices in blocks of this size. Source: src/prep/act_prep.c.
const LARGE_BLOCK_BYTES: u64 = 128 * 1024;

/// Tells what will be done to which devices.
pub(super) fn start(
    voice: &mut Voice<'_>,
    wish: &Wish,
    resumed: Option<&State>,
    targets: &[Target],
) -> io::Result<()> {
    head(voice, wish)?;
    for target in targets {
        let (name, size_bytes) = (&target.name, target.size_bytes);
        let blocks_count = size_bytes / LARGE_BLOCK_BYTES;
        voice.log(&format!(
            "{name} size = {size_bytes} bytes, {blocks_count} large blocks"
        ))?;
    }
    if let Some(state) = resumed {
        let done: u64 = state.devices.iter().map(|device| device.done_bytes).sum();
        let passes = state.passes_done;
        voice.log(&format!(
            "resumed: {passes} passes and {done} bytes of the next are done"
        ))?;
    }
    let devices = targets.iter().map(|target| target.identity.clone()).collect();
    voice.record("start", started(wish, resumed.is_some(), devices))
}

/// Tells what was asked where nothing can be done.
pub(super) fn start_refused(voice: &mut Voice<'_>, wish: &Wish, names: &[String]) -> io::Result<()> {
    head(voice, wish)?;
    let devices = names.iter().map(|name| json!({"path": name})).collect();
    voice.record("start", started(wish, false, devices))
}

fn head(voice: &mut Voice<'_>, wish: &Wish) -> io::Result<()> {
    let (version, seed, compress_pct) = (env!("CARGO_PKG_VERSION"), wish.seed, wish.compress_pct);
    voice.log(&format!(
        "drivetest {version} prep, seed {seed}, compress-pct {compress_pct}"
    ))
}

fn started(wish: &Wish, is_resumed: bool, devices: Vec<Value>) -> Value {
    let steady = wish.steady.as_ref().map(|steady| {
        json!({"block_bytes": steady.block_bytes, "depth": steady.depth, "round_s": steady.round_s,
               "rounds_max": steady.rounds_max})
    });
    json!({
        "schema": "drivecert.prep/1", "program_version": env!("CARGO_PKG_VERSION"), "seed": wish.seed,
        "compress_pct": wish.compress_pct, "request_bytes": wish.request_bytes, "streams": wish.streams,
        "passes": wish.passes, "steady": steady, "is_resumed": is_resumed, "devices": devices,
    })
}

/// Tells the round that ended, device by device.
pub(super) fn rounds(voice: &mut Voice<'_>, courses: &[Course]) -> io::Result<()> {
    for course in courses {
        let fields = json!({"path": course.path, "ordinal": course.rounds.len(), "round": course.rounds.last(),
                            "window": course.window});
        voice.record("round", fields)?;
    }
    Ok(())
}

/// Bytes, seconds and rate, for people.
pub(super) fn rate(bytes: u64, elapsed: Nanos) -> String {
    let (seconds, megabytes) = (elapsed.0 as f64 / 1e9, bytes_per_s(bytes, elapsed) as f64 / 1e6);
    format!("{bytes} bytes in {seconds:.1} s, {megabytes:.1} MB/s")
}

/// Tells how it ended, and what was written until then.
pub(super) fn end(voice: &mut Voice<'_>, ended: &Ended, written: &Written) -> io::Result<()> {
    let (reason, text) = ended.reason();
    let elapsed = written.elapsed();
    let line = match text {
        // Nothing was begun: there is nothing to count.
        _ if matches!(ended, Ended::Refused(_)) => format!("drivetest: {reason}: {text}"),
        "" => format!("{reason}: {}", rate(written.bytes, elapsed)),
        _ => format!("drivetest: {reason}: {text}\n{}", rate(written.bytes, elapsed)),
    };
    let logged = voice.log(&line);
    // The records may lie on another disk than the log: they are told even when that is full.
    let fields = json!({"reason": reason, "text": text, "written_bytes": written.bytes, "elapsed_ns": elapsed.0,
                        "bytes_per_s": bytes_per_s(written.bytes, elapsed)});
    voice.record("end", fields).and(logged)
}
