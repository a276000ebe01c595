//! A day of 128 devices in virtual time: no request is lost, none stays late, and nothing drifts.
//!
//! A day at the full rate has 22 billion reads, so its schedule is checked once every ten minutes. The second part
//! simulates a day request by request, at a lower rate.

#![allow(clippy::unwrap_used, reason = "an invalid configuration fails the test")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use drivetest_load::clock::Nanos;
use drivetest_load::config::{Config, Model};
use drivetest_load::schedule::Schedule;
use drivetest_load::schedule::rng::RequestRng;
use drivetest_load::schedule::stream::{Stream, streams};

const DAY_S: u64 = 86_400;
const DAY: Nanos = Nanos::from_s(DAY_S);
const DEVICES: usize = 128;
const SERVICE_THREADS: usize = 32;
const SEED: u64 = 5;

/// Requests in a block of random arrivals, in which they can be anywhere.
const RANDOM_BLOCK: f64 = 2_048.0;

fn load(model: Model, arrivals: &str, reads_per_s: u32, writes_per_s: u32) -> Vec<Arc<Stream>> {
    let names: Vec<String> = (0..DEVICES).map(|number| format!("/dev/{number}")).collect();
    let text = format!(
        "device-names: {}\ntest-duration-sec: {DAY_S}\nservice-threads: {SERVICE_THREADS}\narrivals: {arrivals}\n\
         read-reqs-per-sec: {reads_per_s}\nwrite-reqs-per-sec: {writes_per_s}\n",
        names.join(",")
    );
    let (config, _) = Config::read_of(model, &text, 2).unwrap();
    streams(&config, DAY, SEED, None)
}

/// Returns how many requests are due before a time.
fn due_before(schedule: &Schedule, time: Nanos) -> u64 {
    let (mut least, mut most) = (0, schedule.requests_count());
    while least < most {
        let middle = least + (most - least) / 2;
        if schedule.due(middle) < time {
            least = middle + 1
        } else {
            most = middle
        }
    }
    least
}

/// Returns the maximum difference between due requests and rate times time.
fn most_off(arrivals: &str, stream: &Stream) -> f64 {
    match arrivals {
        "even" => 1.0,
        "poisson" => RANDOM_BLOCK,
        // A burst of upstream's index load: a hundred requests of each of eight cache threads.
        _ if stream.operation.is_block() => DEVICES as f64,
        _ => 800.0,
    }
}

fn assert_no_drift(arrivals: &str, stream: &Stream) {
    let (schedule, what) = (&stream.schedule, stream.operation);
    let (rate, most_off) = (schedule.rate().per_s(), most_off(arrivals, stream));
    for minute in (10..=DAY_S / 60).step_by(10) {
        let found = due_before(schedule, Nanos::from_s(minute * 60)) as f64;
        let off = (found - rate * (minute * 60) as f64).abs();
        assert!(
            off <= most_off,
            "{arrivals} {what:?}: {off} requests off after {minute} minutes"
        );
    }
    let all = schedule.requests_count();
    assert!(
        (all as f64 - rate * DAY_S as f64).abs() <= 1.0,
        "{arrivals} {what:?}: {all} requests"
    );
    let left_s = (DAY.0 - schedule.due(all - 1).0) as f64 / 1e9;
    assert!(
        left_s > 0.0 && left_s <= most_off / rate + 1e-9,
        "{arrivals} {what:?}: last {left_s} s before the end"
    );
}

#[test]
fn a_day_of_128_devices_has_no_drift() {
    for arrivals in ["even", "poisson", "lockstep"] {
        for model in [Model::Storage, Model::Index] {
            let load = load(model, arrivals, 256_000, 128_000);
            assert_eq!(load.len(), 3);
            load.iter().for_each(|stream| assert_no_drift(arrivals, stream));
        }
    }
}

/// The result of a simulated day.
#[derive(Default)]
struct Day {
    counts: Vec<u64>,
    late: u64,
    latest_in_last_hour: Nanos,
    last_completed: Nanos,
}

/// Returns when a request completes: after 0.15 ms, or at the end of the stall.
fn completed(submitted: Nanos, stall: Option<(Nanos, Nanos)>) -> Nanos {
    let back = Nanos(submitted.0 + 150_000);
    match stall {
        Some((begin, end)) if submitted >= begin && submitted < end => back.max(end),
        _ => back,
    }
}

/// Simulates a stream with threads: a free thread takes the next number and waits until it is due.
fn simulate(stream: &Stream, stall: Option<(Nanos, Nanos)>) -> Day {
    let mut day = Day {
        counts: vec![0; DEVICES],
        ..Day::default()
    };
    let mut free: BinaryHeap<Reverse<u64>> = stream.recorders.iter().map(|_| Reverse(0)).collect();
    while let Some(k) = stream.take() {
        let due = stream.schedule.due(k);
        let Reverse(free_at) = free.pop().unwrap();
        let submitted = due.max(Nanos(free_at));
        let back = completed(submitted, stall);
        free.push(Reverse(back.0));
        let mut rng = RequestRng::new(SEED, stream.operation as u64, k);
        day.counts[stream.device(k, DEVICES, &mut rng)] += 1;
        day.late += u64::from(back.0 - due.0 >= 64_000_000);
        if due >= Nanos::from_s(DAY_S - 3_600) {
            day.latest_in_last_hour = day.latest_in_last_hour.max(Nanos(submitted.0 - due.0));
        }
        day.last_completed = day.last_completed.max(back);
    }
    day
}

fn assert_complete(day: &Day, stream: &Stream, what: &str) {
    let all = stream.schedule.requests_count();
    assert_eq!(day.counts.iter().sum::<u64>(), all, "{what}");
    let expected = all as f64 / DEVICES as f64;
    let is_fair = |count: &u64| (*count as f64 - expected).abs() <= 6.0 * expected.sqrt();
    assert!(
        day.counts.iter().all(is_fair),
        "{what}: {:?} of {expected} each",
        day.counts
    );
    assert_eq!(day.latest_in_last_hour, Nanos(0), "{what}");
    assert!(
        day.last_completed < Nanos(DAY.0 + 150_000),
        "{what}: {:?}",
        day.last_completed
    );
}

#[test]
fn a_day_has_all_requests_and_none_is_late() {
    for arrivals in ["even", "poisson", "lockstep"] {
        for stream in load(Model::Storage, arrivals, 32, 320) {
            let day = simulate(&stream, None);
            let what = format!("{arrivals} {:?}", stream.operation);
            assert_complete(&day, &stream, &what);
            assert_eq!(day.late, 0, "{what}");
        }
    }
}

#[test]
fn a_stall_at_noon_makes_its_requests_late_and_no_others() {
    let (noon, stall) = (Nanos::from_s(43_200), Nanos::from_s(43_206));
    for arrivals in ["even", "poisson", "lockstep"] {
        let load = load(Model::Storage, arrivals, 100, 0);
        let day = simulate(&load[0], Some((noon, stall)));
        assert_complete(&day, &load[0], arrivals);
        // 100 a second for six seconds; with random arrivals that is 600 with a standard deviation of 24.
        assert!(
            day.late.abs_diff(600) <= if arrivals == "poisson" { 120 } else { 32 },
            "{arrivals}: {}",
            day.late
        );
    }
}
