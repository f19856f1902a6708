//! What post-processing leaves behind: a map of scores for each group.

use super::{ModelError, ModelGroups};
use crate::examples::{Groups, check_column};
use serde::{Deserialize, Serialize};

/// A map of scores for each group, known by the groups' names.
///
/// No map turns two scores of a group around. Examples of no group, or of one that the adjustment does not
/// know, are mapped as a group would be that nothing was changed for.
///
/// ```
/// use pairity::examples::Groups;
/// use pairity::model::{Adjustment, GroupOffset};
///
/// let offset = |name: &str, offset| GroupOffset { name: name.into(), offset };
/// let adjustment = Adjustment::Offsets { groups: vec![offset("a", 0.0), offset("b", 0.5)] };
/// let applied = adjustment.apply(&[1.0, 1.0, 1.0], Some(&Groups::from_names(&["b", "a", "c"])))?;
/// assert_eq!((applied.scores, applied.unknown), (vec![1.5, 1.0, 1.0], 1));
/// # Ok::<(), pairity::model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Adjustment {
    /// s + offset.
    Offsets {
        /// One for each group.
        groups: Vec<GroupOffset>,
    },
    /// A piecewise linear curve.
    Curves {
        /// One for each group.
        groups: Vec<GroupCurve>,
    },
    /// 1 / (1 + exp(−(αt + β))) of t = (s − center) / scale; the plain sigmoid, α = 1 and β = 0, for examples of
    /// no group, or t itself where a group keeps it.
    Logistic {
        /// What is subtracted from all scores.
        #[serde(default)]
        center: f64,
        /// What they are divided by; above 0.
        #[serde(default = "one")]
        scale: f64,
        /// One for each group.
        groups: Vec<GroupLogistic>,
    },
    /// s − slope · z, with z a continuous protected attribute. It knows no groups, and rows without z keep their
    /// scores.
    Attribute {
        /// What is subtracted for each unit of the attribute.
        slope: f64,
    },
    /// s − g(z), with g a monotone function of a continuous protected attribute z. It knows no groups either, and rows
    /// without z keep their scores.
    AttributeCurve {
        /// Of g.
        #[serde(flatten)]
        knots: Knots,
    },
}

/// A monotone function: linear between knots, and constant beyond the first and the last. Without knots it is 0.
///
/// ```
/// use pairity::model::Knots;
/// let knots = Knots { x: vec![0.0, 2.0], y: vec![1.0, 5.0] };
/// assert_eq!([-1.0, 0.5, 3.0].map(|z| knots.value(z)), [1.0, 2.0, 5.0]);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Knots {
    /// Where knots are, rising.
    pub x: Vec<f64>,
    /// Values there, which rise or fall throughout, or stay.
    pub y: Vec<f64>,
}

impl Knots {
    /// Of the value at the first, and what is added from each to the next.
    pub(crate) fn of_steps(x: &[f64], steps: impl Iterator<Item = f64>) -> Knots {
        let from = |sum: &mut f64, step: f64| {
            *sum = (*sum + step).clamp(f64::MIN, f64::MAX);
            Some(*sum)
        };
        Knots { x: x.to_vec(), y: steps.scan(0.0, from).collect() }
    }

    /// The value at a number; always finite.
    pub fn value(&self, z: f64) -> f64 {
        let knots = self.x.len().min(self.y.len());
        let at = self.x[..knots].partition_point(|&x| x < z);
        match at {
            _ if knots == 0 => 0.0,
            0 => self.y[0],
            at if at == knots => self.y[at - 1],
            // Halves: the distance of two numbers may be too large for one.
            at => {
                let part = (0.5 * z - 0.5 * self.x[at - 1]) / (0.5 * self.x[at] - 0.5 * self.x[at - 1]);
                let (low, high) = (self.y[at - 1].min(self.y[at]), self.y[at - 1].max(self.y[at]));
                let value = 2.0 * (0.5 * self.y[at - 1] + part * (0.5 * self.y[at] - 0.5 * self.y[at - 1]));
                if z == self.x[at] { self.y[at] } else { value.max(low).min(high) }
            }
        }
    }

    /// Scores less the value of each row's attribute; where that is missing, as they are.
    pub(crate) fn less(&self, scores: &[f64], attribute: &[f64]) -> Vec<f64> {
        less_by(scores, attribute, |z| self.value(z))
    }

