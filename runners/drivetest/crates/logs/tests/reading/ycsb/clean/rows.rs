//! The rows of a result: what each release prints of what it measured.

use super::hdr;
use super::load::{Metric, Ran};
use super::plan::{Interval, Kind, Plan};

/// Metric, measurement, value.
pub type Row = (String, String, String);

/// All rows of a run.
pub fn of(plan: &Plan, ran: &Ran) -> Vec<Row> {
    let runtime = whole(ran.runtime_ms, plan.is_in_doubles());
    let mut rows = vec![
        row("OVERALL", "RunTime(ms)", runtime),
        row("OVERALL", "Throughput(ops/sec)", java(ran.throughput())),
    ];
    collections(plan, ran, &mut rows);
    for metric in &ran.metrics {
        of_metric(plan, ran, metric, &mut rows);
    }
    rows
}

fn row(metric: &str, measurement: impl Into<String>, value: impl Into<String>) -> Row {
    (metric.to_owned(), measurement.into(), value.into())
}

/// From 0.9 on: collections of each collector and of all, one of 3 ms here for every second.
fn collections(plan: &Plan, ran: &Ran, rows: &mut Vec<Row>) {
    if plan.release < 9 {
        return;
    }
    let count = ran.runtime_ms / 1000;
    let pct = java(count as f64 * 3.0 * 100.0 / ran.runtime_ms as f64);
    let number = |number| whole(number, plan.is_in_doubles());
    for name in ["_G1_Young_Generation", ""] {
        let all = if name.is_empty() {
            "TOTAL_GCs".to_owned()
        } else {
            format!("TOTAL_GCS{name}")
        };
        rows.push(row(&all, "Count", number(count)));
        rows.push(row(
            &format!("TOTAL_GC_TIME{name}"),
            "Time(ms)",
            number(count * 3),
        ));
        rows.push(row(&format!("TOTAL_GC_TIME_%{name}"), "Time(%)", pct.clone()));
    }
}

fn of_metric(plan: &Plan, ran: &Ran, metric: &Metric, rows: &mut Vec<Row>) {
    let service = service_of(metric);
    let name = metric.name;
    match plan.kind {
        Kind::Hdr => recorded(plan, metric).for_each(|(name, us)| hdr_rows(plan, &name, metric, &us, rows)),
        Kind::Histogram => histogram_rows(plan, name, metric, &service, rows),
        Kind::HdrAndHistogram => {
            hdr_rows(plan, &format!("Hdr{name}"), metric, &service, rows);
            histogram_rows(plan, &format!("Bucket{name}"), metric, &service, rows);
        }
        Kind::Timeseries => timeseries_rows(plan, ran, metric, &service, rows),
        Kind::Raw => raw_rows(metric, &service, rows),
    }
}

fn service_of(metric: &Metric) -> Vec<u64> {
    metric.service.iter().map(|&(_, us)| us).collect()
}

/// What HdrHistogram records of a metric, by name: service or intended times, or both.
pub fn recorded(plan: &Plan, metric: &Metric) -> impl Iterator<Item = (String, Vec<u64>)> {
    let name = metric.name.to_owned();
    let both = match plan.interval {
        Interval::Op => [Some((name, service_of(metric))), None],
        Interval::Intended => [Some((name, metric.response.clone())), None],
        Interval::Both => {
            let intended = (format!("Intended-{name}"), metric.response.clone());
            [Some((name, service_of(metric))), Some(intended)]
        }
    };
    both.into_iter().flatten()
}

/// The statuses, which intended times, read-modify-writes and closing lack.
fn returns(plan: &Plan, name: &str, metric: &Metric, rows: &mut Vec<Row>) {
    let has_none = ["CLEANUP", "READ-MODIFY-WRITE"].contains(&metric.name);
    if !has_none && !name.starts_with("Intended-") && !name.starts_with("Bucket") {
        let status = if plan.release < 5 { "Return=0" } else { "Return=OK" };
        rows.push(row(name, status, count_of(metric).to_string()));
    }
}

