//! Findings from a side file about the host, the program and the drive, which the log cannot contain.

use serde_json::Value;

use super::records::{bounded, decimal, whole};
use super::summary::{Drive, SideFileSummary};
use super::telemetry::Telemetry;
use crate::finding::{Finding, Rule, rule};

/// Threshold of late requests in microseconds: the longest of the profile.
const LATE_US: &str = "64000";

/// Minimum number of late requests per thousand for a finding; the requests of one second always suffice.
const LATE_PER_MILLE: u64 = 1;

/// Minimum lateness of the 99th percentile: it affects the share of response times over 1 ms.
const LATENESS_LEAST_NS: u64 = 1_000_000;

/// One busy interval of this number is not reported.
const INTERVALS_TO_ONE: u64 = 100;

/// Return the findings of the end record and of the summary with its telemetry.
pub fn of(end: Option<&Value>, summary: &SideFileSummary) -> Vec<Finding> {
    let rate = summary.rate_sentence.as_deref();
    let rate = rate.filter(|_| summary.is_rate_sustained == Some(false));
    let rate = rate.map(|sentence| rule::RATE_BELOW_REQUESTED.at(None, sentence));
    let operations = end.and_then(|end| end.get("operations")?.as_object());
    let of_all = |describe: fn(&str, &Value) -> Option<String>| {
        let operations = operations.into_iter().flatten();
        let sentences = operations.filter_map(|(name, operation)| describe(name, operation));
        sentences.collect()
    };
    let mut found: Vec<_> = rate.into_iter().collect();
    found.extend(joined(rule::RESPONSE_ABOVE_SERVICE, of_all(late)));
    found.extend(joined(rule::GENERATOR_LATE, of_all(generator_late)));
    found.extend(summary.telemetry.iter().flat_map(host));
    let hot = summary.telemetry.iter().flat_map(Telemetry::hot);
    found.extend(joined(rule::DRIVE_HOT, hot.map(hot_sentence).collect()));
    found.extend(virtual_drives(summary));
    found
}

/// Return one finding for several sentences; `None` without any.
fn joined(rule: Rule, sentences: Vec<String>) -> Option<Finding> {
    (!sentences.is_empty()).then(|| rule.at(None, bounded(&sentences.join("; "))))
}

fn host(telemetry: &Telemetry) -> Vec<Finding> {
    let all = telemetry.intervals_count;
    let often = |rule: Rule, count: u64, what: &str| {
        let is_often = count > 0 && count >= all / INTERVALS_TO_ONE;
        is_often.then(|| rule.at(None, format!("in {count} of {all} intervals, {what}")))
    };
    let busy = "the processors of the host were over 90 % busy; the host may have caused latencies";
    let stolen = "the hypervisor gave more than 1 % of the host's processor time to other machines";
    let busy = often(rule::HOST_BUSY, telemetry.cpu_busy_count, busy);
    let stolen = often(rule::HOST_STOLEN, telemetry.cpu_stolen_count, stolen);
    busy.into_iter().chain(stolen).collect()
}

/// Describe requests that completed late although their service was fast: they waited before submission.
fn late(name: &str, operation: &Value) -> Option<String> {
    let of = |key: &str| {
        operation
            .get(key)
            .and_then(|counts| whole(counts, LATE_US))
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
            "{name}: {response} of {count} requests completed 64 ms or more after their due time, but only {service} took that long after \
             submission; the maximum response time is {latest_s:.3} s"
        )
    })
}

/// Describe a late program: one percent of the requests waited longer for it than any request for the drive.
///
/// If the drive stalls, the program is late because of the drive.
fn generator_late(name: &str, operation: &Value) -> Option<String> {
    let lateness = whole(operation.get("lateness")?, "p99_ns")?;
    let slowest = whole(operation.get("service")?, "max_ns")?;
    let (late_ms, slowest_ms) = (lateness as f64 / 1e6, slowest as f64 / 1e6);
    (lateness >= LATENESS_LEAST_NS && lateness > slowest).then(|| {
        format!(
            "{name}: one percent of the requests was submitted {late_ms:.3} ms or more after the due time; the slowest request took \
             {slowest_ms:.3} ms after submission"
        )
    })
}

fn hot_sentence((disk, celsius, limit): (&str, f64, &str)) -> String {
    format!("{disk} reached {celsius:.1} C; its warning limit is {limit} C, above which a drive slows down")
}

fn virtual_drives(summary: &SideFileSummary) -> Option<Finding> {
    let is_virtual = |drive: &&Drive| drive.kind.as_deref() == Some("virtual");
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "unnamed".to_owned());
    let name = |drive: &Drive| format!("{} ({})", or_none(&drive.name), or_none(&drive.drive_key));
    let named: Vec<String> = summary.drives.iter().filter(is_virtual).map(name).collect();
    let named = bounded(&named.join(", "));
    let sentence = format!("not physical drives, as the side file reports: {named}");
    (!named.is_empty()).then(|| rule::DEVICE_VIRTUAL.at(None, sentence))
}