    /// What is wrong with the knots, if anything.
    fn fault(&self) -> Option<&'static str> {
        let Knots { x, y } = self;
        let monotone = y.is_sorted() || y.is_sorted_by(|a, b| a >= b);
        let faults = [
            (x.len() != y.len(), "there are not as many values as knots"),
            (x.iter().chain(y).any(|value| !value.is_finite()), "a knot is not a finite number"),
            (!x.is_sorted_by(|a, b| a < b), "knots do not rise"),
            (!monotone, "values both rise and fall"),
        ];
        faults.iter().find(|(found, _)| *found).map(|(_, fault)| *fault)
    }
}

/// Scores less a multiple of a continuous attribute; where it is missing, as they are.
pub(crate) fn less_attribute(scores: &[f64], attribute: &[f64], slope: f64) -> Vec<f64> {
    less_by(scores, attribute, |z| slope * z)
}

fn less_by(scores: &[f64], attribute: &[f64], of: impl Fn(f64) -> f64) -> Vec<f64> {
    let less = |(&score, &z): (&f64, &f64)| match z.is_finite() {
        true => (score - of(z)).clamp(f64::MIN, f64::MAX),
        false => score,
    };
    scores.iter().zip(attribute).map(less).collect()
}

/// What is added to the scores of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupOffset {
    /// The group's name.
    pub name: String,
    /// What is added.
    pub offset: f64,
}

/// The curve of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupCurve {
    /// The group's name.
    pub name: String,
    /// Its map of scores.
    #[serde(flatten)]
    pub curve: Curve,
}

/// The logistic map of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupLogistic {
    /// The group's name.
    pub name: String,
    /// α, at least 0.
    pub alpha: f64,
    /// β.
    pub beta: f64,
    /// Whether the group keeps its scores in place of a map.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw: bool,
}

/// The scale of scores that are left as they are.
fn one() -> f64 {
    1.0
}

/// A piecewise linear map through knots, which goes on with slope 1 beyond the first and the last.
///
/// ```
/// use pairity::model::Curve;
/// let curve = Curve { x: vec![0.0, 1.0], y: vec![0.0, 4.0] };
/// assert_eq!([-1.0, 0.25, 3.0].map(|score| curve.value(score)), [-1.0, 1.0, 6.0]);
/// assert_eq!(Curve::default().value(0.3), 0.3);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Curve {
    /// Scores at the knots, rising. Without knots the curve changes nothing.
    pub x: Vec<f64>,
    /// Values at the knots, not falling.
    pub y: Vec<f64>,
}

impl Curve {
    /// Through these knots, with values that fall behind the highest before them raised to it.
    pub(crate) fn rising(x: Vec<f64>, mut y: Vec<f64>) -> Curve {
        let mut highest = f64::MIN;
        for y in &mut y {
            highest = highest.max(y.clamp(f64::MIN, f64::MAX));
            *y = highest;
        }
        Curve { x, y }
    }

    /// The value at a score; always a finite number.
    pub fn value(&self, score: f64) -> f64 {
        let knots = self.x.len().min(self.y.len());
        let at = self.x[..knots].partition_point(|&x| x < score);
        let value = match at {
            _ if knots == 0 => score,
            0 => self.y[0] + (score - self.x[0]),
            at if at == knots => self.y[at - 1] + (score - self.x[at - 1]),
            at => {
                let (x, y) = ([self.x[at - 1], self.x[at]], [self.y[at - 1], self.y[at]]);
                // Halves: the distance of two numbers may be too large for one.
                let part = (0.5 * score - 0.5 * x[0]) / (0.5 * x[1] - 0.5 * x[0]);
                let value = 2.0 * (0.5 * y[0] + part * (0.5 * y[1] - 0.5 * y[0]));
                if score == x[1] { y[1] } else { value.max(y[0]).min(y[1]) }
            }
        };
        value.clamp(f64::MIN, f64::MAX)
    }

    /// What is wrong with the knots, if anything.
    fn fault(&self) -> Option<String> {
        let Curve { x, y } = self;
        if x.len() != y.len() {
            return Some(format!("a curve has {} scores and {} values", x.len(), y.len()));
        }
        let faults = [
            (x.iter().chain(y).any(|value| !value.is_finite()), "a knot of a curve is not a finite number"),
            (!x.is_sorted_by(|a, b| a < b), "the scores of a curve do not rise from knot to knot"),
            (!y.is_sorted(), "the values of a curve fall"),
        ];
        faults.iter().find(|(found, _)| *found).map(|(_, fault)| (*fault).to_owned())
    }
}

impl GroupLogistic {
    pub(crate) fn value(&self, score: f64) -> f64 {
        if self.raw { score } else { sigmoid(self.alpha * score + self.beta) }
    }
}

