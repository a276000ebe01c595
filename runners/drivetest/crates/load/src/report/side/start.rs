//! The first record: what was asked, by which program, on which host, of which devices.

use std::borrow::Cow;
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::clock::rfc3339;
use crate::config::Config;
use crate::engine::EngineSelection;
use crate::host::Host;
use crate::schedule::stream::ActHistogram;

/// The commit that this program was built from; None where its builder did not say.
const REVISION: Option<&str> = option_env!("DRIVETEST_REVISION");

/// Something about host or device that may cost the measurement its meaning, told before the first request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostWarning {
    /// Stable.
    pub id: String,
    /// What was found, and what to do.
    pub sentence: String,
}

/// How the load is generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// `even`, ...
    pub arrivals: String,
    /// `threads`, ...
    pub engine: String,
    /// Why that engine; empty of a run that never began.
    pub engine_reason: String,
    /// Rings that carry out requests; None for threads.
    pub workers: Option<usize>,
}

impl Plan {
    /// Of a run that never began no engine was chosen: its own is the one that was asked for.
    pub fn of(config: &Config, choice: Option<&EngineSelection>) -> Self {
        Self {
            arrivals: config.arrivals.name().to_owned(),
            engine: choice
                .map_or(config.engine.name(), |choice| choice.engine.name())
                .to_owned(),
            engine_reason: choice.map(|choice| choice.reason.clone()).unwrap_or_default(),
            workers: choice.and_then(|choice| choice.engine.workers()),
        }
    }
}

/// The first record.
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
    warnings: &'a [HostWarning],
    asked: Asked,
}

#[derive(Debug, Serialize)]
struct Asked {
    reads_per_s: String,
    large_block_reads_per_s: String,
    large_block_writes_per_s: String,
}

/// What a run is asked to be, as typed and as read.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// As read.
    pub config: &'a Config,
    /// The file, byte for byte; its comments may be in another encoding than UTF-8.
    pub config_file: &'a [u8],
    /// All random choices follow from it.
    pub seed: u64,
}

impl<'a> Start<'a> {
    /// What is known before the first request.
    pub fn new(
        request: Request<'a>,
        plan: &'a Plan,
        host: &'a Host,
        devices: &'a [Value],
        warnings: &'a [HostWarning],
    ) -> Self {
        let Request {
            config,
            config_file,
            seed,
        } = request;
        let asked = |histogram: ActHistogram| {
            let rates = config.rates().into_iter();
            let of = rates.filter(|(operation, _)| operation.histogram() == Some(histogram));
            of.map(|(_, rate)| rate.per_s()).sum::<f64>()
        };
        Self {
            record: "start",
            schema: "drivecert.side/1",
            program_version: env!("CARGO_PKG_VERSION"),
            program_revision: REVISION.filter(|revision| !revision.is_empty()),
            config_text: String::from_utf8_lossy(config_file),
            config_sha256: hex(&Sha256::digest(config_file)),
            arrivals: &plan.arrivals,
            engine: &plan.engine,
            engine_reason: &plan.engine_reason,
            workers: plan.workers,
            service_threads: config.service_threads,
            seed,
            started_at: rfc3339(SystemTime::now()),
            host,
            devices,
            warnings,
            asked: Asked {
                reads_per_s: asked(ActHistogram::Reads).to_string(),
                large_block_reads_per_s: format!("{:.6}", asked(ActHistogram::LargeBlockReads)),
                large_block_writes_per_s: format!("{:.6}", asked(ActHistogram::LargeBlockWrites)),
            },
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
