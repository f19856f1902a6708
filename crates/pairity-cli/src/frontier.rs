//! `pairity frontier`: what each method reaches as the bound on the violation is tightened.

use crate::compare::{Contest, methods, prepare};
use crate::pages::present;
use crate::progress::Steps;
use crate::train_arguments::{FitArguments, MethodChoice};
use anyhow::bail;
use clap::Args;
use pairity::goals::Problem;
use pairity::methods::{Method, MethodError, Task};
use pairity::scorers::Component;
use pairity::training::TrainSettings;
use pairity_report::{
    FrontierCurve, FrontierPoint, FrontierReport, frontier_html, frontier_json, frontier_text,
};
use rayon::prelude::*;
use std::process::ExitCode;

/// Below the list of options.
pub const HELP: &str = "\
The bounds of all constraints are replaced by each of --bounds in turn. Training at a bound starts from
what was found for the one before.

Example:
  pairity frontier people.csv --label hired --query job --group gender \\
      --subject-to 'cross_group <= 0.01' --bounds 0.3,0.2,0.1,0.05,0.02,0.01,0";

/// Arguments of `frontier`.
#[derive(Debug, Args)]
pub struct FrontierArguments {
    /// What is trained on what, and how.
    #[command(flatten)]
    pub fit: FitArguments,

    /// Which methods, instead of all
    #[arg(long, value_enum, value_name = "METHOD,…", value_delimiter = ',')]
    pub methods: Vec<MethodChoice>,

    /// Bounds that take the place of those in --subject-to
    #[arg(
        long,
        value_name = "X,X,…",
        value_delimiter = ',',
        default_value = "0.3,0.2,0.15,0.1,0.05,0.02,0.01,0"
    )]
    pub bounds: Vec<f64>,
}

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data.
pub fn run(arguments: &FrontierArguments) -> anyhow::Result<ExitCode> {
    present(&arguments.fit, || traced(arguments), frontier_json, frontier_text, frontier_html)
}

fn traced(arguments: &FrontierArguments) -> anyhow::Result<FrontierReport> {
    let prepared = prepare(&arguments.fit)?;
    let problems = problems(&prepared.problem, &arguments.bounds)?;
    let contest = Contest::new(&prepared);
    let task = prepared.task();
    let base = contest.unconstrained(&task)?;
    let methods = methods(&arguments.fit, &arguments.methods);
    let all: usize = methods.iter().map(|&method| if follows(method) { problems.len() } else { 1 }).sum();
    let steps = Steps::new(arguments.fit.output.quiet, all);
    let trace = |&method: &Method| {
        let mut start = base.trained.components.first().map(|component| component.parameters.clone());
        let mut points = Vec::new();
        let bounds = if follows(method) { &problems[..] } else { &problems[..1] };
        for (bound, problem) in bounds {
            let result = match method {
                Method::Constrained => {
                    let settings = TrainSettings { start: start.take(), ..prepared.settings.clone() };
                    let task = Task { problem, settings: &settings, ..task };
                    let (result, fitted) = contest.run_and_keep(method, &task, &base)?;
                    // The likeliest scorer of a mixture is a start as good as any.
                    let likely = |a: &&Component, b: &&Component| a.probability.total_cmp(&b.probability);
                    let found = fitted.map(|fitted| fitted.trained.components).unwrap_or_default();
                    start = found.iter().max_by(likely).map(|component| component.parameters.clone());
                    result
                }
                other => contest.run(other, &Task { problem, ..task }, &base)?,
            };
            steps.done(method.full_name());
            points.push(FrontierPoint { bound: follows(method).then_some(*bound), result });
        }
        Ok(FrontierCurve { method: method.full_name().to_owned(), points })
    };
    let curves: Vec<FrontierCurve> = methods.par_iter().map(trace).collect::<Result<_, MethodError>>()?;
    Ok(FrontierReport { setup: contest.setup(&arguments.fit), curves })
}

/// Whether what a method gives depends on the bound.
fn follows(method: Method) -> bool {
    match method {
        Method::Constrained
        | Method::KallusZhou
        | Method::GroupOffset
        | Method::QuantileMatch
        | Method::XOrder => true,
        Method::Unconstrained
        | Method::Robust
        | Method::Debiased
        | Method::Beutel(_)
        | Method::SinghJoachims(..) => false,
    }
}

/// The goal for each bound, from the loosest to the tightest.
fn problems(problem: &Problem, bounds: &[f64]) -> anyhow::Result<Vec<(f64, Problem)>> {
    if let Some(wrong) = bounds.iter().find(|bound| !(**bound >= 0.0 && bound.is_finite())) {
        bail!("--bounds has {wrong}; bounds are numbers of at least 0");
    }
    let mut bounds = bounds.to_vec();
    bounds.sort_by(|a, b| b.total_cmp(a));
    bounds.dedup();
    let at = |&bound: &f64| -> anyhow::Result<(f64, Problem)> { Ok((bound, problem.with_bound(bound)?)) };
    bounds.iter().map(at).collect()
}
