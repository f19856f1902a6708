//! Work on several threads behind plain function pointers: what rayon compiles for a closure is large, and generic code
//! over pairs has hundreds of closures.

use rayon::prelude::*;

/// How many threads there are. No result depends on it; some work is the same in one piece or in several.
pub(crate) fn count() -> usize {
    rayon::current_num_threads()
}

/// Runs both closures, on two threads if the work is worth it.
pub(crate) fn both<A: Send, B: Send>(
    fork: bool,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if !fork {
        return (a(), b());
    }
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut first, mut second) = (None, None);
    join(&mut || first = a.take().map(|work| work()), &mut || second = b.take().map(|work| work()));
    (first.expect("was run"), second.expect("was run"))
}

fn join(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    rayon::join(a, b);
}

/// Puts a value to each place, on several threads if there are many.
pub(crate) fn fill<T: Send>(places: &mut [T], value: impl Fn(usize) -> T + Sync) {
    let put = |(at, place): (usize, &mut T)| *place = value(at);
    if places.len() < 1 << 15 {
        return places.iter_mut().enumerate().for_each(put);
    }
    places.par_iter_mut().enumerate().with_min_len(1 << 14).for_each(put);
}

/// The work on each item, in order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: &(dyn Fn(&T) -> R + Sync)) -> Vec<R> {
    items.par_iter().map(work).collect()
}
