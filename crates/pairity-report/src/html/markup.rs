//! Markup, and the templates that alone make it. Templates escape every text they are given, so that what is
//! [`Html`] never holds a name from a table that could be read as markup.

use minijinja::{Environment, UndefinedBehavior, Value};
use serde::{Serialize, Serializer};
use std::sync::LazyLock;

/// Markup that a template has made. Templates take it as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Html(String);

impl Html {
    /// The markup as text.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

impl Serialize for Html {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::from_safe_string(self.0.clone()).serialize(serializer)
    }
}

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("templates/", $name)))),*]
    };
}

/// Files that end in `.html` escape what they are given.
const TEMPLATES: [(&str, &str); 15] = templates![
    "badge.html",
    "chart.html",
    "chooser.html",
    "cite.html",
    "command.html",
    "details.html",
    "frame.html",
    "glossary.html",
    "heat.html",
    "multiples.html",
    "notebook.html",
    "paragraphs.html",
    "side.html",
    "table.html",
    "whiskers.html",
];

/// The style of all pages.
pub(super) const STYLE: &str = include_str!("templates/style.css");

/// The script of sliders, the only one there is.
const SCRIPT: &str = include_str!("templates/chooser.js");

/// Its hash: the page's policy lets browsers run what has it, and nothing else.
pub(super) const SCRIPT_HASH: &str = "sha256-inv1wl/Z6FDjabr475VRSxEuN47TpGM39ZyV8V+ouzQ=";

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, source) in TEMPLATES {
        if let Err(error) = environment.add_template(name, source) {
            unreachable!("templates are part of the program, and {name} is wrong: {error}");
        }
    }
    environment
});

impl From<Html> for Value {
    fn from(html: Html) -> Value {
        Value::from_safe_string(html.0)
    }
}

/// Fills a template in.
pub(crate) fn render(template: &str, data: impl Into<Value>) -> Html {
    let filled = ENVIRONMENT.get_template(template).and_then(|found| found.render(data));
    match filled {
        Ok(text) => Html(text),
        // Nothing that a table holds can make a template fail: each is filled with the same names.
        Err(error) => unreachable!("the template {template} does not fit its data: {error:#}"),
    }
}

/// The style sheet, which is ours and not to be escaped.
pub(super) fn style() -> Html {
    Html(STYLE.to_owned())
}

/// The script, as it stands between its tags.
pub(super) fn script() -> Html {
    Html(SCRIPT.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_template_lets_text_through() {
        for (name, source) in TEMPLATES {
            assert!(name.ends_with(".html"), "{name} would not be escaped");
            assert!(!source.contains("|safe") && !source.contains("| safe"), "{name}");
            assert!(!source.contains("autoescape"), "{name}");
            // In an attribute without quotes a space would end the value.
            assert!(!source.contains("={{"), "{name}");
        }
    }

    #[test]
    fn the_policy_allows_the_script() {
        let digest = <sha2::Sha256 as sha2::Digest>::digest(SCRIPT.as_bytes());
        assert_eq!(SCRIPT_HASH, format!("sha256-{}", base64(&digest)));
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("eval") && !SCRIPT.contains("</"));
    }

    /// Six bits at a time.
    fn base64(bytes: &[u8]) -> String {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for part in bytes.chunks(3) {
            let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(part.get(i).copied().unwrap_or(0)));
            for i in 0..4 {
                let letter = letters[(bits >> (18 - 6 * i) & 63) as usize];
                out.push(if i <= part.len() { letter as char } else { '=' });
            }
        }
        out
    }

    #[test]
    fn nothing_comes_from_elsewhere() {
        for (name, source) in TEMPLATES.into_iter().chain([("style.css", STYLE), ("chooser.js", SCRIPT)]) {
            // The frame holds our own script.
            assert_eq!(source.matches("<script>").count(), usize::from(name == "frame.html"), "{name}");
            for word in ["<script ", "<link", "src=", "url(", "@import", "javascript:"] {
                assert!(!source.contains(word), "{name} has {word}");
            }
        }
    }
}
