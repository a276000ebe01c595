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

/// Times in which a thread was ready to run but had no processor; 0 where they are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessorWaits {
    /// In its last request.
    pub(super) in_request: Nanos,
    /// Since it was last on time.
    pub(super) since_on_time: Nanos,
}

/// The time that a thread was ready to run but had no processor, as the kernel counts it.
#[derive(Debug, Default)]
pub(super) struct RunQueueWait {
    /// None if the kernel does not count it.
    file: Option<File>,
    /// The first reading since the thread was last on time.
    first: Option<Nanos>,
    /// The reading at the end of the previous request; None if that was skipped.
    previous: Option<Nanos>,
}

impl RunQueueWait {
    pub(super) fn of_this_thread() -> Self {
        Self {
            file: File::open("/proc/thread-self/schedstat").ok(),
            ..Self::default()
        }
    }

    /// Reads the times at the end of a request.
    pub(super) fn read(&mut self) -> ProcessorWaits {
        let wait = self.file.as_ref().and_then(read_wait);
        let since = |earlier: Option<Nanos>| {
            let both = wait.zip(earlier);
            both.map_or(Nanos(0), |(wait, earlier)| {
                Nanos(wait.0.saturating_sub(earlier.0))
            })
        };
        let waits = ProcessorWaits {
            in_request: since(self.previous),
            since_on_time: since(self.first),
        };
        self.first = self.first.or(wait);
        self.previous = wait;
        waits
    }

    /// Reads nothing at the end of a request.
    pub(super) fn skip_request(&mut self) {
        self.previous = None;
    }

    /// Begins again, because the thread is on time. Reads the time now only if it was read for the previous request:
    /// the next one probably is as slow.
    pub(super) fn begin(&mut self) {
        let is_slow = self.previous.is_some();
        (self.first, self.previous) = (None, None);
        if is_slow {
            self.read();
        }
    }
}

/// Returns whether the kernel counts for how long a thread is ready but has no processor.
pub(super) fn counts_processor_waits() -> bool {
    File::open("/proc/thread-self/schedstat").is_ok_and(|file| read_wait(&file).is_some())
}

/// Reads the second of three numbers, in ns, without an allocation. The third one is how often the thread got a
/// processor: 0 if the kernel counts nothing. Source: Documentation/scheduler/sched-stats.rst; fs/proc/base.c,
/// `proc_pid_schedstat()`.
fn read_wait(schedstat: &File) -> Option<Nanos> {
    let mut text = [0; 80];
    let length = schedstat.read_at(&mut text, 0).ok()?;
    let mut numbers = str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace();
    let wait = numbers.nth(1)?.parse().ok().map(Nanos);
    wait.filter(|_| numbers.next().is_some_and(|count| count != "0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run-queue wait that reads a file, and this file.
    fn counted() -> (RunQueueWait, File) {
        let file = tempfile::tempfile().unwrap();
        let wait = RunQueueWait {
            file: file.try_clone().ok(),
            ..RunQueueWait::default()
        };
        (wait, file)
    }

    fn write(file: &File, wait_ns: u64) {
        let text = format!("100 {wait_ns:020} 3\n");
        file.write_all_at(text.as_bytes(), 0).unwrap();
    }

    /// Returns the times in a request and since the thread was on time, in ns, when the kernel has counted this.
    fn read(wait: &mut RunQueueWait, file: &File, wait_ns: u64) -> (u64, u64) {
        write(file, wait_ns);
        let waits = wait.read();
        (waits.in_request.0, waits.since_on_time.0)
    }

    #[test]
    fn the_time_without_a_processor_is_the_difference_of_two_readings() {
        let (mut wait, file) = counted();
        assert_eq!(read(&mut wait, &file, 2_000), (0, 0));
        assert_eq!(read(&mut wait, &file, 2_500), (500, 500));
        assert_eq!(read(&mut wait, &file, 2_501), (1, 501));
        // A request that was not read is part of the time since the thread was on time.
        wait.skip_request();
        assert_eq!(read(&mut wait, &file, 3_500), (0, 1_500));
        assert_eq!(read(&mut wait, &file, 3_600), (100, 1_600));
        file.write_all_at(b"not a number ", 0).unwrap();
        assert_eq!(wait.read().since_on_time, Nanos(0));
    }

    #[test]
    fn a_thread_on_time_begins_again_and_reads_only_after_a_slow_request() {
        let (mut wait, file) = counted();
        read(&mut wait, &file, 2_000);
        write(&file, 3_000);
        wait.begin();
        assert_eq!(read(&mut wait, &file, 3_400), (400, 400));
        wait.skip_request();
        wait.begin();
        assert_eq!(read(&mut wait, &file, 9_000), (0, 0));
    }

    #[test]
    fn a_kernel_that_counts_nothing_has_zeros() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(b"0 0 0\n", 0).unwrap();
        assert_eq!(read_wait(&file), None);
        file.write_all_at(b"9 0 1\n", 0).unwrap();
        assert_eq!(read_wait(&file), Some(Nanos(0)));
    }

    #[test]
    fn without_a_file_the_time_without_a_processor_is_0() {
        let mut wait = RunQueueWait::default();
        let none = ProcessorWaits {
            in_request: Nanos(0),
            since_on_time: Nanos(0),
        };
        assert_eq!([wait.read(), wait.read()], [none; 2]);
    }

    #[test]
    fn a_thread_that_read_its_time_without_a_processor_reads_it_again() {
        let mut wait = RunQueueWait::of_this_thread();
        wait.read();
        assert_eq!(wait.previous.is_some(), counts_processor_waits());
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
