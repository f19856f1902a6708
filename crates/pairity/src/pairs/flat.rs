//! Tiny queries as one batch: true rates and slopes in one pass over their label-ordered pairs.
//!
//! Where every query is small, pairs count alike and rates are accuracies, all queries are laid out one after the other
//! in label order. Each example that is better than others stands in a list with the stretch of the worse ones,
//! which is passed through in lanes: the scores, what a pair with each example costs (the coefficients of the better
//! one's group), and a word with a 1 in the field of its group, which is added where the pair is won, and another
//! one where it is won or tied:
//!
//! ```text
//! d = s_i − s_j      f = falls(d) − rises(d)      ∂/∂s_j += f      ∂/∂s_i −= f      wins += word_j if d > 0
//! ```
//!
//! so that wins are counted for all groups at once. By Euler's theorem (`slopes::shape`) the value follows from
//! Σ (falls + rises) and Σ d f, where it is asked for.

use super::index::{PairIndex, grown};
use super::rate_index::RateIndex;
use super::slopes::{Coefficients, Slope, number_if};
use crate::rates::{Rate, Ties};
use crate::threads::both;
use std::ops::Range;

/// Bits of a word, which is a whole number as f64: sums of words are then made as those of slopes are.
const BITS: u32 = f64::MANTISSA_DIGITS;

/// The most codes of groups: a field of a word has then 8 bits.
const MOST_CODES: usize = 6;

/// The most examples of a query, so that a field holds the pairs of one of them.
const LONGEST: usize = 255;

/// An example that is better than others of its query.
#[derive(Debug, Clone, Copy)]
struct Better {
    /// Its place in the task, and that of its query.
    at: u32,
    start: u32,
    /// How many are worse, which come first in the query.
    worse: u16,
    code: u16,
}

/// The pairs of tiny queries.
pub(super) struct FlatPairs {
    /// The example at each place, counted from the task's first; empty if examples are in label order as they are.
    example: Vec<u32>,
    /// The code of the group times the number of codes, and that of the next place.
    code: Vec<u8>,
    betters: Vec<Better>,
    tasks: Vec<FlatTask>,
    codes: usize,
    /// The cells of each rate with pairs, and what half a win is worth.
    rates: Vec<(u32, Vec<usize>, f64)>,
}

/// Consecutive queries.
#[derive(Debug, Clone)]
struct FlatTask {
    blocks: Range<usize>,
    rows: Range<usize>,
    betters: Range<usize>,
}

/// What was found in one task.
#[derive(Clone, Copy)]
pub(super) struct FlatSums {
    /// Pairs that were won, and those that were won or tied, by cell.
    wins: [u64; MOST_CODES * MOST_CODES],
    through: [u64; MOST_CODES * MOST_CODES],
    offset: f64,
    moment: f64,
    error: f64,
}

impl Default for FlatSums {
    fn default() -> FlatSums {
        let none = [0; MOST_CODES * MOST_CODES];
        FlatSums { wins: none, through: none, offset: 0.0, moment: 0.0, error: 0.0 }
    }
}

/// Room that evaluations use again.
#[derive(Default)]
pub(super) struct FlatRoom {
    scores: Vec<f64>,
    slopes: Vec<f64>,
    sums: Vec<FlatSums>,
    costs: Vec<PairCosts>,
}

/// What an evaluation adds up.
#[derive(Clone, Copy)]
pub(super) struct FlatQuestion<'a> {
    pub index: &'a RateIndex<'a>,
    pub scores: &'a [f64],
    pub coefficients: &'a Coefficients,
    pub margin: f64,
    pub mse: f64,
    /// Whether offset and moment are wanted.
    pub value: bool,
}

/// What two pairs of a better example come to, by the groups of the worse ones.
#[derive(Clone, Copy, Default)]
struct PairCosts {
    /// The coefficients of the first part, and those of the second.
    falls: [f64; 2],
    rises: [f64; 2],
    /// A 1 in the field of each group.
    words: [f64; 2],
}

