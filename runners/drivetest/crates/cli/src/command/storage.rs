//! `drivetest storage`: the load of act_storage.

use std::process::ExitCode;

use drivetest_load::config::Model;

use super::load::LoadArgs;

/// Run the load of an act_storage configuration (records and large blocks) and write its log
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    load: LoadArgs,
}

impl Args {
    /// Runs the load; the exit status tells how it ended.
    pub fn run(self) -> ExitCode {
        self.load.run(Model::Storage)
    }
}
