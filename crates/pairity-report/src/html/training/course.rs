//! How training went: objective, violation and weights, snapshot by snapshot.

use crate::html::chart::{Chart, ChartPoint, Swatch, multiples};
use crate::html::frame::{Section, section};
use crate::html::table::{HtmlTable, TableCell};
use crate::outcome::{is_constrained, objective_of};
use crate::scale::{Scale, minus};
use crate::words::{count, drawn, fine, shorten};
use pairity::run::TrainOutcome;
use pairity::solvers::{RunEnd, RunEnding, TracePoint};

/// How a run went, as a section.
pub(in crate::html) fn course(run: &TrainOutcome) -> Option<Section> {
    let trace: Vec<&TracePoint> =
        run.trained.trace.iter().filter(|point| point.objective.is_finite()).collect();
    if trace.len() < 2 {
        return None;
    }
    let objective = shorten(objective_of(&run.goal), 40);
    let mut charts = vec![line(run, "Objective", &objective, &trace, |point| point.objective, None)];
    if is_constrained(run) {
        charts.push(line(run, "Largest violation", "violation", &trace, |point| point.violation, Some(0.0)));
        charts.extend(weights(run, &trace));
    }
    let mut table = HtmlTable::new("Snapshots", &["Iteration"]);
    table.add_column(objective);
    table.add_column("violation".to_owned());
    for point in &trace {
        let numbers = [point.objective, point.violation].map(|x| TableCell::number(fine(x)));
        table.row(TableCell::name(&count(point.iteration as u64)), numbers);
    }
    let about = match run.trained.step_size() {
        size if size.is_finite() => format!(
            "The game with step size {size}, of which the likeliest scorer is; its snapshots were kept on the way, and \
             each is measured alone, on the training rows. A mixture of those of all games may meet a goal that none \
             meets alone.{}",
            ended(run, size)
        ),
        _ => "The scorers that were found one after the other, each an answer to weights of the objective and of the \
              constraints, and each measured alone. A mixture of them may meet a goal that none meets alone."
            .to_owned(),
    };
    let body = [multiples(&charts), table.behind("These numbers as a table")];
    section("course", "How training went", &about, body)
}

/// That a game ended early, if it did.
fn ended(run: &TrainOutcome, size: f64) -> String {
    let early = |own: &&RunEnding| own.step_size == size && own.end == RunEnd::NoBetter;
    run.trained.endings.iter().find(early).map_or(String::new(), |own| {
        format!(
            " It ended after {} steps, as its last snapshots were no better.",
            count(own.iterations as u64)
        )
    })
}

/// One number of each snapshot, with those in the mixture marked; the scale holds `also`.
fn line(
    run: &TrainOutcome,
    title: &str,
    y_title: &str,
    trace: &[&TracePoint],
    value: fn(&TracePoint) -> f64,
    also: Option<f64>,
) -> Chart {
    let points: Vec<(f64, f64)> = trace.iter().map(|p| (p.iteration as f64, value(p))).collect();
    let write = |y: f64| minus(&fine(y));
    let ends = [points.first(), points.last()].into_iter().flatten();
    let said: Vec<String> =
        ends.map(|&(x, y)| format!("{} after {} steps", write(y), count(x as u64))).collect();
    let x = Scale::over(points.iter().map(|point| point.0).chain([0.0]));
    let y = Scale::over(points.iter().map(|point| point.1).chain(also));
    let label = format!("{title} by iteration: {}", said.join(", "));
    let mut chart = Chart::new(title, ("iteration", x), (y_title, y), label);
    chart.line(0, &points);
    chart.explain(Swatch::Line, 0, "every snapshot");
    let (sizes, own) = (&run.trained.step_sizes, run.trained.step_size());
    let of_game = run.trained.components.iter().zip(sizes).filter(|(_, size)| size.total_cmp(&own).is_eq());
    let chosen = of_game.filter_map(|(component, _)| {
        let point = trace.iter().find(|point| point.iteration == component.snapshot)?;
        let about = format!(
            "snapshot {}, drawn {} of the time: {}",
            count(component.snapshot as u64),
            drawn(component.probability),
            write(value(point))
        );
        Some(ChartPoint::at(point.iteration as f64, value(point), about))
    });
    let chosen: Vec<ChartPoint> = chosen.collect();
    chosen.iter().for_each(|point| chart.dot(1, false, point));
    if !chosen.is_empty() {
        chart.explain(Swatch::Points, 1, "in the model");
    }
    chart
}

/// What the objective and each constraint weighed.
fn weights(run: &TrainOutcome, trace: &[&TracePoint]) -> Option<Chart> {
    let x = Scale::over(trace.iter().map(|point| point.iteration as f64).chain([0.0]));
    let y = Scale::over(trace.iter().flat_map(|point| point.weights.iter().copied()).chain([0.0]));
    let label = "Weights of the objective and of the constraints by iteration".to_owned();
    let mut chart = Chart::new("Weights (λ)", ("iteration", x), ("weight", y), label);
    let names = ["objective"].into_iter().chain(run.goal.subject_to.iter().map(String::as_str));
    let all = trace.first()?.weights.len();
    for series in 0..all {
        let point = |point: &&TracePoint| Some((point.iteration as f64, *point.weights.get(series)?));
        chart.line(series, &trace.iter().filter_map(point).collect::<Vec<_>>());
    }
    (0..all).zip(names).for_each(|(at, name)| chart.explain(Swatch::Line, at, shorten(name, 40)));
    Some(chart)
}
