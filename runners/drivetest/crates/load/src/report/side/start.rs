//! The start record: request, program, host and devices.

use std::borrow::Cow;
use std::time::SystemTime;

use drivetest_device::{Warning, hex};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::clock::rfc3339;
use crate::engine::EngineSelection;
use crate::host::Host;
use crate::run::LoadRun;
use crate::schedule::stream::ActHistogram;

/// The last commit that changed this program, with `-dirty` after uncommitted changes; None if the builder did not set it.
const REVISION: Option<&str> = option_env!("DRIVETEST_REVISION");

/// The start record.
#[derive(Debug, Serialize)]
pub struct Start<'a> {
    record: &'static str,
    schema: &'static str,
    program_version: &'static str,
    program_revision: Option<&'static str>,
    config_text: Cow<'a, str>,
    config_sha256: String,
    arrivals: &'a str,
    engine: &'a str,
    engine_reason: &'a str,
    workers: Option<usize>,
    service_threads: u32,
    seed: u64,
    started_at: String,
    host: &'a Host,
    devices: &'a [Value],
    warnings: &'a [Warning],
    #[serde(rename = "asked")]
    requested: RequestedRates,
}

#[derive(Debug, Serialize)]
struct RequestedRates {
    reads_per_s: String,
    large_block_reads_per_s: String,
    large_block_writes_per_s: String,
}

impl<'a> Start<'a> {
    /// Creates the record before the first request.
    pub fn new(
        run: &'a LoadRun<'a>,
        selection: Option<&'a EngineSelection>,
        host: &'a Host,
        devices: &'a [Value],
        warnings: &'a [Warning],
    ) -> Self {
        let config = &run.config;
        let requested = |histogram: ActHistogram| {
            let rates = config.rates().into_iter();
            let of = rates.filter(|(operation, _)| operation.histogram() == Some(histogram));
            of.map(|(_, rate)| rate.per_s()).sum::<f64>()
        };
        Self {
            record: "start",
            schema: "drivecert.side/1",
            program_version: env!("CARGO_PKG_VERSION"),
            program_revision: REVISION.filter(|revision| !revision.is_empty()),
            // Comments may have another encoding than UTF-8.
            config_text: String::from_utf8_lossy(run.config_file),
            config_sha256: hex(&Sha256::digest(run.config_file)),
            arrivals: config.arrivals.name(),
            engine: selection.map_or(config.engine.name(), |selection| selection.engine.name()),
            engine_reason: selection.map_or("", |selection| &selection.reason),
            workers: selection.and_then(|selection| selection.engine.workers()),
            service_threads: config.service_threads,
            seed: run.seed,
            started_at: rfc3339(SystemTime::now()),
            host,
            devices,
            warnings,
            requested: RequestedRates {
                reads_per_s: requested(ActHistogram::Reads).to_string(),
                large_block_reads_per_s: format!("{:.6}", requested(ActHistogram::LargeBlockReads)),
                large_block_writes_per_s: format!("{:.6}", requested(ActHistogram::LargeBlockWrites)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_lower_case_hex() {
        // `printf abc | sha256sum`
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&Sha256::digest("abc")), expected);
    }
}
