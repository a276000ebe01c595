//! Requested operations per second of each histogram, from the header.

use crate::act::header::settings;

/// Function that returns the value of a header key, configured or derived.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<&'a str>;

/// Operations that a cache thread of `act_index` issues at once.
///
/// Source: aerospike/act 6.6, src/index/act_index.c, BUNDLE_SIZE.
const CACHE_BUNDLE: f64 = 100.0;

/// Allowed standard deviations of a random count from its mean: one in 10^9 counts deviates more.
const DEVIATIONS: f64 = 6.0;

/// Requested rate of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RequestRate {
    /// Operations per second.
    pub per_s: f64,
    /// Operations that arrive together, and may be before or after a dump.
    pub burst: f64,
    /// Whether reads and writes are chosen at random, so each rate alone is not even.
    pub is_drawn: bool,
}

impl RequestRate {
    /// Return the operations due in a number of seconds.
    pub fn due(self, seconds: u64) -> f64 {
        self.per_s * seconds as f64
    }

    /// Return the normal deviation of a count from the due operations.
    pub fn slack(self, due: f64) -> f64 {
        let of_chance = if self.is_drawn {
            DEVIATIONS * due.sqrt()
        } else {
            0.0
        };
        self.burst + of_chance
    }
}

/// Program that issues the requests, and how they arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// A program of ACT.
    #[default]
    Act,
    /// drivetest, with exact rates.
    Exact,
    /// drivetest, with random arrivals.
    Random,
}

impl Pacing {
    /// Return the pacing for the arrivals in a header of drivetest; `None` is a header of ACT.
    pub fn of(arrivals: Option<&str>) -> Self {
        match arrivals {
            None => Self::Act,
            Some("poisson") => Self::Random,
            Some(_) => Self::Exact,
        }
    }
}

/// Return the requested rate of the histogram with a name.
///
/// `None` if the header does not state it, and for histograms of one device.
///
/// Source: aerospike/act, act.c, src/storage/cfg_storage.c and src/index/cfg_index.c (derived configuration).
pub fn request_rate(name: &str, value: Lookup<'_>, pacing: Pacing) -> Option<RequestRate> {
    let cache = first(value, &["cache-thread-reads-and-writes-per-sec"]);
    let per_s = match cache {
        Some(cache) => of_index(name, value, cache / cache_divisor(value, pacing)?),
        None => of_storage(name, value),
    };
    let has_writes = || of_storage("writes", value).is_some_and(|writes| writes > 0.0);
    Some(RequestRate {
        per_s: per_s.filter(|&per_s| per_s > 0.0)?,
        burst: burst(value, cache.is_some()),
        is_drawn: match pacing {
            Pacing::Act => cache.is_none() && has_writes(),
            Pacing::Exact => false,
            Pacing::Random => true,
        },
    })
}

/// Return the maximum number of requests in flight; `None` if the header does not state it.
pub fn threads(value: Lookup<'_>) -> Option<u64> {
    let number = |key| value(key).and_then(settings::whole);
    let service = match (number("num-queues"), number("threads-per-queue")) {
        (Some(queues), Some(threads)) => queues.checked_mul(threads),
        _ => number("service-threads"),
    };
    let threads = service?.checked_add(number("cache-threads").unwrap_or(0))?;
    (threads > 0).then_some(threads)
}

/// Return the divisor of the cache load: ACT divides it by the devices, although the header states the total.
///
/// Source: aerospike/act 5.0 to 6.6, src/index/act_index.c, run_cache_simulation(): `target_factor`.
fn cache_divisor(value: Lookup<'_>, pacing: Pacing) -> Option<f64> {
    match pacing {
        Pacing::Act => first(value, &["num-devices"]).filter(|&devices| devices >= 1.0),
        Pacing::Exact | Pacing::Random => Some(1.0),
    }
}

fn of_index(name: &str, value: Lookup<'_>, cache: f64) -> Option<f64> {
    let keys = ["service-thread-reads-per-sec", "trans-thread-reads-per-sec"];
    let service = first(value, &keys)?;
    match name {
        "reads" => Some(service + cache),
        "trans-reads" => Some(service),
        "writes" | "device-writes" => Some(cache),
        _ => None,
    }
}

fn of_storage(name: &str, value: Lookup<'_>) -> Option<f64> {
    let keys: &[&str] = match name {
        "reads" | "READS" => &[
            "internal-read-reqs-per-sec",
            "internal read requests per sec",
            "read-reqs-per-sec",
        ],
        "writes" | "WRITES" => &["internal-write-reqs-per-sec", "internal write requests per sec"],
        "large-block-reads" | "LARGE BLOCK READS" => &[
            "large-block-reads-per-sec",
            "large block reads per sec",
            "large block ops per sec",
            "large-block-ops-per-sec",
        ],
        "large-block-writes" | "LARGE BLOCK WRITES" => &[
            "large-block-writes-per-sec",
            "large block writes per sec",
            "large block ops per sec",
            "large-block-ops-per-sec",
        ],
        _ => return None,
    };
    first(value, keys)
}

