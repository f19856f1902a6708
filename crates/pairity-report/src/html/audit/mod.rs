//! The page of an audit.

mod differences;
mod gaps;
mod groups;
mod lead;
mod notes;
mod queries;
mod scores;
#[cfg(test)]
mod tests;

pub(super) use gaps::gaps_of;
pub(super) use lead::result_of;

use super::frame::{HtmlPage, Terms, Tile, cite, tile};
use super::table::short_reason;
use crate::advice::FrontEnd;
use crate::report::{AuditReport, Role};
use crate::text::words::{count, number, plain, rate, shorten};
use pairity::metrics::{Distributions, Metric, Verdict};

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
    facts.push(format!("{} confidence intervals", report.confidence()));
    let sections = [
        page.checks(),
        page.accuracy(),
        page.marginals(),
        page.continuous(),
        gaps_of(report),
        page.parity(),
        page.scores(),
        page.queries(),
        Some(page.notes()),
        page.terms().glossary(),
        cite(),
    ];
    HtmlPage {
        kind: "Pairwise fairness audit",
        title: report.title(),
        facts,
        lead: lead::sentences(report),
        tiles: page.tiles(),
        sections: sections.into_iter().flatten().collect(),
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
    fn terms(&self) -> Terms {
        let audit = &self.report.audit;
        Terms {
            labels: self.report.has_labels(),
            groups: !audit.groups.is_empty(),
            continuous: audit.continuous.is_some() && self.report.has_labels(),
            queries: audit.queries.is_some(),
            weights: self.report.column(Role::Weight).or(self.report.column(Role::PairWeight)).is_some(),
            checks: !audit.checks.is_empty(),
            training: false,
        }
    }

    fn tiles(&self) -> Vec<Tile> {
        let audit = &self.report.audit;
        let mut tiles = Vec::new();
        if self.report.has_labels() {
            tiles.push(tile("Overall accuracy (AUC)", &audit.auc, rate));
        }
        if let Some(mse) = self.report.shown_mse() {
            tiles.push(tile("Mean squared error (MSE)", mse, |x| number(x, 4)));
        }
        if let Some((better, worse)) = self.report.worst_cell() {
            let metric = &audit.accuracy[better][worse];
            let name = |group: usize| shorten(&audit.groups[group], 24);
            let title = format!("Lowest accuracy: {} above {}", name(better), name(worse));
            tiles.push(tile(&title, metric, rate));
        }
        if let Some((criterion, gap)) = self.report.gaps_that_apply().first() {
            tiles.push(tile(&format!("Gap ({})", criterion.name()), gap, rate));
        }
        if !audit.checks.is_empty() {
            let kept = audit.checks.iter().filter(|check| check.verdict == Verdict::Pass).count();
            tiles.push(Tile {
                title: "Checks passed".to_owned(),
                value: format!("{kept} of {}", audit.checks.len()),
                note: String::new(),
            });
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
}
