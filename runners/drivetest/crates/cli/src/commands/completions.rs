//! `drivetest completions`: shell completions, generated from the definition of the command line.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::output::print_and_exit;

/// Arguments of `completions`.
#[derive(clap::Args)]
pub struct Args {
    /// Shell for which the script is
    shell: Shell,
}

impl Args {
    /// Prints the completions.
    pub fn run(self) -> ExitCode {
        let (mut command, mut script) = (crate::Program::command(), Vec::new());
        generate(self.shell, &mut command, "drivetest", &mut script);
        print_and_exit(&String::from_utf8_lossy(&script), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_contain_subcommands_and_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            generate(shell, &mut crate::Program::command(), "drivetest", &mut script);
            let script = String::from_utf8(script).unwrap();
            assert!(
                script.contains("identify") && script.contains("slice-sec"),
                "{shell}"
            );
        }
    }
}
