//! The description of a load that is not started. It is made without a write to a device and without a new file.

use drivetest_device::opening::OpenRefusal;
use drivetest_device::{Identity, Warning};

use crate::config::EngineChoice;
use crate::device::{self, Device};
use crate::engine::EngineSelection;
use crate::host::Host;
use crate::run::{LoadRun, limit_celsius, ring_cpus};
use crate::schedule::Rate;
use crate::schedule::stream::Operation;

/// The devices, rates and engine of a load that is not started.
#[derive(Debug)]
pub struct Preview {
    /// The devices, in the order of the configuration.
    pub devices: Vec<PreviewDevice>,
    /// The refusal that the load would end with.
    pub refusal: Option<String>,
    /// The rates of all devices together.
    pub rates: Vec<(Operation, Rate)>,
    /// The engine. None if it depends on a test of devices that cannot be opened.
    pub selection: Option<EngineSelection>,
    /// Problems that may distort the measurement but do not forbid it.
    pub warnings: Vec<Warning>,
}

/// A device of a load that was not started.
#[derive(Debug)]
pub struct PreviewDevice {
    /// As in the configuration.
    pub path: String,
    /// None if the path does not exist.
    pub identity: Option<Identity>,
    /// Size, bytes. None if the load would refuse, create or resize it.
    pub size_bytes: Option<u64>,
    /// Smallest direct read, bytes. None if the load would refuse, create or resize it.
    pub minimum_io_bytes: Option<u32>,
    /// Why the load would refuse it.
    pub refusal: Option<String>,
}

/// An inspected device; None if the load would create or resize it.
type Inspected = Result<Option<Device>, OpenRefusal>;

impl LoadRun<'_> {
    /// Returns what the load would do. All devices are closed again.
    pub fn preview(&self, host: &Host) -> Preview {
        let names = &self.config.device_names;
        let checks: Vec<_> = (0..names.len())
            .map(|ordinal| self.guard.check(ordinal))
            .collect();
        // The load checks all devices before it opens the first.
        let unsafe_device = checks
            .iter()
            .find_map(|check| check.as_ref().err())
            .map(ToString::to_string);
        let inspected = self.inspect(checks);
        let refused_device = inspected.iter().find_map(|device| device.as_ref().err());
        let refusal = unsafe_device.or_else(|| refused_device.map(ToString::to_string));
        let of_names = inspected.iter().enumerate();
        let devices = of_names
            .map(|(ordinal, device)| self.preview_device(ordinal, device))
            .collect();
        let opened: Option<Vec<Device>> = inspected
            .into_iter()
            .map(|device| device.ok().flatten())
            .collect();
        let select =
            |devices: &[Device]| self.select_engine(devices, &ring_cpus(&self.identities(devices), host));
        let selection = match (opened, self.config.engine) {
            (Some(opened), _) => Some(select(&opened)),
            (None, EngineChoice::Auto) => None,
            (None, _) => Some(select(&[])),
        };
        Preview {
            devices,
            refusal,
            rates: self.config.rates(),
            selection,
            warnings: self.guard.warnings(limit_celsius(&self.config)),
        }
    }

    /// Checks all devices as the load would, and changes nothing.
    ///
    /// # Errors
    /// The refusal that the load would end with.
    pub(crate) fn inspect_all(&self) -> Result<(), OpenRefusal> {
        self.check_all()?;
        let checks = self.config.device_names.iter().map(|_| Ok(())).collect();
        let mut inspected = self.inspect(checks).into_iter();
        inspected.try_for_each(|device| device.map(drop))
    }

    fn inspect(&self, checks: Vec<Result<(), OpenRefusal>>) -> Vec<Inspected> {
        let request = self.open_request(&|| None, &|_| ());
        let mut devices: Vec<Inspected> = Vec::new();
        for ((ordinal, name), check) in self.config.device_names.iter().enumerate().zip(checks) {
            // A second exclusive open of the same device would fail.
            let same = devices
                .iter()
                .flatten()
                .flatten()
                .find(|device| device.name == *name);
            let device = check.and_then(|()| match same {
                Some(device) => device.duplicate().map(Some),
                None => device::inspect(&request, ordinal, name),
            });
            devices.push(device);
        }
        devices
    }

    fn preview_device(&self, ordinal: usize, inspected: &Inspected) -> PreviewDevice {
        let device = inspected.as_ref().ok().and_then(Option::as_ref);
        PreviewDevice {
            path: self.config.device_names[ordinal].clone(),
            identity: self.guard.observed(ordinal).cloned(),
            size_bytes: device.map(|device| device.size_bytes),
            minimum_io_bytes: device.map(|device| device.minimum_io_bytes),
            refusal: inspected.as_ref().err().map(ToString::to_string),
        }
    }
}
