//! Help texts: examples and exit statuses of each command. The command line without hidden commands, for completions.

use clap::Command;

use crate::render::exit_codes;

/// Command lines of a command, each with its purpose. The program itself has the empty name.
type Examples = (&'static [&'static str], &'static [(&'static str, &'static str)]);

const LOAD_EXAMPLES: &[(&str, &str)] = &[(
    "Load the drives of a configuration, if they are the expected ones; storage and index have the same options",
    "drivetest storage load.conf --log load.log --side-file load.jsonl --expect-drive nvme:MODEL:SERIAL",
)];

const RUN_START: &str = "drivetest run start --run-dir /var/tmp/r1 --drive-lock /var/tmp/nvme1n1.lock --generation 1 \
                         -- storage /etc/load.conf";
const RUN_STATUS: &str = "drivetest run status --run-dir /var/tmp/r1";
const RUN_STOP: &str = "drivetest run stop --run-dir /var/tmp/r1";
const RUN_REMOVE: &str =
    "drivetest run remove --run-dir /var/tmp/r1 --drive-lock /var/tmp/nvme1n1.lock --generation 1";

const AGENT_JOIN: &str = "drivetest agent join https://register.example CODE";

const EXAMPLES: &[Examples] = &[
    (
        &[""],
        &[
            ("List the drives of this host", "drivetest identify"),
            (
                "Show what a load would do, and write nothing",
                "drivetest storage load.conf --dry-run",
            ),
            (
                "Run a load and record its figures",
                "drivetest storage load.conf --log load.log --side-file load.jsonl",
            ),
            ("Judge the run", "drivetest check load.log --with load.jsonl"),
        ],
    ),
    (
        &["read"],
        &[
            (
                "Print the content of a log as JSON",
                "drivetest read load.log --json",
            ),
            (
                "Write the intervals and slices of a log as tables",
                "drivetest read day.log.zst --export tables --format parquet",
            ),
        ],
    ),
    (
        &["latency"],
        &[(
            "Print the table of act_latency.py in slices of one hour, with the operations per second",
            "drivetest latency -l load.log -t 3600 -x",
        )],
    ),
    (
        &["check"],
        &[
            (
                "Judge a run and its side file by the default profile",
                "drivetest check load.log --with load.jsonl",
            ),
            (
                "Judge a short run in slices of ten minutes",
                "drivetest check load.log --slice-sec 600",
            ),
        ],
    ),
    (
        &["submit"],
        &[
            (
                "Submit a log with its side file, and wait for the verdict",
                "drivetest submit load.log --with load.jsonl --register https://register.example --category nvme-flash",
            ),
            (
                "Send what waits for the register",
                "drivetest submit --spool --register https://register.example",
            ),
        ],
    ),
    (
        &["prep"],
        &[(
            "Overwrite a drive, so that a repeated command continues after an interruption",
            "drivetest prep /dev/nvme1n1 --expect-drive nvme:MODEL:SERIAL --log prep.log --state prep.state",
        )],
    ),
    (&["storage", "index"], LOAD_EXAMPLES),
    (
        &["keys"],
        &[("List the keys with 'lag' in their names", "drivetest keys lag")],
    ),
    (
        &["completions"],
        &[
            (
                "For all users of bash",
                "drivetest completions bash > /etc/bash_completion.d/drivetest",
            ),
            (
                "For all users of zsh",
                "drivetest completions zsh > /usr/local/share/zsh/site-functions/_drivetest",
            ),
            (
                "For all users of fish",
                "drivetest completions fish > /etc/fish/completions/drivetest.fish",
            ),
        ],
    ),
    (
        &["man"],
        &[(
            "Install the manual for all users",
            "drivetest man /usr/local/share/man/man1",
        )],
    ),
    (
        &["identify"],
        &[
            ("List the drives of this host", "drivetest identify"),
            (
                "Print the identity of a drive as JSON",
                "drivetest identify /dev/nvme1n1 --json",
            ),
        ],
    ),
    (
        &["run"],
        &[
            ("Start a load that continues after a logout", RUN_START),
            ("Print its state", RUN_STATUS),
            ("Stop it", RUN_STOP),
            ("Delete its files", RUN_REMOVE),
        ],
    ),
    (
        &["run start"],
        &[("Start a load that continues after a logout", RUN_START)],
    ),
    (&["run status"], &[("Print the state of a run", RUN_STATUS)]),
    (&["run stop"], &[("Stop a run", RUN_STOP)]),
    (
        &["run remove"],
        &[("Delete the files of a finished run", RUN_REMOVE)],
    ),
    (
        &["watch"],
        &[(
            "Record the telemetry of a drive until a signal",
            "drivetest watch /dev/nvme1n1 --side-file watch.jsonl",
        )],
    ),
    (
        &["host"],
        &[("Carry out the requests in a file", "drivetest host < requests")],
    ),
    (
        &["agent"],
        &[
            (
                "Fetch requests until a signal, as the service does",
                "drivetest agent",
            ),
            ("Join a register first", AGENT_JOIN),
        ],
    ),
    (
        &["agent join"],
        &[("Join a register with the code of the host's page", AGENT_JOIN)],
    ),
];

