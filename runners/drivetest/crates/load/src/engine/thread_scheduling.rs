//! Scheduling of worker threads: exact timers, priority, and the time without a processor.

use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;

use crate::clock::Nanos;

/// The highest priority of ordinary threads.
const NICE: i32 = -20;

/// Time slice. A thread with a short slice is preferred to one with the default of 3 ms, from Linux 6.12; earlier
/// kernels ignore it. The minimum is 0.1 ms. Source: sched_setattr(2), kernel/sched/syscalls.c, `__setparam_fair()`.
const SLICE: Nanos = Nanos(100_000);

/// SCHED_FLAG_KEEP_POLICY: real-time and batch threads retain their policy. Source: include/uapi/linux/sched.h.
const KEEP_POLICY: u64 = 0x08;

/// Struct sched_attr in its first version. Source: include/uapi/linux/sched/types.h.
#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Sets the timer slack of the calling thread to the minimum. By default the kernel wakes it up to 50 us late to save
/// power.
pub(super) fn minimize_timer_slack() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// Gives the calling thread a higher priority than other ordinary threads. One thread sends all requests of a ring,
/// and its waiting time would count as time of the drive. It gets no real-time priority, which would starve the
/// kernel's own threads for the drive. Without permission nothing changes.
pub(super) fn raise_priority() {
    if !set(NICE) {
        // Without privileges only the slice can be changed.
        // SAFETY: reads no memory; 0 is the calling thread.
        set(unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) });
    }
}

fn set(nice: i32) -> bool {
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        policy: 0,
        flags: KEEP_POLICY,
        nice,
        priority: 0,
        runtime: SLICE.0,
        deadline: 0,
        period: 0,
    };
    // SAFETY: the kernel reads `size` bytes from the address, all of them initialised; 0 is the calling thread.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) == 0 }
}

/// The time that a thread was ready to run but had no processor, as the kernel counts it.
#[derive(Debug, Default)]
pub(super) struct RunQueueWait {
    /// None if the kernel does not count it.
    file: Option<File>,
    previous: Option<Nanos>,
}

impl RunQueueWait {
    pub(super) fn of_this_thread() -> Self {
        Self {
            file: File::open("/proc/thread-self/schedstat").ok(),
            previous: None,
        }
    }

    /// Returns the time without a processor since the last call, or 0 if it is unknown.
    pub(super) fn since_last_call(&mut self) -> Nanos {
        let wait = self.file.as_ref().and_then(read_wait);
        let previous = std::mem::replace(&mut self.previous, wait);
        let both = previous.zip(wait);
        both.map_or(Nanos(0), |(previous, wait)| {
            Nanos(wait.0.saturating_sub(previous.0))
        })
    }

    /// Makes the next call of [`since_last_call`](Self::since_last_call) the first one.
    pub(super) fn reset(&mut self) {
        self.previous = None;
    }
}

/// Reads the second of three numbers, in ns, without an allocation. Source: Documentation/scheduler/sched-stats.rst.
fn read_wait(schedstat: &File) -> Option<Nanos> {
    let mut text = [0; 80];
    let length = schedstat.read_at(&mut text, 0).ok()?;
    let mut numbers = str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace();
    numbers.nth(1)?.parse().ok().map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_without_a_processor_is_the_difference_of_two_readings() {
        let file = tempfile::tempfile().unwrap();
        let mut wait = RunQueueWait {
            file: file.try_clone().ok(),
            previous: None,
        };
        let mut after = |text: &str, is_reset| {
            file.write_all_at(text.as_bytes(), 0).unwrap();
            if is_reset {
                wait.reset();
            }
            wait.since_last_call()
        };
        assert_eq!(after("100 2000 3\n", false), Nanos(0));
        assert_eq!(after("900 2500 4\n", false), Nanos(500));
        assert_eq!(after("900 3500 4\n", true), Nanos(0));
        assert_eq!(after("900 3501 4\n", false), Nanos(1));
        assert_eq!(after("not a number ", false), Nanos(0));
    }

    #[test]
    fn without_a_file_the_time_without_a_processor_is_0() {
        let mut wait = RunQueueWait::default();
        assert_eq!([wait.since_last_call(), wait.since_last_call()], [Nanos(0); 2]);
    }

    #[test]
    fn this_kernel_counts_the_time_without_a_processor() {
        let file = File::open("/proc/thread-self/schedstat");
        assert!(file.is_err() || read_wait(&file.unwrap()).is_some());
    }

    /// Returns field 19 of a thread's stat, the 17th after the name in parentheses. Source: proc_pid_stat(5).
    fn nice() -> String {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, after) = stat.rsplit_once(") ").unwrap();
        after.split(' ').nth(16).unwrap().to_owned()
    }

    /// Returns whether this process may raise its priority.
    fn may_be_urgent() -> bool {
        // SAFETY: sets the niceness of the calling thread, which is 0 for the kernel, and reads no memory.
        let set = || unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) == 0 };
        std::thread::spawn(set).join().unwrap()
    }

    #[test]
    fn only_the_calling_thread_gets_priority() {
        let before = nice();
        let changed = std::thread::spawn(|| {
            raise_priority();
            nice()
        });
        let expected = if may_be_urgent() { "-20" } else { before.as_str() };
        assert_eq!(
            (changed.join().unwrap().as_str(), nice().as_str()),
            (expected, before.as_str())
        );
    }

    #[test]
    fn the_timer_slack_becomes_one_nanosecond() {
        let slack = std::thread::spawn(|| {
            minimize_timer_slack();
            rustix::thread::current_timer_slack().unwrap()
        });
        assert_eq!(slack.join().unwrap(), 1);
    }
}
