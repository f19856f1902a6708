//! Values of options: each parser says what is needed where a value is wrong.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pairity::methods::{self, Method};
use std::str::FromStr;
use std::time::Duration;

/// One of the names in a table of the engine.
pub fn choices<T: Copy + Send + Sync + 'static>(
    names: impl IntoIterator<Item = &'static (&'static str, T, &'static str)>,
) -> impl TypedValueParser<Value = T> {
    let names: Vec<_> = names.into_iter().collect();
    let value = |(name, _, about): &&(&'static str, T, &'static str)| PossibleValue::new(*name).help(*about);
    PossibleValuesParser::new(names.iter().map(value)).try_map(move |found| {
        names.iter().find(|(name, ..)| *name == found).map(|(_, value, _)| *value).ok_or("an unknown name")
    })
}

/// One of the engine's methods that will do.
pub fn methods(fits: fn(&Method) -> bool) -> impl TypedValueParser<Value = &'static Method> {
    let value = |method: &'static Method| PossibleValue::new(method.name).help(method.about);
    let names = methods::by_name().filter(|method| fits(method)).map(value);
    PossibleValuesParser::new(names).try_map(|name| methods::named(&name).ok_or("an unknown name"))
}

/// What a text is parsed to if it fits, or else what is needed.
fn parse<T: FromStr>(text: &str, fits: impl Fn(&T) -> bool, needed: &str) -> Result<T, String> {
    text.parse().ok().filter(fits).ok_or_else(|| needed.to_owned())
}

pub fn confidence(text: &str) -> Result<f64, String> {
    let needed =
        "a number between 0 and 1 is needed, such as 0.95 (0 and 1 themselves don't make an interval)";
    parse(text, |value| *value > 0.0 && *value < 1.0, needed)
}

/// A size in bytes, such as 500MB or 2GB.
pub fn size(text: &str) -> Result<u64, String> {
    let needed = || "a size is needed, such as 500MB or 2GB".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let unit: u64 = match text[digits.len()..].trim().to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return Err(needed()),
    };
    let number: f64 =
        digits.parse().ok().filter(|number: &f64| *number > 0.0 && *number < 1e6).ok_or_else(needed)?;
    Ok((number * unit as f64) as u64)
}

/// A whole number above 0.
pub fn positive(text: &str) -> Result<usize, String> {
    parse(text, |number| *number > 0, "a whole number of at least 1 is needed")
}

pub fn tuned_share(text: &str) -> Result<f64, String> {
    let needed = "a number above 0 and up to 1 is needed, such as 0.5";
    parse(text, |share| *share > 0.0 && *share <= 1.0, needed)
}

pub fn share(text: &str) -> Result<f64, String> {
    parse(text, |share| (0.0..1.0).contains(share), "a number from 0 to below 1 is needed, such as 0.5")
}

pub fn not_negative(text: &str) -> Result<f64, String> {
    parse(text, |number: &f64| *number >= 0.0 && number.is_finite(), "a number of at least 0 is needed")
}

pub fn name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a name is needed".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Shares of training, validation and test.
pub fn split(text: &str) -> Result<[f64; 3], String> {
    let shares: Option<Vec<f64>> = text.split(',').map(|share| share.trim().parse().ok()).collect();
    let sums_to_one = |shares: &[f64]| (shares.iter().sum::<f64>() - 1.0).abs() < 1e-6;
    let needed = "three shares with a sum of 1 are needed, such as 0.5,0.25,0.25, the first above 0";
    match shares.as_deref() {
        Some(&[a, b, c]) if [a, b, c].iter().all(|x| *x >= 0.0) && sums_to_one(&[a, b, c]) && a > 0.0 => {
            Ok([a, b, c])
        }
        _ => Err(needed.to_owned()),
    }
}

pub fn duration(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .or_else(|| humantime::parse_duration(text).ok())
        .ok_or_else(|| "a time is needed, such as 90s, 10m or 1h 30m".to_owned())
}

/// A choice of pairs by a column: whether the first has the higher value, and the column.
pub fn pairs_where(text: &str) -> Result<(bool, String), String> {
    let mut sides = text
        .match_indices(['<', '>'])
        .map(|(at, sign)| (sign == ">", text[..at].trim(), text[at + 1..].trim()));
    let same = |(higher, own, other): (bool, &str, &str)| {
        (!own.is_empty() && other.strip_suffix('\'') == Some(own)).then(|| (higher, own.to_owned()))
    };
    sides.find_map(same).ok_or_else(|| {
        "name one column twice, the second time with ': \"shown > shown'\" keeps the pairs whose better row \
        was shown at the higher position, \"shown < shown'\" at the lower one"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_has_three_shares_and_some_training() {
        assert_eq!(split("0.5,0.25,0.25"), Ok([0.5, 0.25, 0.25]));
        assert_eq!(split("1, 0, 0"), Ok([1.0, 0.0, 0.0]));
        for text in ["", "1", "0.5,0.5", "0,0.5,0.5", "0.5,0.6,-0.1", "0.5,0.25,0.5", "a,b,c", "NaN,1,0"] {
            assert!(split(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_have_units_or_are_seconds() {
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("2.5"), Ok(Duration::from_millis(2500)));
        for text in ["", "-1", "soon", "10 parsecs", "NaN"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_confidence_lies_between_0_and_1() {
        assert_eq!(confidence("0.9"), Ok(0.9));
        for text in ["0", "1", "-0.5", "95", "NaN", "x"] {
            assert!(confidence(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_of_things_is_at_least_one() {
        assert_eq!(positive("2"), Ok(2));
        for text in ["0", "-1", "1.5", ""] {
            assert!(positive(text).is_err(), "{text}");
        }
    }
}
