//! Parts of a table, processed by several threads one after another.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::RowsError;
use crate::watch::Wish;

/// Stack of a thread, since deep models are walked recursively.
const STACK_BYTES: usize = 16 << 20;
/// The interval between calls of the observer.
const LOOK: Duration = Duration::from_millis(50);

/// Merges the results of parts in their order; early results wait.
pub struct OrderedMerge<T> {
    next: usize,
    waiting: BTreeMap<usize, T>,
}

impl<T> Default for OrderedMerge<T> {
    fn default() -> OrderedMerge<T> {
        OrderedMerge {
            next: 0,
            waiting: BTreeMap::new(),
        }
    }
}

impl<T> OrderedMerge<T> {
    /// Adds the result of a part; returns all results whose turn has come.
    pub fn put(&mut self, part: usize, done: T) -> Vec<T> {
        self.waiting.insert(part, done);
        let mut ready = Vec::new();
        while let Some(done) = self.waiting.remove(&self.next) {
            self.next += 1;
            ready.push(done);
        }
        ready
    }
}

/// Processes every part, and returns the results in the order of the parts. Each part belongs to
/// one thread, so that nothing depends on the number of threads.
///
/// # Errors
/// The error of the first part that failed, a stop by the observer, or a lack of memory for a
/// thread.
pub fn fold_parts<T: Send, E: Send + From<RowsError>>(
    parts: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
    watch: &mut dyn FnMut() -> Wish,
) -> Result<Vec<T>, E> {
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let found = Mutex::new(Vec::new());
    let take = || {
        while !over.load(Ordering::Relaxed) {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                break;
            }
            let done = work(part);
            over.fetch_or(done.is_err(), Ordering::Relaxed);
            found
                .lock()
                .expect("no thread panics with it")
                .push((part, done));
        }
    };
    let threads = rayon::current_num_threads().min(parts);
    let hands: Result<Vec<ThreadPool>, RowsError> = (0..threads).map(|_| hand()).collect();
    let hands = hands?;
    let (ended, ends) = channel();
    let mut stopped = false;
    all_hands(&hands, ended, &take, &mut || {
        stopped = watched(&ends, watch);
        over.fetch_or(stopped, Ordering::Relaxed);
    });
    let mut found = found.into_inner().expect("no thread panicked with it");
    found.sort_by_key(|(part, _)| *part);
    let found: Result<Vec<T>, E> = found.into_iter().map(|(_, done)| done).collect();
    if stopped {
        return Err(found.err().unwrap_or(RowsError::Stopped.into()));
    }
    found
}

/// Starts all threads, runs `meanwhile`, and waits for them.
fn all_hands(
    hands: &[ThreadPool],
    ended: Sender<()>,
    take: &(impl Fn() + Sync),
    meanwhile: &mut dyn FnMut(),
) {
    let Some((first, others)) = hands.split_first() else {
        // The last sender other than those of the threads: the channel closes when they have ended.
        drop(ended);
        return meanwhile();
    };
    first.in_place_scope(|scope| {
        let own = ended.clone();
        scope.spawn(move |_| {
            let _ended = own;
            take();
        });
        all_hands(others, ended, take, meanwhile);
    });
}

/// Calls the observer until all threads have ended; returns whether to stop.
fn watched(ends: &Receiver<()>, watch: &mut dyn FnMut() -> Wish) -> bool {
    loop {
        match ends.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Disconnected) => return false,
            _ if watch() == Wish::Stop => return true,
            _ => {}
        }
    }
}

/// A pool of one thread, in which loops over rows are not divided further: only parts are. A loop
/// that waited for another thread would meanwhile start a further part, and another one inside
/// that.
fn hand() -> Result<ThreadPool, RowsError> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .stack_size(STACK_BYTES);
    pool.build().map_err(|error| {
        RowsError::Lost(format!(
            "expected memory for one more thread, found none ({error})\n  hint: use fewer threads"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_in_their_order_and_the_first_error_is_told() {
        let square = |part: usize| Ok::<_, RowsError>(part * part);
        let squares = fold_parts(100, square, &mut || Wish::Continue).unwrap();
        assert!(squares.iter().copied().eq((0..100).map(|k| k * k)));
        let failing = |part: usize| match part {
            3.. => Err(RowsError::Lost(format!("part {part}"))),
            _ => Ok(()),
        };
        let error = fold_parts(9, failing, &mut || Wish::Continue).unwrap_err();
        assert!(error.to_string().contains("part 3"), "{error}");
    }

    #[test]
    fn what_comes_early_waits_for_its_turn() {
        let mut order = OrderedMerge::default();
        assert!(order.put(2, 'c').is_empty());
        assert_eq!(order.put(0, 'a'), ['a']);
        assert_eq!(order.put(1, 'b'), ['b', 'c']);
        assert_eq!(order.put(3, 'd'), ['d']);
    }

    #[test]
    fn a_watcher_ends_the_work() {
        let endless = |_| {
            std::thread::sleep(LOOK);
            Ok::<_, RowsError>(())
        };
        let error = fold_parts(1 << 20, endless, &mut || Wish::Stop).unwrap_err();
        assert_eq!(error, RowsError::Stopped);
    }
}
