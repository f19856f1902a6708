//! The frame of every page: what was done, the result in words, the sections, and who made it.

use super::markup::{Html, SCRIPT_HASH, render, script, style};
use super::table::interval;
use minijinja::context;
use pairity::metrics::Metric;
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

#[derive(Serialize)]
struct Filled<'a> {
    kind: &'static str,
    title: &'a str,
    facts: &'a [String],
    lead: &'a [String],
    tiles: &'a [Tile],
    sections: &'a [Section],
    style: Html,
    /// The script of sliders, and its hash, without which browsers don't run it.
    script: Option<(Html, &'static str)>,
    version: &'static str,
}

impl HtmlPage {
    /// The whole file.
    pub(crate) fn write(&self) -> String {
        let filled = Filled {
            kind: self.kind,
            title: &self.title,
            facts: &self.facts,
            lead: &self.lead,
            tiles: &self.tiles,
            sections: &self.sections,
            style: style(),
            script: self.sliders.then(|| (script(), SCRIPT_HASH)),
            version: env!("CARGO_PKG_VERSION"),
        };
        // The template engine takes the last line feed away.
        render("frame.html", &filled).into_text() + "\n"
    }
}

/// A page inside a frame, for a notebook: its style and its links stay inside.
pub fn notebook_html(title: &str, page: &str) -> String {
    render("notebook.html", &context! { title, page }).into_text()
}

#[derive(Serialize)]
struct Paragraphs<'a> {
    class: &'static str,
    texts: &'a [String],
}

/// Paragraphs of plain words.
pub(crate) fn paragraphs(texts: &[String]) -> Html {
    render("paragraphs.html", &Paragraphs { class: "words", texts })
}

/// The same in smaller letters, for what is good to know.
pub(crate) fn remarks(texts: &[String]) -> Html {
    render("paragraphs.html", &Paragraphs { class: "remark", texts })
}

/// A command to be copied.
pub(crate) fn command(text: &str) -> Html {
    #[derive(Serialize)]
    struct Command<'a> {
        text: &'a str,
    }
    render("command.html", &Command { text })
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
pub(crate) fn section(id: &'static str, title: &str, about: &str, body: Vec<Html>) -> Option<Section> {
    let whole = Section { id, title: title.to_owned(), about: about.to_owned(), body };
    (!whole.body.is_empty()).then_some(whole)
}

/// How to cite the method and the program.
pub(crate) fn cite() -> Section {
    #[derive(Serialize)]
    struct Cite {
        version: &'static str,
    }
    Section {
        id: "cite",
        title: "How to cite".to_owned(),
        about: String::new(),
        body: vec![render("cite.html", &Cite { version: env!("CARGO_PKG_VERSION") })],
    }
}

/// What a page explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Terms {
    pub(crate) labels: bool,
    pub(crate) groups: bool,
    pub(crate) continuous: bool,
    pub(crate) queries: bool,
    pub(crate) weights: bool,
    pub(crate) checks: bool,
    pub(crate) training: bool,
}

/// The words of a page, explained.
pub(crate) fn glossary(terms: Terms) -> Section {
    Section {
        id: "glossary",
        title: "Glossary".to_owned(),
        about: "the words of this page, without formulas".to_owned(),
        body: vec![render("glossary.html", &terms)],
    }
}
