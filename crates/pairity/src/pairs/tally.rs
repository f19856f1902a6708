//! The counts of every query, cell by cell, and what they make of rates.
//!
//! A cell is the smallest set of pairs that the rates are made of: better and worse group, first and
//! second group, or the order of a continuous attribute. A rate is what its cells earned over what they could have
//! earned, A = N / D.

use super::continuous::continuous;
use super::groups::{CellCounts, accuracy, parity};
use super::index::{MassColumn, PairIndex, QueryPairs, add, with_masses};
use super::mass::Mass;
use super::order::{DrawnOrder, ScoreOrder};
use super::side::{self, PairKind};
use super::small_cells::{self, SmallCells};
use crate::examples::Examples;
use crate::rates::{Average, Rate, Side, Ties};
use crate::threads;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which cells there are, and their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellLayout {
    /// Number of groups; examples of no group stand behind the last one.
    pub groups: usize,
    pub labels: bool,
    pub continuous: bool,
}

impl CellLayout {
    pub(crate) fn of(examples: &Examples) -> CellLayout {
        CellLayout {
            groups: examples.groups().len(),
            labels: examples.has_labels(),
            continuous: examples.is_continuous(),
        }
    }

    /// Groups and "no group".
    pub(crate) fn codes(&self) -> usize {
        self.groups + 1
    }

    pub(crate) fn accuracy(&self, better: usize, worse: usize) -> usize {
        better * self.codes() + worse
    }

    pub(crate) fn parity(&self, first: usize, second: usize) -> usize {
        self.codes() * self.codes() + first * self.groups + second
    }

    pub(crate) fn greater(&self) -> usize {
        self.codes() * self.codes() + self.groups * self.groups
    }

    pub(crate) fn less(&self) -> usize {
        self.greater() + 1
    }

    pub(crate) fn parity_greater(&self) -> usize {
        self.greater() + 2
    }

    pub(crate) fn parity_less(&self) -> usize {
        self.greater() + 3
    }

    pub(crate) fn mse(&self) -> usize {
        self.greater() + 4
    }

    pub(crate) fn len(&self) -> usize {
        self.mse() + 1
    }

    /// The numbers of the cells in a layout with more groups, `codes` being theirs there.
    pub(crate) fn cells_among(&self, wider: &CellLayout, codes: &[usize]) -> Vec<usize> {
        let mut cells: Vec<usize> = (0..self.len()).map(|cell| cell + wider.len() - self.len()).collect();
        let pairs = || codes.iter().enumerate().flat_map(|a| codes.iter().enumerate().map(move |b| (a, b)));
        for ((a, &wide_a), (b, &wide_b)) in pairs() {
            cells[self.accuracy(a, b)] = wider.accuracy(wide_a, wide_b);
        }
        for ((a, &wide_a), (b, &wide_b)) in pairs().filter(|((a, _), (b, _))| a.max(b) < &self.groups) {
            cells[self.parity(a, b)] = wider.parity(wide_a, wide_b);
        }
        cells
    }

    /// The cells whose sums make a rate.
    pub(crate) fn cells(&self, rate: Rate) -> Vec<usize> {
        let codes = |side| match side {
            Side::Group(group) => group..group + 1,
            Side::Any => 0..self.codes(),
        };
        match rate {
            Rate::Accuracy { better, worse } => codes(better)
                .flat_map(|better| codes(worse).map(move |worse| self.accuracy(better, worse)))
                .collect(),
            Rate::Parity { first, second } => vec![self.parity(first, second)],
            Rate::Greater => vec![self.greater()],
            Rate::Less => vec![self.less()],
            Rate::ParityGreater => vec![self.parity_greater()],
            Rate::ParityLess => vec![self.parity_less()],
            Rate::Mse => vec![self.mse()],
        }
    }
}

/// Which kinds of cells are counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RateKinds {
    pub accuracy: bool,
    pub parity: bool,
    pub continuous: bool,
    pub continuous_parity: bool,
    pub mse: bool,
}

