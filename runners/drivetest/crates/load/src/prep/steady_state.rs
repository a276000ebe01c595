//! Random overwriting in rounds of equal length, until the rate of the last five is steady on all devices.
//!
//! Source: SNIA, Solid State Storage Performance Test Specification, definition of "steady state": within a
//! measurement window of five rounds, the range of the values is at most 20 % of their average, and the best linear
//! fit over the window rises or falls by at most 10 % of that average.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use serde::Serialize;

use super::device::PrepDevice;
use super::workers::StopFlag;
use super::{PrepOptions, SteadyStateOptions};
use crate::clock::Nanos;
use crate::engine::buffer::Payload;
use crate::schedule::rng::RequestRng;

/// Random streams from this number on belong to overwriting, two for each worker: offsets and content.
const ROUND_STREAM: u64 = 1 << 41;
/// Maximum number of workers per device, which the command line enforces.
pub(super) const DEPTH_MAX: usize = 4_096;

/// Overwrites random blocks with one worker of a device until all work stops; `written` counts bytes.
pub(super) fn overwrite(
    options: &PrepOptions,
    steady: &SteadyStateOptions,
    (ordinal, worker): (usize, usize),
    device: &PrepDevice,
    written: &AtomicU64,
    stop: &StopFlag,
) {
    let stream = ROUND_STREAM + 2 * (ordinal * DEPTH_MAX + worker) as u64;
    let blocks_count = device.size_bytes / steady.block_bytes as u64;
    let mut payload = Payload::new(
        steady.block_bytes,
        options.compress_pct,
        RequestRng::new(options.seed, stream, u64::MAX),
    );
    for k in 0.. {
        if stop.is_raised() {
            return;
        }
        let place = RequestRng::new(options.seed, stream, k).below(blocks_count);
        payload.stamp(RequestRng::new(options.seed, stream + 1, k));
        let offset = place * steady.block_bytes as u64;
        if !stop.write(&device.name, &device.file, payload.bytes(), offset) {
            return;
        }
        written.fetch_add(steady.block_bytes as u64, SeqCst);
    }
}

/// A round of a device.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Round {
    pub written_bytes: u64,
    pub elapsed_ns: u64,
    pub bytes_per_s: f64,
    pub writes_per_s: f64,
}

/// The rounds of a device.
#[derive(Debug, Serialize)]
pub(super) struct DeviceRounds {
    pub path: String,
    pub rounds: Vec<Round>,
    /// The last five rounds; None if there are fewer.
    pub window: Option<Window>,
    /// At the end of the last round.
    #[serde(skip)]
    total_bytes: u64,
}

impl DeviceRounds {
    pub fn of(device: &PrepDevice) -> Self {
        Self {
            path: device.name.clone(),
            rounds: Vec::new(),
            window: None,
            total_bytes: 0,
        }
    }

    /// Adds a round at whose end `total_bytes` were written in all rounds.
    pub fn add(&mut self, total_bytes: u64, elapsed: Nanos, block_bytes: usize) {
        let written_bytes = total_bytes - std::mem::replace(&mut self.total_bytes, total_bytes);
        let seconds = elapsed.0.max(1) as f64 / 1e9;
        let bytes_per_s = written_bytes as f64 / seconds;
        self.rounds.push(Round {
            written_bytes,
            elapsed_ns: elapsed.0,
            bytes_per_s,
            writes_per_s: bytes_per_s / block_bytes as f64,
        });
        let rates: Vec<_> = self.rounds.iter().map(|round| round.bytes_per_s).collect();
        self.window = Window::of(&rates);
    }

    /// Returns whether the last five rounds are steady.
    pub fn is_steady(&self) -> bool {
        self.window.is_some_and(|window| window.is_steady)
    }

    /// Returns a table for people.
    pub fn table(&self) -> String {
        let mut table = format!("{}\n round      MB/s   writes/s\n", self.path);
        for (ordinal, round) in self.rounds.iter().enumerate() {
            let megabytes = round.bytes_per_s / 1e6;
            table += &format!("{:6} {megabytes:9.1} {:10.0}\n", ordinal + 1, round.writes_per_s);
        }
        table + &self.sentence() + "\n"
    }

    fn sentence(&self) -> String {
        let Some(window) = self.window else {
            return "not steady: fewer than five rounds in which something was written".to_owned();
        };
        format!(
            "{}: the last five rounds wrote {:.1} MB/s on average, range {:.1} % (at most 20 %), slope {:.1} % (at most 10 %)",
            if window.is_steady { "steady" } else { "not steady" },
            window.average_bytes_per_s / 1e6,
            window.range_pct,
            window.slope_pct
        )
    }
}

