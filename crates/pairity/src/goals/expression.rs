//! Linear forms of rates, `constant + Σ coefficient · rate`, and piecewise linear expressions made of them: their
//! values, which are convex, and the forms of which these are the largest.

use std::collections::BTreeSet;

use crate::rates::Rate;

/// The most values of a spread that are compared two by two: of few there are hardly more differences than forms
/// around a center, and every criterion of two groups has few.
const MOST_DIFFERENCES: usize = 4;

/// The largest number that a goal may have; the inverse of it is the smallest factor of a rate.
pub(super) const LARGEST: f64 = 1e100;

fn is_factor(number: f64) -> bool {
    (1.0 / LARGEST..=LARGEST).contains(&number.abs())
}

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
    /// Free numbers that training chooses, by place, and their coefficients: see
    /// [`linear_forms`](Expression::linear_forms).
    pub(crate) centers: Vec<(usize, f64)>,
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
        LinearForm { constant, ..LinearForm::default() }
    }

    /// One rate.
    pub fn rate(rate: Rate) -> LinearForm {
        LinearForm { terms: vec![(rate, 1.0)], ..LinearForm::default() }
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
        // Every center belongs to one part of an expression, so none occurs on both sides.
        self.centers
            .extend(other.centers.iter().map(|&(center, coefficient)| (center, factor * coefficient)));
        self
    }

    /// `factor · self`.
    pub fn scaled(&self, factor: f64) -> LinearForm {
        LinearForm::default().plus(factor, self)
    }

    /// Whether its numbers, and their squares in the variance of it, stay far from the ends of what numbers hold.
    pub(super) fn fits(&self) -> bool {
        let constant = self.constant.abs() <= LARGEST;
        constant && self.terms.iter().all(|(_, coefficient)| is_factor(*coefficient))
    }

    fn add_term(&mut self, rate: Rate, coefficient: f64) {
        let found = self.terms.binary_search_by_key(&rate, |&(name, _)| name);
        let (Ok(at) | Err(at)) = found;
        match found {
            Ok(at) => self.terms[at].1 = add(self.terms[at].1, coefficient),
            Err(at) => self.terms.insert(at, (rate, coefficient)),
        }
        if self.terms[at].1 == 0.0 {
            self.terms.remove(at);
        }
    }
}

/// The sum of two coefficients; what only rounding leaves of it, as in 0.1 + 0.2 - 0.3, is zero.
pub(super) fn add(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let rounding = 4.0 * f64::EPSILON * a.abs().max(b.abs());
    if sum.is_finite() && sum.abs() <= rounding { 0.0 } else { sum }
}

/// A piecewise linear expression of rates.
///
/// Those that come from a text are in a plain form: a part that is linear is one [`LinearForm`], a sum has
/// no sums in it and at most one linear entry, whose factor is 1, and no list is empty.
///
/// ```
/// use pairity::goals::{Vocabulary, parse_expression};
/// let expression = parse_expression("1 - 2 * abs(A[z > z'] - A[z < z'])",
///     &Vocabulary { groups: vec![], continuous: true })?;
/// let value = expression.value(&mut |rate| if rate == pairity::rates::Rate::Greater { 0.75 } else { 0.5 });
/// assert_eq!(value, 0.5);
/// # Ok::<(), pairity::goals::GoalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A linear form.
    Linear(LinearForm),
    /// The absolute value.
    Abs(Box<Expression>),
    /// The smallest of a list.
    Min(Vec<Expression>),
    /// The largest of a list.
    Max(Vec<Expression>),
    /// A sum, each entry with its factor.
    Sum(Vec<(f64, Expression)>),
    /// The largest absolute difference between two of a list: what a named criterion is.
    Spread(Vec<LinearForm>),
}

impl Expression {
    /// The value at given rates. A rate that is NaN (it has no pairs) makes the value NaN: it is never
    /// passed over by `min`, `max` or a criterion.
    pub fn value(&self, rate: &mut dyn FnMut(Rate) -> f64) -> f64 {
        match self {
            Expression::Linear(form) => form.value(rate),
            Expression::Abs(inner) => inner.value(rate).abs(),
            Expression::Min(list) => smallest(list.iter().map(|entry| entry.value(rate))),
            Expression::Max(list) => largest(list.iter().map(|entry| entry.value(rate))),
            Expression::Sum(list) => list.iter().map(|(factor, entry)| factor * entry.value(rate)).sum(),
            Expression::Spread(list) if list.is_empty() => 0.0,
            Expression::Spread(list) => {
                let values: Vec<f64> = list.iter().map(|form| form.value(rate)).collect();
                largest(values.iter().copied()) - smallest(values.iter().copied())
            }
        }
    }

