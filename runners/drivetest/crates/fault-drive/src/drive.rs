//! The mounted drive: its life cycle, its controls, its counts, and its capacity: a number of parallel servers with a fixed
//! service time, so that the maximum rate is known.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use fuser::{Config, MountOption, Session};
use rustix::mount::{UnmountFlags, unmount};
use serde::Serialize;

use crate::burners::Burners;
use crate::faults::{Delay, FailureRule, Operation, Rules};
use crate::filesystem::{DriveState, FaultFilesystem, Memory, NAME};
use crate::ground_truth::{Counters, MAX_DELAYS, OperationTruth};
use crate::replies::ReplyQueue;

/// Threads that receive requests from the kernel; they never block.
const RECEIVERS: usize = 2;

/// The middle of the real-time range: above all ordinary threads, below the kernel's own.
const PRIORITY: i32 = 50;

/// Size and seed of a drive.
#[derive(Debug, Clone, Copy)]
pub struct DriveOptions {
    /// Size, bytes; a multiple of 4096.
    pub size_bytes: u64,
    /// Seed of the random selection of delayed requests.
    pub seed: u64,
}

/// A drive that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Mounting failed, for example without root.
    #[error("{at}: cannot mount a FUSE file system: {source}; run as root on a host with /dev/fuse")]
    Mount {
        /// The mount point.
        at: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Memory or threads are not available.
    #[error("the drive cannot be set up: {0}")]
    SetUp(#[from] io::Error),
}

/// A mounted drive.
pub struct FaultDrive {
    mount_point: PathBuf,
    state: Arc<DriveState>,
    threads: Vec<JoinHandle<()>>,
    burners: Mutex<Option<Burners>>,
}

/// The counts since the mount, or since the last [`FaultDrive::reset_counts`].
#[derive(Debug, Clone, Serialize)]
pub struct GroundTruth {
    /// Size of the drive.
    pub size_bytes: u64,
    /// Counts of reads.
    pub read: OperationTruth,
    /// Counts of writes.
    pub write: OperationTruth,
}

impl FaultDrive {
    /// Mounts a drive as the file `drive` in `mount_point`, an empty directory.
    ///
    /// # Errors
    /// [`DriveError::Mount`] if the process or the kernel cannot mount FUSE.
    pub fn mount(mount_point: &Path, options: DriveOptions) -> Result<Self, DriveError> {
        let state = Arc::new(DriveState {
            size_bytes: options.size_bytes,
            memory: Memory::new(options.size_bytes)?,
            seed: options.seed,
            read_rules: RwLock::new(Rules::default()),
            write_rules: RwLock::new(Rules::default()),
            servers: Mutex::new(None),
            reads: Counters::default(),
            writes: Counters::default(),
            replies: ReplyQueue::default(),
        });
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("fault-drive".to_owned()), MountOption::NoExec];
        config.n_threads = Some(RECEIVERS);
        let session =
            Session::new(FaultFilesystem(Arc::clone(&state)), mount_point, &config).map_err(|source| {
                DriveError::Mount {
                    at: mount_point.to_owned(),
                    source,
                }
            })?;
        let threads = start(&state, session)?;
        Ok(Self {
            mount_point: mount_point.to_owned(),
            state,
            threads,
            burners: Mutex::default(),
        })
    }

    /// Returns the path of the file to load.
    pub fn path(&self) -> PathBuf {
        self.mount_point.join(NAME)
    }

    /// Limits rules and counts to requests of one length. This excludes what a program reads while it opens a device.
    pub fn limit_to_length(&self, operation: Operation, length: u32) {
        self.change(operation, |rules| rules.length = Some(length));
    }

    /// Sets the delay of requests without an individual delay.
    pub fn set_base_delay(&self, operation: Operation, base_delay: Duration) {
        self.change(operation, |rules| rules.base_delay = base_delay);
    }

    /// Delays a share of the requests. Shares of several calls are disjoint.
    ///
    /// # Panics
    /// If there are eight delays already: there is no counter for more.
    pub fn add_delay(&self, operation: Operation, delay: Delay) {
        self.change(operation, |rules| {
            assert!(rules.delays.len() < MAX_DELAYS, "at most {MAX_DELAYS} delays");
            rules.delays.push(delay);
        });
    }

    /// Adds a rule for requests that fail.
    pub fn add_failure(&self, operation: Operation, rule: FailureRule) {
        self.change(operation, |rules| rules.failures.push(rule));
    }

    /// Limits the capacity to `count` servers, which each need `service` for a read or write.
    pub fn set_servers(&self, count: usize, service: Duration) {
        let servers = Servers::new(count, service, Instant::now());
        *self.state.servers.lock().unwrap_or_else(PoisonError::into_inner) = Some(servers);
    }

    /// Removes all rules. The counts remain.
    pub fn clear_rules(&self) {
        self.change(Operation::Read, |rules| *rules = Rules::default());
        self.change(Operation::Write, |rules| *rules = Rules::default());
        *self.state.servers.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Sends no reply until [`Self::resume`].
    pub fn stall(&self) {
        self.state.replies.stall();
    }

    /// Ends a stall and returns how long it lasted.
    pub fn resume(&self) -> Duration {
        self.state.replies.resume()
    }

    /// Starts threads that occupy all processors except when the drive needs one, until [`Self::stop_burners`].
    ///
    /// The threads of the drive have a higher real-time priority than these. `late_count` shows whether that sufficed.
    ///
    /// # Errors
    /// The system's error if it permits no real-time priority.
    pub fn start_burners(&self) -> io::Result<()> {
        let burners = Burners::start()?;
        *self.burners.lock().unwrap_or_else(PoisonError::into_inner) = Some(burners);
        Ok(())
    }

    /// Ends the threads of [`Self::start_burners`].
    pub fn stop_burners(&self) {
        *self.burners.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Starts to record the completion time of each read, for [`Self::read_completion_times`].
    pub fn record_read_times(&self) {
        self.state.reads.record_times();
    }

    /// Returns the recorded completion times of reads in ascending order.
    pub fn read_completion_times(&self) -> Vec<Instant> {
        self.state.reads.reply_times()
    }

    /// Returns the current counts.
    pub fn ground_truth(&self) -> GroundTruth {
        GroundTruth {
            size_bytes: self.state.size_bytes,
            read: self.state.reads.snapshot(),
            write: self.state.writes.snapshot(),
        }
    }

    /// Sets all counts and the request numbers to 0.
    pub fn reset_counts(&self) {
        self.state.reads.reset();
        self.state.writes.reset();
    }

    fn change(&self, operation: Operation, change: impl FnOnce(&mut Rules)) {
        change(
            &mut self
                .state
                .rules(operation)
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}

fn start(state: &Arc<DriveState>, session: Session<FaultFilesystem>) -> io::Result<Vec<JoinHandle<()>>> {
    let sender_state = Arc::clone(state);
    let sender = Builder::new().name("replies".to_owned()).spawn(move || {
        raise_priority();
        sender_state.replies.run(&sender_state);
    })?;
    let receiver = Builder::new().name("receivers".to_owned()).spawn(move || {
        // The session's own threads inherit the priority.
        raise_priority();
        // The session ends with the mount; its error is then of no use.
        let _ = session.run();
    })?;
    Ok(vec![sender, receiver])
}

/// Gives the calling thread, and the threads that it starts, real-time priority, so that replies are on time on a busy
/// host. Without the permission, replies are only later.
fn raise_priority() {
    let _ = set_real_time_priority(PRIORITY);
    // By default the kernel wakes ordinary threads up to 50 us late to save power.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// Gives the calling thread a real-time priority: it runs before all threads with a lower one.
pub(crate) fn set_real_time_priority(priority: i32) -> io::Result<()> {
    let parameter = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: the pointer is to a local that outlives the call, and 0 names the calling thread.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameter) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

impl Drop for FaultDrive {
    /// Sends the pending replies and unmounts. A program that still has the file open gets errors from then on.
    fn drop(&mut self) {
        self.stop_burners();
        self.state.replies.end();
        let _ = unmount(&self.mount_point, UnmountFlags::FORCE | UnmountFlags::DETACH);
        for thread in self.threads.drain(..) {
            // A panic of that thread is on standard error already.
            let _ = thread.join();
        }
    }
}

/// Servers that take requests in the order of arrival. Their maximum rate is `count / service`.
#[derive(Debug, Clone)]
pub struct Servers {
    service: Duration,
    free_at: BinaryHeap<Reverse<Instant>>,
}

impl Servers {
    /// Creates `count` servers (at least one) that need `service` for each request.
    pub fn new(count: usize, service: Duration, now: Instant) -> Self {
        let free_at = (0..count.max(1)).map(|_| Reverse(now)).collect();
        Self { service, free_at }
    }

    /// Returns when a request that arrived at `arrived` is finished. Calls must be in the order of arrival.
    pub fn serve(&mut self, arrived: Instant) -> Instant {
        let free = self.free_at.pop().map_or(arrived, |Reverse(at)| at);
        let done = free.max(arrived) + self.service;
        self.free_at.push(Reverse(done));
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn an_idle_server_starts_a_request_immediately() {
        let start = Instant::now();
        let mut servers = Servers::new(2, MS, start);
        assert_eq!(
            [
                servers.serve(start),
                servers.serve(start),
                servers.serve(start + 5 * MS)
            ],
            [start + MS, start + MS, start + 6 * MS]
        );
    }

    #[test]
    fn a_request_waits_for_the_first_free_server() {
        let start = Instant::now();
        let mut servers = Servers::new(2, MS, start);
        let done: Vec<_> = (0..5).map(|_| servers.serve(start) - start).collect();
        assert_eq!(done, [MS, MS, 2 * MS, 2 * MS, 3 * MS]);
    }
}
