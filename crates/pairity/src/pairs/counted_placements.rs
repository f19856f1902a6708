//! The placements of examples in pairs that count one each, by trees of places in score order: nothing is kept of an
//! example but its place.
//!
//! Going up in label, let L hold the examples of lower labels, T those of labels up to the present one, and A all of
//! them, and let X(p) be how many of X stand before place p in score order. An example whose score takes the places
//! from p to q has, of each group,
//!
//! ```text
//! worse ones with a lower score    L(p)                     of an equal score    L(q) − L(p)
//! better ones with a higher score  |A| − |T| − A(q) + T(q)  of an equal score    A(q) − A(p) − T(q) + T(p)
//! any with a lower score           A(p)                     of an equal score    A(q) − A(p)
//! ```
//!
//! so that with half credit for equal scores all of them are half a sum of what is found at p and at q.
//!
//! Where counts kept L(p) of each example, no tree is needed: labels and scores are then distinct, so that q is p + 1, and
//! T(p) is L(p).

use super::index::QueryPairs;
use super::label_walk::{inserted, level_end};
use super::order::{DrawnOrder, KeptCounts, Places, QueryPlaces, position};
use super::rank_tree::{RankList, RankTree};
use super::tally::{CellLayout, Placement};
use crate::rates::Ties;
use std::ops::Range;

/// Groups of a tree; more take several.
const G: usize = 4;

/// About so many examples are placed at once for each tree, so that a tree that was fetched is used.
const STRETCH: usize = 256;

/// The most examples that are placed at once, unless they have one label.
const LONGEST: usize = 4096;

/// Trees of `G` groups each.
type Trees = Vec<RankTree<G>>;

/// One member of a mixture.
struct MemberPlaces<'a> {
    chance: f32,
    places: QueryPlaces<'a>,
    /// All examples, `G` groups each.
    all: Vec<RankList<G>>,
}

/// The placements of the examples of one query.
pub(super) struct CountedPlacements<'a> {
    query: &'a QueryPairs<'a>,
    members: Vec<MemberPlaces<'a>>,
    /// Examples of each group.
    sizes: Vec<u32>,
    /// For an example of each group, those whose parity with it is told.
    others: Vec<Vec<usize>>,
    /// Of the only member.
    kept: Option<&'a KeptCounts>,
    ties: Ties,
}

/// What was found of an example with those of one group: how many have a lower label and a higher one, and twice the
/// credit as the better one and as the worse one, and whatever the labels as the first of a pair and as the second.
#[derive(Clone, Copy, Default)]
struct PlacedCounts {
    totals: [u32; 2],
    credits: [f32; 4],
}

/// A walk through positions in order.
pub(super) struct Walk {
    /// The examples of labels up to the present one, of each member.
    trees: Vec<Trees>,
    /// The first position that is not in the trees.
    next: usize,
    /// The positions that placements are found of, and where to stop.
    positions: Range<usize>,
    stop: usize,
    /// By position and group.
    found: Vec<PlacedCounts>,
    /// Examples of each group before the next position, where counts were kept.
    through: [i32; G],
}

fn trees(query: &QueryPairs, places: &Places, positions: Range<usize>) -> Trees {
    let tree = |first: usize| {
        let mut tree = RankTree::default();
        tree.reset(query.len());
        tree.extend(inserted::<G>(query, places, first, positions.clone()));
        tree
    };
    (0..query.present.len()).step_by(G).map(tree).collect()
}

