//! drivetest: the native test program of Drivecert, its subcommands and their modules.

#![forbid(unsafe_code)]

use std::env;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use drivetest_labhost::Settings;
use drivetest_load::config::Model;

/// The subcommands, one file each, or one file for those that belong together. `host` is in the crate labhost,
/// and most of `agent` in the crate agent.
mod commands {
    pub mod agent;
    pub mod check;
    pub mod detached;
    pub mod dry_run;
    pub mod help;
    pub mod identify;
    pub mod latency;
    pub mod load;
    pub mod manual;
    pub mod prep;
    pub mod read;
    pub mod submit;
    pub mod watch;
}
mod export;
/// Input files and archives of logs: opened, decompressed, hashed, and read within limits (`limits.rs`).
mod input {
    mod archive;
    mod background;
    mod content;
    mod decompress;
    mod digest;
    pub mod limits;
    pub mod read_log;
    mod source;
}
mod output;
/// Terminal texts: summaries, verdicts, tables and findings.
mod render {
    pub mod colours;
    pub mod exit_codes;
    pub mod findings;
    pub mod load_summary;
    pub mod progress;
    pub mod progress_text;
    pub mod side_file;
    pub mod tables;
    pub mod verdict;
    pub mod ycsb;
}
mod size;

use crate::output::EXIT_USAGE;

/// Put test loads on drives, and read and judge the logs of ACT, drivetest and YCSB.
#[derive(Parser)]
#[command(name = "drivetest", version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    match parse() {
        Ok(program) => program.command.run(),
        Err(error) => {
            let is_printed = match error.print() {
                // A reader such as `head` has read enough of the help.
                Err(failure) => failure.kind() == io::ErrorKind::BrokenPipe,
                Ok(()) => true,
            };
            // clap's own exit code for a usage error is 2, which means "refused" here.
            let is_help = !error.use_stderr();
            ExitCode::from(if is_help && is_printed { 0 } else { EXIT_USAGE })
        }
    }
}

