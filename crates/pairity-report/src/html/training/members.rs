//! The scorers of a mixture, one by one, and what linear ones weigh.

use super::TrainingPage;
use crate::html::frame::{Section, section};
use crate::html::table::{HtmlTable, TableCell};
use crate::outcome::miss;
use crate::text::words::{count, number, plain};
use crate::training::objective_of;

/// More features than this are not listed.
const MAX_FEATURES: usize = 60;

/// Nor are weights of more scorers than this.
const MAX_SCORERS: usize = 12;

impl TrainingPage<'_> {
    pub(super) fn members(&self) -> Option<Section> {
        let report = self.report;
        let members = &report.parts.last()?.evaluation.members;
        let mut table =
            HtmlTable::new(format!("Each scorer alone, on {}", self.rows()), &["Scorer", "#Drawn"]);
        table.add_column(plain(objective_of(&report.goal)));
        report.goal.subject_to.iter().for_each(|text| table.add_column(plain(text)));
        for (place, (member, component)) in members.iter().zip(&report.trained.components).enumerate() {
            let mut row = vec![
                TableCell::name(&name(place, component.snapshot)),
                TableCell::number(format!("{:.1}%", 100.0 * component.probability)),
                TableCell::number(member.objective.map_or("—".to_owned(), |x| number(x, 4))),
            ];
            let misses = 0..member.assessment.misses.len();
            row.extend(misses.map(|place| TableCell::number(miss(&member.assessment, place))));
            table.push(row);
        }
        let mut body = vec![table.html()];
        body.extend(self.weights_table().map(|table| table.behind("What each feature weighs")));
        let (title, about) = match members.len() {
            1 => ("The scorer", ""),
            _ => (
                "Scorers of the mixture",
                "Every query draws one of them, always the same, by a hash of its id: the goal holds on average over \
                 queries, not for each scorer.",
            ),
        };
        section("scorers", title, about, body)
    }

    /// The weights of linear scorers that have one for each feature.
    fn weights_table(&self) -> Option<HtmlTable> {
        let (report, components) = (self.report, &self.report.trained.components);
        let features = &report.features;
        let fits = components
            .iter()
            .all(|c| c.parameters.len() == features.len() || c.parameters.len() == features.len() + 1);
        if report.scorer != "linear"
            || report.group_aware
            || !fits
            || features.len() > MAX_FEATURES
            || components.len() > MAX_SCORERS
        {
            return None;
        }
        let mut table = HtmlTable::new("Weights", &["Feature"]).quiet();
        for (place, component) in components.iter().enumerate() {
            table.add_column(name(place, component.snapshot));
        }
        let constant = components.iter().all(|c| c.parameters.len() > features.len());
        let names = features.iter().map(|name| plain(name)).chain(constant.then(|| "constant".to_owned()));
        for (place, name) in names.enumerate() {
            table.row(
                TableCell::name(&name),
                components.iter().map(|c| {
                    TableCell::number(c.parameters.get(place).map_or("—".to_owned(), |&w| number(w, 4)))
                }),
            );
        }
        Some(table)
    }
}

fn name(place: usize, snapshot: usize) -> String {
    match snapshot {
        0 => format!("{}", place + 1),
        _ => format!("{} (iteration {})", place + 1, count(snapshot as u64)),
    }
}
