//! Scheduling of worker threads: exact timers and priority.

use std::num::NonZeroU64;

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

#[cfg(test)]
mod tests {
    use super::*;

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