    /// The rates it depends on, sorted, each once.
    pub fn rates(&self) -> Vec<Rate> {
        let mut names = BTreeSet::new();
        self.visit(&mut |form| names.extend(form.terms.iter().map(|&(rate, _)| rate)));
        names.into_iter().collect()
    }

    /// The rates that its value is made of: of a minimum or a maximum those of the entry that it is, of a criterion
    /// those of the largest and of the smallest form.
    pub(crate) fn deciding(&self, rate: &mut dyn FnMut(Rate) -> f64) -> Vec<Rate> {
        let rates = |form: &LinearForm| form.terms.iter().map(|&(rate, _)| rate).collect::<Vec<_>>();
        match self {
            Expression::Linear(form) => rates(form),
            Expression::Abs(inner) => inner.deciding(rate),
            Expression::Min(list) | Expression::Max(list) => {
                let value = self.value(rate);
                let entry = list.iter().find(|entry| entry.value(rate) == value);
                entry.map_or(Vec::new(), |entry| entry.deciding(rate))
            }
            Expression::Sum(list) => list.iter().flat_map(|(_, entry)| entry.deciding(rate)).collect(),
            Expression::Spread(list) => {
                let mut forms: Vec<(f64, &LinearForm)> =
                    list.iter().map(|form| (form.value(rate), form)).collect();
                forms.sort_by(|a, b| a.0.total_cmp(&b.0));
                [forms.last(), forms.first()]
                    .into_iter()
                    .flatten()
                    .flat_map(|(_, form)| rates(form))
                    .collect()
            }
        }
    }

    /// The number it is, if it is one whatever the rates are.
    pub fn as_constant(&self) -> Option<f64> {
        match self {
            Expression::Linear(form) if form.is_constant() => Some(form.constant),
            _ => None,
        }
    }

    /// Whether all [numbers in it fit](LinearForm::fits).
    pub(super) fn fits(&self) -> bool {
        let mut fits = true;
        self.visit(&mut |form| fits &= form.fits());
        fits && !matches!(self, Expression::Sum(list) if list.iter().any(|(factor, _)| !is_factor(*factor)))
    }

    fn visit(&self, see: &mut dyn FnMut(&LinearForm)) {
        match self {
            Expression::Linear(form) => see(form),
            Expression::Abs(inner) => inner.visit(see),
            Expression::Min(list) | Expression::Max(list) => list.iter().for_each(|entry| entry.visit(see)),
            Expression::Sum(list) => list.iter().for_each(|(_, entry)| entry.visit(see)),
            Expression::Spread(list) => list.iter().for_each(see),
        }
    }

    /// Whether `factor · self` is convex, so that it can be held down or minimized; with a factor of -1, whether it
    /// is concave. By the rules of composition: a maximum of convex parts is convex, a sum of convex parts with
    /// positive factors is, and so on. What these rules don't show counts as neither.
    ///
    /// ```
    /// use pairity::goals::{Vocabulary, parse_expression};
    /// let words = Vocabulary { groups: vec!["a".into(), "b".into()], continuous: false };
    /// let shape = |text| parse_expression(text, &words).map(|e| (e.is_convex(1.0), e.is_convex(-1.0)));
    /// assert_eq!(shape("auc - 2 * A[a > b]")?, (true, true));
    /// assert_eq!(shape("max(cross_group, within_group)")?, (true, false));
    /// assert_eq!(shape("min(auc, A[a > b]) - cross_group")?, (false, true));
    /// assert_eq!(shape("min(auc, A[a > b]) + cross_group")?, (false, false));
    /// # Ok::<(), pairity::goals::GoalError>(())
    /// ```
    pub fn is_convex(&self, factor: f64) -> bool {
        match self {
            _ if factor == 0.0 => true,
            Expression::Linear(_) => true,
            Expression::Abs(inner) => factor > 0.0 && inner.is_convex(1.0) && inner.is_convex(-1.0),
            Expression::Max(list) => factor > 0.0 && list.iter().all(|entry| entry.is_convex(factor)),
            Expression::Min(list) => factor < 0.0 && list.iter().all(|entry| entry.is_convex(factor)),
            Expression::Sum(list) => list.iter().all(|(inner, entry)| entry.is_convex(factor * inner)),
            Expression::Spread(_) => factor > 0.0,
        }
    }

