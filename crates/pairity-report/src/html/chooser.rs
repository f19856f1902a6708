//! A slider that shows one of several choices at a time. Without its script, and on paper, all are there.

use super::markup::{Html, render};
use minijinja::{Value, context};

/// One choice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    /// What the slider says: "0.05".
    pub(crate) name: String,
    pub(crate) body: Vec<Html>,
}

/// Choices under a slider, of which one is shown at first. A single choice has no slider.
pub(crate) fn chooser(title: &str, choices: Vec<Choice>, start: usize) -> Html {
    let last = choices.len().saturating_sub(1);
    let choices = choices.into_iter().map(|Choice { name, body }| context! { name, body });
    let choices = choices.collect::<Vec<Value>>();
    render("chooser.html", context! { title, choices, last, start => start.min(last) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::frame::paragraphs;

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
