//! Findings from a side file about the host, the program and the drive, which the log cannot contain, and which of them
//! may explain a failed run.

use serde_json::Value;

use super::records::{bounded, decimal, mean_ns, whole};
use super::summary::{Drive, SideFileSummary};
use super::telemetry::Telemetry;
use crate::finding::{Finding, Rule, rule};

/// Threshold of late requests in microseconds: the longest of the profile.
const LATE_US: &str = "64000";

/// Minimum number of late requests per thousand for a finding; the requests of one second always suffice.
const LATE_PER_MILLE: u64 = 1;

/// Minimum delay by the generator at the 99th percentile: it affects the share of response times over 1 ms. The delay
/// that coalescing intends comes in addition.
const LATENESS_LEAST_NS: u64 = 1_000_000;

/// One busy interval of this number is not reported.
const INTERVALS_TO_ONE: u64 = 100;

/// Findings about a slow host.
const OF_HOST: [&str; 3] = [rule::HOST_BUSY.id, rule::HOST_STOLEN.id, rule::GENERATOR_LATE.id];

/// Operations that the log counts as reads.
const READS: [&str; 3] = ["reads", "index-reads", "cache-reads"];

/// Return the findings of the end record and of the summary with its telemetry.
pub fn of(end: Option<&Value>, summary: &SideFileSummary) -> Vec<Finding> {
    let rate = summary.rate_sentence.as_deref();
    let rate = rate.filter(|_| summary.is_rate_sustained == Some(false));
    let rate = rate.map(|sentence| rule::RATE_BELOW_REQUESTED.at(None, sentence));
    let operations = operations(end);
    let of_all = |describe: &dyn Fn(&str, &Value) -> Option<String>| -> Vec<String> {
        let sentences = operations
            .iter()
            .filter_map(|&(name, operation)| describe(name, operation));
        sentences.collect()
    };
    let generator_late = |name: &str, operation: &Value| generator_late(name, operation, summary.coalesce_us);
    let mut found: Vec<_> = rate.into_iter().collect();
    found.extend(joined(rule::RESPONSE_ABOVE_SERVICE, of_all(&late)));
    found.extend(joined(rule::GENERATOR_LATE, of_all(&generator_late)));
    found.extend(summary.telemetry.iter().flat_map(host));
    let hot = summary.telemetry.iter().flat_map(Telemetry::hot);
    found.extend(joined(rule::DRIVE_HOT, hot.map(hot_sentence).collect()));
    found.extend(virtual_drives(summary));
    found
}

/// Return the findings that say that the host may be the cause of a failed run.
///
/// The reads decide, and without reads all operations. An operation that missed its rate also decides, unless its
/// requests mainly waited for a free slot of the device. If the generator itself delayed one of these operations, every
/// finding about the host counts. Otherwise, busy or stolen processors count unless the reads mainly waited for a free
/// slot of the device: such a load was too high for the device.
pub fn host_causes(found: &[Finding], end: Option<&Value>, summary: &SideFileSummary) -> Vec<&'static str> {
    let all = operations(end);
    let deciding = deciding_operations(&all);
    let missed = all
        .iter()
        .filter(|operation| is_rate_missed_without_backlog(**operation));
    let is_late = deciding
        .iter()
        .chain(missed)
        .any(|&(name, operation)| generator_late(name, operation, summary.coalesce_us).is_some());
    let is_cause = |id: &&'static str| match *id == rule::GENERATOR_LATE.id {
        true => is_late,
        false => OF_HOST.contains(id) && (is_late || !is_backlog_main(&deciding)),
    };
    found.iter().map(|finding| finding.id).filter(is_cause).collect()
}

/// An operation of the end record, with its name.
type NamedOperation<'a> = (&'a str, &'a Value);

fn operations(end: Option<&Value>) -> Vec<NamedOperation<'_>> {
    let operations = end.and_then(|end| end.get("operations")?.as_object());
    let operations = operations.into_iter().flatten();
    operations
        .map(|(name, operation)| (name.as_str(), operation))
        .collect()
}

/// Return the operations that the log counts as reads; all operations if no read reports its response time.
fn deciding_operations<'a>(all: &[NamedOperation<'a>]) -> Vec<NamedOperation<'a>> {
    let of_reads = all.iter().filter(|(name, _)| READS.contains(name));
    let of_reads: Vec<_> = of_reads.copied().collect();
    match total_ns(&of_reads, "response") {
        0 => all.to_vec(),
        _ => of_reads,
    }
}