    /// The linear forms whose maximum, at the best centers, is `factor · self`: it is at most `c` exactly if there
    /// are centers for which every form is. A linear expression is its own one form.
    ///
    /// A spread of n values has n (n − 1) differences, but only 2 n forms around a center s of its own, which
    /// is best in the middle between the least and the largest value: the spread is min over s of
    /// max over i of 2 |aᵢ − s|. What the centers are in the middle of is added to `centers`.
    ///
    /// `None` if it is not [convex](Self::is_convex), or if there would be more than `limit` forms: a sum
    /// of bent parts has as many as the product of theirs.
    pub fn linear_forms(
        &self,
        factor: f64,
        limit: usize,
        centers: &mut Vec<Vec<LinearForm>>,
    ) -> Option<Vec<LinearForm>> {
        if self.is_convex(factor) { self.pieces(factor, limit, centers) } else { None }
    }

    /// The forms whose maximum is `factor · self`, where that is convex.
    fn pieces(
        &self,
        factor: f64,
        limit: usize,
        centers: &mut Vec<Vec<LinearForm>>,
    ) -> Option<Vec<LinearForm>> {
        let forms = match self {
            _ if factor == 0.0 => vec![LinearForm::default()],
            Expression::Linear(form) => vec![form.scaled(factor)],
            Expression::Abs(inner) => {
                [inner.pieces(factor, limit, centers)?, inner.pieces(-factor, limit, centers)?].concat()
            }
            Expression::Min(list) | Expression::Max(list) => {
                let mut all = Vec::new();
                for entry in list {
                    all.extend(entry.pieces(factor, limit.checked_sub(all.len())?, centers)?);
                }
                all
            }
            Expression::Spread(list) if list.len() > MOST_DIFFERENCES => {
                within(2 * list.len(), limit)?;
                let around = |form: &LinearForm, side: f64| LinearForm {
                    centers: vec![(centers.len(), -side)],
                    ..form.scaled(side)
                };
                let sides = [2.0 * factor, -2.0 * factor];
                let forms = list.iter().flat_map(|form| sides.map(|side| around(form, side))).collect();
                centers.push(list.clone());
                forms
            }
            Expression::Spread(list) => {
                let others = |i: usize| list[..i].iter().chain(&list[i + 1..]);
                let pairs = |(i, a)| others(i).map(move |b| LinearForm::scaled(a, factor).plus(-factor, b));
                list.iter().enumerate().flat_map(pairs).collect()
            }
            Expression::Sum(list) => {
                let mut sums = vec![LinearForm::default()];
                for (inner, entry) in list {
                    let pieces = entry.pieces(factor * inner, limit, centers)?;
                    within(sums.len().checked_mul(pieces.len())?, limit)?;
                    let plus = |sum: &LinearForm, piece| sum.clone().plus(1.0, piece);
                    sums = sums.iter().flat_map(|sum| pieces.iter().map(|piece| plus(sum, piece))).collect();
                }
                sums
            }
        };
        within(forms.len(), limit)?;
        Some(forms)
    }
}

fn within(count: usize, limit: usize) -> Option<()> {
    (count <= limit).then_some(())
}

