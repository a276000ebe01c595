//! Due times of all kinds of arrivals: no request lost, none out of order, no drift in a day.

use super::*;

const DAY: Nanos = Nanos(86_400_000_000_000);
const SECOND: Nanos = Nanos(1_000_000_000);

fn rate(count: u64, seconds: u64) -> Rate {
    Rate::new(count, seconds).unwrap()
}

fn schedule(count: u64, seconds: u64, phase: Phase, length: Nanos) -> Schedule {
    Schedule::even(rate(count, seconds), phase, length)
}

#[test]
fn a_day_at_2009_a_second_has_every_request_and_no_drift() {
    let day = schedule(2009, 1, Phase::Start, DAY);
    assert_eq!(day.requests_count(), 2009 * 86_400);
    for second in [0, 1, 3_600, 43_200, 86_399] {
        assert_eq!(day.due(2009 * second), Nanos(second * SECOND.0));
    }
    assert!(day.due(day.requests_count() - 1) < DAY && day.due(day.requests_count()) == DAY);
}

#[test]
fn gaps_differ_by_a_nanosecond_at_most() {
    let thirds = schedule(3, 1, Phase::Start, SECOND);
    let dues: Vec<u64> = (0..4).map(|k| thirds.due(k).0).collect();
    assert_eq!(dues, [0, 333_333_333, 666_666_666, 1_000_000_000]);
}

#[test]
fn a_fractional_rate_is_exact() {
    // 1x: 1000 writes of 85 to a block, doubled by defragmentation: 100000 / (85 * 50) a second.
    let blocks = schedule(100_000, 85 * 50, Phase::Start, DAY);
    assert_eq!(blocks.requests_count(), 2_032_942); // ceil(86400 * 100000 / 4250) = ceil(2032941.17...)
    assert_eq!(blocks.due(400), Nanos(17 * SECOND.0));
}

#[test]
fn phases_are_parts_of_a_period() {
    let due = |phase| schedule(1, 6, phase, DAY).due(1).0 / SECOND.0;
    assert_eq!(
        [Phase::Start, Phase::Third, Phase::Half, Phase::TwoThirds].map(due),
        [6, 8, 9, 10]
    );
}

#[test]
fn the_end_is_not_part_of_the_run() {
    let count = |seconds, phase, length| schedule(1, seconds, phase, Nanos(length)).requests_count();
    assert_eq!(count(1, Phase::Start, SECOND.0), 1);
    assert_eq!(count(1, Phase::Start, SECOND.0 + 1), 2);
    assert_eq!(count(3, Phase::Third, SECOND.0), 0);
    assert_eq!(count(3, Phase::Third, SECOND.0 + 1), 1);
}

#[test]
fn the_largest_rates_and_lengths_stay_in_range() {
    let (count, seconds) = (u64::from(u32::MAX) * 25_600, 524_288 * 100);
    let most = Nanos(u64::MAX);
    for all in [
        Schedule::even(rate(count, seconds), Phase::TwoThirds, most),
        Schedule::poisson(rate(count, seconds), 1, most),
        Schedule::lockstep(rate(count, seconds), rate(count, seconds * 16_384), most),
    ] {
        assert!(all.due(all.requests_count() - 1) < most);
    }
}

#[test]
fn a_rate_of_nothing_is_none() {
    assert_eq!((Rate::new(0, 1), Rate::new(1, 0)), (None, None));
    assert_eq!(Rate::new(4, 8), Rate::new(1, 2));
}

#[test]
fn all_arrivals_make_the_same_number_of_requests() {
    for length in [SECOND, Nanos(1_234_567_891), DAY] {
        for of in [rate(2009, 1), rate(100_000, 4_250), rate(1, 7)] {
            let count = Schedule::even(of, Phase::Start, length).requests_count();
            assert_eq!(Schedule::poisson(of, 3, length).requests_count(), count);
            assert_eq!(
                Schedule::lockstep(of, of.divided(10), length).requests_count(),
                count
            );
        }
    }
}

