//! The subcommands: one variant of [`Command`] and one module each.

use std::process::ExitCode;

use clap::Subcommand;
use drivetest_load::config::Model;

mod check;
mod completions;
mod host;
mod identify;
mod keys;
mod latency;
mod load;
mod man;
mod prep;
mod read;
mod run;
mod watch;

/// The subcommand to run.
#[derive(Subcommand)]
pub enum Command {
    /// Read logs of ACT, drivetest and YCSB: facts, histograms, slices, findings.
    Read(read::Args),
    /// Print the slice table that act_latency.py prints.
    Latency(latency::Args),
    /// Judge logs; a profile applies to logs of ACT. Exit status: 0 pass, 1 fail, 2 undecided or void, 3 unreadable.
    Check(check::Args),
    /// Write zeros, then random data, over whole devices. ALL DATA ON THEM IS LOST.
    ///
    /// drivetest checks that every device is safe to use before it writes anything. With --state, a preparation that was
    /// interrupted by a signal or a crash continues where it stopped, and leaves the same data. With --steady-state,
    /// random blocks are then overwritten in rounds until the write rate is steady as SNIA's Performance Test
    /// Specification defines it: over five rounds, the rates stay within 20 % of their average and their best linear fit
    /// within 10 %.
    Prep(prep::Args),
    /// Run the load of an act_storage configuration and write its log.
    ///
    /// A configuration needs three lines: `device-names: /dev/...`, `test-duration-sec: 86400`, and `read-reqs-per-sec: 2000` or
    /// `write-reqs-per-sec: 1000`. See `drivetest keys` or `man drivetest-storage` for all keys.
    Storage(load::Args),
    /// Run the load of an act_index configuration and write its log.
    ///
    /// A configuration needs three lines: `device-names: /dev/...`, `test-duration-sec: 86400`, and `read-reqs-per-sec: 2000` or
    /// `write-reqs-per-sec: 1000`. See `drivetest keys` or `man drivetest-index` for all keys.
    Index(load::Args),
    /// List the keys of a load configuration, with their values and defaults.
    Keys(keys::Args),
    /// Print shell completions.
    Completions(completions::Args),
    /// Write the manual pages into a directory.
    #[command(hide = true)]
    Man(man::Args),
    /// Show what a device is and whether it is safe to write to.
    Identify(identify::Args),
    /// Start a drivetest command in the background. Repeating the command reports the running one.
    Start(run::Start),
    /// Show the status of a background run.
    Status(run::Existing),
    /// Stop a background run.
    Stop(run::Existing),
    /// Delete the directory of a finished background run.
    Remove(run::Remove),
    /// Record telemetry of a drive and its host, alone or while an allowed program runs.
    Watch(watch::Args),
    /// Serve a register's requests (JSON lines on standard input). The only command that the sudo rule allows.
    ///
    /// Loads only drives that /etc/drivecert/host.toml lists, writes only into the directory that this file names, and
    /// accepts no command line from the register.
    Host(host::Args),
}

impl Command {
    /// Runs the command and returns its exit code (docs/reference/formats.md).
    pub fn run(self) -> ExitCode {
        match self {
            Self::Read(args) => args.run(),
            Self::Latency(args) => args.run(),
            Self::Check(args) => args.run(),
            Self::Prep(args) => args.run(),
            Self::Storage(args) => args.run(Model::Storage),
            Self::Index(args) => args.run(Model::Index),
            Self::Keys(args) => args.run(),
            Self::Completions(args) => args.run(),
            Self::Man(args) => args.run(),
            Self::Identify(args) => args.run(),
            Self::Start(args) => args.run(),
            Self::Status(args) => args.run(drivetest_detached::status),
            Self::Stop(args) => args.run(drivetest_detached::stop),
            Self::Remove(args) => args.run(),
            Self::Watch(args) => args.run(),
            Self::Host(args) => args.run(),
        }
    }
}
