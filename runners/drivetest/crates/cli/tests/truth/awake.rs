//! Keeping processors from halting while a known truth is told.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Where the controller of processor time is mounted: its own hierarchy, or the one of all.
const HIERARCHIES: [&str; 2] = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"];

/// Programs that keep every processor busy with what anything else goes before; they go with the value.
///
/// A virtual processor that halts between two requests comes back when its host pleases, which is not the drive's time.
/// None where no control group can be made that is idle as a whole: the idle policy alone ranks a program within its
/// session only, and the kernel's own threads, which serve loop devices, would wait behind it for milliseconds.
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
            // One that ended by itself needs no end.
            let _ = program.kill();
            let _ = program.wait();
        }
        if let Some(group) = &self.group {
            // The kernel keeps a group until its last program is gone; one that stays behind is empty.
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
            // Nothing of it is wanted then.
            let _ = fs::remove_dir(&group);
            None
        }
    }
}

/// A program that is in the group before it is busy.
fn busy_in(group: &Path) -> Option<Child> {
    let own = "echo $$ > \"$0/cgroup.procs\" && while :; do :; done";
    Command::new("chrt")
        .args(["--idle", "0", "sh", "-c", own])
        .arg(group)
        .spawn()
        .ok()
}
