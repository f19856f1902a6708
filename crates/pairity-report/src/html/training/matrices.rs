//! Accuracies before and after the constraints, side by side.

use super::TrainingPage;
use crate::html::frame::{Section, section};
use crate::html::heat::{HeatMap, MAX_MATRIX, side_by_side};
use crate::html::markup::Html;
use crate::html::table::{Cell, Table};
use crate::html::whiskers::{Whisker, Whiskers};
use crate::text::words::{rate, shorten};
use pairity::metrics::Audit;
use pairity::rates::Rate;

/// Of many groups, this many cells are shown.
const LOWEST: usize = 20;

impl TrainingPage<'_> {
    pub(super) fn matrices(&self) -> Option<Section> {
        let audit = &self.last.as_ref()?.audit;
        if audit.groups.len() < 2 {
            return None;
        }
        let mut audits: Vec<(String, &Audit)> = Vec::new();
        if let Some(before) = self.aside.before {
            audits.push(("Before: the best scorer whatever the constraints".to_owned(), &before.audit));
            audits.push(("After: the model".to_owned(), audit));
        } else {
            audits.push(("The model".to_owned(), audit));
        }
        let body = match audit.groups.len() <= MAX_MATRIX {
            true => vec![matrices(&audits)],
            false => vec![lowest(&audits, audit)],
        };
        let about = format!(
            "On {}: how often the better of two candidates has the higher score, by the group of each. Read along a \
             row for the better one’s group.",
            self.rows()
        );
        section("accuracy", "Accuracy between groups", &about, body)
    }

    pub(super) fn continuous(&self) -> Option<Section> {
        let (greater, less) = self.last.as_ref()?.audit.continuous.as_ref()?;
        let row = |name: &'static str, when: &str, metric, order: &str| Whisker {
            name,
            about: format!("{when}the better one has {order} z"),
            metric,
            unit: "pairs",
            bounds: vec![],
        };
        let mut rows = Vec::new();
        let before = self.aside.before.and_then(|before| before.audit.continuous.as_ref());
        let after = if before.is_some() { "after; " } else { "" };
        if let Some((greater, less)) = before {
            rows.push(row("A[z > z']", "before; ", greater, "the higher"));
            rows.push(row("A[z < z']", "before; ", less, "the lower"));
        }
        rows.push(row("A[z > z']", after, greater, "the higher"));
        rows.push(row("A[z < z']", after, less, "the lower"));
        let whiskers = Whiskers {
            caption: "Accuracy with its interval",
            title: "Accuracy",
            rows,
            holds: vec![],
            rule: None,
            write: rate,
        };
        let about = format!("On {}. z is the protected attribute.", self.rows());
        section("continuous", "Accuracy by a continuous attribute", &about, vec![whiskers.html()])
    }
}

/// Matrices side by side, in the colors of one scale.
pub(in crate::html) fn matrices(audits: &[(String, &Audit)]) -> Html {
    let middle = audits.last().and_then(|(_, audit)| audit.auc.value);
    let maps: Vec<HeatMap> =
        audits.iter().map(|(caption, audit)| HeatMap::of_accuracy(caption, audit, middle)).collect();
    side_by_side(&maps)
}

/// The lowest accuracies, where a matrix would have too many.
fn lowest(audits: &[(String, &Audit)], last: &Audit) -> Html {
    let mut cells: Vec<(usize, usize, f64)> = Vec::new();
    for (a, row) in last.accuracy.iter().enumerate() {
        cells.extend(row.iter().enumerate().filter_map(|(b, metric)| Some((a, b, metric.value?))));
    }
    cells.sort_by(|x, y| x.2.total_cmp(&y.2));
    let mut table = Table::new(format!("The {LOWEST} lowest accuracies"), &["Accuracy"]);
    audits.iter().for_each(|(caption, _)| table.add_column(caption.clone()));
    for &(a, b, _) in cells.iter().take(LOWEST) {
        let mut row = vec![Cell::name(&shorten(&Rate::accuracy(a, b).name(&last.groups), 80))];
        row.extend(audits.iter().map(|(_, audit)| Cell::metric(&audit.accuracy[a][b], rate)));
        table.push(row);
    }
    table.html()
}
