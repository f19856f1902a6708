//! The command line: reads arguments, connects the engine with the views, and exits with a code that
//! scripts can rely on.

mod adjust;
mod arguments;
mod audit;
mod compare;
mod data;
mod demo;
mod files;
mod frontier;
mod load;
mod output;
mod pages;
mod prepare;
mod progress;
mod reproduce;
mod score;
mod score_arguments;
mod train;
mod train_arguments;

use arguments::{Arguments, Command};
use clap::Parser;
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
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Audit(arguments) => audit::run(arguments),
        Command::Train(arguments) => train::run(arguments),
        Command::Score(arguments) => score::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Frontier(arguments) => frontier::run(arguments),
        Command::Reproduce(arguments) => reproduce::run(arguments),
        Command::Adjust(arguments) => adjust::run(arguments),
        Command::Data(arguments) => data::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
    };
    done.unwrap_or_else(|error| {
        output::complain(&format!("error: {error:#}"));
        ExitCode::from(WRONG)
    })
}
