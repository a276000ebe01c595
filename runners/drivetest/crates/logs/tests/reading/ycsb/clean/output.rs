//! The streams of a run, as its release writes them, and what is sent of them.

use drivetest_logs::reader::Role;

use super::hdr::Sorted;
use super::load::{Metric, Ran};
use super::plan::{Exporter, Interval, Kind, Plan, Sent};
use super::rows::{self, Row};
use super::status;
use crate::clean::draw::Draw;

/// A log and what comes with it.
pub struct Output {
    pub log: String,
    pub companions: Vec<(Role, String, Vec<u8>)>,
    /// The status lines that can be seen.
    pub status: String,
}

/// Writes a run.
pub fn write(plan: &Plan, ran: &Ran, draw: &mut Draw) -> Output {
    let status = status::lines(plan, ran, draw);
    // Status lines of a series are printed on both streams.
    let is_twice = plan.kind == Kind::Timeseries;
    let (banner, mut stderr) = preamble(plan, ran);
    if is_twice && plan.sent == Sent::Merged {
        status
            .lines()
            .for_each(|line| stderr.push_str(&format!("{line}\n{line}\n")));
    } else {
        stderr.push_str(&status);
    }
    if is_limited(plan, ran) {
        stderr.push_str("Maximum time elapsed. Requesting stop for the workload.\nStop requested for workload. Now Joining!\n");
    }
    let result = format!("{}{}", raw(plan, ran), exported(plan, &rows::of(plan, ran)));
    let own = if is_twice { status.as_str() } else { "" };
    let log = match plan.sent {
        Sent::Merged => format!("{banner}{stderr}{result}"),
        Sent::ErrorFirst => format!("{stderr}{banner}{own}{result}"),
        Sent::OutputFirst => format!("{banner}{own}{result}\n{stderr}"),
        _ => format!("{banner}{own}{result}"),
    };
    let mut companions = match plan.sent {
        Sent::Separate => vec![(Role::Stderr, "run.stderr".to_owned(), stderr.into_bytes())],
        Sent::WithCommand => vec![(
            Role::Command,
            "run.cmd".to_owned(),
            script(plan, ran).into_bytes(),
        )],
        _ => Vec::new(),
    };
    companions.extend(hdr_files(plan, ran));
    Output {
        log,
        companions,
        status: if plan.has_stderr() || is_twice {
            status
        } else {
            String::new()
        },
    }
}

/// File of each metric, written in addition to the rows.
fn hdr_files(plan: &Plan, ran: &Ran) -> Vec<(Role, String, Vec<u8>)> {
    let metrics = ran.metrics.iter().filter(|_| plan.has_hdr_files);
    // HdrHistogram is 2.1.4 up to 0.17, and 2.1.12 in 0.18.
    let encoding = if plan.release < 18 { 1 } else { 2 };
    let file = |(name, us, weight): (String, Vec<u64>, u64)| {
        let counts = Sorted::new(&us, weight).counts();
        (
            Role::Hdr,
            format!("{name}.hdr"),
            crate::ycsb::hdr::file(encoding, &name, &counts).into_bytes(),
        )
    };
    let recorded =
        metrics.flat_map(|metric| rows::recorded(plan, metric).map(|(name, us)| (name, us, metric.weight)));
    recorded.map(file).collect()
}

/// Return the standard output before the result, and the start of the standard error.
fn preamble(plan: &Plan, ran: &Ran) -> (String, String) {
    let command = format!("Command line: {}\n", arguments(plan, ran));
    let banner = format!(
        "YCSB Client {}\n",
        if plan.hides_version() {
            "0.1".to_owned()
        } else {
            plan.version()
        }
    );
    let begun = "Loading workload...\nStarting test.\n";
    let limit = if is_limited(plan, ran) {
        format!(
            "Maximum execution time specified as: {} secs\n",
            ran.runtime_ms / 1000
        )
    } else {
        String::new()
    };
    let wrapper = "DBWrapper: report latency for each error is false and specific error codes to track for latency are: []\n";
    let wrappers = wrapper.repeat(if plan.release < 6 {
        0
    } else {
        plan.threads as usize
    });
    let more = format!("{limit}{wrappers}{}", warning(plan));
    match plan.release {
        ..8 => (format!("{banner}{command}"), format!("{begun}{more}")),
        8..=12 => (String::new(), format!("{banner}{command}\n{begun}{more}")),
        _ => (String::new(), format!("{command}{banner}\n{begun}{more}")),
    }
}

/// Percentiles with decimals are refused up to 0.11.
fn warning(plan: &Plan) -> String {
    let refused = plan
        .percentiles
        .filter(|list| list.contains('.') && (5..12).contains(&plan.release));
    refused.map_or_else(String::new, |list| {
        let first = list.split(',').find(|share| share.contains('.')).unwrap();
        format!(
            "[WARN] Couldn't read hdrhistogram.percentiles value: '{list}', the default of '95,99' will be used.\n\
             java.lang.NumberFormatException: For input string: \"{first}\"\n\
             \tat java.lang.Integer.parseInt(Integer.java:580)\n"
        )
    })
}

