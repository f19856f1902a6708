//! From cells to rates: a rate is what its cells earned over what they could have earned, A = N / D.

use super::index::PairIndex;
use super::tally::{Placement, Tally};
use crate::rates::Average;

/// What the pairs of each rate earned, and what they could have earned, over all units.
pub(crate) struct RateSums {
    pub credits: Vec<f64>,
    pub totals: Vec<f64>,
}

impl RateSums {
    /// The value of a rate; NaN for one without pairs.
    pub(crate) fn value(&self, rate: usize) -> f64 {
        if self.totals[rate] > 0.0 { self.credits[rate] / self.totals[rate] } else { f64::NAN }
    }

    pub(crate) fn values(&self) -> Vec<f64> {
        (0..self.totals.len()).map(|rate| self.value(rate)).collect()
    }
}

impl PairIndex<'_> {
    /// Whether all queries count alike.
    pub(crate) fn is_by_query(&self, average: Average) -> bool {
        average == Average::Queries && self.examples.has_queries()
    }
}

impl Tally {
    pub(crate) fn rate_sums(&self, index: &PairIndex, by_query: bool) -> RateSums {
        let rates = index.rates.len();
        let mut sums = RateSums { credits: vec![0.0; rates], totals: vec![0.0; rates] };
        let mut unit = UnitSums::new(index);
        for placements in self.queries() {
            unit.collect(placements, by_query);
            for &rate in &unit.touched {
                let r = rate as usize;
                sums.credits[r] += unit.credits[r][0];
                sums.totals[r] += unit.totals[r][0];
            }
        }
        sums
    }

    /// The value of each rate; NaN for one without pairs.
    pub(crate) fn values(&self, index: &PairIndex, average: Average) -> Vec<f64> {
        self.rate_sums(index, index.is_by_query(average)).values()
    }
}

/// The pairs of one unit, by rate.
pub(crate) struct UnitSums {
    /// The rates that each cell belongs to.
    rates_of: Vec<Vec<u32>>,
    /// Rates that the unit has pairs of.
    pub touched: Vec<u32>,
    /// By rate and side.
    pub credits: Vec<[f64; 2]>,
    pub totals: Vec<[f64; 2]>,
}

impl UnitSums {
    /// Of no unit yet.
    pub(crate) fn new(index: &PairIndex) -> UnitSums {
        let mut rates_of = vec![Vec::new(); index.layout.len()];
        for (number, &rate) in index.rates.iter().enumerate() {
            index.layout.cells(rate).into_iter().for_each(|cell| rates_of[cell].push(number as u32));
        }
        let none = vec![[0.0; 2]; index.rates.len()];
        UnitSums { rates_of, touched: Vec::new(), credits: none.clone(), totals: none }
    }

    /// Numbers of pairs of rates, from those of cells.
    pub(crate) fn pairs(&self, cells: &[u64]) -> Vec<u64> {
        let mut sums = vec![0; self.totals.len()];
        for (rates, &pairs) in self.rates_of.iter().zip(cells) {
            rates.iter().for_each(|&rate| sums[rate as usize] += pairs);
        }
        sums
    }

    /// The sums of a unit, from its cells.
    pub(crate) fn collect(&mut self, placements: &[Placement], by_query: bool) {
        for rate in self.touched.drain(..) {
            self.credits[rate as usize] = [0.0; 2];
            self.totals[rate as usize] = [0.0; 2];
        }
        for placement in placements {
            let side = placement.side as usize;
            for &rate in &self.rates_of[placement.cell as usize] {
                let totals = &mut self.totals[rate as usize];
                if *totals == [0.0; 2] {
                    self.touched.push(rate);
                }
                totals[side] += placement.total;
                self.credits[rate as usize][side] += placement.credit;
            }
        }
        if by_query {
            // Every query counts the same, by its own rate.
            for &rate in &self.touched {
                let total = &mut self.totals[rate as usize][0];
                self.credits[rate as usize][0] /= *total;
                *total = 1.0;
            }
        }
    }
}
