//! The command line: options become a request, the outcome becomes a report, and the exit code is one that
//! scripts can rely on.

mod commands;
mod load;
mod memory;
mod one_query;
mod options;
mod output;
mod progress;
mod read;
mod roles;
mod signals;

use clap::Parser;
use commands::{experiments, score, scored, train};
use options::{Command, Options};
use std::process::ExitCode;

/// The arguments or the data are wrong.
const WRONG: u8 = 2;

/// Damaged Parquet files make their readers panic in places. The engine catches that and says what is wrong
/// with the file; the panic's own words would only confuse. All other panics are shown.
fn quiet_damaged_files() {
    let show = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let reader = |file: &str| file.contains("/parquet-") || file.contains("/arrow-");
        if !panic.location().is_some_and(|place| reader(place.file())) {
            show(panic);
        }
    }));
}

fn main() -> ExitCode {
    quiet_damaged_files();
    signals::listen();
    let done = match &Options::parse().command {
        Command::Audit(options) => scored::audit(options),
        Command::Train(options) => train::train(options),
        Command::Score(options) => score::score(options),
        Command::Compare(options) => train::compare(options),
        Command::Frontier(options) => train::frontier(options),
        Command::Reproduce(options) => experiments::reproduce(options),
        Command::Merge(options) => scored::merge(options),
        Command::Adjust(options) => scored::adjust(options),
        Command::Data(action) => experiments::data(action),
        Command::Demo(options) => experiments::demo(options),
    };
    ExitCode::from(done.unwrap_or_else(|error| {
        output::complain(&format!("error: {error:#}"));
        WRONG
    }))
}
