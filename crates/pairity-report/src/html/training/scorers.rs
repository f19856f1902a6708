//! The scorers of a mixture, one by one, and what linear ones weigh.

use super::TrainingPage;
use crate::html::frame::{Section, section};
use crate::html::table::{HtmlTable, TableCell};
use crate::outcome::{miss, objective_of};
use crate::words::{count, fine, or_dash, plain};

/// More features than this are not listed.
const MAX_FEATURES: usize = 60;

/// Nor are weights of more scorers than this.
const MAX_SCORERS: usize = 12;

impl TrainingPage<'_> {
    pub(super) fn members(&self) -> Option<Section> {
        let run = self.run;
        let members = &self.last?.evaluation.members;
        let mut table =
            HtmlTable::new(format!("Each scorer alone, on {}", self.rows()), &["Scorer", "#Drawn"]);
        table.add_column(plain(objective_of(&run.goal)));
        run.goal.subject_to.iter().for_each(|text| table.add_column(plain(text)));
        for (place, (member, component)) in members.iter().zip(&run.trained.components).enumerate() {
            let drawn = format!("{:.1}%", 100.0 * component.probability);
            let places = 0..member.assessment.misses.len();
            let misses = places.map(|place| miss(&member.assessment, place));
            let numbers = [drawn, or_dash(member.objective, fine)].into_iter().chain(misses);
            table.row(TableCell::name(&name(place, component.snapshot)), numbers.map(TableCell::number));
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
        let (features, components) = (&self.run.features, &self.run.trained.components);
        // Beside them there may be a constant.
        let fits =
            components.iter().all(|c| matches!(c.parameters.len().checked_sub(features.len()), Some(0 | 1)));
        let few = features.len() <= MAX_FEATURES && components.len() <= MAX_SCORERS;
        if self.run.scorer != "linear" || self.run.group_aware || !fits || !few {
            return None;
        }
        let mut table = HtmlTable::new("Weights", &["Feature"]).quiet();
        for (place, component) in components.iter().enumerate() {
            table.add_column(name(place, component.snapshot));
        }
        let constant = components.iter().all(|c| c.parameters.len() > features.len());
        let names = features.iter().map(|name| plain(name)).chain(constant.then(|| "constant".to_owned()));
        for (place, name) in names.enumerate() {
            let weights = components.iter().map(|c| or_dash(c.parameters.get(place).copied(), fine));
            table.row(TableCell::name(&name), weights.map(TableCell::number));
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
