//! How much of a table is read at once.

use crate::options::{AuditOptions, FitOptions};
use crate::roles::Roles;
use pairity_report::Role;

/// What a row takes while it is read and measured, at most: cells and their texts, the order of rows, counts of queries.
const ROW: u64 = 512;

/// Memory that a byte of a file may take. Compressed columns grow most.
const GROWTH: u64 = 32;

/// The fewest rows read at once: fewer only cost time.
const FEWEST: u64 = 1 << 14;

/// The memory to use where nobody says it and the machine doesn't tell.
const UNKNOWN: u64 = 4 << 30;

/// How much of a table is in memory at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// All of it.
    Whole,
    /// So many rows, in whole queries.
    Queries(usize),
    /// Rows of one query, which wait in a file: with so much memory.
    OneQuery(u64),
}

/// How much of a table is read at once: all if it fits into memory, or if it has to be. Pages show all rows, unless
/// memory or time are limited.
pub fn reading(options: &AuditOptions, roles: &Roles, bytes: u64) -> Reading {
    let AuditOptions { table, score, memory, time_limit, verdicts, .. } = options;
    let limited = memory.is_some() || time_limit.is_some();
    let memory = memory.or_else(|| machine().map(|all| all / 2)).unwrap_or(UNKNOWN);
    // A column of numbers that is also one of categories is read twice.
    let mut categories = roles.of_kind(true).chain(table.id.as_deref());
    let numbers = [Some(score), table.label.as_ref(), table.weight.as_ref(), table.pair_weight.as_ref()];
    let twice = categories.any(|name| numbers.contains(&Some(&name.to_owned())));
    let chosen = table.filter.is_some() || !table.groups.is_empty() || table.min_rows > 0;
    let pictures = verdicts.page.html.is_some() && !limited;
    if bytes.saturating_mul(GROWTH) <= memory || pictures || chosen || twice {
        return Reading::Whole;
    }
    let has = |role| roles.column(role).is_some();
    match (has(Role::Query), has(Role::Within) || has(Role::Higher) || has(Role::Lower)) {
        (true, _) => Reading::Queries(usize::try_from((memory / ROW).max(FEWEST)).unwrap_or(usize::MAX)),
        // Pairs that are chosen are compared in memory.
        (false, true) => Reading::Whole,
        (false, false) => Reading::OneQuery(memory),
    }
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
