//! One weight for each pair: what all rates together make of it, so that what holds it up and what holds it down
//! cancel. A Lagrangian of rates is a sum of such pairs, and this is what is descended in place of it:
//!
//! ```text
//! Σ w⁺ h(t) − Σ w⁻ σ(t)  + mse · mean (s − y)²,          t = (s_i − s_j) / margin,   w = w⁺ − w⁻
//!
//! h(t) = ((1 − t)₊² − (−1 − t)₊²) / 4                     a hinge with a round corner: convex, smooth
//! σ(t) = ((1 − t)₊² − 2 (−t)₊² + (−1 − t)₊²) / 2          a smooth step from 1 to 0: bounded, close to the error
//! ```
//!
//! A pair that is to be ordered has the convex bound, unless everything is to be bounded; one that is better off in the
//! other order has the step, since a convex bound would drive it apart without end. Both are sums of squared hinges
//! (m − d)₊² with m = margin, 0, −margin, which are summed exactly without a list of pairs.

use super::attribute_blocks::{AttributeBlocks, BlockRoom, ClassWeights};
use super::index::{QueryPairs, with_masses};
use super::mass::Mass;
use super::order::ScoreOrder;
use super::rate_index::RateIndex;
use super::slopes::{Coefficients, RateWeights, ScoredPairs, SquaredHinge, SurrogateKind};
use super::surrogate::Weights;

/// What stands in place of a pair's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NetShape {
    /// The round hinge where a pair is to be ordered, the smooth step where it is not.
    Convex,
    /// The smooth step everywhere.
    Bounded,
}

/// A loss of pairs by their net weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NetLoss {
    pub shape: NetShape,
    /// The difference of scores from which a pair counts as ordered.
    pub margin: f64,
}

/// A squared hinge: where it begins, as a share of the margin, and its factor in each shape.
struct Piece {
    at: f64,
    convex: f64,
    step: f64,
}

const PIECES: [Piece; 3] = [
    Piece { at: 1.0, convex: 0.25, step: 0.5 },
    Piece { at: 0.0, convex: 0.0, step: -1.0 },
    Piece { at: -1.0, convex: -0.25, step: 0.5 },
];

impl NetLoss {
    /// The value at scores, and its gradient, which is overwritten; in the order of the examples.
    pub(crate) fn evaluate(
        &self,
        index: &RateIndex,
        scores: &[f64],
        weights: Weights,
        gradient: &mut [f64],
    ) -> f64 {
        let (pairs, mse) = (&index.pairs, weights.mse);
        let EvaluationRoom { pooled, shaped, values } = &mut *pairs.rooms.lend();
        let net = NetCoefficients::new(index, weights, pooled);
        let weighs = weights.hold_up.iter().zip(weights.hold_down).any(|(up, down)| up != down);
        let order = &if weighs { index.order(scores) } else { ScoreOrder::unsorted(scores) };
        let square = 2.0 / (self.margin * self.margin);
        let factor = |piece: &Piece, net: f64| match self.shape {
            NetShape::Convex if net > 0.0 => square * piece.convex * net,
            _ => square * piece.step * net,
        };
        let mirrored = index.is_mirrored();
        if let Some(net) = net.pooled {
            for (piece, all) in PIECES.iter().zip(&mut *shaped) {
                all.map_from(net, mirrored, |net| factor(piece, net));
            }
        }
        let of_task = |blocks: std::ops::Range<usize>, gradient: &mut [f64]| {
            let start = pairs.examples.block(blocks.start).start;
            let TaskRoom { own, piece: piece_room, query: room } = &mut *pairs.rooms.lend::<TaskRoom>();
            let mut sum = 0.0;
            for block in blocks {
                let query = pairs.query(block);
                let gradient = &mut gradient[query.range.start - start..query.range.end - start];
                room.start(order.scores(&query), &query);
                let directly = index.pairs.layout.labels && query.is_compared_directly();
                if directly {
                    let net = net.of_block(block, own);
                    sum += self.add_directly(index, &query, net, room);
                }
                let blocks = query.blocks.filter(|_| !directly && index.pairs.layout.labels);
                if let Some(blocks) = blocks {
                    let net = net.of_block(block, own);
                    sum += self.add_by_blocks(blocks, order.entries(&query), net, room);
                }
                let by_pieces = !directly && blocks.is_none();
                for (piece, all) in PIECES.iter().zip(&*shaped) {
                    let coefficients = match net.pooled.is_some() {
                        true if query.present.len() == pairs.codes.len() => all,
                        true => piece_room.select(all, pairs.codes.len(), query.present),
                        false => {
                            let own = net.of_block(block, own);
                            piece_room.map_from(own, mirrored, |net| factor(piece, net))
                        }
                    };
                    room.add(index, &query, order, coefficients, piece.at * self.margin, by_pieces);
                }
                sum += room.finish(&query, gradient);
                if mse != 0.0 {
                    sum += mse * index.add_squared_error::<SquaredHinge>(block, mse, order.scores, gradient);
                }
            }
            sum
        };
        values.clear();
        values.resize(pairs.tasks.len(), 0.0);
        pairs.each_task(gradient, values, &of_task);
        values.iter().sum()
    }
}

