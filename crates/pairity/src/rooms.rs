//! Room that evaluations use again. What one of them is done with is lent to the next, so that a step of training takes
//! no memory of its own, and none that the system would have to clear first.
//!
//! What stands in a room is whatever was left there. What an evaluation finds does not depend on which room it was
//! lent, and so not on the number of threads.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Rooms by their type: of each a list of those that are free.
type Free = BTreeMap<TypeId, Box<dyn Any + Send>>;

/// Rooms that are lent to any number of threads, and come back as they are dropped.
#[derive(Clone, Default)]
pub(crate) struct Rooms {
    /// None if nothing is kept.
    free: Option<Arc<Mutex<Free>>>,
}

/// A room until it is dropped. Its default is one that was never used, and takes no memory.
#[derive(Default)]
pub(crate) struct Lent<T: Default + Send + 'static> {
    own: T,
    rooms: Rooms,
}

impl Rooms {
    /// For evaluations that follow each other.
    pub(crate) fn kept() -> Rooms {
        Rooms { free: Some(Arc::default()) }
    }

    /// A room of a type that has one size.
    pub(crate) fn lend<T: Default + Send + 'static>(&self) -> Lent<T> {
        let own = self.with_free(Vec::<T>::pop).flatten();
        Lent { own: own.unwrap_or_default(), rooms: self.clone() }
    }

    /// A list of so many numbers, whatever they are: in the smallest room for them that there is.
    pub(crate) fn list<T: Clone + Default + Send + 'static>(&self, n: usize) -> Lent<Vec<T>> {
        let mut own = self.room_for(n);
        match own.capacity() {
            // Memory that was never used is cleared by whoever writes to it first.
            0 => *own = vec![T::default(); n],
            _ => own.resize(n, T::default()),
        }
        own
    }

    /// A list of one number, so many times.
    pub(crate) fn filled<T: Clone + Send + 'static>(&self, n: usize, number: T) -> Lent<Vec<T>> {
        let mut own = self.room_for(n);
        match own.capacity() {
            0 => *own = vec![number; n],
            _ => {
                own.clear();
                own.resize(n, number);
            }
        }
        own
    }

    /// An empty list for about so many numbers.
    pub(crate) fn empty<T: Send + 'static>(&self, n: usize) -> Lent<Vec<T>> {
        let mut own = self.room_for(n);
        own.clear();
        own.reserve(n);
        own
    }

    /// The smallest list that has room for so many numbers, or else the largest.
    fn room_for<T: Send + 'static>(&self, n: usize) -> Lent<Vec<T>> {
        let own = self.with_free(|free: &mut Vec<Vec<T>>| {
            let size = |list: &Vec<T>| (list.capacity() < n, list.capacity().abs_diff(n));
            let at = (0..free.len()).min_by_key(|&at| size(&free[at]))?;
            Some(free.swap_remove(at))
        });
        Lent { own: own.flatten().unwrap_or_default(), rooms: self.clone() }
    }

    /// Works on the free rooms of a type; none if nothing is kept.
    fn with_free<T: Send + 'static, R>(&self, work: impl FnOnce(&mut Vec<T>) -> R) -> Option<R> {
        let mut free = self.free.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let own = free.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(Vec::<T>::new()));
        own.downcast_mut().map(work)
    }
}

impl<T: Default + Send + 'static> Drop for Lent<T> {
    fn drop(&mut self) {
        let own = std::mem::take(&mut self.own);
        self.rooms.with_free(|free| free.push(own));
    }
}

impl<T: Default + Send + 'static> Deref for Lent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.own
    }
}

impl<T: Default + Send + 'static> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_back_is_lent_again() {
        let rooms = Rooms::kept();
        let place = |list: &Lent<Vec<u32>>| list.as_ptr();
        let (large, small) = (rooms.filled(100, 7), rooms.filled(10, 8));
        let places = [place(&large), place(&small)];
        drop((large, small));
        // The smallest that is large enough, with what was left there.
        let [small, large] = [10, 50].map(|n| rooms.list::<u32>(n));
        assert_eq!([place(&large), place(&small)], places);
        assert_eq!((&large[..], &small[..]), (&[7; 50][..], &[8; 10][..]));
        // Of another type there is none, and none that is not free.
        assert_eq!(rooms.list::<i32>(2)[..], [0; 2]);
        assert_eq!(rooms.list::<u32>(2)[..], [0; 2]);
        drop(small);
        assert_eq!(rooms.filled(3, 1u32)[..], [1; 3]);
        assert!(rooms.empty::<u32>(3).capacity() >= 10);
    }

    #[test]
    fn nothing_is_kept_where_evaluations_do_not_follow_each_other() {
        let rooms = Rooms::default();
        drop(rooms.filled(10, 7u32));
        assert_eq!(rooms.list::<u32>(10)[..], [0; 10]);
    }
}
