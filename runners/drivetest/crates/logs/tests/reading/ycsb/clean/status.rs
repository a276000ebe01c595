//! Status lines: what `-s` prints while a run goes, at a rate that wanders by some percent and by no more.

use super::load::{Metric, Ran};
use super::plan::{Kind, Plan};
use crate::clean::draw::Draw;

/// The lines of a run; none where it did not ask for them.
pub fn lines(plan: &Plan, ran: &Ran, draw: &mut Draw) -> String {
    let Some(wanted) = plan.status_lines else {
        return String::new();
    };
    let every_s = (ran.runtime_ms / 1000 / wanted).max(1);
    let wander = 0.01 + 0.09 * draw.unit();
    let mut text = line(plan, 0, 0, None, "");
    let (mut at_s, mut done) = (0, 0);
    while (at_s + every_s) * 1000 < ran.runtime_ms {
        at_s += every_s;
        let mean = ran.throughput() * every_s as f64;
        let more = (mean * (1.0 + wander * draw.normal())).max(0.0) as u64;
        let before = done;
        done = (done + more).min(ran.done);
        let rate = (done - before) as f64 / every_s as f64;
        text += &line(plan, at_s, done, Some(rate), &operations(plan, ran));
    }
    let rest_s = (ran.runtime_ms as f64 / 1000.0 - at_s as f64).max(0.001);
    let rate = (ran.done - done) as f64 / rest_s;
    text + &line(
        plan,
        ran.runtime_ms / 1000,
        ran.done,
        Some(rate),
        &operations(plan, ran),
    )
}

fn line(plan: &Plan, at_s: u64, done: u64, rate: Option<f64>, operations: &str) -> String {
    let day = format!(
        "2026-11-21 {:02}:{:02}:{:02}:567",
        at_s / 3600 % 24,
        at_s / 60 % 60,
        at_s % 60
    );
    let date = if plan.release == 1 { "" } else { &day };
    let rate = rate.map_or_else(String::new, |rate| {
        format!("{} current ops/sec; ", decimal(plan, rate))
    });
    let left = if plan.release >= 5 {
        "est completion in 1 second "
    } else {
        ""
    };
    format!("{date} {at_s} sec: {done} operations; {rate}{left}{operations}\n")
}

/// Two places at most, without trailing zeros, in the language of the machine.
fn decimal(plan: &Plan, value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.').to_owned();
    if plan.has_comma {
        text.replace('.', ",")
    } else {
        text
    }
}

fn operations(plan: &Plan, ran: &Ran) -> String {
    ran.metrics.iter().map(|metric| operation(plan, metric)).collect()
}

fn operation(plan: &Plan, metric: &Metric) -> String {
    let mut us: Vec<u64> = metric.service.iter().map(|&(_, us)| us).collect();
    us.sort_unstable();
    let mean = us.iter().sum::<u64>() as f64 / us.len() as f64;
    let (name, mean) = (metric.name, decimal(plan, mean));
    if plan.release < 5 || plan.kind != Kind::Hdr {
        return format!("[{name} AverageLatency(us)={mean}] ");
    }
    let percentile = |share: f64| us[((us.len() as f64 * share) as usize).min(us.len() - 1)];
    let median = if plan.release >= 18 {
        format!("50={}, ", percentile(0.5))
    } else {
        String::new()
    };
    let (least, most) = (us[0], us[us.len() - 1]);
    let tail = [0.9, 0.99, 0.999, 0.9999].map(percentile);
    format!(
        "[{name}: Count={}, Max={most}, Min={least}, Avg={mean}, {median}90={}, 99={}, 99.9={}, 99.99={}] ",
        us.len(),
        tail[0],
        tail[1],
        tail[2],
        tail[3]
    )
}
