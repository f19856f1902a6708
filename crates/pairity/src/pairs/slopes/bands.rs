//! Slopes of the label-ordered pairs of one large query, whatever they weigh: O(K n log n / log 256).
//!
//! Positions are parted into up to 256 bands of labels. [Sweeps](super::sweeps) find all pairs between two bands, with
//! sums by band; then each band is parted in turn, down to bands that are small enough to compare every pair. Sums by
//! band stay in the nearest cache, and lists are read from one end to the other.

use super::ScoredPairs;
use super::shape::Slope;
use super::sweeps::{Held, Sweep, Sweeps, Swept, run_all, settle};
use crate::pairs::index::grown;
use crate::pairs::mass::Mass;
use crate::pairs::order::position;
use crate::rooms::Lent;
use crate::threads;
use crate::wide::wide;

/// The most bands of one part.
pub(in crate::pairs) const BANDS: usize = 256;

/// Entries of a block of sums.
const WIDE: usize = 16;

/// 16 of these from some index on are the bits of what an insertion adds to the entries of a block.
const AFTER: [u64; 2 * WIDE] = {
    let mut after = [0; 2 * WIDE];
    let mut i = WIDE;
    while i < after.len() {
        after[i] = u64::MAX;
        i += 1;
    }
    after
};

type Block<const P: usize> = [[f64; WIDE]; P];

/// Sums over the bands before each one: those before its block of bands, and those before it in its block.
struct BandSums<const G: usize, const P: usize> {
    blocks: [Block<P>; G],
    bands: Vec<[Block<P>; G]>,
    all: [[f64; P]; G],
}

impl<const G: usize, const P: usize> Default for BandSums<G, P> {
    fn default() -> Self {
        let none = [[[0.0; WIDE]; P]; G];
        BandSums { blocks: none, bands: Vec::new(), all: [[0.0; P]; G] }
    }
}

/// Adds to the entries behind one.
#[inline(always)]
fn add_after(entries: &mut [f64; WIDE], at: usize, number: f64) {
    let bits = number.to_bits();
    let after = &AFTER[WIDE - 1 - at..];
    entries.iter_mut().zip(after).for_each(|(entry, mask)| *entry += f64::from_bits(bits & mask));
}

/// Sums by band of the examples inserted.
struct HeldBands<'a, const G: usize, const P: usize> {
    sums: &'a mut BandSums<G, P>,
    parting: &'a Parting<'a>,
}

impl<'a, const G: usize, const P: usize> HeldBands<'a, G, P> {
    /// Nothing inserted.
    fn new(sums: &'a mut BandSums<G, P>, parting: &'a Parting) -> HeldBands<'a, G, P> {
        let none = [[[0.0; WIDE]; P]; G];
        (sums.blocks, sums.all) = (none, [[0.0; P]; G]);
        sums.bands.clear();
        sums.bands.resize(parting.bands.div_ceil(WIDE), none);
        HeldBands { sums, parting }
    }

    #[inline(always)]
    fn before(&self, band: usize) -> [[f64; P]; G] {
        let (block, at) = (band / WIDE, band % WIDE);
        let (blocks, bands) = (&self.sums.blocks, &self.sums.bands[block]);
        match self.parting.bands <= WIDE {
            true => std::array::from_fn(|g| std::array::from_fn(|p| bands[g][p][at])),
            false => std::array::from_fn(|g| std::array::from_fn(|p| blocks[g][p][block] + bands[g][p][at])),
        }
    }
}

impl<const G: usize, const P: usize> Held<G, P> for HeldBands<'_, G, P> {
    #[inline(always)]
    fn insert<M>(&mut self, example: &Swept<M>, column: usize, brought: [f64; P]) {
        let band = self.parting.band(example);
        let (block, at) = (band / WIDE, band % WIDE);
        for (part, number) in brought.into_iter().enumerate() {
            if self.parting.bands > WIDE {
                add_after(&mut self.sums.blocks[column][part], block, number);
            }
            add_after(&mut self.sums.bands[block][column][part], at, number);
            self.sums.all[column][part] += number;
        }
    }

    #[inline(always)]
    fn below<M>(&self, example: &Swept<M>) -> [[f64; P]; G] {
        self.before(self.parting.band(example))
    }

    #[inline(always)]
    fn above<M>(&self, example: &Swept<M>) -> [[f64; P]; G] {
        let next = self.parting.band(example) + 1;
        if next == self.parting.bands {
            return [[0.0; P]; G];
        }
        let (through, all) = (self.before(next), &self.sums.all);
        std::array::from_fn(|g| std::array::from_fn(|p| all[g][p] - through[g][p]))
    }
}

