//! The page of reproduced experiments: means over seeds beside the paper's values.

use super::chart::SERIES;
use super::frame::{HtmlPage, Section, Tile, cite, command, paragraphs, section};
use super::scatter::{Scatter, ScatterPoint};
use super::table::{HtmlTable, TableCell};
use crate::reproduction::{Reproduced, Reproduction};
use crate::scale::minus;
use crate::text::words::many;
use pairity::metrics::Metric;

/// The experiments as a page for people: one file that needs nothing else.
pub fn reproduction_html(report: &Reproduction) -> String {
    let mut sections: Vec<Section> = Vec::new();
    for lines in report.lines.chunk_by(|a, b| a.experiment == b.experiment) {
        sections.extend(experiment(lines));
    }
    let again = "The same command and version give the same numbers, whatever the number of threads.";
    sections.extend(section("again", "How to make it again", again, vec![command(&report.command)]));
    sections.extend(cite());
    let cells: Vec<&str> =
        report.lines.iter().filter_map(|line| line.agreement).flat_map(|(a, b)| [a, b]).collect();
    let mut kinds = cells.clone();
    kinds.sort_unstable();
    kinds.dedup();
    let tiles = kinds.into_iter().map(|kind| Tile {
        title: format!("Cells that are: {kind}"),
        value: cells.iter().filter(|cell| **cell == kind).count().to_string(),
        note: format!("of {}", many(cells.len(), "cell")),
    });
    let experiments = sections.len().saturating_sub(2);
    HtmlPage {
        kind: "Reproduction of published results",
        title: "Pairwise Fairness for Ranking and Regression: the experiments".to_owned(),
        facts: vec![
            many(experiments, "experiment"),
            many(report.seeds as usize, "seed"),
            format!("values of the {}", report.rows),
        ],
        lead: vec![
            summary(&report.lines),
            "Values are means over seeds; bars and ± are standard deviations over seeds, not intervals of the mean. A cell \
             agrees with the paper’s if it is as near as two standard deviations of one split and the paper’s rounding \
             allow."
                .to_owned(),
        ],
        tiles: tiles.collect(),
        sections,
        ..HtmlPage::default()
    }
    .write()
}

fn summary(lines: &[Reproduced]) -> String {
    let worse: Vec<String> = lines
        .iter()
        .flat_map(|line| {
            let (objective, violation) = line.agreement.unwrap_or(("", ""));
            let cell = |what: &str| format!("{} of {} ({})", what, line.method, line.experiment);
            [(objective, cell(line.shown)), (violation, cell("violation"))]
        })
        .filter(|(mark, _)| *mark == "worse")
        .map(|(_, cell)| cell)
        .collect();
    match worse.len() {
        0 if lines.iter().all(|line| line.agreement.is_none()) => {
            "Nothing here can be held against the paper’s values: that takes two seeds and its own data."
                .to_owned()
        }
        0 => "No value is worse than the paper’s beyond noise.".to_owned(),
        n => format!(
            "{} worse than the paper’s beyond noise: {}.",
            if n == 1 { "One value is" } else { "These values are" },
            worse.join(", ")
        ),
    }
}

fn experiment(lines: &[Reproduced]) -> Option<Section> {
    let first = lines.first()?;
    let spread = |(mean, std): (f64, f64)| Metric {
        value: Some(mean),
        low: Some(mean - std),
        high: Some(mean + std),
        pairs: 0,
        reason: None,
    };
    let exact = |value: f64| Metric { value: Some(value), low: None, high: None, pairs: 0, reason: None };
    let ours: Vec<(Metric, Metric)> =
        lines.iter().map(|line| (spread(line.violation), spread(line.objective))).collect();
    let papers: Vec<Option<(Metric, Metric)>> = lines
        .iter()
        .map(|line| line.paper.map(|(objective, violation)| (exact(violation), exact(objective))))
        .collect();
    let theirs: Vec<String> = lines.iter().map(|line| format!("{} (paper)", line.method)).collect();
    let mut spots = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let spot = |name, (x, y), series| ScatterPoint {
            name,
            x,
            y,
            dominated: false,
            series,
            about: String::new(),
        };
        let (x, y) = &ours[at];
        // Filled shapes for ours and hollow ones for theirs.
        spots.push(spot(line.method, (x, y), at % SERIES));
        if let Some((x, y)) = &papers[at] {
            spots.push(spot(&theirs[at], (x, y), at % SERIES + SERIES));
        }
    }
    let scatter = Scatter {
        title: "Beside the paper",
        x_title: "violation",
        y_title: first.shown,
        spots,
        joined: false,
    };
    let mut body = vec![scatter.html(), table(lines).html(), matrices(lines).behind("Accuracies by method")];
    if lines.iter().any(|line| line.stand_in) {
        let words = "These data are not public: a synthetic stand-in of the same shape takes their place.";
        body.insert(0, paragraphs(&[words.to_owned()]));
    }
    section(first.experiment, first.title, "", body)
}

