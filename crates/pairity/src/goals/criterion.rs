//! Named criteria: each asks that some rates are equal, and is their largest difference.

use super::expression::Expression;
use super::linear::LinearForm;
use super::names::Vocabulary;
use crate::rates::{Rate, Side};

/// A named fairness criterion: the largest absolute difference within a set of rates.
///
/// ```
/// use pairity::goals::{Criterion, Expression, Vocabulary};
/// let words = Vocabulary { groups: vec!["a".into(), "b".into(), "c".into()], continuous: false };
/// let criterion = Criterion::from_name("cross_group").unwrap();
/// let Ok(Expression::Spread(rates)) = criterion.expression(&words) else { panic!() };
/// assert_eq!(rates.len(), 6);
/// assert!(Criterion::Continuous.expression(&words).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Criterion {
    /// `A[i > j]`, every i and j.
    EqualOpportunity,
    /// `A[i > j]`, i other than j.
    CrossGroup,
    /// `A[i > i]`, every i.
    WithinGroup,
    /// `A[i > *]`, every i.
    Marginal,
    /// `P[i > j]`, i other than j.
    StatisticalParity,
    /// `S[i]`, every i.
    Symmetric,
    /// `A[z > z']` and `A[z < z']`.
    Continuous,
}

/// A row of the table of criteria: all that documents say.
struct Described {
    name: &'static str,
    /// The place in reports and help texts.
    place: usize,
    rates: &'static str,
    meaning: &'static str,
}

impl Criterion {
    /// All of them.
    pub const ALL: [Criterion; 7] = [
        Criterion::EqualOpportunity,
        Criterion::CrossGroup,
        Criterion::WithinGroup,
        Criterion::Marginal,
        Criterion::StatisticalParity,
        Criterion::Symmetric,
        Criterion::Continuous,
    ];

    /// The row of the table of criteria.
    fn described(self) -> Described {
        let row = |name, place, rates, meaning| Described { name, place, rates, meaning };
        match self {
            Criterion::CrossGroup => {
                row("cross_group", 0, "A[i > j], i ≠ j", "between better and worse ones of different groups")
            }
            Criterion::WithinGroup => row("within_group", 1, "A[i > i]", "between pairs inside each group"),
            Criterion::Marginal => row("marginal", 2, "A[i > anyone]", "of each group as the better one"),
            Criterion::EqualOpportunity => {
                row("equal_opportunity", 3, "all A[i > j]", "of all pairs of groups, inside and across")
            }
            Criterion::StatisticalParity => row(
                "statistical_parity",
                4,
                "P[i > j]",
                "of how often one group scores above another, whatever the labels",
            ),
            Criterion::Symmetric => row("symmetric", 5, "S[i]", "of the symmetric accuracies"),
            Criterion::Continuous => {
                row("continuous", 6, "A[z > z'] and A[z < z']", "between A[z > z'] and A[z < z']")
            }
        }
    }

    /// All of them in the order of reports and help texts.
    pub fn documented() -> [Criterion; 7] {
        let mut all = Criterion::ALL;
        all.sort_by_key(|criterion| criterion.described().place);
        all
    }

    /// What it is called in a goal.
    pub fn name(self) -> &'static str {
        self.described().name
    }

    /// The rates that it wants equal.
    pub fn rates(self) -> &'static str {
        self.described().rates
    }

    /// What it is the largest difference of, in words that go on after "the largest difference of accuracies".
    pub fn meaning(self) -> &'static str {
        self.described().meaning
    }

    /// Whether it compares accuracies, for which there have to be labels.
    pub fn needs_labels(self) -> bool {
        self != Criterion::StatisticalParity
    }

    /// Whether it is about a continuous protected attribute rather than groups.
    pub fn is_continuous(self) -> bool {
        self == Criterion::Continuous
    }

    /// The criterion of that name.
    pub fn from_name(name: &str) -> Option<Criterion> {
        Criterion::ALL.into_iter().find(|criterion| criterion.name() == name)
    }

    /// The criterion for these groups, or the reason why they have none.
    pub fn expression(self, vocabulary: &Vocabulary) -> Result<Expression, String> {
        self.applies(vocabulary)?;
        let count = vocabulary.groups.len();
        let accuracy = |i: usize, worse| LinearForm::rate(Rate::Accuracy { better: Side::Group(i), worse });
        let pairs = || (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
        let others = || pairs().filter(|(i, j)| i != j);
        let forms = match self {
            Criterion::EqualOpportunity => pairs().map(|(i, j)| accuracy(i, Side::Group(j))).collect(),
            Criterion::CrossGroup => others().map(|(i, j)| accuracy(i, Side::Group(j))).collect(),
            Criterion::WithinGroup => (0..count).map(|i| accuracy(i, Side::Group(i))).collect(),
            Criterion::Marginal => (0..count).map(|i| accuracy(i, Side::Any)).collect(),
            Criterion::StatisticalParity => {
                others().map(|(first, second)| LinearForm::rate(Rate::Parity { first, second })).collect()
            }
            Criterion::Symmetric => (0..count).map(symmetric).collect(),
            Criterion::Continuous => vec![LinearForm::rate(Rate::Greater), LinearForm::rate(Rate::Less)],
        };
        Ok(Expression::Spread(forms))
    }

    fn applies(self, vocabulary: &Vocabulary) -> Result<(), String> {
        let name = self.name();
        match (self, vocabulary.groups.as_slice()) {
            (Criterion::Continuous, _) if vocabulary.continuous => Ok(()),
            (Criterion::Continuous, _) => {
                Err(format!("`{name}` needs a continuous protected attribute, and there is none"))
            }
            (_, [_, _, ..]) => Ok(()),
            _ if vocabulary.continuous => {
                Err(format!("`{name}` compares groups, and the protected attribute is continuous"))
            }
            (_, [only]) => Err(format!("`{name}` compares groups, and {only:?} is the only one")),
            (_, []) => Err(format!("`{name}` compares groups, and there are none")),
        }
    }
}

