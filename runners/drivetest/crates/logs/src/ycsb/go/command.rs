//! The command line that started go-ycsb, from a script: only it names the back end and the workload's file.
//!
//! Source: go-ycsb, cmd/go-ycsb/client.go, initClientCommand().

use crate::ycsb::common::properties::Properties;
use crate::ycsb::common::shell;
use crate::ycsb::java::command::{Command, Phase};

/// Return the commands of a script that start go-ycsb, in their order.
pub fn of_script(text: &str) -> Vec<Command> {
    let commands = shell::commands(text);
    commands.iter().filter_map(|words| of_words(words)).collect()
}

fn of_words(words: &[String]) -> Option<Command> {
    let is_program = |word: &String| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        name.starts_with("go-ycsb")
    };
    let at = words.iter().position(is_program)?;
    let phase = match words.get(at + 1)?.as_str() {
        "load" => Phase::Load,
        "run" => Phase::Run,
        _ => return None,
    };
    let arguments = &words[at + 1..];
    let mut command = Command {
        text: arguments.join(" "),
        phase,
        binding: None,
        files: Vec::new(),
        properties: Properties::default(),
        has_variables: arguments.iter().any(|word| word.starts_with('$')),
    };
    let mut rest = arguments[1..].iter().map(String::as_str);
    while let Some(word) = rest.next() {
        take(&mut command, word, &mut rest);
    }
    Some(command)
}

fn take<'a>(command: &mut Command, word: &'a str, rest: &mut impl Iterator<Item = &'a str>) {
    if !word.starts_with('-') {
        command.binding.get_or_insert_with(|| word.to_owned());
        return;
    }
    let (name, joined) = option(word);
    let Some(value) = joined.or_else(|| rest.next()) else {
        return;
    };
    match name {
        "-P" | "--property_file" => command.files.extend(value.split(',').map(str::to_owned)),
        "-p" | "--prop" => {
            if let Some((name, value)) = value.split_once('=') {
                command.properties.set(name, value);
            }
        }
        "--threads" => command.properties.set("threadcount", value),
        "--target" => command.properties.set("target", value),
        "--interval" => command.properties.set("measurement.interval", value),
        _ => {}
    }
}

/// `--threads=8` and `-precordcount=5` hold their values; other options are followed by them.
fn option(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return word
            .split_once('=')
            .map_or((word, None), |(name, value)| (name, Some(value)));
    }
    match word.split_at_checked(2) {
        Some((name, value)) if !value.is_empty() => (name, Some(value)),
        _ => (word, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_back_end_phase_and_files() {
        let script = "mkdir x\n/opt/bin/go-ycsb-v1.0.1 run badger -P w/workloadf,w/own --threads=8 -p k=v=w --interval 2";
        let commands = of_script(script);
        assert_eq!(commands.len(), 1);
        let command = &commands[0];
        assert_eq!(
            (command.phase, command.binding.as_deref()),
            (Phase::Run, Some("badger"))
        );
        assert_eq!((command.workload(), command.files.len()), (Some("f"), 2));
        let read = ["threadcount", "k", "measurement.interval"].map(|name| command.properties.get(name));
        assert_eq!(read, [Some("8"), Some("v=w"), Some("2")]);
    }

    #[test]
    fn other_commands_and_cut_ones_are_none() {
        for script in ["bin/ycsb run badger", "go-ycsb shell basic", "go-ycsb", ""] {
            assert!(of_script(script).is_empty(), "{script}");
        }
        assert_eq!(of_script("go-ycsb load --threads")[0].binding, None);
    }
}
