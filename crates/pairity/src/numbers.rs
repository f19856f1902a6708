//! Many numbers in a JSON document: a list, or, if it would be long, their bytes.
//!
//! A long list is an object with one field, `f32` or `f64`: the base64 (RFC 4648, padded) of the numbers'
//! bytes, the lowest byte first. `f32` is used if no number loses anything by it.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The longest list that is written as one.
const LONGEST: usize = 20_000;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Bytes {
    F32(String),
    F64(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Either {
    List(Vec<f64>),
    Bytes(Bytes),
}

pub(crate) fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    if numbers.len() <= LONGEST {
        return numbers.serialize(serializer);
    }
    let exact = |x: &f64| f64::from(*x as f32).to_bits() == x.to_bits();
    let bytes = match numbers.iter().all(exact) {
        true => Bytes::F32(encoded(numbers, |x| (x as f32).to_le_bytes())),
        false => Bytes::F64(encoded(numbers, f64::to_le_bytes)),
    };
    bytes.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let numbers = match Either::deserialize(deserializer)? {
        Either::List(numbers) => Some(numbers),
        Either::Bytes(Bytes::F32(text)) => decoded(&text, |bytes| f32::from_le_bytes(bytes).into()),
        Either::Bytes(Bytes::F64(text)) => decoded(&text, f64::from_le_bytes),
    };
    numbers.ok_or_else(|| D::Error::custom("the bytes of the numbers are damaged"))
}

fn encoded<const N: usize>(numbers: &[f64], bytes: fn(f64) -> [u8; N]) -> String {
    STANDARD.encode(numbers.iter().flat_map(|&number| bytes(number)).collect::<Vec<u8>>())
}

fn decoded<const N: usize>(text: &str, number: fn([u8; N]) -> f64) -> Option<Vec<f64>> {
    let bytes = STANDARD.decode(text).ok()?;
    let (numbers, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| numbers.iter().map(|&bytes| number(bytes)).collect())
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder(#[serde(with = "super")] Vec<f64>);

    fn written(numbers: Vec<f64>) -> String {
        let holder = Holder(numbers);
        let text = serde_json::to_string(&holder).unwrap();
        assert_eq!(serde_json::from_str::<Holder>(&text).unwrap(), holder);
        text
    }

    #[test]
    fn numbers_come_back_with_the_same_bits_in_every_form() {
        assert_eq!(written(vec![0.5, -1.0]), "[0.5,-1.0]");
        let mut numbers: Vec<f64> = (0..=super::LONGEST).map(|i| i as f64 * 0.25 - 7.0).collect();
        let short = written(numbers.clone());
        assert!(short.starts_with("{\"f32\":\""));
        numbers[3] = 0.1;
        let long = written(numbers);
        assert!(long.starts_with("{\"f64\":\"") && long.len() > 3 * short.len() / 2);
    }

    #[test]
    fn damaged_bytes_are_refused() {
        for text in ["{\"f32\":\"AAA=\"}", "{\"f64\":\"AAAA\"}", "{\"f32\":\"?\"}", "{\"f16\":\"\"}", "3"] {
            assert!(serde_json::from_str::<Holder>(text).is_err(), "{text}");
        }
    }
}
