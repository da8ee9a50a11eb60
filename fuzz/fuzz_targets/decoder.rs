//! See [`heddle::fuzz::bytes::decoder`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    heddle::fuzz::bytes::decoder(data);
});
