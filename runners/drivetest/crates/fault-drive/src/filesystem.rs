//! The FUSE file system with its one file.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, ReplyOpen, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::drive::Servers;
use crate::faults::{Operation, Outcome, Rules};
use crate::ground_truth::Counters;
use crate::replies::{PendingReply, Reply, ReplyQueue};

/// Name of the file in the mount point.
pub const NAME: &str = "drive";

const FILE: INodeNo = INodeNo(2);

/// The kernel may cache attributes, because they never change.
const ATTRIBUTES_TTL: Duration = Duration::from_secs(86_400);

/// State that the threads of the drive share.
pub struct DriveState {
    pub size_bytes: u64,
    pub memory: Memory,
    pub seed: u64,
    pub read_rules: RwLock<Rules>,
    pub write_rules: RwLock<Rules>,
    pub servers: Mutex<Option<Servers>>,
    pub reads: Counters,
    pub writes: Counters,
    pub replies: ReplyQueue,
}

/// The content of the drive: a file in memory, so that threads read and write without a lock of ours.
///
/// Ranges that were never written take no memory and read as zeros.
#[derive(Debug)]
pub struct Memory(File);

impl Memory {
    /// Creates a content of zeros.
    ///
    /// # Errors
    /// The system's error if it has no memory file of that size.
    pub fn new(size_bytes: u64) -> io::Result<Self> {
        let file = File::from(memfd_create("fault-drive", MemfdFlags::CLOEXEC)?);
        file.set_len(size_bytes)?;
        Ok(Self(file))
    }

    /// Reads at `offset`; returns fewer bytes at the end of the drive.
    ///
    /// # Errors
    /// The system's error.
    pub fn read<'a>(&self, offset: u64, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        let length = self.0.read_at(buffer, offset)?;
        Ok(&buffer[..length])
    }

    /// Writes at `offset`.
    ///
    /// # Errors
    /// The system's error, usually lack of memory.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }
}

/// A read or write of the kernel.
#[derive(Clone, Copy)]
struct IoRequest {
    operation: Operation,
    arrived: Instant,
    offset: u64,
    length: u32,
}

impl DriveState {
    pub fn rules(&self, operation: Operation) -> &RwLock<Rules> {
        match operation {
            Operation::Read => &self.read_rules,
            Operation::Write => &self.write_rules,
        }
    }

    pub fn counts(&self, operation: Operation) -> &Counters {
        match operation {
            Operation::Read => &self.reads,
            Operation::Write => &self.writes,
        }
    }

    /// Counts a request and returns its outcome, or None if the rules do not apply to it.
    fn outcome(&self, request: IoRequest) -> Option<Outcome> {
        let counts = self.counts(request.operation);
        let rules = self
            .rules(request.operation)
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if !rules.applies_to(request.length) {
            counts.record_other();
            return None;
        }
        let k = counts.record_arrival(request.offset, self.size_bytes);
        let seed = self.seed ^ request.operation as u64;
        Some(rules.outcome(seed, k, request.offset, request.length))
    }

    /// Returns when a server has finished a request that no rule delays.
    fn finished_at(&self, request: IoRequest) -> Instant {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers
            .as_mut()
            .map_or(request.arrived, |servers| servers.serve(request.arrived))
    }

    /// Replies to a request now, or schedules the reply.
    fn handle(&self, request: IoRequest, reply: Reply) {
        const IMMEDIATE: Outcome = Outcome {
            duration: Duration::ZERO,
            delay_index: None,
            errno: None,
        };
        let outcome = self.outcome(request);
        let is_counted = outcome.is_some();
        let outcome = outcome.unwrap_or(IMMEDIATE);
        let finished_at = if is_counted {
            self.finished_at(request)
        } else {
            request.arrived
        };
        let due = finished_at + outcome.duration;
        let pending = PendingReply {
            arrived: request.arrived,
            due,
            outcome,
            is_counted,
            reply,
        };
        if due > request.arrived || self.replies.is_stalled() {
            self.replies.schedule(pending);
        } else {
            pending.send(self, &mut vec![0; request.length as usize]);
        }
    }
}

/// The FUSE interface of the drive.
pub struct FaultFilesystem(pub Arc<DriveState>);

impl FaultFilesystem {
    fn attributes(&self, ino: INodeNo) -> FileAttr {
        let (kind, perm, size) = match ino {
            FILE => (FileType::RegularFile, 0o600, self.0.size_bytes),
            _ => (FileType::Directory, 0o700, 0),
        };
        FileAttr {
            ino,
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 512,
            flags: 0,
        }
    }
}

impl Filesystem for FaultFilesystem {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Without this flag, a request of a loop device or ring waits in the kernel for the previous one.
        config
            .add_capabilities(InitFlags::FUSE_ASYNC_DIO)
            .map_err(|_| io::Error::other("this kernel's FUSE has no asynchronous direct I/O"))?;
        // By default the kernel sends only 12 such requests at a time.
        let refused =
            |nearest: u16| io::Error::other(format!("this kernel's FUSE accepts at most {nearest} requests"));
        config.set_max_background(u16::MAX).map_err(refused)?;
        config.set_congestion_threshold(u16::MAX).map_err(refused)?;
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == NAME {
            reply.entry(&ATTRIBUTES_TTL, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _request: &Request, ino: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&ATTRIBUTES_TTL, &self.attributes(ino));
    }

    /// Accepts only the size that the file already has, because some programs set it.
    fn setattr(
        &self,
        _request: &Request,
        ino: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if size.is_some_and(|size| size != self.0.size_bytes) {
            return reply.error(Errno::EPERM);
        }
        reply.attr(&ATTRIBUTES_TTL, &self.attributes(ino));
    }

    fn open(&self, _request: &Request, _ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _request: &Request,
        _ino: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let request = IoRequest {
            operation: Operation::Read,
            arrived: Instant::now(),
            offset,
            length: size,
        };
        self.0.handle(request, Reply::Read(reply, offset, size));
    }

    fn write(
        &self,
        _request: &Request,
        _ino: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let arrived = Instant::now();
        let is_inside = offset + data.len() as u64 <= self.0.size_bytes;
        let written = if is_inside {
            self.0.memory.write(offset, data)
        } else {
            Err(rustix::io::Errno::NOSPC.into())
        };
        if let Err(error) = written {
            return reply.error(Errno::from(error));
        }
        let length = data.len() as u32;
        let request = IoRequest {
            operation: Operation::Write,
            arrived,
            offset,
            length,
        };
        self.0.handle(request, Reply::Written(reply, length));
    }
}
