//! The frame of every page: what was done, the result in words, the sections, and who made it.

use super::markup::{Html, SCRIPT_HASH, render, script, style};
use super::table::interval;
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
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct HtmlPage {
    /// What kind of page it is.
    pub(crate) kind: &'static str,
    pub(crate) title: String,
    /// What it is about, below the title.
    pub(crate) facts: Vec<String>,
    /// The result in words: the first sentences are larger.
    pub(crate) lead: Vec<String>,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) sections: Vec<Section>,
    /// Whether it has sliders.
    pub(crate) sliders: bool,
}

impl HtmlPage {
    /// The whole file.
    pub(crate) fn write(&self) -> String {
        let filled = context! {
            kind => self.kind,
            title => &self.title,
            facts => &self.facts,
            lead => &self.lead,
            tiles => Serde(&self.tiles),
            sections => Serde(&self.sections),
            style => style(),
            // The script of sliders, and its hash, without which browsers don't run it.
            script => self.sliders.then(|| vec![Value::from(script()), Value::from(SCRIPT_HASH)]),
            version => env!("CARGO_PKG_VERSION"),
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

/// A metric that stands out.
pub(crate) fn tile(title: &str, metric: &Metric, write: fn(f64) -> String) -> Tile {
    Tile {
        title: title.to_owned(),
        value: metric.value.map_or("—".to_owned(), write),
        note: interval(metric, write).unwrap_or_else(|| "can’t be estimated".to_owned()),
    }
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

/// How to cite the method and the program.
pub(crate) fn cite() -> Option<Section> {
    let html = render("cite.html", context! { version => env!("CARGO_PKG_VERSION") });
    section("cite", "How to cite", "", [html])
}

/// What a page explains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) labels: bool,
    pub(crate) groups: bool,
    pub(crate) continuous: bool,
    pub(crate) queries: bool,
    pub(crate) weights: bool,
    pub(crate) checks: bool,
    pub(crate) training: bool,
}

impl Terms {
    /// Those of a trained model on some rows.
    pub(crate) fn of_training(audit: Option<&Audit>) -> Terms {
        Terms {
            labels: true,
            groups: audit.is_some_and(|audit| !audit.groups.is_empty()),
            continuous: audit.is_some_and(|audit| audit.continuous.is_some()),
            queries: audit.is_some_and(|audit| audit.queries.is_some()),
            training: true,
            ..Terms::default()
        }
    }

    /// The words of a page, explained.
    pub(crate) fn glossary(self) -> Option<Section> {
        let Terms { labels, groups, continuous, queries, weights, checks, training } = self;
        let applies = |criterion: &Criterion| match criterion.is_continuous() {
            true => continuous,
            false => groups && (labels || !criterion.needs_labels()),
        };
        let mut criteria = Criterion::documented().to_vec();
        criteria.retain(applies);
        criteria.sort_by_key(|criterion| !criterion.needs_labels());
        let criteria: Vec<Vec<&str>> = criteria.iter().map(|c| vec![c.name(), c.meaning()]).collect();
        let data = context! { labels, groups, continuous, queries, weights, checks, training, criteria };
        let about = "the words of this page, without formulas";
        section("glossary", "Glossary", about, [render("glossary.html", data)])
    }
}