/// Rounds in a window.
pub const WINDOW_ROUNDS: usize = 5;
const RANGE_MAX_PCT: f64 = 20.0;
const SLOPE_MAX_PCT: f64 = 10.0;

/// Statistics of the last five rounds.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Window {
    /// Bytes per second.
    pub average_bytes_per_s: f64,
    /// Difference of the largest and smallest rate, percent of the average.
    pub range_pct: f64,
    /// Rise (or fall, below 0) of the best linear fit over the window, percent of the average.
    pub slope_pct: f64,
    /// Whether both are within their limits.
    pub is_steady: bool,
}

impl Window {
    /// Evaluates the last rounds. None if there are fewer than five, or nothing was written in them.
    pub fn of(bytes_per_s: &[f64]) -> Option<Self> {
        let window = bytes_per_s.last_chunk::<WINDOW_ROUNDS>()?;
        let average = window.iter().sum::<f64>() / WINDOW_ROUNDS as f64;
        if average <= 0.0 {
            return None;
        }
        let largest = window.iter().copied().fold(f64::MIN, f64::max);
        let smallest = window.iter().copied().fold(f64::MAX, f64::min);
        let range_pct = (largest - smallest) / average * 100.0;
        let slope_pct = slope(window) * (WINDOW_ROUNDS - 1) as f64 / average * 100.0;
        Some(Self {
            average_bytes_per_s: average,
            range_pct,
            slope_pct,
            is_steady: range_pct <= RANGE_MAX_PCT && slope_pct.abs() <= SLOPE_MAX_PCT,
        })
    }
}

/// Returns the slope of the least-squares line, per round.
fn slope(window: &[f64; WINDOW_ROUNDS]) -> f64 {
    let middle = (WINDOW_ROUNDS - 1) as f64 / 2.0;
    let distances = (0..WINDOW_ROUNDS).map(|round| round as f64 - middle);
    let squares: f64 = distances.clone().map(|distance| distance * distance).sum();
    distances
        .zip(window)
        .map(|(distance, rate)| distance * rate)
        .sum::<f64>()
        / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(rates: &[f64]) -> Window {
        Window::of(rates).unwrap()
    }

    #[test]
    fn four_rounds_are_too_few() {
        assert_eq!(Window::of(&[100.0; 4]), None);
        assert!(window(&[100.0; 5]).is_steady);
        assert_eq!(
            Window::of(&[0.0; 5]),
            None,
            "a drive that accepts no writes is not steady"
        );
    }

    #[test]
    fn only_the_last_five_rounds_count() {
        assert!(window(&[900.0, 100.0, 100.0, 100.0, 100.0, 100.0]).is_steady);
        assert!(!window(&[100.0, 900.0, 100.0, 100.0, 100.0, 100.0]).is_steady);
    }

    #[test]
    fn a_range_is_steady_up_to_its_limit() {
        // The ends compensate for each other, so that the slope is 0.
        let at = window(&[110.0, 95.0, 90.0, 95.0, 110.0]);
        assert_eq!(
            (at.average_bytes_per_s, at.range_pct, at.slope_pct),
            (100.0, 20.0, 0.0)
        );
        assert!(at.is_steady);
        assert!(!window(&[110.5, 95.0, 89.5, 94.5, 110.5]).is_steady);
    }

    #[test]
    fn a_slope_is_steady_up_to_its_limit() {
        // By hand: 2.5 per round over 4 steps are 10 of 100.
        let at = window(&[95.0, 97.5, 100.0, 102.5, 105.0]);
        assert_eq!((at.slope_pct, at.range_pct, at.is_steady), (10.0, 10.0, true));
        let falling = window(&[105.2, 102.6, 100.0, 97.4, 94.8]);
        assert!(
            (falling.slope_pct + 10.4).abs() < 1e-9 && !falling.is_steady,
            "{falling:?}"
        );
    }

    #[test]
    fn the_slope_is_that_of_least_squares() {
        // numpy.polyfit([0, 1, 2, 3, 4], [3, 1, 4, 1, 5], 1)[0] is 0.4.
        assert!((slope(&[3.0, 1.0, 4.0, 1.0, 5.0]) - 0.4).abs() < 1e-12);
    }
}
