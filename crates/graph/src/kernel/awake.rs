//! Threads that wait for work without going to sleep.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a thread looks for work before it rests: longer than the time between the parallel
/// parts of two training steps.
const PATIENCE: Duration = Duration::from_millis(2);
const REST: Duration = Duration::from_micros(50);

/// Runs `work` while the other threads of the current rayon pool look for parts of it, if it has
/// `parts` (see [`Plan::has_parts`](crate::Plan::has_parts)).
///
/// A thread that sleeps starts its part of a training step tens of microseconds late and with cold
/// caches; a whole step takes two hundred.
pub fn with_threads_awake<R>(parts: bool, work: impl FnOnce() -> R) -> R {
    let others = rayon::current_num_threads() - 1;
    if others == 0 || !parts {
        return work();
    }
    let done = AtomicBool::new(false);
    let own = rayon::current_thread_index();
    rayon::in_place_scope(|scope| {
        for _ in 0..others {
            scope.spawn(|_| {
                // The thread that does the work must not wait for itself.
                if rayon::current_thread_index() != own {
                    look_out(&done);
                }
            });
        }
        let _end = EndSignal(&done);
        work()
    })
}

/// Tells the other threads that the work is over, also when it panics.
struct EndSignal<'a>(&'a AtomicBool);

impl Drop for EndSignal<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn look_out(done: &AtomicBool) {
    let mut last = Instant::now();
    while !done.load(Ordering::Acquire) {
        if rayon::yield_now() == Some(rayon::Yield::Executed) {
            last = Instant::now();
        } else if last.elapsed() < PATIENCE {
            std::hint::spin_loop();
        } else {
            std::thread::sleep(REST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_threads_awake;

    #[test]
    fn work_within_work_ends() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3);
        let pool = pool.build().expect("three threads");
        let sum = || -> u64 {
            with_threads_awake(true, || {
                let once = |_| rayon::join(|| 1, || with_threads_awake(true, || 2));
                (0..200).map(once).map(|(a, b)| a + b).sum()
            })
        };
        assert_eq!(pool.install(sum), 600);
        assert_eq!(pool.install(|| rayon::join(sum, sum)), (600, 600));
    }

    #[test]
    fn a_panic_passes_through() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
        let pool = pool.build().expect("two threads");
        let work = || pool.install(|| with_threads_awake(true, || panic!("on purpose")));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        assert!(caught.is_err());
    }
}
