//! See [`heddle::fuzz::bytes::assembler`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    heddle::fuzz::bytes::assembler(data);
});
