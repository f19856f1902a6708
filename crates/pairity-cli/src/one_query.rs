//! Audits of tables without queries that are larger than memory: all rows are compared with each other, while most of
//! them wait in a file.

use crate::load;
use crate::options::AuditOptions;
use crate::progress::{Bar, COMPARING, COUNTING};
use crate::roles::Roles;
use anyhow::bail;
use pairity::examples::RECORD;
use pairity::metrics::{BlockProgress, Measurement, PlainTable, Settings, measure_blocks, measure_sorted};
use pairity::run::{self, AuditOutcome};
use pairity_report::{Notes, Role};
use pairity_tables::{RecordRuns, Source};
use std::time::{Duration, Instant};

/// Rows that are read at once.
const PART: usize = 1 << 16;

/// The fewest records and rows in memory: fewer only cost time.
const FEWEST: u64 = 1 << 12;

/// The most blocks: as many pairs as half of their square are compared.
const MOST_BLOCKS: u64 = 1 << 10;

/// Reads the rows and measures them, with about so much memory.
///
/// # Errors
/// Whatever is wrong with files, columns or cells; files that can't be written; too little memory.
pub fn audit(
    source: &Source,
    roles: &Roles,
    options: &AuditOptions,
    measure: &Settings,
    memory: u64,
) -> anyhow::Result<(AuditOutcome, Notes)> {
    let start = Instant::now();
    let quiet = options.verdicts.output.quiet;
    let weighted = roles.columns().any(|(role, _)| matches!(role, Role::Weight | Role::PairWeight));
    let joins = roles.column(Role::Protected).is_none();
    // Half of the memory: rows are read meanwhile.
    let room = (memory / 2 / (RECORD * size_of::<u64>()) as u64).max(FEWEST) as usize;
    let mut runs = RecordRuns::new(&std::env::temp_dir(), room, weighted, joins);
    let mut table = PlainTable::default();
    let part = PART.min(room);
    let notes = load::scored_in_parts(source, roles, part, quiet, &mut |read| {
        runs.add(&read.add_to(&mut table)?)?;
        Ok(!table.has_no_group())
    })?;
    table.arrange()?;
    let outcome = run::audit_plain(&table, &options.verdicts.checks, || match table.is_sortable() {
        true => sorted(&table, runs, measure, quiet),
        false => {
            let limit = options.time_limit.map(|limit| (start, limit));
            in_blocks(&table, runs, measure, memory, limit, quiet)
        }
    })?;
    Ok((outcome, notes))
}

/// In the order of scores, twice.
fn sorted(
    table: &PlainTable,
    mut runs: RecordRuns,
    measure: &Settings,
    quiet: bool,
) -> anyhow::Result<Measurement> {
    let (bar, mut done) = (Bar::new(quiet, COUNTING), 0);
    bar.expect(2 * runs.len());
    Ok(measure_sorted(table, measure, &mut |each| {
        runs.merge(&mut |records| {
            each(records);
            done += records.len();
            bar.at(done);
        })
    })?)
}

/// Pair by pair of random blocks, as long as there is time.
fn in_blocks(
    table: &PlainTable,
    runs: RecordRuns,
    measure: &Settings,
    memory: u64,
    limit: Option<(Instant, Duration)>,
    quiet: bool,
) -> anyhow::Result<Measurement> {
    // Two blocks are in memory; random ones are not all of one size.
    let row = 2 * table.row_bytes() as u64;
    let rows = (memory / row * 9 / 10).max(FEWEST);
    let blocks = table.rows().div_ceil(rows);
    if blocks > MOST_BLOCKS {
        let needed = (table.rows() / MOST_BLOCKS + 1) * row * 10 / 9 / 1_000_000 + 1;
        bail!(
            "{} rows are too many to compare {rows} at a time: give at least --memory {needed}MB, or name \
             the queries with --query if rows of different ones need not be compared",
            table.rows()
        );
    }
    let mut blocks = runs.into_blocks(blocks as usize, measure.seed)?;
    let bar = Bar::new(quiet, COMPARING);
    let (mut clock, started) = (Clock::default(), Instant::now());
    let measured = measure_blocks(table, measure, &mut blocks, &mut |progress| {
        bar.expect(progress.all);
        bar.at(progress.done);
        let rows = progress.done as f64 * rows as f64 / started.elapsed().as_secs_f64();
        bar.say(&format!("{rows:.0} rows/s"));
        clock.goes_on(progress, limit)
    })?;
    Ok(measured)
}

/// Tells when to stop, so that there is time for the rest.
#[derive(Default)]
struct Clock {
    last: Option<Instant>,
    /// The longest time that a block, and a pair of blocks, took.
    longest: [Duration; 2],
}

impl Clock {
    fn goes_on(&mut self, progress: BlockProgress, limit: Option<(Instant, Duration)>) -> bool {
        let Some((start, limit)) = limit else { return true };
        let now = Instant::now();
        let is_pair = |step: usize| usize::from(step >= progress.blocks);
        if let Some(last) = self.last.replace(now) {
            let longest = &mut self.longest[is_pair(progress.done - 1)];
            *longest = (*longest).max(now - last);
        }
        // Rows are placed at the end, block by block, which takes about as long as half a pair of blocks; counting a
        // block takes about a quarter of that.
        let [block, pair] = self.longest;
        let place = (pair / 2).max(4 * block);
        let next = if is_pair(progress.done) == 0 { block } else { pair.max(2 * place) };
        let counted = progress.done.min(progress.blocks) as u32;
        now - start + next + place * counted <= limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_limit_all_is_compared_and_with_none_left_nothing_more() {
        let progress = BlockProgress { done: 1, all: 10, blocks: 4 };
        let now = Instant::now();
        assert!(Clock::default().goes_on(progress, None));
        assert!(Clock::default().goes_on(progress, Some((now, Duration::from_secs(60)))));
        assert!(!Clock::default().goes_on(progress, Some((now, Duration::ZERO))));
    }
}
