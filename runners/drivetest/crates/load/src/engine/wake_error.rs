//! The wake-up error: the time by which timers wake a thread late, and the lead with which they are set for it.

use std::io;
use std::thread::Builder;

use super::thread_scheduling;
use crate::clock::{Instant, Nanos};

/// Width of a cell of the distribution. The last cell has all longer times.
const CELL: Nanos = Nanos(500);
pub(super) const CELLS_COUNT: usize = 256;

/// Number of samples before the first evaluation, and between two later ones.
const FIRST_SAMPLES: u32 = 64;
const SAMPLES: u32 = 512;

/// Length of a sleep that measures the error before the first request.
const TRIAL_SLEEP: Nanos = Nanos::from_us(100);

/// Distribution of the wake-up error of one thread. After each evaluation, the weight of its samples is halved.
#[derive(Debug, Clone)]
pub(super) struct WakeError {
    /// Number of samples in each cell.
    pub(super) counts: [u32; CELLS_COUNT],
    /// Number of samples that are missing for the next evaluation.
    missing_count: u32,
    /// Number of leads since the last sample.
    leads_count: u32,
    /// 10th percentile at the last evaluation; 0 before the first one.
    pub(super) quick: Nanos,
    /// Median at the last evaluation.
    pub(super) median: Nanos,
    /// 99th percentile at the last evaluation.
    pub(super) p99: Nanos,
}

impl WakeError {
    /// Creates an empty distribution. There is no lead until the first evaluation.
    pub(super) fn new() -> Self {
        Self {
            counts: [0; CELLS_COUNT],
            missing_count: FIRST_SAMPLES,
            leads_count: 0,
            quick: Nanos(0),
            median: Nanos(0),
            p99: Nanos(0),
        }
    }

    /// Returns the distribution of a thread that only sleeps. All threads of a run start with it: they are many, and
    /// most of them wake up too rarely to know their own error soon.
    ///
    /// # Errors
    /// If the system provides no thread.
    pub(super) fn of_trial_thread() -> io::Result<Self> {
        let trial = Builder::new().name("wake-error".to_owned()).spawn(|| {
            thread_scheduling::minimize_timer_slack();
            let mut wake_error = Self::new();
            wake_error.measure();
            wake_error
        })?;
        trial
            .join()
            .map_err(|_| io::Error::other("the thread that measures the wake-up error ended"))
    }

    /// Sleeps until there are enough samples for the first evaluation, some milliseconds.
    pub(super) fn measure(&mut self) {
        let sleep = || {
            let at = Instant::now().after(TRIAL_SLEEP);
            at.sleep_until();
            Instant::now().since(at)
        };
        while !self.add(sleep()) {}
    }

    /// Adds a sample. Returns whether the percentiles were evaluated.
    pub(super) fn add(&mut self, error: Nanos) -> bool {
        if self.missing_count == 0 {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.missing_count = SAMPLES;
        }
        let cell = (error.0 / CELL.0).min(CELLS_COUNT as u64 - 1);
        self.counts[cell as usize] += 1;
        self.leads_count = 0;
        self.missing_count -= 1;
        let is_evaluated = self.missing_count == 0;
        if is_evaluated {
            [self.quick, self.median, self.p99] =
                [10, 50, 99].map(|percent| percentile(&self.counts, percent));
        }
        is_evaluated
    }

    /// Returns how long before a due time to set a timer: the error of a quick wake-up, so that the thread rarely spins,
    /// or more if one request in a hundred would otherwise be later than half a period.
    ///
    /// The lead is at most three times the usual error. Longer delays come from other programs; spinning would not
    /// avoid them. It is at most three quarters of a period, so that no thread spins without a break.
    ///
    /// A thread that spins all the time nevertheless, for example for several streams, adds no samples. After
    /// 512 requests without a sample, it sleeps until the next one is due, to measure the error again.
    pub(super) fn lead(&mut self, half_period: Option<Nanos>) -> Nanos {
        self.leads_count += 1;
        if self.leads_count > SAMPLES {
            return Nanos(0);
        }
        let quick = self.quick.0;
        Nanos(half_period.map_or(quick, |Nanos(half_period)| {
            let tail = self.p99.0.min(3 * self.median.0);
            let needed = quick.max(tail.saturating_sub(half_period));
            needed.min(half_period + half_period / 2)
        }))
    }
}