/// Returns the examples of a command: purposes and command lines.
pub fn examples(name: &str) -> &'static [(&'static str, &'static str)] {
    let found = EXAMPLES.iter().find(|(commands, _)| commands.contains(&name));
    found.map_or(&[], |(_, examples)| examples)
}

/// Returns the command line with examples and exit statuses in each `--help`.
pub fn with_help(program: Command) -> Command {
    let program = program.mut_subcommands(|command| {
        let group = command.get_name().to_owned();
        let command = command.mut_subcommands(|command| {
            let text = after_help(&format!("{group} {}", command.get_name()));
            command.after_long_help(text)
        });
        command.after_long_help(after_help(&group))
    });
    program.after_long_help(after_help(""))
}

/// Returns the examples and exit statuses of a command. A hidden command has none.
fn after_help(name: &str) -> String {
    let examples = examples(name)
        .iter()
        .map(|(purpose, line)| format!("  {purpose}:\n    {line}\n"));
    let examples: String = examples.collect();
    let codes = exit_codes::of_command(name).into_iter();
    let codes: String = codes
        .map(|(code, text)| format!("  {code:<3} {text}\n"))
        .collect();
    let mut sections = Vec::new();
    if !examples.is_empty() {
        sections.push(format!("Examples:\n{examples}"));
    }
    if name.is_empty() {
        sections.push(exit_codes::table());
    } else if !codes.is_empty() {
        sections.push(format!("Exit status:\n{codes}"));
    }
    sections.join("\n").trim_end().to_owned()
}

/// Returns the command line without hidden commands. The scripts of clap_complete would complete them, and clap cannot
/// remove a command.
pub fn without_hidden(program: &Command) -> Command {
    let about = program.get_about().cloned().unwrap_or_default();
    Command::new("drivetest")
        .version(env!("CARGO_PKG_VERSION"))
        .about(about)
        .subcommand_required(true)
        .subcommands(shown(program).cloned())
}

/// Returns the shown commands and those of groups, each with its name, such as `run start`.
pub fn shown_commands(program: &Command) -> Vec<(String, Command)> {
    let mut found = Vec::new();
    for command in shown(program) {
        let group = command.get_name();
        found.push((group.to_owned(), command.clone()));
        let commands =
            shown(command).map(|command| (format!("{group} {}", command.get_name()), command.clone()));
        found.extend(commands);
    }
    found
}

/// Returns the direct subcommands without hidden ones and without `help`, which clap adds.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    let all = command.get_subcommands();
    all.filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn program() -> Command {
        crate::Program::command()
    }

    #[test]
    fn every_example_is_a_valid_command_line() {
        for (_, examples) in EXAMPLES {
            for (_, line) in *examples {
                let words = line.split(' ').take_while(|word| !["<", ">"].contains(word));
                let parsed = program().try_get_matches_from(words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn every_shown_command_has_an_example_of_its_own() {
        for (name, _) in shown_commands(&program()) {
            let line = examples(&name).first().map_or("", |(_, line)| line);
            let is_own = line.starts_with(&format!("drivetest {name}")) || name == "index";
            assert!(is_own, "{name}: {line}");
        }
    }

    #[test]
    fn the_help_shows_examples_and_the_exit_statuses_of_every_command() {
        let help = with_help(program()).render_long_help().to_string();
        assert!(help.contains(exit_codes::table().trim_end()), "{help}");
        assert!(help.contains("    drivetest identify\n"), "{help}");
        let mut program = with_help(program());
        let storage = program.find_subcommand_mut("storage").unwrap();
        let help = storage.render_long_help().to_string();
        assert!(
            help.contains("  4   the load stopped because the drive or the host cannot sustain it\n"),
            "{help}"
        );
        assert!(
            help.contains("  64  the command line or the configuration is invalid"),
            "{help}"
        );
        assert!(help.contains("    drivetest storage load.conf --log"), "{help}");
    }

    #[test]
    fn the_reference_lists_every_command() {
        let reference = include_str!("../../../../../../docs/reference/command-line.md");
        let commands = shown_commands(&program()).into_iter();
        for (name, _) in commands.filter(|(name, _)| name != "run") {
            assert!(reference.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn the_short_help_has_no_examples() {
        let help = with_help(program()).render_help().to_string();
        assert!(!help.contains("Examples:"), "{help}");
    }
}
