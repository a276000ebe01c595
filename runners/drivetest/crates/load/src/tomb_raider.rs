//! The tomb raiders: one thread for each device reads its large blocks in sequence, repeatedly, with a pause before
//! each.
//!
//! They have no rate and no due times. Upstream's tomb raider reads one block at a time as fast as the device allows;
//! a made-up rate would put a load on a slow drive that upstream does not. So they are separate threads next to
//! either engine. Their reads are counted, but not timed.
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

/// Maximum length of one sleep, so that a stop takes effect soon.
const LONGEST_SLEEP: Nanos = Nanos::from_ms(50);

/// The buffer is allocated separately.
const STACK_BYTES: usize = 128 * 1024;

/// The tomb raiders of a run. They end if this is dropped before the start.
#[derive(Debug)]
pub struct TombRaiders {
    starts: Vec<Sender<Instant>>,
    reads_count: Arc<AtomicU64>,
}

impl TombRaiders {
    /// Creates a thread for each device if the configuration has tomb raiders.
    ///
    /// # Errors
    /// If the system provides too few threads.
    pub fn prepare(context: &Arc<RunContext>) -> io::Result<Self> {
        let (mut starts, reads_count) = (Vec::new(), Arc::default());
        let devices = context.devices.iter().enumerate();
        for (device, opened) in devices.filter(|_| context.config.has_tomb_raider) {
            let (sender, start) = channel();
            let tomb_raider = TombRaider {
                context: Arc::clone(context),
                device,
                buffer: Buffer::new(opened.offsets.longest_bytes(Operation::TombRaider)),
                reads_count: Arc::clone(&reads_count),
            };
            let builder = Builder::new().stack_size(STACK_BYTES);
            // Not joined, because a drive that never answers may block the thread in the kernel.
            builder.spawn(move || tomb_raider.work(&start))?;
            starts.push(sender);
        }
        Ok(Self { starts, reads_count })
    }

    /// Starts the tomb raiders at the start of the run.
    pub fn begin(&self, start: Instant) {
        for tomb_raider in &self.starts {
            // The thread is alive, because it waits for this message.
            let _ = tomb_raider.send(start);
        }
    }

    /// Returns the number of large blocks read so far; None without tomb raiders.
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
        let pause = Nanos(u64::from(self.context.config.tomb_raider_sleep_us) * 1_000);
        for number in 0.. {
            if !self.wait_until(Instant::now().max(start).after(pause), end) || !self.read(number) {
                return;
            }
        }
    }

    /// Waits until a time. Returns false if the run ends before.
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

    /// Reads a large block by its number. Returns false if that ends the run.
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

    /// Creates the context of a plain file of three large blocks with a stated size of `stated_blocks` blocks.
    fn context(stated_blocks: u64, more: &str) -> Arc<RunContext> {
        let text = format!("device-names: a\ntest-duration-sec: 60\nread-reqs-per-sec: 1\n{more}");
        let config = Config::read(&text, 1).unwrap().0;
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 * BLOCK_BYTES).unwrap();
        let device = Device {
            name: "a".to_owned(),
            file,
            size_bytes: stated_blocks * BLOCK_BYTES,
            minimum_io_bytes: 512,
            offsets: Offsets::new(&config, stated_blocks * BLOCK_BYTES, 512).unwrap(),
        };
        Arc::new(RunContext::new(
            config,
            vec![device],
            1,
            StopSignal::new().unwrap(),
        ))
    }

    fn wait_for(done: impl Fn() -> bool) {
        // Half as long as the run, so that an effect of the run's end is too late.
        let patience = Instant::now().after(Nanos::from_s(30));
        while !done() {
            assert!(Instant::now() < patience, "not done within 30 s");
            Instant::now().after(Nanos::from_ms(1)).sleep_until();
        }
    }

    #[test]
    fn a_tomb_raider_repeats_until_the_run_stops() {
        let context = context(3, "tomb-raider: yes");
        let tomb_raiders = TombRaiders::prepare(&context).unwrap();
        tomb_raiders.begin(Instant::now());
        wait_for(|| tomb_raiders.reads_count() > Some(10));
        context.stop.raise(StopReason::Signal("TERM"));
        // The thread's reference is the last one besides ours.
        wait_for(|| Arc::strong_count(&context) == 1);
    }

    #[test]
    fn a_tomb_raider_reaches_the_end_of_its_device() {
        // The fourth block does not exist; its failure ends the run.
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
    fn there_is_no_tomb_raider_by_default() {
        assert_eq!(TombRaiders::prepare(&context(3, "")).unwrap().reads_count(), None);
    }

    #[test]
    fn tomb_raiders_end_if_the_run_does_not_start() {
        let context = context(3, "tomb-raider: yes");
        drop(TombRaiders::prepare(&context).unwrap());
        wait_for(|| Arc::strong_count(&context) == 1);
    }
}
