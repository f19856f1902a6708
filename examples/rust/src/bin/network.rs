//! A network of one's own with a pairwise goal: what the PyTorch bridge does in Python.

use pairity::goals::{Problem, parse_constraint, parse_maximize};
use pairity::solvers::{ScorePlayer, ScoreSettings};
use pairity_examples::{Outcome, halves, points, scores, show};

/// Hidden units.
const HIDDEN: usize = 10;

/// Weights of a network of one hidden layer: for each unit two weights, a bias, and what it adds to the score.
type Network = [[f64; 4]; HIDDEN];

fn score(network: &Network, [x, y]: [f64; 2]) -> f64 {
    network.iter().map(|[a, b, bias, out]| out * (a * x + b * y + bias).tanh()).sum()
}

/// The gradient by the weights, from the slope of the loss by each score.
fn pull_back(network: &Network, points: &[[f64; 2]], slopes: &[f64]) -> Network {
    let mut gradient = [[0.0; 4]; HIDDEN];
    for (&[x, y], &slope) in points.iter().zip(slopes).filter(|(_, slope)| **slope != 0.0) {
        for (&[a, b, bias, out], gradient) in network.iter().zip(&mut gradient) {
            let t = (a * x + b * y + bias).tanh();
            let inner = slope * out * (1.0 - t * t);
            let own = [inner * x, inner * y, inner, slope * t];
            gradient.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
    }
    gradient
}

fn main() -> Outcome {
    let (train, test) = halves(1000);
    let examples = train.examples()?;
    let words = examples.vocabulary();
    let fair = parse_constraint("cross_group <= 0.01", &words)?;
    let problem = Problem::new(&parse_maximize("auc", &words)?, true, &[fair])?;
    let settings = ScoreSettings { step_size: 0.05, ..ScoreSettings::default() };
    let mut player = ScorePlayer::new(problem, examples, &settings)?;
    let points = points(&train);
    let start = |unit: usize, weight: usize| ((4 * unit + weight + 1) as f64 * 2.4).sin() / 2.0;
    let mut network: Network = std::array::from_fn(|unit| std::array::from_fn(|weight| start(unit, weight)));
    let mut kept = Vec::new();
    for step in 1..=400 {
        let now = scores(&train, |x| score(&network, x));
        let found = player.step(&now)?;
        if step % 10 == 0 {
            player.snapshot(Some(&now))?;
            kept.push(network);
        }
        let gradient = pull_back(&network, &points, &found.gradient);
        for (weights, slopes) in network.iter_mut().zip(&gradient) {
            weights.iter_mut().zip(slopes).for_each(|(weight, slope)| *weight -= 0.5 * slope);
        }
    }
    let status = player.status();
    println!("last: objective {:.4}, violations {:?}", status.objective, status.violations);
    let reached = player.shrink()?;
    for &(place, probability) in &reached.members {
        show(
            &format!("{:.0}% step {}", 100.0 * probability, 10 * (place + 1)),
            &test,
            &scores(&test, |x| score(&kept[place], x)),
        )?;
    }
    Ok(())
}
