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

/// Numbers of a list that are worth a thread of their own.
pub(crate) const WORTH: usize = 1 << 14;

/// Fills parts of a list, each told where it starts. Memory that is touched for the first time is so by all threads.
pub(crate) fn fill<T: Send>(list: &mut [T], work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    if list.len() < 2 * WORTH || count() < 2 {
        return work(0, list);
    }
    each_chunk(list, WORTH, &|part, own| work(part * WORTH, own));
}

/// Works on chunks of a list, each told which it is.
pub(crate) fn each_chunk<T: Send>(list: &mut [T], size: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    list.par_chunks_mut(size).enumerate().for_each(|(chunk, own)| work(chunk, own));
}

/// Puts numbers to places in any order, each with `put`. Every thread looks at all of them, and puts those of its part.
pub(crate) fn scatter<I: Iterator<Item = (usize, f64)>>(
    list: &mut [f64],
    numbers: impl Fn() -> I + Sync,
    put: fn(&mut f64, f64),
) {
    let work = |from: usize, own: &mut [f64]| {
        for (place, number) in numbers() {
            if let Some(to) = own.get_mut(place.wrapping_sub(from)) {
                put(to, number);
            }
        }
    };
    if list.len() < 2 * WORTH || count() < 2 {
        return work(0, list);
    }
    let size = list.len().div_ceil(count());
    each_chunk(list, size, &|part, own| work(part * size, own));
}

/// The value at each place of a list.
pub(crate) fn list<T: Clone + Default + Send>(n: usize, value: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut list = vec![T::default(); n];
    fill(&mut list, &|from, own| own.iter_mut().enumerate().for_each(|(at, to)| *to = value(from + at)));
    list
}

/// Whether something is so of all parts of a list.
pub(crate) fn all<T: Sync>(list: &[T], is_so: &(dyn Fn(&[T]) -> bool + Sync)) -> bool {
    list.par_chunks(WORTH).all(is_so)
}

/// Works on each of so many parts.
pub(crate) fn each(parts: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..parts).into_par_iter().for_each(work);
}

/// The work on each item, in order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: &(dyn Fn(&T) -> R + Sync)) -> Vec<R> {
    items.par_iter().map(work).collect()
}
