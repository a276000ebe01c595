//! What each key of a configuration means, for `drivetest keys` and the manual.

/// One key, for people.
#[derive(Debug, Clone, Copy)]
pub struct KeyDoc {
    /// As it is written.
    pub name: &'static str,
    /// The loads that it means something to: `storage`, `index` or both.
    pub loads: &'static str,
    /// The values that it takes.
    pub values: &'static str,
    /// What stands in for it; None where it must be given.
    pub default: Option<&'static str>,
    /// What it does.
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

/// Every key, ACT's first, in the order of its header.
/// Source: act_storage and act_index 6.6, src/storage/cfg_storage.c and src/index/cfg_index.c.
pub const KEY_DOCS: &[KeyDoc] = &[
    key(
        "device-names",
        BOTH,
        "1 to 128 paths, separated by commas, semicolons or blanks",
        None,
        "The devices under load. May be given several times.",
    ),
    key(
        "file-size-mbytes",
        BOTH,
        "0 or a size in MiB",
        Some("0"),
        "Size of the plain files that stand for devices; 0 when the devices are block devices.",
    ),
    key(
        "service-threads",
        BOTH,
        "0 to 16384",
        Some("5 for each CPU"),
        "Threads that carry out record requests in the threads engine, and the size of a burst of lockstep arrivals; 0 is the \
         default. The io_uring engine does not depend on it.",
    ),
    key(
        "cache-threads",
        INDEX,
        "1 to 16384",
        Some("8"),
        "Threads of the index's cache, which write pages and read those that defragmentation needs.",
    ),
    key(
        "test-duration-sec",
        BOTH,
        "1 and more",
        None,
        "How long the load runs.",
    ),
    key(
        "report-interval-sec",
        BOTH,
        "1 and more",
        Some("1"),
        "Time from one block of histograms to the next.",
    ),
    key(
        "microsecond-histograms",
        BOTH,
        "yes or no",
        Some("no"),
        "Buckets in microseconds; otherwise in milliseconds.",
    ),
    key(
        "read-reqs-per-sec",
        BOTH,
        "0 and more",
        Some("0"),
        "Reads that clients ask for, on all devices together.",
    ),
    key(
        "write-reqs-per-sec",
        BOTH,
        "0 and more",
        Some("0"),
        "Writes that clients ask for, on all devices together; they reach the devices in large blocks, and make \
         defragmentation read and write more of them. Not both rates may be 0.",
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
        "Records are of all sizes from record-bytes to this; 0 for one size.",
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
        "How many times each write is carried out.",
    ),
    key(
        "update-pct",
        STORAGE,
        "0 to 100",
        Some("0"),
        "Share of the writes that read their record first.",
    ),
    key(
        "defrag-lwm-pct",
        BOTH,
        "0 to 99",
        Some("50"),
        "A block that is used less than this is defragmented; the rates of large blocks follow from it.",
    ),
    key(
        "no-defrag-reads",
        STORAGE,
        "yes or no",
        Some("no"),
        "Defragmentation reads from memory: large blocks are only written.",
    ),
    key(
        "compress-pct",
        STORAGE,
        "0 to 100",
        Some("100"),
        "How much of what is written is random, the rest being zeros.",
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
        "Write each record by itself, at once.",
    ),
    key(
        "commit-min-bytes",
        STORAGE,
        "0, or a power of two up to a large block",
        Some("0"),
        "Records are written in multiples of this with commit-to-device; 0 for the least that the device takes. A key of ACT up \
         to 6.3.",
    ),
    key(
        "tomb-raider",
        STORAGE,
        "yes or no",
        Some("no"),
        "Read each device from end to end besides.",
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
        "A request this late ends the run (exit status 4); 0 never ends it.",
    ),
    key(
        "arrivals",
        BOTH,
        "even, poisson or lockstep",
        Some("even"),
        "How requests are spread over time: evenly, at random at the same rate, or in bursts of service-threads as ACT 6 \
         does. Not a key of ACT.",
    ),
    key(
        "engine",
        BOTH,
        "auto, io_uring or threads",
        Some("auto"),
        "How requests reach the devices; auto tries which suits them, and the log says which it took. Not a key of ACT.",
    ),
    key(
        "workers",
        BOTH,
        "0 to 64",
        Some("0"),
        "Rings of the io_uring engine; 0 chooses from rate and CPUs. Not a key of ACT.",
    ),
    key(
        "max-errors",
        BOTH,
        "0 and more",
        Some("1"),
        "After this many failed requests the run ends (exit status 3); 0 never ends it. Not a key of ACT.",
    ),
    key(
        "temperature-limit-c",
        BOTH,
        "0 to 150",
        Some("0"),
        "Warn when a drive is hotter than this, in degrees C; 0 takes the limit that the drive tells of itself. Not a key \
         of ACT.",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::keys::{KEYS, Kind};
    use super::super::{Config, Model};
    use super::*;

    #[test]
    fn every_key_is_told_in_its_place() {
        let known: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        let told: Vec<_> = KEY_DOCS.iter().map(|key| key.name).collect();
        assert_eq!(told, known);
    }

    #[test]
    fn every_key_tells_its_loads() {
        for (key, told) in KEYS.iter().zip(KEY_DOCS) {
            assert_eq!(told.loads, key.model.map_or(BOTH, Model::name), "{}", key.name);
        }
    }

    /// The words are those of the registry, the numbers end where the reader's ranges end.
    #[test]
    fn the_values_told_are_those_that_are_taken() {
        for (key, told) in KEYS.iter().zip(KEY_DOCS) {
            match key.kind {
                Kind::Switch => assert_eq!(told.values, "yes or no", "{}", key.name),
                Kind::Keyword(words) => assert!(
                    words().iter().all(|word| told.values.contains(word)),
                    "{}",
                    key.name
                ),
                Kind::Number => ends_where_told(key.name, key.model, told.values),
                Kind::Names => {}
            }
        }
    }

    /// "A to B" takes B and not B + 1.
    fn ends_where_told(name: &str, model: Option<Model>, values: &str) {
        let Some(most) = values
            .rsplit_once(" to ")
            .and_then(|(_, most)| most.parse::<u64>().ok())
        else {
            return;
        };
        let complaint = |value: u64| {
            let others = "device-names: /dev/a\ntest-duration-sec: 1\nread-reqs-per-sec: 1\n";
            let text = format!("{others}{name}: {value}");
            let read = Config::read_of(model.unwrap_or(Model::Storage), &text, 1);
            read.err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert!(!complaint(most).starts_with(name), "{name}: {}", complaint(most));
        assert!(complaint(most + 1).contains(name), "{name} takes {}", most + 1);
    }
}
