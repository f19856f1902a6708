//! Adam (Kingma and Ba 2015), with the usual constants.
//!
//! ```text
//! m ← β₁ m + (1 − β₁) g     v ← β₂ v + (1 − β₂) g²     x ← x − η √(1 − β₂ᵗ) / (1 − β₁ᵗ) · m / (√v + ε)
//! ```

use serde::{Deserialize, Serialize};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The state of one optimizer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Adam {
    #[serde(with = "crate::numbers")]
    first: Vec<f64>,
    #[serde(with = "crate::numbers")]
    second: Vec<f64>,
    steps: i32,
}

impl Adam {
    pub(crate) fn new(parameters: usize) -> Adam {
        Adam { first: vec![0.0; parameters], second: vec![0.0; parameters], steps: 0 }
    }

    /// One step down the gradient.
    pub(crate) fn descend(&mut self, parameters: &mut [f64], gradient: &[f64], step_size: f64) {
        self.steps += 1;
        let rate = step_size * (1.0 - BETA2.powi(self.steps)).sqrt() / (1.0 - BETA1.powi(self.steps));
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((x, &g), (m, v)) in parameters.iter_mut().zip(gradient).zip(moments) {
            *m += (1.0 - BETA1) * (g - *m);
            *v += (1.0 - BETA2) * (g * g - *v);
            *x -= rate * *m / (v.sqrt() + EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_the_step_size_along_the_sign() {
        let mut x = [1.0, 1.0, 1.0];
        Adam::new(3).descend(&mut x, &[4.0, -0.01, 0.0], 0.1);
        assert!((x[0] - 0.9).abs() < 1e-6 && (x[1] - 1.1).abs() < 1e-4 && x[2] == 1.0, "{x:?}");
    }

    #[test]
    fn the_second_step_follows_the_formula() {
        let mut x = [0.0];
        let mut adam = Adam::new(1);
        adam.descend(&mut x, &[1.0], 0.1);
        adam.descend(&mut x, &[-1.0], 0.1);
        // m = 0.09 − 0.1 = −0.01, v = 0.000999 + 0.001: both by hand.
        let (m, v): (f64, f64) = (0.9 * 0.1 - 0.1, 0.999 * 0.001 + 0.001);
        let expected = -0.1 - 0.1 * (1.0 - 0.999f64.powi(2)).sqrt() / (1.0 - 0.81) * m / (v.sqrt() + 1e-8);
        assert!((x[0] - expected).abs() < 1e-7, "{x:?} {expected}");
    }
}
