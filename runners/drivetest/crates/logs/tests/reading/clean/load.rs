//! The operations of a clean run and its blocks.

use std::fmt::Write;

use super::draw::Draw;
use super::header::names;
use super::plan::{Plan, Version};

const BUCKETS: usize = 40;

type Counts = [u64; BUCKETS];

/// Operations of one kind on all devices.
#[derive(Debug)]
struct Kind {
    per_s: f64,
    burst: u64,
    median_us: f64,
    /// Counts of the devices now, and at the last total.
    devices: Vec<Counts>,
    made: u64,
}

/// A run while it is written.
pub struct Load<'a> {
    plan: &'a Plan,
    draw: Draw,
    reads: Kind,
    writes: Kind,
    blocks_read: Kind,
    blocks_written: Kind,
    waited: Counts,
    waited_count: u64,
    wander: f64,
}

impl Kind {
    fn new(plan: &Plan, per_s: f64, burst: u64, median_us: f64) -> Self {
        let devices = vec![[0; BUCKETS]; plan.devices as usize];
        Self {
            per_s,
            burst,
            median_us,
            devices,
            made: 0,
        }
    }

    fn total(&self) -> Counts {
        let mut sum = [0; BUCKETS];
        for counts in &self.devices {
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        sum
    }
}

impl<'a> Load<'a> {
    /// A run at its start.
    pub fn new(plan: &'a Plan, mut draw: Draw) -> Self {
        let median_us = 60.0 + 80.0 * draw.unit();
        let (reads, writes) = (plan.reads_per_s() as f64, plan.writes_per_s() as f64);
        let bundle = 8 * 100;
        let (reads_per_s, burst) = if plan.is_index() {
            (reads + writes + writes * 2.0, plan.threads + bundle)
        } else {
            (reads, plan.threads)
        };
        let blocks_per_s = plan.large_blocks_per_s();
        Self {
            plan,
            reads: Kind::new(plan, reads_per_s, burst, median_us),
            writes: Kind::new(plan, writes * 2.0, bundle, 20.0),
            blocks_read: Kind::new(plan, blocks_per_s, plan.devices, 400.0),
            blocks_written: Kind::new(plan, blocks_per_s, plan.devices, 150.0),
            waited: [0; BUCKETS],
            waited_count: 0,
            wander: 0.0,
            draw,
        }
    }

    /// Writes the next block.
    pub fn block(&mut self, interval: u64, text: &mut String) {
        let label_s = interval * self.plan.interval_s;
        self.wander = self.wander * 0.9 + 0.05 * self.draw.normal();
        let (plan, wander) = (self.plan, self.wander);
        make(&mut self.reads, plan, label_s, wander, &mut self.draw);
        make(&mut self.writes, plan, label_s, wander, &mut self.draw);
        make(&mut self.blocks_read, plan, label_s, wander, &mut self.draw);
        make(&mut self.blocks_written, plan, label_s, wander, &mut self.draw);
        self.wait(label_s);
        let word = if plan.is_family_a() { "After" } else { "after" };
        writeln!(text, "{word} {label_s} sec:").unwrap();
        if plan.has_queues() {
            let tag = match plan.version {
                Version::V20 | Version::V31 => "read-reqs queued",
                Version::V40 => "requests queued",
                _ => "requests-queued",
            };
            writeln!(text, "{tag}: {}", self.draw.whole(0, 2)).unwrap();
        }
        for name in names(plan) {
            let counts = self.snapshot(&name);
            histogram(text, plan, &name, &counts);
        }
        text.push('\n');
    }

    /// `reads` of programs with queues: the same requests, a little later.
    fn wait(&mut self, label_s: u64) {
        let per_s = if self.plan.is_index() {
            (self.plan.reads_per_s() + self.plan.writes_per_s()) as f64
        } else {
            self.plan.reads_per_s() as f64
        };
        let due = around(per_s, label_s, self.plan.threads, &mut self.draw);
        let grown = due.saturating_sub(self.waited_count);
        self.waited_count += grown;
        let median_us = self.reads.median_us * 1.2 * self.wander.exp();
        scatter(
            &mut self.waited,
            grown,
            median_us,
            self.plan.is_us,
            &mut self.draw,
        );
    }

