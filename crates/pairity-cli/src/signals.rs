//! What INT, TERM and HUP do: they end the program, and no half-written file is left. While a model is trained the
//! first of them ends the training, with the best model so far.

use pairity_tables::WholeFile;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether a model is being trained.
static TRAINING: AtomicBool = AtomicBool::new(false);

/// How many signals came meanwhile.
static INTERRUPTS: AtomicUsize = AtomicUsize::new(0);

/// Listens from now on. A signal that is ignored, as under `nohup`, stays so; what is left behind then is removed by
/// the next run.
pub fn listen() {
    let _ = ctrlc::try_set_handler(handle);
}

/// From now on the first signal ends the training, the second one the program.
pub fn end_training_first() {
    TRAINING.store(true, Ordering::Relaxed);
    // Without a handler a signal ends the program at once, which is no harm.
    let _ = ctrlc::set_handler(handle);
}

/// Whether somebody wants the training to end.
pub fn interrupted() -> bool {
    INTERRUPTS.load(Ordering::Relaxed) > 0
}

fn handle() {
    if TRAINING.load(Ordering::Relaxed) && INTERRUPTS.fetch_add(1, Ordering::Relaxed) == 0 {
        return;
    }
    WholeFile::abandon_all();
    std::process::exit(130);
}