fn table(lines: &[Reproduced]) -> HtmlTable {
    let shown = format!("#{}", lines.first().map_or("auc", |line| line.shown));
    let paper = format!("#Paper: {}", &shown[1..]);
    let columns = ["Method", &shown, &paper, "#violation", "#Paper: violation", "Verdict", "#Seconds"];
    // Regions of a page need names that tell them apart.
    let title = lines.first().map_or("", |line| line.title);
    let mut table = HtmlTable::new(format!("Ours beside the paper’s: {title}"), &columns);
    for line in lines {
        let digits = line.digits();
        let spread = |(mean, std): (f64, f64)| {
            TableCell::number(format!("{mean:.digits$}")).with_note(minus(&format!("± {std:.digits$}")))
        };
        let published = |pick: fn((f64, f64)) -> f64, digits: usize| {
            TableCell::number(line.paper.map_or("—".to_owned(), |cells| format!("{:.digits$}", pick(cells))))
        };
        table.push(vec![
            TableCell::name(line.method),
            spread(line.objective),
            published(|cells| cells.0, digits - 1),
            spread(line.violation),
            published(|cells| cells.1, 2),
            TableCell::text(line.verdict()),
            TableCell::number(format!("{:.1}", line.seconds)),
        ]);
    }
    table
}

/// Matrices, one row of the table for each row of a matrix.
fn matrices(lines: &[Reproduced]) -> HtmlTable {
    let widest = lines.iter().flat_map(|line| &line.matrix).map(Vec::len).max().unwrap_or(0);
    let title = lines.first().map_or("", |line| line.title);
    let caption = format!("Accuracies: {title}; in a matrix the row is the group of the better one");
    let mut table = HtmlTable::new(caption, &["Method"]);
    (0..widest).for_each(|column| table.add_column(format!("{}", column + 1)));
    for line in lines {
        for (at, row) in line.matrix.iter().enumerate() {
            let name = if line.matrix.len() > 1 {
                format!("{}, row {}", line.method, at + 1)
            } else {
                line.method.to_owned()
            };
            let mut cells = vec![TableCell::name(&name)];
            cells.extend(
                (0..widest)
                    .map(|c| TableCell::number(row.get(c).map_or(String::new(), |x| format!("{x:.3}")))),
            );
            table.push(cells);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(method: &'static str, worse: bool) -> Reproduced {
        Reproduced {
            experiment: "law",
            title: "Law school",
            method,
            shown: "mse",
            objective: (0.125, 0.5),
            violation: (0.25, 0.0),
            paper: (method == "constrained").then_some((0.1, 0.24)),
            agreement: (method == "constrained")
                .then_some((if worse { "worse" } else { "agrees" }, "agrees")),
            matrix: vec![vec![0.875, 0.75]],
            population: None,
            limit: None,
            seeds: 3,
            seconds: 2.0,
            stand_in: worse,
            sample: false,
            notes: Vec::new(),
        }
    }

    #[test]
    fn means_stand_beside_the_papers_and_what_is_worse_comes_first() {
        let report = |worse| Reproduction {
            lines: vec![line("unconstrained", worse), line("constrained", worse)],
            seeds: 3,
            rows: "test rows",
            command: "pairity reproduce law".to_owned(),
        };
        let page = reproduction_html(&report(true));
        assert!(page.contains("One value is worse than the paper’s beyond noise: mse of constrained (law)."));
        for words in [
            "0.1250 <small>± 0.5000</small>",
            ">0.100<",
            ">0.24<",
            "0.875",
            "stand-in",
            "constrained (paper)",
        ] {
            assert!(page.contains(words), "{words}");
        }
        assert!(page.contains("id=\"law\"") && !page.contains("NaN"));
        assert!(reproduction_html(&report(false)).contains("No value is worse"));
        for lines in [vec![], vec![line("unconstrained", false)]] {
            let page = reproduction_html(&Reproduction { lines, ..report(true) });
            assert!(page.contains("Nothing here can be held against") && !page.contains("NaN"));
        }
    }
}
