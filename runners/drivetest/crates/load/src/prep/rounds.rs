//! Random overwriting in rounds of equal length, until the rate of the last five is steady on every device at once.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use serde::Serialize;

use super::crew::Halt;
use super::criterion::Window;
use super::target::Target;
use super::{Steady, Wish};
use crate::buffer::Payload;
use crate::clock::Nanos;
use crate::draws::Draws;

/// Streams of random choices from here on belong to overwriting, two for each worker: places and content.
const ROUND_STREAM: u64 = 1 << 41;
/// Workers of one device; more are refused on the command line.
pub(super) const DEPTH_MAX: usize = 4_096;

/// What one worker of one device does until all work is at its end; `written` counts bytes.
pub(super) fn overwrite(
    wish: &Wish,
    steady: &Steady,
    (ordinal, worker): (usize, usize),
    target: &Target,
    written: &AtomicU64,
    halt: &Halt,
) {
    let stream = ROUND_STREAM + 2 * (ordinal * DEPTH_MAX + worker) as u64;
    let blocks_count = target.size_bytes / steady.block_bytes as u64;
    let mut payload = Payload::new(
        steady.block_bytes,
        wish.compress_pct,
        Draws::new(wish.seed, stream, u64::MAX),
    );
    for k in 0.. {
        if halt.is_raised() {
            return;
        }
        let place = Draws::new(wish.seed, stream, k).below(blocks_count);
        payload.stamp(Draws::new(wish.seed, stream + 1, k));
        let offset = place * steady.block_bytes as u64;
        if !halt.write(&target.name, &target.file, payload.bytes(), offset) {
            return;
        }
        written.fetch_add(steady.block_bytes as u64, SeqCst);
    }
}

/// One round of one device.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Round {
    pub written_bytes: u64,
    pub elapsed_ns: u64,
    pub bytes_per_s: f64,
    pub writes_per_s: f64,
}

/// The rounds of one device so far.
#[derive(Debug, Serialize)]
pub(super) struct Course {
    pub path: String,
    pub rounds: Vec<Round>,
    /// Of the last five rounds; None before there are five.
    pub window: Option<Window>,
}

impl Course {
    pub fn of(target: &Target) -> Self {
        Self {
            path: target.name.clone(),
            rounds: Vec::new(),
            window: None,
        }
    }

    /// Adds a round.
    pub fn add(&mut self, written_bytes: u64, elapsed: Nanos, block_bytes: usize) {
        let seconds = elapsed.0.max(1) as f64 / 1e9;
        let bytes_per_s = written_bytes as f64 / seconds;
        self.rounds.push(Round {
            written_bytes,
            elapsed_ns: elapsed.0,
            bytes_per_s,
            writes_per_s: bytes_per_s / block_bytes as f64,
        });
        let rates: Vec<_> = self.rounds.iter().map(|round| round.bytes_per_s).collect();
        self.window = Window::of(&rates);
    }

    /// Whether the last five rounds are steady.
    pub fn is_steady(&self) -> bool {
        self.window.is_some_and(|window| window.is_steady)
    }

    /// A table for people.
    pub fn table(&self) -> String {
        let mut table = format!("{}\n round      MB/s   writes/s\n", self.path);
        for (ordinal, round) in self.rounds.iter().enumerate() {
            let megabytes = round.bytes_per_s / 1e6;
            table += &format!("{:6} {megabytes:9.1} {:10.0}\n", ordinal + 1, round.writes_per_s);
        }
        table + &self.sentence() + "\n"
    }

    fn sentence(&self) -> String {
        let Some(window) = self.window else {
            return "not steady: fewer than five rounds in which something was written".to_owned();
        };
        format!(
            "{}: the last five rounds wrote {:.1} MB/s on average, range {:.1} % (at most 20 %), slope {:.1} % (at most 10 %)",
            if window.is_steady { "steady" } else { "not steady" },
            window.average_bytes_per_s / 1e6,
            window.range_pct,
            window.slope_pct
        )
    }
}
