//! The documentation that the program contains: `drivetest keys`, `completions`, and `man`, which writes the manual
//! pages.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::CommandFactory;
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, italic, roman};
use drivetest_load::config::{KEYS, Key};
use serde_json::{Value, json};

use super::help;
use crate::output::{self, EXIT_USAGE, print_and_exit};
use crate::render::exit_codes;

/// Arguments of `man`.
#[derive(clap::Args)]
pub struct Args {
    /// Directory for the manual pages; created if missing
    directory: PathBuf,
}

/// The group of commands, whose commands have the exit codes.
const GROUP: &str = "run";
/// Commands that read a load configuration.
const LOADS: [&str; 2] = ["storage", "index"];

impl Args {
    /// Writes the pages.
    pub fn run(self) -> ExitCode {
        match write_pages(&self.directory) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let directory = self.directory.display();
                output::fail(&format_args!("{directory}: cannot write the manual: {error}"))
            }
        }
    }
}

fn write_pages(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let program = shown_program();
    for (name, command) in help::shown_commands(&program) {
        fs::write(directory.join(page_name(&name)), page(command, &name)?)?;
    }
    fs::write(directory.join("drivetest.1"), page(program.clone(), "")?)
}

/// Returns the file name of the page of a command, such as `run start`.
fn page_name(name: &str) -> String {
    format!("drivetest-{}.1", name.replace(' ', "-"))
}

/// Returns the command line without the `help` subcommand.
fn shown_program() -> clap::Command {
    let mut program = crate::Program::command().disable_help_subcommand(true);
    program.build();
    program
}

/// Returns the page of a command. `name` is empty for the program itself.
fn page(command: clap::Command, name: &str) -> io::Result<Vec<u8>> {
    let version = command.get_version().unwrap_or(env!("CARGO_PKG_VERSION"));
    let source = format!("drivetest {version}");
    let mut synopsis = Roff::new();
    synopsis_of(&mut synopsis, &command);
    let has_commands = command.has_subcommands();
    let man = Man::new(command).source(source).manual("Drivecert");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    synopsis.to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    let mut further = Roff::new();
    if LOADS.contains(&name) {
        keys(&mut further);
    }
    examples(&mut further, name);
    exit_status(&mut further, name);
    see_also(&mut further, name);
    further.to_writer(&mut page)?;
    Ok(page)
}

/// Writes the synopsis with the value of each option, which the synopsis of clap_mangen omits.
fn synopsis_of(page: &mut Roff, command: &clap::Command) {
    page.control("SH", ["SYNOPSIS"]);
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut words = vec![bold(name)];
    for option in command.get_arguments().filter(|option| !option.is_hide_set()) {
        words.push(roman(if option.is_required_set() { " " } else { " [" }));
        words.extend(option.get_long().map(|long| bold(format!("--{long}"))));
        if option.get_action().takes_values() {
            let names = option.get_value_names().unwrap_or_default();
            let value = names.first().map(ToString::to_string);
            let value = value.unwrap_or_else(|| option.get_id().to_string());
            words.extend(option.get_long().map(|_| roman(" ")));
            words.push(italic(value));
        }
        if matches!(option.get_action(), clap::ArgAction::Append) {
            words.push(roman("..."));
        }
        words.extend((!option.is_required_set()).then(|| roman("]")));
    }
    if command.get_subcommands().any(|command| !command.is_hide_set()) {
        let is_required = command.is_subcommand_required_set();
        words.push(roman(if is_required { " COMMAND" } else { " [COMMAND]" }));
    }
    page.text(words);
}

fn keys(page: &mut Roff) {
    page.control("SH", ["CONFIGURATION"]);
    page.text([roman(
        "Each line has a key, a colon or blanks, and a value. A # starts a comment. Configurations of act_storage and \
         act_index 6 run unchanged. Keys that only older versions have cause a warning.",
    )]);
    for key in KEYS {
        page.control("TP", []);
        page.text([bold(key.name), roman(": "), italic(values_and_default(key))]);
        page.text([roman(key.description)]);
    }
}

fn examples(page: &mut Roff, name: &str) {
    page.control("SH", ["EXAMPLES"]);
    for (purpose, line) in help::examples(name) {
        page.control("TP", []);
        page.text([roman(format!("{purpose}:"))]);
        page.text([bold(*line)]);
    }
}

