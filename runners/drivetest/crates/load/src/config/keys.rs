//! The keys of a configuration, those of older ACT versions, and the configuration that they make up.

use super::parse::{KeyValue, ParsedKeys};
use super::{Arrivals, Derived, EngineChoice, Model};

/// A key of the configuration.
#[derive(Debug)]
pub struct Key {
    /// As written in a configuration.
    pub name: &'static str,
    /// Whether the values of several lines add up.
    pub(crate) is_list: bool,
    /// Returns what is expected instead of a value, or None if it is valid.
    pub(crate) objection: fn(&str) -> Option<String>,
    /// The only model that uses the key, or None for both.
    pub(crate) model: Option<Model>,
    /// Accepted values.
    pub values: &'static str,
    /// Default value; None if the key is mandatory.
    pub default: Option<&'static str>,
    /// Effect.
    pub description: &'static str,
}

impl Key {
    /// Returns the loads that use the key: `storage`, `index` or both.
    pub fn loads(&self) -> &'static str {
        self.model.map_or("storage, index", Model::name)
    }
}

const BOTH: Option<Model> = None;
const STORAGE: Option<Model> = Some(Model::Storage);
const INDEX: Option<Model> = Some(Model::Index);

/// Declares the keys. Parser, configuration, `drivetest keys` and the manual use this one table: field and type in the
/// configuration, name, models, accepted values, default, effect.
macro_rules! keys {
    ($($field:ident: $type:ty, $name:literal, $model:expr, $values:literal, $default:expr, $effect:literal;)*) => {
        /// All keys: ACT's in the order of its header, then ours.
        /// Source: act_storage and act_index 6.6, src/storage/cfg_storage.c and src/index/cfg_index.c.
        pub const KEYS: &[Key] = &[$(Key {
            name: $name,
            is_list: <$type>::IS_LIST,
            objection: |value| <$type>::parse(value).err(),
            model: $model,
            values: $values,
            default: $default,
            description: $effect,
        },)*];

        /// A checked configuration with all defaults. Rates are for all devices together.
        #[derive(Debug, Clone)]
        pub struct Config {
            /// The ACT program that is reproduced. Keys of the other program have their defaults.
            pub model: Model,
            /// Whether `service_threads` is derived from the number of CPUs.
            pub is_service_threads_default: bool,
            /// Values derived from the keys.
            pub derived: Derived,
            $(#[doc = $effect] pub $field: $type,)*
        }

        impl Config {
            /// Returns the given values, with the defaults of the other keys. Neither checked nor derived yet.
            pub(super) fn with_defaults(model: Model, parsed: &ParsedKeys) -> Self {
                Self {
                    model,
                    is_service_threads_default: false,
                    derived: Derived::default(),
                    $($field: parsed.value($name, $default),)*
                }
            }

            /// Returns the value of every key, in the order of [`KEYS`].
            pub(super) fn values(&self) -> Vec<String> {
                vec![$(self.$field.text()),*]
            }
        }
    };
}

keys! {
    device_names: Vec<String>, "device-names", BOTH, "1 to 128 paths, separated by commas, semicolons or spaces", None,
        "Paths of the devices to load; device-names may be repeated.";
    file_size_mib: u32, "file-size-mbytes", BOTH, "0 or a size in MiB", Some("0"),
        "Size of the plain files to use as devices; 0 for block devices.";
    service_threads: u32, "service-threads", BOTH, "0 to 16384", Some("5 for each CPU"),
        "Number of threads for record requests in the threads engine, and burst size of lockstep arrivals; 0 means \
         the default. The io_uring engine does not use service-threads.";
    cache_threads: u32, "cache-threads", INDEX, "1 to 16384", Some("8"),
        "Number of cache threads, which write index pages and read pages for defragmentation.";
    duration_s: u32, "test-duration-sec", BOTH, "1 and more", None,
        "Duration of the load in seconds.";
    report_interval_s: u32, "report-interval-sec", BOTH, "1 and more", Some("1"),
        "Time between two blocks of histograms in the log, in seconds.";
    is_microseconds: bool, "microsecond-histograms", BOTH, "yes or no", Some("no"),
        "Use histogram buckets in microseconds instead of milliseconds.";
    reads_per_s: u32, "read-reqs-per-sec", BOTH, "0 and more", Some("0"),
        "Client reads per second, for all devices together.";
    writes_per_s: u32, "write-reqs-per-sec", BOTH, "0 and more", Some("0"),
        "Client writes per second, for all devices together. Client writes reach the devices in large blocks, and \
         defragmentation reads and writes more large blocks. read-reqs-per-sec or write-reqs-per-sec must be above 0.";
    record_bytes: u32, "record-bytes", STORAGE, "1 to 8388608", Some("1536"),
        "Size of a record in bytes.";
    record_bytes_range_max: u32, "record-bytes-range-max", STORAGE, "0, or more than record-bytes up to 8388608", Some("0"),
        "Maximum size of a record in bytes: records have all sizes from record-bytes to record-bytes-range-max; 0 means \
         that all records have the size record-bytes.";
    large_block_kib: u32, "large-block-op-kbytes", STORAGE, "a power of two, 1 to 8192", Some("128"),
        "Size of a large block in KiB.";
    replication_factor: u32, "replication-factor", BOTH, "1 to 256", Some("1"),
        "Number of times that each client write is executed.";
    update_pct: u32, "update-pct", STORAGE, "0 to 100", Some("0"),
        "Percentage of client writes that read their record first.";
    defrag_lwm_pct: u32, "defrag-lwm-pct", BOTH, "0 to 99", Some("50"),
        "Percentage of a large block in use below which the block is defragmented; the rates of large blocks depend on \
         defrag-lwm-pct.";
    has_no_defrag_reads: bool, "no-defrag-reads", STORAGE, "yes or no", Some("no"),
        "Let defragmentation read from memory, so that large blocks are only written.";
    compress_pct: u32, "compress-pct", STORAGE, "0 to 100", Some("100"),
        "Percentage of the written data that is random; the rest is zeros.";
    is_odsync_disabled: bool, "disable-odsync", BOTH, "yes or no", Some("no"),
        "Write without O_DSYNC, so that a drive may buffer writes.";
    is_commit_to_device: bool, "commit-to-device", STORAGE, "yes or no", Some("no"),
        "Write each record individually and immediately, not in large blocks.";
    commit_min_bytes: u32, "commit-min-bytes", STORAGE, "0, or a power of two up to a large block", Some("0"),
        "Unit of record writes with commit-to-device, in bytes; 0 means the smallest unit of the device. Only ACT 6.0 to \
         6.3 has commit-min-bytes.";
    has_tomb_raider: bool, "tomb-raider", STORAGE, "yes or no", Some("no"),
        "Also read each device from start to end, repeatedly.";
    tomb_raider_sleep_us: u32, "tomb-raider-sleep-usec", STORAGE, "0 and more", Some("0"),
        "Pause of the tomb raider after each large block, in microseconds.";
    max_lag_s: u32, "max-lag-sec", BOTH, "0 and more", Some("10"),
        "Delay of a request, in seconds, at which the run ends with exit status 4; 0 means no limit.";
    arrivals: Arrivals, "arrivals", BOTH, "even, poisson or lockstep", Some("even"),
        "Distribution of requests over time: evenly spaced, random at the same rate, or in bursts of service-threads \
         like ACT 6. ACT has no key arrivals.";
    coalesce_us: u32, "coalesce-us", BOTH, "0 to 1000", Some("0"),
        "Time within which due requests are submitted together, in microseconds: it saves processor time and delays \
         requests by up to coalesce-us; 0 submits each request when it is due. ACT has no key coalesce-us.";
    engine: EngineChoice, "engine", BOTH, "auto, io_uring or threads", Some("auto"),
        "Engine that sends requests to the devices; auto tests which engine suits the devices, and the log shows the \
         result. ACT has no key engine.";
    workers: u32, "workers", BOTH, "0 to 64", Some("0"),
        "Number of rings of the io_uring engine; 0 selects the number from rate and CPUs. ACT has no key workers.";
    max_errors: u32, "max-errors", BOTH, "0 and more", Some("1"),
        "Number of failed requests after which the run ends with exit status 3; 0 means no limit. ACT has no key \
         max-errors.";
    temperature_limit_c: u32, "temperature-limit-c", BOTH, "0 to 150", Some("0"),
        "Temperature in degrees C above which drivetest warns about a hot drive; 0 means the drive's own limit. ACT has \
         no key temperature-limit-c.";
}

/// Keys of older ACT versions that are ignored, with the reason.
pub(crate) const RETIRED: &[(&str, &str)] = &[
    (
        "queue-per-device",
        "there are no request queues since ACT 6.0: a request goes to its device at its due time",
    ),
    (
        "num-queues",
        "there are no request queues since ACT 6.0: a request goes to its device at its due time",
    ),
    (
        "threads-per-queue",
        "there are no request queues since ACT 6.0; service-threads sets the threads, and io_uring needs none",
    ),
    (
        "num-cache-threads",
        "it is called cache-threads since ACT 5.1; give that key to set their number",
    ),
    (
        "max-reqs-queued",
        "there are no request queues since ACT 6.0; max-lag-sec ends a run that falls behind",
    ),
    (
        "scheduler-mode",
        "no I/O scheduler is set, as in ACT since 6.5; set it on the host; identify shows which one is in use",
    ),
    (
        "large-block-ops-per-sec",
        "the rate of large blocks follows from write-reqs-per-sec, record-bytes and defrag-lwm-pct since ACT 3.0",
    ),
    (
        "read-req-num-512-blocks",
        "the size of a read follows from record-bytes since ACT 3.0",
    ),
    (
        "use-valloc",
        "memory is always aligned as direct I/O needs it since ACT 3.1",
    ),
    (
        "num-write-buffers",
        "every write carries data of its own since ACT 3.0",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Names are those of the parser, and numbers end where its ranges end.
    #[test]
    fn documented_values_are_the_accepted_ones() {
        for key in KEYS {
            match (key.objection)("?") {
                None => assert!(key.is_list, "{}", key.name),
                Some(expected) if expected.contains("number") => {
                    assert_end_of_range(key.name, key.model, key.values);
                }
                Some(expected) => assert!(
                    expected.split(", ").all(|word| key.values.contains(word)),
                    "{}",
                    key.name
                ),
            }
        }
    }

    /// "A to B" accepts B and rejects B + 1.
    fn assert_end_of_range(name: &str, model: Option<Model>, values: &str) {
        let Some(most) = values
            .rsplit_once(" to ")
            .and_then(|(_, most)| most.parse::<u64>().ok())
        else {
            return;
        };
        let message = |value: u64| {
            let others = "device-names: /dev/a\ntest-duration-sec: 1\nread-reqs-per-sec: 1\n";
            let text = format!("{others}{name}: {value}");
            let read = Config::read_of(model.unwrap_or(Model::Storage), &text, 1);
            read.err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert!(!message(most).starts_with(name), "{name}: {}", message(most));
        assert!(message(most + 1).contains(name), "{name} takes {}", most + 1);
    }
}
