//! The command line: options become a request, the outcome becomes a report, and the exit code is one that
//! scripts can rely on.

mod commands;
mod files;
mod load;
mod options;
mod output;
mod progress;
mod requests;

use clap::Parser;
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
    let done = match &Options::parse().command {
        Command::Audit(options) => commands::audit::run(options),
        Command::Train(options) => commands::train::run(options),
        Command::Score(options) => commands::score::run(options),
        Command::Compare(options) => commands::compare::run(options),
        Command::Frontier(options) => commands::compare::run_frontier(options),
        Command::Reproduce(options) => commands::reproduce::run(options),
        Command::Adjust(options) => commands::adjust::run(options),
        Command::Data(action) => commands::data::run(action),
        Command::Demo(options) => commands::demo::run(options),
    };
    done.unwrap_or_else(|error| {
        output::complain(&format!("error: {error:#}"));
        ExitCode::from(WRONG)
    })
}
