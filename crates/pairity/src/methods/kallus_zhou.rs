//! Kallus and Zhou 2019: a logistic map of one group's scores.
//!
//! ```text
//! φ(s) = 1 / (1 + exp(−(αt + β))),    t = s / (deviation of the scores)
//! ```
//!
//! One map of all scores would change no order, so it acts on one group while the others keep the plain
//! sigmoid of theirs. The pick misses its constraints least, of all α and β and of each group in turn. Leaving
//! every group alone is a candidate too. Among more than two groups the pick is followed by one pass over the
//! rest: each is given a map of its own if that is better, but for one group, which keeps the plain sigmoid.
//!
//! The comparison of Narasimhan et al. 2020 has α in {0, 0.05, ..., 5} and β in {−1, −2, −5, −10}, which only
//! lowers scores ([`LogisticGrid::Paper`]). Its values are most likely those of the transform on the disadvantaged
//! group, whose members win least often against another group, where the others keep their raw scores
//! ([`LogisticGrid::Likely`]). Beside them stands a finer grid with β of both signs, around the mean of the
//! scores, that becomes finer twice around its best point ([`LogisticGrid::Fine`]).
//!
//! The sigmoid of numbers above 36 is 1 to the last bit: such scores become ties.

use super::tuning::{Adjusted, Judge, Quality, Tuning, first_best};
use super::{Method, MethodError, Stage};
use crate::metrics::values_in_order;
use crate::model::{Adjustment, GroupLogistic};
use crate::names::names;
use crate::rates::{Rate, Ties};
use rayon::prelude::*;

const METHOD: &str = "the method of Kallus and Zhou";

/// Which maps are tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogisticGrid {
    /// α from 0 to 5 and β from −5 to 5, ever finer around the best, for each group.
    #[default]
    Fine,
    /// The grid that the paper prints, for each group.
    Paper,
    /// The paper's likely reading: its grid for the disadvantaged group, and raw scores for the others.
    Likely,
}

names! { LogisticGrid:
    "fine" => Fine, "A fine grid, for each group";
    "paper" => Paper, "The grid that the paper prints, for each group";
    "likely" => Likely, "The paper's likely reading: its grid for the disadvantaged group, and raw scores for the others";
}

/// The method.
pub static KALLUS_ZHOU: Method = Method {
    ranks_only: Some((
        "Kallus & Zhou",
        "its scores lie between 0 and 1, and the goal compares them with labels",
    )),
    check: |tuning| Judge::new(METHOD, tuning).map(drop),
    adjuster: Some(|tuning, options| adjust(tuning, options.logistic)),
    ..Method::new("kallus-zhou", Stage::Scores, "A logistic map of a group's scores (Kallus & Zhou 2019)")
};

/// Tunes the map.
///
/// # Errors
/// Examples without two groups, goals with rates that have no pairs, scores that are not finite.
///
/// ```
/// use pairity::examples::{Columns, Examples, Groups};
/// use pairity::goals::{Vocabulary, parse_constraint, parse_maximize};
/// use pairity::methods::{Tuning, kallus_zhou};
/// use pairity::goals::Problem;
///
/// let groups = Groups::from_names(&["a", "b", "a", "b"]);
/// let labels = [1.0, 1.0, 0.0, 0.0];
/// let examples =
///     Examples::new(Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() })?;
/// let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
/// let fair = parse_constraint("cross_group <= 0.01", &words)?;
/// let problem = Problem::new(&parse_maximize("auc", &words)?, true, &[fair])?;
///
/// // Group b is scored 2 too high.
/// let tuning = Tuning::new(&examples, &[1.0, 3.0, 0.0, 2.0], &problem);
/// let adjusted = kallus_zhou::adjust(&tuning, Default::default())?;
/// assert!(adjusted.meets_goal);
/// assert_eq!(adjusted.objective, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn adjust(tuning: &Tuning, grid: LogisticGrid) -> Result<Adjusted, MethodError> {
    let judge = Judge::new(METHOD, tuning)?;
    let (mean, deviation) = moments(&judge.scores);
    let center = if grid == LogisticGrid::Fine { mean } else { 0.0 };
    let raw = grid == LogisticGrid::Likely;
    let plain = |name: &String| GroupLogistic { name: name.clone(), alpha: 1.0, beta: 0.0, raw };
    let maps: Vec<GroupLogistic> = judge.names.iter().map(plain).collect();
    let mut search = GridSearch { judge, grid, center, scale: deviation, maps };
    search.run();
    let adjustment = Adjustment::Logistic { center, scale: deviation, groups: search.maps };
    Ok(search.judge.result(adjustment))
}

/// Mean and deviation of some scores; a deviation of 1 where all are equal or it is beyond all numbers.
pub(super) fn moments(scores: &[f64]) -> (f64, f64) {
    let n = scores.len() as f64;
    let mean = scores.iter().map(|score| score / n).sum::<f64>();
    let deviation = (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n).sqrt();
    let usable = deviation.is_finite() && deviation >= f64::MIN_POSITIVE;
    (mean, if usable { deviation } else { 1.0 })
}

