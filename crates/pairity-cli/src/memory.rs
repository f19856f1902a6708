//! How much of a table is read at once.

use crate::options::{AuditOptions, FitOptions};

/// What a row takes while it is read and measured, at most: cells and their texts, the order of rows, counts of queries.
const ROW: u64 = 512;

/// Memory that a byte of a file may take. Compressed columns grow most.
const GROWTH: u64 = 32;

/// The fewest rows read at once: fewer only cost time.
const FEWEST: u64 = 1 << 14;

/// The memory to use where nobody says it and the machine doesn't tell.
const UNKNOWN: u64 = 4 << 30;

/// How many rows of a table are read at once; none if it fits into memory, or if it is to be measured as a whole:
/// without queries every row is compared with every other one, and pages show all rows.
pub fn rows_at_once(options: &AuditOptions, memory: Option<u64>, bytes: u64) -> Option<usize> {
    let AuditOptions { table, score, verdicts, .. } = options;
    let memory = memory.or_else(|| machine().map(|all| all / 2)).unwrap_or(UNKNOWN);
    // A column of numbers that is also one of categories is read twice.
    let mut categories = table.query.iter().chain(&table.within).chain(&table.group).chain(&table.id);
    let numbers = [Some(score), table.label.as_ref(), table.weight.as_ref(), table.pair_weight.as_ref()];
    let twice = categories.any(|name| numbers.contains(&Some(name)));
    let chosen = table.filter.is_some() || !table.groups.is_empty() || table.min_rows > 0;
    let whole = table.query.is_empty() || verdicts.page.html.is_some() || chosen || twice;
    let large = bytes.saturating_mul(GROWTH) > memory;
    (large && !whole).then(|| usize::try_from((memory / ROW).max(FEWEST)).unwrap_or(usize::MAX))
}

/// Whether the features of a table that is trained on stay on disk: where batches are asked for, and memory is said to be
/// less than they may take.
pub fn is_beyond(options: &FitOptions, bytes: u64) -> bool {
    options.batch.is_some() && options.memory.is_some_and(|memory| bytes.saturating_mul(GROWTH) > memory)
}

/// The machine's memory, where it tells.
fn machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
