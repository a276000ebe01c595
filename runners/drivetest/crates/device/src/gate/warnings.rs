//! Warnings: problems that make a measurement doubtful, but not dangerous.

use serde::Serialize;

use crate::identity::Identity;
use crate::identity::drive::DriveKind;

/// A warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Stable identifier.
    pub id: &'static str,
    /// Finding and remedy.
    pub sentence: String,
}

/// Returns the warnings about a load on these devices of one host.
///
/// `temperature_limit_c` replaces the drives' own limits, unless it is None.
pub fn warnings(devices: &[Identity], temperature_limit_c: Option<i64>) -> Vec<Warning> {
    let mut found: Vec<_> = devices.first().into_iter().flat_map(of_host).collect();
    found.extend(devices.iter().filter_map(scheduler));
    let temperature = |device: &Identity| temperature(device, temperature_limit_c);
    found.extend(devices.iter().filter_map(temperature));
    found.extend(one_drive(devices));
    found
}

fn of_host(device: &Identity) -> Vec<Warning> {
    let host = &device.host;
    let mut found = Vec::new();
    if host.is_irqbalance_running == Some(false) && host.cpus_count > 1 {
        found.push(Warning {
            id: "irqbalance-off",
            sentence: "irqbalance is not running, so one CPU may handle the interrupts of all drives; start it, or distribute \
                       them manually"
                .to_owned(),
        });
    }
    if host
        .governors
        .iter()
        .flatten()
        .any(|governor| governor == "powersave")
    {
        found.push(Warning {
            id: "governor",
            sentence: "CPUs use the governor powersave, which adds delays; choose performance".to_owned(),
        });
    }
    found
}

/// Returns whether a scheduler forwards requests nearly in their order. Those without "mq" belong to kernels before
/// 5.0.
fn is_plain(scheduler: &str, device: &Identity) -> bool {
    match (device.kind, device.queue.rotational) {
        (DriveKind::Nvme, _) => matches!(scheduler, "none" | "noop"),
        (_, Some(true)) => matches!(scheduler, "none" | "noop" | "mq-deadline" | "deadline" | "bfq"),
        (_, _) => matches!(scheduler, "none" | "noop" | "mq-deadline" | "deadline"),
    }
}

fn scheduler(device: &Identity) -> Option<Warning> {
    let scheduler = device.queue.scheduler.as_deref();
    let scheduler = scheduler.filter(|name| !is_plain(name, device))?;
    Some(Warning {
        id: "scheduler",
        sentence: format!(
            "{}: the I/O scheduler {scheduler} reorders or delays requests; write none to its queue/scheduler",
            device.path.display()
        ),
    })
}

fn temperature(device: &Identity, limit_c: Option<i64>) -> Option<Warning> {
    let (now_c, limit_c) = (
        device.hardware.temperature_c?,
        limit_c.or(device.hardware.temperature_limit_c)?,
    );
    (now_c > limit_c).then(|| Warning {
        id: "temperature",
        sentence: format!(
            "{}: {now_c} degrees C, above its limit of {limit_c}, where drives throttle; cool it first",
            device.path.display()
        ),
    })
}

