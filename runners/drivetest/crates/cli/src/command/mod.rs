//! The commands; each is one variant here and one module beside this file.

use std::process::ExitCode;

use clap::Subcommand;

mod answer;
mod archive;
mod behind;
mod check;
mod companion;
mod content;
mod decoder;
mod export;
mod identify;
mod index;
mod latency;
mod limit;
mod load;
mod log_file;
mod log_read;
mod looked_at;
mod prep;
mod read;
mod source;
mod start;
mod status;
mod stop;
mod storage;
mod sum;
mod verdict_told;
mod ycsb_table;

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Reads logs of ACT, drivetest and YCSB: facts, histograms, slices, findings.
    Read(read::Args),
    /// Prints the slice table that act_latency.py prints.
    Latency(latency::Args),
    /// Judges logs, of ACT under a profile: 0 pass, 1 fail, 2 undecided or void, 3 unreadable.
    Check(check::Args),
    /// Write zeros, then random data, over whole devices, until their rate is steady if asked.
    Prep(prep::Args),
    /// Run the load of an act_storage configuration and write its log
    Storage(storage::Args),
    /// Run the load of an act_index configuration and write its log
    Index(index::Args),
    /// Tell what a device is and whether it may be written to.
    Identify(identify::Args),
    /// Start the rest of the line as a process that outlives this one; asked again, tell the same process.
    Start(start::Args),
    /// Tell how a detached run stands.
    Status(status::Args),
    /// Ask a detached run to end.
    Stop(stop::Args),
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
            Self::Identify(args) => args.run(),
            Self::Start(args) => args.run(),
            Self::Status(args) => args.run(),
            Self::Stop(args) => args.run(),
        }
    }
}
