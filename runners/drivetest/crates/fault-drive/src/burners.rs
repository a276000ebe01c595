//! Burners: threads that leave other programs little time on any processor, so that a test has an overloaded host.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::drive::set_real_time_priority;

/// Above all ordinary threads, and below the threads of the drive: a request or a due reply interrupts a burner.
const PRIORITY: i32 = 30;

/// All burners are busy at the same time, at the start of each period.
const PERIOD: Duration = Duration::from_millis(5);

/// The kernel guarantees 5 % of each second to ordinary threads (fair_server, sched_rt_runtime_us) and stops real-time
/// threads for that, the drive among them, if they leave less. The load itself may take half of the rest.
const BUSY: Duration = Duration::from_micros(4_400);

/// One burner on each processor, ended on drop.
pub struct Burners {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Burners {
    /// Starts a burner on each processor that this thread may use.
    ///
    /// # Errors
    /// The system's error if it permits no real-time priority, or has no threads.
    pub fn start() -> io::Result<Self> {
        let mut burners = Self {
            is_over: Arc::default(),
            threads: Vec::new(),
        };
        let (allowed, start) = (sched_getaffinity(None)?, Instant::now());
        for processor in (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor)) {
            let is_over = Arc::clone(&burners.is_over);
            let (sender, set_up) = channel();
            let thread = Builder::new().name("burner".to_owned()).spawn(move || {
                let result = move_to(processor);
                let is_ready = result.is_ok();
                // The receiver waits for this message.
                let _ = sender.send(result);
                if is_ready {
                    burn(start, &is_over);
                }
            })?;
            burners.threads.push(thread);
            set_up
                .recv()
                .unwrap_or_else(|_| Err(io::Error::other("a burner ended")))?;
        }
        Ok(burners)
    }
}

impl Drop for Burners {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            // A panic of that thread is on standard error already.
            let _ = thread.join();
        }
    }
}

/// Moves the calling thread to a processor, and gives it the priority of burners.
fn move_to(processor: usize) -> io::Result<()> {
    let mut only = CpuSet::new();
    only.set(processor);
    sched_setaffinity(None, &only)?;
    set_real_time_priority(PRIORITY)
}

fn burn(start: Instant, is_over: &AtomicBool) {
    while !is_over.load(Relaxed) {
        match time_to_rest(start.elapsed()) {
            Some(rest) => std::thread::sleep(rest),
            None => std::hint::spin_loop(),
        }
    }
}

/// Returns the rest of the period, or None in its busy part.
fn time_to_rest(elapsed: Duration) -> Option<Duration> {
    let in_period = Duration::from_nanos((elapsed.as_nanos() % PERIOD.as_nanos()) as u64);
    (in_period >= BUSY).then(|| PERIOD - in_period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burners_rest_at_the_end_of_each_period() {
        let rest_us = |at_us: u64| time_to_rest(Duration::from_micros(at_us)).map(|rest| rest.as_micros());
        assert_eq!([0, 4_399, 5_000, 9_399].map(rest_us), [None; 4]);
        assert_eq!(
            [4_400, 4_999, 9_600].map(rest_us),
            [Some(600), Some(1), Some(400)]
        );
    }

    #[test]
    fn burners_leave_the_drive_its_share_of_real_time() {
        assert!(BUSY.as_micros() * 100 < PERIOD.as_micros() * 90);
    }
}
