//! Finds out before a run which engine suits the devices, by reading a little from them.
//!
//! A ring is worth its cost where a request goes out and comes back later. A device of memory has answered before the
//! call returns, and one that the kernel must serve by threads of its own had better have ours.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};

use super::{Engine, EngineSelection, workers};
use crate::config::{Config, EngineChoice};
use crate::device::Device;
use crate::engine::buffer::Buffer;
use crate::schedule::rng::RequestRng;

/// Reads of one device.
const READS_COUNT: u64 = 64;

/// Devices that are asked; a load of many has many of one kind.
const MOST_DEVICES: usize = 8;

/// Every device reads this much directly.
const READ_BYTES: usize = 4_096;

/// How long one read may take, seconds; a device that needs longer is no device of memory.
const PATIENCE_S: u64 = 1;

/// How a device answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Later than the call returns.
    Later,
    /// Before the call returns: so many of the reads.
    AtOnce(u64),
    /// From threads of the kernel.
    FromThreads,
}

/// The engine for these devices at that many requests a second, with the reason.
pub fn choose(config: &Config, devices: &[Device], per_s: f64, cpus_count: usize) -> EngineSelection {
    let rings = Engine::IoUring {
        workers: workers(config.workers as usize, per_s, cpus_count),
    };
    let (engine, reason) = match config.engine {
        EngineChoice::IoUring => (rings, "asked for".to_owned()),
        EngineChoice::Threads => (Engine::Threads, "asked for".to_owned()),
        EngineChoice::Auto => match first_unsuited(devices) {
            Ok(None) => (
                rings,
                "requests come back after the call that submits them".to_owned(),
            ),
            Ok(Some(reason)) => (Engine::Threads, reason),
            Err(error) => (Engine::Threads, format!("this system gives no io_uring: {error}")),
        },
    };
    EngineSelection { engine, reason }
}

/// Why a ring would not suit one of the devices; None when it suits all that were asked.
fn first_unsuited(devices: &[Device]) -> io::Result<Option<String>> {
    for device in devices.iter().take(MOST_DEVICES) {
        let name = &device.name;
        match answer(device)? {
            Answer::Later => {}
            Answer::AtOnce(count) => {
                let told = format!("{name} answers within the call, {count} of {READS_COUNT} reads");
                return Ok(Some(told));
            }
            Answer::FromThreads => {
                return Ok(Some(format!(
                    "{name} is served by threads of the kernel under io_uring"
                )));
            }
        }
    }
    Ok(None)
}

fn answer(device: &Device) -> io::Result<Answer> {
    let mut asked = Asked {
        ring: IoUring::builder().build(4)?,
        buffer: ManuallyDrop::new(Buffer::new(READ_BYTES)),
        is_out: false,
    };
    if !asked.ring.params().is_feature_ext_arg() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let mut at_once_count = 0;
    for k in 0..READS_COUNT {
        let block = RequestRng::new(0, 0, k).below(device.size_bytes / READ_BYTES as u64);
        match asked.read(device, block * READ_BYTES as u64)? {
            Some(is_at_once) => at_once_count += u64::from(is_at_once),
            None => break,
        }
    }
    Ok(match () {
        () if has_kernel_threads() => Answer::FromThreads,
        () if 2 * at_once_count > READS_COUNT => Answer::AtOnce(at_once_count),
        () => Answer::Later,
    })
}

/// A ring with one read out at most.
struct Asked {
    ring: IoUring,
    /// Left to the kernel for ever when a read never came back.
    buffer: ManuallyDrop<Buffer>,
    is_out: bool,
}

impl Asked {
    /// Whether a read was back when the call returned; None when it failed or never came back: the run will tell.
    fn read(&mut self, device: &Device, offset: u64) -> io::Result<Option<bool>> {
        let memory = self.buffer.bytes().as_mut_ptr();
        let entry = opcode::Read::new(types::Fd(device.file.as_raw_fd()), memory, READ_BYTES as u32);
        // SAFETY: the buffer is freed only after every read came back, and nobody looks at it meanwhile.
        let pushed = unsafe { self.ring.submission().push(&entry.offset(offset).build()) };
        pushed.map_err(io::Error::other)?;
        self.is_out = true;
        self.ring.submit()?;
        let is_at_once = !self.ring.completion().is_empty();
        if !is_at_once {
            let time = types::Timespec::new().sec(PATIENCE_S);
            let args = types::SubmitArgs::new().timespec(&time);
            // Time over is told by what did not come back.
            let _ = self.ring.submitter().submit_with_args(1, &args);
        }
        let Some(result) = self.ring.completion().next().map(|entry| entry.result()) else {
            return Ok(None);
        };
        self.is_out = false;
        Ok((result > 0).then_some(is_at_once))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.is_out {
            // SAFETY: dropped once, here, with no read out.
            unsafe { ManuallyDrop::drop(&mut self.buffer) }
        }
    }
}

/// Whether the kernel has started threads for requests of this process. Source: io_uring/io-wq.c names them iou-wrk-PID.
fn has_kernel_threads() -> bool {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return false;
    };
    let name =
        |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
    threads.flatten().any(|entry| name(entry).starts_with("iou-wrk"))
}
