//! Clean outputs of go-ycsb v1.0.1 in each of its styles, with what is true of them.
//! Source: go-ycsb, pkg/measurement and cmd/go-ycsb/client.go.

use std::collections::{BTreeMap, BTreeSet};

use drivetest_logs::reader::Role;

use super::hdr::Sorted;
use super::truth;
use crate::clean::draw::Draw;

/// How the final block is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Style {
    Plain,
    Json,
    Table,
    /// Single operations instead of a block.
    Csv,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub style: Style,
    pub letter: char,
    pub threads: u64,
    pub samples: u64,
    pub target: Option<u64>,
    pub intervals: u64,
    pub has_command: bool,
}

/// A run as it is sent.
pub struct Case {
    pub plan: Plan,
    pub log: String,
    pub companions: Vec<(Role, String, Vec<u8>)>,
    pub truth: BTreeSet<&'static str>,
}

/// By operation: when each ended and what it took, in us.
pub type Times = BTreeMap<&'static str, Vec<(u64, u64)>>;

const HEADS: [&str; 12] = [
    "Takes(s)",
    "Count",
    "OPS",
    "Avg(us)",
    "Min(us)",
    "Max(us)",
    "50th(us)",
    "90th(us)",
    "95th(us)",
    "99th(us)",
    "99.9th(us)",
    "99.99th(us)",
];

impl Plan {
    fn draw(draw: &mut Draw) -> Self {
        let style = draw.one(&[Style::Plain, Style::Json, Style::Table, Style::Csv]);
        let letters: &[char] = if style == Style::Csv {
            &['a', 'c', 'l']
        } else {
            &['a', 'c', 'd', 'e', 'f', 'l']
        };
        let samples = draw.whole(50, if style == Style::Csv { 400 } else { 3000 });
        let has_intervals = style != Style::Csv && draw.chance(0.5);
        Self {
            style,
            letter: draw.one(letters),
            threads: draw.one(&[1, 2, 8, 32]).min(samples),
            samples,
            target: None,
            intervals: if has_intervals { draw.whole(1, 12) } else { 0 },
            has_command: draw.chance(0.5),
        }
    }

    fn kinds(&self) -> [&'static str; 2] {
        match self.letter {
            'a' => ["READ", "UPDATE"],
            'd' => ["READ", "INSERT"],
            'e' => ["SCAN", "INSERT"],
            'f' => ["READ", "READ_MODIFY_WRITE"],
            'l' => ["INSERT", "INSERT"],
            _ => ["READ", "READ"],
        }
    }
}

/// The run of a seed.
pub fn case(seed: u64) -> Case {
    let mut draw = Draw::new(seed);
    let mut plan = Plan::draw(&mut draw);
    let (times, takes_us) = run(&mut plan, &mut draw);
    let stars = "**********************************************\n";
    let recorded: String = (1..=plan.intervals)
        .map(|at| block(plan.style, &until(&times, takes_us * at / (plan.intervals + 1))))
        .collect();
    let head = "Using request distribution 'uniform' a keyrange of [0 49999]\n***************** properties *****************\n";
    let set = properties(&plan);
    let takes = duration(takes_us);
    let last = if plan.style == Style::Csv {
        csv(&times)
    } else {
        block(plan.style, &times)
    };
    let log = format!("{head}{set}{stars}{recorded}{stars}Run finished, takes {takes}\n{last}");
    let command = format!("go-ycsb {} badger --threads {}\n", phase(&plan), plan.threads).into_bytes();
    let companions = if plan.has_command {
        vec![(Role::Command, "run.cmd".to_owned(), command)]
    } else {
        Vec::new()
    };
    let truth = truth::of_go(&plan, &times, takes_us);
    Case {
        plan,
        log,
        companions,
        truth,
    }
}

fn phase(plan: &Plan) -> &'static str {
    if plan.letter == 'l' { "load" } else { "run" }
}

fn properties(plan: &Plan) -> String {
    let (count, name) = (
        plan.samples,
        if plan.letter == 'l' {
            "recordcount"
        } else {
            "operationcount"
        },
    );
    let style = match plan.style {
        Style::Plain => "",
        Style::Json => "\"outputstyle\"=\"json\"\n",
        Style::Table => "\"outputstyle\"=\"table\"\n",
        Style::Csv => "\"measurementtype\"=\"csv\"\n",
    };
    let target = plan
        .target
        .map_or_else(String::new, |target| format!("\"target\"=\"{target}\"\n"));
    let (threads, phase) = (plan.threads, phase(plan));
    let is_run = plan.letter != 'l';
    format!(
        "\"{name}\"=\"{count}\"\n\"threadcount\"=\"{threads}\"\n\"command\"=\"{phase}\"\n\"workload\"=\"core\"\n\
         \"dotransactions\"=\"{is_run}\"\n{style}{target}"
    )
}

