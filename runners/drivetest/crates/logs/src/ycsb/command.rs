//! Command line that started YCSB or go-ycsb, from its output, a launcher or a script.
//!
//! Source: YCSB, Client.parseArguments(), bin/ycsb, bin/ycsb.sh; go-ycsb, cmd/go-ycsb/client.go, initClientCommand().

use serde::Serialize;

use crate::ycsb::common::properties::Properties;
use crate::ycsb::common::shell;

/// Phase of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Load phase: fills the database.
    Load,
    /// Run phase: executes the operations of the workload.
    #[default]
    Run,
}

/// A parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Arguments of the client.
    pub text: String,
    /// Without `-load` YCSB runs.
    pub phase: Phase,
    /// `-db`, or the launcher's name of the binding.
    pub binding: Option<String>,
    /// The files of `-P`, in their order.
    pub files: Vec<String>,
    /// `-p`, `-threads` and `-target`.
    pub properties: Properties,
    /// Whether the line has a shell variable instead of its value, so it is incomplete.
    pub has_variables: bool,
}

impl Command {
    /// Read the arguments after `Command line: `, joined by blanks and unquoted as YCSB prints them.
    pub fn printed(arguments: &str) -> Self {
        Self::of_words(arguments.split_whitespace())
    }

    /// Return the commands of a script that start YCSB, in their order.
    pub fn of_script(text: &str) -> Vec<Self> {
        let commands = shell::commands(text);
        commands
            .iter()
            .filter_map(|words| Self::of_start(words))
            .collect()
    }

    /// Return the commands of a script that start go-ycsb. Only they name the back end and the file of the workload.
    pub fn of_go_script(text: &str) -> Vec<Self> {
        let commands = shell::commands(text).into_iter();
        commands.filter_map(|words| Self::of_go_start(&words)).collect()
    }

    /// Return the command line of a launcher's `java ... Client ARGUMENTS`; `None` for any other line.
    pub fn of_java(line: &str) -> Option<Self> {
        let program = line.split_ascii_whitespace().next()?;
        if !program.ends_with("java") && program != "exec" {
            return None;
        }
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Self::of_start(&words)
    }

    fn of_start(words: &[String]) -> Option<Self> {
        if let Some(at) = words.iter().position(|word| word.ends_with("ycsb.Client")) {
            return Some(Self::of_words(words[at + 1..].iter().map(String::as_str)));
        }
        let launcher = |word: &String| matches!(base(word), "ycsb" | "ycsb.sh" | "ycsb.bat");
        let at = words.iter().position(launcher)?;
        let [phase, binding, rest @ ..] = &words[at + 1..] else {
            return None;
        };
        let flag = match phase.as_str() {
            "load" => "-load",
            "run" => "-t",
            _ => return None,
        };
        let rest = rest.iter().map(String::as_str);
        Some(Self::of_words([flag, "-db", binding].into_iter().chain(rest)))
    }

    fn of_words<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let words: Vec<&str> = words.collect();
        let mut read = Self {
            text: words.join(" "),
            has_variables: words.iter().any(|word| word.starts_with('$')),
            ..Self::default()
        };
        let mut rest = words.as_slice();
        while let Some((&option, after)) = rest.split_first() {
            let taken = read.take(option, after);
            rest = &after[taken.min(after.len())..];
        }
        match read.properties.get("dotransactions") {
            Some("false") => read.phase = Phase::Load,
            Some(_) => read.phase = Phase::Run,
            None => {}
        }
        read
    }

    /// Read an option, and return how many of the words after it are its own.
    fn take(&mut self, option: &str, after: &[&str]) -> usize {
        let value = after.first().copied();
        match option {
            "-load" => self.phase = Phase::Load,
            "-t" => self.phase = Phase::Run,
            "-p" => return self.take_property(after),
            "-db" => self.binding = value.map(str::to_owned),
            "-P" => self.files.extend(value.map(str::to_owned)),
            "-threads" => self.properties.set("threadcount", value.unwrap_or("")),
            "-target" => self.properties.set("target", value.unwrap_or("")),
            _ => {}
        }
        let takes_value = ["-db", "-P", "-threads", "-target", "-l", "-cp"].contains(&option);
        usize::from(takes_value)
    }

    /// Read a property, and return the number of words that it has. A value with blanks was printed without its quotes:
    /// YCSB takes no bare words, so the next words belong to it.
    fn take_property(&mut self, after: &[&str]) -> usize {
        let bare = after.iter().skip(1).take_while(|word| !word.starts_with('-'));
        let count = after.len().min(1 + bare.count());
        self.properties.set_pair(&after[..count].join(" "));
        count
    }

    fn of_go_start(words: &[String]) -> Option<Self> {
        let at = words.iter().position(|word| base(word).starts_with("go-ycsb"))?;
        let arguments = &words[at + 1..];
        let phase = match arguments.first()?.as_str() {
            "load" => Phase::Load,
            "run" => Phase::Run,
            _ => return None,
        };
        let mut command = Self {
            text: arguments.join(" "),
            phase,
            has_variables: arguments.iter().any(|word| word.starts_with('$')),
            ..Self::default()
        };
        let mut rest = arguments[1..].iter().map(String::as_str);
        while let Some(word) = rest.next() {
            command.take_go(word, &mut rest);
        }
        Some(command)
    }

    /// Read a word of go-ycsb's arguments, with the value after it if it is an option.
    fn take_go<'a>(&mut self, word: &'a str, rest: &mut impl Iterator<Item = &'a str>) {
        if !word.starts_with('-') {
            self.binding.get_or_insert_with(|| word.to_owned());
            return;
        }
        let (name, joined) = go_option(word);
        let Some(value) = joined.or_else(|| rest.next()) else {
            return;
        };
        match name {
            "-P" | "--property_file" => self.files.extend(value.split(',').map(str::to_owned)),
            "-p" | "--prop" => self.properties.set_pair(value),
            "--threads" => self.properties.set("threadcount", value),
            "--target" => self.properties.set("target", value),
            "--interval" => self.properties.set("measurement.interval", value),
            _ => {}
        }
    }

    /// Return the letter of a standard workload (`a` of `workloads/workloada`); `None` if no file is named so.
    pub fn workload(&self) -> Option<&str> {
        self.files.iter().rev().find_map(|file| standard_workload(file))
    }
}

