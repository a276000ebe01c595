//! Access to the fields of a record: a missing or malformed field does not affect the others.

use serde_json::Value;

/// Maximum stored length of a text.
const TEXT_MAX: usize = 1_000;

/// Return a text, cut to the maximum length.
pub fn bounded(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// Return a text field; `None` if missing.
pub fn text(record: &Value, key: &str) -> Option<String> {
    record.get(key)?.as_str().map(bounded)
}

/// Return a whole number; `None` if missing.
pub fn whole(record: &Value, key: &str) -> Option<u64> {
    record.get(key)?.as_u64()
}

/// Return a decimal that is stored as text; `None` if missing.
pub fn decimal(record: &Value, key: &str) -> Option<f64> {
    let number: f64 = record.get(key)?.as_str()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// Return the entries of a list; empty if missing.
pub fn list<'a>(record: &'a Value, key: &str) -> &'a [Value] {
    let entries = record.get(key).and_then(Value::as_array);
    entries.map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_field_is_none() {
        let record = serde_json::json!({"text": 1, "whole": "1", "decimal": "NaN", "list": {}});
        assert_eq!(text(&record, "text"), None);
        assert_eq!((whole(&record, "whole"), whole(&record, "none")), (None, None));
        assert_eq!(decimal(&record, "decimal"), None);
        assert!(list(&record, "list").is_empty());
    }
}
