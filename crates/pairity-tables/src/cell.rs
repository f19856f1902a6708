//! What the text of one cell means: missing, a number, or something else.
//!
//! Spaces around a cell are not part of it. Empty, `?` and `NA` are missing.

/// The meaning of a cell where a number may stand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Meaning {
    Missing,
    Number(f64),
    /// NaN, infinite, or too large: written as a number, but none to compute with.
    NotFinite,
    Boolean(bool),
    Text,
}

/// Whether a trimmed cell says that the value is missing.
#[inline]
pub(crate) fn is_missing(trimmed: &[u8]) -> bool {
    matches!(trimmed, b"" | b"?" | b"NA")
}

/// Whether a trimmed cell is a code, such as a zip code or an identifier, and no number: digits after a leading zero,
/// which a number would lose.
#[inline]
pub(crate) fn is_code(trimmed: &[u8]) -> bool {
    matches!(trimmed, [b'0', b'0'..=b'9', ..]) && trimmed.iter().all(u8::is_ascii_digit)
}

/// Reads a trimmed cell.
#[inline]
pub(crate) fn meaning(trimmed: &[u8]) -> Meaning {
    if let Some(value) = short_decimal(trimmed) {
        return Meaning::Number(value);
    }
    if is_missing(trimmed) {
        return Meaning::Missing;
    }
    match std::str::from_utf8(trimmed).ok().and_then(|text| text.parse::<f64>().ok()) {
        Some(value) if value.is_finite() => Meaning::Number(value),
        Some(_) => Meaning::NotFinite,
        None if trimmed.eq_ignore_ascii_case(b"true") => Meaning::Boolean(true),
        None if trimmed.eq_ignore_ascii_case(b"false") => Meaning::Boolean(false),
        None => Meaning::Text,
    }
}

/// Reads `-12.345` and the like in at most 16 characters, faster than the general case.
///
/// With a point there are at most 15 digits: an integer below 2⁵³ over a power of ten below 10²², both
/// exact in 64-bit floating point, so that only the division rounds. Without a point only the integer
/// does. Either way the result is the nearest number, as it is in the general case.
#[inline]
fn short_decimal(text: &[u8]) -> Option<f64> {
    const POWERS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if matches!(digits, b"" | b".") || digits.len() > 16 {
        return None;
    }
    let mut whole: u64 = 0;
    let mut point = None;
    for (at, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => whole = whole * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let decimals = point.map_or(0, |at| digits.len() - at - 1);
    let value = whole as f64 / POWERS[decimals];
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markers_of_missing_cells_are_exact() {
        for cell in ["", "  ", "?", "NA", " NA "] {
            assert_eq!(meaning(cell.as_bytes().trim_ascii()), Meaning::Missing, "{cell:?}");
        }
        for cell in ["na", "N/A", "null", "??"] {
            assert_eq!(meaning(cell.as_bytes().trim_ascii()), Meaning::Text, "{cell:?}");
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_told_apart_from_text() {
        for cell in ["NaN", "nan", "inf", "-Inf", "Infinity", "1e999"] {
            assert_eq!(meaning(cell.as_bytes()), Meaning::NotFinite, "{cell:?}");
        }
    }

    #[test]
    fn what_is_almost_a_number_is_text() {
        for cell in ["-", ".", "-.", "1.2.3", "1,5", "1_000", "0x10", "1 2", "--1", "e5", "12a"] {
            assert_eq!(meaning(cell.as_bytes()), Meaning::Text, "{cell:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_fast_path_agrees_with_the_standard_library(
            text in "-?[0-9]{0,17}|-?[0-9]{0,9}\\.[0-9]{0,9}"
        ) {
            let slow = text.parse::<f64>().ok().map(f64::to_bits);
            if let Some(fast) = short_decimal(text.as_bytes()) {
                proptest::prop_assert_eq!(Some(fast.to_bits()), slow);
            }
        }
    }
}
