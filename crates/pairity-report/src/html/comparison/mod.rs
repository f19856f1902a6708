//! The pages of comparisons and frontiers: models as points with intervals, and the matrix of each.

#[cfg(test)]
mod tests;

use super::frame::{
    Choice, HtmlPage, Section, Tile, chooser, command, glossary, notes, paragraphs, remarks, section,
};
use super::heat::{HeatMap, MAX_MATRIX};
use super::markup::Html;
use super::scatter::{Scatter, ScatterPoint};
use super::table::{HtmlTable, TableCell, with_interval};
use super::whiskers::{Whisker, Whiskers, verdict};
use crate::facts::percent;
use crate::outcome::{comparison_facts, goal_words, on_files};
use crate::words::{fine, many, plain, shorten};
use pairity::goals::Objective;
use pairity::metrics::{Metric, Verdict};
use pairity::run::{CompareOutcome, ComparisonSetup, FrontierOutcome, MethodOutcome, MethodResult};

/// What models without a constraint miss.
const NO_MISS: Metric = Metric { value: Some(0.0), low: None, high: None, pairs: 0, reason: None, few: None };

/// The comparison as a page for people: one file that needs nothing else. `command` makes it again.
pub fn comparison_html(report: &CompareOutcome, command: Option<&str>) -> String {
    let results = report.results.iter().map(|result| (None, None, result));
    let page = ComparisonPage::new(&report.setup, false, results);
    let models = &page.models;
    let tile = |(wanted, title): (Verdict, &str)| {
        let count = models.iter().filter(|model| model.outcome.verdict() == wanted).count();
        Tile::new(title, count.to_string(), format!("of {}", many(models.len(), "method")))
    };
    let tiles = [
        (Verdict::Pass, "Surely meet the goal"),
        (Verdict::Undecided, "May meet it"),
        (Verdict::Fail, "Surely miss it"),
    ];
    let lead = match models.first() {
        None => vec!["No method applies to these data and this goal.".to_owned()],
        Some(best) => vec![
            format!("{}: it {}.", page.words(best), best.sure()),
            format!(
                "Methods that surely meet the goal come first, by objective; then those of which the rows can’t tell, by \
                 the worse of their ranks in objective and in what they miss; the rest by violation. {}",
                seen(report.setup.part)
            ),
        ],
    };
    let about = "A model passes if the whole interval of every constraint keeps its bound, fails if none of one does, and \
                 is undecided otherwise. “Drawn” scorers differ from query to query; “by group” means that the group \
                 of whom is scored has to be known.";
    let table = page.table("Methods with their values", models.iter(), |model| plain(model.method)).html();
    let sections = vec![page.picture(), section("methods", "Methods", about, [table]), page.matrices()];
    page.write("Comparison of methods", "Comparison", lead, tiles.map(tile).into(), sections, command)
}

/// What methods knew of the rows that values are of.
fn seen(part: &str) -> String {
    match part {
        "test" => "None of them was trained, chosen or tuned on test rows.".to_owned(),
        part => {
            format!("There are no test rows: values of {part} rows, on which all are chosen, flatter them.")
        }
    }
}

/// The frontier as a page for people: one file that needs nothing else. `command` makes it again.
pub fn frontier_html(report: &FrontierOutcome, command: Option<&str>) -> String {
    let points = report.curves.iter().flat_map(|curve| &curve.points);
    let results = points.map(|point| (point.bound, point.keeps, &point.result));
    let page = ComparisonPage::new(&report.setup, true, results);
    let ends = [page.bounds().first().copied(), page.bounds().last().copied()];
    let lead = ends.into_iter().flatten().filter_map(|bound| {
        Some(format!("With a bound of {}, {}.", fine(bound), page.words(page.chosen(report, bound)?)))
    });
    let mut lead: Vec<String> = lead.collect();
    lead.dedup();
    if lead.is_empty() {
        lead.push("No method gave a model for any bound.".to_owned());
    }
    let name = |model: &ComparedModel| match model.bound {
        Some(bound) => format!("{} at {}", plain(model.method), fine(bound)),
        None => plain(model.method),
    };
    let table = page.table("All models", page.models.iter(), name).behind("All models as a table");
    let table = (!page.models.is_empty()).then_some(table);
    let table = section("models", "All models", "Every method at every bound.", table);
    let sections = vec![page.picture(), page.choices(report), table];
    page.write("Frontier of accuracy and fairness", "Frontier", lead, Vec::new(), sections, command)
}

