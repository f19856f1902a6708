//! Named criteria: each asks that some rates are equal, and is their largest difference. Help texts list them among
//! the words of the goal language.

use self::Criterion::*;
use super::expression::{Expression, LinearForm};
use super::names::Vocabulary;
use crate::rates::Rate;

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
    /// `P[z > z']` and `P[z < z']`.
    ContinuousParity,
}

/// Columns of the lines of help.
const WIDTH: usize = 80;

impl Criterion {
    /// All of them.
    pub const ALL: [Criterion; 8] = [
        EqualOpportunity,
        CrossGroup,
        WithinGroup,
        Marginal,
        StatisticalParity,
        Symmetric,
        Continuous,
        ContinuousParity,
    ];

    /// The row of the table of criteria: its name, its rates and its meaning, all that documents say.
    fn described(self) -> [&'static str; 3] {
        match self {
            CrossGroup => {
                ["cross_group", "A[i > j], i ≠ j", "between better and worse ones of different groups"]
            }
            WithinGroup => ["within_group", "A[i > i]", "between pairs inside each group"],
            Marginal => ["marginal", "A[i > anyone]", "of each group as the better one"],
            EqualOpportunity => {
                ["equal_opportunity", "all A[i > j]", "of all pairs of groups, inside and across"]
            }
            StatisticalParity => {
                let meaning = "of how often one group scores above another, whatever the labels";
                ["statistical_parity", "P[i > j]", meaning]
            }
            Symmetric => ["symmetric", "S[i]", "of the symmetric accuracies"],
            Continuous => ["continuous", "A[z > z'] and A[z < z']", "between A[z > z'] and A[z < z']"],
            ContinuousParity => {
                let meaning = "of how often the one with the higher or the lower attribute scores higher, whatever the labels";
                ["continuous_parity", "P[z > z'] and P[z < z']", meaning]
            }
        }
    }

    /// All of them in the order of reports and help texts.
    pub fn documented() -> [Criterion; 8] {
        let mut criteria = Criterion::ALL;
        criteria[..4].rotate_left(1);
        criteria
    }

    /// What it is called in a goal.
    pub fn name(self) -> &'static str {
        self.described()[0]
    }

    /// The rates that it wants equal.
    pub fn rates(self) -> &'static str {
        self.described()[1]
    }

    /// What it is the largest difference of, in words that go on after "the largest difference of accuracies".
    pub fn meaning(self) -> &'static str {
        self.described()[2]
    }

    /// Whether it compares accuracies, for which there have to be labels.
    pub fn needs_labels(self) -> bool {
        !matches!(self, StatisticalParity | ContinuousParity)
    }

    /// Whether it is about a continuous protected attribute rather than groups.
    pub fn is_continuous(self) -> bool {
        matches!(self, Continuous | ContinuousParity)
    }

    /// The criterion of that name.
    pub fn from_name(name: &str) -> Option<Criterion> {
        Criterion::ALL.into_iter().find(|criterion| criterion.name() == name)
    }

    /// The criterion for these groups, or the reason why they have none.
    pub fn expression(self, vocabulary: &Vocabulary) -> Result<Expression, String> {
        self.applies(vocabulary)?;
        let count = vocabulary.groups.len();
        let pairs = || (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
        let others = || pairs().filter(|(i, j)| i != j);
        let accuracy = |(i, j)| LinearForm::rate(Rate::accuracy(i, j));
        let parity = |(first, second)| LinearForm::rate(Rate::Parity { first, second });
        let forms = match self {
            EqualOpportunity => pairs().map(accuracy).collect(),
            CrossGroup => others().map(accuracy).collect(),
            WithinGroup => (0..count).map(|i| accuracy((i, i))).collect(),
            Marginal => (0..count).map(|i| LinearForm::rate(Rate::row(i))).collect(),
            StatisticalParity => others().map(parity).collect(),
            Symmetric => (0..count).map(symmetric).collect(),
            Continuous => [Rate::Greater, Rate::Less].map(LinearForm::rate).to_vec(),
            ContinuousParity => [Rate::ParityGreater, Rate::ParityLess].map(LinearForm::rate).to_vec(),
        };
        Ok(Expression::Spread(forms))
    }

    fn applies(self, vocabulary: &Vocabulary) -> Result<(), String> {
        let name = self.name();
        match vocabulary.groups.as_slice() {
            _ if self.is_continuous() && vocabulary.continuous => Ok(()),
            _ if self.is_continuous() => {
                Err(format!("`{name}` needs a continuous protected attribute, and there is none"))
            }
            [_, _, ..] => Ok(()),
            _ if vocabulary.continuous => {
                Err(format!("`{name}` compares groups, and the protected attribute is continuous"))
            }
            [only] => Err(format!("`{name}` compares groups, and {only:?} is the only one")),
            [] => Err(format!("`{name}` compares groups, and there are none")),
        }
    }
}

/// `S[i]`, which is `A[i > *] + A[* > i]`.
pub(crate) fn symmetric(group: usize) -> LinearForm {
    LinearForm::new(0.0, [(Rate::row(group), 1.0), (Rate::column(group), 1.0)])
}

/// The words of the goal language on a few lines, each behind two spaces.
pub fn language_help() -> String {
    let mut lines: Vec<String> = Vec::new();
    for name in Criterion::documented().map(Criterion::name) {
        match lines.last_mut() {
            Some(line) if line.len() + 2 + name.len() < WIDTH => *line += &format!("  {name}"),
            _ => lines.push(format!("  {name}")),
        }
    }
    let criteria = lines.join("\n");
    format!(
        "  auc   mse   A[female > male]   A[* > male]   P[a > b]   S[a]\n  \
         A[z > z']   A[z < z']   P[z > z']   P[z < z']\n{criteria}\n  \
         abs(e)  min(e, e)  max(e, e)  + - * numbers ( )  and one of  <=  >="
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rates::Side;

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
        assert_eq!(
            reason(Criterion::ContinuousParity, &groups(&["a", "b"])),
            "`continuous_parity` needs a continuous protected attribute, and there is none"
        );
        let both = [Rate::ParityGreater, Rate::ParityLess].map(LinearForm::rate);
        assert_eq!(
            Criterion::ContinuousParity.expression(&continuous),
            Ok(Expression::Spread(both.to_vec()))
        );
    }

    #[test]
    fn every_criterion_is_in_the_help() {
        let lines = language_help();
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines[2], "  cross_group  within_group  marginal  equal_opportunity  statistical_parity");
        assert_eq!(lines[3], "  symmetric  continuous  continuous_parity");
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn the_guide_has_the_same_criteria() {
        let guide = include_str!("../../../../docs/audit.md");
        let table = guide.split("| criterion |").nth(1).unwrap_or_default();
        let names = table.lines().skip(2).map_while(|line| line.strip_prefix("| `")?.split('`').next());
        assert_eq!(names.collect::<Vec<_>>(), Criterion::ALL.map(Criterion::name));
    }
}
