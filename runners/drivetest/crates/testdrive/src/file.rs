//! The file system with one file in it, as the kernel asks for it.

use std::ffi::OsStr;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, ReplyOpen, ReplyWrite,
    Request, TimeOrNow, WriteFlags,
};

use crate::answers::{Answer, Answers, Reply};
use crate::capacity::Servers;
use crate::faults::{Fate, Operation, Rules};
use crate::memory::Memory;
use crate::truth::Counts;

/// The file's name below the mount point.
pub const NAME: &str = "drive";

const FILE: INodeNo = INodeNo(2);

/// The kernel need not ask again: nothing about the file ever changes.
const FOR_EVER: Duration = Duration::from_secs(86_400);

/// Everything the threads of the drive share.
pub struct Store {
    pub size_bytes: u64,
    pub memory: Memory,
    pub seed: u64,
    pub read_rules: RwLock<Rules>,
    pub write_rules: RwLock<Rules>,
    pub servers: Mutex<Option<Servers>>,
    pub reads: Counts,
    pub writes: Counts,
    pub answers: Answers,
}

/// A request with what it is about.
#[derive(Clone, Copy)]
struct Asked {
    operation: Operation,
    arrived: Instant,
    offset: u64,
    length: u32,
}

impl Store {
    pub fn rules(&self, operation: Operation) -> &RwLock<Rules> {
        match operation {
            Operation::Read => &self.read_rules,
            Operation::Write => &self.write_rules,
        }
    }

    pub fn counts(&self, operation: Operation) -> &Counts {
        match operation {
            Operation::Read => &self.reads,
            Operation::Write => &self.writes,
        }
    }

    /// The fate of a request; None where the rules do not watch it.
    fn fate(&self, asked: Asked) -> Option<Fate> {
        let counts = self.counts(asked.operation);
        let rules = self
            .rules(asked.operation)
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if !rules.watches(asked.length) {
            counts.add_other();
            return None;
        }
        let k = counts.arrive(asked.offset, self.size_bytes);
        let seed = self.seed ^ asked.operation as u64;
        Some(rules.fate(seed, k, asked.offset, asked.length))
    }

    /// When a request is answered that no rule holds longer.
    fn served(&self, asked: Asked) -> Instant {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers
            .as_mut()
            .map_or(asked.arrived, |servers| servers.serve(asked.arrived))
    }

    fn take(&self, asked: Asked, reply: Reply) {
        const AT_ONCE: Fate = Fate {
            held: Duration::ZERO,
            delay: None,
            errno: None,
        };
        let fate = self.fate(asked);
        let is_watched = fate.is_some();
        let fate = fate.unwrap_or(AT_ONCE);
        let served = if is_watched {
            self.served(asked)
        } else {
            asked.arrived
        };
        let due = served + fate.held;
        let answer = Answer {
            arrived: asked.arrived,
            due,
            fate,
            is_watched,
            reply,
        };
        if due > asked.arrived || self.answers.is_stalled() {
            self.answers.hold(answer);
        } else {
            answer.send(self, &mut vec![0; asked.length as usize]);
        }
    }
}

/// What the kernel talks to.
pub struct Files(pub Arc<Store>);

impl Files {
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

impl Filesystem for Files {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Without it a request of a loop device or ring waits in the kernel for the one before.
        config
            .add_capabilities(InitFlags::FUSE_ASYNC_DIO)
            .map_err(|_| io::Error::other("this kernel's FUSE has no asynchronous direct I/O"))?;
        // The kernel hands out 12 such requests by default and keeps the rest back.
        let refused =
            |nearest: u16| io::Error::other(format!("this kernel's FUSE takes {nearest} requests at most"));
        config.set_max_background(u16::MAX).map_err(refused)?;
        config.set_congestion_threshold(u16::MAX).map_err(refused)?;
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == NAME {
            reply.entry(&FOR_EVER, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _request: &Request, ino: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOR_EVER, &self.attributes(ino));
    }

    /// Programs set the size that the file has already; any other is refused.
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
        reply.attr(&FOR_EVER, &self.attributes(ino));
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
        let asked = Asked {
            operation: Operation::Read,
            arrived: Instant::now(),
            offset,
            length: size,
        };
        self.0.take(asked, Reply::Read(reply, offset, size));
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
        let asked = Asked {
            operation: Operation::Write,
            arrived,
            offset,
            length,
        };
        self.0.take(asked, Reply::Written(reply, length));
    }
}