/// A model of a comparison or on a frontier.
struct ComparedModel<'a> {
    method: &'a str,
    /// Its color and shape: those of a method on a frontier have the same.
    series: usize,
    /// On a frontier, the bound it was trained for, if its method looks at any.
    bound: Option<f64>,
    /// On a frontier, the tightest bound that it keeps.
    keeps: Option<f64>,
    outcome: &'a MethodOutcome,
}

impl ComparedModel<'_> {
    /// On a frontier, the objective and the tightest bound that is kept, where both are known.
    fn values(&self) -> Option<(f64, f64)> {
        Some((self.outcome.test.objective.value?, self.keeps?))
    }

    fn violation(&self) -> &Metric {
        self.outcome.violation().unwrap_or(&NO_MISS)
    }

    /// How sure it is that it meets the goal.
    fn sure(&self) -> &'static str {
        match self.outcome.verdict() {
            Verdict::Pass => "surely meets the goal",
            Verdict::Fail => "surely misses the goal",
            Verdict::Undecided => "may meet the goal: these rows can’t tell",
            Verdict::NotEstimable => "can’t be judged on these rows",
        }
    }

    /// Its accuracies: a matrix, or those of a continuous attribute. Colors are distances from `middle`, so that
    /// they mean the same on all of them.
    fn accuracies(&self, caption: &str, middle: Option<f64>) -> Option<Html> {
        let audit = &self.outcome.test.audit;
        if let Some(both) = &audit.continuous {
            // One scale for all of them.
            let rows = Whisker::of_continuous(both, "", "z");
            return Some(Whiskers::of(caption, "Accuracy", rows).holding([0.0, 1.0]).html());
        }
        let fits = (2..=MAX_MATRIX).contains(&audit.groups.len());
        fits.then(|| HeatMap::of_accuracy(caption, audit, middle).html())
    }
}

/// What both kinds of pages are made from.
struct ComparisonPage<'a> {
    setup: &'a ComparisonSetup,
    is_frontier: bool,
    models: Vec<ComparedModel<'a>>,
    /// Methods that do not apply, each once, and why.
    refused: Vec<(&'a str, &'a str)>,
}

impl<'a> ComparisonPage<'a> {
    /// Results, on a frontier with their bounds and what they keep; those of one method follow each other there.
    fn new(
        setup: &'a ComparisonSetup,
        is_frontier: bool,
        results: impl Iterator<Item = (Option<f64>, Option<f64>, &'a MethodResult)>,
    ) -> ComparisonPage<'a> {
        let mut models: Vec<ComparedModel> = Vec::new();
        let mut refused: Vec<(&str, &str)> = Vec::new();
        for (bound, keeps, MethodResult { method, outcome }) in results {
            match outcome {
                Ok(outcome) => {
                    let series = models
                        .last()
                        .map_or(0, |last| last.series + usize::from(!is_frontier || last.method != method));
                    models.push(ComparedModel { method, series, bound, keeps, outcome });
                }
                Err(reason) if !is_frontier || refused.iter().all(|(other, _)| other != method) => {
                    refused.push((method, reason));
                }
                Err(_) => {}
            }
        }
        ComparisonPage { setup, is_frontier, models, refused }
    }

