//! Random orders, the same on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A uniformly random order of `0..len`, a function of `seed` alone.
pub fn permutation(len: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    shuffle_items(&mut ChaCha8Rng::seed_from_u64(seed), &mut order);
    order
}

/// Puts the items into a uniformly random order.
pub fn shuffle_items<T>(random: &mut impl Rng, items: &mut [T]) {
    shuffle_by(random, items.len(), |one, other| items.swap(one, other));
}

/// Fisher–Yates on `count` items, which `swap` exchanges by their places; the second place is never
/// above the first.
pub fn shuffle_by(random: &mut impl Rng, count: usize, mut swap: impl FnMut(usize, usize)) {
    for last in (1..count).rev() {
        swap(last, uniform_below(random, last as u64 + 1) as usize);
    }
}

/// A uniform integer below `bound`, by multiplication with rejection (Lemire 2019), so that all
/// values are equally likely.
///
/// # Panics
/// If `bound` is zero.
pub fn uniform_below(random: &mut impl Rng, bound: u64) -> u64 {
    assert!(bound > 0, "no integer lies below zero");
    let mut product = u128::from(random.next_u64()) * u128::from(bound);
    if (product as u64) < bound {
        let threshold = bound.wrapping_neg() % bound;
        while (product as u64) < threshold {
            product = u128::from(random.next_u64()) * u128::from(bound);
        }
    }
    (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_holds_every_index_once_and_repeats_with_its_seed() {
        let order = permutation(1000, 7);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..1000));
        assert_ne!(order, sorted);
        assert_eq!(order, permutation(1000, 7));
        assert_ne!(order, permutation(1000, 8));
    }

    #[test]
    fn every_order_of_three_is_equally_likely() {
        let mut counts = std::collections::HashMap::new();
        for seed in 0..6000 {
            *counts.entry(permutation(3, seed)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Binomial(6000, 1/6) has standard deviation 29; 150 is beyond five of them.
        assert!(
            counts
                .values()
                .all(|&count: &i32| (count - 1000).abs() < 150)
        );
    }
}
