//! The slow and obvious count, pair by pair, that every fast one is tested against; and random tables
//! full of ties, empty groups, one-row queries, zero weights, ±0, huge and tiny scores.

use super::index::Sizes;
use super::tally::CellLayout;
use crate::examples::{Columns, Examples, Groups, PairWeight, PairsWhere};
use crate::rates::{Rate, Ties};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A table by rows, as a user would give it.
#[derive(Debug, Clone, Default)]
pub(crate) struct OracleRows {
    pub scores: Vec<f64>,
    pub labels: Option<Vec<f64>>,
    pub groups: Option<Vec<String>>,
    pub protected: Option<Vec<f64>>,
    pub queries: Option<Vec<u32>>,
    pub within: Option<Vec<u32>>,
    pub weights: Option<Vec<f64>>,
    pub factors: Option<Vec<f64>>,
    pub label_gap: bool,
    /// Only pairs whose first row is higher here count.
    pub side: Option<Vec<f64>>,
}

impl OracleRows {
    /// Whether two rows are compared: they are of one query, and of one block of it.
    pub(crate) fn compares(&self, i: usize, j: usize) -> bool {
        let agree = |column: &Option<Vec<u32>>| column.as_ref().is_none_or(|column| column[i] == column[j]);
        agree(&self.queries) && agree(&self.within)
    }

    pub(crate) fn examples(&self) -> Option<Examples> {
        self.ordered_above(Sizes::default().small)
    }

    /// The same where queries of more than `small` examples count as large.
    pub(crate) fn ordered_above(&self, small: usize) -> Option<Examples> {
        let groups = self.groups.as_ref().map(|names| Groups::from_names(names));
        let columns = Columns {
            labels: self.labels.as_deref(),
            groups: groups.as_ref(),
            protected: self.protected.as_deref(),
            queries: self.queries.as_deref(),
            within: self.within.as_deref(),
            weights: self.weights.as_deref(),
            pair_weight: match (&self.factors, self.label_gap) {
                (Some(factors), _) => PairWeight::Product(factors),
                (None, true) => PairWeight::LabelGap,
                (None, false) => PairWeight::One,
            },
            pairs_where: self.side.as_deref().map_or(PairsWhere::Any, PairsWhere::Higher),
        };
        Examples::ordered_above(small, columns).ok()
    }
}

/// Sums of one cell, and of each row's part in it by side.
#[derive(Debug, Clone, Default)]
pub(crate) struct CellSums {
    pub credit: f64,
    pub total: f64,
    pub pairs: u64,
    /// (row, side) to (credit, total).
    pub placements: BTreeMap<(usize, u8), (f64, f64)>,
}

/// A pair of rows in a cell of a query: the better or first one, then the other.
pub(crate) struct RowPair {
    pub query: u32,
    pub cell: usize,
    pub rows: [usize; 2],
    pub worth: f64,
}

/// Every pair of rows of every cell.
pub(crate) fn pairs(rows: &OracleRows) -> Vec<RowPair> {
    let n = rows.scores.len();
    let groups = rows.groups.as_ref().map(|names| Groups::from_names(names));
    // Groups are named among the rows that are left after zero weights, as users see them all.
    let layout = CellLayout {
        groups: groups.as_ref().map_or(0, |g| g.names().len()),
        labels: rows.labels.is_some(),
        continuous: rows.protected.is_some(),
    };
    let code = |row: usize| groups.as_ref().and_then(|g| g.code(row)).unwrap_or(layout.groups);
    let weight = |row: usize| rows.weights.as_ref().map_or(1.0, |w| w[row]);
    let factor = |row: usize| weight(row) * rows.factors.as_ref().map_or(1.0, |f| f[row]);
    let query = |row: usize| rows.queries.as_ref().map_or(0, |q| q[row]);
    let mut pairs = Vec::new();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let is_chosen = rows.side.as_ref().is_none_or(|side| side[i] > side[j]);
        if i == j || !rows.compares(i, j) || !is_chosen || weight(i) == 0.0 || weight(j) == 0.0 {
            continue;
        }
        let mut add = |cell, worth| pairs.push(RowPair { query: query(i), cell, rows: [i, j], worth });
        let (a, b, worth) = (code(i), code(j), factor(i) * factor(j));
        if a != b && a < layout.groups && b < layout.groups {
            add(layout.parity(a, b), worth);
        }
        match &rows.protected {
            Some(z) if z[i] > z[j] => add(layout.parity_greater(), worth),
            Some(z) if z[i] < z[j] => add(layout.parity_less(), worth),
            _ => {}
        }
        let Some(labels) = &rows.labels else { continue };
        if labels[i] > labels[j] {
            let worth = if rows.label_gap { worth * (labels[i] - labels[j]) } else { worth };
            add(layout.accuracy(a, b), worth);
            match &rows.protected {
                Some(z) if z[i] > z[j] => add(layout.greater(), worth),
                Some(z) if z[i] < z[j] => add(layout.less(), worth),
                _ => {}
            }
        }
    }
    pairs
}

/// Every cell of every query.
pub(crate) fn count(rows: &OracleRows, ties: Ties) -> BTreeMap<(u32, usize), CellSums> {
    let mut cells: BTreeMap<(u32, usize), CellSums> = BTreeMap::new();
    for RowPair { query, cell, rows: [i, j], worth } in pairs(rows) {
        let credit = if rows.scores[i] > rows.scores[j] {
            worth
        } else if rows.scores[i] == rows.scores[j] {
            ties.credit() * worth
        } else {
            0.0
        };
        let sums = cells.entry((query, cell)).or_default();
        sums.credit += credit;
        sums.total += worth;
        sums.pairs += 1;
        for (row, side) in [(i, 0), (j, 1)] {
            let placement = sums.placements.entry((row, side)).or_default();
            placement.0 += credit;
            placement.1 += worth;
        }
    }
    cells
}

