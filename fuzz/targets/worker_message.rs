//! Any bytes as a message to a worker.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| lehr_fuzz::check_worker_message(bytes));
