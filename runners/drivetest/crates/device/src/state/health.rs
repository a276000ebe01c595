//! Health of an NVMe drive: wear, spare capacity, and thermal throttling.

use std::fs::File;
use std::path::Path;

use rustix::ioctl::{self, Updater};
use serde::Serialize;

/// Length of log page 02h. Source: NVM Express Base Specification 2.0, 5.16.1.3, SMART / Health Information.
pub(crate) const PAGE_BYTES: usize = 512;
pub(crate) type Page = [u8; PAGE_BYTES];

const GET_LOG_PAGE: u8 = 0x02;
const HEALTH_PAGE: u32 = 0x02;
/// The whole drive instead of a namespace.
const ALL_NAMESPACES: u32 = 0xffff_ffff;
/// Source: include/uapi/linux/nvme_ioctl.h, NVME_IOCTL_ADMIN_CMD.
const ADMIN_COMMAND: ioctl::Opcode = ioctl::opcode::read_write::<AdminCommand>(b'N', 0x41);
/// A drive that does not answer must not block the identification.
const TIMEOUT_MS: u32 = 5_000;

/// Source: include/uapi/linux/nvme_ioctl.h, struct nvme_passthru_cmd.
#[repr(C)]
#[derive(Debug, Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    words_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// Health of an NVMe drive. Counts are over its whole life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Percentage of its rated life; may exceed 100.
    pub used_pct: u8,
    /// Remaining spare capacity.
    pub spare_pct: u8,
    /// Bits of current critical conditions; 0 for none.
    pub critical_warning: u8,
    /// Unrecovered data errors.
    pub media_errors_count: u128,
    /// Minutes above the warning temperature.
    pub warm_min: u32,
    /// Minutes above the critical temperature.
    pub hot_min: u32,
    /// Number of light and heavy throttling events.
    pub throttles_count: [u32; 2],
    /// Total time of throttling.
    pub throttled_s: u64,
}

/// Reads the health page of a drive. None if it is no NVMe drive or refuses the command.
pub(crate) fn page(path: &Path) -> Option<Page> {
    let device = File::open(path).ok()?;
    let mut page: Page = [0; PAGE_BYTES];
    let mut command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        address: page.as_mut_ptr() as u64,
        data_bytes: PAGE_BYTES as u32,
        // The number of double words less one is in the upper half, the page number in the lower half.
        words_10_to_15: [HEALTH_PAGE | ((PAGE_BYTES as u32 / 4 - 1) << 16), 0, 0, 0, 0, 0],
        timeout_ms: TIMEOUT_MS,
        ..AdminCommand::default()
    };
    // SAFETY: the opcode is that of this structure, and the kernel writes `data_bytes` bytes at `address` before the
    // call returns; this function ensures that `page` has that length and outlives the call.
    let result = unsafe { ioctl::ioctl(&device, Updater::<ADMIN_COMMAND, AdminCommand>::new(&mut command)) };
    result.ok().map(|()| page)
}

impl Health {
    /// Parses the page.
    pub(crate) fn parse(page: &Page) -> Self {
        let u32_at = |at: usize| u32::from_le_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]]);
        let mut media_errors = [0; 16];
        media_errors.copy_from_slice(&page[160..176]);
        Self {
            used_pct: page[5],
            spare_pct: page[3],
            critical_warning: page[0],
            media_errors_count: u128::from_le_bytes(media_errors),
            warm_min: u32_at(192),
            hot_min: u32_at(196),
            throttles_count: [u32_at(216), u32_at(220)],
            throttled_s: u64::from(u32_at(224)) + u64::from(u32_at(228)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_the_length_and_number_of_the_kernel() {
        assert_eq!(size_of::<AdminCommand>(), 72);
        assert_eq!(ADMIN_COMMAND, 0xc048_4e41);
    }

    #[test]
    fn each_value_is_read_at_its_offset() {
        let mut page = [0; PAGE_BYTES];
        (page[0], page[3], page[5]) = (4, 100, 7);
        for (at, value) in [
            (160, 9u32),
            (192, 11),
            (196, 12),
            (216, 3),
            (220, 1),
            (224, 600),
            (228, 60),
        ] {
            page[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        let health = Health::parse(&page);
        assert_eq!(
            (health.critical_warning, health.spare_pct, health.used_pct),
            (4, 100, 7)
        );
        assert_eq!(
            (health.media_errors_count, health.warm_min, health.hot_min),
            (9, 11, 12)
        );
        assert_eq!((health.throttles_count, health.throttled_s), ([3, 1], 660));
    }

    #[test]
    fn other_devices_have_no_health_page() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(page(file.path()), None);
        assert_eq!(page(Path::new("/no/such/device")), None);
    }
}