/// Returns a percentile of a distribution: the lower limit of its cell, or 0 without samples.
pub(super) fn percentile(counts: &[u32; CELLS_COUNT], percent: u64) -> Nanos {
    let samples_count: u64 = counts.iter().copied().map(u64::from).sum();
    let mut left = samples_count * percent / 100;
    let is_beyond = |count: &u32| {
        let is_beyond = u64::from(*count) > left;
        left = left.saturating_sub(u64::from(*count));
        is_beyond
    };
    let cell = counts.iter().position(is_beyond).unwrap_or_default();
    Nanos(cell as u64 * CELL.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Nanos {
        Nanos::from_us(us)
    }

    /// Adds the errors in turn until there are `count` samples.
    fn add(wake_error: &mut WakeError, errors: &[u64], count: usize) {
        for error in errors.iter().cycle().take(count) {
            wake_error.add(us(*error));
        }
    }

    fn lead_of(errors: &[u64], half_period: Option<u64>) -> Nanos {
        let mut wake_error = WakeError::new();
        add(&mut wake_error, errors, 1_088);
        wake_error.lead(half_period.map(us))
    }

    #[test]
    fn the_lead_is_the_error_of_a_quick_wake_up() {
        assert_eq!(WakeError::new().lead(Some(us(1))), us(0));
        assert_eq!(lead_of(&[14], None), us(14));
        assert_eq!(lead_of(&[26, 14, 26, 26, 26], Some(25)), us(14));
        assert_eq!(
            lead_of(&[14, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26], Some(25)),
            us(26)
        );
    }

    #[test]
    fn the_lead_covers_the_tail_beyond_half_a_period() {
        let errors = [14, 14, 14, 28];
        assert_eq!(
            [None, Some(12), Some(13), Some(14), Some(25)].map(|half| lead_of(&errors, half)),
            [us(14), us(16), us(15), us(14), us(14)]
        );
    }

    #[test]
    fn the_lead_is_shorter_than_a_period() {
        let errors = [25, 25, 25, 75];
        assert_eq!(
            [Some(5), Some(10), Some(25), Some(40)].map(|half| lead_of(&errors, half)),
            [Nanos(7_500), us(15), Nanos(37_500), us(35)]
        );
    }

    #[test]
    fn without_samples_there_is_no_lead_until_the_next_one() {
        let mut wake_error = WakeError::new();
        add(&mut wake_error, &[14], 64);
        let mut leads = |count| -> Vec<Nanos> { (0..count).map(|_| wake_error.lead(None)).collect() };
        assert!(leads(SAMPLES).into_iter().all(|lead| lead == us(14)));
        assert_eq!(leads(2), [us(0), us(0)]);
        wake_error.add(us(14));
        assert_eq!(wake_error.lead(None), us(14));
    }

    #[test]
    fn delays_by_other_programs_do_not_extend_the_lead() {
        let mut errors = [14; 50];
        errors[49] = 4_000;
        assert_eq!(lead_of(&errors, Some(20)), us(3 * 14 - 20));
        assert_eq!(lead_of(&[4_000], None), Nanos(127_500));
    }

    #[test]
    fn the_lead_follows_a_change_within_2048_samples() {
        let mut wake_error = WakeError::new();
        add(&mut wake_error, &[14], 10_304);
        add(&mut wake_error, &[40], 2_048);
        assert_eq!(wake_error.lead(None), us(40));
    }

    #[test]
    fn trial_sleeps_give_the_first_lead() {
        let begin = Instant::now();
        let mut wake_error = WakeError::of_trial_thread().unwrap();
        assert!(Instant::now().since(begin) >= Nanos(u64::from(FIRST_SAMPLES) * TRIAL_SLEEP.0));
        assert!(wake_error.lead(None) > us(0));
    }

    proptest::proptest! {
        #[test]
        fn the_lead_is_from_the_quick_error_to_three_times_the_usual_one_but_no_period(
            errors in proptest::collection::vec(0u64..5_000_000, 64..2_000),
            half_period in proptest::option::of(0u64..1_000_000),
        ) {
            let mut wake_error = WakeError::new();
            for error in errors {
                wake_error.add(Nanos(error));
            }
            let lead = wake_error.lead(half_period.map(Nanos)).0;
            let (quick, usual) = (wake_error.quick.0, wake_error.median.0);
            let most = half_period.map_or(u64::MAX, |half_period| half_period * 3 / 2);
            proptest::prop_assert!((quick.min(most)..=(3 * usual).min(most)).contains(&lead), "{lead}");
        }
    }
}
