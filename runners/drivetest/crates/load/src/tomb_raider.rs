//! The tomb raiders: one thread for each device reads its large blocks from end to end, round and round, with a pause
//! before each.
//!
//! They have no rate and no due times. Upstream's raider reads as fast as a device answers one request at a time; a
//! rate made up for it would load a slow drive with what upstream never asks of it. So they are threads of their own
//! beside whichever engine carries out the rest, and what they read is counted and not timed.
//! Source: src/storage/act_storage.c, `run_tomb_raider()`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

use crate::clock::{Instant, Nanos};
use crate::engine::buffer::Buffer;
use crate::engine::request;
use crate::engine::workers::RunContext;
use crate::schedule::operation::Operation;
use crate::stats::io_errors::{FailedRequest, Failure};

/// The longest sleep at a stretch, so that a stop is seen soon.
const LONGEST_SLEEP: Nanos = Nanos::from_ms(50);

/// The buffer is allocated apart.
const STACK_BYTES: usize = 128 * 1024;

/// The raiders of a run, waiting for its start; dropped before that, they go home.
#[derive(Debug)]
pub struct TombRaiders {
    starts: Vec<Sender<Instant>>,
    reads_count: Arc<AtomicU64>,
}

impl TombRaiders {
    /// Makes a thread for each device, if the configuration asks for raiders.
    ///
    /// # Errors
    /// When the system gives fewer threads.
    pub fn prepare(context: &Arc<RunContext>) -> io::Result<Self> {
        let mut tomb_raiders = Self {
            starts: Vec::new(),
            reads_count: Arc::default(),
        };
        if context.config.has_tomb_raider {
            for device in 0..context.devices.len() {
                tomb_raiders.add(context, device)?;
            }
        }
        Ok(tomb_raiders)
    }

    fn add(&mut self, context: &Arc<RunContext>, device: usize) -> io::Result<()> {
        let (sender, start) = channel();
        let raider = TombRaider {
            context: Arc::clone(context),
            device,
            buffer: Buffer::new(
                context.devices[device]
                    .offsets
                    .longest_bytes(Operation::TombRaider),
            ),
            reads_count: Arc::clone(&self.reads_count),
        };
        let builder = Builder::new().stack_size(STACK_BYTES);
        // Not joined: a drive that never answers may hold it in the kernel.
        builder.spawn(move || raider.work(&start))?;
        self.starts.push(sender);
        Ok(())
    }

    /// Lets the raiders begin at the start of the run.
    pub fn begin(&self, start: Instant) {
        for raider in &self.starts {
            // It has not ended: it waits for just this.
            let _ = raider.send(start);
        }
    }

    /// Large blocks that were read so far; None where no raider was asked for.
    pub fn reads_count(&self) -> Option<u64> {
        (!self.starts.is_empty()).then(|| self.reads_count.load(Relaxed))
    }
}

struct TombRaider {
    context: Arc<RunContext>,
    device: usize,
    buffer: Buffer,
    reads_count: Arc<AtomicU64>,
}

impl TombRaider {
    fn work(mut self, start: &Receiver<Instant>) {
        let Ok(start) = start.recv() else { return };
        let end = start.after(self.context.length);
        let mut number = 0;
        while self.wait_until(Instant::now().max(start).after(self.pause()), end) {
            if !self.read(number) {
                return;
            }
            number += 1;
        }
    }

    fn pause(&self) -> Nanos {
        Nanos(u64::from(self.context.config.tomb_raider_sleep_us) * 1_000)
    }

    /// False when the run ends before.
    fn wait_until(&self, until: Instant, end: Instant) -> bool {
        loop {
            let now = Instant::now();
            if self.context.stop.is_raised() || now >= end {
                return false;
            }
            if now >= until {
                return true;
            }
            until.min(now.after(LONGEST_SLEEP)).sleep_until();
        }
    }

    /// Reads the large block with this number; false when that ends the run.
    fn read(&mut self, number: u64) -> bool {
        let device = &self.context.devices[self.device];
        let extent = device.offsets.block(number);
        let moved = device.read(extent, self.buffer.bytes());
        if let Some(failure) = Failure::of(moved, extent.length) {
            let failed_request = FailedRequest {
                device: self.device,
                operation: Operation::TombRaider,
                extent,
                failure,
            };
            request::fail(&self.context, failed_request);
            return !self.context.stop.is_raised();
        }
        self.reads_count.fetch_add(1, Relaxed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::device::{Device, Offsets};
    use crate::stop::{StopReason, StopSignal};

    const BLOCK_BYTES: u64 = 131_072;

    /// A plain file of three large blocks, that tells it holds `told` of them.
    fn context(told: u64, more: &str) -> Arc<RunContext> {
        let text = format!("device-names: a\ntest-duration-sec: 60\nread-reqs-per-sec: 1\n{more}");
        let config = Config::read(&text, 1).unwrap().0;
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 * BLOCK_BYTES).unwrap();
        let device = Device {
            name: "a".to_owned(),
            file,
            size_bytes: told * BLOCK_BYTES,
            minimum_io_bytes: 512,
            offsets: Offsets::new(&config, told * BLOCK_BYTES, 512).unwrap(),
        };
        Arc::new(RunContext::new(
            config,
            vec![device],
            1,
            StopSignal::new().unwrap(),
        ))
    }

    fn wait_for(done: impl Fn() -> bool) {
        // Half as long as the run: what only its end brings about is too late.
        let patience = Instant::now().after(Nanos::from_s(30));
        while !done() {
            assert!(Instant::now() < patience, "nothing came of it in 30 s");
            Instant::now().after(Nanos::from_ms(1)).sleep_until();
        }
    }

    #[test]
    fn a_raider_goes_round_and_round_until_the_run_stops() {
        let context = context(3, "tomb-raider: yes");
        let tomb_raiders = TombRaiders::prepare(&context).unwrap();
        tomb_raiders.begin(Instant::now());
        wait_for(|| tomb_raiders.reads_count() > Some(10));
        context.stop.raise(StopReason::Signal("TERM"));
        // The raider's share of it is the last but ours.
        wait_for(|| Arc::strong_count(&context) == 1);
    }

    #[test]
    fn a_raider_comes_to_the_end_of_its_device() {
        // The fourth block is not there: its failure ends the run.
        let context = context(4, "tomb-raider: yes\ntomb-raider-sleep-usec: 1");
        let tomb_raiders = TombRaiders::prepare(&context).unwrap();
        tomb_raiders.begin(Instant::now());
        wait_for(|| context.stop.is_raised());
        let Some(StopReason::Device(failed_request)) = context.stop.stop_reason() else {
            panic!("{:?}", context.stop.stop_reason());
        };
        assert_eq!(
            (failed_request.operation, failed_request.extent.offset),
            (Operation::TombRaider, 3 * BLOCK_BYTES)
        );
    }

    #[test]
    fn no_raider_comes_unasked() {
        assert_eq!(TombRaiders::prepare(&context(3, "")).unwrap().reads_count(), None);
    }

    #[test]
    fn raiders_go_home_where_the_run_does_not_begin() {
        let context = context(3, "tomb-raider: yes");
        drop(TombRaiders::prepare(&context).unwrap());
        wait_for(|| Arc::strong_count(&context) == 1);
    }
}
