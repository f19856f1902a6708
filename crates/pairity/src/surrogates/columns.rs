//! The examples of every query in label order: all that does not change with the scores.

use super::pairing::{Equal, Gap, Product};
use crate::examples::{Attribute, Examples, SMALL, sort_by_value};
use std::ops::Range;

/// What each example brings to the weight of its pairs, in label order.
pub(super) enum Masses {
    Equal(Vec<Equal>),
    Product(Vec<Product>),
    Gap(Vec<Gap>),
}

/// The rank of an example without continuous attribute.
pub(super) const NO_RANK: u32 = u32::MAX;

/// The columns of all queries. A *place* is a position in label order.
pub(super) struct Columns {
    /// Where each query starts, and the end.
    starts: Vec<u32>,
    /// At each place, the example, counted from the query's first.
    example: Vec<u32>,
    /// At each place, the first place of an equal label in the query. All places before are worse.
    run: Vec<u32>,
    /// At each place, the number of the group among those present in the query.
    lane: Vec<u16>,
    /// At each place, the rank of the continuous attribute in the query; empty without one.
    rank: Vec<u32>,
    /// The groups in each query, and where each query's list ends.
    present: Vec<u16>,
    present_ends: Vec<u32>,
    /// The groups in any query.
    pub all_present: Vec<u16>,
    /// Whether lanes of small queries are places in that list.
    small_among_all: bool,
    pub label_ordered: Masses,
    pub unordered: Masses,
}

/// The columns of one query.
pub(super) struct Query<'a> {
    pub range: Range<usize>,
    pub example: &'a [u32],
    pub run: &'a [u32],
    pub lane: &'a [u16],
    pub rank: &'a [u32],
    pub present: &'a [u16],
}

impl Columns {
    /// With `pooled` rates, whose coefficients are the same in all queries, the groups of a small query are
    /// counted among those of all: then nothing has to be selected for it.
    pub(super) fn new(examples: &Examples, pooled: bool) -> Columns {
        let n = examples.len();
        let mut columns = Columns {
            starts: vec![0],
            example: Vec::with_capacity(n),
            run: vec![0; n],
            lane: vec![0; n],
            rank: Vec::new(),
            present: Vec::new(),
            present_ends: Vec::with_capacity(examples.queries()),
            all_present: Vec::new(),
            small_among_all: false,
            label_ordered: Masses::Equal(Vec::new()),
            unordered: Masses::Equal(Vec::new()),
        };
        let mut seen = vec![false; usize::from(u16::MAX) + 1];
        for query in 0..examples.queries() {
            let range = examples.query(query);
            columns.starts.push(range.end as u32);
            columns.add_order(examples, range.clone());
            columns.add_groups(examples, range.clone(), &mut seen);
            if let Attribute::Continuous(values) = &examples.attribute {
                columns.add_ranks(&values[range.clone()], range.start);
            }
        }
        columns.all_present = (0..=u16::MAX).filter(|&code| seen[usize::from(code)]).collect();
        if pooled {
            columns.count_among_all();
        }
        columns.add_masses(examples);
        columns
    }

    fn count_among_all(&mut self) {
        let place = |code: u16| self.all_present.partition_point(|&other| other < code) as u16;
        let mut from = 0;
        for (query, &end) in self.present_ends.iter().enumerate() {
            let range = self.starts[query] as usize..self.starts[query + 1] as usize;
            if range.len() <= SMALL {
                let places: Vec<u16> =
                    self.present[from..end as usize].iter().map(|&code| place(code)).collect();
                self.lane[range].iter_mut().for_each(|lane| *lane = places[usize::from(*lane)]);
            }
            from = end as usize;
        }
        self.small_among_all = true;
    }

