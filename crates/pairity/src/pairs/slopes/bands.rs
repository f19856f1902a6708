//! Slopes of the label-ordered pairs of one large query, whatever they weigh: O(K n log n / log 256).
//!
//! Positions are parted into up to 256 bands of labels. [Sweeps](super::sweeps) find all pairs between two bands, with
//! sums by band; then each band is parted in turn, down to bands that are small enough to compare every pair. Sums by
//! band stay in the nearest cache, and lists are read from one end to the other.

use super::ScoredPairs;
use super::shape::Slope;
use super::sweeps::{Held, Sweep, Swept, run_all, settle};
use crate::pairs::index::grown;
use crate::pairs::mass::Mass;
use crate::pairs::order::position;
use crate::threads;
use std::ops::Range;

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
        BandSums { blocks: none, bands: vec![none; WIDE], all: [[0.0; P]; G] }
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
        sums.bands[..parting.bands.div_ceil(WIDE)].fill(none);
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
    bands: usize,
}

impl Parting<'_> {
    /// Of positions from `base` on, whose labels begin at `first`; with the positions of each band.
    fn new(base: usize, first: &[u32], most: usize) -> (Parting<'_>, Vec<Range<usize>>) {
        let last = first.last().map_or(0, |&first| first - base as u32);
        let mut shift = 0;
        while (last >> shift) as usize >= most.clamp(2, BANDS) {
            shift += 1;
        }
        let (mut band, mut ranges): (_, Vec<Range<usize>>) = ([0; BANDS], Vec::new());
        let start = |first: u32| ((first - base as u32) >> shift) as usize;
        for equal in first.chunk_by(|&a, &b| start(a) == start(b)) {
            band[start(equal[0])] = ranges.len() as u8;
            let from = ranges.last().map_or(0, |range| range.end);
            ranges.push(from..from + equal.len());
        }
        (Parting { base: base as u32, first, shift, band, bands: ranges.len() }, ranges)
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
    sweeps: Vec<Sweep<G>>,
    /// Adds the slopes of all pairs of positions from one on, and returns their offset.
    few: &'a (dyn Fn(usize, &mut [f64]) -> f64 + Sync),
}

impl<M: Mass> ScoredPairs<'_, M> {
    /// The examples in score order, as sweeps see them.
    pub(super) fn swept(&self) -> Vec<Swept<M>> {
        let query = self.query;
        let any_tied = (0..).zip(query.first).any(|(at, &first)| at != first);
        threads::list(query.len(), |i| {
            let at = position(self.entries[i]);
            let tied = any_tied && query.end[at] - query.first[at] > 1;
            let (score, mass, group) = (self.scores[at], self.masses[at], query.group[at]);
            Swept { score, mass, position: at as u32, group, tied }
        })
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
        let sweeps = Sweep::all::<S>(cells, self.query.present.len(), self.margin);
        let bands = Bands::<M, G> { pairs: self, sweeps, few: &few };
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
        self.part::<P>(&mut examples, &mut [], 0, gradient, &mut BandRoom::default())
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
        let (parting, bands) = Parting::new(base, first, query.sizes.slope_bands);
        let offset = self.pairs.margin * self.between(examples, &parting, gradient, room);
        let has_pairs = |band: &Range<usize>| first[band.start] != first[band.end - 1];
        if !bands.iter().any(has_pairs) {
            return offset;
        }
        let mut starts: [u32; BANDS] = [0; BANDS];
        starts.iter_mut().zip(&bands).for_each(|(start, band)| *start = band.start as u32);
        let mut fresh;
        let spare = match spare.is_empty() {
            true => {
                fresh = threads::list(n, |_| Swept::default());
                &mut fresh[..]
            }
            false => spare,
        };
        for example in &*examples {
            let start = &mut starts[parting.band(example)];
            spare[*start as usize] = *example;
            *start += 1;
        }
        offset + self.each(&bands, spare, examples, base, gradient, room)
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
                let mut sums = BandSums::<G, P>::default();
                sweep.run(examples, &mut HeldBands::new(&mut sums, parting), slopes)
            };
            let (total, slopes) = run_all(&self.sweeps, examples.len(), self.pairs.query.sizes, &run);
            settle(examples, &slopes, base, gradient);
            return total;
        }
        let slopes = grown(&mut room.slopes, examples.len());
        slopes.fill(0.0);
        let run =
            |sweep: &Sweep<G>| sweep.run(examples, &mut HeldBands::new(&mut room.sums, parting), slopes);
        let total = self.sweeps.iter().map(run).sum();
        settle(examples, &room.slopes, base, gradient);
        total
    }

    /// The pairs inside of some bands that follow each other; returns their offset.
    fn each<const P: usize>(
        &self,
        bands: &[Range<usize>],
        examples: &mut [Swept<M>],
        spare: &mut [Swept<M>],
        base: usize,
        gradient: &mut [f64],
        room: &mut BandRoom<G, P>,
    ) -> f64 {
        let (Some(first), Some(last)) = (bands.first(), bands.last()) else { return 0.0 };
        let fork = last.end - first.start > self.pairs.query.sizes.slope_fork;
        if bands.len() == 1 || !fork {
            let mut offset = 0.0;
            for band in bands {
                let own = band.start - first.start..band.end - first.start;
                let (examples, spare) = (&mut examples[own.clone()], &mut spare[own.clone()]);
                let gradient = &mut gradient[own];
                offset += self.part(examples, spare, base + band.start, gradient, room);
            }
            return offset;
        }
        let (lower, upper) = bands.split_at(bands.len() / 2);
        let middle = upper[0].start - first.start;
        let (examples, spare, gradient) =
            (examples.split_at_mut(middle), spare.split_at_mut(middle), gradient.split_at_mut(middle));
        let (a, b) = threads::both(
            true,
            || self.each(lower, examples.0, spare.0, base, gradient.0, room),
            || self.each(upper, examples.1, spare.1, base, gradient.1, &mut BandRoom::<G, P>::default()),
        );
        a + b
    }
}