/// Every rate of examples.
pub(crate) fn all_rates(examples: &Examples) -> Vec<Rate> {
    let k = examples.groups().len();
    let mut rates = vec![Rate::AUC, Rate::Mse];
    rates.extend((0..k).flat_map(|a| [Rate::row(a), Rate::column(a)]));
    rates.extend((0..k).flat_map(|a| (0..k).map(move |b| Rate::accuracy(a, b))));
    for (first, second) in (0..k).flat_map(|a| (0..k).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        rates.push(Rate::Parity { first, second });
    }
    if examples.is_continuous() {
        rates.extend([Rate::Greater, Rate::Less, Rate::ParityGreater, Rate::ParityLess]);
    }
    rates
}

/// Sizes on both sides of every switch between algorithms, for tables of about a hundred rows.
pub(crate) fn sizes() -> impl Strategy<Value = Sizes> {
    let usual = Sizes::default();
    let either = |tiny: usize, usual: usize| prop_oneof![Just(tiny), 0usize..20, Just(usual)];
    let leaves = (
        either(1, usual.count_leaf),
        either(1, usual.attribute_leaf),
        either(1, usual.slope_leaf),
        either(3, usual.slope_bands),
    );
    let forks = (either(4, usual.count_fork), either(4, usual.slope_fork), either(1, usual.placement_chunk));
    let trees = (
        either(0, usual.tree_examples),
        either(0, usual.tree_labels),
        either(0, usual.net_pairs),
        either(0, usual.grid_examples),
        either(3, usual.net_blocks),
        any::<bool>(),
    );
    (prop_oneof![Just(0), Just(usual.small), Just(200)], leaves, either(0, usual.slope_pairs), forks, trees)
        .prop_map(move |(small, leaves, slope_pairs, forks, trees)| Sizes {
            small,
            count_leaf: leaves.0,
            attribute_leaf: leaves.1,
            slope_leaf: leaves.2,
            slope_bands: leaves.3,
            slope_pairs,
            count_fork: forks.0,
            slope_fork: forks.1,
            placement_chunk: forks.2,
            tree_examples: trees.0,
            tree_labels: trees.1,
            net_pairs: trees.2,
            grid_examples: trees.3,
            net_blocks: trees.4,
            sweeps_two_labels: trees.5,
            sum_rows: usual.sum_rows,
        })
}

fn scores(n: usize) -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        // Many ties.
        prop::collection::vec((-3i32..3).prop_map(f64::from), n),
        // Hardly any.
        prop::collection::vec(-1.0..1.0f64, n),
        // The edges of what a number can be.
        prop::collection::vec(
            prop::sample::select(vec![0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 1e-300, 1.0]),
            n
        ),
        Just(vec![1.0; n]),
    ]
}

fn some<T: Clone + std::fmt::Debug>(strategy: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.5, strategy)
}

/// Random tables; with queries of very different sizes, both below and above the size from which they
/// are swept.
pub(crate) fn tables() -> impl Strategy<Value = OracleRows> {
    (1usize..130, 0u32..3).prop_flat_map(|(n, kind)| {
        let labels = prop_oneof![
            prop::collection::vec((0i32..2).prop_map(f64::from), n),
            prop::collection::vec((-2i32..4).prop_map(|y| f64::from(y) / 2.0), n),
            prop::collection::vec(-100.0..100.0f64, n),
            Just(vec![0.25; n]),
        ];
        let groups = (1usize..7).prop_flat_map(move |k| {
            let names: Vec<String> =
                (0..=k).map(|g| if g == k { String::new() } else { format!("g{g}") }).collect();
            prop::collection::vec(prop::sample::select(names), n)
        });
        let attribute = prop_oneof![
            prop::collection::vec((0i32..5).prop_map(f64::from), n),
            prop::collection::vec(-1.0..1.0f64, n),
            prop::collection::vec(prop::sample::select(vec![f64::NAN, -0.0, 0.0, 1e300, 2.5]), n),
        ];
        // The square makes the first queries large and the last ones single rows.
        let queries = prop::collection::vec((0u32..30).prop_map(|q| q * q / 100), n);
        let within = prop::collection::vec(0u32..3, n);
        let side = prop_oneof![
            prop::collection::vec((0i32..5).prop_map(f64::from), n),
            prop::collection::vec(prop::sample::select(vec![0.0, -0.0, 1e300, -2.5]), n),
            prop::collection::vec(-1.0..1.0f64, n),
        ];
        let weights = prop::collection::vec(prop::sample::select(vec![0.0, 0.5, 1.0, 2.0, 3.7]), n);
        (
            scores(n),
            prop::option::weighted(0.9, labels),
            some(groups),
            some(attribute),
            (some(queries), prop::option::weighted(0.3, within), prop::option::weighted(0.3, side)),
            some(weights.clone()),
            some(weights),
        )
            .prop_map(
                move |(scores, labels, groups, protected, (queries, within, side), weights, factors)| {
                    OracleRows {
                        scores,
                        label_gap: kind == 1 && labels.is_some(),
                        labels,
                        // Groups, a continuous attribute, or a choice of pairs without it.
                        protected: if groups.is_some() || side.is_some() { None } else { protected },
                        side,
                        groups,
                        queries,
                        within,
                        weights: if kind == 0 { None } else { weights },
                        factors: if kind == 2 { factors } else { None },
                    }
                },
            )
    })
}