    fn add_order(&mut self, examples: &Examples, range: Range<usize>) {
        let Some(labels) = &examples.labels else {
            return self.example.extend(0..range.len() as u32);
        };
        let labels = &labels[range.clone()];
        let from = self.example.len();
        if range.len() > SMALL {
            self.example.extend_from_slice(&examples.label_order.example[range.clone()]);
        } else {
            self.example.extend(0..range.len() as u32);
            // Labels are finite, and −0 equals 0.
            self.example[from..]
                .sort_by(|&a, &b| (labels[a as usize] + 0.0).total_cmp(&(labels[b as usize] + 0.0)));
        }
        let label = |place: usize| labels[self.example[from + place] as usize];
        for place in 1..range.len() {
            self.run[from + place] =
                if label(place) == label(place - 1) { self.run[from + place - 1] } else { place as u32 };
        }
    }

    fn add_groups(&mut self, examples: &Examples, range: Range<usize>, seen: &mut [bool]) {
        let from = self.present.len();
        match &examples.attribute {
            Attribute::Groups { codes, .. } => {
                let codes = &codes[range.clone()];
                let mut present: Vec<u16> = codes.to_vec();
                present.sort_unstable();
                present.dedup();
                for place in range.clone() {
                    let code = codes[self.example[place] as usize];
                    self.lane[place] = present.partition_point(|&other| other < code) as u16;
                }
                self.present.extend(present);
            }
            _ => self.present.push(0),
        }
        self.present[from..].iter().for_each(|&code| seen[usize::from(code)] = true);
        self.present_ends.push(self.present.len() as u32);
    }

    fn add_ranks(&mut self, values: &[f64], from: usize) {
        let mut ranks = vec![NO_RANK; values.len()];
        let mut sorted = sort_by_value(values);
        sorted.retain(|&(_, example)| !values[example as usize].is_nan());
        let mut rank = 0;
        for (i, &(key, example)) in sorted.iter().enumerate() {
            rank += u32::from(i > 0 && key != sorted[i - 1].0);
            ranks[example as usize] = rank;
        }
        self.rank.extend(self.example[from..].iter().map(|&example| ranks[example as usize]));
    }

    fn add_masses(&mut self, examples: &Examples) {
        let n = examples.len();
        let factor = |example: usize| examples.factors.as_ref().map_or(1.0, |factors| factors[example]);
        let at_places = |visit: &mut dyn FnMut(usize, usize)| {
            for w in self.starts.windows(2) {
                let (start, end) = (w[0] as usize, w[1] as usize);
                // Labels count from the query's first one: a common offset costs no precision.
                (start..end).for_each(|place| visit(start + self.example[place] as usize, start));
            }
        };
        let products = || {
            let mut masses = Vec::with_capacity(n);
            at_places(&mut |example, _| masses.push(Product(factor(example))));
            Masses::Product(masses)
        };
        let plain = || if examples.factors.is_some() { products() } else { Masses::Equal(vec![Equal; n]) };
        let label_ordered = match &examples.labels {
            Some(labels) if examples.label_gap => {
                let mut masses = Vec::with_capacity(n);
                at_places(&mut |example, first| {
                    let label = labels[example] - labels[first];
                    masses.push(Gap { factor: factor(example), label });
                });
                Masses::Gap(masses)
            }
            _ => plain(),
        };
        let unordered = plain();
        (self.label_ordered, self.unordered) = (label_ordered, unordered);
    }

    pub(super) fn query(&self, query: usize) -> Query<'_> {
        let range = self.starts[query] as usize..self.starts[query + 1] as usize;
        let present = match self.small_among_all && range.len() <= SMALL {
            true => &self.all_present[..],
            false => {
                let from = if query == 0 { 0 } else { self.present_ends[query - 1] as usize };
                &self.present[from..self.present_ends[query] as usize]
            }
        };
        Query {
            example: &self.example[range.clone()],
            run: &self.run[range.clone()],
            lane: &self.lane[range.clone()],
            rank: if self.rank.is_empty() { &[] } else { &self.rank[range.clone()] },
            present,
            range,
        }
    }
}
