//! What pages need beside reports: where they go, the command that was run, and rows for pictures.

use crate::arguments::{Format, PageArguments};
use crate::files::{check_writable, write_file};
use crate::output;
use crate::train_arguments::FitArguments;
use pairity::examples::Examples;
use pairity::scorers::{Architecture, Features, GroupUse, Model};
use pairity::training::Evaluation;
use pairity_report::{
    Look, PageAside, Plane, PlaneLine, PlanePoint, TrainingReport, json_lines, training_html,
};
use serde_json::Value;
use std::process::ExitCode;

/// Rows of one group and label that a picture shows at most.
const SHOWN: usize = 120;

impl PageArguments {
    /// Fails now rather than after an hour of work if the page can't be written.
    ///
    /// # Errors
    /// It can't.
    pub fn check(&self) -> anyhow::Result<()> {
        self.html.as_deref().map_or(Ok(()), check_writable)
    }

    /// Writes the page, if there is one.
    ///
    /// # Errors
    /// The file can't be written; what was there before is untouched.
    pub fn write(&self, page: Option<&str>) -> anyhow::Result<()> {
        match (&self.html, page) {
            (Some(file), Some(page)) => write_file(file, page.as_bytes()),
            _ => Ok(()),
        }
    }
}

/// The page of a training run, whose last part of the rows is given.
pub fn training_page(
    report: &TrainingReport,
    before: Option<&Evaluation>,
    model: &Model,
    last: &Examples,
    features: &Features,
) -> String {
    let plane = match &model.architecture {
        // Scores that are changed afterwards are no planes.
        Architecture::Linear(linear) if linear.groups == GroupUse::Blind && model.after.is_none() => {
            let lines = report.trained.components.iter().enumerate().filter_map(|(place, component)| {
                let &[a, b, ..] = &component.parameters[..] else { return None };
                let name = format!("scorer {} ({:.0}%)", place + 1, 100.0 * component.probability);
                Some(PlaneLine { name, weights: [a, b] })
            });
            plane(&report.features, last, features, lines.collect())
        }
        _ => None,
    };
    let command = command(std::env::args());
    let plane = plane.as_ref();
    training_html(report, &PageAside { command: Some(&command), before, plane, ..PageAside::default() })
}

/// Rows of two features, some of every group and label; none if there are more or fewer features.
pub fn plane(
    names: &[String],
    examples: &Examples,
    features: &Features,
    lines: Vec<PlaneLine>,
) -> Option<Plane> {
    let ([first, second], Some(labels)) = (names, examples.example_labels()) else { return None };
    let (low, high) =
        labels.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)));
    let middle = low / 2.0 + high / 2.0;
    let (codes, groups) = (examples.codes_by_row(), examples.groups());
    // Of each group, and of no group, those with lower and with higher labels.
    let mut kinds: Vec<Vec<PlanePoint>> = vec![Vec::new(); 2 * (groups.len() + 1)];
    for (&row, &label) in examples.example_rows().iter().zip(labels) {
        let group = Some(usize::from(codes[row as usize])).filter(|&code| code < groups.len());
        let &[x, y] = features.row(row as usize) else { return None };
        let high = label > middle;
        kinds[2 * group.unwrap_or(groups.len()) + usize::from(high)].push(PlanePoint {
            x: [x, y],
            group,
            high,
        });
    }
    let some = |kind: Vec<PlanePoint>| {
        let step = kind.len().div_ceil(SHOWN).max(1);
        kind.into_iter().step_by(step)
    };
    let points = kinds.into_iter().flat_map(some).collect();
    Some(Plane { features: [first.clone(), second.clone()], groups: groups.to_vec(), points, lines })
}

/// A command as one would type it, on one line.
pub fn command(arguments: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    let quote = |argument: String| match !argument.is_empty() && argument.chars().all(plain) {
        true => argument,
        // A quote inside quotes ends them, is written by itself, and starts them again.
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    };
    // Wherever the program is, its name will do.
    let rest: Vec<String> = arguments.skip(1).map(quote).collect();
    format!("pairity {}", rest.join(" "))
}

/// Makes a report and writes it: its page first, then text or JSON.
///
/// # Errors
/// Those of making it, or a file that can't be written.
pub fn present<R: Send>(
    arguments: &FitArguments,
    make: impl FnOnce() -> anyhow::Result<R> + Send,
    json: fn(&R) -> Value,
    text: fn(&R, &Look) -> String,
    html: fn(&R, Option<&str>) -> String,
) -> anyhow::Result<ExitCode> {
    let page = &arguments.page;
    page.check()?;
    let report = output::on_threads(&arguments.output, make)?;
    let made = page.html.as_ref().map(|_| html(&report, Some(&command(std::env::args()))));
    page.write(made.as_deref())?;
    output::write(&match arguments.output.format {
        Format::Json => json_lines(&json(&report)),
        Format::Text => text(&report, &output::look()),
    })?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairity::examples::{Columns, Groups};

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let words =
            ["/usr/bin/pairity", "train", "my file.csv", "--subject-to", "A[a > b] >= 0.5", "it's", ""];
        let command = command(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(command, r"pairity train 'my file.csv' --subject-to 'A[a > b] >= 0.5' 'it'\''s' ''");
    }

    #[test]
    fn rare_groups_are_shown_beside_large_ones() {
        let n = 2000;
        let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 2)).collect();
        let names: Vec<&str> = (0..n)
            .map(|i| {
                if i < 10 {
                    "rare"
                } else if i < 20 {
                    ""
                } else {
                    "common"
                }
            })
            .collect();
        let groups = Groups::from_names(&names);
        let columns = Columns { labels: Some(&labels), groups: Some(&groups), ..Columns::default() };
        let examples = Examples::new(columns).unwrap();
        let values = (0..n).flat_map(|i| [f64::from(i), 1.0]).collect();
        let features = Features::new(n as usize, 2, values).unwrap();
        let names = ["x".to_owned(), "y".to_owned()];
        let plane = plane(&names, &examples, &features, Vec::new()).unwrap();
        assert_eq!(plane.groups, ["common", "rare"]);
        let count = |group, high| plane.points.iter().filter(|p| p.group == group && p.high == high).count();
        for high in [false, true] {
            assert_eq!((count(Some(1), high), count(None, high)), (5, 5));
            assert!((SHOWN / 2..=SHOWN).contains(&count(Some(0), high)));
        }
        assert!(plane.points.iter().all(|p| p.high == (p.x[0] % 2.0 == 1.0)));
        assert!(super::plane(&names[..1], &examples, &features, Vec::new()).is_none());
    }
}