#[test]
fn a_poisson_day_is_exact_after_every_block_and_ends_in_time() {
    let day = Schedule::poisson(rate(60_013, 1), 17, DAY);
    let even = Schedule::even(rate(60_013, 1), Phase::Start, DAY);
    let last = day.requests_count() - 1;
    for block in [0, 1, 1_000, last / poisson::BLOCK - 1] {
        let (begin, end) = (block * poisson::BLOCK, (block + 1) * poisson::BLOCK);
        assert!(day.due(begin) >= even.due(begin) && day.due(end - 1) <= even.due(end));
    }
    assert!(day.due(last) < DAY && DAY.0 - day.due(last).0 < SECOND.0);
}

#[test]
fn a_lockstep_burst_is_due_at_one_instant() {
    // Ten threads at 2009 a second: upstream makes 200 bursts of ten; the nine requests that it loses are here.
    let bursts = Schedule::lockstep(rate(2009, 1), rate(2009, 10), SECOND);
    let dues: Vec<u64> = (0..2009).map(|k| bursts.due(k).0).collect();
    assert!(
        dues.chunks(10)
            .all(|burst| burst.iter().all(|due| *due == burst[0]))
    );
    assert_eq!((dues[9], dues[10], dues[2_000]), (0, 4_977_600, 995_520_159));
    assert_eq!(bursts.requests_count(), 2009);
}

#[test]
fn reads_and_writes_of_one_set_of_threads_burst_together() {
    // 2000 reads and 1000 writes by 30 threads: every 10 ms 20 reads and 10 writes.
    let of = |count| Schedule::lockstep(rate(count, 1), rate(100, 1), SECOND);
    for burst in 0..100 {
        let at = Nanos(burst * 10_000_000);
        assert_eq!(
            (of(2_000).due(burst * 20), of(2_000).due(burst * 20 + 19)),
            (at, at)
        );
        assert_eq!(
            (of(1_000).due(burst * 10), of(1_000).due(burst * 10 + 9)),
            (at, at)
        );
    }
}

fn every_kind(count: u64, seconds: u64, length: Nanos) -> [Schedule; 6] {
    let of = rate(count, seconds);
    [
        Schedule::even(of, Phase::Start, length),
        Schedule::even(of, Phase::Third, length),
        Schedule::even(of, Phase::Half, length),
        Schedule::even(of, Phase::TwoThirds, length),
        Schedule::poisson(of, count ^ seconds, length),
        Schedule::lockstep(of, of.divided(7), length),
    ]
}

proptest::proptest! {
    #[test]
    fn the_count_is_where_due_times_reach_the_end(count in 1u64..1_000_000, seconds in 1u64..10_000,
                                                  length in 1u64..100_000_000_000_000) {
        for all in &every_kind(count, seconds, Nanos(length))[..4] {
            proptest::prop_assert!(all.due(all.requests_count()).0 + 1 >= length);
        }
    }

    #[test]
    fn every_request_is_due_before_the_end_and_not_before_the_one_before(
        count in 1u64..1_000_000, seconds in 1u64..10_000, length in 1u64..100_000_000_000_000, at in 0.0..1.0) {
        for all in every_kind(count, seconds, Nanos(length)) {
            let requests = all.requests_count();
            let from = (requests as f64 * at) as u64;
            for k in from..(from + 20).min(requests) {
                proptest::prop_assert!(all.due(k).0 < length);
                proptest::prop_assert!(k == 0 || all.due(k - 1) <= all.due(k));
            }
            if requests > 0 {
                proptest::prop_assert!(all.due(requests - 1).0 < length);
            }
        }
    }

    #[test]
    fn poisson_never_strays_from_even_by_more_than_a_block(count in 1u64..1_000_000, at in 0u64..10_000_000) {
        let (even, random) = (schedule(count, 1, Phase::Start, DAY), Schedule::poisson(rate(count, 1), 5, DAY));
        let k = at % even.requests_count();
        let block = even.due(poisson::BLOCK).0 + 1;
        proptest::prop_assert!(even.due(k).0.abs_diff(random.due(k).0) <= block);
    }
}
