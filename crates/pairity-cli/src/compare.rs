//! `pairity compare`: every method that applies, on the same split and by the same rules.

use crate::pages::present;
use crate::prepare::Prepared;
use crate::progress::Steps;
use crate::train_arguments::{FitArguments, MethodChoice};
use anyhow::bail;
use clap::{Args, ValueEnum};
use pairity::examples::Examples;
use pairity::methods::singh_joachims::Exposure;
use pairity::methods::{Fitted, Method, MethodError, Task, fit, fit_from};
use pairity::training::{Trained, Watch};
use pairity_report::{
    ComparisonReport, ComparisonSetup, MethodOutcome, MethodResult, comparison_html, comparison_json,
    comparison_text,
};
use rayon::prelude::*;
use std::process::ExitCode;
use std::time::Instant;

/// Below the list of options.
pub const HELP: &str = "\
Every method is trained and tuned on the same parts of the rows, and measured on the test part. A method
that does not apply to the data or the goal is listed with the reason.

Example:
  pairity compare people.csv --label hired --query job --group gender \\
      --subject-to 'cross_group <= 0.01'";

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// What is trained on what, and how.
    #[command(flatten)]
    pub fit: FitArguments,

    /// Which methods, instead of all
    #[arg(long, value_enum, value_name = "METHOD,…", value_delimiter = ',')]
    pub methods: Vec<MethodChoice>,
}

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data.
pub fn run(arguments: &CompareArguments) -> anyhow::Result<ExitCode> {
    present(&arguments.fit, || compared(arguments), comparison_json, comparison_text, comparison_html)
}

fn compared(arguments: &CompareArguments) -> anyhow::Result<ComparisonReport> {
    let prepared = prepare(&arguments.fit)?;
    let contest = Contest::new(&prepared);
    let methods = methods(&arguments.fit, &arguments.methods);
    let steps = Steps::new(arguments.fit.output.quiet, methods.len());
    let task = prepared.task();
    let base = contest.unconstrained(&task)?;
    let run = |&method: &Method| {
        let result = contest.run(method, &task, &base);
        steps.done(method.full_name());
        result
    };
    let results: Vec<MethodResult> = methods.par_iter().map(run).collect::<Result<_, MethodError>>()?;
    Ok(ComparisonReport::new(contest.setup(&arguments.fit), results))
}

/// Reads what is compared; a comparison without constraints has nothing to compare.
///
/// # Errors
/// Wrong arguments or data.
pub fn prepare(arguments: &FitArguments) -> anyhow::Result<Prepared> {
    if arguments.subject_to.is_empty() {
        bail!("say what fair means, such as --subject-to 'cross_group <= 0.01'");
    }
    Prepared::new(arguments)
}

/// The methods of some choices, or all; both kinds of exposure.
pub fn methods(arguments: &FitArguments, choices: &[MethodChoice]) -> Vec<Method> {
    let all = MethodChoice::value_variants();
    let choices = if choices.is_empty() { all } else { choices };
    let mut methods: Vec<Method> = Vec::new();
    for &choice in choices {
        let both = [Exposure::Impact, Exposure::Treatment].map(|kind| arguments.method(choice, kind));
        for method in both {
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
    }
    methods
}

/// An unconstrained scorer, and the time it took.
pub struct Base {
    /// What came out.
    pub trained: Trained,
    seconds: f64,
}

/// Where methods are compared.
pub struct Contest<'a> {
    prepared: &'a Prepared,
    /// The name of the part that values are of.
    pub part: &'static str,
    /// Its examples.
    pub examples: &'a Examples,
}

impl<'a> Contest<'a> {
    /// Values are of the last part there is: test, validation or training.
    pub fn new(prepared: &'a Prepared) -> Contest<'a> {
        let last = prepared.parts.named().last();
        let (part, examples) = last.unwrap_or(("train", &prepared.parts.whole));
        Contest { prepared, part, examples }
    }

    /// What post-processing starts from.
    ///
    /// # Errors
    /// Training can't start.
    pub fn unconstrained(&self, task: &Task) -> Result<Base, MethodError> {
        let started = Instant::now();
        let trained = fit(Method::Unconstrained, task, Watch::default())?.trained;
        Ok(Base { trained, seconds: started.elapsed().as_secs_f64() })
    }

    /// One method. That it does not apply is a result; anything else is an error.
    ///
    /// # Errors
    /// Training can't start.
    pub fn run(&self, method: Method, task: &Task, base: &Base) -> Result<MethodResult, MethodError> {
        Ok(self.run_and_keep(method, task, base)?.0)
    }

    /// The same with the model, if there is one.
    ///
    /// # Errors
    /// Training can't start.
    pub fn run_and_keep(
        &self,
        method: Method,
        task: &Task,
        base: &Base,
    ) -> Result<(MethodResult, Option<Fitted>), MethodError> {
        let started = Instant::now();
        let fitted = fit_from(method, task, Some(&base.trained), Watch::default());
        let own = started.elapsed().as_secs_f64();
        let name = method.full_name().to_owned();
        let based = method.is_post_processing() || method == Method::Unconstrained;
        let seconds = own + if based { base.seconds } else { 0.0 };
        let outcome = fitted.and_then(|fitted| Ok((self.outcome(&fitted, task, seconds)?, fitted)));
        let (outcome, fitted) = match outcome {
            Ok((outcome, fitted)) => (Ok(outcome), Some(fitted)),
            Err(MethodError::DoesNotApply { reason, .. }) => (Err(reason), None),
            Err(error @ MethodError::NoPairs { .. }) => (Err(error.to_string()), None),
            Err(error) => return Err(error),
        };
        Ok((MethodResult { method: name, outcome }, fitted))
    }

    fn outcome(&self, fitted: &Fitted, task: &Task, seconds: f64) -> Result<MethodOutcome, MethodError> {
        let Prepared { scorer, features, measure, rows, .. } = self.prepared;
        let test = fitted.evaluate(task.problem, scorer, self.examples, features, measure)?;
        Ok(MethodOutcome::of(fitted, scorer, rows.examples.groups().len(), seconds, test))
    }

    /// What reports say of it.
    pub fn setup(&self, arguments: &FitArguments) -> ComparisonSetup {
        ComparisonSetup {
            goal: self.prepared.goal.clone(),
            part: self.part,
            rows: self.examples.len(),
            model: arguments.model.name(),
            seed: arguments.seed,
            confidence: arguments.confidence,
            tables: self.prepared.rows.notes.tables.clone(),
            notes: self.prepared.notes.clone(),
        }
    }
}
