//! Any text as a formula and as a prior.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| lehr_fuzz::check_formula(text));