/// Returns a warning for each drive that is listed more than once.
fn one_drive(devices: &[Identity]) -> Vec<Warning> {
    let mut found = Vec::new();
    for (ordinal, first) in devices.iter().enumerate() {
        let is_same = |device: &&Identity| device.drive_key == first.drive_key;
        let paths: Vec<_> = devices
            .iter()
            .filter(is_same)
            .map(|device| device.path.display().to_string())
            .collect();
        if paths.len() > 1 && !devices.iter().take(ordinal).any(|device| is_same(&device)) {
            found.push(Warning {
                id: "one-drive",
                sentence: format!(
                    "{} are one physical drive ({}), which gets the load of all of them; Nx counts drives, not names",
                    paths.join(" and "),
                    first.drive_key
                ),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_host::FakeHost;
    use crate::identity::identify_on;
    use crate::state::queue::Queue;

    fn ids(devices: &[Identity], limit_c: Option<i64>) -> Vec<&'static str> {
        warnings(devices, limit_c)
            .into_iter()
            .map(|warning| warning.id)
            .collect()
    }

    /// Returns an NVMe drive and a partition of it, on a host with irqbalance.
    fn drive() -> (FakeHost, Identity, Identity) {
        let mut host = FakeHost::new();
        let (whole, part) = (host.nvme("nvme0n1", "S1"), host.partition("nvme0n1", 1));
        host.process(99, "irqbalance");
        let system = host.system();
        let (whole, part) = (
            identify_on(&system, &whole).unwrap(),
            identify_on(&system, &part).unwrap(),
        );
        (host, whole, part)
    }

    #[test]
    fn a_quiet_host_has_no_warning() {
        assert!(ids(&[drive().1], None).is_empty());
    }

    #[test]
    fn a_host_with_one_cpu_has_no_interrupts_to_spread() {
        let mut device = drive().1;
        device.host.is_irqbalance_running = Some(false);
        assert_eq!(ids(&[device.clone()], None), ["irqbalance-off"]);
        device.host.cpus_count = 1;
        assert!(ids(&[device.clone()], None).is_empty());
        (device.host.cpus_count, device.host.is_irqbalance_running) = (2, None);
        assert!(ids(&[device], None).is_empty(), "unknown is not off");
    }

    #[test]
    fn powersave_on_one_cpu_is_enough() {
        let mut device = drive().1;
        device.host.governors = Some(vec!["performance".to_owned(), "powersave".to_owned()]);
        assert_eq!(ids(&[device.clone()], None), ["governor"]);
        device.host.governors = Some(vec!["performance".to_owned()]);
        assert!(ids(&[device], None).is_empty());
    }

    #[test]
    fn the_scheduler_depends_on_the_kind_of_drive() {
        let with = |kind, rotational, scheduler: &str| Identity {
            kind,
            queue: Queue {
                rotational: Some(rotational),
                scheduler: Some(scheduler.to_owned()),
                ..Queue::default()
            },
            ..drive().1
        };
        for (kind, rotational, scheduler, is_warned) in [
            (DriveKind::Nvme, false, "none", false),
            (DriveKind::Nvme, false, "mq-deadline", true),
            (DriveKind::Scsi, false, "mq-deadline", false),
            (DriveKind::Scsi, false, "bfq", true),
            (DriveKind::Scsi, true, "bfq", false),
            (DriveKind::Virtual, false, "kyber", true),
        ] {
            let found = ids(&[with(kind, rotational, scheduler)], None);
            assert_eq!(
                found == ["scheduler"],
                is_warned,
                "{kind:?} {rotational} {scheduler}"
            );
        }
    }

    #[test]
    fn a_drive_at_its_limit_is_not_above_it() {
        let mut device = drive().1;
        (device.hardware.temperature_c, device.hardware.temperature_limit_c) = (Some(70), Some(70));
        assert!(ids(&[device.clone()], None).is_empty());
        assert_eq!(ids(&[device.clone()], Some(69)), ["temperature"]);
        device.hardware.temperature_c = Some(71);
        assert_eq!(ids(&[device.clone()], None), ["temperature"]);
        device.hardware.temperature_limit_c = None;
        assert!(ids(&[device], None).is_empty(), "no limit is known");
    }

    #[test]
    fn two_names_of_one_drive_are_one_warning() {
        let (_host, whole, part) = drive();
        let found = warnings(&[whole.clone(), part], None);
        assert_eq!(found.len(), 1);
        assert!(
            found[0]
                .sentence
                .starts_with("/dev/nvme0n1 and /dev/nvme0n1p1 are one physical drive (nvme:PM_9A3:S1)"),
            "{found:?}"
        );
        assert!(ids(&[whole], None).is_empty());
    }
}
