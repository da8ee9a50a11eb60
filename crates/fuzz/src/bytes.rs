//! What must hold for any bytes from outside: the bodies of the libFuzzer targets in `fuzz/`, which a test on stable Rust feeds with mutated seeds too
//! (`tests/bytes.rs`).
//!
//! Each function takes any bytes, returns whether they were accepted, and panics if a property is broken.

use std::path::PathBuf;

use heddle_isa::{SourceLoc, encode};
use heddle_mir::{parse, print, verify};
use heddle_object::Image;
use heddle_object::{asm, read, write};
use heddle_runtime::case::Case;
use heddle_target::Machine;

/// Whether bytes were accepted; panics if a property is broken.
pub type Property = fn(&[u8]) -> bool;

/// A target's name and its function.
pub const TARGETS: [(&str, Property); 5] =
    [("decoder", decoder), ("assembler", assembler), ("mir", mir), ("object", object), ("case", case)];

/// Instruction words: what decodes encodes to the same word, and its text assembles to it.
pub fn decoder(data: &[u8]) -> bool {
    let mut any = false;
    for chunk in data.chunks_exact(16) {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(chunk);
        let word = u128::from_le_bytes(bytes);
        let Ok(inst) = encode::decode(word) else { continue };
        any = true;
        match encode::encode(&inst) {
            Ok(again) => assert_eq!(again, word, "{inst:?}"),
            Err(e) => panic!("{word:#034x} decodes to {inst:?}, which does not encode: {e}"),
        }
    }
    any
}

/// Assembly text: what assembles is the same after disassembly and assembly, and as an object.
pub fn assembler(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let Ok(image) = asm::assemble(text) else { return false };
    let Ok(printed) = asm::disassemble(&image) else { return true };
    match asm::assemble(&printed) {
        Ok(again) => assert_eq!(again, image, "{printed}"),
        Err(e) => panic!("disassembly does not assemble: {e}\n{printed}"),
    }
    if let Ok(bytes) = write::write(&image) {
        match read::parse(&bytes) {
            Ok(again) => {
                assert_eq!(again.metadata, image.metadata);
                assert_eq!((&again.text, &again.data), (&image.text, &image.data));
                assert_eq!(places(&again), places(&image));
            }
            Err(e) => panic!("an object of its own cannot be read: {e}"),
        }
    }
    true
}

/// The source positions of an image's instructions. The line table of an object names only files that it uses.
fn places(image: &Image) -> Vec<Option<(&str, u32, u32)>> {
    let place =
        |l: &SourceLoc| (l.line != 0).then(|| (image.files.get(l.file as usize).map_or("", String::as_str), l.line, l.column));
    image.lines.iter().map(place).collect()
}

/// Machine IR: what parses prints and parses to the same; the verifier accepts or refuses it.
pub fn mir(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let Ok(module) = parse::parse_module(text) else { return false };
    let printed = print::print_module(&module);
    match parse::parse_module(&printed) {
        Ok(again) => assert_eq!(print::print_module(&again), printed),
        Err(e) => panic!("what was printed does not parse: {e}\n{printed}"),
    }
    let machine = Machine::default_machine();
    // Either answer is right for some module.
    module.functions.iter().for_each(|f| drop(verify::verify(f, &machine)));
    true
}

/// Objects: read or refused; a kernel is loaded or refused; what is read can be disassembled or says why not.
pub fn object(data: &[u8]) -> bool {
    let Ok(image) = read::parse(data) else { return false };
    let machine = Machine::default_machine();
    for kernel in 0..image.metadata.kernels.len() {
        // Either answer is right for some object.
        drop(heddle_sim::Program::from_image(&image, kernel, &machine));
    }
    drop(asm::disassemble(&image));
    true
}

/// Case files: read or refused. Nothing they name is opened.
pub fn case(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let Ok(case) = Case::parse(text, "case.json", PathBuf::new()) else { return false };
    for launch in &case.launches {
        assert!(launch.arguments().is_ok(), "arguments were checked when the case was read");
    }
    // So were sizes: what a description needs can be told without overflow, or not at all.
    case.buffers.values().all(|b| b.described_bytes().is_none_or(|n| n <= 1 << 36))
}