fn count_of(metric: &Metric) -> u64 {
    metric.service.len() as u64 * metric.weight
}

/// The percentiles that HdrHistogram prints: name in the row, and which it is in truth.
pub fn hdr_shares(plan: &Plan) -> Vec<(String, f64)> {
    if plan.release < 4 {
        return vec![("95th".to_owned(), 90.0), ("99th".to_owned(), 99.0)];
    }
    let default = if plan.release >= 18 { "50,95,99" } else { "95,99" };
    let requested = plan.percentiles.unwrap_or(default);
    let is_readable = plan.release >= 12 || !requested.contains('.');
    let list = if is_readable { requested } else { default };
    let one = |share: &str| {
        let value: f64 = share.parse().unwrap();
        let name = if value.fract() == 0.0 {
            format!("{value:.0}th")
        } else {
            share.to_owned()
        };
        (name, value)
    };
    list.split(',').map(one).collect()
}

fn hdr_rows(plan: &Plan, name: &str, metric: &Metric, us: &[u64], rows: &mut Vec<Row>) {
    let sorted = hdr::Sorted::new(us, metric.weight);
    let is_double = plan.is_in_doubles();
    rows.push(row(name, "Operations", whole(count_of(metric), is_double)));
    rows.push(row(name, "AverageLatency(us)", java(sorted.mean())));
    rows.push(row(name, "MinLatency(us)", whole(sorted.min(), is_double)));
    rows.push(row(name, "MaxLatency(us)", whole(sorted.max(), is_double)));
    for (share, value) in hdr_shares(plan) {
        let us = sorted.percentile(value);
        let (unit, time) = if plan.release < 4 {
            ("ms", us / 1000)
        } else {
            ("us", us)
        };
        let measurement = format!("{share}PercentileLatency({unit})");
        rows.push(row(name, measurement, whole(time, is_double)));
    }
    returns(plan, name, metric, rows);
    if plan.kind == Kind::Hdr && plan.has_cells() {
        for (us, count) in sorted.values() {
            rows.push(row(name, us.to_string(), java(count as f64)));
        }
    }
}

/// Counts by whole milliseconds, the last of all that lie beyond.
fn by_ms(plan: &Plan, metric: &Metric, us: &[u64]) -> Vec<u64> {
    let mut counts = vec![0; plan.buckets + 1];
    for us in us {
        counts[((us / 1000) as usize).min(plan.buckets)] += metric.weight;
    }
    counts
}

/// The percentiles of buckets in ms; one beyond them is not printed.
/// Source: YCSB, OneMeasurementHistogram.exportMeasurements().
fn bucket_percentile(counts: &[u64], share: f64) -> Option<usize> {
    let all: u64 = counts.iter().sum();
    let mut sum = 0;
    counts[..counts.len() - 1].iter().position(|count| {
        sum += count;
        sum as f64 / all as f64 >= share
    })
}

/// The percentiles of a metric that lie within the buckets.
pub fn bucket_shares(plan: &Plan, metric: &Metric) -> Vec<f64> {
    let counts = by_ms(plan, metric, &service_of(metric));
    let is_within = |share: &f64| bucket_percentile(&counts, share / 100.0).is_some();
    [95.0, 99.0].into_iter().filter(is_within).collect()
}