/// Like `f64::min` over a list, but NaN wins.
fn smallest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, |best, value| if value.is_nan() || value < best { value } else { best })
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    -smallest(values.map(|value| -value))
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
        assert!(!form.fits());
    }

    #[test]
    fn terms_stay_sorted() {
        let form = LinearForm::rate(Rate::Mse)
            .plus(-2.0, &LinearForm::new(1.0, [(Rate::Less, 1.0), (Rate::AUC, 1.0)]));
        assert_eq!(form.constant, -2.0);
        assert_eq!(form.terms, [(Rate::AUC, -2.0), (Rate::Less, -2.0), (Rate::Mse, 1.0)]);
    }

    #[test]
    fn the_rates_that_decide_are_those_of_the_extremes() {
        let (ab, ba, aa) = (Rate::accuracy(0, 1), Rate::accuracy(1, 0), Rate::accuracy(0, 0));
        let at = &mut |rate| if rate == ab { 0.9 } else { 0.1 + f64::from(u8::from(rate == aa)) * 0.4 };
        let spread = Expression::Spread([ba, aa, ab].map(LinearForm::rate).to_vec());
        assert_eq!(spread.deciding(at), [ab, ba]);
        let list = || [ba, aa, ab].map(|rate| Expression::Linear(LinearForm::rate(rate))).to_vec();
        assert_eq!(Expression::Min(list()).deciding(at), [ba]);
        let largest = Expression::Abs(Box::new(Expression::Max(list())));
        assert_eq!(Expression::Sum(vec![(2.0, largest), (-1.0, spread)]).deciding(at), [ab, ab, ba]);
        assert!(Expression::Spread(Vec::new()).deciding(at).is_empty());
    }

    #[test]
    fn an_unknown_rate_makes_the_value_unknown() {
        assert!(LinearForm::rate(Rate::AUC).value(&mut |_| f64::NAN).is_nan());
    }

    #[test]
    fn an_unknown_rate_is_never_passed_over() {
        let list =
            || vec![LinearForm::rate(Rate::Greater), LinearForm::rate(Rate::Less), LinearForm::constant(0.5)];
        let entries = || list().into_iter().map(Expression::Linear).collect();
        for unknown in [Rate::Greater, Rate::Less] {
            let mut rate = |name| if name == unknown { f64::NAN } else { 0.7 };
            for expression in
                [Expression::Min(entries()), Expression::Max(entries()), Expression::Spread(list())]
            {
                assert!(expression.value(&mut rate).is_nan(), "{expression:?}");
            }
        }
    }

    #[test]
    fn a_spread_is_the_largest_difference() {
        let list =
            vec![LinearForm::rate(Rate::Greater), LinearForm::rate(Rate::Less), LinearForm::constant(0.5)];
        let spread = Expression::Spread(list);
        assert_eq!(spread.value(&mut |rate| if rate == Rate::Less { 0.25 } else { 1.0 }), 0.75);
        assert_eq!(spread.rates(), [Rate::Greater, Rate::Less]);
    }

    #[test]
    fn a_negative_factor_turns_the_shape_over() {
        let shape = |expression: &Expression| (expression.is_convex(1.0), expression.is_convex(-1.0));
        let bent = Expression::Abs(Box::new(Expression::Linear(LinearForm::rate(Rate::AUC))));
        assert_eq!(shape(&bent), (true, false));
        assert_eq!(shape(&bent.clone().scaled(-2.0)), (false, true));
        let zero = Expression::Sum(vec![(0.0, bent.clone())]);
        assert_eq!(shape(&zero), (true, true));
        assert_eq!(shape(&Expression::Abs(Box::new(bent))), (false, false));
    }

    fn pieces(expression: &Expression, factor: f64, limit: usize) -> Option<Vec<LinearForm>> {
        expression.linear_forms(factor, limit, &mut Vec::new())
    }

    fn gap() -> Expression {
        Expression::Spread(vec![LinearForm::rate(Rate::Greater), LinearForm::rate(Rate::Less)])
    }

    #[test]
    fn a_gap_of_two_has_two_forms() {
        let one = LinearForm::new(0.0, [(Rate::Greater, 1.0), (Rate::Less, -1.0)]);
        let other = one.scaled(-1.0);
        assert_eq!(pieces(&gap(), 1.0, 2), Some(vec![one.clone(), other.clone()]));
        assert_eq!(pieces(&gap(), 1.0, 1), None);
        assert_eq!(pieces(&gap().scaled(-1.0), -1.0, 2), Some(vec![one, other]));
    }

    #[test]
    fn a_spread_of_many_has_two_forms_a_value_around_one_center() {
        let list: Vec<LinearForm> = (0..2_500).map(|i| LinearForm::rate(Rate::accuracy(i, i))).collect();
        let mut centers = Vec::new();
        let forms = Expression::Spread(list.clone()).linear_forms(0.5, 5_000, &mut centers).unwrap();
        assert_eq!((forms.len(), &centers), (5_000, &vec![list]));
        assert_eq!(
            (&forms[1].terms[..], &forms[1].centers[..]),
            (&[(Rate::accuracy(0, 0), -1.0)][..], &[(0, 1.0)][..])
        );
        assert_eq!(pieces(&gap_of(5), 1.0, 9), None);
        assert_eq!(pieces(&gap_of(4), 1.0, 12).map(|forms| forms.len()), Some(12));
        let sum = Expression::sum([(1.0, gap_of(5)), (2.0, gap_of(6))]);
        let forms = sum.linear_forms(1.0, 120, &mut centers).unwrap();
        assert_eq!((forms.len(), centers.len()), (120, 3));
        assert_eq!(forms[0].centers, [(1, -2.0), (2, -4.0)]);
    }

    fn gap_of(count: usize) -> Expression {
        Expression::Spread((0..count).map(|i| LinearForm::rate(Rate::row(i))).collect())
    }

    #[test]
    fn a_sum_too_large_is_refused_before_it_is_made() {
        let gaps = (0..60).map(|i| {
            let shifted = LinearForm::new(f64::from(i), [(Rate::AUC, 1.0)]);
            (1.0, Expression::Spread(vec![shifted, LinearForm::rate(Rate::Less)]))
        });
        assert_eq!(pieces(&Expression::sum(gaps), 1.0, 10_000), None);
    }
}