impl FlatPairs {
    /// None where other ways have to be taken.
    pub(super) fn new(pairs: &PairIndex, fractions: &[(u32, f64)]) -> Option<FlatPairs> {
        let (examples, codes) = (pairs.examples(), pairs.layout.codes());
        let longest = pairs.sizes.small.min(LONGEST);
        let tiny = (0..examples.blocks()).all(|block| examples.block(block).len() <= longest);
        let simple = |rate: &Rate| matches!(rate, Rate::Accuracy { .. } | Rate::Mse);
        let counted = examples.has_labels() && examples.side.is_none() && pairs.counts_pairs();
        if !(tiny && counted && codes <= MOST_CODES && pairs.rates().iter().all(simple)) {
            return None;
        }
        let n = examples.len();
        let mut flat = FlatPairs {
            example: Vec::with_capacity(n),
            code: Vec::with_capacity(n),
            betters: Vec::new(),
            tasks: Vec::with_capacity(pairs.tasks.len()),
            codes,
            rates: Vec::new(),
        };
        for blocks in &pairs.tasks {
            let (rows, betters) = (examples.block(blocks.start).start, flat.betters.len());
            for block in blocks.clone() {
                let query = pairs.query(block);
                let start = (query.range.start - rows) as u32;
                for (at, &worse) in (start..).zip(query.first) {
                    let place = (at - start) as usize;
                    let code = query.present[usize::from(query.group[place])];
                    flat.example.push(start + query.example[place]);
                    let next =
                        query.group.get(place + 1).map_or(0, |&group| query.present[usize::from(group)]);
                    flat.code.push((usize::from(code) * codes + usize::from(next)) as u8);
                    if worse > 0 {
                        flat.betters.push(Better { at, start, worse: worse as u16, code });
                    }
                }
            }
            let rows = rows..flat.example.len();
            flat.tasks.push(FlatTask { blocks: blocks.clone(), rows, betters: betters..flat.betters.len() });
        }
        let in_order =
            |task: &FlatTask| flat.example[task.rows.clone()].iter().zip(0..).all(|(&e, i)| e == i);
        if flat.tasks.iter().all(in_order) {
            flat.example = Vec::new();
        }
        let cells = |&(rate, fraction): &(u32, f64)| {
            (rate, pairs.layout.cells(pairs.rates()[rate as usize]), fraction)
        };
        flat.rates = fractions.iter().map(cells).collect();
        Some(flat)
    }

    /// The bits of a field.
    fn bits(&self) -> u32 {
        BITS / self.codes as u32
    }

    /// A 1 in the field of a group.
    fn word(&self, code: usize) -> f64 {
        (1u64 << (code as u32 * self.bits())) as f64
    }

    /// By the code of the better example, and those of two others.
    fn costs(&self, coefficients: &Coefficients, costs: &mut Vec<PairCosts>) {
        let k = self.codes;
        costs.clear();
        costs.extend((0..k * k * k).map(|at| {
            let (better, others) = (at / (k * k), [at / k % k, at % k]);
            let cell =
                |code: usize| coefficients.accuracy.get(better * k + code).copied().unwrap_or_default();
            let [a, b] = others.map(cell);
            PairCosts { falls: [a[0], b[0]], rises: [a[1], b[1]], words: others.map(|code| self.word(code)) }
        }));
    }

    /// The true rates alone.
    pub(super) fn rates(&self, index: &RateIndex, scores: &[f64], rates: &mut Vec<f64>) {
        let room = &mut *index.pairs.rooms.lend::<FlatRoom>();
        let none = Coefficients::default();
        let question =
            FlatQuestion { index, scores, coefficients: &none, margin: 0.0, mse: 0.0, value: false };
        self.pass::<super::slopes::Hinge, RATES>(question, room, &mut []);
        self.read_rates(index, room, rates);
    }

    /// The true rates that the last pass counted; NaN for one without pairs.
    pub(super) fn read_rates(&self, index: &RateIndex, room: &FlatRoom, rates: &mut Vec<f64>) {
        rates.clear();
        rates.resize(index.rates().len(), f64::NAN);
        for (rate, cells, fraction) in &self.rates {
            let halves = |sums: &FlatSums, cell: usize| match index.ties {
                Ties::Half => sums.wins[cell] + sums.through[cell],
                _ => 2 * sums.wins[cell],
            };
            let parts = room.sums.iter().flat_map(|sums| cells.iter().map(move |&cell| halves(sums, cell)));
            rates[*rate as usize] = parts.sum::<u64>() as f64 * 0.5 * fraction;
        }
    }

    /// Counts pairs, adds slopes, which are overwritten, and returns offset, moment and squared error; the first two are
    /// 0 where they are not wanted.
    pub(super) fn slopes<S: Slope>(
        &self,
        question: FlatQuestion,
        room: &mut FlatRoom,
        gradient: &mut [f64],
    ) -> [f64; 3] {
        match question.value {
            true => self.pass::<S, VALUE>(question, room, gradient),
            false => self.pass::<S, SLOPES>(question, room, gradient),
        }
        // In order: the same bits for any number of threads.
        room.sums
            .iter()
            .fold([0.0; 3], |sum, task| [sum[0] + task.offset, sum[1] + task.moment, sum[2] + task.error])
    }

