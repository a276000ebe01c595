//! Detection of the text encoding by the first bytes, and conversion of UTF-16 to UTF-8.

/// Number of bytes at the start that determine the encoding and the style of line ends.
pub const HEAD_BYTES: usize = 4096;

/// Text encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, of which ASCII is a part.
    #[default]
    Utf8,
    /// UTF-16 little-endian, which PowerShell writes on redirection.
    Utf16Le,
    /// UTF-16 big-endian.
    Utf16Be,
}

impl Encoding {
    /// Return the name in JSON.
    pub fn code(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
        }
    }

    /// Detect the encoding by the byte order mark, or by the NULs between ASCII characters.
    pub fn of(head: &[u8]) -> Self {
        match head {
            [0xFF, 0xFE, ..] => Self::Utf16Le,
            [0xFE, 0xFF, ..] => Self::Utf16Be,
            _ if is_wide(head, |[low, high]| high == 0 && is_letter(low)) => Self::Utf16Le,
            _ if is_wide(head, |[high, low]| high == 0 && is_letter(low)) => Self::Utf16Be,
            _ => Self::Utf8,
        }
    }
}

/// Return whether three of four pairs have a form: a prompt may contain other characters, and UTF-8 has no NULs.
fn is_wide(head: &[u8], has_form: impl Fn([u8; 2]) -> bool) -> bool {
    let (pairs, _) = head.as_chunks::<2>();
    let matching = pairs.iter().filter(|&&pair| has_form(pair)).count();
    !pairs.is_empty() && matching * 4 >= pairs.len() * 3
}

fn is_letter(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x1B | b' '..=b'~')
}

/// Converter of UTF-16 to UTF-8; stores at most three bytes of an incomplete character.
#[derive(Debug, Default)]
pub struct Utf16 {
    odd_byte: Option<u8>,
    high: Option<u16>,
}

impl Utf16 {
    /// Append the text of the next bytes to `text`; invalid units become U+FFFD.
    pub fn push(&mut self, bytes: &[u8], is_big: bool, text: &mut Vec<u8>) {
        let mut rest = bytes;
        if let (Some(first), Some((&second, others))) = (self.odd_byte, bytes.split_first()) {
            self.take(unit([first, second], is_big), text);
            (self.odd_byte, rest) = (None, others);
        }
        let (pairs, odd) = rest.as_chunks::<2>();
        for &pair in pairs {
            self.take(unit(pair, is_big), text);
        }
        self.odd_byte = odd.first().copied().or(self.odd_byte);
    }

    /// End the stream: an incomplete character becomes U+FFFD.
    pub fn finish(&mut self, text: &mut Vec<u8>) {
        if self.high.take().is_some() || self.odd_byte.take().is_some() {
            append(char::REPLACEMENT_CHARACTER, text);
        }
    }

    fn take(&mut self, unit: u16, text: &mut Vec<u8>) {
        match self.high.take() {
            Some(high) if is_low(unit) => append_units(&[high, unit], text),
            Some(_) => {
                append(char::REPLACEMENT_CHARACTER, text);
                self.take(unit, text);
            }
            None if is_high(unit) => self.high = Some(unit),
            None => append_units(&[unit], text),
        }
    }
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

fn unit(pair: [u8; 2], is_big: bool) -> u16 {
    if is_big {
        u16::from_be_bytes(pair)
    } else {
        u16::from_le_bytes(pair)
    }
}

fn append_units(units: &[u16], text: &mut Vec<u8>) {
    for letter in char::decode_utf16(units.iter().copied()) {
        append(letter.unwrap_or(char::REPLACEMENT_CHARACTER), text);
    }
}

fn append(letter: char, text: &mut Vec<u8>) {
    match u8::try_from(letter) {
        Ok(byte) if byte.is_ascii() => text.push(byte),
        _ => text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(text: &str, is_big: bool) -> Vec<u8> {
        let bytes = |unit: u16| {
            if is_big {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            }
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    fn decoded(chunks: &[&[u8]], is_big: bool) -> String {
        let (mut decoder, mut text) = (Utf16::default(), Vec::new());
        chunks
            .iter()
            .for_each(|chunk| decoder.push(chunk, is_big, &mut text));
        decoder.finish(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn the_encoding_is_detected_with_and_without_a_mark() {
        let text = "\nACT version 6.6\nStorage device IO test\n";
        for (is_big, expected) in [(false, Encoding::Utf16Le), (true, Encoding::Utf16Be)] {
            assert_eq!(
                Encoding::of(&bytes_of(&format!("\u{feff}{text}"), is_big)),
                expected
            );
            assert_eq!(Encoding::of(&bytes_of(text, is_big)), expected);
        }
        assert_eq!(Encoding::of(text.as_bytes()), Encoding::Utf8);
        assert_eq!(Encoding::of(b""), Encoding::Utf8);
    }

    #[test]
    fn nuls_in_a_text_of_utf_8_make_it_no_utf_16() {
        assert_eq!(Encoding::of(&[b'a', 0, b'b', b'c', b'd', b'e']), Encoding::Utf8);
        assert_eq!(Encoding::of(&[0; 100]), Encoding::Utf8);
    }

    #[test]
    fn letters_cut_by_chunks_are_whole() {
        let text = "a\u{e9}\u{20ac}\u{1f4be}\n";
        for is_big in [false, true] {
            let bytes = bytes_of(text, is_big);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            let triple: Vec<&[u8]> = bytes.chunks(3).collect();
            assert_eq!(decoded(&single, is_big), text);
            assert_eq!(decoded(&triple, is_big), text);
        }
    }

    #[test]
    fn half_a_letter_is_shown_as_one_that_cannot_be_read() {
        assert_eq!(decoded(&[&[b'a', 0, b'b']], false), "a\u{fffd}");
        assert_eq!(decoded(&[&[0x3D, 0xD8, b'b', 0]], false), "\u{fffd}b");
        assert_eq!(decoded(&[&[0x3D, 0xD8, 0x3D, 0xD8]], false), "\u{fffd}\u{fffd}");
    }
}