impl NetLoss {
    /// The value of the label-ordered pairs of a query, one by one, whose slopes are added.
    fn add_directly(
        &self,
        index: &RateIndex,
        query: &QueryPairs,
        net: &Coefficients,
        room: &mut QueryRoom,
    ) -> f64 {
        let k = query.present.len();
        let by_order: [f64; 3] = net.joint.map(|cell| cell[0]);
        with_masses!(&index.pairs.label_ordered, masses => {
            let masses = &masses[query.range.clone()];
            match (net.has_orders, net.has_accuracy) {
                (true, _) => self.each_directly(query, masses, room, |i, j| by_order[query.order_class(i, j)]),
                (false, true) => {
                    let cell = |i: usize, j: usize| {
                        net.accuracy[usize::from(query.group[i]) * k + usize::from(query.group[j])][0]
                    };
                    self.each_directly(query, masses, room, cell)
                }
                (false, false) => 0.0,
            }
        })
    }

    /// The value of the label-ordered pairs of a query in blocks, whose slopes are added.
    fn add_by_blocks(
        &self,
        blocks: &AttributeBlocks,
        entries: &[u32],
        net: &Coefficients,
        room: &mut QueryRoom,
    ) -> f64 {
        let QueryRoom { scores, slopes, direct, offset, blocks: own } = room;
        let classes = net.joint.map(|[net, _]| match self.shape {
            NetShape::Convex if net > 0.0 => ClassWeights { hinge: net, step: 0.0 },
            _ => ClassWeights { hinge: 0.0, step: net },
        });
        if classes == [ClassWeights::default(); 3] {
            return 0.0;
        }
        let found = blocks.add(entries, scores, &classes, self.margin, [slopes, direct], own);
        *offset += found.offset;
        found.compared
    }

    #[inline(always)]
    fn each_directly<M: Mass>(
        &self,
        query: &QueryPairs,
        masses: &[M],
        room: &mut QueryRoom,
        net: impl Fn(usize, usize) -> f64,
    ) -> f64 {
        let (by, convex) = (self.margin.recip(), self.shape == NetShape::Convex);
        let mut value = 0.0;
        for i in 0..query.len() {
            let (score, mass) = (room.scores[i], masses[i]);
            let worse = query.first[i] as usize;
            let (mut own, mut sum) = (0.0, 0.0);
            let others = room.scores[..worse].iter().zip(&mut room.direct[..worse]).zip(masses).enumerate();
            for (j, ((&other, slope), &other_mass)) in others {
                let weight = net(i, j) * mass.pair(other_mass);
                let t = (score - other) * by;
                // The step falls by 1 − |t| at t, the round hinge by (1 − t) / 2, each within its range.
                let fall = (1.0 - t.abs()).max(0.0);
                let half = fall * fall / 2.0;
                let step = if t < 0.0 { 1.0 - half } else { half };
                let share = ((1.0 - t) / 2.0).clamp(0.0, 1.0);
                let hinge = share * share + (-1.0 - t).max(0.0);
                let (bound, falls) = if convex & (weight > 0.0) { (hinge, share) } else { (step, fall) };
                sum += weight * bound;
                own -= weight * falls;
                *slope += weight * falls * by;
            }
            room.direct[i] += own * by;
            value += sum;
        }
        value
    }
}