/// Return the letter of a standard workload file by its name.
pub fn standard_workload(file: &str) -> Option<&str> {
    let letter = base(file).strip_prefix("workload")?;
    matches!(letter, "a" | "b" | "c" | "d" | "e" | "f").then_some(letter)
}

/// Return the last part of a path, with either separator.
pub fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Split an option into its name and its value: `--threads=8` and `-precordcount=5` contain a value, other options do not.
fn go_option(word: &str) -> (&str, Option<&str>) {
    let parts = match word.starts_with("--") {
        true => word.split_once('='),
        false => word.split_at_checked(2).filter(|(_, value)| !value.is_empty()),
    };
    parts.map_or((word, None), |(name, value)| (name, Some(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_line_is_read() {
        let line = "-load -db site.ycsb.BasicDB -P /opt/workloads/workloada -p recordcount=5 -threads 8 -target 100 \
                    -s -p a= -p recordcount=7";
        let command = Command::printed(line);
        assert_eq!(command.phase, Phase::Load);
        assert_eq!(command.binding.as_deref(), Some("site.ycsb.BasicDB"));
        assert_eq!(command.workload(), Some("a"));
        let printed = |name| command.properties.get(name);
        assert_eq!(
            (
                printed("recordcount"),
                printed("threadcount"),
                printed("target"),
                printed("a")
            ),
            (Some("7"), Some("8"), Some("100"), Some(""))
        );
    }

    #[test]
    fn blanks_of_an_unquoted_value_belong_to_it() {
        let command = Command::printed("-p note=one two -threads 2 -p x=1");
        assert_eq!(command.properties.get("note"), Some("one two"));
        assert_eq!(command.properties.get("threadcount"), Some("2"));
        assert_eq!(command.properties.get("x"), Some("1"));
    }

    #[test]
    fn launchers_and_java_lines_are_read() {
        let script = "# prepare\nmkdir out\nbin/ycsb.sh run rocksdb -P workloads/workloadc -threads 4 -s > x 2>&1\n\
                      java -Xmx1g -cp 'lib/*' site.ycsb.Client -load -db a.B -p 'k=v w'";
        let commands = Command::of_script(script);
        assert_eq!(commands.len(), 2);
        assert_eq!(
            (commands[0].phase, commands[0].workload()),
            (Phase::Run, Some("c"))
        );
        assert_eq!(commands[0].binding.as_deref(), Some("rocksdb"));
        assert_eq!(commands[1].phase, Phase::Load);
        assert_eq!(commands[1].properties.get("k"), Some("v w"));
        assert!(Command::of_java("/usr/bin/java -cp x com.yahoo.ycsb.Client -t").is_some());
        assert!(Command::of_java("\tat site.ycsb.Client.main(Client.java:1) site.ycsb.Client").is_none());
    }

    #[test]
    fn a_line_that_breaks_off_is_read_as_far_as_it_goes() {
        for line in ["-threads", "-p", "-P", "-p x", "-db", ""] {
            assert_eq!(Command::printed(line).text, line);
        }
        assert_eq!(Command::printed("-P workloads/workloadx").workload(), None);
        assert!(Command::printed("$R -threads 4").has_variables);
    }

    #[test]
    fn a_command_names_back_end_phase_and_files() {
        let script = "mkdir x\n/opt/bin/go-ycsb-v1.0.1 run badger -P w/workloadf,w/own --threads=8 -p k=v=w --interval 2";
        let commands = Command::of_go_script(script);
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
            assert!(Command::of_go_script(script).is_empty(), "{script}");
        }
        assert_eq!(Command::of_go_script("go-ycsb load --threads")[0].binding, None);
    }
}
