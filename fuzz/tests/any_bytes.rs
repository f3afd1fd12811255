//! The checks of the fuzz targets on bytes that are drawn at random, and on examples that are damaged.

use lehr_fuzz::{
    check_checkpoint, check_csv, check_formula, check_saved_fit, check_worker_message,
    example_checkpoint, example_fit, example_messages,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;

/// Places and values of bytes to overwrite, and the number of bytes to cut off.
type Damage = (Vec<(Index, u8)>, usize);

fn damage() -> impl Strategy<Value = Damage> {
    let cut = prop_oneof![3 => Just(0_usize), 1 => 0_usize..40];
    (vec((any::<Index>(), any::<u8>()), 0..4), cut)
}

fn damaged(example: &[u8], (wounds, cut): &Damage) -> Vec<u8> {
    let mut bytes = example.to_vec();
    for (place, value) in wounds {
        let place = place.index(bytes.len());
        bytes[place] = *value;
    }
    bytes.truncate(bytes.len().saturating_sub(*cut));
    bytes
}

fn example_message(which: Index) -> &'static [u8] {
    &example_messages()[which.index(example_messages().len())]
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..200)
}

fn configured(cases: u32, seed: u64) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(configured(1_000, 1))]

    #[test]
    fn any_text_is_a_formula_or_an_error(text in any::<String>()) {
        check_formula(&text);
        check_formula(&format!("y ~ {text}"));
    }

    #[test]
    fn any_bytes_are_a_table_or_an_error(bytes in any_bytes()) {
        check_csv(&bytes);
    }

    #[test]
    fn any_bytes_are_a_saved_fit_or_an_error(bytes in any_bytes(), damage in damage()) {
        check_saved_fit(&bytes);
        check_saved_fit(&damaged(example_fit(), &damage));
    }

    #[test]
    fn any_bytes_are_a_checkpoint_or_an_error(bytes in any_bytes(), damage in damage()) {
        check_checkpoint(&bytes);
        check_checkpoint(&damaged(example_checkpoint(), &damage));
    }

    #[test]
    fn any_bytes_are_a_message_or_an_error(
        bytes in any_bytes(),
        which in any::<Index>(),
        damage in damage(),
    ) {
        check_worker_message(&bytes);
        check_worker_message(&damaged(example_message(which), &damage));
    }
}

#[test]
fn examples_are_what_they_should_be() {
    check_saved_fit(example_fit());
    check_checkpoint(example_checkpoint());
    assert!(example_messages().len() > 3, "{}", example_messages().len());
    for message in example_messages() {
        check_worker_message(message);
    }
}