impl<'a> CountedPlacements<'a> {
    pub(super) fn new(
        query: &'a QueryPairs,
        members: &'a [DrawnOrder],
        layout: &CellLayout,
        ties: Ties,
    ) -> Self {
        let member = |member: &'a DrawnOrder| {
            let entries = member.order.entries(query);
            let group = |place: usize| usize::from(query.group[position(entries[place])]);
            let list = |first| RankList::new(query.len(), |place| group(place).wrapping_sub(first));
            let all = (0..query.present.len()).step_by(G).map(list).collect();
            MemberPlaces { chance: member.chance() as f32, places: member.order.places(query), all }
        };
        let is_told = |own: u16, other: u16| own != other && usize::from(own.max(other)) < layout.groups;
        let others = |&own: &u16| {
            let others = query.present.iter().enumerate().filter(|(_, other)| is_told(own, **other));
            others.map(|(column, _)| column).collect()
        };
        let kept = match members {
            [only] if query.len() == only.order.scores.len() => only.order.kept(),
            _ => None,
        };
        CountedPlacements {
            query,
            members: members.iter().map(member).collect(),
            sizes: sizes(query, 0..query.len()),
            others: query.present.iter().map(others).collect(),
            kept,
            ties,
        }
    }

    /// A walk through some positions.
    pub(super) fn walk(&self, positions: Range<usize>) -> Walk {
        let rank = self.query.rank;
        let lower = rank[..positions.start].partition_point(|&other| other < rank[positions.start]);
        let mut through = [0; G];
        let mut trees_of = &self.members[..];
        if self.kept.is_some() {
            trees_of = &[];
            through.iter_mut().zip(sizes(self.query, 0..lower)).for_each(|(to, size)| *to = size as i32);
        }
        Walk {
            trees: trees_of.iter().map(|member| trees(self.query, &member.places, 0..lower)).collect(),
            through,
            next: lower,
            positions: positions.start..positions.start,
            stop: positions.end,
            found: Vec::new(),
        }
    }

    /// Finds the placements of the next positions: some whole labels, or the rest.
    fn find(&self, walk: &mut Walk) {
        let (query, k) = (self.query, self.query.present.len());
        let from = walk.positions.end;
        let stretch = (STRETCH * k.div_ceil(G)).min(LONGEST);
        // A label that goes on where a walk starts or stops is inserted as a whole.
        let mut levels = Vec::new();
        while walk.next < walk.stop && walk.next < from + stretch {
            let end = level_end(query.rank, walk.next);
            levels.push(walk.next..end);
            walk.next = end;
        }
        walk.positions = from..walk.next.min(walk.stop);
        walk.found.clear();
        walk.found.resize(walk.positions.len() * k, PlacedCounts::default());
        let own = |level: &Range<usize>| level.start.max(from)..level.end.min(walk.stop);
        for (member, trees) in self.members.iter().zip(&mut walk.trees) {
            for (first, (tree, all)) in (0..k).step_by(G).zip(trees.iter_mut().zip(&member.all)) {
                let columns = G.min(k - first);
                tree.touch(walk.positions.clone().map(|at| member.places.of(at)));
                all.touch(walk.positions.clone().map(|at| member.places.of(at)));
                for level in &levels {
                    if level.len() == 1 && level.start >= from {
                        let found = &mut walk.found[(level.start - from) * k + first..][..columns];
                        self.read_alone(member, (&mut *tree, all), level.start, first, found);
                        continue;
                    }
                    for at in own(level) {
                        let found = &mut walk.found[(at - from) * k + first..][..columns];
                        self.read_worse(member, tree, at, found);
                    }
                    tree.extend(inserted::<G>(query, &member.places, first, level.clone()));
                    for at in own(level) {
                        let found = &mut walk.found[(at - from) * k + first..][..columns];
                        self.read_others(member, (&*tree, all), at, found);
                    }
                }
            }
        }
    }

    /// The pairs of a position with those of lower labels, which are in the tree.
    #[inline(always)]
    fn read_worse(&self, member: &MemberPlaces, tree: &RankTree<G>, at: usize, found: &mut [PlacedCounts]) {
        let run = member.places.run(at);
        let start = tree.before(run.start);
        let end = if run.len() > 1 { tree.before(run.end) } else { start };
        self.add_worse(member, tree.all, [start, end], found);
    }

    #[inline(always)]
    fn add_worse(
        &self,
        member: &MemberPlaces,
        lower: [i32; G],
        [start, end]: [[i32; G]; 2],
        found: &mut [PlacedCounts],
    ) {
        let second = if self.ties == Ties::Half { end } else { start };
        for (column, found) in found.iter_mut().enumerate() {
            found.totals[0] = lower[column] as u32;
            found.credits[0] += member.chance * (start[column] + second[column]) as f32;
        }
    }

    /// The pairs of a position with those of higher labels, and with any; lower and equal ones are in the first tree,
    /// and all of them in the second.
    #[inline(always)]
    fn read_others(
        &self,
        member: &MemberPlaces,
        (tree, all): (&RankTree<G>, &RankList<G>),
        at: usize,
        found: &mut [PlacedCounts],
    ) {
        let run = member.places.run(at);
        // At its first place it is in neither tree itself, and behind its last one it is in both.
        let before = |place: usize| [tree.before(place), all.before(place)];
        let start = before(run.start);
        let end = if run.len() > 1 { before(run.end) } else { start };
        self.add_others(member, [tree.all, all.all], [start, end], found);
    }

    #[inline(always)]
    fn add_others(
        &self,
        member: &MemberPlaces,
        [through, all]: [[i32; G]; 2],
        [start, end]: [[[i32; G]; 2]; 2],
        found: &mut [PlacedCounts],
    ) {
        // Equal scores count half, or for neither side.
        let (low, first) = if self.ties == Ties::Half { (start, end) } else { (end, start) };
        for (column, found) in found.iter_mut().enumerate() {
            let above = all[column] - through[column];
            found.totals[1] = above as u32;
            let higher = |[through, all]: [[i32; G]; 2]| above - (all[column] - through[column]);
            let second = 2 * all[column] - low[1][column] - end[1][column];
            let counts = [higher(low) + higher(end), start[1][column] + first[1][column], second];
            for (credit, count) in found.credits[1..].iter_mut().zip(counts) {
                *credit += member.chance * count as f32;
            }
        }
    }

    /// All pairs of a position whose label no other has; it is inserted into the first tree.
    #[inline(always)]
    fn read_alone(
        &self,
        member: &MemberPlaces,
        (tree, all): (&mut RankTree<G>, &RankList<G>),
        at: usize,
        first: usize,
        found: &mut [PlacedCounts],
    ) {
        let run = member.places.run(at);
        let start = [tree.before(run.start), all.before(run.start)];
        let mut end = if run.len() > 1 { [tree.before(run.end), all.before(run.end)] } else { start };
        self.add_worse(member, tree.all, [start[0], end[0]], found);
        let column = usize::from(self.query.group[at]).wrapping_sub(first);
        if column < G {
            tree.insert(member.places.of(at), column);
            end[0][column] += i32::from(run.len() > 1);
        }
        self.add_others(member, [tree.all, all.all], [start, end], found);
    }

    /// All pairs of a position that counts were kept of, by group: how many have a lower label and a higher one; then the
    /// credit, as in [`PlacedCounts`], but not twice it.
    #[inline(always)]
    fn read_kept(
        &self,
        kept: &KeptCounts,
        at: usize,
        through: &mut [i32; G],
    ) -> ([[i32; G]; 2], [[i32; G]; 4]) {
        let list = &self.members[0].all[0];
        let (before, lower, totals) = (list.before(self.members[0].places.of(at)), kept.at(at), *through);
        let own = usize::from(self.query.group[at]);
        (0..G).for_each(|column| through[column] += i32::from(column == own));
        let above: [i32; G] = std::array::from_fn(|column| list.all[column] - through[column]);
        let better = std::array::from_fn(|column| above[column] - before[column] + lower[column]);
        let second = std::array::from_fn(|column| list.all[column] - before[column]);
        ([totals, above], [lower, better, before, second])
    }

    /// Half of twice a credit, as a number of 32 bits.
    #[inline(always)]
    fn credit(&self, count: i32) -> f64 {
        0.5 * f64::from(self.members[0].chance * (2 * count) as f32)
    }

    /// Sets credits and the totals of label-ordered pairs of the example at a position, which comes after the last one,
    /// in the columns that [`add_to`](Self::add_to) makes.
    #[inline(always)]
    pub(super) fn set(
        &self,
        (credits, totals, stride): (&mut [f64], &mut [f64], usize),
        walk: &mut Walk,
        at: usize,
    ) {
        let k = self.query.present.len();
        let others = &self.others[usize::from(self.query.group[at])];
        if let Some(kept) = self.kept {
            if at >= walk.positions.end {
                self.next_kept(walk, at);
            }
            let (of_labels, counts) = self.read_kept(kept, at, &mut walk.through);
            let mut earned = [[0.0; G]; 4];
            for (earned, counts) in earned.iter_mut().zip(&counts) {
                (0..G).for_each(|column| earned[column] = self.credit(counts[column]));
            }
            for column in 0..k.min(G) {
                let to = 2 * column * stride;
                (credits[to], credits[to + stride]) = (earned[0][column], earned[1][column]);
                let [lower, higher] = &of_labels;
                (totals[to], totals[to + stride]) = (f64::from(lower[column]), f64::from(higher[column]));
            }
            for (to, &other) in (2 * k * stride..).step_by(2 * stride).zip(others) {
                (credits[to], credits[to + stride]) = (earned[2][other], earned[3][other]);
            }
            return;
        }
        if at >= walk.positions.end {
            self.find(walk);
        }
        let found = &walk.found[(at - walk.positions.start) * k..][..k];
        for (column, found) in (0..).step_by(2).zip(found) {
            let [worse, better, ..] = found.credits.map(|credit| 0.5 * f64::from(credit));
            // Below 2³¹, which is known of numbers with a sign.
            let [lower, higher] = found.totals.map(|total| f64::from(total as i32));
            (credits[column * stride], credits[(column + 1) * stride]) = (worse, better);
            (totals[column * stride], totals[(column + 1) * stride]) = (lower, higher);
        }
        for (parity, &other) in (2 * k..).step_by(2).zip(others) {
            let [.., first, second] = found[other].credits.map(|credit| 0.5 * f64::from(credit));
            (credits[parity * stride], credits[(parity + 1) * stride]) = (first, second);
        }
    }

    /// Goes on to the next positions that are placed one by one, as counts were kept.
    fn next_kept(&self, walk: &mut Walk, at: usize) {
        walk.positions = at..walk.stop.min(at + STRETCH);
        let member = &self.members[0];
        member.all[0].touch(walk.positions.clone().map(|at| member.places.of(at)));
    }

    /// The placements of the example at a position, which comes after the last one.
    pub(super) fn add_to(&self, to: &mut Vec<Placement>, walk: &mut Walk, at: usize, layout: &CellLayout) {
        if at >= walk.positions.end {
            match self.kept {
                Some(_) => self.next_kept(walk, at),
                None => self.find(walk),
            }
        }
        let present = self.query.present;
        let k = present.len();
        let of_kept: Vec<PlacedCounts>;
        let found = match self.kept {
            None => &walk.found[(at - walk.positions.start) * k..][..k],
            Some(kept) => {
                let (totals, counts) = self.read_kept(kept, at, &mut walk.through);
                let credit = |count: i32| self.members[0].chance * (2 * count) as f32;
                let placed = |column: usize| PlacedCounts {
                    totals: totals.map(|row| row[column] as u32),
                    credits: counts.map(|row| credit(row[column])),
                };
                of_kept = (0..k).map(placed).collect();
                &of_kept[..]
            }
        };
        let own = usize::from(present[usize::from(self.query.group[at])]);
        let mut add = |cell: usize, side: u8, credit: f32, total: u32| {
            to.push(Placement {
                cell: cell as u32,
                side,
                credit: 0.5 * f64::from(credit),
                total: total.into(),
            });
        };
        for (&code, found) in present.iter().zip(found) {
            add(layout.accuracy(own, code.into()), 0, found.credits[0], found.totals[0]);
            add(layout.accuracy(code.into(), own), 1, found.credits[1], found.totals[1]);
        }
        for ((&code, found), &size) in present.iter().zip(found).zip(&self.sizes) {
            let code = usize::from(code);
            if own != code && own.max(code) < layout.groups {
                add(layout.parity(own, code), 0, found.credits[2], size);
                add(layout.parity(code, own), 1, found.credits[3], size);
            }
        }
    }
}

/// How many of each group there are at some positions.
fn sizes(query: &QueryPairs, positions: Range<usize>) -> Vec<u32> {
    let mut sizes = vec![0; query.present.len()];
    query.group[positions].iter().for_each(|&group| sizes[usize::from(group)] += 1);
    sizes
}
