//! The drive as tests and programs hold it: mounted while it lives, told what to do, asked what it did.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use fuser::{Config, MountOption, Session};
use rustix::mount::{UnmountFlags, unmount};
use serde::Serialize;

use crate::answers::Answers;
use crate::capacity::Servers;
use crate::faults::{Delay, Failing, Operation, Rules};
use crate::file::{Files, NAME, Store};
use crate::memory::Memory;
use crate::priority;
use crate::truth::{Counts, MOST_DELAYS, Told};

/// Threads that take requests from the kernel; none of them ever waits.
const TAKERS: usize = 2;

/// What a drive is.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Size, bytes; a multiple of 4096.
    pub size_bytes: u64,
    /// Which requests a share of delays befalls follows from it.
    pub seed: u64,
}

/// Why there is no drive.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The kernel, or the lack of rights, is in the way.
    #[error("{at}: no FUSE file can be mounted: {source}; be root on a host with /dev/fuse")]
    Mount {
        /// The mount point.
        at: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// No memory or no thread.
    #[error("the drive cannot be set up: {0}")]
    SetUp(#[from] io::Error),
}

/// A mounted drive.
pub struct TestDrive {
    mount_point: PathBuf,
    store: Arc<Store>,
    threads: Vec<JoinHandle<()>>,
}

/// What the drive did since it was mounted, or since the last [`TestDrive::forget`].
#[derive(Debug, Clone, Serialize)]
pub struct Truth {
    /// Size of the drive.
    pub size_bytes: u64,
    /// About reads.
    pub read: Told,
    /// About writes.
    pub write: Told,
}

impl TestDrive {
    /// Shows a drive as the file `drive` below `mount_point`, an empty directory.
    ///
    /// # Errors
    /// [`DriveError::Mount`] without the rights or the kernel for it.
    pub fn mount(mount_point: &Path, shape: Shape) -> Result<Self, DriveError> {
        let store = Arc::new(Store {
            size_bytes: shape.size_bytes,
            memory: Memory::new(shape.size_bytes)?,
            seed: shape.seed,
            read_rules: RwLock::new(Rules::default()),
            write_rules: RwLock::new(Rules::default()),
            servers: Mutex::new(None),
            reads: Counts::default(),
            writes: Counts::default(),
            answers: Answers::default(),
        });
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("testdrive".to_owned()), MountOption::NoExec];
        config.n_threads = Some(TAKERS);
        let session = Session::new(Files(Arc::clone(&store)), mount_point, &config).map_err(|source| {
            DriveError::Mount {
                at: mount_point.to_owned(),
                source,
            }
        })?;
        let threads = start(&store, session)?;
        Ok(Self {
            mount_point: mount_point.to_owned(),
            store,
            threads,
        })
    }

    /// The file to load.
    pub fn path(&self) -> PathBuf {
        self.mount_point.join(NAME)
    }

    /// Watches requests of one length alone: what a program reads while it opens a device is then not counted.
    pub fn watch_only(&self, operation: Operation, length: u32) {
        self.change(operation, |rules| rules.length = Some(length));
    }

    /// Holds every answer that no delay befalls for a fixed time.
    pub fn hold(&self, operation: Operation, base: Duration) {
        self.change(operation, |rules| rules.base = base);
    }

    /// Holds a share of answers longer; shares of several calls are disjoint.
    ///
    /// # Panics
    /// With more than eight delays, which are not counted apart.
    pub fn delay(&self, operation: Operation, delay: Delay) {
        self.change(operation, |rules| {
            assert!(rules.delays.len() < MOST_DELAYS, "at most {MOST_DELAYS} delays");
            rules.delays.push(delay);
        });
    }

    /// Makes requests fail.
    pub fn fail(&self, operation: Operation, failing: Failing) {
        self.change(operation, |rules| rules.failing.push(failing));
    }

    /// Gives the drive so many servers, each needing `service` for a request, reads and writes alike.
    pub fn serve(&self, count: usize, service: Duration) {
        let servers = Servers::new(count, service, Instant::now());
        *self.store.servers.lock().unwrap_or_else(PoisonError::into_inner) = Some(servers);
    }

    /// Takes all rules back; what is counted stays.
    pub fn clear(&self) {
        self.change(Operation::Read, |rules| *rules = Rules::default());
        self.change(Operation::Write, |rules| *rules = Rules::default());
        *self.store.servers.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Answers nothing until [`Self::resume`].
    pub fn stall(&self) {
        self.store.answers.stall();
    }

    /// Answers again; returns how long the drive had stalled.
    pub fn resume(&self) -> Duration {
        self.store.answers.resume()
    }

    /// Keeps from now on when each read was answered, for [`Self::reads_answered_at`].
    pub fn keep_times_of_reads(&self) {
        self.store.reads.keep_times();
    }

    /// When each read that is watched was answered since the times are kept, the first first.
    pub fn reads_answered_at(&self) -> Vec<Instant> {
        self.store.reads.answered_at()
    }

    /// What it did.
    pub fn truth(&self) -> Truth {
        Truth {
            size_bytes: self.store.size_bytes,
            read: self.store.reads.told(),
            write: self.store.writes.told(),
        }
    }

    /// Counts from nought again, requests' numbers as well.
    pub fn forget(&self) {
        self.store.reads.clear();
        self.store.writes.clear();
    }

    fn change(&self, operation: Operation, change: impl FnOnce(&mut Rules)) {
        change(
            &mut self
                .store
                .rules(operation)
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}

fn start(store: &Arc<Store>, session: Session<Files>) -> io::Result<Vec<JoinHandle<()>>> {
    let answering = Arc::clone(store);
    let answers = Builder::new().name("answers".to_owned()).spawn(move || {
        priority::raise();
        answering.answers.run(&answering);
    })?;
    let takers = Builder::new().name("takers".to_owned()).spawn(move || {
        // The session's own threads inherit it.
        priority::raise();
        // It ends with the mount; what the kernel says to that is of no use to anybody.
        let _ = session.run();
    })?;
    Ok(vec![answers, takers])
}

impl Drop for TestDrive {
    /// Answers what waits, and goes; whoever still has it open gets errors from then on.
    fn drop(&mut self) {
        self.store.answers.end();
        let _ = unmount(&self.mount_point, UnmountFlags::FORCE | UnmountFlags::DETACH);
        for thread in self.threads.drain(..) {
            // A panic of that thread has been told on standard error already.
            let _ = thread.join();
        }
    }
}
