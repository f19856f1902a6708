//! The frame of every page: what was done, the result in words, the sections, and who made it.

use super::markup::{Html, SCRIPT_HASH, render, script, style};
use super::table::interval;
use crate::facts::has_labels;
use crate::words::{or_dash, shorten};
use minijinja::value::Serde;
use minijinja::{Value, context};
use pairity::goals::Criterion;
use pairity::metrics::{Audit, Metric};
use serde::Serialize;

/// A number that stands out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Tile {
    pub(crate) title: String,
    pub(crate) value: String,
    pub(crate) note: String,
}

impl Tile {
    pub(crate) fn new(title: impl Into<String>, value: String, note: impl Into<String>) -> Tile {
        Tile { title: title.into(), value, note: note.into() }
    }

    /// A metric that stands out.
    pub(crate) fn of(title: &str, metric: &Metric, write: fn(f64) -> String) -> Tile {
        let note = interval(metric, write).unwrap_or_else(|| "can’t be estimated".to_owned());
        Tile::new(title, or_dash(metric.value, write), note)
    }
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Section {
    /// Its anchor: plain letters.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    /// What it shows, in plain words; may be empty.
    pub(crate) about: String,
    pub(crate) body: Vec<Html>,
}

/// A page before it is written.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct HtmlPage {
    /// What kind of page it is.
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    /// What it is about, below the title.
    pub(crate) facts: Vec<String>,
    /// The result in words: the first sentences are larger.
    pub(crate) lead: Vec<String>,
    pub(crate) tiles: Vec<Tile>,
    /// Its parts before the last, which says how to cite; those that are none are left out.
    #[serde(skip)]
    pub(crate) sections: Vec<Option<Section>>,
    /// Whether it has sliders.
    pub(crate) sliders: bool,
}

impl HtmlPage {
    /// The whole file.
    pub(crate) fn write(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let cite = section("cite", "How to cite", "", [render("cite.html", context! { version })]);
        let filled = context! {
            sections => Serde(self.sections.iter().flatten().chain(&cite).collect::<Vec<_>>()),
            style => style(),
            // The script of sliders, and its hash, without which browsers don't run it.
            script => self.sliders.then(|| vec![Value::from(script()), Value::from(SCRIPT_HASH)]),
            version,
            ..Serde(self)
        };
        // The template engine takes the last line feed away.
        render("frame.html", filled).into_text() + "\n"
    }
}

/// A page inside a frame, for a notebook: its style and its links stay inside.
pub fn notebook_html(title: &str, page: &str) -> String {
    render("notebook.html", context! { title, page }).into_text()
}

/// Paragraphs of plain words.
pub(crate) fn paragraphs(texts: &[String]) -> Html {
    render("paragraphs.html", context! { class => "words", texts => texts.to_vec() })
}

/// The same in smaller letters, for what is good to know.
pub(crate) fn remarks(texts: &[String]) -> Html {
    render("paragraphs.html", context! { class => "remark", texts => texts.to_vec() })
}

/// A command to be copied.
pub(crate) fn command(text: &str) -> Html {
    render("command.html", context! { text })
}

/// A section, unless it has no body.
pub(crate) fn section(
    id: &'static str,
    title: &str,
    about: &str,
    body: impl IntoIterator<Item = Html>,
) -> Option<Section> {
    let body: Vec<Html> = body.into_iter().collect();
    let whole = Section { id, title: title.to_owned(), about: about.to_owned(), body };
    (!whole.body.is_empty()).then_some(whole)
}

/// What happened to the data on the way.
pub(crate) fn notes(notes: &[String]) -> Option<Section> {
    let notes: Vec<String> = notes.iter().map(|note| shorten(note, 400)).collect();
    section("notes", "Notes on the data", "", (!notes.is_empty()).then(|| paragraphs(&notes)))
}

/// The words of a page, explained: those of an audit, which may have weights and checks, or of a trained model.
pub(crate) fn glossary(
    audit: Option<&Audit>,
    weights: bool,
    checks: bool,
    training: bool,
) -> Option<Section> {
    let labels = audit.is_none_or(has_labels);
    let groups = audit.is_some_and(|audit| !audit.groups.is_empty());
    let continuous = audit.is_some_and(|audit| audit.continuous.is_some());
    let queries = audit.is_some_and(|audit| audit.queries.is_some());
    let applies = |criterion: &Criterion| {
        let kind = if criterion.is_continuous() { continuous } else { groups };
        kind && (labels || !criterion.needs_labels())
    };
    let mut criteria = Criterion::documented().to_vec();
    criteria.retain(applies);
    criteria.sort_by_key(|criterion| !criterion.needs_labels());
    let criteria: Vec<Vec<&str>> = criteria.iter().map(|c| vec![c.name(), c.meaning()]).collect();
    let data = context! { labels, groups, continuous, queries, weights, checks, training, criteria };
    let about = "the words of this page, without formulas";
    section("glossary", "Glossary", about, [render("glossary.html", data)])
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Choice {
    /// What the slider says: "0.05".
    pub(crate) name: String,
    pub(crate) body: Vec<Html>,
}

/// A slider that shows one of several choices at a time, at first that at `start`. Without its script, and on
/// paper, all are there; a single choice has no slider.
pub(crate) fn chooser(title: &str, choices: Vec<Choice>, start: usize) -> Html {
    let last = choices.len().saturating_sub(1);
    render("chooser.html", context! { title, choices => Serde(choices), last, start => start.min(last) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(name: &str) -> Choice {
        Choice { name: name.to_owned(), body: vec![paragraphs(&[format!("text of {name}")])] }
    }

    #[test]
    fn every_choice_is_there_before_the_script_runs() {
        let html = chooser("bound", ["0.1", "<b>"].map(choice).into(), 9).into_text();
        assert!(html.contains("text of 0.1") && html.contains("text of &lt;b&gt;"), "{html}");
        assert!(html.contains("min=\"0\" max=\"1\" step=\"1\" value=\"1\""), "{html}");
        // The slider is hidden until there is a script that moves it; the choices are not.
        assert_eq!(html.matches(" hidden").count(), 1, "{html}");
        assert!(html.contains("<div class=\"slider\" hidden>"), "{html}");
    }

    #[test]
    fn a_single_choice_needs_no_slider() {
        assert!(!chooser("bound", vec![choice("0.1")], 0).into_text().contains("<input"));
        assert!(!chooser("bound", vec![], 0).into_text().contains("<input"));
    }
}
