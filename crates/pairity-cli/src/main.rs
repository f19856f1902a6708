//! The command line: reads arguments, connects the engine with the views, and exits with a code that
//! scripts can rely on.

mod arguments;
mod audit;
mod demo;
mod load;
mod output;
mod progress;
mod simulated;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

/// The arguments or the data are wrong.
const WRONG: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Audit(arguments) => audit::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
    };
    done.unwrap_or_else(|error| {
        output::complain(&format!("error: {error:#}"));
        ExitCode::from(WRONG)
    })
}
