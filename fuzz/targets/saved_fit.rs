//! Any bytes as the content of a saved fit.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| lehr_fuzz::check_saved_fit(bytes));
