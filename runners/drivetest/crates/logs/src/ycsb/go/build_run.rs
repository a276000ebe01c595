//! Construction of a go-ycsb run from the fragments of its files.

use crate::ycsb::command::Phase;
use crate::ycsb::common::number;
use crate::ycsb::extra_operations;
use crate::ycsb::fragment::shown;
use crate::ycsb::go::checks;
use crate::ycsb::go::fragment::Fragment;
use crate::ycsb::go::operations::{self, COMPOSITE};
use crate::ycsb::run::{Operation, Run, Stop, StopKind, Time, Validity};
use crate::ycsb::settings::{ConfigFile, Settings};

/// Return the run of a fragment that all its files were joined into.
pub fn run(mut fragment: Fragment, configs: &[ConfigFile]) -> Run {
    if fragment.own.finished.is_none() {
        // Without a final block, the last block is an interval like the others.
        fragment.end_block(&mut { usize::MAX });
    }
    let command = fragment.launcher.as_ref();
    let settings = Settings::resolve(command, configs, fragment.dumped.as_ref());
    let mut findings = std::mem::take(&mut fragment.span.findings);
    let printed = match settings.get("command") {
        Some("load") => Some(Phase::Load),
        Some("run") => Some(Phase::Run),
        _ => None,
    };
    let phase = printed.or_else(|| command.map(|command| command.phase));
    let mut run = Run::configured("go-ycsb", &fragment.span, command, &settings, phase);
    run.request_distribution = fragment.own.distribution.clone().or(run.request_distribution);
    run.times = Some(Time::Service);
    run.operations = made(&fragment);
    run.measurement = measurement(&fragment);
    run.runtime_ms = takes_ns(&fragment).map(number::ns_as_ms);
    let counts = Counts::of(&run, &settings);
    if fragment.own.finished.is_some() && !run.operations.is_empty() {
        run.done_ops_count = counts.done();
        run.failed_ops_count = Some(counts.failed);
    }
    run.throughput_ops_per_s = throughput(&run, &settings, takes_ns(&fragment));
    run.stop = stop(&run, &fragment);
    run.intervals = std::mem::take(&mut fragment.statuses);
    let evidence = checks::Evidence {
        fragment: &fragment,
        settings: &settings,
        counts,
    };
    checks::all(&run, &evidence, &mut findings);
    run.findings = findings.into_list();
    extra_operations::report(&mut run, &fragment.raw);
    run.validity = Validity::of(&run.findings);
    run
}

/// Operation counts of a final block.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Minimum number of completed operations: a read-modify-write whose read failed had no update.
    pub least: u64,
    /// Maximum number of completed operations.
    pub most: u64,
    /// Failed single operations.
    pub failed: u64,
}

impl Counts {
    fn of(run: &Run, settings: &Settings) -> Self {
        let count = |operation: &Operation| {
            let batches = operation.ops_count?;
            Some(batches.saturating_mul(batch(&operation.name, settings)))
        };
        let sum = |wanted: &dyn Fn(&&Operation) -> bool| {
            let counts = run.operations.iter().filter(wanted).filter_map(count);
            counts.fold(0_u64, u64::saturating_add)
        };
        let single = sum(&|operation| operation.is_counted);
        let failed = sum(&|operation| operation.outcome == "failed");
        let failed_reads = sum(&|operation| operation.outcome == "failed" && operation.name == "READ");
        let composite = sum(&|operation| operation.name == COMPOSITE);
        let least = single.saturating_sub(composite);
        Self {
            least,
            most: least.saturating_add(failed_reads.min(composite)),
            failed,
        }
    }

    fn done(&self) -> Option<u64> {
        (self.least == self.most).then_some(self.least)
    }
}

/// Return the number of operations in a batch.
fn batch(name: &str, settings: &Settings) -> u64 {
    match name.starts_with("BATCH_") {
        true => settings.whole_number("batch.size", Some(1)).unwrap_or(1),
        false => 1,
    }
}

fn made(fragment: &Fragment) -> Vec<Operation> {
    if fragment.own.finished.is_none() {
        return operations::of_raw(&fragment.raw);
    }
    let rows = fragment.own.block.iter();
    let rows = rows.map(|placed| operations::of_row(&placed.row));
    rows.chain(operations::of_raw(&fragment.raw)).collect()
}

/// Return the type of measurement.
///
/// Releases with `QPS:` had buckets of whole milliseconds; those with `50th` have HdrHistogram. Between them, rows have the same
/// form, and the percentiles show the type.
fn measurement(fragment: &Fragment) -> Option<&'static str> {
    if fragment.own.has_csv {
        return Some("raw");
    }
    let first = &fragment.own.block.first()?.row;
    let all = || fragment.own.block.iter().flat_map(|placed| &placed.row.values);
    let times = || all().filter(|(head, _)| operations::share(head).is_some());
    let in_ms = times().all(|(_, value)| number::count(value).is_some_and(|us| us % 1000 == 0 && us > 0));
    if first.get("50th(us)").is_none() && times().next().is_some() && in_ms {
        return Some("histogram");
    }
    Some("hdrhistogram")
}

fn takes_ns(fragment: &Fragment) -> Option<u64> {
    fragment.own.finished.as_ref().and_then(|(_, takes_ns)| *takes_ns)
}

/// Return the throughput after the warm-up, which has no counts. It is comparable with YCSB's, unlike the rate of TOTAL.
fn throughput(run: &Run, settings: &Settings, takes_ns: Option<u64>) -> Option<String> {
    let configured_s = settings.whole_number("warmuptime", Some(0))?;
    let warm_up_s = if run.phase == Some(Phase::Load) {
        0
    } else {
        configured_s
    };
    let measured_ns = takes_ns?.checked_sub(warm_up_s.checked_mul(1_000_000_000)?)?;
    let done = run.done_ops_count.filter(|_| measured_ns > 0)?;
    // Thousandths of operations a second, rounded.
    let doubled = u128::from(done) * 2_000_000_000_000 / u128::from(measured_ns);
    let thousandths = doubled.div_ceil(2);
    Some(format!("{}.{:03}", thousandths / 1000, thousandths % 1000))
}

fn stop(run: &Run, fragment: &Fragment) -> Stop {
    let own = &fragment.own;
    let panic = fragment.crashes.first.as_ref();
    match own.finished {
        _ if own.signal.is_some() => Stop::new(StopKind::Interrupted, own.signal.as_ref()),
        Some(_) if run.operations.is_empty() && fragment.dumped.is_none() => Stop::new(StopKind::Cut, None),
        Some(_) => Stop::new(StopKind::Finished, None),
        None if panic.is_some() => Stop::new(StopKind::Crashed, panic),
        None if own.refused.is_some() => Stop::new(StopKind::NotStarted, own.refused.as_ref()),
        None => Stop {
            text: last_word(fragment),
            ..Stop::new(StopKind::Interrupted, None)
        },
    }
}

fn last_word(fragment: &Fragment) -> String {
    let last = fragment.statuses.last();
    let last = last.and_then(|last| operations::parse_block(&last.text));
    let words = last.map(|last| shown(&format!("{} operations in {} s", last.ops_count, last.elapsed_s)));
    words.unwrap_or_default()
}
