//! Engine selection: reads a few blocks before a run to find the engine that suits the devices.
//!
//! A ring is useful if requests complete after the submitting call. A device in memory completes them within the
//! call. If the kernel would serve a device with threads of its own, our own threads are better.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};

use super::ring_cpus::RingCpus;
use super::{Engine, EngineSelection, workers};
use crate::config::{Config, EngineChoice};
use crate::device::Device;
use crate::engine::buffer::Buffer;
use crate::schedule::rng::RequestRng;

/// Reads of each device.
const READS_COUNT: u64 = 64;

/// Maximum number of devices to read; large loads usually have many equal devices.
const MOST_DEVICES: usize = 8;

/// Length of a read that every device accepts for direct I/O.
const READ_BYTES: usize = 4_096;

/// Time limit for a read, seconds. A slower device is not in memory.
const PATIENCE_S: u64 = 1;

/// How a device completes reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Completion {
    /// After the submitting call.
    AfterCall,
    /// This number of reads within the submitting call.
    WithinCall(u64),
    /// By threads of the kernel.
    ByKernelThreads,
}

/// Selects the engine for these devices at `per_s` requests per second.
pub fn select(config: &Config, devices: &[Device], per_s: f64, ring_cpus: &RingCpus) -> EngineSelection {
    let (workers, rings_reason) = workers(config.workers as usize, per_s, ring_cpus);
    let rings = Engine::IoUring { workers };
    let (engine, reason) = match config.engine {
        EngineChoice::IoUring => (rings, "configured".to_owned()),
        EngineChoice::Threads => (Engine::Threads, "configured".to_owned()),
        EngineChoice::Auto => match unsuited_reason(devices) {
            Ok(None) => (
                rings,
                "requests come back after the call that submits them".to_owned(),
            ),
            Ok(Some(reason)) => (Engine::Threads, reason),
            Err(error) => (Engine::Threads, format!("io_uring is not available: {error}")),
        },
    };
    EngineSelection {
        engine,
        reason,
        rings_reason: (engine == rings).then_some(rings_reason),
    }
}

/// Returns why a ring does not suit one of the probed devices, or None.
fn unsuited_reason(devices: &[Device]) -> io::Result<Option<String>> {
    for device in devices.iter().take(MOST_DEVICES) {
        let name = &device.name;
        match probe(device)? {
            Completion::AfterCall => {}
            Completion::WithinCall(count) => {
                let reason =
                    format!("{name} completes {count} of {READS_COUNT} reads within the submitting call");
                return Ok(Some(reason));
            }
            Completion::ByKernelThreads => {
                return Ok(Some(format!(
                    "{name} is served by threads of the kernel under io_uring"
                )));
            }
        }
    }
    Ok(None)
}

fn probe(device: &Device) -> io::Result<Completion> {
    let mut ring = ProbeRing {
        ring: IoUring::builder().build(4)?,
        buffer: ManuallyDrop::new(Buffer::new(READ_BYTES)),
        is_out: false,
    };
    if !ring.ring.params().is_feature_ext_arg() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let mut within_call_count = 0;
    for k in 0..READS_COUNT {
        let block = RequestRng::new(0, 0, k).below(device.size_bytes / READ_BYTES as u64);
        match ring.read(device, block * READ_BYTES as u64)? {
            Some(is_within_call) => within_call_count += u64::from(is_within_call),
            None => break,
        }
    }
    Ok(match () {
        () if has_kernel_threads() => Completion::ByKernelThreads,
        () if 2 * within_call_count > READS_COUNT => Completion::WithinCall(within_call_count),
        () => Completion::AfterCall,
    })
}

/// A ring with at most one outstanding read.
struct ProbeRing {
    ring: IoUring,
    /// Left to the kernel if a read never completes.
    buffer: ManuallyDrop<Buffer>,
    is_out: bool,
}

impl ProbeRing {
    /// Returns whether a read completed within the call. None if it failed or timed out; the run reports that.
    fn read(&mut self, device: &Device, offset: u64) -> io::Result<Option<bool>> {
        let memory = self.buffer.bytes().as_mut_ptr();
        let entry = opcode::Read::new(types::Fd(device.file.as_raw_fd()), memory, READ_BYTES as u32);
        // SAFETY: the buffer is freed only after all reads have completed, and is not accessed before.
        let pushed = unsafe { self.ring.submission().push(&entry.offset(offset).build()) };
        pushed.map_err(io::Error::other)?;
        self.is_out = true;
        self.ring.submit()?;
        let is_within_call = !self.ring.completion().is_empty();
        if !is_within_call {
            let time = types::Timespec::new().sec(PATIENCE_S);
            let args = types::SubmitArgs::new().timespec(&time);
            // A timeout shows as a missing completion.
            let _ = self.ring.submitter().submit_with_args(1, &args);
        }
        let Some(result) = self.ring.completion().next().map(|entry| entry.result()) else {
            return Ok(None);
        };
        self.is_out = false;
        Ok((result > 0).then_some(is_within_call))
    }
}

impl Drop for ProbeRing {
    fn drop(&mut self) {
        if !self.is_out {
            // SAFETY: dropped once, here, with no outstanding read.
            unsafe { ManuallyDrop::drop(&mut self.buffer) }
        }
    }
}

/// Returns whether the kernel started threads for this process's requests. Source: io_uring/io-wq.c names them
/// iou-wrk-PID.
fn has_kernel_threads() -> bool {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return false;
    };
    let name =
        |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
    threads.flatten().any(|entry| name(entry).starts_with("iou-wrk"))
}