/// Return whether an operation missed its rate, although backlog is not the main part of its response time.
///
/// False for side files that do not report the rate of each operation.
fn is_rate_missed_without_backlog(named: NamedOperation<'_>) -> bool {
    let is_sustained = named.1.get("is_rate_held").and_then(Value::as_bool);
    is_sustained == Some(false) && !is_backlog_main(&[named])
}

/// Return whether backlog is more than half of the response time.
///
/// False for side files that do not report backlog.
fn is_backlog_main(operations: &[NamedOperation<'_>]) -> bool {
    total_ns(operations, "backlog") > total_ns(operations, "response") / 2
}

/// Return the sum of the times with this name over all requests.
///
/// A side file may report any counts and means: one product is always below 2^128, but the sum of several may not be.
fn total_ns(operations: &[NamedOperation<'_>], key: &str) -> u128 {
    let of_operation = |(_, operation): &NamedOperation<'_>| {
        let count = u128::from(whole(operation, "count").unwrap_or(0));
        count * u128::from(mean_ns(operation, key).unwrap_or(0))
    };
    operations.iter().map(of_operation).fold(0, u128::saturating_add)
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

/// Describe a late generator: it delayed one percent of the requests by itself, and longer than coalescing intends.
fn generator_late(name: &str, operation: &Value, coalesce_us: Option<u64>) -> Option<String> {
    let Some(own) = operation.get("generator_lateness") else {
        return late_of_old_side_file(name, operation);
    };
    let own = whole(own, "p99_ns")?;
    let intended_us = coalesce_us.unwrap_or(0);
    let least = LATENESS_LEAST_NS.saturating_add(intended_us.saturating_mul(1_000));
    (own >= least).then(|| {
        let own_ms = own as f64 / 1e6;
        let intended = match intended_us {
            0 => String::new(),
            us => format!("; coalesce-us intends a delay of up to {us} us"),
        };
        format!(
            "{name}: the generator itself delayed one percent of the requests by {own_ms:.3} ms or more, not counting \
             the wait for a free slot of the device{intended}"
        )
    })
}

/// Describe a late program by a side file of drivetest 0.3 or earlier: one percent of the requests waited longer for
/// the program than any request for the drive.
///
/// Its lateness includes the wait for a free slot of the device, so that a drive that stalls makes the program late.
fn late_of_old_side_file(name: &str, operation: &Value) -> Option<String> {
    let lateness = whole(operation.get("lateness")?, "p99_ns")?;
    let slowest = whole(operation.get("service")?, "max_ns")?;
    let (late_ms, slowest_ms) = (lateness as f64 / 1e6, slowest as f64 / 1e6);
    (lateness >= LATENESS_LEAST_NS && lateness > slowest).then(|| {
        format!(
            "{name}: one percent of the requests was submitted {late_ms:.3} ms or more after the due time; the slowest \
             request took {slowest_ms:.3} ms after submission; this side file does not report backlog and generator \
             lateness separately"
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BUSY: &str = "host-busy";
    const LATE: &str = "generator-late";

    /// Return the findings, by id, and the causes at the host of a run with one busy or idle interval.
    fn judged(is_busy: bool, operations: &Value) -> (Vec<&'static str>, Vec<&'static str>) {
        judged_with(None, is_busy, operations)
    }

    /// Return the same of a run with this `coalesce-us`.
    fn judged_with(
        coalesce_us: Option<u64>,
        is_busy: bool,
        operations: &Value,
    ) -> (Vec<&'static str>, Vec<&'static str>) {
        let telemetry = Telemetry {
            intervals_count: 1,
            cpu_busy_count: u64::from(is_busy),
            ..Telemetry::default()
        };
        let summary = SideFileSummary {
            telemetry: Some(telemetry),
            coalesce_us,
            ..SideFileSummary::default()
        };
        let end = json!({"record": "end", "operations": operations});
        let found = of(Some(&end), &summary);
        let causes = host_causes(&found, Some(&end), &summary);
        (found.iter().map(|finding| finding.id).collect(), causes)
    }

    /// Return an operation of 1000 requests: p99 of the delay by the generator, mean backlog and mean response time.
    fn operation(own_p99_ns: u64, backlog_ns: u64, response_ns: u64) -> Value {
        json!({
            "count": 1000,
            "lateness": {"p99_ns": backlog_ns + own_p99_ns}, "service": {"max_ns": 1},
            "backlog": {"mean_ns": backlog_ns}, "generator_lateness": {"p99_ns": own_p99_ns},
            "response": {"mean_ns": response_ns},
        })
    }

    fn reads(operation: Value) -> Value {
        json!({"reads": operation})
    }

    fn sentence(operation: &Value) -> Option<String> {
        generator_late("reads", operation, None)
    }

    #[test]
    fn only_the_delay_by_the_generator_itself_makes_it_late() {
        let own = "reads: the generator itself delayed one percent of the requests by 1.000 ms or more, not counting \
                   the wait for a free slot of the device";
        assert_eq!(sentence(&operation(1_000_000, 0, 0)).as_deref(), Some(own));
        assert_eq!(sentence(&operation(999_999, 0, 0)), None);
        assert_eq!(sentence(&operation(40_000, 1_000_000_000, 0)), None);
        assert_eq!(sentence(&json!({"generator_lateness": {"p99_ns": null}})), None);
    }

    #[test]
    fn coalescing_delays_requests_on_purpose() {
        let sentence = |own_p99_ns, coalesce_us| {
            generator_late("reads", &operation(own_p99_ns, 0, 0), Some(coalesce_us))
        };
        let late = "reads: the generator itself delayed one percent of the requests by 2.000 ms or more, not counting \
                    the wait for a free slot of the device; coalesce-us intends a delay of up to 1000 us";
        assert_eq!(sentence(2_000_000, 1_000).as_deref(), Some(late));
        assert_eq!(sentence(1_999_999, 1_000), None);
        let is_late = |own_p99_ns, coalesce_us| sentence(own_p99_ns, coalesce_us).is_some();
        assert_eq!([is_late(999_999, 0), is_late(1_000_000, 0)], [false, true]);
        assert_eq!([is_late(1_049_999, 50), is_late(1_050_000, 50)], [false, true]);
        // The threshold of a side file with any number is at most the greatest time.
        assert!(!is_late(u64::MAX - 1, u64::MAX) && is_late(u64::MAX, u64::MAX));
    }

    #[test]
    fn coalescing_counts_for_the_finding_and_for_the_cause() {
        let at_least = reads(operation(2_000_000, 0, 3_000_000));
        let below = reads(operation(1_999_999, 0, 3_000_000));
        assert_eq!(
            judged_with(Some(1_000), false, &at_least),
            (vec![LATE], vec![LATE])
        );
        assert_eq!(judged_with(Some(1_000), false, &below), (vec![], vec![]));
        assert_eq!(judged_with(Some(0), false, &below), (vec![LATE], vec![LATE]));
        let writes = |own_p99_ns| {
            let operations =
                json!({"reads": operation(1_999_999, 0, 3_000_000), "writes": operation(own_p99_ns, 0, 1)});
            judged_with(Some(1_000), false, &operations)
        };
        assert_eq!(writes(2_000_000), (vec![LATE], vec![]));
    }

    #[test]
    fn an_old_side_file_keeps_its_rule_and_the_finding_says_so() {
        let old = |lateness: u64, service: u64| {
            let (lateness, service) = (json!({"p99_ns": lateness}), json!({"max_ns": service}));
            json!({"lateness": lateness, "service": service})
        };
        let late = "reads: one percent of the requests was submitted 1.000 ms or more after the due time; the slowest \
                    request took 0.999 ms after submission; this side file does not report backlog and generator \
                    lateness separately";
        assert_eq!(sentence(&old(1_000_000, 999_000)).as_deref(), Some(late));
        assert_eq!(sentence(&old(999_999, 1)), None);
        assert_eq!(sentence(&old(2_000_000, 2_000_000)), None);
    }

    #[test]
    fn an_overloaded_drive_has_no_cause_at_an_idle_or_busy_host() {
        let overloaded = reads(operation(40_000, 900_000_000, 1_000_000_000));
        assert_eq!(judged(false, &overloaded), (vec![], vec![]));
        assert_eq!(judged(true, &overloaded), (vec![BUSY], vec![]));
    }

    #[test]
    fn a_late_generator_is_a_cause_with_and_without_backlog() {
        let (spare, overloaded) = (operation(5_000_000, 0, 6_000_000), operation(5_000_000, 9, 10));
        assert_eq!(judged(false, &reads(spare)), (vec![LATE], vec![LATE]));
        assert_eq!(
            judged(true, &reads(overloaded)),
            (vec![LATE, BUSY], vec![LATE, BUSY])
        );
    }

    #[test]
    fn a_busy_host_is_a_cause_of_slow_service_until_backlog_is_more_than_half_of_the_response() {
        assert_eq!(judged(true, &reads(operation(0, 500, 1000))).1, [BUSY]);
        assert!(judged(true, &reads(operation(0, 501, 1000))).1.is_empty());
    }

    #[test]
    fn backlog_of_the_reads_decides_and_without_reads_that_of_all_operations() {
        let (slow, full) = (operation(0, 0, 1000), operation(0, 5000, 5000));
        let causes = |operations: Value| judged(true, &operations).1;
        assert_eq!(causes(json!({"reads": slow, "large-block-writes": full})), [BUSY]);
        assert!(causes(json!({"reads": full, "large-block-writes": slow})).is_empty());
        assert!(causes(json!({"writes": slow, "large-block-writes": full})).is_empty());
        assert_eq!(causes(json!({"index-reads": slow, "cache-writes": full})), [BUSY]);
    }

    #[test]
    fn a_late_generator_of_the_writes_does_not_excuse_the_reads() {
        let (full, late) = (operation(0, 900, 1000), operation(5_000_000, 0, 6_000_000));
        let on_time = operation(0, 0, 1000);
        let writes = |reads: &Value| json!({"reads": reads, "large-block-writes": late});
        assert_eq!(judged(true, &writes(&full)), (vec![LATE, BUSY], vec![]));
        assert_eq!(judged(true, &writes(&on_time)), (vec![LATE, BUSY], vec![BUSY]));
        assert_eq!(judged(true, &writes(&late)).1, [LATE, BUSY]);
        assert_eq!(judged(false, &json!({"writes": late})).1, [LATE]);
        assert_eq!(judged(false, &json!({"writes": full})).1, [""; 0]);
    }

    #[test]
    fn writes_that_missed_their_rate_by_a_late_generator_blame_the_host() {
        let causes = |own_p99_ns, backlog_ns, is_rate_held: Value| {
            let mut writes = operation(own_p99_ns, backlog_ns, 1_000);
            writes["is_rate_held"] = is_rate_held;
            let operations = json!({"reads": operation(0, 0, 1_000), "large-block-writes": writes});
            judged(false, &operations).1
        };
        assert_eq!(causes(1_000_000, 500, json!(false)), [LATE]);
        assert_eq!(causes(1_000_000, 501, json!(false)), [""; 0]);
        assert_eq!(causes(999_999, 0, json!(false)), [""; 0]);
        assert_eq!(causes(1_000_000, 0, json!(true)), [""; 0]);
        assert_eq!(causes(1_000_000, 0, json!(null)), [""; 0]);
    }

    #[test]
    fn writes_that_missed_their_rate_by_backlog_keep_the_causes_of_the_reads() {
        let mut writes = operation(1_000_000, 900, 1_000);
        writes["is_rate_held"] = json!(false);
        let both = |reads: Value| judged(true, &json!({"reads": reads, "large-block-writes": writes}));
        assert_eq!(both(operation(0, 0, 1_000)), (vec![LATE, BUSY], vec![BUSY]));
        assert_eq!(both(operation(0, 900, 1_000)), (vec![LATE, BUSY], vec![]));
    }

    /// Return an operation with the greatest count.
    fn greatest(backlog_ns: u64, response_ns: u64) -> Value {
        json!({"count": u64::MAX, "backlog": {"mean_ns": backlog_ns}, "response": {"mean_ns": response_ns}})
    }

    #[test]
    fn the_greatest_count_and_times_are_compared_exactly() {
        let causes = |backlog_ns| judged(true, &reads(greatest(backlog_ns, u64::MAX))).1;
        assert_eq!(causes(u64::MAX / 2), [BUSY]);
        assert_eq!(causes(u64::MAX / 2 + 1), [""; 0]);
        assert_eq!(causes(u64::MAX), [""; 0]);
        assert_eq!(judged(true, &reads(greatest(u64::MAX, 0))).1, [""; 0]);
    }

    #[test]
    fn sums_beyond_128_bits_count_as_the_greatest_number() {
        let causes = |backlog_ns| {
            let operation = greatest(backlog_ns, u64::MAX);
            judged(true, &json!({"reads": operation, "index-reads": operation})).1
        };
        // The sum of the response times is limited to 2^128 - 1. Half of it is 2^63 above the first case's backlog.
        assert_eq!(causes(1 << 62), [BUSY]);
        assert_eq!(causes((1 << 62) + 1), [""; 0]);
        assert_eq!(causes(u64::MAX), [""; 0]);
    }

    #[test]
    fn a_busy_host_of_an_old_or_unfinished_side_file_is_a_cause() {
        let old = json!({"count": 1000, "response": {"mean_ns": 1_000_000}});
        assert_eq!(judged(true, &reads(old)).1, [BUSY]);
        let found = [rule::HOST_STOLEN.at(None, String::new())];
        assert_eq!(
            host_causes(&found, None, &SideFileSummary::default()),
            ["host-stolen"]
        );
    }
}
