//! The I/O path allocates no memory and waits for no lock: checked while both engines run.

#![allow(clippy::unwrap_used, reason = "a failed set-up fails the test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

#[allow(dead_code, reason = "this test uses only a part of the test bench")]
mod bench;

use bench::Bench;
use drivetest_load::Outcome;

/// Counts the allocations of the workers: of every thread except the reporting and the testing one.
struct Counting;

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static REPORTING: AtomicI32 = AtomicI32::new(0);
static TESTING: AtomicI32 = AtomicI32::new(0);
static BY_WORKERS: AtomicU64 = AtomicU64::new(0);
static BY_OTHERS: AtomicU64 = AtomicU64::new(0);

fn thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

fn count() {
    if IS_COUNTING.load(SeqCst) {
        let is_worker = ![REPORTING.load(SeqCst), TESTING.load(SeqCst)].contains(&thread());
        let counted = if is_worker { &BY_WORKERS } else { &BY_OTHERS };
        counted.fetch_add(1, SeqCst);
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller ensures the requirements.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller ensures the requirements.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// System calls of the I/O path on x86-64 and aarch64. -1 is a thread that is in none.
#[cfg(target_arch = "x86_64")]
const ALLOWED: [(&str, i64); 5] = [
    ("none", -1),
    ("pread64", 17),
    ("pwrite64", 18),
    ("clock_nanosleep", 230),
    ("io_uring_enter", 426),
];
#[cfg(target_arch = "aarch64")]
const ALLOWED: [(&str, i64); 5] = [
    ("none", -1),
    ("pread64", 67),
    ("pwrite64", 68),
    ("clock_nanosleep", 115),
    ("io_uring_enter", 426),
];

/// Returns where each worker of a run shows its current system call. Source: proc_pid_syscall(5).
fn workers() -> Vec<PathBuf> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let is_worker = |task: &PathBuf| {
        let name = std::fs::read_to_string(task.join("comm")).unwrap_or_default();
        name.starts_with("ring-") || name.starts_with("load-")
    };
    let workers = tasks.map(|entry| entry.path()).filter(is_worker);
    workers.map(|task| task.join("syscall")).collect()
}

/// Returns the number of a worker's current system call.
fn call(worker: &Path) -> i64 {
    let text = std::fs::read_to_string(worker).unwrap_or_default();
    let number = text.split(' ').next().unwrap_or_default();
    number.trim().parse().unwrap_or(-1)
}

/// The outcome of a run, the observed system calls of its workers, and the number of observations.
type Observation = (Outcome, BTreeSet<i64>, usize);

/// Observes the middle of a run, where workers do not free their memory yet. Repeats up to five times if this machine
/// stalled until near the end.
fn observe(engine: &'static str) -> Option<Observation> {
    for _ in 0..5 {
        let observe = observe_once(Bench::new()?, engine);
        if observe.is_some() {
            return observe;
        }
    }
    panic!("{engine}: this machine stalled in all five runs");
}

/// Runs a load in a separate thread and observes it after its first second, when the preparation is over.
fn observe_once(bench: Bench, engine: &'static str) -> Option<Observation> {
    let log = Path::new(&bench.device).with_file_name("log-1");
    let has_logged = |text: &str| std::fs::read_to_string(&log).is_ok_and(|log| log.contains(text));
    TESTING.store(thread(), SeqCst);
    BY_WORKERS.store(0, SeqCst);
    let run = std::thread::spawn(move || {
        REPORTING.store(thread(), SeqCst);
        let text =
            "test-duration-sec: 4\nread-reqs-per-sec: 5000\nwrite-reqs-per-sec: 2000\nservice-threads: 8\n";
        bench.run(engine, text)
    });
    while !has_logged("after 1 sec:") && !run.is_finished() {
        std::thread::sleep(Duration::from_millis(10));
    }
    IS_COUNTING.store(true, SeqCst);
    let until = Instant::now() + Duration::from_millis(1_500);
    let workers = workers();
    let (mut seen, mut samples) = (BTreeSet::new(), 0);
    while Instant::now() < until {
        samples += workers.len();
        seen.extend(workers.iter().map(|worker| call(worker)));
    }
    IS_COUNTING.store(false, SeqCst);
    let is_near_the_end = has_logged("after 3 sec:");
    let outcome = run.join().unwrap();
    (!is_near_the_end).then_some((outcome, seen, samples))
}

#[test]
fn the_io_path_neither_allocates_nor_waits_for_a_lock() {
    for engine in ["io_uring", "threads"] {
        let Some((outcome, seen, samples)) = observe(engine) else {
            return;
        };
        assert_eq!(outcome, Outcome::Finished, "{engine}");
        assert_eq!(
            BY_WORKERS.load(SeqCst),
            0,
            "{engine}: allocations on the I/O path"
        );
        // The counter works: the reporting and the testing thread allocate all the time.
        assert!(BY_OTHERS.load(SeqCst) > 0);
        let others: Vec<i64> = seen
            .iter()
            .copied()
            .filter(|call| !ALLOWED.iter().any(|(_, known)| known == call))
            .collect();
        assert!(
            samples > 100 && others.is_empty(),
            "{engine}: {samples} samples, other system calls {others:?}"
        );
    }
}