fn exit_status(page: &mut Roff, name: &str) {
    if name == GROUP {
        return;
    }
    page.control("SH", ["EXIT STATUS"]);
    let mut item = |head: String, text: &str| {
        page.control("TP", []);
        page.text([bold(head)]);
        page.text([roman(text)]);
    };
    for (code, text) in exit_codes::of_command(name) {
        item(code.to_string(), text);
    }
    if name.is_empty() {
        for (commands, codes) in exit_codes::rows() {
            item(commands, &codes);
        }
        item(format!("{EXIT_USAGE} in every command"), exit_codes::USAGE);
    }
}

fn see_also(page: &mut Roff, name: &str) {
    page.control("SH", ["SEE ALSO"]);
    let others = match name {
        "" => "drivetest-prep(1), drivetest-storage(1), drivetest-identify(1), drivetest-check(1)",
        "storage" | "index" => "drivetest(1), drivetest-prep(1), drivetest-identify(1), drivetest-keys(1)",
        "agent" | "agent join" => "drivetest(1), drivetest-host(1), drivetest-identify(1)",
        _ => "drivetest(1)",
    };
    page.text([roman(others)]);
}

/// Arguments of `completions`.
#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// Shell for which the script is
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the completions.
    pub fn run(self) -> ExitCode {
        print_and_exit(&completions(self.shell), 0)
    }
}

