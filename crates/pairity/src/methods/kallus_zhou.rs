//! Kallus and Zhou 2019: a logistic map of one group's scores.
//!
//! ```text
//! φ(s) = 1 / (1 + exp(−(αs + β))),    α in {0, 0.05, ..., 5},    β in {−1, −2, −5, −10}
//! ```
//!
//! One map of all scores would change no order, so it acts on one group while the others keep the plain
//! sigmoid of their scores. The pick misses its constraints least, of all α and β and of each group in
//! turn. Leaving every group alone is a candidate too. Among more than two groups the pick is followed by
//! one pass over the rest: each is given a map of its own if that is better, but for one group, which
//! keeps the plain sigmoid.
//!
//! The sigmoid of scores above 36 is 1 to the last bit: such scores become ties.

use super::tuning::{Adjusted, Judge, Quality, Tuning, first_best};
use super::{Method, MethodError, Stage};
use crate::model::{Adjustment, GroupLogistic, sigmoid};
use rayon::prelude::*;

const METHOD: &str = "the method of Kallus and Zhou";

/// α is a multiple of 1/20, up to 5.
const ALPHAS: usize = 101;

const BETAS: [f64; 4] = [-1.0, -2.0, -5.0, -10.0];

/// The method.
pub static KALLUS_ZHOU: Method = Method {
    ranks_only: Some((
        "Kallus & Zhou",
        "its scores lie between 0 and 1, and the goal compares them with labels",
    )),
    adjuster: Some(|tuning, _| adjust(tuning)),
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
/// let adjusted = kallus_zhou::adjust(&tuning)?;
/// assert!(adjusted.meets_goal);
/// assert_eq!(adjusted.objective, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn adjust(tuning: &Tuning) -> Result<Adjusted, MethodError> {
    let judge = Judge::new(METHOD, tuning)?;
    let mut maps = plain(&judge);
    let mut best = None;
    let mut found = judge.quality(|_, score| sigmoid(score));
    for &group in &judge.present {
        let (map, quality) = best_map(&judge, &maps, group);
        if quality.order(&found).is_lt() {
            (best, found) = (Some((group, map)), quality);
        }
    }
    if let Some((first, map)) = best {
        maps[first] = map;
        let mut untouched = judge.present.len() - 1;
        for &group in judge.present.iter().filter(|&&group| group != first) {
            if untouched == 1 {
                break;
            }
            let (map, quality) = best_map(&judge, &maps, group);
            if quality.order(&found).is_lt() {
                maps[group] = map;
                found = quality;
                untouched -= 1;
            }
        }
    }
    Ok(judge.result(Adjustment::Logistic { groups: maps }))
}

/// Tunes the map of one given group, the best point of the grid whatever the others would give; all other
/// groups keep the plain sigmoid.
///
/// # Errors
/// Those of [`adjust`], and a group without examples.
pub fn adjust_group(tuning: &Tuning, group: &str) -> Result<Adjusted, MethodError> {
    let judge = Judge::new(METHOD, tuning)?;
    let Some(&group) = judge.present.iter().find(|&&at| judge.names[at] == group) else {
        return Err(MethodError::does_not_apply(METHOD, format!("there are no examples of group {group:?}")));
    };
    let mut maps = plain(&judge);
    maps[group] = best_map(&judge, &maps, group).0;
    Ok(judge.result(Adjustment::Logistic { groups: maps }))
}

/// The plain sigmoid for every group.
fn plain(judge: &Judge) -> Vec<GroupLogistic> {
    let plain = |name: &String| GroupLogistic { name: name.clone(), alpha: 1.0, beta: 0.0 };
    judge.names.iter().map(plain).collect()
}

/// The best point of the grid for one group, the maps of the others given; the first of equals.
fn best_map(judge: &Judge, maps: &[GroupLogistic], group: usize) -> (GroupLogistic, Quality) {
    let candidate = |at: usize| GroupLogistic {
        name: maps[group].name.clone(),
        alpha: (at / BETAS.len()) as f64 / 20.0,
        beta: BETAS[at % BETAS.len()],
    };
    let qualities: Vec<Quality> = (0..ALPHAS * BETAS.len())
        .into_par_iter()
        .map(|at| {
            let own = candidate(at);
            judge.quality(|code, score| match maps.get(code) {
                Some(_) if code == group => own.value(score),
                Some(map) => map.value(score),
                None => sigmoid(score),
            })
        })
        .collect();
    let best = first_best(&qualities);
    (candidate(best), qualities[best])
}
