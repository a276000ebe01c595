//! The content of a side file as terminal text.

use drivetest_logs::act::run::Run;
use drivetest_logs::act::side_file::summary::{Drive, Operation, Over, SideFileSummary, Times};
use drivetest_logs::act::side_file::telemetry::{Disk, Power, SpanTexts, Telemetry};
use drivetest_logs::finding::counted;
use drivetest_logs::judge::verdict::time;

use crate::size;

/// Maximum number of drives and disks that are shown. The JSON document lists all.
const SHOWN_MAX: usize = 16;

/// Returns the lines of a run's side file, or nothing if the run has none.
pub fn summary(run: &Run) -> String {
    let Some(side) = &run.side_file else {
        return String::new();
    };
    let mut lines = vec![program(side), host(side)];
    lines.extend(side.drives.iter().take(SHOWN_MAX).map(drive));
    lines.extend(rates(side));
    lines.extend(times(&side.operations));
    lines.extend(exact(&side.over));
    lines.extend(side.telemetry.iter().flat_map(telemetry));
    let lines = lines.iter().map(|line| format!("  {}\n", line.trim_end()));
    lines.collect()
}

fn or_unknown(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("unknown")
}

fn program(side: &SideFileSummary) -> String {
    let revision = side.program.revision.as_ref();
    let revision = revision.map_or_else(String::new, |revision| format!(" ({revision})"));
    let workers = match (side.workers, side.service_threads) {
        (Some(workers), _) => format!(", {}", counted(workers, "worker")),
        (None, Some(threads)) => format!(", {threads} service threads"),
        (None, None) => String::new(),
    };
    let end = match (&side.end_reason, side.end_text.as_deref()) {
        (None, _) => "no end record: the run was killed".to_owned(),
        (Some(reason), None | Some("")) => format!("ended: {reason}"),
        (Some(reason), Some(text)) => format!("ended: {reason} ({text})"),
    };
    format!(
        "side file: drivetest {}{revision}, engine {}{workers}, arrivals {}, seed {}; {end}",
        or_unknown(&side.program.version),
        or_unknown(&side.engine),
        or_unknown(&side.arrivals),
        or_unknown(&side.seed)
    )
}

fn host(side: &SideFileSummary) -> String {
    let host = &side.host;
    let processors = host
        .cpus_count
        .map(|count| format!(", {}", counted(count, "processor")));
    let processors = processors.unwrap_or_default();
    let machine = host.virtual_machine.as_ref();
    let machine = machine.map_or_else(String::new, |name| format!(", virtual machine ({name})"));
    format!(
        "host {}{processors} {}, kernel {}{machine}",
        or_unknown(&host.hostname),
        or_unknown(&host.cpu_model),
        or_unknown(&host.kernel)
    )
}

fn drive(drive: &Drive) -> String {
    let kind = match drive.kind.as_deref() {
        Some("virtual") => "virtual: not a physical drive",
        Some(kind) => kind,
        None => "unknown kind",
    };
    let of = |what: &str, text: &Option<String>| text.as_ref().map(|text| format!(", {what} {text}"));
    let parts = [
        of("model", &drive.model),
        of("serial", &drive.serial),
        of("firmware", &drive.firmware),
        of("key", &drive.drive_key),
        drive
            .size_bytes
            .map(|bytes| format!(", {}", size::text_with_bytes(bytes))),
        of("link", &drive.pcie_link),
    ];
    let parts: String = parts.into_iter().flatten().collect();
    format!("device {}: {kind}{parts}", or_unknown(&drive.name))
}

fn rates(side: &SideFileSummary) -> Option<String> {
    let sentence = side.rate_sentence.as_deref().unwrap_or_default();
    Some(match (side.is_rate_sustained?, sentence) {
        (true, "") => "the rates were sustained".to_owned(),
        (true, sentence) => format!("the rates were sustained overall: {sentence}"),
        (false, sentence) => format!("THE RATES WERE NOT SUSTAINED: {sentence}"),
    })
}

