//! Keeps the processors awake during measurements.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Mount points of the cpu controller: its own hierarchy, or the unified one.
const HIERARCHIES: [&str; 2] = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"];

/// Busy programs of the lowest priority on every processor, ended on drop.
///
/// A virtual processor that halts between two requests resumes late. That delay is not a property of the drive.
/// Returns None if no idle control group can be created: the idle policy alone ranks a program only within its
/// session, and the kernel threads of loop devices would wait for it for milliseconds.
pub struct Awake {
    programs: Vec<Child>,
    group: Option<PathBuf>,
}

impl Awake {
    pub fn begin() -> Self {
        let group = HIERARCHIES
            .iter()
            .find_map(|hierarchy| idle_group(Path::new(hierarchy)));
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let programs = group
            .iter()
            .flat_map(|group| (0..count).filter_map(|_| busy_in(group)))
            .collect();
        Self { programs, group }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for program in &mut self.programs {
            // The program may have ended already.
            let _ = program.kill();
            let _ = program.wait();
        }
        if let Some(group) = &self.group {
            // The kernel removes a group only after its last program has ended. A remaining group is empty.
            let _ = fs::remove_dir(group);
        }
    }
}

fn idle_group(hierarchy: &Path) -> Option<PathBuf> {
    let group = hierarchy.join(format!("drivetest-awake-{}", std::process::id()));
    fs::create_dir(&group).ok()?;
    match fs::write(group.join("cpu.idle"), "1") {
        Ok(()) => Some(group),
        Err(_) => {
            // Without the group, the programs are not needed.
            let _ = fs::remove_dir(&group);
            None
        }
    }
}

/// Starts a program that joins the group before it is busy.
fn busy_in(group: &Path) -> Option<Child> {
    let own = "echo $$ > \"$0/cgroup.procs\" && while :; do :; done";
    Command::new("chrt")
        .args(["--idle", "0", "sh", "-c", own])
        .arg(group)
        .spawn()
        .ok()
}