/// Net weights as coefficients of cells.
struct NetCoefficients<'a> {
    index: &'a RateIndex<'a>,
    weights: RateWeights<'a>,
    /// Where they are the same in all queries.
    pooled: Option<&'a Coefficients>,
}

impl<'a> NetCoefficients<'a> {
    fn new(
        index: &'a RateIndex<'a>,
        weights: Weights<'a>,
        room: &'a mut Coefficients,
    ) -> NetCoefficients<'a> {
        let chosen = index.pairs.examples.side.is_some();
        // The ramp's coefficients are the signed differences.
        let weights =
            RateWeights { rates: index.rates(), weights, kind: SurrogateKind::Ramp, unit: 1.0, chosen };
        let pooled = index.fractions.pooled();
        let pooled = pooled.map(|fractions| room.fill(weights, fractions, &index.pairs.codes));
        NetCoefficients { index, weights, pooled }
    }

    fn of_block<'b>(&'b self, block: usize, own: &'b mut Coefficients) -> &'b Coefficients {
        let pairs = &self.index.pairs;
        let present = pairs.query(block).present;
        match self.pooled {
            Some(all) if present.len() == pairs.codes.len() => all,
            Some(all) => own.select(all, pairs.codes.len(), present),
            None => {
                let fractions = self.index.fractions.of_query(pairs.examples.query_of(block));
                own.fill(self.weights, fractions, present)
            }
        }
    }
}

/// What an evaluation uses again.
#[derive(Default)]
struct EvaluationRoom {
    /// Net weights that are the same in all queries, and their factors in each piece.
    pooled: Coefficients,
    shaped: [Coefficients; PIECES.len()],
    values: Vec<f64>,
}

/// What a task uses again.
#[derive(Default)]
struct TaskRoom {
    own: Coefficients,
    piece: Coefficients,
    query: QueryRoom,
}

/// What queries use again.
#[derive(Default)]
struct QueryRoom {
    scores: Vec<f64>,
    slopes: Vec<f64>,
    /// Slopes of pairs that were looked at one by one.
    direct: Vec<f64>,
    offset: f64,
    blocks: BlockRoom,
}

impl QueryRoom {
    fn start(&mut self, own: &[f64], query: &QueryPairs) {
        // Differences alone matter; counted from one of them, scores cost no precision in sums.
        self.scores.clear();
        self.scores.extend(query.example.iter().map(|&e| own[e as usize] - own[0]));
        self.slopes.clear();
        self.slopes.resize(self.scores.len(), 0.0);
        self.direct.clear();
        self.direct.resize(self.scores.len(), 0.0);
        self.offset = 0.0;
    }

    /// Adds the squared hinges that begin at a threshold.
    fn add(
        &mut self,
        index: &RateIndex,
        query: &QueryPairs,
        order: &ScoreOrder,
        coefficients: &Coefficients,
        threshold: f64,
        ordered: bool,
    ) {
        let QueryRoom { scores, slopes, offset, .. } = self;
        let entries = order.entries_of_slopes(query);
        let (scores, range, margin) = (&scores[..], query.range.clone(), threshold);
        if ordered && index.pairs.layout.labels && (coefficients.has_accuracy || coefficients.has_orders) {
            *offset += with_masses!(&index.pairs.label_ordered, masses => {
                let masses = &masses[range.clone()];
                ScoredPairs { query, order, entries: &entries, scores, masses, margin }
                    .label_ordered::<SquaredHinge>(coefficients, slopes)
            });
        }
        if coefficients.has_parity {
            let by_attribute = index.pairs.kinds.continuous_parity.then(|| query.by_attribute());
            let query = by_attribute.as_ref().unwrap_or(query);
            *offset += with_masses!(index.pairs.unordered(), masses => {
                let masses = &masses[range];
                ScoredPairs { query, order, entries: &entries, scores, masses, margin }
                    .unordered::<SquaredHinge>(coefficients, slopes)
            });
        }
    }