/// Return the operations that arrive together: all threads issue at once, and each device has a large-block thread.
fn burst(value: Lookup<'_>, is_index: bool) -> f64 {
    let together = threads(value).unwrap_or(0) as f64 + first(value, &["num-devices"]).unwrap_or(0.0);
    let cache = first(value, &["cache-threads"]).unwrap_or(8.0);
    together + if is_index { cache * CACHE_BUNDLE } else { 0.0 }
}

fn first(value: Lookup<'_>, keys: &[&str]) -> Option<f64> {
    let (key, text) = keys.iter().find_map(|key| Some((key, value(key)?)))?;
    settings::decimal(key, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORAGE: &[(&str, &str)] = &[
        ("num-devices", "2"),
        ("service-threads", "10"),
        ("internal-read-reqs-per-sec", "2500"),
        ("internal-write-reqs-per-sec", "0"),
        ("large-block-reads-per-sec", "23.53"),
    ];

    fn of(name: &str, header: &[(&str, &'static str)]) -> Option<RequestRate> {
        paced(name, header, Pacing::Act)
    }

    fn paced(name: &str, header: &[(&str, &'static str)], pacing: Pacing) -> Option<RequestRate> {
        let found = |key: &str| {
            header
                .iter()
                .find(|(known, _)| *known == key)
                .map(|(_, value)| *value)
        };
        request_rate(name, &found, pacing)
    }

    #[test]
    fn derived_rates_are_used() {
        assert_eq!(of("reads", STORAGE).unwrap().per_s, 2500.0);
        assert_eq!(of("large-block-reads", STORAGE).unwrap().per_s, 23.53);
        assert_eq!(of("reads", STORAGE).unwrap().burst, 12.0);
    }

    #[test]
    fn an_operation_that_is_not_requested_has_no_rate() {
        assert_eq!(of("writes", STORAGE), None, "none are requested");
        assert_eq!(
            of("large-block-writes", STORAGE),
            None,
            "the header does not state it"
        );
        assert_eq!(of("/dev/a-reads", STORAGE), None);
    }

    #[test]
    fn a_rate_that_cannot_be_read_is_not_used() {
        let request_rate =
            |rate| of("reads", &[("read-reqs-per-sec", rate)]).map(|request_rate| request_rate.per_s);
        assert_eq!(request_rate("2000"), Some(2000.0));
        assert_eq!(request_rate("20000000000000000000000"), None, "23 digits");
        assert_eq!(request_rate("2000.5"), None, "it is reported as unreadable");
        assert_eq!(of("reads", &[("internal-read-reqs-per-sec", "1e300")]), None);
    }

    #[test]
    fn reads_of_an_index_are_of_both_kinds_of_threads() {
        let header = [
            ("num-devices", "4"),
            ("service-thread-reads-per-sec", "3000"),
            ("cache-thread-reads-and-writes-per-sec", "2000"),
        ];
        assert_eq!(
            of("reads", &header).unwrap().per_s,
            3500.0,
            "a quarter of the cache's"
        );
        assert_eq!(of("writes", &header).unwrap().per_s, 500.0);
        assert_eq!(
            of("reads", &header).unwrap().burst,
            804.0,
            "4 devices, and 8 cache threads, 100 at a time"
        );
    }

    #[test]
    fn drivetest_issues_the_rates_of_the_header_of_an_index() {
        let header = [
            ("num-devices", "4"),
            ("service-thread-reads-per-sec", "3000"),
            ("cache-thread-reads-and-writes-per-sec", "2000"),
        ];
        for arrivals in ["even", "poisson", "lockstep"] {
            let reads = paced("reads", &header, Pacing::of(Some(arrivals))).unwrap();
            assert_eq!(
                (reads.per_s, reads.is_drawn),
                (5000.0, arrivals == "poisson"),
                "{arrivals}"
            );
        }
        assert_eq!(Pacing::of(None), Pacing::Act);
    }

    #[test]
    fn reads_among_writes_are_drawn() {
        let header = [
            ("internal-read-reqs-per-sec", "2000"),
            ("internal-write-reqs-per-sec", "1000"),
        ];
        let reads = of("reads", &header).unwrap();
        assert!(reads.is_drawn);
        assert_eq!(reads.slack(2500.0), 300.0, "six times the root of 2500");
    }

    #[test]
    fn threads_are_those_that_take_requests() {
        let service = |key: &str| (key == "service-threads").then_some("10");
        assert_eq!(threads(&service), Some(10));
        let queues = |key: &str| match key {
            "num-queues" => Some("2"),
            "threads-per-queue" => Some("4"),
            "service-threads" => Some("1"),
            _ => None,
        };
        assert_eq!(threads(&queues), Some(8));
        assert_eq!(threads(&|_| None), None);
    }
}
