//! All keys, with the type of their value and their model.

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

/// A key.
#[derive(Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// None if both models use it.
    pub model: Option<Model>,
}

const fn both(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        model: None,
    }
}

const fn of(model: Model, name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        model: Some(model),
    }
}

pub(crate) const DEVICE_NAMES: &str = "device-names";

/// All keys: ACT's in the order of its header, then ours.
/// Source: src/storage/cfg_storage.c and src/index/cfg_index.c, the tags.
pub(crate) const KEYS: &[Key] = &[
    both(DEVICE_NAMES, Kind::Names),
    both("file-size-mbytes", Kind::Number),
    both("service-threads", Kind::Number),
    of(Model::Index, "cache-threads", Kind::Number),
    both("test-duration-sec", Kind::Number),
    both("report-interval-sec", Kind::Number),
    both("microsecond-histograms", Kind::Switch),
    both("read-reqs-per-sec", Kind::Number),
    both("write-reqs-per-sec", Kind::Number),
    of(Model::Storage, "record-bytes", Kind::Number),
    of(Model::Storage, "record-bytes-range-max", Kind::Number),
    of(Model::Storage, "large-block-op-kbytes", Kind::Number),
    both("replication-factor", Kind::Number),
    of(Model::Storage, "update-pct", Kind::Number),
    both("defrag-lwm-pct", Kind::Number),
    of(Model::Storage, "no-defrag-reads", Kind::Switch),
    of(Model::Storage, "compress-pct", Kind::Number),
    both("disable-odsync", Kind::Switch),
    of(Model::Storage, "commit-to-device", Kind::Switch),
    of(Model::Storage, "commit-min-bytes", Kind::Number),
    of(Model::Storage, "tomb-raider", Kind::Switch),
    of(Model::Storage, "tomb-raider-sleep-usec", Kind::Number),
    both("max-lag-sec", Kind::Number),
    both("arrivals", Kind::Keyword(names::<Arrivals>)),
    both("engine", Kind::Keyword(names::<EngineChoice>)),
    both("workers", Kind::Number),
    both("max-errors", Kind::Number),
    both("temperature-limit-c", Kind::Number),
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
