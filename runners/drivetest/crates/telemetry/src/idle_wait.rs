//! Detection of an idle drive. After loading, a database continues to write (compaction, defragmentation).

use drivetest_load::clock::{Instant, Nanos};
use drivetest_load::telemetry::{LoadedDevice, Root};

const SECTOR_BYTES: u64 = 512;
/// Index of the written sectors, from 0. Source: Linux, Documentation/block/stat.rst.
const WRITTEN_SECTORS: usize = 6;

/// When a drive counts as idle, and how long to wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleCondition {
    /// The drive is idle while it receives fewer bytes of writes per second.
    pub bytes_per_s: u64,
    /// The minimum duration of that.
    pub lasting: Nanos,
    /// The maximum time to wait.
    pub timeout: Nanos,
}

/// Observes the writes of a drive.
#[derive(Debug)]
pub struct IdleDetector {
    condition: IdleCondition,
    stat: String,
    started: Instant,
    since: Option<Instant>,
    last: (Instant, u64),
}

/// The activity of a drive.
#[derive(Debug, PartialEq, Eq)]
pub enum DriveActivity {
    /// It has been idle for long enough.
    Idle,
    /// Not yet.
    Busy,
    /// It did not become idle before the timeout.
    TimedOut,
}

impl IdleDetector {
    /// Creates a detector. None if the kernel has no counters for the drive.
    pub fn of(condition: IdleCondition, device: &LoadedDevice, now: Instant) -> Option<Self> {
        let (major, minor) = device.number?;
        let stat = format!("sys/dev/block/{major}:{minor}/stat");
        let written = written_bytes(&Root::host().text(&stat)?)?;
        Some(Self {
            condition,
            stat,
            started: now,
            since: Some(now),
            last: (now, written),
        })
    }

    /// Reads the counter now.
    pub fn observe(&mut self, now: Instant) -> DriveActivity {
        let text = Root::host().text(&self.stat).unwrap_or_default();
        self.classify(now, written_bytes(&text))
    }

    /// Classifies the drive. A missing counter does not count as idle.
    fn classify(&mut self, now: Instant, written: Option<u64>) -> DriveActivity {
        let (at, before) = self.last;
        let limit_bytes =
            u128::from(self.condition.bytes_per_s) * u128::from(now.since(at).0) / 1_000_000_000;
        let is_idle = written.is_some_and(|bytes| u128::from(bytes.saturating_sub(before)) < limit_bytes);
        self.since = is_idle.then(|| self.since.unwrap_or(at));
        self.last = (now, written.unwrap_or(before));
        match self.since {
            Some(since) if now.since(since) >= self.condition.lasting => DriveActivity::Idle,
            _ if now.since(self.started) >= self.condition.timeout => DriveActivity::TimedOut,
            _ => DriveActivity::Busy,
        }
    }
}

fn written_bytes(stat: &str) -> Option<u64> {
    let sectors: u64 = stat.split_ascii_whitespace().nth(WRITTEN_SECTORS)?.parse().ok()?;
    Some(sectors.saturating_mul(SECTOR_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEGABYTE: u64 = 1_000_000;

    fn detector(started: Instant) -> IdleDetector {
        let condition = IdleCondition {
            bytes_per_s: MEGABYTE,
            lasting: Nanos::from_s(3),
            timeout: Nanos::from_s(10),
        };
        IdleDetector {
            condition,
            stat: String::new(),
            started,
            since: Some(started),
            last: (started, 0),
        }
    }

    /// Returns the activity at each second from the bytes written in it.
    fn activities(written_each_second: &[u64]) -> Vec<DriveActivity> {
        let started = Instant::now();
        let (mut detector, mut sum) = (detector(started), 0);
        let mut at = started;
        written_each_second
            .iter()
            .map(|bytes| {
                sum += bytes;
                at = at.after(Nanos::from_s(1));
                detector.classify(at, Some(sum))
            })
            .collect()
    }

    #[test]
    fn a_drive_is_idle_after_enough_time_below_the_rate() {
        use DriveActivity::{Busy, Idle};
        assert_eq!(activities(&[MEGABYTE - 1, 0, MEGABYTE - 1]), [Busy, Busy, Idle]);
        assert_eq!(
            activities(&[MEGABYTE - 1, MEGABYTE, 0, 0, 0]),
            [Busy, Busy, Busy, Busy, Idle]
        );
    }

    #[test]
    fn a_drive_that_stays_busy_times_out() {
        let found = activities(&[MEGABYTE; 10]);
        assert_eq!(
            (&found[8], &found[9]),
            (&DriveActivity::Busy, &DriveActivity::TimedOut)
        );
    }

    #[test]
    fn a_missing_counter_is_not_idle() {
        let started = Instant::now();
        let mut detector = detector(started);
        for second in 1..=5 {
            assert_eq!(
                detector.classify(started.after(Nanos::from_s(second)), None),
                DriveActivity::Busy
            );
        }
        assert_eq!(written_bytes("1 2 3"), None);
        assert_eq!(written_bytes("1 2 3 4 5 6 7 8"), Some(7 * 512));
    }
}