    fn pass<S: Slope, const WANTED: u8>(
        &self,
        question: FlatQuestion,
        room: &mut FlatRoom,
        gradient: &mut [f64],
    ) {
        let n = if self.example.is_empty() { 0 } else { question.scores.len() };
        let FlatRoom { scores, slopes, sums, costs } = room;
        sums.clear();
        sums.resize(self.tasks.len(), FlatSums::default());
        self.costs(question.coefficients, costs);
        let slopes = grown(slopes, if WANTED == RATES { 0 } else { n });
        let pass = FlatPass::<WANTED> { pairs: self, question, costs };
        pass.halve::<S>(&self.tasks, sums, [grown(scores, n), slopes, gradient]);
    }

    /// Moves counts out of the fields of words.
    fn unpack(&self, packed: &mut [Won; MOST_CODES], sums: &mut FlatSums) {
        let most = (1u64 << self.bits()) - 1;
        for (better, words) in packed.iter_mut().enumerate().take(self.codes) {
            for worse in 0..self.codes {
                let field = |lanes: [f64; 2]| {
                    let of = |word: f64| word as u64 >> (worse as u32 * self.bits()) & most;
                    of(lanes[0]) + of(lanes[1])
                };
                sums.wins[better * self.codes + worse] += field(words[0]);
                sums.through[better * self.codes + worse] += field(words[1]);
            }
            *words = [[0.0; 2]; 2];
        }
    }
}

/// What a pass asks for: true rates alone, slopes too, or the value as well.
const RATES: u8 = 0;
const SLOPES: u8 = 1;
const VALUE: u8 = 2;

/// One evaluation.
struct FlatPass<'a, const WANTED: u8> {
    pairs: &'a FlatPairs,
    question: FlatQuestion<'a>,
    costs: &'a [PairCosts],
}

impl<const WANTED: u8> FlatPass<'_, WANTED> {
    /// Tasks on as many threads as there are. The columns are scores and slopes by place, and the gradient; each may be
    /// empty.
    fn halve<S: Slope>(&self, tasks: &[FlatTask], sums: &mut [FlatSums], columns: [&mut [f64]; 3]) {
        let (Some(first), Some(last)) = (tasks.first(), tasks.get(tasks.len() / 2)) else { return };
        if tasks.len() == 1 {
            sums[0] = self.task::<S>(first, columns);
            return;
        }
        let rows = last.rows.start - first.rows.start;
        let (tasks, other_tasks) = tasks.split_at(tasks.len() / 2);
        let (sums, other_sums) = sums.split_at_mut(tasks.len());
        let [a, b, c] = columns.map(|column| column.split_at_mut(rows.min(column.len())));
        both(
            true,
            || self.halve::<S>(tasks, sums, [a.0, b.0, c.0]),
            || self.halve::<S>(other_tasks, other_sums, [a.1, b.1, c.1]),
        );
    }

    fn task<S: Slope>(
        &self,
        task: &FlatTask,
        [by_place, slopes_by_place, gradient]: [&mut [f64]; 3],
    ) -> FlatSums {
        let FlatPass { pairs, question, .. } = self;
        let own = &question.scores[task.rows.clone()];
        let mut sums = FlatSums::default();
        if pairs.example.is_empty() {
            self.pairs::<S>(task, own, gradient, &mut sums);
        } else {
            let example = &pairs.example[task.rows.clone()];
            by_place.iter_mut().zip(example).for_each(|(score, &e)| *score = own[e as usize]);
            self.pairs::<S>(task, by_place, slopes_by_place, &mut sums);
            if WANTED != RATES {
                example.iter().zip(&*slopes_by_place).for_each(|(&e, &slope)| gradient[e as usize] = slope);
            }
        }
        if WANTED != RATES && question.mse != 0.0 {
            let start = task.rows.start;
            for block in task.blocks.clone() {
                let range = question.index.examples().block(block);
                let gradient = &mut gradient[range.start - start..range.end - start];
                sums.error +=
                    question.index.add_squared_error::<S>(block, question.mse, question.scores, gradient);
            }
        }
        sums
    }

    /// All pairs of a task, whose scores are by place; slopes by place are overwritten.
    fn pairs<S: Slope>(&self, task: &FlatTask, scores: &[f64], slopes: &mut [f64], sums: &mut FlatSums) {
        let FlatPass { pairs, question, costs } = *self;
        let codes = &pairs.code[task.rows.clone()];
        let (k, margin) = (pairs.codes, question.margin);
        let most = (1u64 << pairs.bits()) - 1;
        let mut lanes = FlatLanes::default();
        // Words of pairs won by each group, and how much of a field may be in use.
        let mut packed = [[[0.0; 2]; 2]; MOST_CODES];
        let mut used = 0;
        slopes.fill(0.0);
        for &Better { at, start, worse, code } in &pairs.betters[task.betters.clone()] {
            if used + u64::from(worse) > most {
                pairs.unpack(&mut packed, sums);
                used = 0;
            }
            used += u64::from(worse);
            let (at, code) = (at as usize, usize::from(code));
            let worse = start as usize..start as usize + usize::from(worse);
            let one = OneSide { score: scores[at], margin, costs: &costs[code * k * k..][..k * k] };
            let (theirs, codes) = (&scores[worse.clone()], &codes[worse.clone()]);
            let found = &mut packed[code];
            if WANTED == RATES {
                one.count(theirs, codes, found);
                continue;
            }
            let own = match WANTED == VALUE {
                true => one.meet::<S, true>(theirs, codes, &mut slopes[worse], &mut lanes, found),
                false => one.meet::<S, false>(theirs, codes, &mut slopes[worse], &mut lanes, found),
            };
            slopes[at] += S::added(0.0, own);
        }
        pairs.unpack(&mut packed, sums);
        sums.offset = margin * lanes.offset.iter().sum::<f64>();
        sums.moment = -lanes.moment.iter().sum::<f64>();
    }
}

