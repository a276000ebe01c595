//! The start record: the request, the program, the setup, the host and the devices.

use std::borrow::Cow;
use std::time::SystemTime;

use drivetest_device::{Warning, hex};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::SCHEMA;
use crate::clock::rfc3339;
use crate::engine::EngineSelection;
use crate::engine::setup::Setup;
use crate::host::Host;
use crate::run::LoadRun;
use crate::schedule::stream::ActHistogram;

/// The last commit that changed this program, with `-dirty` after uncommitted changes; None if the builder did not set it.
const REVISION: Option<&str> = option_env!("DRIVETEST_REVISION");

/// The start record, written before the first request. It begins with [`START_HEAD`](super::START_HEAD).
#[derive(Debug, Serialize)]
pub struct Start<'a> {
    record: &'static str,
    schema: &'static str,
    /// Release of drivetest.
    program_version: &'static str,
    /// Commit of drivetest; null if the builder did not set it.
    program_revision: Option<&'static str>,
    /// The configuration file. Comments may have another encoding than UTF-8; their bytes are replaced.
    config_text: Cow<'a, str>,
    /// Of the file, byte for byte.
    config_sha256: String,
    /// Distribution of requests over time.
    arrivals: &'static str,
    /// Time within which due requests are submitted together, us. 0 submits each request when it is due.
    coalesce_us: u32,
    /// `io_uring` or `threads`; of a refused run, the configured one.
    engine: &'static str,
    /// Why this engine was selected; empty of a refused run.
    engine_reason: &'a str,
    /// Number of rings; null for threads and of a refused run.
    workers: Option<usize>,
    /// What was set for exact submissions; null of a refused run.
    setup: Option<&'a Setup>,
    /// Number of threads that the configuration requests. Rings need none.
    service_threads: u32,
    /// Seed of all random choices.
    seed: u64,
    /// Time of this record, RFC 3339.
    started_at: String,
    host: &'a Host,
    /// Identities of the devices, in the order of the configuration.
    devices: &'a [Value],
    /// Problems that may distort the measurement.
    warnings: &'a [Warning],
    /// Requested rates. Its public name is of the first release.
    #[serde(rename = "asked")]
    requested: RequestedRates,
}

/// Requested rates of all devices together, requests per second, as decimals.
#[derive(Debug, Serialize)]
struct RequestedRates {
    /// Of records or index pages.
    reads_per_s: String,
    large_block_reads_per_s: String,
    large_block_writes_per_s: String,
}

impl<'a> Start<'a> {
    /// Creates the record. A refused run has neither an engine nor a setup.
    pub fn new(
        run: &'a LoadRun<'_>,
        selection: Option<&'a EngineSelection>,
        host: &'a Host,
        devices: &'a [Value],
        warnings: &'a [Warning],
        setup: Option<&'a Setup>,
    ) -> Self {
        let config = &run.config;
        let requested = |histogram: ActHistogram| {
            let rates = config.rates().into_iter();
            let of = rates.filter(|(operation, _)| operation.histogram() == Some(histogram));
            of.map(|(_, rate)| rate.per_s()).sum::<f64>()
        };
        Self {
            record: "start",
            schema: SCHEMA,
            program_version: env!("CARGO_PKG_VERSION"),
            program_revision: REVISION.filter(|revision| !revision.is_empty()),
            config_text: String::from_utf8_lossy(run.config_file),
            config_sha256: hex(&Sha256::digest(run.config_file)),
            arrivals: config.arrivals.name(),
            coalesce_us: config.coalesce_us,
            engine: selection.map_or(config.engine.name(), |selection| selection.engine.name()),
            engine_reason: selection.map_or("", |selection| &selection.reason),
            workers: selection.and_then(|selection| selection.engine.workers()),
            setup,
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
