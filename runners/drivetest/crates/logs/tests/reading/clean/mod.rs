//! Clean logs of every family, drawn at random: what ACT prints when nothing is wrong.
//!
//! The noise is that of the real logs of tests/data: growth that differs by up to a burst of all threads,
//! lognormal latencies whose median wanders, a tail, and snapshots that take time: a device's histogram contains what
//! arrived while the previous ones were copied, and may lack one operation that is between its two counts.

pub mod draw;
pub mod header;
pub mod load;
pub mod plan;

use draw::Draw;
use load::Load;
use plan::Plan;

/// Return the log of a seed, and its plan.
pub fn log(seed: u64) -> (String, Plan) {
    let mut draw = Draw::new(seed);
    let plan = Plan::draw(&mut draw);
    (write(&plan, draw), plan)
}

/// The log of a day in intervals of one second.
pub fn day(seed: u64) -> (String, Plan) {
    let mut draw = Draw::new(seed);
    let plan = Plan {
        interval_s: 1,
        intervals: 86_400,
        devices: 1,
        slice_intervals: 3600,
        ..Plan::draw(&mut draw)
    };
    let plan = Plan { threads: 8, ..plan };
    (write(&plan, draw), plan)
}

fn write(plan: &Plan, draw: Draw) -> String {
    let mut text = header::header(plan);
    let mut load = Load::new(plan, draw);
    (1..=plan.intervals).for_each(|interval| load.block(interval, &mut text));
    text
}
