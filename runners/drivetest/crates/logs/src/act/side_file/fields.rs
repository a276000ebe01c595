//! Fields of a record, each by itself: a field that is missing or is not what it should be costs nothing but itself.

use serde_json::Value;

/// Letters of a text that are kept.
const TEXT_MAX: usize = 1_000;

/// As much of a text as a page shows.
pub fn bounded(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// A text, None where there is none.
pub fn text(record: &Value, key: &str) -> Option<String> {
    record.get(key)?.as_str().map(bounded)
}

/// A whole number, None where there is none.
pub fn whole(record: &Value, key: &str) -> Option<u64> {
    record.get(key)?.as_u64()
}

/// A decimal in text, None where there is none.
pub fn decimal(record: &Value, key: &str) -> Option<f64> {
    let number: f64 = record.get(key)?.as_str()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// The entries of a list; none where there is no list.
pub fn list<'a>(record: &'a Value, key: &str) -> &'a [Value] {
    record
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_what_it_should_be_is_none() {
        let record = serde_json::json!({"text": 1, "whole": "1", "decimal": "NaN", "list": {}});
        assert_eq!(text(&record, "text"), None);
        assert_eq!((whole(&record, "whole"), whole(&record, "none")), (None, None));
        assert_eq!(decimal(&record, "decimal"), None);
        assert!(list(&record, "list").is_empty());
    }
}
