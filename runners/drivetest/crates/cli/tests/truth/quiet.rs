//! Runs that other programs or machines disturb: how they are found, repeated and reported.

use std::fs;

use crate::bench::{report_retries, skip};

/// The maximum number of runs that were late without a cause outside the test, because any of them may be an error.
const LATE_RUNS: u32 = 5;

/// The maximum number of runs, whatever disturbed them.
const RUNS: u32 = 10;

/// If the hypervisor took more than this part of the processor time, that explains why a run was late. Tests accept one
/// late reply of a hundred; of two processors, one that stands still for a hundredth of the time is half of that.
const STOLEN: f64 = 0.005;

/// Why a run does not count.
#[derive(Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// Other programs kept the processors busy, or the hypervisor gave them to other machines.
    Busy,
    /// The drive, the generator or the machine was late.
    Late(String),
}

/// Time of all processors since the start of the machine, in ticks.
pub struct ProcessorTime {
    idle: u64,
    stolen: u64,
    total: u64,
}

impl ProcessorTime {
    pub fn now() -> Self {
        let text = fs::read_to_string("/proc/stat").unwrap();
        let all = text.lines().next().unwrap().split_whitespace().skip(1);
        // User, nice, system, idle, waiting for I/O, interrupts (two) and stolen. Guests are part of user and nice.
        let ticks: Vec<u64> = all.take(8).map(|ticks| ticks.parse().unwrap()).collect();
        Self {
            idle: ticks[3] + ticks[4],
            stolen: ticks[7],
            total: ticks.iter().sum(),
        }
    }

    /// Returns the part of the time since then in which the processors were busy.
    pub fn busy_since(&self) -> f64 {
        let now = Self::now();
        let (idle, total) = (now.idle.saturating_sub(self.idle), now.total - self.total);
        1.0 - idle as f64 / total.max(1) as f64
    }

    /// Returns whether the hypervisor has since run other machines for so long that this explains late replies.
    fn is_stolen_since(&self) -> bool {
        let now = Self::now();
        let (stolen, total) = (now.stolen - self.stolen, now.total - self.total);
        stolen as f64 > STOLEN * total as f64
    }
}

/// Repeats a run until one is not disturbed. Fails after five late runs that the hypervisor does not explain. Reports
/// that this machine is too busy after ten runs.
pub fn until_undisturbed(what: &str, mut run: impl FnMut() -> Result<(), Disturbance>) {
    let (mut late, mut stolen) = (Vec::new(), Vec::new());
    for disturbed_runs in 0..RUNS {
        let begun = ProcessorTime::now();
        match run() {
            Ok(()) => return report_retries(&format!("{what}: {late:?}, {stolen:?}"), disturbed_runs),
            Err(Disturbance::Late(why)) if !begun.is_stolen_since() => late.push(why),
            Err(disturbance) => stolen.push(disturbance),
        }
        assert!((late.len() as u32) < LATE_RUNS, "{what}: {late:?}");
    }
    skip(&format!(
        "{what}: other programs or machines use the processors; this test needs an idle host: {late:?}, {stolen:?}"
    ));
}