    /// The whole file, with what comes after the results on both pages.
    fn write(
        &self,
        kind: &'static str,
        title: &str,
        lead: Vec<String>,
        tiles: Vec<Tile>,
        mut sections: Vec<Option<Section>>,
        again: Option<&str>,
    ) -> String {
        let setup = self.setup;
        let mut facts = vec![format!("Goal: {}", goal_words(&setup.goal))];
        facts.extend(comparison_facts(setup));
        facts.push(format!("{} confidence intervals", percent(setup.confidence)));
        let mut table = HtmlTable::new("Methods that do not apply", &["Method", "Reason"]).quiet();
        for (method, reason) in &self.refused {
            table.row(TableCell::name(&plain(method)), [TableCell::text(shorten(reason, 400))]);
        }
        let refused = (!self.refused.is_empty()).then(|| table.html());
        let about =
            "The same command, version and seed give the same numbers, whatever the number of threads.";
        sections.extend([
            section("refused", "Methods that do not apply", "", refused),
            notes(&setup.notes),
            section("again", "How to make it again", about, again.map(command)),
            glossary(self.models.first().map(|model| &model.outcome.test.audit), false, true, true),
        ]);
        let title = on_files(title, &setup.tables);
        HtmlPage { kind, title, facts, lead, tiles, sections, sliders: true }.write()
    }

    /// Whether one objective is better than another.
    fn better(&self, one: f64, other: f64) -> bool {
        match self.setup.goal.objective {
            Objective::Maximize(_) => one > other,
            Objective::Minimize(_) => one < other,
        }
    }

    /// Values of a model in words.
    fn words(&self, model: &ComparedModel) -> String {
        let write = |metric: &Metric| with_interval(metric, "not estimable");
        let violation =
            model.outcome.violation().map(|metric| format!(" and a violation of {}", write(metric)));
        format!(
            "{} has {} {}{}",
            shorten(model.method, 60),
            plain(self.setup.goal.objective.text()),
            write(&model.outcome.test.objective),
            violation.unwrap_or_default()
        )
    }

    /// Models as points: of a comparison with what is sure of each, on a frontier joined and with their bounds.
    fn picture(&self) -> Option<Section> {
        let all: Vec<(f64, f64)> = self.models.iter().filter_map(ComparedModel::values).collect();
        let dominated = |own: (f64, f64)| {
            all.iter().any(|other| !self.better(own.0, other.0) && other.1 <= own.1 && *other != own)
        };
        let joined = self.is_frontier;
        let spots = self.models.iter().map(|model| ScatterPoint {
            name: model.method,
            x: model.violation(),
            y: &model.outcome.test.objective,
            dominated: if joined { model.values().is_some_and(dominated) } else { model.outcome.dominated },
            series: model.series,
            about: match joined {
                true => model.bound.map_or(String::new(), |bound| format!("bound {}", fine(bound))),
                false => model.sure().to_owned(),
            },
        });
        let title = "Objective against violation";
        let objective = plain(self.setup.goal.objective.text());
        let spots = spots.collect();
        let scatter = Scatter { title, x_title: "violation", y_title: &objective, spots, joined };
        let about = match joined {
            true => {
                "Left is fairer. A line follows a method from the loosest bound to the tightest; bars are the intervals of \
                 both values. Gray points are dominated: another model is at least as good in both values."
            }
            false => {
                "Left is fairer. Bars are the intervals of both values. Gray methods are dominated: another one is at \
                 least as good in both values, though differences inside the intervals may be noise."
            }
        };
        section("picture", title, about, [scatter.html()])
    }

