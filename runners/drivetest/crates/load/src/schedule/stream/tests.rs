//! The streams of both models with all arrivals, over seconds and over a day.

use super::*;
use crate::config::Model;

fn of(more: &str) -> Vec<Arc<Stream>> {
    let text = format!("device-names: a\ntest-duration-sec: 10\n{more}");
    streams(&Config::read(&text, 2).unwrap().0, Nanos::from_s(10), 1, None)
}

#[test]
fn only_configured_operations_have_a_stream() {
    let operations = |more| of(more).iter().map(|stream| stream.operation).collect::<Vec<_>>();
    assert_eq!(operations("read-reqs-per-sec: 1"), [Operation::ReadRecord]);
    assert_eq!(
        operations("write-reqs-per-sec: 1"),
        [Operation::ReadBlock, Operation::WriteBlock]
    );
    assert_eq!(
        operations("write-reqs-per-sec: 1\nno-defrag-reads: yes"),
        [Operation::WriteBlock]
    );
    assert_eq!(
        operations("write-reqs-per-sec: 10\nupdate-pct: 50\nno-defrag-reads: y")[0],
        Operation::ReadRecord
    );
}

#[test]
fn single_writes_and_index_pages_have_streams_of_their_own() {
    let operations = |model, more: &str| {
        let text = format!("device-names: a\ntest-duration-sec: 10\n{more}");
        let config = Config::read_of(model, &text, 2).unwrap().0;
        let all = streams(&config, Nanos::from_s(10), 1, None);
        all.iter()
            .map(|stream| (stream.operation, stream.schedule.requests_count()))
            .collect::<Vec<_>>()
    };
    // 85 records in a block: 8.5 a second are 0.1 blocks, and at 50 % defragmentation moves the same amount again.
    let commits = "write-reqs-per-sec: 850\ncommit-to-device: yes\nno-defrag-reads: yes";
    assert_eq!(
        operations(Model::Storage, commits),
        [(Operation::WriteBlock, 100), (Operation::WriteRecord, 8_500)]
    );
    assert_eq!(
        operations(Model::Index, "write-reqs-per-sec: 10"),
        [
            (Operation::ReadIndex, 100),
            (Operation::ReadCache, 200),
            (Operation::WriteCache, 200)
        ]
    );
}

fn devices_of(more: &str, stream: usize, count: usize) -> Vec<usize> {
    let stream = &of(more)[stream];
    let device = |k| stream.device(k, count, &mut RequestRng::new(1, 1, k));
    (0..40).map(device).collect()
}

#[test]
fn large_blocks_alternate_between_devices_and_records_are_random() {
    let writes = "write-reqs-per-sec: 850\nread-reqs-per-sec: 100\n";
    for arrivals in ["even", "lockstep"] {
        let more = format!("{writes}arrivals: {arrivals}");
        assert_eq!(devices_of(&more, 1, 4)[..6], [0, 1, 2, 3, 0, 1], "{arrivals}");
        assert_ne!(devices_of(&more, 0, 4)[..6], [0, 1, 2, 3, 0, 1], "{arrivals}");
    }
    assert_ne!(
        devices_of(&format!("{writes}arrivals: poisson"), 1, 4)[..6],
        [0, 1, 2, 3, 0, 1]
    );
}

#[test]
fn all_arrivals_have_the_same_requests_and_offsets() {
    let all = |arrivals| {
        of(&format!(
            "read-reqs-per-sec: 2009\nwrite-reqs-per-sec: 1000\narrivals: {arrivals}"
        ))
    };
    let counts = |arrivals| -> Vec<u64> {
        all(arrivals)
            .iter()
            .map(|stream| stream.schedule.requests_count())
            .collect()
    };
    assert_eq!(counts("poisson"), counts("lockstep"));
    assert_eq!((counts("even")[0], counts("poisson")[0]), (20_090, 20_090));
    assert_eq!(
        all("lockstep")[0].device(7, 9, &mut RequestRng::new(1, 0, 7)),
        all("even")[0].device(7, 9, &mut RequestRng::new(1, 0, 7))
    );
}