pub(crate) fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

/// Adjusted scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// One for each row.
    pub scores: Vec<f64>,
    /// How many rows are of groups that the adjustment does not know.
    pub unknown: usize,
}

impl Adjustment {
    /// Whether it goes by a continuous attribute, and not by groups.
    pub fn is_by_attribute(&self) -> bool {
        matches!(self, Adjustment::Attribute { .. } | Adjustment::AttributeCurve { .. })
    }

    /// The groups that it knows, in its order.
    pub fn groups(&self) -> Vec<&str> {
        match self {
            Adjustment::Offsets { groups } => groups.iter().map(|group| group.name.as_str()).collect(),
            Adjustment::Curves { groups } => groups.iter().map(|group| group.name.as_str()).collect(),
            Adjustment::Logistic { groups, .. } => groups.iter().map(|group| group.name.as_str()).collect(),
            Adjustment::Attribute { .. } | Adjustment::AttributeCurve { .. } => Vec::new(),
        }
    }

    /// Adjusts the scores of a table's rows by their groups, or by a continuous attribute, NaN where a row has
    /// none.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply), and no attribute where one is needed.
    pub fn apply_by(
        &self,
        scores: &[f64],
        groups: Option<&Groups>,
        attribute: Option<&[f64]>,
    ) -> Result<Applied, ModelError> {
        let Some(attribute) = attribute.filter(|_| self.is_by_attribute()) else {
            return self.apply(scores, groups);
        };
        self.check()?;
        check_column("scores", Some(scores), attribute.len(), f64::is_finite)?;
        let scores = match self {
            Adjustment::AttributeCurve { knots } => knots.less(scores, attribute),
            Adjustment::Attribute { slope } => less_attribute(scores, attribute, *slope),
            _ => scores.to_vec(),
        };
        Ok(Applied { scores, unknown: 0 })
    }

    /// Adjusts the scores of a table's rows.
    ///
    /// # Errors
    /// No groups, not as many of them as scores, scores that are not finite, or an adjustment that
    /// [`check`](Self::check) refuses.
    pub fn apply(&self, scores: &[f64], groups: Option<&Groups>) -> Result<Applied, ModelError> {
        self.check()?;
        if self.is_by_attribute() {
            return Err(ModelError::NoAttribute);
        }
        let groups = groups.ok_or(ModelError::NoGroups)?;
        check_column("scores", Some(scores), groups.len(), f64::is_finite)?;
        let names = self.groups().into_iter().map(str::to_owned).collect();
        let (codes, unknown) = ModelGroups { columns: Vec::new(), names }.codes(groups);
        let scores = scores.iter().zip(codes).map(|(&score, code)| self.value(usize::from(code), score));
        Ok(Applied { scores: scores.collect(), unknown })
    }

