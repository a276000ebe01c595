//! Help texts: examples and exit statuses of each command. The command line without hidden commands, for completions.

use clap::Command;

use crate::render::exit_codes;

/// The examples of each command in its help. A section begins with the names of its commands.
const EXAMPLES: &str = include_str!("examples.txt");

/// Returns the section of a command without its first line. The program itself has the empty name.
fn section(name: &str) -> &'static str {
    let name = if name.is_empty() { "drivetest" } else { name };
    let mut sections = EXAMPLES
        .split("\n\n")
        .filter_map(|section| section.split_once('\n'));
    let found = sections.find(|(commands, _)| commands.split(", ").any(|command| command == name));
    found.map_or("", |(_, text)| text)
}

/// Returns the examples of a command: purposes and command lines.
pub fn examples(name: &str) -> Vec<(&'static str, &'static str)> {
    let lines: Vec<&str> = section(name).lines().map(str::trim).collect();
    lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
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
    let examples = section(name).trim_end();
    let codes = exit_codes::of_command(name).into_iter();
    let codes: String = codes
        .map(|(code, text)| format!("  {code:<3} {text}\n"))
        .collect();
    let mut sections = Vec::new();
    if !examples.is_empty() {
        sections.push(format!("Examples:\n{examples}\n"));
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
        assert!(help.contains(&exit_codes::table()[..300]), "{help}");
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
    fn the_short_help_has_no_examples() {
        let help = with_help(program()).render_help().to_string();
        assert!(!help.contains("Examples:"), "{help}");
    }
}
