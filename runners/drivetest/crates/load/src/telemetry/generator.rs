//! Resource use of this process. A load generator at its limit measures itself.

use serde::Serialize;

use super::Root;
use crate::clock::Nanos;
use crate::report::decimal::Decimal;

/// Clock ticks per second in procfs, which is the same on every current architecture.
const TICKS_PER_S: f64 = 100.0;

/// Resource use in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Generator {
    /// Processor time, percent of one processor.
    pub cpu_pct: Option<Decimal>,
    /// Resident memory.
    pub resident_bytes: Option<u64>,
}

/// The previous sample.
#[derive(Debug)]
pub(super) struct PreviousSample {
    ticks: Option<u64>,
}

impl PreviousSample {
    pub fn read(root: &Root) -> Self {
        Self { ticks: ticks(root) }
    }

    pub fn sample(&mut self, root: &Root, length: Nanos) -> Generator {
        let now = ticks(root);
        let used = self
            .ticks
            .zip(now)
            .map(|(earlier, later)| later.saturating_sub(earlier));
        self.ticks = now;
        let pct = |ticks| Decimal::new(ticks as f64 / TICKS_PER_S * 100.0 * 1e9 / length.0 as f64, 1);
        Generator {
            cpu_pct: used.and_then(pct),
            resident_bytes: resident_bytes(root),
        }
    }
}

/// Returns the processor time. Source: proc_pid_stat(5), utime and stime: fields 14 and 15. The name, field 2, may
/// contain any character but ends in `)`.
fn ticks(root: &Root) -> Option<u64> {
    let text = root.text("proc/self/stat")?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut field = || fields.next()?.parse::<u64>().ok();
    Some(field()? + field()?)
}

fn resident_bytes(root: &Root) -> Option<u64> {
    let text = root.text("proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1_024)
}

#[cfg(test)]
mod tests {
    use super::super::fake_host::FakeHost;
    use super::*;

    const REST: &str = "S 1 1 1 0 -1 4194560 100 0 0 0";

    #[test]
    fn processor_time_is_that_of_user_and_kernel() {
        let host = FakeHost::new();
        host.write("proc/self/stat", &format!("7 (a) b) {REST} 100 50 0 0 20"));
        host.write("proc/self/status", "Name:\tx\nVmRSS:\t   2048 kB");
        let mut last = PreviousSample::read(&host.root());
        host.write("proc/self/stat", &format!("7 (a) b) {REST} 220 80 0 0 20"));
        let found = last.sample(&host.root(), Nanos::from_s(2));
        // 150 ticks in 2 s.
        assert_eq!(found.cpu_pct.map(|pct| pct.to_string()).as_deref(), Some("75.0"));
        assert_eq!(found.resident_bytes, Some(2 << 20));
    }
}