    /// Checks what a file may have damaged.
    ///
    /// # Errors
    /// A group named twice, numbers that are not finite, a map that falls.
    pub fn check(&self) -> Result<(), ModelError> {
        let damaged = |cause| Err(ModelError::Damaged(cause));
        if let Adjustment::Attribute { slope } = self
            && !slope.is_finite()
        {
            return damaged(format!("the slope is {slope}"));
        }
        if let Adjustment::AttributeCurve { knots } = self
            && let Some(fault) = knots.fault()
        {
            return damaged(format!("in the curve of the attribute, {fault}"));
        }
        let mut names = self.groups();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return damaged(format!("group {:?} is named twice", twice[0]));
        }
        if let Adjustment::Logistic { center, scale, .. } = self
            && !(center.is_finite() && *scale > 0.0 && scale.is_finite())
        {
            return damaged(format!("the center is {center} and the scale is {scale}"));
        }
        let fault = match self {
            Adjustment::Offsets { groups } => groups
                .iter()
                .find(|group| !group.offset.is_finite())
                .map(|group| (&group.name, format!("its offset is {}", group.offset))),
            Adjustment::Curves { groups } => {
                groups.iter().find_map(|group| group.curve.fault().map(|fault| (&group.name, fault)))
            }
            Adjustment::Logistic { groups, .. } => groups
                .iter()
                .find(|group| !(group.alpha >= 0.0 && group.alpha.is_finite() && group.beta.is_finite()))
                .map(|group| (&group.name, format!("α is {} and β is {}", group.alpha, group.beta))),
            Adjustment::Attribute { .. } | Adjustment::AttributeCurve { .. } => None,
        };
        match fault {
            Some((name, fault)) => damaged(format!("in group {name:?}, {fault}")),
            None => Ok(()),
        }
    }

    /// The adjusted score of an example of the group at an index; beyond the last, of no group.
    pub(crate) fn value(&self, group: usize, score: f64) -> f64 {
        match self {
            Adjustment::Offsets { groups } => {
                let offset = groups.get(group).map_or(0.0, |group| group.offset);
                (score + offset).clamp(f64::MIN, f64::MAX)
            }
            Adjustment::Curves { groups } => {
                groups.get(group).map_or(score, |group| group.curve.value(score))
            }
            Adjustment::Logistic { center, scale, groups } => {
                let score = ((score - center) / scale).clamp(f64::MIN, f64::MAX);
                match groups.get(group) {
                    Some(group) => group.value(score),
                    None if groups.iter().any(|group| group.raw) => score,
                    None => sigmoid(score),
                }
            }
            // It has no groups to go by.
            Adjustment::Attribute { .. } | Adjustment::AttributeCurve { .. } => score,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all() -> [Adjustment; 3] {
        let name = || "b".to_owned();
        [
            Adjustment::Offsets { groups: vec![GroupOffset { name: name(), offset: 0.25 }] },
            Adjustment::Curves {
                groups: vec![GroupCurve {
                    name: name(),
                    curve: Curve { x: vec![0.0, 1.0], y: vec![2.0, 4.0] },
                }],
            },
            Adjustment::Logistic {
                center: 0.0,
                scale: 1.0,
                groups: vec![GroupLogistic { name: name(), alpha: 0.5, beta: -1.0, raw: false }],
            },
        ]
    }

    #[test]
    fn groups_are_known_by_name_whatever_their_codes() {
        // "b" has code 1 in the first table and 0 in the second.
        let tables = [Groups::from_names(&["a", "b", ""]), Groups::from_names(&["c", "b", ""])];
        let plain = sigmoid(0.5);
        let expected = [[0.5, 0.75, 0.5], [0.5, 3.0, 0.5], [plain, sigmoid(-0.75), plain]];
        for (adjustment, expected) in all().iter().zip(expected) {
            for groups in &tables {
                let applied = adjustment.apply(&[0.5; 3], Some(groups)).unwrap();
                assert_eq!((applied.scores.as_slice(), applied.unknown), (&expected[..], 1));
            }
        }
    }

    #[test]
    fn files_give_back_the_same_adjustment() {
        for adjustment in all() {
            let text = serde_json::to_string(&adjustment).unwrap();
            assert_eq!(serde_json::from_str::<Adjustment>(&text).unwrap(), adjustment, "{text}");
        }
        let text = serde_json::to_string(&all()[0]).unwrap();
        assert_eq!(text, r#"{"kind":"offsets","groups":[{"name":"b","offset":0.25}]}"#);
        let text = serde_json::to_string(&all()[1]).unwrap();
        assert_eq!(text, r#"{"kind":"curves","groups":[{"name":"b","x":[0.0,1.0],"y":[2.0,4.0]}]}"#);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let groups = Groups::from_names(&["a", "b"]);
        let [mut offsets, _, mut logistic] = all();
        assert_eq!(offsets.apply(&[0.0], None), Err(ModelError::NoGroups));
        assert!(matches!(offsets.apply(&[0.0], Some(&groups)), Err(ModelError::Examples(_))));
        assert!(matches!(offsets.apply(&[0.0, f64::NAN], Some(&groups)), Err(ModelError::Examples(_))));
        if let (Adjustment::Offsets { groups: offsets }, Adjustment::Logistic { groups: logistic, .. }) =
            (&mut offsets, &mut logistic)
        {
            offsets.push(offsets[0].clone());
            logistic[0].alpha = -1.0;
        }
        let cause = |adjustment: &Adjustment| adjustment.check().unwrap_err().to_string();
        assert!(cause(&offsets).contains("group \"b\" is named twice"));
        assert!(cause(&logistic).contains("in group \"b\", α is -1 and β is -1"));
    }

    #[test]
    fn logistic_maps_are_of_scaled_scores_which_a_group_may_keep() {
        let text = r#"{"kind":"logistic","scale":2.0,"groups":[{"name":"b","alpha":0.5,"beta":-1.0},{"name":"a","alpha":1.0,"beta":0.0,"raw":true}]}"#;
        let adjustment: Adjustment = serde_json::from_str(text).unwrap();
        let groups = Groups::from_names(&["a", "b", "c"]);
        let applied = adjustment.apply(&[6.0; 3], Some(&groups)).unwrap();
        assert_eq!(applied.scores, [3.0, sigmoid(0.5), 3.0]);
        let wrong: Adjustment = serde_json::from_str(&text.replace("2.0", "0.0")).unwrap();
        assert!(wrong.check().unwrap_err().to_string().contains("the scale is 0"));
    }

    #[test]
    fn a_curve_of_the_attribute_is_subtracted_and_damage_is_named() {
        let text = r#"{"kind":"attribute_curve","x":[0.0,1.0,3.0],"y":[0.0,-2.0,-3.0]}"#;
        let adjustment: Adjustment = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&adjustment).unwrap(), text);
        let z = [-5.0, 0.5, 2.0, 9.0, f64::NAN];
        let applied = adjustment.apply_by(&[1.0; 5], None, Some(&z)).unwrap();
        assert_eq!(applied.scores, [1.0, 2.0, 3.5, 4.0, 1.0]);
        assert_eq!(adjustment.apply_by(&[1.0], None, None), Err(ModelError::NoAttribute));
        for (x, y, cause) in [
            (&[0.0, 0.0][..], &[0.0, 1.0][..], "knots do not rise"),
            (&[0.0, 1.0, 2.0], &[0.0, 1.0, 0.0], "values both rise and fall"),
            (&[0.0], &[f64::NAN], "not a finite number"),
            (&[0.0], &[], "not as many values"),
        ] {
            let knots = Knots { x: x.to_vec(), y: y.to_vec() };
            let error = Adjustment::AttributeCurve { knots }.check().unwrap_err().to_string();
            assert!(error.contains(cause), "{error}");
        }
        let edge = Knots { x: vec![f64::MIN, f64::MAX], y: vec![f64::MIN, f64::MAX] };
        assert!([f64::MIN, -1.0, 0.0, f64::MAX].iter().all(|&z| edge.value(z).is_finite()));
    }

    #[test]
    fn scores_at_the_edge_stay_finite() {
        let groups = Groups::from_names(&["b", "b"]);
        for adjustment in all() {
            let applied = adjustment.apply(&[f64::MAX, f64::MIN], Some(&groups)).unwrap();
            assert!(applied.scores.iter().all(|score| score.is_finite()), "{applied:?}");
        }
    }

    #[test]
    fn knots_are_met_exactly_and_slope_one_goes_on() {
        let curve = Curve { x: vec![0.1, 0.3, 0.7], y: vec![5.0, 5.0, 6.0] };
        assert_eq!([0.1, 0.3, 0.7].map(|x| curve.value(x)), [5.0, 5.0, 6.0]);
        assert_eq!(curve.value(0.2), 5.0);
        assert!((curve.value(0.5) - 5.5).abs() < 1e-15);
        assert!((curve.value(0.0) - 4.9).abs() < 1e-15);
        assert_eq!(curve.value(1.7), 7.0);
    }

    #[test]
    fn damaged_knots_are_named() {
        let fault = |x: &[f64], y: &[f64]| Curve { x: x.to_vec(), y: y.to_vec() }.fault().unwrap();
        assert_eq!(fault(&[1.0], &[]), "a curve has 1 scores and 0 values");
        assert_eq!(fault(&[f64::NAN], &[0.0]), "a knot of a curve is not a finite number");
        assert_eq!(fault(&[1.0, 1.0], &[0.0, 1.0]), "the scores of a curve do not rise from knot to knot");
        assert_eq!(fault(&[1.0, 2.0], &[1.0, 0.0]), "the values of a curve fall");
    }

    proptest! {
        #[test]
        fn a_curve_never_falls_and_stays_finite(
            mut x in prop::collection::vec(edge(), 0..6),
            mut y in prop::collection::vec(edge(), 6),
            mut scores in prop::collection::vec(edge(), 2..30),
        ) {
            x.sort_by(f64::total_cmp);
            x.dedup();
            y.sort_by(f64::total_cmp);
            y.truncate(x.len());
            let curve = Curve { x, y };
            prop_assert_eq!(curve.fault(), None);
            scores.sort_by(f64::total_cmp);
            let values: Vec<f64> = scores.iter().map(|&score| curve.value(score)).collect();
            prop_assert!(values.is_sorted() && values.iter().all(|value| value.is_finite()), "{:?}", values);
        }
    }

    fn edge() -> impl Strategy<Value = f64> {
        prop_oneof![
            -3.0..3.0f64,
            prop::sample::select(vec![0.0, -0.0, 5e-324, 1e308, -1e308, f64::MAX, f64::MIN, 1e-300])
        ]
    }
}