/// The words of pairs won, and of those won or tied, in lanes.
type Won = [[f64; 2]; 2];

/// Sums over all pairs of a task.
#[derive(Default)]
struct FlatLanes {
    offset: [f64; 2],
    moment: [f64; 2],
}

/// The better example of some pairs.
struct OneSide<'a> {
    score: f64,
    margin: f64,
    /// By both codes of two others.
    costs: &'a [PairCosts],
}

impl OneSide<'_> {
    /// Adds the slopes of worse examples, and the words of pairs; returns the sum of slopes.
    #[inline(always)]
    fn meet<S: Slope, const VALUE: bool>(
        &self,
        scores: &[f64],
        codes: &[u8],
        slopes: &mut [f64],
        sums: &mut FlatLanes,
        found: &mut Won,
    ) -> f64 {
        let (scores, last_score) = scores.as_chunks::<2>();
        let (codes, last_codes) = codes.as_chunks::<2>();
        let (slopes, last_slope) = slopes.as_chunks_mut::<2>();
        // In arrays that are added to others as a whole: sums of lanes would be made with the lanes of two sums shuffled.
        let (mut own, [mut won, mut through]) = ([0.0; 2], [[0.0; 2]; 2]);
        let FlatLanes { mut offset, mut moment } = *sums;
        let mut pairs = |score: [f64; 2], costs: PairCosts, slope: &mut [f64; 2]| {
            let d = score.map(|score| self.score - score);
            let fall = [0, 1].map(|lane| S::first(self.margin - d[lane], costs.falls[lane]));
            let rise = [0, 1].map(|lane| S::second(self.margin + d[lane], costs.rises[lane]));
            let added = [0, 1].map(|lane| S::added(fall[lane], rise[lane]));
            for lane in 0..2 {
                slope[lane] += added[lane];
                own[lane] += added[lane];
                won[lane] += number_if(self.score > score[lane], costs.words[lane]);
                through[lane] += number_if(self.score >= score[lane], costs.words[lane]);
            }
            if VALUE {
                for lane in 0..2 {
                    offset[lane] += fall[lane] + rise[lane];
                    moment[lane] += d[lane] * added[lane];
                }
            }
        };
        for ((score, codes), slope) in scores.iter().zip(codes).zip(slopes) {
            pairs(*score, self.costs[usize::from(codes[0])], slope);
        }
        if let ([score], [codes], [slope]) = (last_score, last_codes, last_slope) {
            // Beside a pair with itself that costs nothing.
            let mut slopes = [*slope, 0.0];
            let PairCosts { falls, rises, words } = self.costs[usize::from(*codes)];
            let alone = |[one, _]: [f64; 2]| [one, 0.0];
            let costs = PairCosts { falls: alone(falls), rises: alone(rises), words: alone(words) };
            pairs([*score, self.score], costs, &mut slopes);
            *slope = slopes[0];
        }
        *sums = FlatLanes { offset, moment };
        for lane in 0..2 {
            found[0][lane] += won[lane];
            found[1][lane] += through[lane];
        }
        own[0] + own[1]
    }

    /// Adds the words of pairs alone.
    #[inline(always)]
    fn count(&self, scores: &[f64], codes: &[u8], found: &mut Won) {
        for (&score, &code) in scores.iter().zip(codes) {
            let word = self.costs[usize::from(code)].words[0];
            found[0][0] += number_if(self.score > score, word);
            found[1][0] += number_if(self.score >= score, word);
        }
    }
}
