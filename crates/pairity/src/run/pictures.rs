//! Rows of two features, for the picture of a plane with the line of each linear scorer.

use crate::examples::Examples;
use crate::learners::{Architecture, Features, GroupUse, Linear};
use crate::methods::Fitted;

/// Rows of one group and label that a picture shows at most.
const SHOWN: usize = 120;

/// A row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanePoint {
    /// Its two features.
    pub x: [f64; 2],
    /// Its group, if it has one.
    pub group: Option<usize>,
    /// Whether its label is above the middle of all labels.
    pub high: bool,
}

/// A linear scorer of two features.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaneLine {
    /// What it is called.
    pub name: String,
    /// What each feature counts.
    pub weights: [f64; 2],
}

/// Rows of two features, and linear scorers of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// Names of the features.
    pub features: [String; 2],
    /// Names of the groups.
    pub groups: Vec<String>,
    /// Some rows.
    pub points: Vec<PlanePoint>,
    /// The scorers.
    pub lines: Vec<PlaneLine>,
}

/// The plane of a model. Scores that differ by group or are changed afterwards are no planes.
pub(super) fn of_model(
    scorer: &Architecture,
    fitted: &Fitted,
    names: &[String],
    examples: &Examples,
    features: &Features,
) -> Option<Plane> {
    let (Architecture::Linear(Linear { groups: GroupUse::Blind, .. }), None) = (scorer, &fitted.after) else {
        return None;
    };
    let lines = fitted.trained.components.iter().enumerate().filter_map(|(place, component)| {
        let &[a, b, ..] = &component.parameters[..] else { return None };
        let name = format!("scorer {} ({:.0}%)", place + 1, 100.0 * component.probability);
        Some(PlaneLine { name, weights: [a, b] })
    });
    plane(names, examples, features, lines.collect())
}

/// Rows of two features, some of every group and label; none if there are more or fewer features.
pub fn plane(
    names: &[String],
    examples: &Examples,
    features: &Features,
    lines: Vec<PlaneLine>,
) -> Option<Plane> {
    let ([first, second], Some(labels)) = (names, examples.example_labels()) else { return None };
    let (low, high) =
        labels.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)));
    let middle = low / 2.0 + high / 2.0;
    let (codes, groups) = (examples.codes_by_row(), examples.groups());
    // Of each group, and of no group, those with lower and with higher labels.
    let mut kinds: Vec<Vec<PlanePoint>> = vec![Vec::new(); 2 * (groups.len() + 1)];
    for (&row, &label) in examples.example_rows().iter().zip(labels) {
        let group = Some(usize::from(codes[row as usize])).filter(|&code| code < groups.len());
        let [x, y] = features.row(row as usize)[..] else { return None };
        let high = label > middle;
        let kind = &mut kinds[2 * group.unwrap_or(groups.len()) + usize::from(high)];
        kind.push(PlanePoint { x: [x, y], group, high });
    }
    let some = |kind: Vec<PlanePoint>| {
        let step = kind.len().div_ceil(SHOWN).max(1);
        kind.into_iter().step_by(step)
    };
    let points = kinds.into_iter().flat_map(some).collect();
    Some(Plane { features: [first.clone(), second.clone()], groups: groups.to_vec(), points, lines })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Columns, Groups};

    #[test]
    fn rare_groups_are_shown_beside_large_ones() {
        let n = 2000;
        let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 2)).collect();
        let names: Vec<&str> = (0..n)
            .map(|i| {
                if i < 10 {
                    "rare"
                } else if i < 20 {
                    ""
                } else {
                    "common"
                }
            })
            .collect();
        let groups = Groups::from_names(&names);
        let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
        let examples = Examples::new(columns).unwrap();
        let values = (0..n).flat_map(|i| [f64::from(i), 1.0]).collect();
        let features = Features::new(n as usize, 2, values).unwrap();
        let names = ["x".to_owned(), "y".to_owned()];
        let plane = plane(&names, &examples, &features, Vec::new()).unwrap();
        assert_eq!(plane.groups, ["common", "rare"]);
        let count = |group, high| plane.points.iter().filter(|p| p.group == group && p.high == high).count();
        for high in [false, true] {
            assert_eq!((count(Some(1), high), count(None, high)), (5, 5));
            assert!((SHOWN / 2..=SHOWN).contains(&count(Some(0), high)));
        }
        assert!(plane.points.iter().all(|p| p.high == (p.x[0] % 2.0 == 1.0)));
        assert!(super::plane(&names[..1], &examples, &features, Vec::new()).is_none());
    }
}
