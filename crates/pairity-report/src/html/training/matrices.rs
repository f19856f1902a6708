//! Accuracies before and after the constraints, side by side.

use super::TrainingPage;
use crate::html::frame::{Section, section};
use crate::html::heat::{HeatMap, MAX_MATRIX, side_by_side};
use crate::html::markup::Html;
use crate::html::table::{HtmlTable, TableCell};
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
        let both = self.last.as_ref()?.audit.continuous.as_ref()?;
        let before = self.aside.before.and_then(|before| before.audit.continuous.as_ref());
        let mut rows: Vec<Whisker> = Vec::new();
        rows.extend(before.into_iter().flat_map(|both| Whisker::of_continuous(both, "before; ", "z")));
        let after = if before.is_some() { "after; " } else { "" };
        rows.extend(Whisker::of_continuous(both, after, "z"));
        let whiskers = Whiskers::of("Accuracy with its interval", "Accuracy", rows);
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
    let groups = 0..last.groups.len();
    let mut cells: Vec<(usize, usize, f64)> = groups
        .clone()
        .flat_map(|a| groups.clone().filter_map(move |b| Some((a, b, last.accuracy[a][b].value?))))
        .collect();
    cells.sort_by(|x, y| x.2.total_cmp(&y.2));
    let mut table = HtmlTable::new(format!("The {LOWEST} lowest accuracies"), &["Accuracy"]);
    audits.iter().for_each(|(caption, _)| table.add_column(caption.clone()));
    for &(a, b, _) in cells.iter().take(LOWEST) {
        table.row(
            TableCell::name(&shorten(&Rate::accuracy(a, b).name(&last.groups), 80)),
            audits.iter().map(|(_, audit)| TableCell::metric(&audit.accuracy[a][b], rate)),
        );
    }
    table.html()
}
