//! Boosted stumps that live outside of the engine: it sees their scores alone.

use crate::{Outcome, points};
use pairity::goals::{Problem, parse_constraint, parse_maximize};
use pairity::solvers::{ScorePlayer, ScoreSettings};
use pairity_experiments::dataset::Dataset;

/// Thresholds that are tried for each feature.
const THRESHOLDS: usize = 32;

/// What a round adds.
const RATE: f64 = 0.1;

/// Rounds from one snapshot to the next.
const EVERY: usize = 5;

/// One feature, one threshold and what is added below and above.
struct Stump {
    feature: usize,
    threshold: f64,
    steps: [f64; 2],
}

impl Stump {
    fn value(&self, x: [f64; 2]) -> f64 {
        self.steps[usize::from(x[self.feature] > self.threshold)]
    }
}

/// All stumps, and the mixture of boosters on the way that serves the goal best.
pub struct Boosted {
    stumps: Vec<Stump>,
    members: Vec<(usize, f64)>,
    /// Whether that mixture meets the goal on the training rows.
    pub met: bool,
}

impl Boosted {
    /// The score of the booster after all rounds.
    pub fn last(&self, x: [f64; 2]) -> f64 {
        self.stumps.iter().map(|stump| stump.value(x)).sum()
    }

    /// How many boosters the mixture draws from.
    pub fn members(&self) -> usize {
        self.members.len()
    }
}

/// Boosts stumps: in each round one that descends the slopes best, where `parts` says what a row of some slope and
/// curvature adds to the numerator and the denominator of a step.
///
/// # Errors
/// A goal that does not fit the rows.
pub fn boost(
    data: &Dataset,
    subject_to: Option<&str>,
    rounds: usize,
    parts: &dyn Fn(f64, f64) -> (f64, f64),
) -> Outcome<Boosted> {
    let examples = data.examples()?;
    let words = examples.vocabulary();
    let constraints = subject_to.map(|text| parse_constraint(text, &words)).transpose()?;
    let problem = Problem::new(&parse_maximize("auc", &words)?, true, constraints.as_slice())?;
    let mut player = ScorePlayer::new(problem, examples, &ScoreSettings::default())?;
    let points = points(data);
    let candidates = candidates(&points);
    let (mut scores, mut stumps) = (vec![0.0; points.len()], Vec::new());
    for round in 1..=rounds {
        let step = player.step(&scores)?;
        let rows: Vec<(f64, f64)> =
            step.gradient.iter().zip(&step.curvature).map(|(&slope, &bend)| parts(slope, bend)).collect();
        let stump = best(&candidates, &points, &rows);
        scores.iter_mut().zip(&points).for_each(|(score, &x)| *score += stump.value(x));
        stumps.push(stump);
        if round % EVERY == 0 {
            player.snapshot(Some(&scores))?;
        }
    }
    let reached = player.shrink()?;
    let members = reached.members.iter().map(|&(place, p)| (EVERY * (place + 1), p)).collect();
    Ok(Boosted { stumps, members, met: reached.violation == 0.0 })
}

/// Features and thresholds at quantiles of the rows.
fn candidates(points: &[[f64; 2]]) -> Vec<(usize, f64)> {
    let mut all = Vec::new();
    for feature in 0..2 {
        let mut values: Vec<f64> = points.iter().map(|x| x[feature]).collect();
        values.sort_by(f64::total_cmp);
        all.extend((1..THRESHOLDS).map(|k| (feature, values[k * values.len() / THRESHOLDS])));
    }
    all
}

/// The stump whose step promises the largest descent, Σ numerator² / denominator over its sides.
fn best(candidates: &[(usize, f64)], points: &[[f64; 2]], rows: &[(f64, f64)]) -> Stump {
    let sums = |&(feature, threshold): &(usize, f64)| {
        let mut sums = [(0.0, 1e-12); 2];
        for (x, row) in points.iter().zip(rows) {
            let side = &mut sums[usize::from(x[feature] > threshold)];
            *side = (side.0 + row.0, side.1 + row.1);
        }
        sums
    };
    let gain = |sums: &[(f64, f64); 2]| sums.iter().map(|(top, bottom)| top * top / bottom).sum::<f64>();
    let mut found = (f64::NEG_INFINITY, Stump { feature: 0, threshold: 0.0, steps: [0.0; 2] });
    for candidate in candidates {
        let sums = sums(candidate);
        if gain(&sums) > found.0 {
            let steps = sums.map(|(top, bottom)| -RATE * top / bottom);
            found = (gain(&sums), Stump { feature: candidate.0, threshold: candidate.1, steps });
        }
    }
    found.1
}