/// Parses the command line. The help texts have examples and exit statuses.
fn parse() -> Result<Program, clap::Error> {
    let mut command = commands::help::with_help(Program::command());
    let mut matches = command.try_get_matches_from_mut(env::args_os())?;
    Program::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// The subcommand to run.
#[derive(Subcommand)]
enum Command {
    /// Print what logs of ACT, drivetest and YCSB contain: settings, histograms, slices and findings.
    Read(commands::read::Args),
    /// Print the table of slices that ACT's script act_latency.py prints for a log.
    Latency(commands::latency::Args),
    /// Print the verdict on each run of a log; a profile has the limits for runs of ACT and drivetest.
    ///
    /// The exit status of `drivetest check` is 0 for pass, 1 for fail, 2 for undecided or void, and 3 if a log cannot be read.
    Check(commands::check::Args),
    /// Send logs to a register and wait for the verdicts, or send the submissions that wait in the spool.
    ///
    /// Before `drivetest submit` sends a log, it reads it as the register will. After a broken connection, an upload
    /// continues where it stopped. While the register is not available, the submission waits in the spool folder, and
    /// `drivetest submit --spool` sends it later. The proxies in HTTPS_PROXY and NO_PROXY are used.
    Submit(Box<commands::submit::Args>),
    /// Overwrite whole devices with zeros and then with random data; ALL DATA ON THE DEVICES IS LOST.
    ///
    /// Before `drivetest prep` writes anything, it checks that every device is safe to use. With --state, a preparation
    /// that a signal or a crash interrupted continues where it stopped, and the devices get the same data. With
    /// --steady-state, `drivetest prep` finally overwrites random blocks in rounds until the write rate is steady. By
    /// SNIA's Performance Test Specification, a write rate is steady if the rates of five rounds differ by at most 20 % of
    /// their average, and if their best linear fit changes by at most 10 %.
    Prep(commands::prep::Args),
    /// Run the load that an act_storage configuration describes, and write its log in ACT's format.
    ///
    /// A configuration needs three lines: `device-names: /dev/...`, `test-duration-sec: 86400`, and `read-reqs-per-sec: 2000` or
    /// `write-reqs-per-sec: 1000`. `drivetest keys` and `man drivetest-storage` describe all keys of a configuration. Exit
    /// status 0 means that the load ran for its whole duration; the side file states whether its rates were sustained.
    Storage(commands::load::Args),
    /// Run the load that an act_index configuration describes, and write its log in ACT's format.
    ///
    /// A configuration needs three lines: `device-names: /dev/...`, `test-duration-sec: 86400`, and `read-reqs-per-sec: 2000` or
    /// `write-reqs-per-sec: 1000`. `drivetest keys` and `man drivetest-index` describe all keys of a configuration. Exit
    /// status 0 means that the load ran for its whole duration; the side file states whether its rates were sustained.
    Index(commands::load::Args),
    /// List the keys of a load configuration, with the values and the default of each key.
    Keys(commands::manual::KeysArgs),
    /// Print a script that lets a shell complete drivetest's commands and options.
    Completions(commands::manual::CompletionsArgs),
    /// Write the manual pages into a directory.
    Man(commands::manual::Args),
    /// Print what a device is and whether it is safe to overwrite, or list all drives.
    Identify(commands::identify::Args),
    /// Start, observe, stop and remove loads and preparations in the background.
    Run(commands::detached::Args),
    /// Earlier name of `drivetest run start`, which always prints JSON.
    #[command(hide = true)]
    Start(commands::detached::Start),
    /// Earlier name of `drivetest run status`, which always prints JSON.
    #[command(hide = true)]
    Status(commands::detached::Existing),
    /// Earlier name of `drivetest run stop`, which always prints JSON.
    #[command(hide = true)]
    Stop(commands::detached::Existing),
    /// Earlier name of `drivetest run remove`, which always prints JSON.
    #[command(hide = true)]
    Remove(commands::detached::Remove),
    /// Record telemetry of a drive and its host, alone or while a program runs that the host's operator allows.
    Watch(commands::watch::Args),
    /// Carry out the requests that a register sends to this lab host, as JSON lines on standard input.
    ///
    /// The sudo rule of a lab host allows the register to run `drivetest host`, and no other command. `drivetest host`
    /// loads only drives that /etc/drivecert/host.toml lists, writes only into the directory that this file names, and
    /// accepts no command line from the register.
    Host(commands::agent::HostArgs),
    /// Fetch the requests of a register over HTTPS and carry them out, on a host that the register cannot reach.
    ///
    /// Each batch of requests goes to a child `drivetest host`, with the same limits as over SSH: only the drives that
    /// /etc/drivecert/host.toml lists are loaded. `drivetest agent join` makes the host known to the register first. TERM
    /// ends the agent after the requests that run; loads continue. If the register requires another program, the agent
    /// replaces itself only by one whose SHA-256 the operator lists as `updates` in /etc/drivecert/host.toml.
    Agent(commands::agent::Args),
}

impl Command {
    /// Runs the command and returns its exit code (docs/reference/formats.md).
    fn run(self) -> ExitCode {
        match self {
            Self::Read(args) => args.run(),
            Self::Latency(args) => args.run(),
            Self::Check(args) => args.run(),
            Self::Submit(args) => args.run(),
            Self::Prep(args) => args.run(),
            Self::Storage(args) => args.run(Model::Storage),
            Self::Index(args) => args.run(Model::Index),
            Self::Keys(args) => args.run(),
            Self::Completions(args) => args.run(),
            Self::Man(args) => args.run(),
            Self::Identify(args) => args.run(),
            Self::Run(args) => args.run(),
            Self::Start(args) => args.run(true),
            Self::Status(args) => args.status(true),
            Self::Stop(args) => args.stop(true),
            Self::Remove(args) => args.run(true),
            Self::Watch(args) => args.run(),
            Self::Host(args) => serve_register(&args.settings_file()),
            Self::Agent(args) => args.run(),
        }
    }
}

/// Serves the requests on standard input, one JSON object per line, until it ends.
fn serve_register(settings_file: &Path) -> ExitCode {
    let settings = match Settings::read(settings_file) {
        Ok(settings) => settings,
        Err(error) => return output::fail(&error),
    };
    match drivetest_labhost::serve(&settings, io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::fail(&format_args!("the connection to the register broke: {error}")),
    }
}