#[test]
fn streams_have_random_times_of_their_own() {
    let all =
        of("read-reqs-per-sec: 1000\nwrite-reqs-per-sec: 1000\ncommit-to-device: yes\narrivals: poisson");
    let dues = |index: usize| all[index].schedule.due(5_000);
    assert_ne!(dues(0), dues(3));
}

#[test]
fn upstreams_threads_burst_together() {
    // 10 threads for 2000 reads and 1000 writes: every 3.33 ms ten requests, 20 in three bursts are reads.
    let all = of(
        "service-threads: 10\nread-reqs-per-sec: 2000\nwrite-reqs-per-sec: 1000\ncommit-to-device: yes\narrivals: lockstep",
    );
    let mut due_at = std::collections::BTreeMap::new();
    for stream in [&all[0], &all[3]] {
        for k in 0..stream.schedule.requests_count() {
            *due_at.entry(stream.schedule.due(k)).or_insert(0) += 1;
        }
    }
    assert_eq!(due_at.len(), 3_000);
    assert!(due_at.values().all(|count| (9..=11).contains(count)));
}

#[test]
fn cache_threads_burst_in_bundles_of_a_hundred() {
    let text = "device-names: a\ntest-duration-sec: 10\nwrite-reqs-per-sec: 400\ncache-threads: 2\narrivals: lockstep";
    let all = streams(
        &Config::read_of(Model::Index, text, 1).unwrap().0,
        Nanos::from_s(10),
        1,
        None,
    );
    // 800 a second by two threads: 200 at once, four times a second.
    let due = |k| all[1].schedule.due(k).0 / 1_000_000;
    assert_eq!(
        [due(0), due(199), due(200), due(399), due(400)],
        [0, 0, 250, 250, 500]
    );
}

#[test]
fn large_blocks_have_enough_threads_for_their_rate() {
    assert_eq!(
        block_threads_count(Rate::new(2353, 100).unwrap()),
        LEAST_BLOCK_THREADS
    );
    assert_eq!(block_threads_count(Rate::new(81, 1).unwrap()), 5);
    assert_eq!(block_threads_count(Rate::new(5_120, 1).unwrap()), 256);
    assert_eq!(
        block_threads_count(Rate::new(11_765, 1).unwrap()),
        MOST_BLOCK_THREADS
    );
}

#[test]
fn every_request_is_taken_once() {
    let stream = &of("read-reqs-per-sec: 20")[0];
    let taken: Vec<u64> = std::iter::from_fn(|| stream.take()).collect();
    assert_eq!(taken, (0..200).collect::<Vec<_>>());
}

#[test]
fn several_requests_are_taken_up_to_the_last() {
    let stream = &of("read-reqs-per-sec: 1")[0];
    let taken: Vec<_> = std::iter::from_fn(|| stream.take_several(4)).collect();
    assert_eq!(taken, [0..4, 4..8, 8..10]);
}

#[test]
fn lag_is_that_of_the_next_request() {
    let stream = &of("read-reqs-per-sec: 1")[0];
    let start = Instant::now();
    let at = |s| start.after(Nanos::from_s(s));
    stream.take();
    stream.take();
    assert_eq!(
        (stream.lag(start, at(1)), stream.lag(start, at(5))),
        (Some(Nanos(0)), Some(Nanos::from_s(3)))
    );
    while stream.take().is_some() {}
    assert_eq!(stream.lag(start, at(50)), None);
}

const DAY: Nanos = Nanos::from_s(86_400);

/// The load of 128 devices at 30x each, for a day.
fn day(model: Model, arrivals: &str) -> Vec<Arc<Stream>> {
    let names: Vec<String> = (0..128).map(|number| format!("/dev/nvme{number}n1")).collect();
    let commits = match model {
        Model::Storage => "commit-to-device: yes\n",
        Model::Index => "",
    };
    let text = format!(
        "device-names: {}\ntest-duration-sec: 86400\nread-reqs-per-sec: 7680013\nwrite-reqs-per-sec: 3840007\n\
         service-threads: 640\n{commits}arrivals: {arrivals}\n",
        names.join(",")
    );
    streams(&Config::read_of(model, &text, 1).unwrap().0, DAY, 7, None)
}

