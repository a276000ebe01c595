//! Threads that wake when they want to, and run once they are awake.

use std::num::NonZeroU64;

use crate::clock::Nanos;

/// The most urgent of ordinary threads.
const NICE: i32 = -20;

/// A thread that runs for so little at a time is let in before one that may run for 3 ms. Since Linux 6.12; before, the
/// kernel takes no notice. Source: sched_setattr(2), kernel/sched/syscalls.c, `__setparam_fair()`, which takes 0.1 ms at
/// least.
const SLICE: Nanos = Nanos(100_000);

/// SCHED_FLAG_KEEP_POLICY: who was started as real-time or batch stays so. Source: include/uapi/linux/sched.h.
const KEEP_POLICY: u64 = 0x08;

/// Struct sched_attr as of its first version. Source: include/uapi/linux/sched/types.h.
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

/// Without this the kernel wakes the calling thread up to 50 us late, on purpose; where it is not allowed it is merely
/// later.
pub(super) fn minimize_timer_slack() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// Lets the calling thread in before others that want its processor: one thread alone carries all requests of a ring,
/// and what it waits for a processor would be told as time of the drive. No real-time priority: what the kernel does for
/// the drive in threads of its own would come to a halt behind it. Where it is not allowed things stay as they are.
pub(super) fn raise_priority() {
    if !set(NICE) {
        // The slice alone is everybody's to choose.
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

    /// Field 19 of a thread's stat, 17th after the name in brackets. Source: proc_pid_stat(5).
    fn nice() -> String {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, after) = stat.rsplit_once(") ").unwrap();
        after.split(' ').nth(16).unwrap().to_owned()
    }

    /// Whether this test may do by another call what is tested.
    fn may_be_urgent() -> bool {
        // SAFETY: sets the niceness of the calling thread, which is 0 for the kernel, and reads no memory.
        let set = || unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) == 0 };
        std::thread::spawn(set).join().unwrap()
    }

    #[test]
    fn only_the_thread_that_asks_goes_first() {
        let before = nice();
        let asked = std::thread::spawn(|| {
            raise_priority();
            nice()
        });
        let expected = if may_be_urgent() { "-20" } else { before.as_str() };
        assert_eq!(
            (asked.join().unwrap().as_str(), nice().as_str()),
            (expected, before.as_str())
        );
    }

    #[test]
    fn a_thread_wakes_within_a_nanosecond_by_its_own_wish() {
        let slack = std::thread::spawn(|| {
            minimize_timer_slack();
            rustix::thread::current_timer_slack().unwrap()
        });
        assert_eq!(slack.join().unwrap(), 1);
    }
}
