//! Redaction of passwords on the command line and in properties: they are in the log, but never in the result.

use crate::ycsb::rules;
use crate::ycsb::run::Run;

/// Replacement for a secret.
const HIDDEN: &str = "***";

/// Words in the name of a property with a secret value: `as.password`, `mongodb.auth_token`, `s3.secretKey`.
const SECRET_WORDS: [&str; 7] = [
    "password",
    "passwd",
    "secret",
    "token",
    "credential",
    "apikey",
    "accesskey",
];

/// Redact the secrets in a run's command line and properties, and report that the log contains some.
pub fn hide(run: &mut Run) {
    let mut is_found = false;
    if let Some(line) = &mut run.command_line {
        is_found |= replace(line, hidden_line);
    }
    for (name, value) in &mut run.properties {
        is_found |= replace(value, |value| hidden_value(name, value));
    }
    if is_found {
        let sentence =
            "the properties contain a password or token; it is hidden here, but the stored log contains it";
        run.findings.push(rules::CREDENTIALS.at(run.first_line, sentence));
    }
}

fn replace(text: &mut String, hidden: impl FnOnce(&str) -> String) -> bool {
    let without = hidden(text);
    let differs = without != *text;
    *text = without;
    differs
}

fn hidden_line(line: &str) -> String {
    let word = |word: &str| match word.split_once('=') {
        Some((name, value)) => format!("{name}={}", hidden_value(name, value)),
        None => without_user(word),
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn hidden_value(name: &str, value: &str) -> String {
    let name = name.to_ascii_lowercase();
    if !value.is_empty() && SECRET_WORDS.iter().any(|word| name.contains(word)) {
        return HIDDEN.to_owned();
    }
    without_user(value)
}

/// Return an address without the user and password before its host.
fn without_user(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let host_end = rest.find(['/', '?']).unwrap_or(rest.len());
    match rest[..host_end].rfind('@') {
        Some(at) if rest[..at].contains(':') => format!("{scheme}://{HIDDEN}{}", &rest[at..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_the_rest_stays() {
        let line =
            "-t -p as.password=hunter2 -p as.host=db1 -p mongodb.url=mongodb://u:pw@h/x?y=1 -threads 8";
        let expected = "-t -p as.password=*** -p as.host=db1 -p mongodb.url=mongodb://***@h/x?y=1 -threads 8";
        assert_eq!(hidden_line(line), expected);
        assert_eq!(hidden_line(expected), expected);
    }

    #[test]
    fn what_is_no_secret_stays() {
        for line in [
            "-p as.password= -p url=http://host/a@b:c",
            "-p table=usertable  -threads 1",
            "ftp://me@host/",
        ] {
            assert_eq!(hidden_line(line), line);
        }
    }
}
