//! Pacing of requests: one or several generators, in lockstep or even, at whole numbers per second.

use crate::act::grammar::family::{Family, Workload};
use crate::act::header::settings::whole;
use crate::act::header::{Header, Section};

/// Return how reads arrive; `None` before 6.x if the header has no configuration.
///
/// `even`: one generator. `lockstep`: several threads that start together. `bursts`: 1.x and 2.0 above 1000 reads/s,
/// whose generator waits whole milliseconds.
///
/// Source: aerospike/act, act.c, run_add_readreqs() (1.x to 4.0); src/storage/act_storage.c,
/// run_generate_read_reqs() (5.x: from 944dd86 one for each of `read-req-threads`), run_service() (6.x).
pub fn arrivals(header: &Header, family: Option<Family>) -> Option<&str> {
    if let Some(drivetest) = &header.drivetest {
        return Some(&drivetest.arrivals);
    }
    let together = |threads: u64| if threads > 1 { "lockstep" } else { "even" };
    let family = family.filter(|&family| family == Family::C || !header.config.title.is_empty())?;
    match family {
        Family::A if header.config.title == "CIO CONFIGURATION" => {
            let reads_per_s = number(&header.config, "read-reqs-per-sec")?;
            Some(if reads_per_s > 1000 { "bursts" } else { "even" })
        }
        Family::A => Some("even"),
        Family::B => {
            let generators = number(&header.derived, "read-req-threads");
            let threads = generators.or_else(|| number(&header.config, "service-threads"));
            Some(together(threads.unwrap_or(1)))
        }
        Family::C => Some("lockstep"),
    }
}

fn number(section: &Section, key: &str) -> Option<u64> {
    section.value(key).and_then(whole)
}

/// Return the parts of the requested rates that are never issued: each thread gets the same whole number of requests/s.
///
/// Source: aerospike/act 6.6, src/storage/act_storage.c:433, src/index/act_index.c:361; 5.3,
/// src/storage/act_storage.c:491 and 547, src/index/act_index.c:403.
pub fn truncated(header: &Header, family: Family, workload: Workload) -> impl Iterator<Item = String> {
    let derived = &header.derived;
    let service = || number(&header.config, "service-threads");
    let of = |rate: &str, threads: Option<u64>| (number(derived, rate), threads);
    let shares = match (family, workload) {
        _ if header.drivetest.is_some() => Vec::new(),
        (Family::A, _) => Vec::new(),
        (Family::B, Workload::Storage) => {
            let [readers, writers] =
                ["read-req-threads", "write-req-threads"].map(|key| number(derived, key));
            vec![
                of("internal-read-reqs-per-sec", readers),
                of("internal-write-reqs-per-sec", writers),
            ]
        }
        (Family::B, Workload::Index) => vec![of("trans-thread-reads-per-sec", service())],
        (Family::C, Workload::Storage) => vec![(all_requests(derived), service())],
        (Family::C, Workload::Index) => vec![of("service-thread-reads-per-sec", service())],
    };
    shares
        .into_iter()
        .filter_map(|(requested, threads)| lost(requested?, threads?))
}

fn all_requests(derived: &Section) -> Option<u64> {
    number(derived, "internal-read-reqs-per-sec")?
        .checked_add(number(derived, "internal-write-reqs-per-sec")?)
}

fn lost(requested: u64, threads: u64) -> Option<String> {
    let given = requested.checked_div(threads)? * threads;
    (given < requested).then(|| {
        format!(
            "{requested} requests/s are divided among {threads} threads, which issue only {given} requests/s"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_of_a_run_without_configuration_are_not_known() {
        let of = |family| arrivals_of("", &[], &[], family);
        assert_eq!((of(Family::A), of(Family::B)), (None, None));
        assert_eq!(of(Family::C).as_deref(), Some("lockstep"), "6.x knows no other");
    }

    fn arrivals_of(title: &str, config: &[&str], derived: &[&str], family: Family) -> Option<String> {
        let owned = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
        let mut header = Header::new("");
        title.clone_into(&mut header.config.title);
        (header.config.lines, header.derived.lines) = (owned(config), owned(derived));
        arrivals(&header, Some(family)).map(str::to_owned)
    }

    #[test]
    fn arrivals_are_those_of_the_programs_generators() {
        let of = |config: &[&str], derived: &[&str], family| {
            arrivals_of("ACT CONFIGURATION", config, derived, family).unwrap_or_default()
        };
        assert_eq!(of(&[], &[], Family::A), "even");
        assert_eq!(of(&[], &[], Family::B), "even", "5.0: one generator");
        assert_eq!(
            of(&["service-threads: 8"], &["read-req-threads: 1"], Family::B),
            "even"
        );
        assert_eq!(
            of(&["service-threads: 8"], &["read-req-threads: 2"], Family::B),
            "lockstep"
        );
        assert_eq!(of(&["service-threads: 2"], &[], Family::B), "lockstep", "index");
        assert_eq!(of(&["service-threads: 1"], &[], Family::C), "lockstep");
    }

    #[test]
    fn the_generator_of_1_x_and_2_waits_whole_milliseconds() {
        let of = |rate: &str| {
            arrivals_of(
                "CIO CONFIGURATION",
                &[&format!("read-reqs-per-sec: {rate}")],
                &[],
                Family::A,
            )
        };
        assert_eq!(of("1000").as_deref(), Some("even"));
        assert_eq!(of("1001").as_deref(), Some("bursts"));
        assert_eq!(of("many"), None);
    }

    fn lost_of(config: &[&str], derived: &[&str], family: Family, workload: Workload) -> Vec<String> {
        let owned = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
        let mut header = Header::new("");
        (header.config.lines, header.derived.lines) = (owned(config), owned(derived));
        truncated(&header, family, workload).collect()
    }

    #[test]
    fn reads_and_writes_of_5_x_are_divided_among_threads_of_their_own() {
        let of = |derived: &[&str]| lost_of(&["service-threads: 9"], derived, Family::B, Workload::Storage);
        let reads = "internal-read-reqs-per-sec: 2009";
        assert!(of(&[reads, "read-req-threads: 7"]).is_empty(), "2009 = 7 x 287");
        assert_eq!(
            of(&[reads, "read-req-threads: 6"]),
            ["2009 requests/s are divided among 6 threads, which issue only 2004 requests/s"]
        );
        let writes = ["internal-write-reqs-per-sec: 1001", "write-req-threads: 3"];
        assert_eq!(
            of(&writes),
            ["1001 requests/s are divided among 3 threads, which issue only 999 requests/s"]
        );
        assert!(of(&[reads, "read-req-threads: 0"]).is_empty());
        assert!(of(&[reads]).is_empty(), "5.0 has one generator");
    }

    #[test]
    fn the_index_programs_divide_their_reads_among_service_threads() {
        for (family, key) in [
            (Family::B, "trans-thread-reads-per-sec"),
            (Family::C, "service-thread-reads-per-sec"),
        ] {
            let of = |rate: u64| {
                let derived = format!("{key}: {rate}");
                lost_of(&["service-threads: 8"], &[&derived], family, Workload::Index)
            };
            assert!(of(3000).is_empty(), "3000 = 8 x 375");
            assert_eq!(of(3001).len(), 1);
        }
    }
}
