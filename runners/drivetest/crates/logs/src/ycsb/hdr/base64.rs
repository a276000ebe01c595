//! Base64 as RFC 4648, section 4, has it.

/// Return the bytes of a text; `None` if it is none, or is cut.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let padding = text.iter().rev().take_while(|&&byte| byte == b'=').count();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let (letters, _) = text.split_at(text.len() - padding);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in letters.chunks(4) {
        let padded = group.iter().copied().chain(*b"AAA").take(4);
        let bits = padded
            .map(value)
            .try_fold(0_u32, |bits, value| Some(bits << 6 | value?))?;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    bytes.truncate(bytes.len() - padding);
    Some(bytes)
}

fn value(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// Return the text of bytes.
#[cfg(test)]
pub fn encode(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32, at: usize| char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize]);
    let group = |part: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(*part.get(at).unwrap_or(&0)));
        let decoded = (0..=part.len()).map(|at| letter(bits, at));
        decoded.chain("==".chars()).take(4).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: RFC 4648, section 10.
    #[test]
    fn the_vectors_of_the_standard_hold() {
        let pairs = [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYmE=", "fooba"),
        ];
        for (text, bytes) in pairs {
            assert_eq!(
                decode(text.as_bytes()).as_deref(),
                Some(bytes.as_bytes()),
                "{text}"
            );
            assert_eq!(encode(bytes.as_bytes()), text);
        }
        assert_eq!(decode(b"+/+/"), Some(vec![0xfb, 0xff, 0xbf]));
    }

    #[test]
    fn what_is_cut_or_has_other_letters_is_none() {
        for text in ["Z", "Zg", "Zg=", "Zg==Zg==", "Zm9*", "====", "Z==="] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }
}
