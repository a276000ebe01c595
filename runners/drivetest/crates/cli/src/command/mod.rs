//! The commands; each is one variant here and one module beside this file.

use std::process::ExitCode;

use clap::Subcommand;

mod ahead;
mod answer;
mod archive;
mod behind;
mod check;
mod companion;
mod content;
mod decoder;
mod export;
mod host;
mod identify;
mod index;
mod keys;
mod latency;
mod limit;
mod load;
mod log_file;
mod log_read;
mod looked_at;
mod man;
mod prep;
mod read;
mod remove;
mod side_told;
mod source;
mod start;
mod status;
mod statuses;
mod stop;
mod storage;
mod sum;
mod verdict_told;
mod watch;
mod ycsb_table;

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Read logs of ACT, drivetest and YCSB: facts, histograms, slices, findings.
    Read(read::Args),
    /// Print the slice table that act_latency.py prints.
    Latency(latency::Args),
    /// Judge logs, of ACT under a profile: 0 pass, 1 fail, 2 undecided or void, 3 unreadable.
    Check(check::Args),
    /// Write zeros, then random data, over whole devices: all data on them is lost.
    ///
    /// Nothing is written before every device was found safe to use. With --state a preparation that a signal or a crash
    /// ended goes on where it was and leaves the same data. With --steady-state random places are overwritten afterwards,
    /// in rounds, until the rate of five rounds stays within 20 % of its average and their best linear fit within 10 %, as
    /// SNIA's Performance Test Specification has it.
    Prep(prep::Args),
    /// Run the load of an act_storage configuration and write its log.
    ///
    /// A configuration needs three lines: `device-names: /dev/...`, `test-duration-sec: 86400`, and `read-reqs-per-sec: 2000` or
    /// `write-reqs-per-sec: 1000`. All keys are told by `drivetest keys`, and in the manual of this command.
    Storage(storage::Args),
    /// Run the load of an act_index configuration and write its log.
    ///
    /// A configuration needs three lines: `device-names: /dev/...`, `test-duration-sec: 86400`, and `read-reqs-per-sec: 2000` or
    /// `write-reqs-per-sec: 1000`. All keys are told by `drivetest keys`, and in the manual of this command.
    Index(index::Args),
    /// Tell the keys of a load's configuration, with their values and defaults.
    Keys(keys::Args),
    /// Write the pages of the manual into a directory.
    #[command(hide = true)]
    Man(man::Args),
    /// Tell what a device is and whether it may be written to.
    Identify(identify::Args),
    /// Start the rest of the line as a process that outlives this one; asked again, tell the same process.
    Start(start::Args),
    /// Tell how a detached run stands.
    Status(status::Args),
    /// Ask a detached run to end.
    Stop(stop::Args),
    /// Remove the directory of a detached run that has ended, once a later one was let in on its drive.
    Remove(remove::Args),
    /// Write telemetry of a drive and its host, alone or beside a program that the host's operator allows.
    Watch(watch::Args),
    /// Answer what a register asks of a lab host: requests as JSON lines on standard input, for the one sudo rule.
    ///
    /// Loads only drives that /etc/drivecert/host.toml lists, writes only into the directory it names, and takes no
    /// command line from the register.
    Host(host::Args),
}

impl Command {
    /// Runs the command; its exit status is part of docs/formats.md.
    pub fn run(self) -> ExitCode {
        match self {
            Self::Read(args) => args.run(),
            Self::Latency(args) => args.run(),
            Self::Check(args) => args.run(),
            Self::Prep(args) => args.run(),
            Self::Storage(args) => args.run(),
            Self::Index(args) => args.run(),
            Self::Keys(args) => args.run(),
            Self::Man(args) => args.run(),
            Self::Identify(args) => args.run(),
            Self::Start(args) => args.run(),
            Self::Status(args) => args.run(),
            Self::Stop(args) => args.run(),
            Self::Remove(args) => args.run(),
            Self::Watch(args) => args.run(),
            Self::Host(args) => args.run(),
        }
    }
}
