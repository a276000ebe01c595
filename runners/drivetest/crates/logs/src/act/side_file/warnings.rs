//! What a side file says against the host, the program or the drive: none of it is in the log.

use serde_json::Value;

use super::fields::{bounded, decimal, whole};
use super::summary::SideFileSummary;
use super::telemetry::{Telemetry, TelemetryAccumulator};
use crate::finding::{Finding, rule};

/// The threshold (us) of late requests: the longest of the rules.
const LATE_US: &str = "64000";

/// So many of a thousand requests that are late for no fault of their own service are told; a second's worth always is.
const LATE_PER_MILLE: u64 = 1;

/// From this on a hundredth of the requests submitted late shows in the shares over 1 ms of the response time.
const LATENESS_LEAST_NS: u64 = 1_000_000;

/// Of so many intervals one may be busy without a word.
const INTERVALS_TO_ONE: u64 = 100;

/// All that the end record and the telemetry say.
pub fn of(end: Option<&Value>, summary: &SideFileSummary, telemetry: &TelemetryAccumulator) -> Vec<Finding> {
    let rate = summary
        .rate_sentence
        .as_deref()
        .filter(|_| summary.is_rate_sustained == Some(false));
    let rate = rate.map(|sentence| rule::RATE_BELOW_REQUESTED.at(None, sentence));
    let operations = end
        .and_then(|end| end.get("operations"))
        .and_then(Value::as_object);
    let each = |describe: fn(&str, &Value) -> Option<String>| {
        let all = operations.into_iter().flatten();
        let summary: Vec<_> = all
            .filter_map(|(name, operation)| describe(name, operation))
            .collect();
        (!summary.is_empty()).then(|| bounded(&summary.join("; ")))
    };
    let late = each(late).map(|sentence| rule::RESPONSE_ABOVE_SERVICE.at(None, sentence));
    let generator = each(generator_late).map(|sentence| rule::GENERATOR_LATE.at(None, sentence));
    let mut found: Vec<_> = rate.into_iter().chain(late).chain(generator).collect();
    found.extend(summary.telemetry.iter().flat_map(host));
    let hot: Vec<_> = telemetry.hot().map(hot_sentence).collect();
    found.extend((!hot.is_empty()).then(|| rule::DRIVE_HOT.at(None, bounded(&hot.join("; ")))));
    found.extend(virtual_drives(summary));
    found
}

fn host(telemetry: &Telemetry) -> Vec<Finding> {
    let all = telemetry.intervals_count;
    let is_often = |count: u64| count > 0 && count >= all / INTERVALS_TO_ONE;
    let busy = is_often(telemetry.cpu_busy_count).then(|| {
        let sentence = format!(
            "in {} of {all} intervals the processors were over 90 % busy; latencies may be the host's",
            telemetry.cpu_busy_count
        );
        rule::HOST_BUSY.at(None, sentence)
    });
    let stolen = is_often(telemetry.cpu_stolen_count).then(|| {
        let sentence = format!(
            "in {} of {all} intervals the hypervisor gave more than 1 % of the processors to others",
            telemetry.cpu_stolen_count
        );
        rule::HOST_STOLEN.at(None, sentence)
    });
    busy.into_iter().chain(stolen).collect()
}

/// Requests that were answered late though their service was not slow: they waited before they were submitted.
fn late(name: &str, operation: &Value) -> Option<String> {
    let of = |key: &str| {
        operation
            .get(key)
            .and_then(|over| whole(over, LATE_US))
            .unwrap_or(0)
    };
    let (service, response) = (of("service_over"), of("response_over"));
    let (waited, count) = (response.saturating_sub(service), whole(operation, "count")?);
    let of_second = decimal(operation, "asked_per_s");
    let least = (count / 1_000 * LATE_PER_MILLE).min(of_second.map_or(u64::MAX, |rate| rate as u64));
    (waited > 0 && waited >= least).then(|| {
        let latest_ns = operation.get("response").and_then(|times| whole(times, "max_ns"));
        let latest_s = latest_ns.unwrap_or(0) as f64 / 1e9;
        format!(
            "{name}: {response} of {count} were answered 64 ms or more after they were due, {service} took as long once \
             submitted; the latest came {latest_s:.3} s after it was due"
        )
    })
}

/// A hundredth of the requests waited for the program, and longer than any waited for the drive: behind a drive that
/// stands still the program is late through no fault of its own.
fn generator_late(name: &str, operation: &Value) -> Option<String> {
    let lateness = operation
        .get("lateness")
        .and_then(|times| whole(times, "p99_ns"))?;
    let slowest = operation
        .get("service")
        .and_then(|times| whole(times, "max_ns"))?;
    (lateness >= LATENESS_LEAST_NS && lateness > slowest).then(|| {
        format!(
            "{name}: one of a hundred was submitted {:.3} ms or more after it was due; once submitted, the slowest took \
             {:.3} ms",
            lateness as f64 / 1e6,
            slowest as f64 / 1e6
        )
    })
}

fn hot_sentence((disk, celsius, limit): (&str, f64, &str)) -> String {
    format!("{disk} reached {celsius:.1} C, and warns at {limit} C: a drive over its limit slows itself down")
}

fn virtual_drives(summary: &SideFileSummary) -> Option<Finding> {
    let drives = summary
        .drives
        .iter()
        .filter(|drive| drive.kind.as_deref() == Some("virtual"));
    let named: Vec<String> = drives
        .map(|drive| {
            let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "without a name".to_owned());
            format!("{} ({})", or_none(&drive.name), or_none(&drive.drive_key))
        })
        .collect();
    (!named.is_empty()).then(|| {
        let sentence = format!(
            "by the side file no drive of its own: {}",
            bounded(&named.join(", "))
        );
        rule::DEVICE_VIRTUAL.at(None, sentence)
    })
}