/// Maps of all groups, one of which after another is tuned.
struct GridSearch<'a> {
    judge: Judge<'a>,
    grid: LogisticGrid,
    center: f64,
    scale: f64,
    maps: Vec<GroupLogistic>,
}

impl GridSearch<'_> {
    fn run(&mut self) {
        if self.grid == LogisticGrid::Likely {
            let group = self.disadvantaged();
            self.maps[group] = self.best_map(group).0;
            return;
        }
        let mut found = self.quality(None);
        let mut best = None;
        for &group in &self.judge.present {
            let (map, quality) = self.best_map(group);
            if quality.order(&found).is_lt() {
                (best, found) = (Some((group, map)), quality);
            }
        }
        let Some((first, map)) = best else { return };
        self.maps[first] = map;
        let mut untouched = self.judge.present.len() - 1;
        let others: Vec<usize> = self.judge.present.iter().copied().filter(|&group| group != first).collect();
        for group in others {
            if untouched == 1 {
                break;
            }
            let (map, quality) = self.best_map(group);
            if quality.order(&found).is_lt() {
                self.maps[group] = map;
                found = quality;
                untouched -= 1;
            }
        }
    }

    /// The group whose members win least often against a worse member of another group; without labels, against
    /// any.
    fn disadvantaged(&self) -> usize {
        let Judge { examples, present, scores, .. } = &self.judge;
        let rate = |group: usize, other: usize| match examples.labels {
            Some(_) => Rate::accuracy(group, other),
            None => Rate::Parity { first: group, second: other },
        };
        let pairs = present.iter().flat_map(|&group| present.iter().map(move |&other| (group, other)));
        let pairs: Vec<(usize, usize)> = pairs.filter(|(group, other)| group != other).collect();
        let rates: Vec<Rate> = pairs.iter().map(|&(group, other)| rate(group, other)).collect();
        let values = values_in_order(examples, scores, &rates, Ties::Half, self.judge.rater.tuning.average);
        let known = pairs.iter().zip(values).filter(|(_, value)| value.is_finite());
        known.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(present[0], |((group, _), _)| *group)
    }

    /// All maps, with one of them replaced.
    fn with(&self, own: Option<(usize, GroupLogistic)>) -> Adjustment {
        let mut groups = self.maps.clone();
        if let Some((group, map)) = own {
            groups[group] = map;
        }
        Adjustment::Logistic { center: self.center, scale: self.scale, groups }
    }

    fn quality(&self, own: Option<(usize, GroupLogistic)>) -> Quality {
        let adjustment = self.with(own);
        self.judge.quality(|group, score| adjustment.value(group, score))
    }

    /// The best map of one group, those of the others given; the first of equals.
    fn best_map(&self, group: usize) -> (GroupLogistic, Quality) {
        let (mut tried, mut qualities) = (Vec::new(), Vec::new());
        let mut look = |points: Vec<[f64; 2]>| {
            let quality = |&point: &[f64; 2]| self.quality(Some((group, self.map(group, point))));
            qualities.par_extend(points.par_iter().map(quality));
            tried.extend(points);
            let best = first_best(&qualities);
            (best, tried[best])
        };
        if self.grid != LogisticGrid::Fine {
            let alphas: Vec<f64> = (0..=100).map(|at| f64::from(at) / 20.0).collect();
            let (best, point) = look(grid(&alphas, &[-1.0, -2.0, -5.0, -10.0]));
            return (self.map(group, point), qualities[best]);
        }
        let (mut best, mut around) = look(grid(&steps(2.5, 0.25, 10), &steps(0.0, 0.5, 10)));
        for finer in [4.0, 16.0] {
            let alphas: Vec<f64> =
                steps(around[0], 0.25 / finer, 3).into_iter().filter(|&alpha| alpha >= 0.0).collect();
            (best, around) = look(grid(&alphas, &steps(around[1], 0.5 / finer, 3)));
        }
        let at =
            self.judge.thrifty(best, &qualities, |at| self.with(Some((group, self.map(group, tried[at])))));
        (self.map(group, tried[at]), qualities[at])
    }

    /// The map of a group at a point of the grid.
    fn map(&self, group: usize, [alpha, beta]: [f64; 2]) -> GroupLogistic {
        GroupLogistic { name: self.maps[group].name.clone(), alpha, beta, raw: false }
    }
}

/// Every α with every β.
fn grid(alphas: &[f64], betas: &[f64]) -> Vec<[f64; 2]> {
    alphas.iter().flat_map(|&alpha| betas.iter().map(move |&beta| [alpha, beta])).collect()
}

/// A number with so many steps to either side.
fn steps(middle: f64, step: f64, side: u32) -> Vec<f64> {
    let side = f64::from(side);
    std::iter::successors(Some(-side), |at| Some(at + 1.0))
        .take_while(|&at| at <= side)
        .map(|at| middle + at * step)
        .collect()
}
