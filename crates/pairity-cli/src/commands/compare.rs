//! `pairity compare`: every method that applies, on the same split and by the same rules; and
//! `pairity frontier`: what each reaches as the bound on the violation is tightened.

use crate::options::{CompareOptions, FitOptions, FrontierOptions};
use crate::progress::{Bar, STEPPING};
use crate::{load, output};
use pairity::run::{CompareWatch, Rows, RunError, compare, frontier};
use pairity_report::{comparison_html, comparison_json, comparison_text};
use pairity_report::{frontier_html, frontier_json, frontier_text};
use std::process::ExitCode;

/// Runs `compare`.
///
/// # Errors
/// Wrong arguments or data.
pub fn run(options: &CompareOptions) -> anyhow::Result<ExitCode> {
    let make = || watched(&options.fit, |rows, watch| compare(rows, &options.request(), watch));
    output::present(&options.fit, make, comparison_json, comparison_text, comparison_html)
}

/// Runs `frontier`.
///
/// # Errors
/// Wrong arguments or data.
pub fn run_frontier(options: &FrontierOptions) -> anyhow::Result<ExitCode> {
    let fit = &options.compared.fit;
    let make = || watched(fit, |rows, watch| frontier(rows, &options.request(), watch));
    output::present(fit, make, frontier_json, frontier_text, frontier_html)
}

/// Loads the rows and runs on them, with a bar for all runs.
fn watched<R>(
    fit: &FitOptions,
    run: impl FnOnce(Rows, CompareWatch) -> Result<R, RunError>,
) -> anyhow::Result<R> {
    let rows = load::to_train(fit)?;
    let steps = Bar::new(fit.output.quiet, STEPPING);
    let (runs, done) = (|all| steps.expect(all), |name: &str| steps.step(name));
    let watch = CompareWatch { runs: &runs, done: &done, ..CompareWatch::default() };
    run(rows, watch).map_err(|error| fit.explain(error))
}
