//! The result in words.

use crate::facts::{Known, accuracies, by_value, gap, has_labels, parities, percent as confidence};
use crate::html::table::short_reason;
use crate::report::{AuditReport, Role};
use crate::words::{many, plain, shorten};
use pairity::goals::Criterion;
use pairity::metrics::{Audit, Check, Metric, Verdict};

/// A few sentences that say what was found, the most important first.
pub(super) fn sentences(report: &AuditReport) -> Vec<String> {
    let mut all = vec![result_of(&report.audit, report.column(Role::Protected))];
    all.extend(checks(&report.audit.checks));
    all.extend(report.estimate().map(|words| format!("All numbers are {words}.")));
    if !has_labels(&report.audit) {
        let words = "There are no labels, so the page compares scores only: whether the model is right about \
                     anyone can’t be said.";
        all.push(words.to_owned());
    }
    all
}

/// What was found, in a sentence or two; `attribute` is the name of the protected one, if it is continuous.
pub(in crate::html) fn result_of(audit: &Audit, attribute: Option<&str>) -> String {
    let z = attribute.map_or("protected attribute".to_owned(), |name| shorten(name, 40));
    if let (Some(rates), Some(gap), false) =
        (&audit.continuous, gap(audit, Criterion::ContinuousParity), has_labels(audit))
    {
        let Some(greater) = rates.parity_greater.value else {
            return format!("How scores depend on {z} can’t be estimated: {}.", reason(gap));
        };
        let words = format!("Of two candidates, the one with the higher {z} scores higher");
        return format!(
            "{words} {} of the time; 50% would be parity. {}",
            percent(greater),
            chance(audit, gap)
        );
    }
    if !has_labels(audit) {
        return gap(audit, Criterion::StatisticalParity).map_or_else(String::new, |gap| parity(audit, gap));
    }
    if let (Some(rates), Some(gap)) = (&audit.continuous, gap(audit, Criterion::Continuous)) {
        let (Some(greater), Some(less)) = (rates.greater.value, rates.less.value) else {
            return format!(
                "{} How that depends on {z} can’t be estimated: {}.",
                overall(audit),
                reason(gap)
            );
        };
        return format!(
            "When the better candidate has the higher {z}, the model is right {} of the time; when it has the lower, \
             {}. {}",
            percent(greater),
            percent(less),
            chance(audit, gap)
        );
    }
    match (audit.groups.len(), gap(audit, Criterion::CrossGroup)) {
        (2.., Some(gap)) => groups(audit, gap),
        (1, _) => format!("{} There is one group only, so there is nothing to compare.", overall(audit)),
        _ => format!("{} No groups were named, so there is nothing to compare.", overall(audit)),
    }
}

fn overall(audit: &Audit) -> String {
    match audit.auc.value {
        Some(auc) => {
            format!("The model puts the better of two candidates first {} of the time.", percent(auc))
        }
        None => "How often the model puts the better of two candidates first can’t be estimated.".to_owned(),
    }
}

/// The lowest and the highest accuracy between different groups.
fn groups(audit: &Audit, gap: &Metric) -> String {
    let mut cells = by_value(&accuracies(audit));
    cells.retain(|cell| cell.place.0 != cell.place.1);
    // Of equals the first, and never the lowest itself.
    let highest = |cell: &&Known| cells.last().is_some_and(|last| cell.value == last.value);
    let (Some(low), Some(high)) = (cells.first(), cells.iter().skip(1).find(highest)) else {
        let reason = reason(gap);
        return format!("{} How that differs between groups can’t be estimated: {reason}.", overall(audit));
    };
    let pair = |(better, worse): (usize, usize)| {
        let (better, worse) = (of_group(audit, better), of_group(audit, worse));
        format!("the better candidate is {better} and the worse {worse}")
    };
    let other = match high.place == (low.place.1, low.place.0) {
        true => format!("the other way around, {}", percent(high.value)),
        false => format!("when {}, {}", pair(high.place), percent(high.value)),
    };
    let first = format!("When {}, the model is right {} of the time", pair(low.place), percent(low.value));
    format!("{first}; {other}. {}", chance(audit, gap))
}

fn parity(audit: &Audit, gap: &Metric) -> String {
    match by_value(&parities(audit)).first() {
        Some(Known { place: (a, b), value, .. }) => {
            let [a, b] = [a, b].map(|group| format!("group “{}”", shorten(&audit.groups[*group], 40)));
            let words = format!("Someone of {a} scores above someone of {b} {} of the time", percent(*value));
            format!("{words}; 50% would be parity. {}", chance(audit, gap))
        }
        None if audit.groups.len() < 2 => "There are no two groups to compare.".to_owned(),
        None => format!("Whether groups score alike can’t be estimated: {}.", reason(gap)),
    }
}

/// Whether a gap could be chance. Far outside: even the nearer end of the interval is more than half of it.
fn chance(audit: &Audit, gap: &Metric) -> String {
    let points = |share: f64| match format!("{:.0}", share * 100.0).as_str() {
        "1" => "1 point".to_owned(),
        // A gap that is not 0 is not called 0.
        "0" if share > 0.0 => format!("{:.2} points", share * 100.0),
        number => format!("{number} points"),
    };
    let Some(value) = gap.value else {
        return format!("The gap over all groups can’t be estimated: {}.", reason(gap));
    };
    let (Some(low), Some(high)) = (gap.low, gap.high) else {
        let reason = reason(gap);
        return format!("The gap is {}; whether it is chance can’t be told: {reason}.", points(value));
    };
    let ends = format!("{:.0} to {:.0}", low * 100.0, high * 100.0);
    let interval = format!("{} interval: {ends}", confidence(audit.settings.confidence));
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
fn of_group(audit: &Audit, group: usize) -> String {
    let bare = |name: &String| {
        let word = |c: char| c.is_alphabetic() || c == ' ' || c == '-';
        name.chars().count() <= 24 && name.chars().all(word) && name.chars().any(char::is_lowercase)
    };
    let name = &audit.groups[group];
    match audit.groups.iter().all(bare) {
        true => plain(name),
        false => format!("from group “{}”", shorten(name, 40)),
    }
}

fn checks(checks: &[Check]) -> Option<String> {
    if let [check] = checks {
        let words = match check.verdict {
            Verdict::Pass => "passed",
            Verdict::Fail => "failed",
            Verdict::Undecided => "is undecided: more data are needed",
            Verdict::NotEstimable => "can’t be estimated",
        };
        return Some(format!("The check {words}."));
    }
    let kinds = [
        (Verdict::Pass, "passed"),
        (Verdict::Fail, "failed"),
        (Verdict::Undecided, "undecided"),
        (Verdict::NotEstimable, "not estimable"),
    ];
    let parts = kinds.into_iter().filter_map(|(verdict, word)| {
        let number = checks.iter().filter(|check| check.verdict == verdict).count();
        (number > 0).then(|| format!("{number} {word}"))
    });
    let parts: Vec<String> = parts.collect();
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
