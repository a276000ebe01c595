//! The machine that a run takes place on.

use serde::Serialize;

/// What the side file says of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Its name.
    pub hostname: String,
    /// The kernel's release.
    pub kernel: String,
    /// As the first processor calls itself; empty where it does not.
    pub cpu_model: String,
    /// Processors that are online.
    pub cpus_count: u32,
}

impl Host {
    /// This machine.
    pub fn here() -> Self {
        let names = rustix::system::uname();
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        let allowed = || std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        Self {
            hostname: names.nodename().to_string_lossy().into_owned(),
            kernel: names.release().to_string_lossy().into_owned(),
            cpu_model: cpu_model(&cpuinfo),
            cpus_count: cpus_in(&online).unwrap_or_else(allowed),
        }
    }
}

fn cpu_model(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find_map(|line| line.strip_prefix("model name"));
    line.and_then(|rest| rest.split_once(':'))
        .map(|(_, model)| model.trim().to_owned())
        .unwrap_or_default()
}

/// How many processors a list of the kernel's holds, such as `0-3,8`; None when it is no such list.
/// Upstream counts the same ones, and takes five service threads for each.
fn cpus_in(list: &str) -> Option<u32> {
    let ranges = list.trim().split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<u32>()
            .ok()?
            .checked_sub(first.parse().ok()?)?
            .checked_add(1)
    });
    ranges.sum::<Option<u32>>().filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_from_the_kernels_list() {
        assert_eq!(cpus_in("0-1\n"), Some(2));
        assert_eq!(cpus_in("0"), Some(1));
        assert_eq!(cpus_in("0-3,8,10-11"), Some(7));
        assert_eq!((cpus_in(""), cpus_in("3-1"), cpus_in("all")), (None, None, None));
    }

    #[test]
    fn the_model_is_the_first_processors() {
        assert_eq!(
            cpu_model("processor\t: 0\nmodel name\t: AMD EPYC 9R14\nmodel name\t: other\n"),
            "AMD EPYC 9R14"
        );
        assert_eq!(cpu_model("processor : 0"), "");
    }
}
