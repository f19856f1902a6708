//! Linear forms of rates: `constant + Σ coefficient · rate`.

use crate::rates::Rate;

/// A constant plus a sum of rates with coefficients.
///
/// The terms are sorted by rate, each rate occurs once, and no coefficient is zero.
///
/// ```
/// use pairity::goals::LinearForm;
/// use pairity::rates::Rate;
/// let gap = LinearForm::new(0.5, [(Rate::Less, -1.0), (Rate::Greater, 3.0), (Rate::Greater, -2.0)]);
/// assert_eq!(gap.terms, [(Rate::Greater, 1.0), (Rate::Less, -1.0)]);
/// assert_eq!(gap.value(&mut |rate| if rate == Rate::Less { 0.25 } else { 1.0 }), 1.25);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinearForm {
    /// What is left when every rate is zero.
    pub constant: f64,
    /// Rates and their coefficients.
    pub terms: Vec<(Rate, f64)>,
}

impl LinearForm {
    /// Sorts the terms and adds up those of the same rate.
    pub fn new(constant: f64, terms: impl IntoIterator<Item = (Rate, f64)>) -> LinearForm {
        let mut form = LinearForm::constant(constant);
        for (rate, coefficient) in terms {
            form.add_term(rate, coefficient);
        }
        form
    }

    /// A number.
    pub fn constant(constant: f64) -> LinearForm {
        LinearForm { constant, terms: Vec::new() }
    }

    /// One rate.
    pub fn rate(rate: Rate) -> LinearForm {
        LinearForm { constant: 0.0, terms: vec![(rate, 1.0)] }
    }

    /// Whether there is no rate in it.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value at given rates; NaN if one of them is.
    pub fn value(&self, rate: &mut dyn FnMut(Rate) -> f64) -> f64 {
        self.terms.iter().fold(self.constant, |sum, &(name, coefficient)| sum + coefficient * rate(name))
    }

    /// `self + factor · other`.
    pub fn plus(mut self, factor: f64, other: &LinearForm) -> LinearForm {
        self.constant += factor * other.constant;
        for &(rate, coefficient) in &other.terms {
            self.add_term(rate, factor * coefficient);
        }
        self
    }

    /// `factor · self`.
    pub fn scaled(&self, factor: f64) -> LinearForm {
        LinearForm::default().plus(factor, self)
    }

    pub(super) fn is_finite(&self) -> bool {
        self.constant.is_finite() && self.terms.iter().all(|(_, coefficient)| coefficient.is_finite())
    }

    fn add_term(&mut self, rate: Rate, coefficient: f64) {
        match self.terms.binary_search_by_key(&rate, |&(name, _)| name) {
            Ok(at) => {
                let sum = add(self.terms[at].1, coefficient);
                if sum == 0.0 {
                    self.terms.remove(at);
                } else {
                    self.terms[at].1 = sum;
                }
            }
            Err(at) if coefficient != 0.0 => self.terms.insert(at, (rate, coefficient)),
            Err(_) => {}
        }
    }
}

/// The sum of two coefficients; what only rounding leaves of it, as in 0.1 + 0.2 - 0.3, is zero.
pub(super) fn add(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let rounding = 4.0 * f64::EPSILON * a.abs().max(b.abs());
    if sum.is_finite() && sum.abs() <= rounding { 0.0 } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_cancels_is_gone() {
        let form =
            LinearForm::new(1.0, [(Rate::AUC, 0.1), (Rate::AUC, 0.2), (Rate::AUC, -0.3), (Rate::Mse, 0.0)]);
        assert_eq!(form, LinearForm::constant(1.0));
        assert!(form.is_constant());
    }

    #[test]
    fn a_sum_that_overflows_stays_infinite() {
        let form = LinearForm::new(0.0, [(Rate::AUC, f64::MAX), (Rate::AUC, f64::MAX), (Rate::AUC, 1.0)]);
        assert!(!form.is_finite());
    }

    #[test]
    fn terms_stay_sorted() {
        let form = LinearForm::rate(Rate::Mse)
            .plus(-2.0, &LinearForm::new(1.0, [(Rate::Less, 1.0), (Rate::AUC, 1.0)]));
        assert_eq!(form.constant, -2.0);
        assert_eq!(form.terms, [(Rate::AUC, -2.0), (Rate::Less, -2.0), (Rate::Mse, 1.0)]);
    }

    #[test]
    fn an_unknown_rate_makes_the_value_unknown() {
        assert!(LinearForm::rate(Rate::AUC).value(&mut |_| f64::NAN).is_nan());
    }
}