impl RateKinds {
    /// What these rates are made of, as far as there are such pairs.
    pub(crate) fn of(rates: &[Rate], layout: &CellLayout) -> RateKinds {
        let any = |kind: fn(&Rate) -> bool| rates.iter().any(kind);
        let orders = layout.labels && layout.continuous;
        RateKinds {
            accuracy: layout.labels && any(|rate| matches!(rate, Rate::Accuracy { .. })),
            parity: layout.groups > 0 && any(|rate| matches!(rate, Rate::Parity { .. })),
            continuous: orders && any(|rate| matches!(rate, Rate::Greater | Rate::Less)),
            continuous_parity: layout.continuous
                && any(|rate| matches!(rate, Rate::ParityGreater | Rate::ParityLess)),
            mse: layout.labels && any(|rate| *rate == Rate::Mse),
        }
    }
}

/// Tasks whose cells are held at once where only their sums are wanted.
const AT_ONCE: usize = 16;

/// What the pairs of one cell earned, what they could have earned, and their number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct CellSum {
    pub credit: f64,
    pub total: f64,
    pub pairs: u64,
}

/// What the pairs of one unit in one cell earned, and what they could have earned. An example stands on
/// one side of its pairs: 0 for the better or first, 1 for the worse or second; of a query it is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Placement {
    pub cell: u32,
    pub side: u8,
    pub credit: f64,
    pub total: f64,
}

/// The cells of all queries that have pairs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    entries: Vec<Placement>,
    /// Where each query ends among the entries, or each block of a task.
    ends: Vec<usize>,
    /// Exact number of pairs in each cell, over all queries.
    pub pairs: Vec<u64>,
    /// Of the small query that was counted last.
    small: SmallCells,
}

impl Tally {
    /// Counts the cells that the rates of the index need.
    pub(crate) fn count(index: &PairIndex, order: &ScoreOrder, ties: Ties) -> Tally {
        let mut all = Tally::default();
        all.recount(index, order, ties, &mut Vec::new());
        all
    }

    /// The same in place of other cells, and of those of each task.
    fn recount(&mut self, index: &PairIndex, order: &ScoreOrder, ties: Ties, parts: &mut Vec<Tally>) {
        Tally::count_tasks(index, &index.tasks, order, ties, parts);
        self.clear(index);
        self.entries.reserve_exact(parts.iter().map(|part| part.entries.len()).sum());
        self.ends.reserve_exact(index.examples.blocks());
        for part in parts {
            let before = self.entries.len();
            self.entries.extend_from_slice(&part.entries);
            self.ends.extend(part.ends.iter().map(|end| end + before));
            add(&mut self.pairs, &part.pairs);
        }
        // The blocks of a query stand together, and count as one.
        for query in 0..index.examples.queries() {
            self.ends[query] = self.ends[index.examples.blocks_of(query).end - 1];
        }
        self.ends.truncate(index.examples.queries());
    }

    fn clear(&mut self, index: &PairIndex) {
        self.entries.clear();
        self.ends.clear();
        self.pairs.clear();
        self.pairs.resize(index.layout.len(), 0);
    }

    /// The totals of cells, which do not depend on scores; nothing is earned.
    pub(super) fn totals(index: &PairIndex) -> Tally {
        let scores = vec![0.0; index.examples.len()];
        Tally::count(index, &ScoreOrder::unsorted(&scores), Ties::Strict)
    }

    /// The cells over all queries together, which takes no room for the cells of each.
    pub(crate) fn sums(index: &PairIndex, order: &ScoreOrder, ties: Ties) -> Vec<CellSum> {
        let mut all = vec![CellSum::default(); index.layout.len()];
        // A few tasks at a time, as each has cells of its own until they are added, in order.
        let mut parts = Vec::new();
        for tasks in index.tasks.chunks(AT_ONCE) {
            Tally::count_tasks(index, tasks, order, ties, &mut parts);
            for tally in &parts {
                all.iter_mut().zip(&tally.pairs).for_each(|(cell, pairs)| cell.pairs += pairs);
                for entry in &tally.entries {
                    all[entry.cell as usize].credit += entry.credit;
                    all[entry.cell as usize].total += entry.total;
                }
            }
        }
        all
    }

