//! See [`heddle::fuzz::bytes::object`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    heddle::fuzz::bytes::object(data);
});