    /// Models with their values, one below the other.
    fn table<'m>(
        &self,
        caption: &str,
        models: impl Iterator<Item = &'m ComparedModel<'m>>,
        name: impl Fn(&ComparedModel) -> String,
    ) -> HtmlTable {
        let objective = format!("#{}", plain(self.setup.goal.objective.text()));
        let columns = ["Method", &objective, "#Violation", "Goal", "#Scorers", "#Seconds"];
        let mut table = HtmlTable::new(caption, &columns).quiet();
        for model in models {
            let outcome = model.outcome;
            let name = TableCell::name(&name(model)).with_note_if(outcome.dominated, "dominated");
            let scorers = TableCell::count(outcome.components as u64)
                .with_note_if(outcome.components > 1, "drawn")
                .with_note_if(outcome.sees_group, "by group");
            let cells = [
                TableCell::metric(&outcome.test.objective, fine),
                TableCell::known(outcome.violation(), fine),
                TableCell::text("").with_badge(verdict(outcome.verdict())),
                scorers,
                TableCell::number(format!("{:.1}", outcome.seconds)),
            ];
            table.row(name, cells);
        }
        table
    }

    /// What is the middle of all matrices: the overall accuracy of the first model.
    fn middle(&self) -> Option<f64> {
        self.models.first()?.outcome.test.audit.auc.value
    }

    /// The matrix of each method of a comparison.
    fn matrices(&self) -> Option<Section> {
        let choice = |model: &ComparedModel| {
            let html = model.accuracies("Accuracy with its interval and number of pairs", self.middle())?;
            let words = format!("{}; it {}.", self.words(model), model.sure());
            Some(Choice { name: plain(model.method), body: vec![paragraphs(&[words]), html] })
        };
        let choices: Vec<Choice> = self.models.iter().filter_map(choice).collect();
        let body = (!choices.is_empty()).then(|| chooser("Method", choices, 0));
        let about = "How often the better of two candidates has the higher score. The slider goes from one method to the next.";
        section("accuracy", "Accuracy of each method", about, body)
    }

    /// The bounds of a frontier, from the loosest to the tightest.
    fn bounds(&self) -> Vec<f64> {
        let mut bounds: Vec<f64> = self.models.iter().filter_map(|model| model.bound).collect();
        bounds.sort_by(|a, b| b.total_cmp(a));
        bounds.dedup();
        bounds
    }

    /// The models of a bound, and those that look at none.
    fn at(&self, bound: f64) -> impl Iterator<Item = &ComparedModel<'a>> {
        self.models.iter().filter(move |model| model.bound.is_none_or(|own| own == bound))
    }

    /// The best of all models for a bound.
    fn chosen(&self, report: &FrontierOutcome, bound: f64) -> Option<&ComparedModel<'a>> {
        let best = report.best(bound)?.result.outcome.as_ref().ok()?;
        self.models.iter().find(|model| std::ptr::eq(model.outcome, best))
    }

    /// The model for each bound of a frontier.
    fn choices(&self, report: &FrontierOutcome) -> Option<Section> {
        let choice = |bound: f64| {
            let model = self.chosen(report, bound)?;
            let other = model.bound.filter(|&own| own != bound);
            let other = other.map_or(String::new(), |own| format!("; it was trained for {}", fine(own)));
            let mut body = vec![paragraphs(&[format!("{}{other}.", self.words(model))])];
            body.extend(model.accuracies("Accuracy of this model, with its interval", self.middle()));
            let table = self.table("Methods at this bound", self.at(bound), |model| plain(model.method));
            body.push(table.behind("All methods at this bound"));
            Some(Choice { name: fine(bound), body })
        };
        let choices: Vec<Choice> = self.bounds().into_iter().filter_map(choice).collect();
        let remark = "Of all models on this page that keep the bound on these rows, whatever bound they were trained for, \
                      the one with the best objective is shown; if there is none, the one that misses it least. As the \
                      same rows choose and show, this is a little optimistic.";
        let start = choices.len() / 2;
        let body = (!choices.is_empty())
            .then(|| [chooser("Bound ε", choices, start), remarks(&[remark.to_owned()])]);
        let about = "The slider goes from the loosest bound to the tightest.";
        section("bounds", "The model for each bound", about, body.into_iter().flatten())
    }
}
