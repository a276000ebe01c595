//! Trim counters of a device. A trim makes a drive behave as if it were new, and invalidates a test.

use serde::Serialize;

use crate::error::DeviceError;
use crate::system::{self, System};
use crate::topology::block::Block;

const SECTOR_BYTES: u64 = 512;

/// Trims of a device since the boot. Two samples are comparable only with the same `boot_id`, because the kernel
/// restarts the counters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrimCounters {
    /// Id of the boot.
    pub boot_id: String,
    /// Number of requests.
    pub requests_count: u64,
    /// Trimmed bytes.
    pub bytes: u64,
}

impl TrimCounters {
    /// Positions in the line, from 0. Source: Linux, Documentation/block/stat.rst; available since 4.18.
    const REQUESTS: usize = 11;
    const SECTORS: usize = 13;

    /// Reads the counters. None if the kernel has none, or reports no boot id.
    pub(crate) fn read(system: &System, whole: &Block) -> Result<Option<Self>, DeviceError> {
        let line = whole.text("stat")?.unwrap_or_default();
        let boot_id = system::text(&system.proc.join("sys/kernel/random/boot_id"))?;
        Ok(boot_id.and_then(|boot_id| Self::parse(&line, boot_id)))
    }

    fn parse(line: &str, boot_id: String) -> Option<Self> {
        let field = |position: usize| line.split_ascii_whitespace().nth(position)?.parse::<u64>().ok();
        Some(Self {
            boot_id,
            requests_count: field(Self::REQUESTS)?,
            bytes: field(Self::SECTORS)?.saturating_mul(SECTOR_BYTES),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_bytes_are_those_of_trims() {
        let line = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";
        let found = TrimCounters::parse(line, "b".to_owned()).unwrap();
        assert_eq!((found.requests_count, found.bytes), (12, 14 * 512));
    }

    #[test]
    fn an_older_kernel_has_no_counters_and_not_zeros() {
        assert_eq!(
            TrimCounters::parse("1 2 3 4 5 6 7 8 9 10 11", "b".to_owned()),
            None
        );
        assert_eq!(TrimCounters::parse("", "b".to_owned()), None);
    }
}
