//! `pairity frontier`: what each method reaches as the bound on the violation is tightened.

use crate::options::FrontierOptions;
use crate::progress::Steps;
use crate::{load, output};
use pairity::run::{CompareWatch, frontier};
use pairity_report::{frontier_html, frontier_json, frontier_text};
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data.
pub fn run(options: &FrontierOptions) -> anyhow::Result<ExitCode> {
    let fit = &options.fit;
    let make = || {
        let rows = load::to_train(fit)?;
        let steps = Steps::new(fit.output.quiet);
        let (runs, done) = (|all| steps.expect(all), |name: &str| steps.done(name));
        let watch = CompareWatch { runs: &runs, done: &done, ..CompareWatch::default() };
        frontier(rows, &options.request(), watch).map_err(|error| fit.explain(error))
    };
    output::present(fit, make, frontier_json, frontier_text, frontier_html)
}