/// `S[i]`, which is `A[i > *] + A[* > i]`.
pub(super) fn symmetric(group: usize) -> LinearForm {
    let group = Side::Group(group);
    let row = Rate::Accuracy { better: group, worse: Side::Any };
    let column = Rate::Accuracy { better: Side::Any, worse: group };
    LinearForm::new(0.0, [(row, 1.0), (column, 1.0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(names: &[&str]) -> Vocabulary {
        Vocabulary { groups: names.iter().map(|name| name.to_string()).collect(), continuous: false }
    }

    fn accuracy(i: usize, j: usize) -> LinearForm {
        LinearForm::rate(Rate::Accuracy { better: Side::Group(i), worse: Side::Group(j) })
    }

    #[test]
    fn each_criterion_compares_its_own_rates() {
        let two = groups(&["a", "b"]);
        let forms = |criterion: Criterion| match criterion.expression(&two) {
            Ok(Expression::Spread(forms)) => forms,
            other => panic!("{other:?}"),
        };
        assert_eq!(forms(Criterion::CrossGroup), [accuracy(0, 1), accuracy(1, 0)]);
        assert_eq!(forms(Criterion::WithinGroup), [accuracy(0, 0), accuracy(1, 1)]);
        assert_eq!(
            forms(Criterion::EqualOpportunity),
            [accuracy(0, 0), accuracy(0, 1), accuracy(1, 0), accuracy(1, 1)]
        );
        let row = |i| Rate::Accuracy { better: Side::Group(i), worse: Side::Any };
        let column = |i| Rate::Accuracy { better: Side::Any, worse: Side::Group(i) };
        assert_eq!(forms(Criterion::Marginal), [LinearForm::rate(row(0)), LinearForm::rate(row(1))]);
        let sum = |i| LinearForm::new(0.0, [(row(i), 1.0), (column(i), 1.0)]);
        assert_eq!(forms(Criterion::Symmetric), [sum(0), sum(1)]);
        let parity = |first, second| LinearForm::rate(Rate::Parity { first, second });
        assert_eq!(forms(Criterion::StatisticalParity), [parity(0, 1), parity(1, 0)]);
    }

    #[test]
    fn three_groups_have_six_cross_group_rates() {
        let Ok(Expression::Spread(forms)) = Criterion::CrossGroup.expression(&groups(&["a", "b", "c"]))
        else {
            panic!("no spread");
        };
        let expected: Vec<LinearForm> =
            [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)].map(|(i, j)| accuracy(i, j)).to_vec();
        assert_eq!(forms, expected);
    }

    #[test]
    fn names_and_criteria_correspond() {
        for criterion in Criterion::ALL {
            assert_eq!(Criterion::from_name(criterion.name()), Some(criterion));
        }
        assert_eq!(Criterion::from_name("crossgroup"), None);
    }

    #[test]
    fn a_criterion_that_does_not_apply_says_why() {
        let continuous = Vocabulary { groups: vec![], continuous: true };
        let reason = |criterion: Criterion, words: &Vocabulary| criterion.expression(words).unwrap_err();
        assert_eq!(
            reason(Criterion::Marginal, &groups(&["a"])),
            "`marginal` compares groups, and \"a\" is the only one"
        );
        assert_eq!(
            reason(Criterion::Symmetric, &groups(&[])),
            "`symmetric` compares groups, and there are none"
        );
        assert_eq!(
            reason(Criterion::CrossGroup, &continuous),
            "`cross_group` compares groups, and the protected attribute is continuous"
        );
        assert_eq!(
            reason(Criterion::Continuous, &groups(&["a", "b"])),
            "`continuous` needs a continuous protected attribute, and there is none"
        );
        assert_eq!(
            Criterion::Continuous.expression(&continuous),
            Ok(Expression::Spread(vec![LinearForm::rate(Rate::Greater), LinearForm::rate(Rate::Less)]))
        );
    }
}
