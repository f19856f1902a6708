//! The result in words.

use crate::html::table::short_reason;
use crate::report::{AuditReport, Role};
use crate::text::words::{many, plain, shorten};
use pairity::goals::Criterion;
use pairity::metrics::{Metric, Verdict};

/// A few sentences that say what was found, the most important first.
pub(super) fn sentences(report: &AuditReport) -> Vec<String> {
    let mut all = vec![result_of(report)];
    all.extend(checks(report));
    if !report.has_labels() {
        let words = "There are no labels, so the page compares scores only: whether the model is right about \
                     anyone can’t be said.";
        all.push(words.to_owned());
    }
    all
}

/// What was found, in a sentence or two.
pub(in crate::html) fn result_of(report: &AuditReport) -> String {
    let audit = &report.audit;
    let gap =
        |wanted: Criterion| audit.gaps.iter().find(|(criterion, _)| *criterion == wanted).map(|(_, gap)| gap);
    if !report.has_labels() {
        return gap(Criterion::StatisticalParity).map_or_else(String::new, |gap| parity(report, gap));
    }
    if let (Some((greater, less)), Some(gap)) = (&audit.continuous, gap(Criterion::Continuous)) {
        return continuous(report, greater, less, gap);
    }
    match (audit.groups.len(), gap(Criterion::CrossGroup)) {
        (2.., Some(gap)) => groups(report, gap),
        (1, _) => format!("{} There is one group only, so there is nothing to compare.", overall(report)),
        _ => format!("{} No groups were named, so there is nothing to compare.", overall(report)),
    }
}

fn overall(report: &AuditReport) -> String {
    match report.audit.auc.value {
        Some(auc) => {
            format!("The model puts the better of two candidates first {} of the time.", percent(auc))
        }
        None => "How often the model puts the better of two candidates first can’t be estimated.".to_owned(),
    }
}

/// The lowest and the highest accuracy between different groups.
fn groups(report: &AuditReport, gap: &Metric) -> String {
    let audit = &report.audit;
    let cells = || {
        let places = (0..audit.groups.len()).flat_map(|a| (0..audit.groups.len()).map(move |b| (a, b)));
        places.filter(|(a, b)| a != b).filter_map(|(a, b)| Some(((a, b), audit.accuracy[a][b].value?)))
    };
    let low = cells().min_by(|a, b| a.1.total_cmp(&b.1));
    // Of equals the first, and never the lowest itself.
    let others = cells().filter(|cell| Some(cell.0) != low.map(|low| low.0));
    let high = others.reduce(|best, cell| if cell.1 > best.1 { cell } else { best });
    let (Some((low, least)), Some((high, most))) = (low, high) else {
        return format!(
            "{} How that differs between groups can’t be estimated: {}.",
            overall(report),
            reason(gap)
        );
    };
    let pair = |(better, worse): (usize, usize)| {
        let (better, worse) = (of_group(report, better), of_group(report, worse));
        format!("the better candidate is {better} and the worse {worse}")
    };
    let other = match high == (low.1, low.0) {
        true => format!("the other way around, {}", percent(most)),
        false => format!("when {}, {}", pair(high), percent(most)),
    };
    let first = format!("When {}, the model is right {} of the time; {other}.", pair(low), percent(least));
    format!("{first} {}", chance(report, gap))
}

fn continuous(report: &AuditReport, greater: &Metric, less: &Metric, gap: &Metric) -> String {
    let z = report.column(Role::Protected).map_or("protected attribute".to_owned(), |name| shorten(name, 40));
    let (Some(greater), Some(less)) = (greater.value, less.value) else {
        return format!("{} How that depends on {z} can’t be estimated: {}.", overall(report), reason(gap));
    };
    format!(
        "When the better candidate has the higher {z}, the model is right {} of the time; when it has the lower, \
         {}. {}",
        percent(greater),
        percent(less),
        chance(report, gap)
    )
}