    /// The expected cells of a mixture without queries: which cells a query has does not depend on its scores, so that
    /// what they earn is added up entry by entry.
    pub(crate) fn expected(index: &PairIndex, members: &[DrawnOrder], ties: Ties) -> Tally {
        let mut all: Option<Tally> = None;
        for member in members {
            let mut tally = Tally::count(index, &member.order, ties);
            tally.scale(member.chance());
            match &mut all {
                Some(all) => all.add_credits(&tally),
                None => all = Some(tally),
            }
        }
        all.unwrap_or_default()
    }

    /// Calls `visit` with the expected entries of one query after another, which are not kept; returns the number of
    /// pairs of each cell.
    pub(crate) fn visit(
        index: &PairIndex,
        queries: Range<usize>,
        members: &[DrawnOrder],
        ties: Ties,
        visit: &mut dyn FnMut(&[Placement]),
    ) -> Vec<u64> {
        let none = || Tally { pairs: vec![0; index.layout.len()], ..Tally::default() };
        let (mut all, mut own) = (none(), none());
        for query in queries {
            all.entries.clear();
            for (place, member) in members.iter().enumerate() {
                let tally = if place == 0 { &mut all } else { &mut own };
                tally.entries.clear();
                for block in index.examples.blocks_of(query) {
                    tally.add_query(index, &index.query(block), &member.order, ties);
                }
                tally.scale(member.chances[query]);
                if place > 0 {
                    all.add_credits(&own);
                }
            }
            visit(&all.entries);
        }
        all.pairs
    }

    /// What entries earn where they are scored so by such a chance.
    fn scale(&mut self, chance: f64) {
        // A squared error may be infinite, which must not matter where it is never seen.
        let scale = |credit: f64| if chance > 0.0 { credit * chance } else { 0.0 };
        if chance != 1.0 {
            self.entries.iter_mut().for_each(|entry| entry.credit = scale(entry.credit));
        }
    }

    /// Adds what the same pairs earn with other scores.
    fn add_credits(&mut self, others: &Tally) {
        let entries = self.entries.iter_mut().zip(&others.entries);
        entries.for_each(|(all, own)| all.credit += own.credit);
    }

