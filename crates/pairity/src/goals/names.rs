//! What the names in a goal refer to, and what was meant by a name that refers to nothing.

use std::ops::Range;

use super::error::Fault;
use crate::examples::Examples;
use crate::similar;

/// The rates of a continuous attribute, as errors list them.
pub(super) const CONTINUOUS_RATES: &str = "A[z > z'], A[z < z'], P[z > z'] and P[z < z']";

/// The most groups that an error lists.
const LISTED: usize = 10;

/// What the names in a goal refer to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vocabulary {
    /// The groups, in the order of their indices in rates.
    pub groups: Vec<String>,
    /// Whether there is a continuous protected attribute, and so `A[z > z']`, `P[z > z']` and the like.
    pub continuous: bool,
}

impl Vocabulary {
    /// The index of a group: by its name as written, or else by its value if it is a number.
    pub(super) fn group(&self, name: &str, span: &Range<usize>) -> Result<usize, Fault> {
        if let Some(index) = self.groups.iter().position(|group| group == name) {
            return Ok(index);
        }
        let value = number(name);
        let is_equal = |&i: &usize| value.is_some() && number(&self.groups[i]) == value;
        let equal: Vec<usize> = (0..self.groups.len()).filter(is_equal).collect();
        let (message, help) = match equal.as_slice() {
            [only] => return Ok(*only),
            [] => (format!("unknown group {name:?}"), self.known_groups(name)),
            several => {
                let names = listed(several.iter().map(|&i| &self.groups[i]));
                let message = format!("{name:?} could be any of several groups");
                (message, format!("write one of {names}, as it is"))
            }
        };
        Err(Fault::new(span.clone(), message).help(help))
    }

    fn known_groups(&self, name: &str) -> String {
        if self.groups.is_empty() {
            return match self.continuous {
                true => format!("the protected attribute is continuous: its rates are {CONTINUOUS_RATES}"),
                false => "there are no groups".to_owned(),
            };
        }
        let mut help = format!("the groups are {}", listed(self.groups.iter()));
        if let Some(near) = similar::nearest(name, self.groups.iter().map(String::as_str)).first() {
            help += &format!("; did you mean {near:?}?");
        }
        help
    }
}

impl Examples {
    /// The names that goals about these examples may use.
    pub fn vocabulary(&self) -> Vocabulary {
        Vocabulary { groups: self.groups().to_vec(), continuous: self.is_continuous() }
    }
}

fn number(name: &str) -> Option<f64> {
    name.parse().ok().filter(|value: &f64| value.is_finite())
}

fn listed<'a>(names: impl Iterator<Item = &'a String> + Clone) -> String {
    let first: Vec<String> = names.clone().take(LISTED).map(|name| format!("{name:?}")).collect();
    let more = match names.count().saturating_sub(LISTED) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    first.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(names: &[&str]) -> Vocabulary {
        Vocabulary { groups: names.iter().map(|name| name.to_string()).collect(), continuous: false }
    }

    #[test]
    fn a_number_matches_a_group_of_equal_value() {
        assert_eq!(words(&["0.0", "1.0"]).group("1", &(0..1)), Ok(1));
        assert_eq!(words(&["0", "1"]).group("0.0", &(0..1)), Ok(0));
        assert_eq!(words(&["-1", "0.5"]).group("-1.0", &(0..1)), Ok(0));
    }

    #[test]
    fn the_name_as_written_comes_first() {
        assert_eq!(words(&["1.0", "1"]).group("1", &(0..1)), Ok(1));
    }

    #[test]
    fn a_number_that_matches_two_groups_is_an_error() {
        let fault = words(&["1.0", "1.00"]).group("1", &(2..3)).unwrap_err();
        assert_eq!(fault.message, "\"1\" could be any of several groups");
        assert_eq!(fault.help.unwrap(), "write one of \"1.0\", \"1.00\", as it is");
    }

    #[test]
    fn words_for_numbers_are_not_numbers() {
        assert!(words(&["inf"]).group("infinity", &(0..1)).is_err());
        assert!(words(&["nan"]).group("NaN", &(0..1)).is_err());
    }

    #[test]
    fn long_lists_of_groups_are_cut() {
        let many: Vec<String> = (0..12).map(|i| format!("g{i:02}")).collect();
        let fault = Vocabulary { groups: many, continuous: false }.group("other", &(0..1)).unwrap_err();
        assert!(fault.help.unwrap().ends_with("\"g09\" and 2 more"));
    }

    #[test]
    fn only_names_alike_are_suggested() {
        let names = ["auc", "mse", "cross_group"];
        assert_eq!(similar::nearest("CROSS", names.into_iter()), ["cross_group"]);
        assert_eq!(similar::nearest("auroc", names.into_iter()), [""; 0]);
        assert_eq!(similar::nearest("zzz", names.into_iter()), [""; 0]);
    }
}
