//! Whether a drive has come to rest: a database that has been loaded goes on writing (compaction, defragmentation).

use drivetest_load::clock::{Instant, Nanos};
use drivetest_load::telemetry::{LoadedDevice, Root};

const SECTOR_BYTES: u64 = 512;
/// Position of the sectors written, from 0. Source: Linux, Documentation/block/stat.rst.
const WRITTEN_SECTORS: usize = 6;

/// What counts as rest, and how long it is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    /// The drive rests while it is asked to write less than this.
    pub bytes_per_s: u64,
    /// For so long without a break.
    pub lasting: Nanos,
    /// After this nobody waits any more.
    pub at_most: Nanos,
}

/// Follows what a drive is asked to write, look after look.
#[derive(Debug)]
pub struct Rest {
    quiet: Quiet,
    stat: String,
    begun: Instant,
    since: Option<Instant>,
    last: (Instant, u64),
}

/// Where a drive stands.
#[derive(Debug, PartialEq, Eq)]
pub enum Stand {
    /// It has rested for long enough.
    Resting,
    /// Not yet.
    Working,
    /// It never did in the time that it was given.
    Restless,
}

impl Rest {
    /// None where the kernel counts nothing for the drive: then rest cannot be told from silence.
    pub fn of(quiet: Quiet, device: &LoadedDevice, now: Instant) -> Option<Self> {
        let (major, minor) = device.number?;
        let stat = format!("sys/dev/block/{major}:{minor}/stat");
        let written = written_bytes(&Root::host().text(&stat)?)?;
        Some(Self {
            quiet,
            stat,
            begun: now,
            since: Some(now),
            last: (now, written),
        })
    }

    /// Looks at the counter now.
    pub fn look(&mut self, now: Instant) -> Stand {
        let text = Root::host().text(&self.stat).unwrap_or_default();
        self.judge(now, written_bytes(&text))
    }

    /// What is not told any more is no rest.
    fn judge(&mut self, now: Instant, written: Option<u64>) -> Stand {
        let (at, before) = self.last;
        let most = u128::from(self.quiet.bytes_per_s) * u128::from(now.since(at).0) / 1_000_000_000;
        let is_still = written.is_some_and(|bytes| u128::from(bytes.saturating_sub(before)) < most);
        self.since = is_still.then(|| self.since.unwrap_or(at));
        self.last = (now, written.unwrap_or(before));
        match self.since {
            Some(since) if now.since(since) >= self.quiet.lasting => Stand::Resting,
            _ if now.since(self.begun) >= self.quiet.at_most => Stand::Restless,
            _ => Stand::Working,
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

    fn rest(begun: Instant) -> Rest {
        let quiet = Quiet {
            bytes_per_s: MEGABYTE,
            lasting: Nanos::from_s(3),
            at_most: Nanos::from_s(10),
        };
        Rest {
            quiet,
            stat: String::new(),
            begun,
            since: Some(begun),
            last: (begun, 0),
        }
    }

    /// What is found at each second, of the bytes written in it.
    fn stands(written_each_second: &[u64]) -> Vec<Stand> {
        let begun = Instant::now();
        let (mut rest, mut sum) = (rest(begun), 0);
        let mut at = begun;
        written_each_second
            .iter()
            .map(|bytes| {
                sum += bytes;
                at = at.after(Nanos::from_s(1));
                rest.judge(at, Some(sum))
            })
            .collect()
    }

    #[test]
    fn a_drive_rests_when_it_writes_less_than_asked_for_long_enough() {
        use Stand::{Resting, Working};
        assert_eq!(
            stands(&[MEGABYTE - 1, 0, MEGABYTE - 1]),
            [Working, Working, Resting]
        );
        assert_eq!(
            stands(&[MEGABYTE - 1, MEGABYTE, 0, 0, 0]),
            [Working, Working, Working, Working, Resting]
        );
    }

    #[test]
    fn a_drive_that_never_rests_is_told_after_the_time_it_was_given() {
        let found = stands(&[MEGABYTE; 10]);
        assert_eq!((&found[8], &found[9]), (&Stand::Working, &Stand::Restless));
    }

    #[test]
    fn a_counter_that_is_not_told_is_no_rest() {
        let begun = Instant::now();
        let mut rest = rest(begun);
        for second in 1..=5 {
            assert_eq!(
                rest.judge(begun.after(Nanos::from_s(second)), None),
                Stand::Working
            );
        }
        assert_eq!(written_bytes("1 2 3"), None);
        assert_eq!(written_bytes("1 2 3 4 5 6 7 8"), Some(7 * 512));
    }
}
