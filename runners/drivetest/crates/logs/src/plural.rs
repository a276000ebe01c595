//! Numbers with nouns, for sentences.

/// Return a number with its noun, given in the singular: `1 line`, `2 lines`, `0 lines`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let texts = [0, 1, 2].map(|count| counted(count, "line"));
        assert_eq!(texts, ["0 lines", "1 line", "2 lines"]);
    }
}
