//! `pairity compare`: every method that applies, on the same split and by the same rules.

use crate::options::CompareOptions;
use crate::progress::Steps;
use crate::{load, output};
use pairity::run::{CompareWatch, compare};
use pairity_report::{comparison_html, comparison_json, comparison_text};
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// Wrong arguments or data.
pub fn run(options: &CompareOptions) -> anyhow::Result<ExitCode> {
    let fit = &options.fit;
    let make = || {
        let rows = load::to_train(fit)?;
        let steps = Steps::new(fit.output.quiet);
        let (runs, done) = (|all| steps.expect(all), |name: &str| steps.done(name));
        let watch = CompareWatch { runs: &runs, done: &done, ..CompareWatch::default() };
        compare(rows, &options.request(), watch).map_err(|error| fit.explain(error))
    };
    output::present(fit, make, comparison_json, comparison_text, comparison_html)
}
