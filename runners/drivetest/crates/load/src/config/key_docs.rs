//! Documentation of the configuration keys, for `drivetest keys` and the manual.

/// Documentation of one key.
#[derive(Debug, Clone, Copy)]
pub struct KeyDoc {
    /// As written in a configuration.
    pub name: &'static str,
    /// The loads that use it: `storage`, `index` or both.
    pub loads: &'static str,
    /// Accepted values.
    pub values: &'static str,
    /// Default value; None if the key is mandatory.
    pub default: Option<&'static str>,
    /// Effect.
    pub meaning: &'static str,
}

const BOTH: &str = "storage, index";
const STORAGE: &str = "storage";
const INDEX: &str = "index";

const fn key(
    name: &'static str,
    loads: &'static str,
    values: &'static str,
    default: Option<&'static str>,
    meaning: &'static str,
) -> KeyDoc {
    KeyDoc {
        name,
        loads,
        values,
        default,
        meaning,
    }
}

/// All keys: ACT's first, in the order of its header.
/// Source: act_storage and act_index 6.6, src/storage/cfg_storage.c and src/index/cfg_index.c.
pub const KEY_DOCS: &[KeyDoc] = &[
    key(
        "device-names",
        BOTH,
        "1 to 128 paths, separated by commas, semicolons or spaces",
        None,
        "Devices to load. The key may be repeated.",
    ),
    key(
        "file-size-mbytes",
        BOTH,
        "0 or a size in MiB",
        Some("0"),
        "Size of the plain files to use as devices; 0 for block devices.",
    ),
    key(
        "service-threads",
        BOTH,
        "0 to 16384",
        Some("5 for each CPU"),
        "Number of threads for record requests in the threads engine, and burst size of lockstep arrivals; 0 means the \
         default. The io_uring engine does not use it.",
    ),
    key(
        "cache-threads",
        INDEX,
        "1 to 16384",
        Some("8"),
        "Number of cache threads, which write index pages and read pages for defragmentation.",
    ),
    key(
        "test-duration-sec",
        BOTH,
        "1 and more",
        None,
        "Duration of the load.",
    ),
    key(
        "report-interval-sec",
        BOTH,
        "1 and more",
        Some("1"),
        "Time between two blocks of histograms.",
    ),
    key(
        "microsecond-histograms",
        BOTH,
        "yes or no",
        Some("no"),
        "Use buckets in microseconds instead of milliseconds.",
    ),
    key(
        "read-reqs-per-sec",
        BOTH,
        "0 and more",
        Some("0"),
        "Client reads per second, for all devices together.",
    ),
    key(
        "write-reqs-per-sec",
        BOTH,
        "0 and more",
        Some("0"),
        "Client writes per second, for all devices together. They reach the devices in large blocks and cause \
         defragmentation, which reads and writes more of them. At least one of the two rates must be above 0.",
    ),
    key(
        "record-bytes",
        STORAGE,
        "1 to 8388608",
        Some("1536"),
        "Size of a record.",
    ),
    key(
        "record-bytes-range-max",
        STORAGE,
        "0, or more than record-bytes up to 8388608",
        Some("0"),
        "Maximum record size: records have all sizes from record-bytes to this; 0 for a single size.",
    ),
    key(
        "large-block-op-kbytes",
        STORAGE,
        "a power of two, 1 to 8192",
        Some("128"),
        "Size of a large block in KiB.",
    ),
    key(
        "replication-factor",
        BOTH,
        "1 to 256",
        Some("1"),
        "Number of times each write is executed.",
    ),
    key(
        "update-pct",
        STORAGE,
        "0 to 100",
        Some("0"),
        "Percentage of writes that read their record first.",
    ),
    key(
        "defrag-lwm-pct",
        BOTH,
        "0 to 99",
        Some("50"),
        "Blocks with a lower percentage in use are defragmented. The rates of large blocks depend on it.",
    ),
    key(
        "no-defrag-reads",
        STORAGE,
        "yes or no",
        Some("no"),
        "Let defragmentation read from memory, so that large blocks are only written.",
    ),
    key(
        "compress-pct",
        STORAGE,
        "0 to 100",
        Some("100"),
        "Percentage of the written data that is random; the rest is zeros.",
    ),
    key(
        "disable-odsync",
        BOTH,
        "yes or no",
        Some("no"),
        "Write without O_DSYNC.",
    ),
    key(
        "commit-to-device",
        STORAGE,
        "yes or no",
        Some("no"),
        "Write each record individually and immediately.",
    ),
    key(
        "commit-min-bytes",
        STORAGE,
        "0, or a power of two up to a large block",
        Some("0"),
        "Unit of record writes with commit-to-device; 0 for the smallest unit of the device. A key of ACT 6.0 to \
         6.3.",
    ),
    key(
        "tomb-raider",
        STORAGE,
        "yes or no",
        Some("no"),
        "Also read each device from start to end, repeatedly.",
    ),
    key(
        "tomb-raider-sleep-usec",
        STORAGE,
        "0 and more",
        Some("0"),
        "Pause of the tomb raider after each large block, in microseconds.",
    ),
    key(
        "max-lag-sec",
        BOTH,
        "0 and more",
        Some("10"),
        "End the run (exit status 4) if a request is this late; 0 for no limit.",
    ),
    key(
        "arrivals",
        BOTH,
        "even, poisson or lockstep",
        Some("even"),
        "Distribution of requests over time: evenly spaced, random at the same rate, or in bursts of service-threads \
         like ACT 6. Not a key of ACT.",
    ),
    key(
        "engine",
        BOTH,
        "auto, io_uring or threads",
        Some("auto"),
        "How requests are sent to the devices. auto tests which engine suits them; the log shows the result. Not a key of ACT.",
    ),
    key(
        "workers",
        BOTH,
        "0 to 64",
        Some("0"),
        "Number of rings of the io_uring engine; 0 selects it from rate and CPUs. Not a key of ACT.",
    ),
    key(
        "max-errors",
        BOTH,
        "0 and more",
        Some("1"),
        "End the run (exit status 3) after this many failed requests; 0 for no limit. Not a key of ACT.",
    ),
    key(
        "temperature-limit-c",
        BOTH,
        "0 to 150",
        Some("0"),
        "Warn if a drive is hotter than this, in degrees C; 0 for the drive's own limit. Not a key of ACT.",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::keys::{KEYS, Kind};
    use super::super::{Config, Model};
    use super::*;

    #[test]
    fn every_key_is_documented_in_order() {
        let known: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        let documented: Vec<_> = KEY_DOCS.iter().map(|key| key.name).collect();
        assert_eq!(documented, known);
    }

    #[test]
    fn the_loads_of_a_key_are_those_of_its_parser() {
        for (key, documented) in KEYS.iter().zip(KEY_DOCS) {
            assert_eq!(
                documented.loads,
                key.model.map_or(BOTH, Model::name),
                "{}",
                key.name
            );
        }
    }

    /// Names are those of the parser, and numbers end where its ranges end.
    #[test]
    fn documented_values_are_the_accepted_ones() {
        for (key, documented) in KEYS.iter().zip(KEY_DOCS) {
            match key.kind {
                Kind::Switch => assert_eq!(documented.values, "yes or no", "{}", key.name),
                Kind::Keyword(words) => assert!(
                    words().iter().all(|word| documented.values.contains(word)),
                    "{}",
                    key.name
                ),
                Kind::Number => assert_end_of_range(key.name, key.model, documented.values),
                Kind::Names => {}
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