    /// The entries of each query.
    pub(crate) fn queries(&self) -> impl Iterator<Item = &[Placement]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.entries[start..end])
    }

    /// Puts the cells of each task, which are consecutive blocks, in place of others.
    fn count_tasks(
        index: &PairIndex,
        tasks: &[Range<usize>],
        order: &ScoreOrder,
        ties: Ties,
        parts: &mut Vec<Tally>,
    ) {
        parts.resize_with(tasks.len(), Tally::default);
        threads::each_chunk(parts, 1, &|task, part| {
            for tally in part {
                tally.clear(index);
                for block in tasks[task].clone() {
                    tally.add_query(index, &index.query(block), order, ties);
                    tally.ends.push(tally.entries.len());
                }
            }
        });
    }

    /// What the pairs of each rate earned.
    pub(crate) fn rate_sums(&self, index: &PairIndex, by_query: bool) -> RateSums {
        let mut sums = RateSums::default();
        self.put_rate_sums(&mut UnitSums::new(index), by_query, &mut sums);
        sums
    }

    /// The same in place of other sums.
    fn put_rate_sums(&self, unit: &mut UnitSums, by_query: bool, sums: &mut RateSums) {
        for list in [&mut sums.credits, &mut sums.totals] {
            list.clear();
            list.resize(unit.totals.len(), 0.0);
        }
        for placements in self.queries() {
            unit.collect(placements, by_query);
            for &rate in &unit.touched {
                let r = rate as usize;
                sums.credits[r] += unit.credits[r][0];
                sums.totals[r] += unit.totals[r][0];
            }
        }
    }

    /// The value of each rate; NaN for one without pairs.
    pub(crate) fn values(&self, index: &PairIndex, average: Average) -> Vec<f64> {
        self.rate_sums(index, index.is_by_query(average)).values()
    }

    fn add_query(&mut self, index: &PairIndex, query: &QueryPairs, order: &ScoreOrder, ties: Ties) {
        let (layout, kinds, range) = (&index.layout, index.kinds, query.range.clone());
        let chosen = query.side_values.is_some();
        let is_equal = |masses: &MassColumn| matches!(masses, MassColumn::Equal(_));
        let is_counted = query.is_small() && query.len() <= small_cells::MOST && !chosen;
        let is_counted = is_counted && is_equal(&index.label_ordered) && is_equal(index.unordered());
        if is_counted && (kinds.accuracy || kinds.parity) {
            self.small.count(query, order.scores(query));
        }
        let present = || query.present.iter().map(|&code| usize::from(code));
        let cells = || present().flat_map(|a| present().map(move |b| (a, b)));
        let grid = query.grid.filter(|_| is_equal(&index.label_ordered) && !order.entries(query).is_empty());
        if let Some(grid) = grid {
            let [greater, less, all] = grid.count(order.entries(query));
            if kinds.accuracy {
                self.add_cell(layout.accuracy(0, 0), all, ties);
            }
            self.add_cell(layout.greater(), greater, ties);
            self.add_cell(layout.less(), less, ties);
        } else if kinds.accuracy && is_counted {
            let counted = std::mem::take(&mut self.small);
            for ((a, b), counted) in cells().zip(&counted.cells) {
                let [total, wins, tied] = counted.labeled();
                self.add_cell(layout.accuracy(a, b), [wins, tied, total], ties);
            }
            self.small = counted;
        } else if kinds.accuracy {
            let cells = cells().map(|(a, b)| Some(layout.accuracy(a, b)));
            with_masses!(&index.label_ordered, masses => {
                let masses = &masses[range.clone()];
                let counts = match chosen {
                    true => side::count(query, order, masses, PairKind::LabelOrdered),
                    false => accuracy(query, order, masses),
                };
                self.add(&counts, cells, ties);
            });
        }
        if kinds.continuous && grid.is_none() {
            let cells = [layout.greater(), layout.less()].map(Some);
            with_masses!(&index.label_ordered, masses => {
                self.add(&continuous(query, order, &masses[range.clone()]), cells.into_iter(), ties);
            });
        }
        if kinds.mse {
            let (mut credit, mut total) = (0.0, 0.0);
            for (i, label) in range.clone().zip(query.labels()) {
                credit += index.examples.weight(i) * (order.scores[i] - label).powi(2);
                total += index.examples.weight(i);
            }
            self.pairs[layout.mse()] += range.len() as u64;
            self.entries.push(Placement { cell: layout.mse() as u32, side: 0, credit, total });
        }
        let between = |&(a, b): &(usize, usize)| a != b && a < layout.groups && b < layout.groups;
        if kinds.parity && is_counted {
            let counted = std::mem::take(&mut self.small);
            let sizes = || counted.sizes.iter();
            let totals = sizes().flat_map(|a| sizes().map(move |b| a * b));
            for ((cell, counted), total) in cells().zip(&counted.cells).zip(totals) {
                if between(&cell) {
                    let [wins, tied] = counted.all();
                    self.add_cell(layout.parity(cell.0, cell.1), [wins, tied, total], ties);
                }
            }
            self.small = counted;
        } else if kinds.parity {
            let cells = cells().map(|cell| Some(cell).filter(between).map(|(a, b)| layout.parity(a, b)));
            with_masses!(index.unordered(), masses => {
                let masses = &masses[range.clone()];
                let counts = match chosen {
                    true => side::count(query, order, masses, PairKind::All),
                    false => parity(query, order, masses),
                };
                self.add(&counts, cells, ties);
            });
        }
        if kinds.continuous_parity {
            let cells = [layout.parity_greater(), layout.parity_less()].map(Some);
            with_masses!(index.unordered(), masses => {
                let mut counts = side::count(&query.by_attribute(), order, &masses[range.clone()], PairKind::All);
                counts.add_mirror();
                self.add(&counts, cells.into_iter(), ties);
            });
        }
    }

    /// Adds wins, ties and all pairs of a cell.
    fn add_cell(&mut self, cell: usize, [wins, tied, total]: [u64; 3], ties: Ties) {
        self.pairs[cell] += total;
        if total > 0 {
            let credit = wins as f64 + ties.credit() * tied as f64;
            self.entries.push(Placement { cell: cell as u32, side: 0, credit, total: total as f64 });
        }
    }

    /// Adds what was counted, each to its cell if it has one.
    fn add<M: Mass>(&mut self, counts: &CellCounts<M>, to: impl Iterator<Item = Option<usize>>, ties: Ties) {
        for (at, cell) in to.enumerate().filter_map(|(at, cell)| Some((at, cell?))) {
            self.pairs[cell] += counts.pairs[at];
            let total = M::number(counts.totals[at]);
            if total > 0.0 {
                let credit = M::number(counts.wins[at]) + ties.credit() * M::number(counts.ties[at]);
                // Sums of weights are rounded, each in its own order.
                let credit = credit.clamp(0.0, total);
                self.entries.push(Placement { cell: cell as u32, side: 0, credit, total });
            }
        }
    }
}