fn times(operations: &[Operation]) -> Vec<String> {
    if operations.is_empty() {
        return Vec::new();
    }
    let heading = ["p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max", "mean"];
    let heading: String = heading.iter().map(|name| format!("{name:>13}")).collect();
    let mut lines = vec![format!("{:<38}{heading}", "microseconds")];
    for operation in operations {
        let rows = [
            ("service", Some(&operation.service_us)),
            ("response", Some(&operation.response_us)),
            ("lateness", Some(&operation.lateness_us)),
            ("backlog", operation.backlog_us.as_ref()),
            ("generator lateness", operation.generator_lateness_us.as_ref()),
        ];
        let rows = rows.into_iter().filter_map(|(what, times)| Some((what, times?)));
        lines.extend(rows.map(|(what, times)| row(&format!("{} {what}", operation.name), times)));
    }
    lines
}

fn row(name: &str, times: &Times) -> String {
    let cells = [
        &times.p50,
        &times.p90,
        &times.p99,
        &times.p999,
        &times.p9999,
        &times.p99999,
        &times.max,
        &times.mean,
    ];
    let cells = cells.map(|cell| format!("{:>13}", cell.as_deref().unwrap_or("-")));
    format!("{name:<38}{}", cells.concat())
}

/// Returns the exact shares, which complement those from the buckets of the log.
fn exact(over: &[Over]) -> Option<String> {
    let ops_count = over.first()?.ops_count;
    let cell = |over: &Over| {
        let (threshold, pct, count) = (time(over.threshold_us), &over.share_pct, over.over_count);
        format!("> {threshold} {pct} % ({count})")
    };
    let cells = over.iter().map(cell).collect::<Vec<_>>().join("   ");
    Some(format!("exact counts of {ops_count} reads: {cells}"))
}

/// Returns the telemetry of a run's summary, or nothing if there is none.
pub fn telemetry_lines(recorded: Option<&Telemetry>) -> String {
    let lines = recorded.into_iter().flat_map(telemetry);
    lines.map(|line| format!("  {line}\n")).collect()
}

fn telemetry(telemetry: &Telemetry) -> Vec<String> {
    let mean_max = |what: &str, span: Option<SpanTexts>| {
        let span = span?;
        Some(format!("{what} {} % (max {} %)", span.mean, span.max))
    };
    let parts = [
        mean_max("busy", telemetry.cpu_busy_pct.texts()),
        mean_max("waiting for I/O", telemetry.cpu_iowait_pct.texts()),
        mean_max("stolen", telemetry.cpu_steal_pct.texts()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let mut lines = Vec::new();
    if !parts.is_empty() {
        let intervals = counted(telemetry.intervals_count, "interval");
        lines.push(format!("processors in {intervals}: {}", parts.join(", ")));
    }
    lines.extend(telemetry.disks.iter().take(SHOWN_MAX).filter_map(disk));
    let power = |power: &Power| {
        let watts = power.watts.texts()?;
        Some(format!("{} {} W (max {})", power.boundary, watts.mean, watts.max))
    };
    let power: Vec<String> = telemetry.power.iter().filter_map(power).collect();
    if !power.is_empty() {
        lines.push(format!("power: {}", power.join(", ")));
    }
    lines
}

fn disk(disk: &Disk) -> Option<String> {
    let mean_max = |what: &str, unit: &str, span: Option<SpanTexts>| {
        let span = span?;
        Some(format!("{what} {} {unit} (max {})", span.mean, span.max))
    };
    let limit = disk.temperature_limit_c.as_ref();
    let limit = limit.map_or_else(String::new, |limit| format!(" (warns at {limit})"));
    let temperature = disk.temperature_c.texts();
    let parts = [
        temperature.map(|span| format!("{} to {} C{limit}", span.min, span.max)),
        mean_max("busy", "%", disk.busy_pct.texts()),
        mean_max("read await", "us", disk.read_await_us.texts()),
        mean_max("write await", "us", disk.write_await_us.texts()),
        mean_max("read", "bytes/s", disk.read_bytes_per_s.texts()),
        mean_max("written", "bytes/s", disk.write_bytes_per_s.texts()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("disk {}: {}", disk.disk, parts.join(", ")))
}
