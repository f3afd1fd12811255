//! Parts of a table that several threads take on, one after another.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use lehr_infer::observer::Wish;
use lehr_learn::LearnError;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::workflow::error::Error;

/// Stack of a thread: deep models are walked recursively.
const STACK_BYTES: usize = 16 << 20;
/// How often the watcher is asked.
const LOOK: Duration = Duration::from_millis(50);

/// What comes of parts, handed on in their order: what comes before its turn waits.
pub(super) struct InOrder<T> {
    next: usize,
    waiting: BTreeMap<usize, T>,
}

impl<T> Default for InOrder<T> {
    fn default() -> InOrder<T> {
        InOrder {
            next: 0,
            waiting: BTreeMap::new(),
        }
    }
}

impl<T> InOrder<T> {
    /// Takes what has come of a part; returns all whose turn it is.
    pub(super) fn put(&mut self, part: usize, done: T) -> Vec<T> {
        self.waiting.insert(part, done);
        let mut ready = Vec::new();
        while let Some(done) = self.waiting.remove(&self.next) {
            self.next += 1;
            ready.push(done);
        }
        ready
    }
}

/// Does something for every part, and returns what comes of it in the order of the parts. A part belongs
/// to one thread, so that nothing depends on how many there are.
///
/// # Errors
/// The error of the first part that failed, or that the watcher wants to stop.
pub(crate) fn each_part<T: Send>(
    parts: usize,
    work: impl Fn(usize) -> Result<T, Error> + Sync,
    watch: &mut dyn FnMut() -> Wish,
) -> Result<Vec<T>, Error> {
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
                .expect("nobody panics with it")
                .push((part, done));
        }
    };
    let threads = rayon::current_num_threads().min(parts);
    let hands: Vec<ThreadPool> = (0..threads).map(|_| hand()).collect();
    let (ended, ends) = channel();
    let mut stopped = false;
    all_hands(&hands, ended, &take, &mut || {
        stopped = watched(&ends, watch);
        over.fetch_or(stopped, Ordering::Relaxed);
    });
    let mut found = found.into_inner().expect("nobody panicked with it");
    found.sort_by_key(|(part, _)| *part);
    let found: Result<Vec<T>, Error> = found.into_iter().map(|(_, done)| done).collect();
    if stopped {
        return Err(found.err().unwrap_or(LearnError::Stopped.into()));
    }
    found
}

/// Sets every hand to work, does something else meanwhile, and waits for them.
fn all_hands(
    hands: &[ThreadPool],
    ended: Sender<()>,
    take: &(impl Fn() + Sync),
    meanwhile: &mut dyn FnMut(),
) {
    let Some((first, others)) = hands.split_first() else {
        // The last sender but those of the hands: when they have ended, nobody sends.
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

/// Asks the watcher until all threads have ended; whether he wants to stop.
fn watched(ends: &Receiver<()>, watch: &mut dyn FnMut() -> Wish) -> bool {
    loop {
        match ends.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Disconnected) => return false,
            _ if watch() == Wish::Stop => return true,
            _ => {}
        }
    }
}

/// A thread in which loops over rows are not divided among threads: the parts are. A loop that waited for
/// another thread would take on a further part meanwhile, and one more inside that.
fn hand() -> ThreadPool {
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .stack_size(STACK_BYTES);
    pool.build().expect("memory for a thread")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::RegressionError;

    #[test]
    fn parts_come_back_in_their_order_and_the_first_error_is_told() {
        let squares = each_part(100, |part| Ok(part * part), &mut || Wish::Continue).unwrap();
        assert!(squares.iter().copied().eq((0..100).map(|k| k * k)));
        let failing = |part: usize| match part {
            3.. => Err(LearnError::Read(format!("part {part}")).into()),
            _ => Ok(()),
        };
        let error = each_part(9, failing, &mut || Wish::Continue).unwrap_err();
        assert!(error.to_string().contains("part 3"), "{error}");
    }

    #[test]
    fn what_comes_early_waits_for_its_turn() {
        let mut order = InOrder::default();
        assert!(order.put(2, 'c').is_empty());
        assert_eq!(order.put(0, 'a'), ['a']);
        assert_eq!(order.put(1, 'b'), ['b', 'c']);
        assert_eq!(order.put(3, 'd'), ['d']);
    }

    #[test]
    fn a_watcher_ends_the_work() {
        let endless = |_| {
            std::thread::sleep(LOOK);
            Ok(())
        };
        let error = each_part(1 << 20, endless, &mut || Wish::Stop).unwrap_err();
        assert!(matches!(
            error,
            Error::Regression(RegressionError::Learn(LearnError::Stopped))
        ));
    }
}
