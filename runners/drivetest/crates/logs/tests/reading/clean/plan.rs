//! Plan of a clean run.

use super::draw::Draw;

/// Versions with a grammar or a header of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 2.0.
    V20,
    /// 3.1 of 2018-01.
    V31,
    /// 4.0.
    V40,
    /// 5.3, storage.
    V53,
    /// 5.3, index.
    V53Index,
    /// 6.0, whose header lists a histogram in vain.
    V62,
    /// 6.6, storage.
    V66,
    /// 6.6, index.
    V66Index,
    /// drivetest's own.
    Drivetest,
}

use Version::{Drivetest, V20, V31, V40, V53, V53Index, V62, V66, V66Index};

/// A clean run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub version: Version,
    pub devices: u64,
    pub threads: u64,
    pub nx: u64,
    pub interval_s: u64,
    pub intervals: u64,
    pub slice_intervals: u64,
    pub is_us: bool,
}

impl Plan {
    /// Draw a plan with ACT's defaults, for which no finding is correct.
    pub fn draw(draw: &mut Draw) -> Self {
        let version = draw.one(&[
            V20, V31, V40, V53, V53Index, V62, V66, V66, V66, V66Index, Drivetest,
        ]);
        let most = match version {
            V53Index | V66Index => 1,
            V20 | V31 | V40 => 32,
            V53 | V62 | V66 | Drivetest => 128,
        };
        let devices = match draw.whole(0, 9) {
            0..6 => draw.whole(1, 2),
            6..9 => draw.whole(1, 8),
            _ => draw.whole(1, 128),
        };
        let devices = devices.min(most);
        let slice_intervals = draw.whole(1, 6);
        let slices = draw.whole(2, 8);
        let nx = draw.one(&[1, 1, 2, 3, 10, 30]);
        Self {
            version,
            devices,
            // Enough for the load at 200 us a read, of the number that divides the rate, and no more than ten to a device.
            threads: devices * if nx < 10 { draw.one(&[2, 4, 5, 8, 10]) } else { 10 },
            nx,
            interval_s: draw.one(&[1, 1, 1, 2, 5, 10, 60]),
            intervals: slice_intervals * slices,
            slice_intervals,
            is_us: draw.chance(0.6),
        }
    }

    /// Up to 4.0.
    pub fn is_family_a(&self) -> bool {
        matches!(self.version, V20 | V31 | V40)
    }

    /// With queues, up to 5.3.
    pub fn has_queues(&self) -> bool {
        self.is_family_a() || matches!(self.version, V53 | V53Index)
    }

    pub fn is_index(&self) -> bool {
        matches!(self.version, V53Index | V66Index)
    }

    pub fn duration_s(&self) -> u64 {
        self.interval_s * self.intervals
    }

    pub fn slice_s(&self) -> u64 {
        self.interval_s * self.slice_intervals
    }

    pub fn reads_per_s(&self) -> u64 {
        2000 * self.nx * self.devices
    }

    pub fn writes_per_s(&self) -> u64 {
        1000 * self.nx * self.devices
    }

    /// 85 records of 1536 bytes fill a block of 128 KiB, and each block is written twice; 3.0 and before ask it plainly.
    pub fn large_blocks_per_s(&self) -> f64 {
        (self.writes_per_s() as f64 / 85.0 * 2.0 * 100.0).round() / 100.0
    }

    pub fn device(&self, number: u64) -> String {
        format!("/dev/nvme{number}n1")
    }
}