/// Whether the time limit ended it.
pub fn is_limited(plan: &Plan, ran: &Ran) -> bool {
    plan.is_limited && ran.runtime_ms >= 1000
}

/// Whether the file of options is named to a binding that could read it.
pub fn names_options_file(plan: &Plan) -> bool {
    plan.has_options_file && plan.database.contains("rocksdb")
}

fn arguments(plan: &Plan, ran: &Ran) -> String {
    let package = plan.package();
    let mut words = vec![format!(
        "-db {package}.{} -threads {}",
        plan.database, plan.threads
    )];
    let mut set = |name: &str, value: &str| words.push(format!("-p {name}={value}"));
    let count = ran.done * if is_limited(plan, ran) { 5 } else { 1 };
    set(
        if plan.is_load() {
            "recordcount"
        } else {
            "operationcount"
        },
        &count.to_string(),
    );
    if plan.prints_record_count && !plan.is_load() {
        set("recordcount", "200000");
    }
    set("fieldcount", "4");
    for (name, share) in plan.mix().iter().filter(|_| !plan.by_file) {
        let name = name.replace('-', "").to_lowercase();
        set(&format!("{name}proportion"), &share.to_string());
    }
    if !plan.by_file {
        set("workload", &format!("{package}.workloads.CoreWorkload"));
    }
    measurement(plan, ran, &mut set);
    if let Some(distribution) = plan.distribution {
        set("requestdistribution", distribution);
    }
    if names_options_file(plan) {
        set("rocksdb.optionsfile", "/etc/lab/rocksdb.ini");
    }
    if is_limited(plan, ran) {
        set("maxexecutiontime", &(ran.runtime_ms / 1000).to_string());
    }
    rest(plan, ran, &mut words);
    words.join(" ")
}

fn measurement(plan: &Plan, ran: &Ran, set: &mut impl FnMut(&str, &str)) {
    let name = match plan.kind {
        Kind::Hdr => "hdrhistogram",
        Kind::Histogram => "histogram",
        Kind::Timeseries => "timeseries",
        Kind::Raw => "raw",
        Kind::HdrAndHistogram => "hdrhistogram+histogram",
    };
    set("measurementtype", name);
    match plan.interval {
        Interval::Op => {}
        Interval::Intended => set("measurement.interval", "intended"),
        Interval::Both => set("measurement.interval", "both"),
    }
    if let Some(list) = plan.percentiles {
        set("hdrhistogram.percentiles", list);
    }
    if plan.is_verbose {
        set("measurement.histogram.verbose", "true");
    }
    set("histogram.buckets", &plan.buckets.to_string());
    set("timeseries.granularity", &rows::granularity_ms(ran).to_string());
    let exporter = match plan.exporter {
        Exporter::Text => return,
        Exporter::Json => "JSONMeasurementsExporter",
        Exporter::JsonArray => "JSONArrayMeasurementsExporter",
    };
    set(
        "exporter",
        &format!("{}.measurements.exporter.{exporter}", plan.package()),
    );
}

fn rest(plan: &Plan, ran: &Ran, words: &mut Vec<String>) {
    if plan.by_file {
        let letter = if plan.is_load() { 'a' } else { plan.letter };
        words.push(format!("-P /opt/ycsb/workloads/workload{letter}"));
    }
    words.extend(ran.target.map(|target| format!("-target {target}")));
    words.extend(plan.status_lines.map(|_| "-s".to_owned()));
    words.push(if plan.is_load() { "-load" } else { "-t" }.to_owned());
}

fn script(plan: &Plan, ran: &Ran) -> String {
    let class = format!("{}.Client", plan.package());
    format!(
        "java -Xmx1g -cp '/opt/ycsb/lib/*' {class} {}\n",
        arguments(plan, ran)
    )
}

/// Return the raw measurements, which precede the result.
fn raw(plan: &Plan, ran: &Ran) -> String {
    if plan.kind != Kind::Raw {
        return String::new();
    }
    let said = "Raw data measurement: will output to stdout.\n".repeat(ran.metrics.len());
    said + &ran.metrics.iter().map(raw_of).collect::<String>()
}

fn raw_of(metric: &Metric) -> String {
    let name = metric.name;
    let one = |&(begin_us, us): &(u64, u64)| format!("{name},{},{us}\n", 1_795_229_746_741 + begin_us / 1000);
    let lines: String = metric.service.iter().map(one).collect();
    format!("{name} latency raw data: op, timestamp(ms), latency(us)\n{lines}")
}

fn exported(plan: &Plan, rows: &[Row]) -> String {
    let text = |(metric, name, value): &Row| format!("[{metric}], {name}, {value}\n");
    let object = |(metric, name, value): &Row| {
        format!(
            "{{\n  \"metric\" : \"{metric}\",\n  \"measurement\" : \"{name}\",\n  \"value\" : {value}\n}}"
        )
    };
    match plan.exporter {
        Exporter::Text => rows.iter().map(text).collect(),
        Exporter::Json => rows.iter().map(object).collect::<Vec<_>>().join(" ") + "\n",
        Exporter::JsonArray => format!("[ {} ]", rows.iter().map(object).collect::<Vec<_>>().join(", ")),
    }
}
