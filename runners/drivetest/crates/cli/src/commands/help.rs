//! Help texts: examples and exit statuses of each command. The command line without hidden commands, for completions.

use clap::Command;

use crate::output::EXIT_USAGE;

/// The examples of each command in its help. A section begins with the names of its commands.
const EXAMPLES: &str = include_str!("examples.txt");
/// The exit statuses of each command, except [`EXIT_USAGE`], which all have. The section of the program is a table of all
/// commands.
const EXIT_CODES: &str = include_str!("exit_codes.txt");
/// The meaning of [`EXIT_USAGE`].
pub const USAGE: &str = "the command line or the configuration is invalid";

/// Returns the section of a command without its first line. The program itself has the empty name.
fn section(file: &'static str, name: &str) -> &'static str {
    let name = if name.is_empty() { "drivetest" } else { name };
    let sections = file.trim_end().split("\n\n");
    let mut sections = sections.filter_map(|section| section.split_once('\n'));
    let found = sections.find(|(commands, _)| commands.split(", ").any(|command| command == name));
    found.map_or("", |(_, text)| text)
}

/// Returns the examples of a command: purposes and command lines.
pub fn examples(name: &str) -> Vec<(&'static str, &'static str)> {
    let lines: Vec<&str> = section(EXAMPLES, name).lines().map(str::trim).collect();
    lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

/// Returns the exit statuses of a command and their meanings. For the program, returns commands and their exit statuses.
pub fn exit_codes(name: &str) -> Vec<(&'static str, &'static str)> {
    let rows = section(EXIT_CODES, name).lines();
    let rows = rows.filter_map(|row| row.trim().split_once("  "));
    rows.map(|(head, text)| (head, text.trim())).collect()
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
    let (examples, codes) = (section(EXAMPLES, name), section(EXIT_CODES, name));
    let mut sections = Vec::new();
    if !examples.is_empty() {
        sections.push(format!("Examples:\n{examples}\n"));
    }
    if name.is_empty() {
        let heading = format!("Exit status ({EXIT_USAGE} in every command: {USAGE}):");
        sections.push(format!("{heading}\n{codes}\n"));
    } else if !codes.is_empty() {
        sections.push(format!("Exit status:\n{codes}\n  {EXIT_USAGE}  {USAGE}\n"));
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
    use std::collections::BTreeMap;

    use clap::CommandFactory;

    use super::*;
    use crate::output::{EXIT_ERROR, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OVERLOADED, EXIT_REFUSED};

    fn program() -> Command {
        crate::Program::command()
    }

    #[test]
    fn every_example_is_a_valid_command_line() {
        let lines = EXAMPLES.lines().filter_map(|line| line.strip_prefix("    "));
        let lines: Vec<&str> = lines.collect();
        assert!(lines.len() > 20, "{lines:?}");
        for line in lines {
            let words = line.split(' ').take_while(|word| !["<", ">"].contains(word));
            let parsed = program().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
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
        assert!(help.contains(section(EXIT_CODES, "")), "{help}");
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

    const FORMATS: &str = include_str!("../../../../../../docs/reference/formats.md");
    /// The documented table has a column for each of these codes, and one for [`EXIT_USAGE`].
    const CODES: [u8; 6] = [
        0,
        EXIT_FAILED,
        EXIT_REFUSED,
        EXIT_ERROR,
        EXIT_OVERLOADED,
        EXIT_INTERRUPTED,
    ];

    /// Returns the documented cells of each command.
    fn documented() -> BTreeMap<&'static str, Vec<&'static str>> {
        let section = FORMATS.split("\n## Exit statuses\n").nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let mut cells_of = BTreeMap::new();
        for row in rows {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let commands = cells.next().unwrap();
            let cells: Vec<_> = cells.collect();
            let names = commands.split(", ").map(|name| name.trim_matches('`'));
            cells_of.extend(names.map(|name| (name, cells.clone())));
        }
        cells_of
    }

    /// Returns the codes of each command in the table, with their short meanings.
    fn in_the_table() -> Vec<(&'static str, BTreeMap<u8, &'static str>)> {
        let mut commands = Vec::new();
        for (names, cells) in exit_codes("") {
            let cells = cells.split("  ").map(|cell| cell.split_once(' ').unwrap());
            let codes: BTreeMap<u8, _> = cells.map(|(code, text)| (code.parse().unwrap(), text)).collect();
            commands.extend(names.split(", ").map(|name| (name, codes.clone())));
        }
        commands
    }

    #[test]
    fn the_documented_exit_statuses_are_those_of_the_program() {
        let mut documented = documented();
        for (command, codes) in in_the_table() {
            let mut cells = documented
                .remove(command)
                .unwrap_or_else(|| panic!("no {command}"));
            assert!(cells.pop().unwrap().starts_with("usage"), "{command}");
            let expected = CODES.map(|code| *codes.get(&code).unwrap_or(&"-"));
            assert_eq!(cells, expected, "{command}");
        }
        assert!(documented.is_empty(), "{documented:?}");
    }

    #[test]
    fn the_help_of_a_command_has_the_exit_statuses_of_the_table() {
        for (command, codes) in in_the_table() {
            let own = exit_codes(command)
                .into_iter()
                .map(|(code, _)| code.parse::<u8>().unwrap());
            let is_option = command.ends_with("--dry-run");
            assert!(is_option || own.eq(codes.into_keys()), "{command}");
        }
    }

    #[test]
    fn a_terminal_of_110_columns_shows_each_row_of_the_table_in_one_line() {
        for line in section(EXIT_CODES, "").lines() {
            assert!(line.len() <= 110, "{} columns: {line}", line.len());
        }
    }
}
