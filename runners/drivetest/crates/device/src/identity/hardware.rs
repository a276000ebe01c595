//! Hardware of a block device from sysfs: link, NUMA node, temperature and wear.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::system::{self, System};
use crate::topology::block::Block;

/// hwmon counts in thousandths of a degree. Source: Linux, Documentation/hwmon/sysfs-interface.rst.
const HWMON_UNITS_PER_DEGREE: i64 = 1000;
/// eMMC reports its wear in steps of this size; 1 means up to 10 per cent. Source: JEDEC JESD84-B51, 7.4.41.
const WEAR_STEP_PCT: i64 = 10;

/// The PCI Express link of an NVMe drive. Speeds have the kernel's form ("16.0 GT/s PCIe").
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pcie {
    /// Domain, bus, device and function.
    pub address: String,
    /// Current speed.
    pub speed: Option<String>,
    /// Current number of lanes.
    pub width: Option<u64>,
    /// Maximum speed of the drive.
    pub max_speed: Option<String>,
    /// Maximum number of lanes of the drive.
    pub max_width: Option<u64>,
}

/// Hardware attributes. Each is None if it is not reported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Hardware {
    /// Only for NVMe drives on PCI Express.
    pub pcie: Option<Pcie>,
    /// The closest NUMA node; None if not reported.
    pub numa_node: Option<u64>,
    /// Current temperature.
    pub temperature_c: Option<i64>,
    /// The drive's own warning limit.
    pub temperature_limit_c: Option<i64>,
    /// Percentage of the rated life, as reported by the drive; for eMMC the upper end of its step.
    pub wear_pct: Option<i64>,
}

impl Hardware {
    /// Reads the attributes of a whole device. Some drivers return an error while the drive sleeps, which counts as
    /// not reported.
    pub(crate) fn of(system: &System, whole: &Block) -> Self {
        let Ok(device) = fs::canonicalize(whole.directory.join("device")) else {
            return Self::default();
        };
        let device = controller(&device);
        let root = fs::canonicalize(system.sys.join("devices")).unwrap_or_default();
        let above = || {
            device
                .ancestors()
                .take_while(|folder| folder.starts_with(&root) && *folder != root)
        };
        let sensor = sensor(&device);
        let degrees = |name: &str| Some(integer(&sensor.as_ref()?.join(name))? / HWMON_UNITS_PER_DEGREE);
        Self {
            pcie: is_nvme(&whole.name).then(|| above().find_map(pcie)).flatten(),
            numa_node: above()
                .find_map(|folder| integer(&folder.join("numa_node")))
                .and_then(|node| u64::try_from(node).ok()),
            temperature_c: degrees("temp1_input"),
            temperature_limit_c: degrees("temp1_max"),
            wear_pct: wear_pct(&device),
        }
    }
}

/// Only NVMe drives have a link of their own; that of a SCSI drive belongs to the host adapter.
fn is_nvme(name: &str) -> bool {
    name.starts_with("nvme")
}

/// Returns the controller of a drive. For a drive with several paths the kernel shows a subsystem with links to the
/// controllers; the first one counts.
fn controller(device: &Path) -> PathBuf {
    let names = system::names(device).unwrap_or_default();
    let links = names
        .iter()
        .filter(|name| is_nvme(name))
        .map(|name| device.join(name));
    let mut controllers = links.filter(|link| link.join("address").exists());
    controllers
        .find_map(|link| fs::canonicalize(link).ok())
        .unwrap_or_else(|| device.to_path_buf())
}

fn pcie(folder: &Path) -> Option<Pcie> {
    let text = |name: &str| system::text(&folder.join(name)).ok().flatten();
    let width = |name: &str| text(name)?.parse().ok();
    Some(Pcie {
        speed: Some(text("current_link_speed")?),
        address: folder.file_name()?.to_string_lossy().into_owned(),
        width: width("current_link_width"),
        max_speed: text("max_link_speed"),
        max_width: width("max_link_width"),
    })
}

/// Returns the directory of the temperature sensor. Older kernels do not have a separate directory for hwmonN.
fn sensor(device: &Path) -> Option<PathBuf> {
    let within = |folder: PathBuf| {
        let names = system::names(&folder).unwrap_or_default();
        let mut sensors = names.into_iter().filter(|name| name.starts_with("hwmon"));
        sensors
            .find(|name| folder.join(name).join("temp1_input").exists())
            .map(|name| folder.join(name))
    };
    within(device.join("hwmon")).or_else(|| within(device.to_path_buf()))
}

/// Returns the wear of eMMC: the worse of two values for the two kinds of cells.
fn wear_pct(device: &Path) -> Option<i64> {
    let values = system::text(&device.join("life_time")).ok().flatten()?;
    let steps = values
        .split_whitespace()
        .map(|step| i64::from_str_radix(step.trim_start_matches("0x"), 16).ok());
    steps
        .flatten()
        .max()
        .filter(|&steps| steps > 0)
        .map(|steps| steps * WEAR_STEP_PCT)
}

fn integer(path: &Path) -> Option<i64> {
    system::text(path).ok().flatten()?.parse().ok()
}
