//! See [`heddle::fuzz::bytes::case`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    heddle::fuzz::bytes::case(data);
});
