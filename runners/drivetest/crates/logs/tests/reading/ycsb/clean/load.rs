//! A run that nothing disturbs: what each operation of each thread took, and when.

use super::plan::Plan;
use crate::clean::draw::Draw;

/// What was measured of one kind of operation.
#[derive(Clone, Debug, Default)]
pub struct Metric {
    pub name: &'static str,
    /// When it began and what it took, both in us.
    pub service: Vec<(u64, u64)>,
    /// The same from when it was due.
    pub response: Vec<u64>,
    /// Number of operations that each of these represents.
    pub weight: u64,
}

/// A run as it went.
#[derive(Clone, Debug)]
pub struct Ran {
    pub metrics: Vec<Metric>,
    pub runtime_ms: u64,
    pub done: u64,
    /// Target in operations/s.
    pub target: Option<u64>,
}

impl Ran {
    pub fn throughput(&self) -> f64 {
        1000.0 * self.done as f64 / self.runtime_ms as f64
    }
}

/// Latencies: lognormal, with a pause in one of 2,000.
struct Times {
    median_us: f64,
    sigma: f64,
}

impl Times {
    fn draw(draw: &mut Draw) -> Self {
        let median_us = (draw.unit() * 5.0 + 3.5).exp();
        Self {
            median_us,
            sigma: 0.2 + 0.8 * draw.unit(),
        }
    }

    fn one(&self, draw: &mut Draw) -> u64 {
        let pause_us = if draw.chance(0.0005) {
            20_000.0 + 180_000.0 * draw.unit()
        } else {
            0.0
        };
        (self.median_us * (self.sigma * draw.normal()).exp() + pause_us) as u64
    }
}

/// Runs a plan.
pub fn run(plan: &Plan, draw: &mut Draw) -> Ran {
    let (first, second) = (Times::draw(draw), Times::draw(draw));
    let target = plan.target_share.map(|share| {
        let mean_us: f64 = (0..200)
            .map(|_| (first.one(draw) + second.one(draw)) as f64 / 200.0)
            .sum();
        (share * plan.threads as f64 * 1e6 / mean_us.max(1.0)) as u64 + 1
    });
    let mut metrics = Metrics(Vec::new(), plan.weight);
    let mut free_us = vec![0_u64; plan.threads as usize];
    for at in 0..plan.samples {
        let free_us = &mut free_us[(at % plan.threads) as usize];
        let due_us = target.map(|target| at / plan.threads * plan.threads * 1_000_000 / target);
        let begin_us = due_us.map_or(*free_us, |due_us| due_us.max(*free_us));
        let late_us = begin_us - due_us.unwrap_or(begin_us);
        let service_us = one(plan, [&first, &second], begin_us, late_us, &mut metrics, draw);
        *free_us = begin_us + service_us + draw.whole(0, 3);
    }
    let busy_us = free_us.iter().max().unwrap() * plan.weight;
    cleanup(plan, busy_us / plan.weight, &mut metrics, draw);
    Ran {
        metrics: metrics.0,
        runtime_ms: busy_us / 1000 + 1 + draw.whole(0, 150),
        done: plan.samples * plan.weight,
        target,
    }
}

struct Metrics(Vec<Metric>, u64);

impl Metrics {
    fn add(&mut self, name: &'static str, begin_us: u64, service_us: u64, late_us: u64) {
        let place = self.0.iter().position(|metric| metric.name == name);
        let place = place.unwrap_or_else(|| {
            let (weight, name) = (self.1, name);
            self.0.push(Metric {
                name,
                weight,
                ..Metric::default()
            });
            self.0.len() - 1
        });
        self.0[place].service.push((begin_us, service_us));
        self.0[place].response.push(service_us + late_us);
    }
}

/// Makes one operation and returns what it took; of a read-modify-write, reading and updating are operations too.
fn one(
    plan: &Plan,
    times: [&Times; 2],
    begin_us: u64,
    late_us: u64,
    metrics: &mut Metrics,
    draw: &mut Draw,
) -> u64 {
    let [(first, share), ..] = plan.mix() else {
        return 0;
    };
    let is_first = draw.chance(*share);
    let name = if is_first {
        first
    } else {
        plan.mix().last().unwrap().0
    };
    let first_us = times[usize::from(!is_first)].one(draw);
    if name != "READ-MODIFY-WRITE" {
        metrics.add(name, begin_us, first_us, late_us);
        return first_us;
    }
    let (read_us, update_us) = (times[0].one(draw), first_us);
    metrics.add("READ", begin_us, read_us, late_us);
    metrics.add("UPDATE", begin_us + read_us, update_us, late_us + read_us);
    // 0.1.4 divides its sum by 1000 once more than it should.
    let both_us = read_us + update_us + draw.whole(0, 2);
    let reported_us = if plan.release == 1 {
        both_us / 1000
    } else {
        both_us
    };
    metrics.add(name, begin_us, reported_us, late_us);
    both_us
}

/// Every release but 0.1.4 measures how each thread closes the database.
fn cleanup(plan: &Plan, end_us: u64, metrics: &mut Metrics, draw: &mut Draw) {
    metrics.1 = 1;
    let threads = if plan.release == 1 { 0 } else { plan.threads };
    (0..threads).for_each(|_| metrics.add("CLEANUP", end_us, draw.one(&[0, 1, 3, 9, 2400]), 0));
}
