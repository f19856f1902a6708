//! The page of an audit.

mod continuous;
mod groups;
mod lead;
mod queries;
mod scores;
#[cfg(test)]
mod tests;

pub(super) use lead::result_of;

use super::frame::{HtmlPage, Section, Tile, glossary, section};
use super::table::{HtmlTable, TableCell, short_reason};
use super::whiskers::{Whisker, Whiskers, verdict};
use crate::facts::{gaps_that_apply, has_labels, joint_checks, percent, shown_mse, worst_cell};
use crate::report::{AuditReport, Role};
use crate::scale::minus;
use crate::words::{FrontEnd, count, fine, many, or_dash, plain, rate, shorten};
use pairity::goals::Criterion;
use pairity::metrics::{Audit, Check, Distributions, Metric, Verdict};

/// The audit as a page for people: one file that needs nothing else. `distributions` are of the same table
/// as the report, with the same settings; without them there are no histograms.
///
/// ```
/// use pairity::examples::{Columns, Examples, Groups};
/// use pairity::metrics::{Audit, Distributions, Settings};
/// use pairity_report::{AuditReport, FrontEnd, Notes, audit_html};
///
/// let labels = [0.0, 1.0, 0.0, 1.0];
/// let groups = Groups::from_names(&["<b>", "<b>", "c", "c"]);
/// let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
/// let (examples, scores) = (Examples::new(columns)?, [0.1, 0.9, 0.2, 0.15]);
/// let audit = Audit::run(&examples, &scores, &[], &Settings::default())?;
/// let distributions = Distributions::run(&examples, &scores, &Settings::default())?;
/// let report = AuditReport { audit, notes: Notes::default() };
/// let page = audit_html(&report, Some(&distributions), FrontEnd::CommandLine);
/// assert!(page.starts_with("<!doctype html>") && page.contains("&lt;b&gt;"));
/// # Ok::<(), pairity::examples::ExamplesError>(())
/// ```
pub fn audit_html(
    report: &AuditReport,
    distributions: Option<&Distributions>,
    front_end: FrontEnd,
) -> String {
    let page = AuditPage { report, distributions, front_end };
    let mut facts = report.read();
    facts.extend(report.how().map(str::to_owned));
    facts.push(format!("{} confidence intervals", percent(report.audit.settings.confidence)));
    facts.extend(report.estimate());
    let weights = report.column(Role::Weight).or(report.column(Role::PairWeight)).is_some();
    HtmlPage {
        kind: "Pairwise fairness audit",
        title: report.title(),
        facts,
        lead: lead::sentences(report),
        tiles: page.tiles(),
        sections: vec![
            page.checks(),
            page.accuracy(),
            page.marginals(),
            page.continuous(),
            gaps_of(&report.audit),
            page.parity(),
            page.continuous_parity(),
            page.scores(),
            page.queries(),
            page.notes(),
            glossary(Some(&report.audit), weights, !report.audit.checks.is_empty(), false),
        ],
        ..HtmlPage::default()
    }
    .write()
}

/// What every section needs.
struct AuditPage<'a> {
    report: &'a AuditReport,
    distributions: Option<&'a Distributions>,
    front_end: FrontEnd,
}

