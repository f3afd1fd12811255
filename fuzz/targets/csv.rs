//! Any bytes as a CSV file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| lehr_fuzz::check_csv(bytes));
