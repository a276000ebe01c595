//! What the kernel swaps to.

use std::path::PathBuf;

use crate::error::DeviceError;
use crate::system::{self, System, unescaped};

/// Returns the devices and files that are swapped to.
pub(crate) fn read(system: &System) -> Result<Vec<PathBuf>, DeviceError> {
    let table = system::text(&system.proc.join("swaps"))?.unwrap_or_default();
    let paths = table
        .lines()
        .skip(1)
        .filter_map(|line| line.split_ascii_whitespace().next());
    Ok(paths.map(unescaped).collect())
}
