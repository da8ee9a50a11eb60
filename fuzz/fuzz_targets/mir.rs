//! See [`heddle::fuzz::bytes::mir`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    heddle::fuzz::bytes::mir(data);
});