/// Returns how many requests are due before `at`. Due times never decrease.
fn due_before(stream: &Stream, at: Nanos) -> u64 {
    let (mut least, mut most) = (0, stream.schedule.requests_count());
    while least < most {
        let middle = least + (most - least) / 2;
        if stream.schedule.due(middle) < at {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    least
}

#[test]
fn a_day_on_128_devices_loses_no_request_and_does_not_drift() {
    for model in [Model::Storage, Model::Index] {
        // How many requests of a stream may be on either side of a point in time, because they are due together.
        for (arrivals, together) in [("even", 1.0), ("poisson", 2_048.0), ("lockstep", 800.0)] {
            for stream in day(model, arrivals) {
                let per_s = stream.schedule.rate().per_s();
                // A phase moves at most one request past the end.
                let day = per_s * 86_400.0;
                assert!(
                    (stream.schedule.requests_count() as f64 - day).abs() < 1.0,
                    "{arrivals} {day}"
                );
                for minute in (1_u32..1_440).step_by(7).chain([1_439]) {
                    let requested = per_s * f64::from(minute * 60);
                    let found = due_before(&stream, Nanos::from_s(u64::from(minute) * 60)) as f64;
                    assert!(
                        (found - requested).abs() <= together + 1.0,
                        "{arrivals} {found} of {requested}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_last_request_of_a_day_is_due_in_the_day() {
    for arrivals in ["even", "poisson", "lockstep"] {
        for stream in day(Model::Storage, arrivals)
            .iter()
            .chain(&day(Model::Index, arrivals))
        {
            let last = stream.schedule.due(stream.schedule.requests_count() - 1);
            assert!(
                last < DAY && DAY.0 - last.0 < 100_000_000,
                "{arrivals} {:?} {last:?}",
                stream.operation
            );
        }
    }
}

#[test]
fn several_threads_take_every_request_once_and_in_order() {
    let stream = &day(Model::Storage, "poisson")[1];
    let taken: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..25_000).filter_map(|_| stream.take()).collect()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(taken.iter().all(|of_thread| of_thread.is_sorted()));
    let mut all: Vec<u64> = taken.into_iter().flatten().collect();
    all.sort_unstable();
    assert_eq!(all, (0..100_000).collect::<Vec<_>>());
}

/// Returns the number of catch-up requests among submissions of a stream at these times, with this generator lateness
/// each, both in us.
fn catch_up_count(more: &str, submissions: &[(u64, u64)]) -> Option<u64> {
    let stream = of(more).swap_remove(0);
    let start = Instant::ZERO.after(Nanos::from_s(1));
    for (submitted_us, own_lateness_us) in submissions {
        stream.note_submission(
            start.after(Nanos::from_us(*submitted_us)),
            Nanos::from_us(*own_lateness_us),
        );
    }
    let mut tally = Tally::new(1);
    stream.drain_into(&mut tally);
    tally.catch_up_count
}

/// The period is 1 ms.
const READS: &str = "read-reqs-per-sec: 1000";

#[test]
fn late_requests_within_half_a_period_of_the_previous_one_are_catch_up_requests() {
    let submissions = [0, 1_000, 1_500, 1_999, 2_600, 2_600, 3_099].map(|us| (us, 501));
    // At 1,999, 2,600 again and 3,099 us.
    assert_eq!(catch_up_count(READS, &submissions), Some(3));
    assert_eq!(
        catch_up_count(&format!("{READS}\narrivals: poisson"), &submissions),
        None
    );
}

#[test]
fn a_request_on_time_is_no_catch_up_request_even_if_the_previous_one_was_late() {
    let count = |own_lateness_us| catch_up_count(READS, &[(1_600, 600), (2_000, own_lateness_us)]);
    assert_eq!([0, 500, 501].map(count), [Some(0), Some(0), Some(1)]);
}

#[test]
fn the_previous_request_is_the_one_with_the_latest_submission() {
    // The second thread submitted earlier, but reports later.
    assert_eq!(
        catch_up_count(READS, &[(2_000, 0), (1_000, 0), (2_400, 900)]),
        Some(1)
    );
}
