//! The table of all keys: type, model, accepted values, default and description.

use super::enums::{Arrivals, EngineChoice, KeywordEnum, Model};

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Names. Several lines add up.
    Names,
    /// A whole number.
    Number,
    /// `yes` or `no`.
    Switch,
    /// One of these names.
    Keyword(fn() -> Vec<&'static str>),
}

/// A key of the configuration. The parser, `drivetest keys` and the manual use the same table.
#[derive(Debug)]
pub struct Key {
    /// As written in a configuration.
    pub name: &'static str,
    pub(crate) kind: Kind,
    /// None if both models use it.
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

/// All keys: ACT's in the order of its header, then ours.
/// Source: act_storage and act_index 6.6, src/storage/cfg_storage.c and src/index/cfg_index.c.
pub const KEYS: &[Key] = &[
    Key {
        name: "device-names",
        kind: Kind::Names,
        model: None,
        values: "1 to 128 paths, separated by commas, semicolons or spaces",
        default: None,
        description: "Devices to load. The key may be repeated.",
    },
    Key {
        name: "file-size-mbytes",
        kind: Kind::Number,
        model: None,
        values: "0 or a size in MiB",
        default: Some("0"),
        description: "Size of the plain files to use as devices; 0 for block devices.",
    },
    Key {
        name: "service-threads",
        kind: Kind::Number,
        model: None,
        values: "0 to 16384",
        default: Some("5 for each CPU"),
        description: "Number of threads for record requests in the threads engine, and burst size of lockstep arrivals; 0 means the \
         default. The io_uring engine does not use it.",
    },
    Key {
        name: "cache-threads",
        kind: Kind::Number,
        model: Some(Model::Index),
        values: "1 to 16384",
        default: Some("8"),
        description: "Number of cache threads, which write index pages and read pages for defragmentation.",
    },
    Key {
        name: "test-duration-sec",
        kind: Kind::Number,
        model: None,
        values: "1 and more",
        default: None,
        description: "Duration of the load.",
    },
    Key {
        name: "report-interval-sec",
        kind: Kind::Number,
        model: None,
        values: "1 and more",
        default: Some("1"),
        description: "Time between two blocks of histograms.",
    },
    Key {
        name: "microsecond-histograms",
        kind: Kind::Switch,
        model: None,
        values: "yes or no",
        default: Some("no"),
        description: "Use buckets in microseconds instead of milliseconds.",
    },
    Key {
        name: "read-reqs-per-sec",
        kind: Kind::Number,
        model: None,
        values: "0 and more",
        default: Some("0"),
        description: "Client reads per second, for all devices together.",
    },
    Key {
        name: "write-reqs-per-sec",
        kind: Kind::Number,
        model: None,
        values: "0 and more",
        default: Some("0"),
        description: "Client writes per second, for all devices together. They reach the devices in large blocks and cause \
         defragmentation, which reads and writes more of them. At least one of the two rates must be above 0.",
    },
    Key {
        name: "record-bytes",
        kind: Kind::Number,
        model: Some(Model::Storage),
        values: "1 to 8388608",
        default: Some("1536"),
        description: "Size of a record.",
    },
    Key {
        name: "record-bytes-range-max",
        kind: Kind::Number,
        model: Some(Model::Storage),
        values: "0, or more than record-bytes up to 8388608",
        default: Some("0"),
        description: "Maximum record size: records have all sizes from record-bytes to this; 0 for a single size.",
    },
    Key {
        name: "large-block-op-kbytes",
        kind: Kind::Number,
        model: Some(Model::Storage),
        values: "a power of two, 1 to 8192",
        default: Some("128"),
        description: "Size of a large block in KiB.",
    },
    Key {
        name: "replication-factor",
        kind: Kind::Number,
        model: None,
        values: "1 to 256",
        default: Some("1"),
        description: "Number of times each write is executed.",
    },
    Key {
        name: "update-pct",
        kind: Kind::Number,
        model: Some(Model::Storage),
        values: "0 to 100",
        default: Some("0"),
        description: "Percentage of writes that read their record first.",
    },
    Key {
        name: "defrag-lwm-pct",
        kind: Kind::Number,
        model: None,
        values: "0 to 99",
        default: Some("50"),
        description: "Blocks with a lower percentage in use are defragmented. The rates of large blocks depend on it.",
    },
    Key {
        name: "no-defrag-reads",
        kind: Kind::Switch,
        model: Some(Model::Storage),
        values: "yes or no",
        default: Some("no"),
        description: "Let defragmentation read from memory, so that large blocks are only written.",
    },
    Key {
        name: "compress-pct",
        kind: Kind::Number,
        model: Some(Model::Storage),
        values: "0 to 100",
        default: Some("100"),
        description: "Percentage of the written data that is random; the rest is zeros.",
    },
    Key {
        name: "disable-odsync",
        kind: Kind::Switch,
        model: None,
        values: "yes or no",
        default: Some("no"),
        description: "Write without O_DSYNC.",
    },
    Key {
        name: "commit-to-device",
        kind: Kind::Switch,
        model: Some(Model::Storage),
        values: "yes or no",
        default: Some("no"),
        description: "Write each record individually and immediately.",
    },
    Key {
        name: "commit-min-bytes",
        kind: Kind::Number,
        model: Some(Model::Storage),
        values: "0, or a power of two up to a large block",
        default: Some("0"),
        description: "Unit of record writes with commit-to-device; 0 for the smallest unit of the device. A key of ACT 6.0 to \
         6.3.",
    },
    Key {
        name: "tomb-raider",
        kind: Kind::Switch,
        model: Some(Model::Storage),
        values: "yes or no",
        default: Some("no"),
        description: "Also read each device from start to end, repeatedly.",
    },
    Key {
        name: "tomb-raider-sleep-usec",
        kind: Kind::Number,
        model: Some(Model::Storage),
        values: "0 and more",
        default: Some("0"),
        description: "Pause of the tomb raider after each large block, in microseconds.",
    },
    Key {
        name: "max-lag-sec",
        kind: Kind::Number,
        model: None,
        values: "0 and more",
        default: Some("10"),
        description: "End the run (exit status 4) if a request is this late; 0 for no limit.",
    },
    Key {
        name: "arrivals",
        kind: Kind::Keyword(names::<Arrivals>),
        model: None,
        values: "even, poisson or lockstep",
        default: Some("even"),
        description: "Distribution of requests over time: evenly spaced, random at the same rate, or in bursts of service-threads \
         like ACT 6. Not a key of ACT.",
    },
    Key {
        name: "engine",
        kind: Kind::Keyword(names::<EngineChoice>),
        model: None,
        values: "auto, io_uring or threads",
        default: Some("auto"),
        description: "How requests are sent to the devices. auto tests which engine suits them; the log shows the result. Not a key of ACT.",
    },
    Key {
        name: "workers",
        kind: Kind::Number,
        model: None,
        values: "0 to 64",
        default: Some("0"),
        description: "Number of rings of the io_uring engine; 0 selects it from rate and CPUs. Not a key of ACT.",
    },
    Key {
        name: "max-errors",
        kind: Kind::Number,
        model: None,
        values: "0 and more",
        default: Some("1"),
        description: "End the run (exit status 3) after this many failed requests; 0 for no limit. Not a key of ACT.",
    },
    Key {
        name: "temperature-limit-c",
        kind: Kind::Number,
        model: None,
        values: "0 to 150",
        default: Some("0"),
        description: "Warn if a drive is hotter than this, in degrees C; 0 for the drive's own limit. Not a key of ACT.",
    },
];

fn names<T: KeywordEnum>() -> Vec<&'static str> {
    T::ALL.iter().map(|(name, _)| *name).collect()
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
            match key.kind {
                Kind::Switch => assert_eq!(key.values, "yes or no", "{}", key.name),
                Kind::Keyword(words) => assert!(
                    words().iter().all(|word| key.values.contains(word)),
                    "{}",
                    key.name
                ),
                Kind::Number => assert_end_of_range(key.name, key.model, key.values),
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
