//! The configuration of a load: the keys of ACT 6.6's two programs with their defaults and ranges, and additional
//! keys.
//!
//! `parse` returns the keys of a file. [`Config`] has every value that the program needs. [`echo`] writes them as a log
//! contains them.

mod check;
mod derived;
mod enums;
mod error;
mod keys;
mod lexer;
mod parse;

pub use derived::Derived;
pub use enums::{Arrivals, EngineChoice, Model};
pub use error::{ConfigError, ConfigWarning};
pub use keys::{Config, KEYS, Key};
pub use lexer::{MOST_BYTES, text};

use parse::ParsedKeys;

use crate::schedule::Rate;
use crate::schedule::stream::Operation;

impl Config {
    /// Parses the configuration of a storage load.
    #[cfg(test)]
    pub fn read(text: &str, cpus_count: u32) -> Result<(Self, Vec<ConfigWarning>), ConfigError> {
        Self::read_of(Model::Storage, text, cpus_count)
    }

    /// Parses the configuration of either model for a host with `cpus_count` CPUs.
    ///
    /// # Errors
    /// [`ConfigError`] with the line or key, the expected and the given value.
    pub fn read_of(
        model: Model,
        text: &str,
        cpus_count: u32,
    ) -> Result<(Self, Vec<ConfigWarning>), ConfigError> {
        let parsed = ParsedKeys::read(model, text)?;
        let mut config = Self::with_defaults(model, &parsed);
        if config.service_threads == 0 {
            // Source: src/storage/cfg_storage.c, check_configuration().
            config.service_threads = cpus_count.saturating_mul(5);
            config.is_service_threads_default = true;
        }
        check::check(&config)?;
        config.derived = Derived::of(&config)?;
        let mut warnings = parsed.warnings;
        warnings.extend(check::warnings(&config));
        Ok((config, warnings))
    }

    /// Returns the keys of the model with their values.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let keys = KEYS.iter().zip(self.values());
        let of_model = keys.filter(|(key, _)| key.model.is_none_or(|model| model == self.model));
        of_model.map(|(key, value)| (key.name, value)).collect()
    }

    /// Returns the duration in seconds. Like upstream, it is extended to a multiple of the report interval.
    pub fn length_s(&self) -> u64 {
        u64::from(self.duration_s).next_multiple_of(u64::from(self.report_interval_s))
    }

    /// Returns whether the load writes to the devices.
    pub fn has_writes(&self) -> bool {
        self.writes_per_s > 0
    }

    /// Returns the rates of all devices together, in the order of the streams. The tomb raider has no rate.
    pub fn rates(&self) -> Vec<(Operation, Rate)> {
        let derived = &self.derived;
        let per_s = |count| Rate::new(count, 1);
        let rates = match self.model {
            Model::Storage => vec![
                (Operation::ReadRecord, per_s(derived.internal_reads_per_s)),
                (Operation::ReadBlock, derived.large_block_reads),
                (Operation::WriteBlock, derived.large_block_writes),
                (Operation::WriteRecord, per_s(derived.internal_writes_per_s)),
            ],
            Model::Index => vec![
                (Operation::ReadIndex, per_s(derived.service_reads_per_s)),
                (Operation::ReadCache, per_s(derived.cache_per_s)),
                (Operation::WriteCache, per_s(derived.cache_per_s)),
            ],
        };
        let existing = |(operation, rate): (Operation, Option<Rate>)| Some((operation, rate?));
        rates.into_iter().filter_map(existing).collect()
    }
}

/// Returns the two configuration sections of a log, as act_storage and act_index 6.6 print them, and an empty line.
pub fn echo(config: &Config) -> String {
    let mut text = format!("ACT-{} CONFIGURATION\n", config.model.name().to_uppercase());
    let entries = config.entries().into_iter();
    // Keys of ours begin with `arrivals`. The opening line of the log has them.
    for (name, value) in entries.take_while(|(name, _)| *name != "arrivals") {
        match (name, value.as_str()) {
            // ACT 6.0 to 6.3 print commit-min-bytes; 6.6 has no such key.
            ("file-size-mbytes" | "commit-min-bytes", "0") => {}
            (name, value) => text += &format!("{name}: {value}\n"),
        }
        if name == "device-names" {
            text += &format!("num-devices: {}\n", config.device_names.len());
        }
    }
    text + "\nDERIVED CONFIGURATION\n" + &derived(config) + "\n"
}

fn derived(config: &Config) -> String {
    let derived = &config.derived;
    match config.model {
        Model::Storage => {
            let (least, most) = derived.record_stored_bytes;
            let (large_reads, large_writes) = derived.large_blocks_as_printed(config);
            format!(
                "record-stored-bytes: {least} ... {most}\n\
                 internal-read-reqs-per-sec: {}\n\
                 internal-write-reqs-per-sec: {}\n\
                 large-block-reads-per-sec: {large_reads:.2}\n\
                 large-block-writes-per-sec: {large_writes:.2}\n",
                derived.internal_reads_per_s, derived.internal_writes_per_s
            )
        }
        Model::Index => format!(
            "service-thread-reads-per-sec: {}\ncache-thread-reads-and-writes-per-sec: {}\n",
            derived.service_reads_per_s, derived.cache_per_s
        ),
    }
}

#[cfg(test)]
mod tests;