/// Room for counts that follow each other on one index.
#[derive(Default)]
pub(super) struct TallyRoom {
    parts: Vec<Tally>,
    all: Tally,
    unit: Option<UnitSums>,
    sums: RateSums,
}

impl TallyRoom {
    /// Puts the value of each rate in place of others; NaN for one without pairs.
    pub(super) fn put_values(
        &mut self,
        index: &PairIndex,
        order: &ScoreOrder,
        (ties, average): (Ties, Average),
        values: &mut Vec<f64>,
    ) {
        let TallyRoom { parts, all, unit, sums } = self;
        all.recount(index, order, ties, parts);
        let unit = unit.get_or_insert_with(|| UnitSums::new(index));
        all.put_rate_sums(unit, index.is_by_query(average), sums);
        values.clear();
        values.extend((0..sums.totals.len()).map(|rate| sums.value(rate)));
    }

    /// The rates that each cell belongs to.
    pub(super) fn unit(&mut self, index: &PairIndex) -> &UnitSums {
        self.unit.get_or_insert_with(|| UnitSums::new(index))
    }
}

/// What the pairs of each rate earned, and what they could have earned, over all units.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct RateSums {
    pub credits: Vec<f64>,
    pub totals: Vec<f64>,
}

impl RateSums {
    /// The value of a rate; NaN for one without pairs.
    pub(crate) fn value(&self, rate: usize) -> f64 {
        if self.totals[rate] > 0.0 { self.credits[rate] / self.totals[rate] } else { f64::NAN }
    }

    /// Adds others, which count so much; finite, as squared errors may not be.
    pub(crate) fn add(&mut self, others: &RateSums, share: f64) {
        let lists = [(&mut self.credits, &others.credits), (&mut self.totals, &others.totals)];
        for (sums, others) in lists {
            sums.iter_mut().zip(others).for_each(|(sum, other)| *sum = (*sum + share * other).min(f64::MAX));
        }
    }

    pub(crate) fn values(&self) -> Vec<f64> {
        (0..self.totals.len()).map(|rate| self.value(rate)).collect()
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
        UnitSums::of(&index.layout, &index.rates)
    }

    /// The same for these rates of a table.
    pub(crate) fn of(layout: &CellLayout, rates: &[Rate]) -> UnitSums {
        let mut rates_of = vec![Vec::new(); layout.len()];
        for (number, &rate) in rates.iter().enumerate() {
            layout.cells(rate).into_iter().for_each(|cell| rates_of[cell].push(number as u32));
        }
        let none = vec![[0.0; 2]; rates.len()];
        UnitSums { rates_of, touched: Vec::new(), credits: none.clone(), totals: none }
    }

    /// The rates that a cell belongs to.
    pub(crate) fn rates_of(&self, cell: u32) -> &[u32] {
        &self.rates_of[cell as usize]
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
