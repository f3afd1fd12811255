//! Times of short pieces of work on a machine that is used by others as well.

use std::time::Instant;

/// Seconds per call.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    /// The minimum of all rounds: the cost of the work without interruptions.
    pub(crate) least: f64,
    pub(crate) median: f64,
}

impl Time {
    /// Minimum and median in microseconds.
    pub(crate) fn micros(self) -> String {
        format!("{:9.2} {:9.2}", self.least * 1e6, self.median * 1e6)
    }
}

/// Rounds of about a millisecond each, for about a third of a second.
pub(crate) fn time(mut work: impl FnMut()) -> Time {
    const ROUND: f64 = 1e-3;
    const ROUNDS: usize = 300;
    let once = seconds(1, &mut work).min(seconds(1, &mut work));
    let calls = (ROUND / once).clamp(1.0, 1e5) as usize;
    let rounds = ((ROUNDS as f64 * ROUND / (once * calls as f64)) as usize).clamp(5, ROUNDS);
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| seconds(calls, &mut work) / calls as f64)
        .collect();
    times.sort_by(f64::total_cmp);
    Time {
        least: times[0],
        median: times[rounds / 2],
    }
}

fn seconds(calls: usize, work: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| work());
    start.elapsed().as_secs_f64()
}

/// A pool of this many threads; a plan runs within it, as a training loop does.
pub(crate) fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool of threads")
}

/// A pseudo-random number in (−1, 1), the same for the same place.
pub(crate) fn noise(place: usize) -> f64 {
    let bits = (place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed >> 11) as f64 / (1u64 << 53) as f64) * 2.0 - 1.0
}