    fn snapshot(&mut self, name: &str) -> Counts {
        let number = |suffix: &str| -> Option<usize> {
            let name = if self.plan.is_family_a() {
                name
            } else {
                name.strip_suffix(suffix)?
            };
            name.strip_prefix("/dev/nvme")?.strip_suffix("n1")?.parse().ok()
        };
        let (plan, draw) = (self.plan, &mut self.draw);
        if let Some(number) = number("-reads") {
            return of_device(&mut self.reads, number, plan, draw);
        }
        if let Some(number) = number("-writes") {
            return of_device(&mut self.writes, number, plan, draw);
        }
        match name {
            "READS" | "trans-reads" => self.waited,
            "reads" if plan.has_queues() => self.waited,
            "reads" | "device-reads" | "RAW READS" => self.reads.total(),
            "writes" | "device-writes" => self.writes.total(),
            "large-block-reads" | "LARGE BLOCK READS" => self.blocks_read.total(),
            _ => self.blocks_written.total(),
        }
    }
}

/// What is due at a label, and as much of the burst at that moment as is back.
fn around(per_s: f64, label_s: u64, burst: u64, draw: &mut Draw) -> u64 {
    (per_s * label_s as f64) as u64 + draw.whole(0, burst)
}

fn make(kind: &mut Kind, plan: &Plan, label_s: u64, wander: f64, draw: &mut Draw) {
    let due = around(kind.per_s, label_s, kind.burst, draw);
    let mut left = due.saturating_sub(kind.made);
    kind.made += left;
    let median_us = kind.median_us * wander.exp();
    for number in 0..plan.devices {
        let share = draw.binomial(left, 1.0 / (plan.devices - number) as f64);
        let share = if number + 1 == plan.devices { left } else { share };
        scatter(
            &mut kind.devices[number as usize],
            share,
            median_us,
            plan.is_us,
            draw,
        );
        left -= share;
    }
}

/// Add operations that arrive while previous histograms are copied; sometimes one operation is between its two counts.
fn of_device(kind: &mut Kind, number: usize, plan: &Plan, draw: &mut Draw) -> Counts {
    let per_device = kind.per_s / plan.devices as f64;
    let copy_s = match draw.unit() {
        rare if rare < 0.001 => 0.05 * plan.interval_s as f64,
        seldom if seldom < 0.02 => 0.005,
        _ => 0.00002 * (number + 1) as f64,
    };
    let mean = (per_device * copy_s).min(500.0);
    let came = draw.poisson(mean);
    kind.made += came;
    let median_us = kind.median_us;
    let mut printed = kind.devices[number];
    scatter(&mut kind.devices[number], came, median_us, plan.is_us, draw);
    if came > 0 || draw.chance(0.98) {
        printed = kind.devices[number];
    }
    printed
}

/// Adds so many operations, lognormal around a median with a tail of one in a thousand.
fn scatter(counts: &mut Counts, ops: u64, median_us: f64, is_us: bool, draw: &mut Draw) {
    let slow = draw.binomial(ops, 0.001);
    spread(counts, ops - slow, median_us, 0.5, is_us, draw);
    spread(counts, slow, median_us * 5.0, 0.4, is_us, draw);
}

fn spread(counts: &mut Counts, ops: u64, median_us: f64, sigma: f64, is_us: bool, draw: &mut Draw) {
    let median = if is_us { median_us } else { median_us / 1000.0 };
    let below = |edge: f64| 1.0 / (1.0 + (-1.702 * (edge / median).ln() / sigma).exp());
    let (mut left, mut remaining) = (ops, 1.0);
    for (bucket, count) in counts.iter_mut().enumerate() {
        let from = if bucket == 0 {
            0.0
        } else {
            below(2_f64.powi(bucket as i32 - 1))
        };
        let chance = (below(2_f64.powi(bucket as i32)) - from).max(0.0);
        let share = if remaining > 1e-12 {
            (chance / remaining).min(1.0)
        } else {
            1.0
        };
        let here = draw.binomial(left, share);
        *count += here;
        left -= here;
        remaining -= chance;
        if left == 0 {
            return;
        }
    }
    counts[BUCKETS / 2] += left;
}

fn histogram(text: &mut String, plan: &Plan, name: &str, counts: &Counts) {
    let total: u64 = counts.iter().sum();
    if plan.is_family_a() {
        writeln!(text, "{name:<18} ({total} total)").unwrap();
    } else {
        writeln!(text, "{name} ({total} total)").unwrap();
    }
    let used: Vec<_> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .collect();
    for line in used.chunks(4) {
        for (bucket, count) in line {
            write!(text, " ({bucket:02}: {count:010})").unwrap();
        }
        text.push('\n');
    }
}
