//! Processor time of the host and of this process. A load generator at its limit measures itself.

use serde::Serialize;

use super::Root;
use crate::clock::Nanos;
use crate::report::rounded::Rounded;

/// Percentages of an interval over all processors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cpu {
    /// Neither idle nor waiting for I/O.
    pub busy_pct: Option<Rounded>,
    /// Idle with outstanding I/O.
    pub iowait_pct: Option<Rounded>,
    /// Used by the hypervisor for other machines; part of neither of the above.
    pub steal_pct: Option<Rounded>,
}

/// Clock ticks since the boot. Source: proc_stat(5), line `cpu`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticks {
    all: u64,
    idle: u64,
    iowait: u64,
    steal: u64,
}

impl Ticks {
    pub fn read(root: &Root) -> Option<Self> {
        Self::parse(&root.text("proc/stat")?)
    }

    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let numbers = line.split_whitespace().map(|number| number.parse().ok());
        let ticks: Vec<u64> = numbers.collect::<Option<_>>()?;
        // user nice system idle iowait irq softirq steal. Guest times follow; they are part of user and nice.
        let [_, _, _, idle, iowait, _, _, steal, ..] = ticks[..] else {
            return None;
        };
        Some(Self {
            all: ticks[..8].iter().sum(),
            idle,
            iowait,
            steal,
        })
    }
}

impl Cpu {
    pub(super) fn between(earlier: Ticks, later: Ticks) -> Self {
        // The kernel's iowait may decrease by a tick.
        let all = later.all.saturating_sub(earlier.all) as f64;
        let pct = |part: fn(&Ticks) -> u64| {
            let ticks = part(&later).saturating_sub(part(&earlier)) as f64;
            Rounded::new(ticks * 100.0 / all, 1)
        };
        Self {
            busy_pct: pct(|ticks| ticks.all - ticks.idle - ticks.iowait - ticks.steal),
            iowait_pct: pct(|ticks| ticks.iowait),
            steal_pct: pct(|ticks| ticks.steal),
        }
    }
}

/// Clock ticks per second in procfs, which is the same on every current architecture.
const TICKS_PER_S: f64 = 100.0;

/// Resource use in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Generator {
    /// Processor time, percent of one processor.
    pub cpu_pct: Option<Rounded>,
    /// Resident memory.
    pub resident_bytes: Option<u64>,
}

impl Generator {
    /// Measures an interval since `earlier_ticks`.
    pub(super) fn since(earlier_ticks: Option<u64>, ticks: Option<u64>, root: &Root, length: Nanos) -> Self {
        let used = earlier_ticks
            .zip(ticks)
            .map(|(earlier, now)| now.saturating_sub(earlier));
        let pct = |ticks| Rounded::new(ticks as f64 / TICKS_PER_S * 100.0 * 1e9 / length.0 as f64, 1);
        Self {
            cpu_pct: used.and_then(pct),
            resident_bytes: root.line_bytes("proc/self/status", "VmRSS:"),
        }
    }
}

/// Returns the processor time of this process. Source: proc_pid_stat(5), utime and stime: fields 14 and 15. The name,
/// field 2, may contain any character but ends in `)`.
pub(super) fn process_ticks(root: &Root) -> Option<u64> {
    let text = root.text("proc/self/stat")?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut field = || fields.next()?.parse::<u64>().ok();
    Some(field()? + field()?)
}

#[cfg(test)]
mod tests {
    use super::super::fake_host::FakeHost;
    use super::*;

    fn ticks(line: &str) -> Option<Ticks> {
        Ticks::parse(&format!("{line}\ncpu0 1 2 3\n"))
    }

    #[test]
    fn percentages_are_of_the_interval_and_guests_are_not_counted_twice() {
        let earlier = ticks("cpu  100 0 100 800 0 0 0 0 50 0");
        let later = ticks("cpu  120 5 110 840 10 2 3 10 70 0");
        let cpu = Cpu::between(earlier.unwrap(), later.unwrap());
        // 100 ticks: 20 + 5 + 10 + 2 + 3 busy, 40 idle, 10 waiting, 10 stolen.
        let shown = serde_json::to_value(cpu).unwrap();
        let expected = serde_json::json!({"busy_pct": "40.0", "iowait_pct": "10.0", "steal_pct": "10.0"});
        assert_eq!(shown, expected);
    }

    #[test]
    fn an_empty_interval_has_no_percentage() {
        let same = ticks("cpu  1 1 1 1 1 1 1 1 0 0").unwrap();
        assert_eq!(Cpu::between(same, same).busy_pct, None);
    }

    #[test]
    fn a_line_of_another_form_is_ignored() {
        for line in ["", "cpu 1 2 3", "cpu  1 2 3 4 5 6 7 x", "intr 1 2 3 4 5 6 7 8"] {
            assert_eq!(ticks(line), None, "{line}");
        }
    }

    const REST: &str = "S 1 1 1 0 -1 4194560 100 0 0 0";

    #[test]
    fn processor_time_is_that_of_user_and_kernel() {
        let host = FakeHost::new();
        host.write("proc/self/stat", &format!("7 (a) b) {REST} 100 50 0 0 20"));
        host.write("proc/self/status", "Name:\tx\nVmRSS:\t   2048 kB");
        let earlier = process_ticks(&host.root());
        host.write("proc/self/stat", &format!("7 (a) b) {REST} 220 80 0 0 20"));
        let now = process_ticks(&host.root());
        let found = Generator::since(earlier, now, &host.root(), Nanos::from_s(2));
        // 150 ticks in 2 s.
        assert_eq!(found.cpu_pct.map(|pct| pct.to_string()).as_deref(), Some("75.0"));
        assert_eq!(found.resident_bytes, Some(2 << 20));
    }
}