fn parity(report: &AuditReport, gap: &Metric) -> String {
    let audit = &report.audit;
    let cells = audit.parity.iter().enumerate().flat_map(|(a, row)| {
        row.iter().enumerate().filter_map(move |(b, metric)| Some(((a, b), metric.as_ref()?.value?)))
    });
    match cells.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some(((a, b), least)) => {
            let someone = |group: usize| format!("group “{}”", shorten(&audit.groups[group], 40));
            let (a, b) = (someone(a), someone(b));
            let words = format!("Someone of {a} scores above someone of {b} {} of the time", percent(least));
            format!("{words}; 50% would be parity. {}", chance(report, gap))
        }
        None if audit.groups.len() < 2 => "There are no two groups to compare.".to_owned(),
        None => format!("Whether groups score alike can’t be estimated: {}.", reason(gap)),
    }
}

/// Whether a gap could be chance. Far outside: even the nearer end of the interval is more than half of it.
fn chance(report: &AuditReport, gap: &Metric) -> String {
    let points = |share: f64| match format!("{:.0}", share * 100.0).as_str() {
        "1" => "1 point".to_owned(),
        // A gap that is not 0 is not called 0.
        "0" if share > 0.0 => format!("{:.2} points", share * 100.0),
        number => format!("{number} points"),
    };
    let (low, high) = match (gap.value, gap.low, gap.high) {
        (Some(_), Some(low), Some(high)) => (low, high),
        (Some(value), ..) => {
            let reason = reason(gap);
            return format!("The gap is {}; whether it is chance can’t be told: {reason}.", points(value));
        }
        (None, ..) => return format!("The gap over all groups can’t be estimated: {}.", reason(gap)),
    };
    let value = gap.value.unwrap_or(0.0);
    let between = |share: f64| format!("{:.0}", share * 100.0);
    let interval = format!("{} interval: {} to {}", report.confidence(), between(low), between(high));
    let verdict = if value == 0.0 && low == 0.0 {
        return format!("There is no gap in these data ({interval} points).");
    } else if low > value / 2.0 {
        "is far outside chance"
    } else if low > 0.0 {
        "is outside chance"
    } else {
        "could be chance"
    };
    format!("The gap of {} {verdict} ({interval}).", points(value))
}

/// Why a metric has no value or no interval.
fn reason(metric: &Metric) -> String {
    short_reason(metric.reason.as_deref().unwrap_or("there are too few pairs"))
}

/// "female", where that reads well, or "from group “0”".
fn of_group(report: &AuditReport, group: usize) -> String {
    let bare = |name: &String| {
        let word = |c: char| c.is_alphabetic() || c == ' ' || c == '-';
        name.chars().count() <= 24 && name.chars().all(word) && name.chars().any(char::is_lowercase)
    };
    let name = &report.audit.groups[group];
    if report.audit.groups.iter().all(bare) {
        plain(name)
    } else {
        format!("from group “{}”", shorten(name, 40))
    }
}

fn checks(report: &AuditReport) -> Option<String> {
    let checks = &report.audit.checks;
    if let [check] = checks.as_slice() {
        return Some(match check.verdict {
            Verdict::Pass => "The check passed.".to_owned(),
            Verdict::Fail => "The check failed.".to_owned(),
            Verdict::Undecided => "The check is undecided: more data are needed.".to_owned(),
            Verdict::NotEstimable => "The check can’t be estimated.".to_owned(),
        });
    }
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    let parts = [
        (Verdict::Pass, "passed"),
        (Verdict::Fail, "failed"),
        (Verdict::Undecided, "undecided"),
        (Verdict::NotEstimable, "not estimable"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(verdict, word)| (count(verdict), word))
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    (!checks.is_empty()).then(|| format!("Of {}: {}.", many(checks.len(), "check"), parts.join(", ")))
}

/// Whole percents; tenths near 0 and 100, so that what is not perfect is not called so.
fn percent(share: f64) -> String {
    let whole = format!("{:.0}%", share * 100.0);
    match whole.as_str() {
        "0%" | "100%" if share > 0.0 && share < 1.0 => {
            format!("{}%", ((share * 1000.0).floor() / 10.0).clamp(0.1, 99.9))
        }
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_perfect_is_not_called_so() {
        assert_eq!(
            [0.0, 0.0004, 0.004, 0.5, 0.996, 0.99996, 1.0].map(percent),
            ["0%", "0.1%", "0.4%", "50%", "99.6%", "99.9%", "100%"]
        );
    }
}