/// How positions are parted: the band of one is that of the first position of its label.
struct Parting<'a> {
    base: u32,
    first: &'a [u32],
    shift: u32,
    /// The band of the labels that begin at so many times 2^`shift` positions.
    band: [u8; BANDS],
    /// Where each band begins among the positions, and where the last one ends.
    bounds: [u32; BANDS + 1],
    bands: usize,
}

impl Parting<'_> {
    /// Of positions from `base` on, whose labels begin at `first`.
    fn new(base: usize, first: &[u32], most: usize) -> Parting<'_> {
        let last = first.last().map_or(0, |&first| first - base as u32);
        let mut shift = 0;
        while (last >> shift) as usize >= most.clamp(2, BANDS) {
            shift += 1;
        }
        let (mut band, mut bounds, mut bands) = ([0; BANDS], [0; BANDS + 1], 0);
        let start = |first: u32| ((first - base as u32) >> shift) as usize;
        for equal in first.chunk_by(|&a, &b| start(a) == start(b)) {
            band[start(equal[0])] = bands as u8;
            bounds[bands + 1] = bounds[bands] + equal.len() as u32;
            bands += 1;
        }
        Parting { base: base as u32, first, shift, band, bounds, bands }
    }

    fn bounds(&self) -> &[u32] {
        &self.bounds[..=self.bands]
    }

    #[inline(always)]
    fn band<M>(&self, example: &Swept<M>) -> usize {
        let at = example.position - self.base;
        let first = if example.tied { self.first[at as usize] - self.base } else { at };
        self.band[(first >> self.shift) as usize].into()
    }
}

/// What a thread needs for one part.
#[derive(Default)]
struct BandRoom<const G: usize, const P: usize> {
    sums: BandSums<G, P>,
    slopes: Vec<f64>,
}

/// All of a query's sweeps.
struct Bands<'a, M, const G: usize> {
    pairs: &'a ScoredPairs<'a, M>,
    sweeps: &'a [Sweep<G>],
    /// Adds the slopes of all pairs of positions from one on, and returns their offset.
    few: &'a (dyn Fn(usize, &mut [f64]) -> f64 + Sync),
}

impl<M: Mass> ScoredPairs<'_, M> {
    /// The examples in score order, as sweeps see them.
    pub(super) fn swept(&self) -> Lent<Vec<Swept<M>>> {
        let query = self.query;
        let any_tied = (0..).zip(query.first).any(|(at, &first)| at != first);
        let mut list = query.rooms.list(query.len());
        threads::fill(&mut list, &|from, own| {
            for (to, &entry) in own.iter_mut().zip(&self.entries[from..]) {
                let at = position(entry);
                let tied = any_tied && query.end[at] - query.first[at] > 1;
                let (score, mass, group) = (self.scores[at], self.masses[at], query.group[at]);
                *to = Swept { score, mass, position: at as u32, group, tied };
            }
        });
        list
    }

    /// Adds the slopes of all label-ordered pairs; returns the offset.
    pub(super) fn sweep_bands<S: Slope>(&self, cells: &[[f64; 2]], gradient: &mut [f64]) -> f64 {
        match self.query.present.len() {
            1 => self.sweep_bands_of::<S, 1>(cells, gradient),
            2 => self.sweep_bands_of::<S, 2>(cells, gradient),
            3 | 4 => self.sweep_bands_of::<S, 4>(cells, gradient),
            _ => self.sweep_bands_of::<S, 8>(cells, gradient),
        }
    }

    fn sweep_bands_of<S: Slope, const G: usize>(&self, cells: &[[f64; 2]], gradient: &mut [f64]) -> f64 {
        let few = |base: usize, gradient: &mut [f64]| {
            self.few::<S, true>(base, gradient, |i, j| self.cell(i, j), cells)
        };
        let sweeps = Sweeps::all::<S>(self.query, cells, self.margin);
        let bands = Bands::<M, G> { pairs: self, sweeps: sweeps.list(), few: &few };
        match M::PARTS << u32::from(S::SQUARED) {
            1 => bands.run::<1>(gradient),
            2 => bands.run::<2>(gradient),
            _ => bands.run::<4>(gradient),
        }
    }
}

