//! The start record and the end record of a side file. A missing or malformed field does not affect the others.

use serde_json::Value;

use crate::act::side_file::summary::{
    Drive, Host, Operation, Program, Setup, SideFileSummary, Times, Warning,
};

/// Maximum number of stored drives, the limit of ACT.
const DRIVES_MAX: usize = 128;
/// Maximum number of stored operations; drivetest has seven.
const OPERATIONS_MAX: usize = 16;
/// Maximum number of stored warnings.
const WARNINGS_MAX: usize = 32;

/// Read the start record.
pub fn start(record: &Value, summary: &mut SideFileSummary) {
    let devices = list(record, "devices");
    let warnings = list(record, "warnings").iter().take(WARNINGS_MAX);
    *summary = SideFileSummary {
        program: Program {
            name: "drivetest",
            version: text(record, "program_version"),
            revision: text(record, "program_revision"),
        },
        engine: text(record, "engine"),
        engine_reason: text(record, "engine_reason"),
        workers: whole(record, "workers"),
        service_threads: whole(record, "service_threads"),
        arrivals: text(record, "arrivals"),
        coalesce_us: whole(record, "coalesce_us"),
        setup: record.get("setup").filter(|setup| setup.is_object()).map(setup),
        seed: whole(record, "seed").map(|seed| seed.to_string()),
        started_at: text(record, "started_at"),
        host: record.get("host").map(host).unwrap_or_default(),
        drives_count: devices.len() as u64,
        drives: devices.iter().take(DRIVES_MAX).map(drive).collect(),
        warnings: warnings.map(warning).collect(),
        ..SideFileSummary::default()
    };
}

/// Read the end record, except for the exact counts.
pub fn end(record: &Value, summary: &mut SideFileSummary) {
    summary.end_reason = text(record, "reason");
    summary.end_text = text(record, "text");
    if let Some(rate) = record.get("rate") {
        summary.is_rate_sustained = rate.get("is_held").and_then(Value::as_bool);
        summary.rate_word = text(rate, "word");
        summary.rate_sentence = text(rate, "sentence");
    }
    let operations = record.get("operations").and_then(Value::as_object);
    let operations = operations.into_iter().flatten().take(OPERATIONS_MAX);
    let operations = operations.map(|(name, operation)| operation_of(name, operation));
    summary.operations = operations.collect();
}

fn setup(record: &Value) -> Setup {
    let flag = |key: &str| record.get(key).and_then(Value::as_bool);
    let sentences = list(record, "sentences").iter().take(WARNINGS_MAX);
    Setup {
        ring_mode: text(record, "ring_mode"),
        has_registered_buffers: flag("has_registered_buffers"),
        is_processor_wait_counted: flag("is_processor_wait_counted"),
        has_cpu_latency_request: flag("has_cpu_latency_request"),
        is_memory_locked: flag("is_memory_locked"),
        rings_reason: text(record, "rings_reason"),
        numa_node: whole(record, "numa_node"),
        sentences: sentences.filter_map(Value::as_str).map(bounded).collect(),
    }
}

fn host(record: &Value) -> Host {
    Host {
        hostname: text(record, "hostname"),
        kernel: text(record, "kernel"),
        cpu_model: text(record, "cpu_model"),
        cpus_count: whole(record, "cpus_count"),
        memory_bytes: whole(record, "memory_bytes"),
        virtual_machine: text(record, "virtual_machine"),
    }
}

fn drive(record: &Value) -> Drive {
    Drive {
        name: text(record, "path"),
        kind: text(record, "kind"),
        drive_key: text(record, "drive_key"),
        model: text(record, "model"),
        serial: text(record, "serial"),
        firmware: text(record, "firmware"),
        size_bytes: whole(record, "size_bytes"),
        pcie_link: record.get("pcie").and_then(pcie_link),
    }
}

fn pcie_link(record: &Value) -> Option<String> {
    Some(format!("{} x{}", text(record, "speed")?, whole(record, "width")?))
}

fn warning(record: &Value) -> Warning {
    Warning {
        id: text(record, "id"),
        sentence: text(record, "sentence"),
    }
}

fn operation_of(name: &str, record: &Value) -> Operation {
    let times_of = |key: &str| record.get(key).map(times).unwrap_or_default();
    Operation {
        name: super::records::bounded(name),
        requested_per_s: text(record, "asked_per_s"),
        achieved_per_s: text(record, "achieved_per_s"),
        done_count: whole(record, "count"),
        failed_count: whole(record, "failed_count"),
        service_us: times_of("service"),
        response_us: times_of("response"),
        lateness_us: times_of("lateness"),
        backlog_us: record.get("backlog").map(times),
        generator_lateness_us: record.get("generator_lateness").map(times),
    }
}

fn times(record: &Value) -> Times {
    let us = |key: &str| whole(record, key).map(|ns| format!("{}.{:03}", ns / 1_000, ns % 1_000));
    Times {
        min: us("min_ns"),
        mean: us("mean_ns"),
        p50: us("p50_ns"),
        p90: us("p90_ns"),
        p99: us("p99_ns"),
        p999: us("p999_ns"),
        p9999: us("p9999_ns"),
        p99999: us("p99999_ns"),
        max: us("max_ns"),
    }
}

/// Maximum stored length of a text.
const TEXT_MAX: usize = 1_000;

/// Return a text, cut to the maximum length.
pub fn bounded(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// Return a text field; `None` if missing.
pub fn text(record: &Value, key: &str) -> Option<String> {
    record.get(key)?.as_str().map(bounded)
}

/// Return a whole number; `None` if missing.
pub fn whole(record: &Value, key: &str) -> Option<u64> {
    record.get(key)?.as_u64()
}

/// Return the mean of the times with this name; `None` if missing.
pub fn mean_ns(operation: &Value, key: &str) -> Option<u64> {
    whole(operation.get(key)?, "mean_ns")
}

/// Return a decimal that is stored as text; `None` if missing.
pub fn decimal(record: &Value, key: &str) -> Option<f64> {
    let number: f64 = record.get(key)?.as_str()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// Return the entries of a list; empty if missing.
pub fn list<'a>(record: &'a Value, key: &str) -> &'a [Value] {
    let entries = record.get(key).and_then(Value::as_array);
    entries.map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_field_is_none() {
        let record = serde_json::json!({"text": 1, "whole": "1", "decimal": "NaN", "list": {}});
        assert_eq!(text(&record, "text"), None);
        assert_eq!((whole(&record, "whole"), whole(&record, "none")), (None, None));
        assert_eq!(decimal(&record, "decimal"), None);
        assert!(list(&record, "list").is_empty());
    }

    #[test]
    fn the_setup_is_read_if_there_is_one() {
        let of = |record: Value| {
            let mut summary = SideFileSummary::default();
            start(&record, &mut summary);
            summary.setup
        };
        assert_eq!(
            [of(serde_json::json!({})), of(serde_json::json!({"setup": null}))],
            [None, None]
        );
        let flags =
            r#""is_memory_locked": true, "is_processor_wait_counted": false, "has_registered_buffers": 1"#;
        let rest = r#""ring_mode": "plain", "numa_node": -1, "sentences": ["why", 1]"#;
        let record = serde_json::from_str(&format!(r#"{{"setup": {{{flags}, {rest}}}}}"#)).unwrap();
        let expected = Setup {
            ring_mode: Some("plain".to_owned()),
            is_processor_wait_counted: Some(false),
            is_memory_locked: Some(true),
            sentences: vec!["why".to_owned()],
            ..Setup::default()
        };
        assert_eq!(of(record), Some(expected));
    }
}
