//! Parser of shell commands into words, sufficient for scripts that start YCSB.

/// One command as its words; redirections are left out.
pub type Words = Vec<String>;

/// Split a script into its commands.
pub fn commands(text: &str) -> Vec<Words> {
    let mut splitter = Splitter::default();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some(escaped) => splitter.push(escaped),
            },
            '\'' => splitter.literal(&mut letters),
            '"' => splitter.quoted(&mut letters),
            '#' if splitter.word.is_none() => while letters.next_if(|&inside| inside != '\n').is_some() {},
            '\n' | ';' | '|' => splitter.end_command(),
            '&' if splitter.redirects => {}
            '&' => splitter.end_command(),
            '<' | '>' => splitter.redirect(),
            _ if letter.is_whitespace() => splitter.end_word(),
            _ => splitter.push(letter),
        }
    }
    splitter.end_command();
    splitter.commands
}

#[derive(Default)]
struct Splitter {
    commands: Vec<Words>,
    words: Words,
    word: Option<String>,
    /// The next word is the target of a redirection.
    redirects: bool,
}

impl Splitter {
    fn push(&mut self, letter: char) {
        self.word.get_or_insert_with(String::new).push(letter);
    }

    fn literal(&mut self, letters: &mut impl Iterator<Item = char>) {
        let word = self.word.get_or_insert_with(String::new);
        word.extend(letters.take_while(|&letter| letter != '\''));
    }

    fn quoted(&mut self, letters: &mut impl Iterator<Item = char>) {
        self.word.get_or_insert_with(String::new);
        while let Some(letter) = letters.next().filter(|&letter| letter != '"') {
            let escaped = if letter == '\\' {
                letters.next()
            } else {
                Some(letter)
            };
            escaped.into_iter().for_each(|letter| self.push(letter));
        }
    }

    fn redirect(&mut self) {
        let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        self.redirects = true;
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if !std::mem::take(&mut self.redirects) {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirects = false;
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let script =
            "java -cp 'lib/*' -p \"a=b c\" x\\ y \\\n  -s >out.log 2>&1 &\n# comment\nnext; last | tee f";
        let expected: Vec<Vec<&str>> = vec![
            vec!["java", "-cp", "lib/*", "-p", "a=b c", "x y", "-s"],
            vec!["next"],
            vec!["last"],
            vec!["tee", "f"],
        ];
        assert_eq!(commands(script), expected);
    }

    #[test]
    fn what_is_not_closed_ends_with_the_text() {
        assert_eq!(commands("a 'b c"), [["a", "b c"]]);
        assert_eq!(commands("a \"b\\"), [["a", "b"]]);
        assert_eq!(commands("a > "), [["a"]]);
    }
}
