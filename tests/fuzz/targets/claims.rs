#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orchestrion_tests::fuzz_targets::claims(bytes));