fn histogram_rows(plan: &Plan, name: &str, metric: &Metric, us: &[u64], rows: &mut Vec<Row>) {
    let counts = by_ms(plan, metric, us);
    let (mean, variance) = moments(us);
    rows.push(row(name, "Operations", count_of(metric).to_string()));
    rows.push(row(name, "AverageLatency(us)", java(mean)));
    if plan.release >= 6 {
        rows.push(row(name, "LatencyVariance(us)", java(variance)));
    }
    rows.push(row(name, "MinLatency(us)", us.iter().min().unwrap().to_string()));
    rows.push(row(name, "MaxLatency(us)", us.iter().max().unwrap().to_string()));
    for (share, label) in [(0.95, "95th"), (0.99, "99th")] {
        if let Some(ms) = bucket_percentile(&counts, share) {
            let (unit, time) = if plan.release < 4 {
                ("ms", ms)
            } else {
                ("us", ms * 1000)
            };
            rows.push(row(
                name,
                format!("{label}PercentileLatency({unit})"),
                time.to_string(),
            ));
        }
    }
    returns(plan, name, metric, rows);
    if plan.has_cells() {
        let (inside, beyond) = counts.split_at(plan.buckets);
        rows.extend(
            inside
                .iter()
                .enumerate()
                .map(|(ms, count)| row(name, ms.to_string(), count.to_string())),
        );
        rows.push(row(name, format!(">{}", plan.buckets), beyond[0].to_string()));
    }
}

fn moments(us: &[u64]) -> (f64, f64) {
    let count = us.len() as f64;
    let mean = us.iter().sum::<u64>() as f64 / count;
    let squares: f64 = us.iter().map(|&us| (us as f64 - mean).powi(2)).sum();
    (mean, squares / count)
}

/// The step of a series, so long that it has a hundred points at most.
pub fn granularity_ms(ran: &Ran) -> u64 {
    (ran.runtime_ms / 100_000 + 1) * 1000
}

fn timeseries_rows(plan: &Plan, ran: &Ran, metric: &Metric, us: &[u64], rows: &mut Vec<Row>) {
    let name = metric.name;
    rows.push(row(name, "Operations", count_of(metric).to_string()));
    rows.push(row(name, "AverageLatency(us)", java(moments(us).0)));
    rows.push(row(name, "MinLatency(us)", us.iter().min().unwrap().to_string()));
    rows.push(row(name, "MaxLatency(us)", us.iter().max().unwrap().to_string()));
    returns(plan, name, metric, rows);
    let step = granularity_ms(ran);
    let scale = if name == "CLEANUP" {
        plan.weight
    } else {
        metric.weight
    };
    let point = |begin_us: u64| begin_us * scale / 1000 / step * step;
    let mut points: Vec<u64> = metric
        .service
        .iter()
        .map(|&(begin_us, _)| point(begin_us))
        .collect();
    points.sort_unstable();
    points.dedup();
    for at in points {
        let within = metric
            .service
            .iter()
            .filter(|(begin_us, _)| point(*begin_us) == at);
        let times: Vec<u64> = within.map(|&(_, us)| us).collect();
        rows.push(row(name, at.to_string(), java(moments(&times).0)));
    }
}

fn raw_rows(metric: &Metric, us: &[u64], rows: &mut Vec<Row>) {
    let name = metric.name;
    let mut sorted = us.to_vec();
    sorted.sort_unstable();
    rows.push(row(name, "Total Operations", us.len().to_string()));
    rows.push(row(name, "Below is a summary of latency in microseconds:", "-1"));
    rows.push(row(name, "Average", java(moments(us).0)));
    rows.push(row(name, "Min", sorted[0].to_string()));
    rows.push(row(name, "Max", sorted[sorted.len() - 1].to_string()));
    for share in RAW_SHARES {
        let place = (sorted.len() as f64 * share / 100.0) as usize;
        let us = sorted[place.min(sorted.len() - 1)];
        rows.push(row(name, format!("p{share}"), us.to_string()));
    }
    if name != "CLEANUP" && name != "READ-MODIFY-WRITE" {
        rows.push(row(name, "Return=OK", us.len().to_string()));
    }
}

/// The percentiles of raw measurements.
pub const RAW_SHARES: [f64; 8] = [1.0, 5.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// A whole number, as a double where the release has it so.
fn whole(number: u64, is_double: bool) -> String {
    if is_double {
        java(number as f64)
    } else {
        number.to_string()
    }
}

/// A double as Java prints it.
pub fn java(value: f64) -> String {
    if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap();
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{exponent}")
}