    /// The value; the gradient is overwritten.
    fn finish(&self, query: &QueryPairs, gradient: &mut [f64]) -> f64 {
        let mut moment = 0.0;
        let slopes = self.slopes.iter().zip(&self.direct);
        for ((&score, (&slope, direct)), &example) in self.scores.iter().zip(slopes).zip(query.example) {
            gradient[example as usize] = slope + direct;
            moment += score * slope;
        }
        (self.offset + moment) / 2.0
    }
}

impl RateIndex<'_> {
    /// Whether a pair of parity has a mirror image that stands for its other order.
    fn is_mirrored(&self) -> bool {
        self.pairs.examples.side.is_none() && !self.pairs.layout.continuous
    }

    /// How many pairs there are to compare; each may be visited once for its labels and once for its parity.
    pub(crate) fn pair_limit(&self) -> u64 {
        let examples = self.examples();
        let blocks = (0..examples.blocks()).map(|block| examples.block(block).len() as u64);
        blocks.map(|n| n.saturating_mul(n.saturating_sub(1)) / 2).fold(0, u64::saturating_add)
    }

    /// Visits every pair that has a net weight: two examples, and what the first one's scoring higher is worth. Equal
    /// scores are worth half of it, unless ties are strict; then weights of pairs held down are not net.
    pub(crate) fn each_pair(&self, weights: Weights, mut visit: impl FnMut(usize, usize, f64)) {
        let (mut pooled, mut own) = (Coefficients::default(), Coefficients::default());
        let net = NetCoefficients::new(self, weights, &mut pooled);
        for block in 0..self.examples().blocks() {
            let query = self.pairs.query(block);
            let coefficients = net.of_block(block, &mut own);
            let chosen = |i: usize, j: usize| match query.side {
                [] => true,
                side => side[i] > side[j] && side[i] != super::index::NO_RANK,
            };
            let example = |at: usize| query.range.start + query.example[at] as usize;
            let k = query.present.len();
            let cell = |i: usize, j: usize| usize::from(query.group[i]) * k + usize::from(query.group[j]);
            if self.pairs.layout.labels && (coefficients.has_accuracy || coefficients.has_orders) {
                with_masses!(&self.pairs.label_ordered, masses => {
                    let masses = &masses[query.range.clone()];
                    for i in 0..query.len() {
                        for j in (0..query.first[i] as usize).filter(|&j| chosen(i, j)) {
                            let c = match coefficients.has_orders {
                                true => coefficients.joint[query.order_class(i, j)][0],
                                false => coefficients.accuracy[cell(i, j)][0],
                            };
                            if c != 0.0 {
                                visit(example(i), example(j), c * masses[i].pair(masses[j]));
                            }
                        }
                    }
                });
            }
            if coefficients.has_parity {
                let continuous = self.pairs.kinds.continuous_parity;
                with_masses!(self.pairs.unordered(), masses => {
                    let masses = &masses[query.range.clone()];
                    for i in 0..query.len() {
                        for j in 0..query.len() {
                            let c = match continuous {
                                true if query.order_class(i, j) == 1 => coefficients.parity[0][0],
                                false if chosen(i, j) => coefficients.parity[cell(i, j)][0],
                                _ => 0.0,
                            };
                            if c != 0.0 && i != j {
                                visit(example(i), example(j), c * masses[i].pair(masses[j]));
                            }
                        }
                    }
                });
            }
        }
    }
}