impl<M: Mass, const G: usize> Bands<'_, M, G> {
    fn run<const P: usize>(&self, gradient: &mut [f64]) -> f64 {
        let mut examples = self.pairs.swept();
        let room = &mut self.pairs.query.rooms.lend::<BandRoom<G, P>>();
        self.part::<P>(&mut examples, &mut [], 0, gradient, room)
    }

    /// The pairs of all positions from `base` on, whose examples are given in score order; returns their offset.
    fn part<const P: usize>(
        &self,
        examples: &mut [Swept<M>],
        spare: &mut [Swept<M>],
        base: usize,
        gradient: &mut [f64],
        room: &mut BandRoom<G, P>,
    ) -> f64 {
        let (n, query) = (gradient.len(), self.pairs.query);
        let first = &query.first[base..base + n];
        if n <= query.sizes.slope_leaf {
            return (self.few)(base, gradient);
        }
        if first[0] == first[n - 1] {
            return 0.0;
        }
        let parting = Parting::new(base, first, query.sizes.slope_bands);
        let offset = self.pairs.margin * self.between(examples, &parting, gradient, room);
        let has_pairs = |band: &[u32]| first[band[0] as usize] != first[band[1] as usize - 1];
        if !parting.bounds().windows(2).any(has_pairs) {
            return offset;
        }
        let mut starts = parting.bounds;
        let mut own = query.rooms.list(if spare.is_empty() { n } else { 0 });
        let spare = if spare.is_empty() { &mut own[..] } else { spare };
        for example in &*examples {
            let start = &mut starts[parting.band(example)];
            spare[*start as usize] = *example;
            *start += 1;
        }
        offset + self.each(parting.bounds(), spare, examples, base, gradient, room)
    }

    /// The pairs between bands; returns the sum over better examples.
    fn between<const P: usize>(
        &self,
        examples: &[Swept<M>],
        parting: &Parting,
        gradient: &mut [f64],
        room: &mut BandRoom<G, P>,
    ) -> f64 {
        let base = parting.base as usize;
        if examples.len() > self.pairs.query.sizes.slope_fork {
            let run = |sweep: &Sweep<G>, slopes: &mut [f64]| {
                let mut sums = self.pairs.query.rooms.lend::<BandSums<G, P>>();
                let held = &mut HeldBands::new(&mut sums, parting);
                wide(
                    #[inline(always)]
                    || sweep.run(examples, held, slopes),
                )
            };
            let (total, found) = run_all(self.sweeps, examples.len(), self.pairs.query, &run);
            match examples.len() == self.pairs.query.len() {
                true => self.pairs.settle_all(examples, &found[0].slopes, gradient),
                false => settle(examples, &found[0].slopes, base, gradient),
            }
            return total;
        }
        let slopes = grown(&mut room.slopes, examples.len());
        slopes.fill(0.0);
        let run = |sweep: &Sweep<G>| {
            let held = &mut HeldBands::new(&mut room.sums, parting);
            wide(
                #[inline(always)]
                || sweep.run(examples, held, slopes),
            )
        };
        let total = self.sweeps.iter().map(run).sum();
        settle(examples, &room.slopes, base, gradient);
        total
    }

    /// The pairs inside of some bands that follow each other, given by their bounds; returns their offset.
    fn each<const P: usize>(
        &self,
        bounds: &[u32],
        examples: &mut [Swept<M>],
        spare: &mut [Swept<M>],
        base: usize,
        gradient: &mut [f64],
        room: &mut BandRoom<G, P>,
    ) -> f64 {
        let (Some(&first), bands) = (bounds.first(), bounds.len().saturating_sub(1)) else { return 0.0 };
        let within = |bound: u32| (bound - first) as usize;
        if bands < 2 || examples.len() <= self.pairs.query.sizes.slope_fork {
            let mut offset = 0.0;
            for band in bounds.windows(2) {
                let own = within(band[0])..within(band[1]);
                let (examples, spare) = (&mut examples[own.clone()], &mut spare[own.clone()]);
                let gradient = &mut gradient[own];
                offset += self.part(examples, spare, base + band[0] as usize, gradient, room);
            }
            return offset;
        }
        let middle = bands / 2;
        let (lower, upper, at) = (&bounds[..=middle], &bounds[middle..], within(bounds[middle]));
        let (examples, spare, gradient) =
            (examples.split_at_mut(at), spare.split_at_mut(at), gradient.split_at_mut(at));
        let (a, b) = threads::both(
            true,
            || self.each(lower, examples.0, spare.0, base, gradient.0, room),
            || {
                let room = &mut self.pairs.query.rooms.lend::<BandRoom<G, P>>();
                self.each(upper, examples.1, spare.1, base, gradient.1, room)
            },
        );
        a + b
    }
}