fn completions(shell: Shell) -> String {
    let (mut program, mut script) = (help::without_hidden(&crate::Program::command()), Vec::new());
    generate(shell, &mut program, "drivetest", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Arguments of `keys`.
#[derive(clap::Args)]
pub struct KeysArgs {
    /// Text in the name of each key to list [default: list all keys]
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// Print one line of JSON, as docs/reference/formats.md describes
    #[arg(long)]
    json: bool,
}

fn document(key: &Key) -> Value {
    let loads: Vec<&str> = key.loads().split(", ").collect();
    json!({
        "name": key.name, "values": key.values, "default": key.default, "loads": loads, "description": key.description,
    })
}

impl KeysArgs {
    /// Prints the keys.
    pub fn run(self) -> ExitCode {
        let text = self.text.as_deref().unwrap_or_default();
        let keys: Vec<&Key> = KEYS.iter().filter(|key| key.name.contains(text)).collect();
        if keys.is_empty() {
            let message = format!("no key contains '{text}'; run `drivetest keys` for all keys");
            return output::fail(&message);
        }
        if self.json {
            let keys: Vec<Value> = keys.into_iter().map(document).collect();
            return output::print_json(&json!({"schema": "drivecert.keys/1", "keys": keys}), 0);
        }
        print_and_exit(&keys.into_iter().map(paragraph).collect::<String>(), 0)
    }
}

/// Returns the values, the default and the loads of a key, in one line.
fn values_and_default(key: &Key) -> String {
    let default = key.default.map(|default| format!("default {default}"));
    let default = default.unwrap_or_else(|| "mandatory".to_owned());
    format!("{}; {default} ({})", key.values, key.loads())
}

fn paragraph(key: &Key) -> String {
    format!(
        "{}: {}\n    {}\n",
        key.name,
        values_and_default(key),
        key.description
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::process::Command;

    use super::*;

    fn shown_commands() -> Vec<(String, clap::Command)> {
        help::shown_commands(&shown_program())
    }

    /// Returns a page without the escapes of dashes.
    fn read(directory: &Path, name: &str) -> String {
        fs::read_to_string(directory.join(name))
            .unwrap()
            .replace("\\-", "-")
    }

    #[test]
    fn every_page_lists_every_option() {
        let folder = tempfile::tempdir().unwrap();
        write_pages(folder.path()).unwrap();
        for (name, command) in shown_commands() {
            let page = read(folder.path(), &page_name(&name));
            for option in command.get_arguments().filter(|option| !option.is_hide_set()) {
                let long = option.get_long().map(|long| format!("--{long}"));
                let value = || {
                    option
                        .get_value_names()
                        .and_then(|names| names.first())
                        .map(ToString::to_string)
                };
                let shown = long.or_else(value).unwrap_or_default();
                assert!(page.contains(&shown), "{name}: no {shown}");
                let help = option.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.is_empty(), "{name} {shown} has no help text");
            }
        }
    }

    #[test]
    fn the_synopsis_shows_the_values_of_options() {
        let folder = tempfile::tempdir().unwrap();
        write_pages(folder.path()).unwrap();
        let page = read(folder.path(), "drivetest-storage.1");
        let synopsis = page
            .split(".SH SYNOPSIS")
            .nth(1)
            .unwrap()
            .split(".SH")
            .next()
            .unwrap();
        assert!(synopsis.contains("--seed\\fR \\fIN\\fR]"), "{synopsis}");
        assert!(synopsis.contains("\\fICONFIG\\fR"), "{synopsis}");
    }

    #[test]
    fn the_program_s_page_names_every_command() {
        let folder = tempfile::tempdir().unwrap();
        write_pages(folder.path()).unwrap();
        let page = read(folder.path(), "drivetest.1");
        for (name, _) in shown_commands().iter().filter(|(name, _)| !name.contains(' ')) {
            assert!(page.contains(&format!("drivetest-{name}(1)")), "{name}");
        }
        assert!(!page.contains("drivetest-start"), "{page}");
        let page = read(folder.path(), "drivetest-run.1");
        for command in ["start", "status", "stop", "remove"] {
            assert!(page.contains(&format!("drivetest-run-{command}(1)")), "{command}");
        }
    }

    #[test]
    fn the_page_of_a_load_lists_every_key() {
        let folder = tempfile::tempdir().unwrap();
        write_pages(folder.path()).unwrap();
        let page = read(folder.path(), "drivetest-storage.1");
        for key in KEYS {
            assert!(page.contains(key.name), "no {}", key.name);
        }
    }

    #[test]
    fn every_command_has_exit_codes() {
        for (name, _) in shown_commands().iter().filter(|(name, _)| name != GROUP) {
            let groups = exit_codes::EXIT_CODES.iter();
            let count = groups
                .filter(|(commands, _)| commands.contains(&name.as_str()))
                .count();
            assert_eq!(count, 1, "{name}");
        }
    }

    #[test]
    fn every_page_has_examples_and_exit_statuses() {
        let folder = tempfile::tempdir().unwrap();
        write_pages(folder.path()).unwrap();
        for (name, _) in shown_commands() {
            let page = read(folder.path(), &page_name(&name));
            let (_, line) = help::examples(&name)[0];
            assert!(
                page.contains(line) && page.contains(exit_codes::USAGE) == (name != GROUP),
                "{name}: {page}"
            );
        }
        let page = read(folder.path(), "drivetest.1");
        for (commands, codes) in exit_codes::rows() {
            assert!(page.contains(&commands) && page.contains(&codes), "{commands}");
        }
    }

    #[test]
    fn completions_contain_subcommands_and_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = completions(shell);
            assert!(
                script.contains("identify") && script.contains("slice-sec") && script.contains("man"),
                "{shell}"
            );
        }
    }

    #[test]
    fn hidden_names_are_not_completed() {
        let mut script = Vec::new();
        generate(
            Shell::Bash,
            &mut crate::Program::command(),
            "drivetest",
            &mut script,
        );
        let hidden = "drivetest,start)";
        assert!(
            String::from_utf8(script).unwrap().contains(hidden),
            "clap_complete names it otherwise"
        );
        let script = completions(Shell::Bash);
        assert!(
            !script.contains(hidden) && script.contains("run,start)"),
            "{script}"
        );
    }

    #[test]
    fn completions_are_valid_scripts() {
        let folder = tempfile::tempdir().unwrap();
        for (shell, check) in [
            (Shell::Bash, "-n"),
            (Shell::Zsh, "-n"),
            (Shell::Fish, "--no-execute"),
        ] {
            let script = folder.path().join(shell.to_string());
            fs::write(&script, completions(shell)).unwrap();
            let checked = Command::new(shell.to_string()).arg(check).arg(&script).output();
            match checked {
                Ok(output) => assert!(output.status.success() && output.stderr.is_empty(), "{output:?}"),
                Err(error) => eprintln!("SKIPPED: {shell} cannot be run here: {error}"),
            }
        }
    }
}