impl AuditPage<'_> {
    fn tiles(&self) -> Vec<Tile> {
        let audit = &self.report.audit;
        let mut tiles = Vec::new();
        if has_labels(audit) {
            tiles.push(Tile::of("Overall accuracy (AUC)", &audit.auc, rate));
        }
        if let Some(mse) = shown_mse(audit) {
            tiles.push(Tile::of("Mean squared error (MSE)", mse, fine));
        }
        if let Some(worst) = worst_cell(audit) {
            let name = |group: usize| shorten(&audit.groups[group], 24);
            let title = format!("Lowest accuracy: {} above {}", name(worst.place.0), name(worst.place.1));
            tiles.push(Tile::of(&title, worst.metric, rate));
        }
        if let Some((criterion, gap)) = gaps_that_apply(audit).first() {
            tiles.push(Tile::of(&format!("Gap ({})", criterion.name()), gap, rate));
        }
        if !audit.checks.is_empty() {
            let kept = audit.checks.iter().filter(|check| check.verdict == Verdict::Pass).count();
            tiles.push(Tile::new("Checks passed", format!("{kept} of {}", audit.checks.len()), ""));
        }
        tiles
    }

    /// What the protected attribute is called.
    fn attribute(&self) -> String {
        self.report.column(Role::Protected).map_or("the attribute".to_owned(), plain)
    }

    /// The reasons why some metrics have no value or no interval, each once, behind a dash.
    fn reasons<'m>(&self, metrics: impl Iterator<Item = &'m Metric>) -> Vec<String> {
        const MOST: usize = 6;
        let mut reasons: Vec<String> = Vec::new();
        let mut more = 0;
        for reason in metrics.filter_map(|metric| metric.reason.as_deref()) {
            let reason = format!("— {}", short_reason(reason));
            if !reasons.contains(&reason) {
                if reasons.len() < MOST {
                    reasons.push(reason);
                } else {
                    more += 1;
                }
            }
        }
        if more > 0 {
            reasons.push(format!("and {} more like this", count(more)));
        }
        reasons
    }

    fn checks(&self) -> Option<Section> {
        let mut table = HtmlTable::new("Checks", &["Check", "Verdict", "#Value"]).quiet();
        let write = |value: f64| minus(&fine(value));
        for check in &self.report.audit.checks {
            let mut value = TableCell::number(or_dash(check.metric.value, write));
            if let (Some(low), Some(high)) = (check.metric.low, check.metric.high) {
                value = value.with_note(format!("{} to {}", write(low), write(high)));
            }
            table.row(
                TableCell::name(&plain(&check.expression)).with_note(self.report.why(check, self.front_end)),
                [TableCell::text("").with_badge(verdict(check.verdict)), value],
            );
        }
        let mut about =
            "Bounds that were asked for. A check passes if the whole interval keeps the bound, fails \
                         if none of it does, and is undecided otherwise."
                .to_owned();
        about.extend(joint_checks(&self.report.audit).map(|joint| format!(" Checks have {joint}.")));
        let body = (!self.report.audit.checks.is_empty()).then(|| table.html());
        section("checks", "Checks", &about, body)
    }

    /// What happened to the data.
    fn notes(&self) -> Option<Section> {
        let (audit, notes) = (&self.report.audit, &self.report.notes);
        let mut table = HtmlTable::new("Data", &["Fact", "Value"]).quiet();
        let mut add = |name: &str, value: String| table.row(TableCell::name(name), [TableCell::text(value)]);
        for name in &notes.tables {
            add("Table", plain(name));
        }
        if let Some(filter) = &notes.filter {
            add("Only rows where", plain(filter));
        }
        if !notes.groups_left_out.is_empty() {
            add("Groups not compared", plain(&notes.groups_left_out.join(", ")));
        }
        for (role, name) in &notes.columns {
            let role = role.words().replace("protected", "protected attribute");
            add(&format!("Column of the {role}"), plain(name));
        }
        add("Rows read", count(notes.rows_read as u64));
        let left_out = match notes.rows_dropped {
            0 => "none".to_owned(),
            rows => format!("{}: {}", count(rows as u64), self.report.missing()),
        };
        add("Rows left out", left_out);
        if let Some(ids) = self.report.dropped_ids() {
            add("Left out", ids);
        }
        if self.report.rows_of_no_weight() > 0 {
            add("Rows of weight 0, left out", count(self.report.rows_of_no_weight() as u64));
        }
        add("Rows audited", count(audit.rows as u64));
        if let Some(queries) = audit.queries {
            add("Queries", count(queries as u64));
        }
        if !audit.groups.is_empty() {
            add("Groups", count(audit.groups.len() as u64));
            add("Rows of no group, part of “anyone” only", count(audit.without_attribute as u64));
        } else if audit.continuous.is_some() {
            add("Rows without the protected attribute", count(audit.without_attribute as u64));
        }
        let [average, ties] = self.report.how();
        if let Some(tied) = self.distributions.and_then(|found| found.tied) {
            let share = if tied == 0.0 { "none".to_owned() } else { format!("{:.2}%", tied * 100.0) };
            add("Pairs with equal scores", format!("{share}; {ties}"));
        }
        add("Averages", average.to_owned());
        add("Confidence of intervals", percent(audit.settings.confidence));
        if audit.settings.min_pairs > 1 {
            let pairs = many(usize::try_from(audit.settings.min_pairs).unwrap_or(usize::MAX), "pair");
            add("Not estimated below", pairs);
        }
        add("Seed", audit.settings.seed.to_string());
        section("data", "Data", "What was read, and what happened to it.", [table.html()])
    }
}

/// The gaps of an audit with their intervals and the bounds that were asked for.
pub(super) fn gaps_of(audit: &Audit) -> Option<Section> {
    let gaps = gaps_that_apply(audit);
    // The checks that bound a criterion by itself.
    let bounds = |criterion: Criterion| {
        let alone = |check: &&Check| match check.expression.split_once("<=") {
            Some((left, right)) => left.trim() == criterion.name() && right.trim().parse::<f64>().is_ok(),
            None => false,
        };
        audit.checks.iter().filter(alone).collect()
    };
    let row = |&(criterion, metric): &(Criterion, _)| Whisker {
        bounds: bounds(criterion),
        ..Whisker::of(criterion.name(), metric, criterion.rates().to_owned())
    };
    let caption = "Each gap with its interval; a thick line is a bound that was asked for";
    let whiskers = Whiskers::of(caption, "Gap", gaps.iter().map(row)).holding([0.0]);
    let about = "The largest difference among rates that should be equal; 0 is perfectly equal.";
    section("gaps", "Gaps", about, (!gaps.is_empty()).then(|| whiskers.html()))
}