/// Every thread makes one operation after the other; with a target each waits for its turn.
fn run(plan: &mut Plan, draw: &mut Draw) -> (Times, u64) {
    let median_us = (draw.unit() * 5.0 + 2.0).exp();
    let sigma = 0.2 + 0.8 * draw.unit();
    let share = draw.chance(0.4).then(|| 0.2 + 0.5 * draw.unit());
    let mean_us = median_us * (sigma * sigma / 2.0).exp() + 1.0;
    plan.target = share.map(|share| (share * plan.threads as f64 * 1e6 / mean_us / 2.0) as u64 + 1);
    let mut free_us = vec![0_u64; plan.threads as usize];
    let mut times = Times::new();
    for at in 0..plan.samples {
        let free_us = &mut free_us[(at % plan.threads) as usize];
        let due_us = plan.target.map_or(0, |target| at * 1_000_000 / target);
        let begin_us = due_us.max(*free_us);
        let mut one = || (median_us * (sigma * draw.normal()).exp()) as u64;
        let (first_us, second_us) = (one(), one());
        let name = plan.kinds()[usize::from(draw.chance(0.4))];
        let mut add = |name, us| {
            times
                .entry(name)
                .or_default()
                .push((begin_us + first_us + second_us, us))
        };
        let took_us = if name == "READ_MODIFY_WRITE" {
            add("READ", first_us);
            add("UPDATE", second_us);
            add(name, first_us + second_us + 1);
            first_us + second_us + 1
        } else {
            add(name, first_us);
            first_us
        };
        *free_us = begin_us + took_us + draw.whole(0, 2);
    }
    let total = times
        .iter()
        .filter(|(name, _)| **name != "READ_MODIFY_WRITE")
        .flat_map(|(_, all)| all.clone());
    let total: Vec<(u64, u64)> = total.collect();
    times.insert("TOTAL", total);
    let takes_us = *free_us.iter().max().unwrap() + draw.whole(100, 3000);
    (times, takes_us)
}

/// What had ended by then.
fn until(times: &Times, end_us: u64) -> Times {
    let within = |all: &Vec<(u64, u64)>| {
        all.iter()
            .filter(|(at_us, _)| *at_us <= end_us)
            .copied()
            .collect::<Vec<_>>()
    };
    let stored = times.iter().map(|(name, all)| (*name, within(all)));
    stored.filter(|(_, all)| !all.is_empty()).collect()
}

/// The cells of a row, as HEADS names them.
fn cells(all: &[(u64, u64)]) -> Vec<String> {
    let us: Vec<u64> = all.iter().map(|&(_, us)| us).collect();
    let (sorted, count) = (Sorted::new(&us, 1), us.len() as u64);
    let takes_s = all.iter().map(|&(at_us, _)| at_us).max().unwrap().max(1) as f64 / 1e6;
    let mean = us.iter().sum::<u64>() / count;
    let mut cells = vec![
        format!("{takes_s:.1}"),
        count.to_string(),
        format!("{:.1}", count as f64 / takes_s),
    ];
    cells.extend([mean, sorted.min(), sorted.max()].map(|us| us.to_string()));
    cells.extend([50.0, 90.0, 95.0, 99.0, 99.9, 99.99].map(|share| sorted.percentile(share).to_string()));
    cells
}

fn block(style: Style, times: &Times) -> String {
    let rows: Vec<(&str, Vec<String>)> = times.iter().map(|(name, all)| (*name, cells(all))).collect();
    match style {
        Style::Json => json(&rows),
        Style::Table => table(&rows),
        _ => rows.iter().map(|(name, cells)| plain(name, cells)).collect(),
    }
}

fn plain(name: &str, cells: &[String]) -> String {
    let pairs: Vec<String> = HEADS
        .iter()
        .zip(cells)
        .map(|(head, cell)| format!("{head}: {cell}"))
        .collect();
    format!("{name:6} - {}\n", pairs.join(", "))
}

fn json(rows: &[(&str, Vec<String>)]) -> String {
    let one = |(name, cells): &(&str, Vec<String>)| {
        let pairs: Vec<String> = HEADS
            .iter()
            .zip(cells)
            .map(|(head, cell)| format!("\"{head}\":\"{cell}\""))
            .collect();
        format!("{{\"Operation\":\"{name}\",{}}}", pairs.join(","))
    };
    format!("[{}]\n", rows.iter().map(one).collect::<Vec<_>>().join(","))
}

fn table(rows: &[(&str, Vec<String>)]) -> String {
    let rule = format!("+{}\n", "------------------+".repeat(13));
    let line = |name: &str, cells: &[String]| {
        let cells: String = cells.iter().map(|cell| format!(" {cell:>16} |")).collect();
        format!("| {name:<16} |{cells}\n")
    };
    let heads = HEADS.map(str::to_uppercase);
    let body: String = rows.iter().map(|(name, cells)| line(name, cells)).collect();
    format!("{rule}{}{rule}{body}{rule}", line("OPERATION", &heads))
}

fn csv(times: &Times) -> String {
    let own = times.iter().filter(|(name, _)| **name != "TOTAL");
    let lines = own.flat_map(|(name, all)| {
        all.iter()
            .map(move |(at_us, us)| format!("{name},{},{us}\n", 1_795_230_383_435_049 + at_us))
    });
    format!("operation,timestamp_us,latency_us\n{}", lines.collect::<String>())
}

/// A duration as Go prints it.
fn duration(us: u64) -> String {
    let (minutes, seconds) = (us / 60_000_000, us % 60_000_000);
    match us {
        ..1_000_000 => format!("{}ms", us as f64 / 1e3),
        1_000_000..60_000_000 => format!("{}s", us as f64 / 1e6),
        _ => format!("{minutes}m{}s", seconds as f64 / 1e6),
    }
}
