//! How training went: objective, violation and weights, snapshot by snapshot.

use super::TrainingPage;
use crate::html::chart::{Chart, ChartPoint, Mark, Swatch, multiples};
use crate::html::frame::{Section, section};
use crate::html::table::{HtmlTable, TableCell};
use crate::scale::{Scale, minus};
use crate::text::words::{count, number, plain, shorten};
use crate::training::objective_of;
use pairity::solvers::TracePoint;

impl TrainingPage<'_> {
    pub(super) fn course(&self) -> Option<Section> {
        let trace: Vec<&TracePoint> =
            self.report.trained.trace.iter().filter(|point| point.objective.is_finite()).collect();
        if trace.len() < 2 {
            return None;
        }
        let objective = shorten(objective_of(&self.report.goal), 40);
        let mut charts = vec![self.line("Objective", &objective, &trace, |point| point.objective, false)];
        if self.report.constrained() {
            charts.push(self.line("Largest violation", "violation", &trace, |point| point.violation, true));
            charts.extend(self.weights(&trace));
        }
        let mut table = HtmlTable::new("Snapshots", &["Iteration"]);
        table.add_column(objective);
        table.add_column("violation".to_owned());
        for point in &trace {
            table.push(vec![
                TableCell::name(&count(point.iteration as u64)),
                TableCell::number(number(point.objective, 4)),
                TableCell::number(number(point.violation, 4)),
            ]);
        }
        let about = format!(
            "The game with step size {}, whose snapshots were kept on the way; each is measured alone, on the \
             training rows. A mixture of them may meet a goal that none meets alone.",
            self.report.trained.step_size
        );
        section(
            "course",
            "How training went",
            &about,
            vec![multiples(&charts), table.behind("These numbers as a table")],
        )
    }

    /// One number of each snapshot, with those in the mixture marked.
    fn line(
        &self,
        title: &str,
        y_title: &str,
        trace: &[&TracePoint],
        value: fn(&TracePoint) -> f64,
        from_zero: bool,
    ) -> Chart {
        let points: Vec<(f64, f64)> = trace.iter().map(|p| (p.iteration as f64, value(p))).collect();
        let chosen: Vec<ChartPoint> = self
            .report
            .trained
            .components
            .iter()
            .filter_map(|component| {
                let point = trace.iter().find(|point| point.iteration == component.snapshot)?;
                Some(ChartPoint {
                    x: point.iteration as f64,
                    y: value(point),
                    x_interval: None,
                    y_interval: None,
                    about: format!(
                        "snapshot {}, drawn {:.1}% of the time: {}",
                        count(component.snapshot as u64),
                        100.0 * component.probability,
                        minus(&number(value(point), 4))
                    ),
                })
            })
            .collect();
        let ends = [points.first(), points.last()].into_iter().flatten();
        let said: Vec<String> = ends
            .map(|(x, y)| format!("{} after {} steps", minus(&number(*y, 4)), count(*x as u64)))
            .collect();
        let mut legend = vec![(Swatch::Line, 0, "every snapshot".to_owned())];
        if !chosen.is_empty() {
            legend.push((Swatch::Points, 1, "in the model".to_owned()));
        }
        let zero = from_zero.then_some(0.0);
        Chart {
            label: format!("{title} by iteration: {}", said.join(", ")),
            title: title.to_owned(),
            x_title: "iteration".to_owned(),
            y_title: y_title.to_owned(),
            x: Scale::over(points.iter().map(|point| point.0).chain([0.0])),
            y: Scale::over(points.iter().map(|point| point.1).chain(zero)),
            marks: vec![
                Mark::Line { series: 0, points },
                Mark::Points { series: 1, faded: false, points: chosen },
            ],
            legend,
        }
    }

    /// What the objective and each constraint weighed.
    fn weights(&self, trace: &[&TracePoint]) -> Option<Chart> {
        let series = trace.first()?.weights.len();
        let names: Vec<String> = std::iter::once("objective".to_owned())
            .chain(self.report.goal.subject_to.iter().map(|text| plain(text)))
            .collect();
        let line = |series: usize| Mark::Line {
            series,
            points: trace
                .iter()
                .filter_map(|point| Some((point.iteration as f64, *point.weights.get(series)?)))
                .collect(),
        };
        let all = trace.iter().flat_map(|point| point.weights.iter().copied());
        Some(Chart {
            label: "Weights of the objective and of the constraints by iteration".to_owned(),
            title: "Weights (λ)".to_owned(),
            x_title: "iteration".to_owned(),
            y_title: "weight".to_owned(),
            x: Scale::over(trace.iter().map(|point| point.iteration as f64).chain([0.0])),
            y: Scale::over(all.chain([0.0])),
            marks: (0..series).map(line).collect(),
            legend: (0..series)
                .zip(names)
                .map(|(series, name)| (Swatch::Line, series, shorten(&name, 40)))
                .collect(),
        })
    }
}
