//! What kernels print: the buffer that `printf` writes messages into, and the text the driver makes of them
//! after a launch.
//!
//! A message has the number of its format and the arguments ([`heddle_llvm_passes::printf`]); the formats are
//! in the object's metadata. The C library formats, one conversion at a time: each has been taken apart and
//! checked, so what it gets is never a string of the program's. Numbers of an odd width are converted first,
//! as C's argument promotion would do, and so are integers and floating-point numbers that stand for each other, for
//! which C leaves open what is printed.

use std::ffi::CString;

use half::f16;
use heddle_object::format::HEADER_BYTES;
use heddle_object::format::{Conversion, Element, Length, Piece, Takes};

use heddle_object::printf::Format;
use heddle_sim::DeviceMemory;

/// What launches have printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The text.
    pub text: Vec<u8>,
    /// Messages in it.
    pub messages: u64,
    /// Messages that did not fit the buffer.
    pub dropped: u64,
    /// Bytes that they would have needed.
    pub dropped_bytes: u64,
}

impl Printed {
    /// Adds what was printed later.
    pub fn add(&mut self, other: &Printed) {
        self.text.extend_from_slice(&other.text);
        self.messages += other.messages;
        self.dropped += other.dropped;
        self.dropped_bytes += other.dropped_bytes;
    }
}

/// The buffer in device memory.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Device address.
    pub address: u64,
    /// Bytes of messages.
    pub room: u32,
}

/// Name of the buffer's allocation.
const NAME: &str = "printf buffer";

impl Buffer {
    /// Makes room for `room` bytes of messages.
    ///
    /// # Errors
    /// Memory is exhausted.
    pub fn new(memory: &mut DeviceMemory, room: u32) -> Result<Buffer, String> {
        let address = memory.allocate(NAME, u64::from(HEADER_BYTES) + u64::from(room)).map_err(|e| e.to_string())?;
        Ok(Buffer { address, room })
    }

    /// The hidden argument: address and room.
    pub fn argument(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.address.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.room.to_le_bytes());
        bytes
    }

    /// Takes the messages out of the buffer, which is empty afterwards. Also returns how many bytes of it,
    /// from its start, have changed by that.
    pub fn take(&self, memory: &mut DeviceMemory, formats: &[Format]) -> (Printed, u64) {
        let word = |m: &DeviceMemory, at: u64| m.read(at, 8).map_or(0, |b| b.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)));
        let reserved = word(memory, self.address);
        let mut printed = Printed { dropped: word(memory, self.address + 8), ..Printed::default() };
        let header = u64::from(HEADER_BYTES);
        let used = reserved.min(self.room.into());
        let bytes = memory.read(self.address + header, used as usize).unwrap_or_default();
        let mut at = 0;
        // A message without a number has not been finished: the launch had a fault.
        while let Some(format) = number(&bytes, at).and_then(|n| formats.get(n)) {
            let Some(message) = bytes.get(at..at + format.layout.bytes as usize) else { break };
            render(format, message, &|address| string(memory, address), &mut printed.text);
            printed.messages += 1;
            at += message.len();
        }
        if printed.dropped > 0 {
            printed.dropped_bytes = reserved.saturating_sub(at as u64);
        }
        let dirty = if reserved == 0 { 0 } else { header + used };
        let _fits = memory.write(self.address, &vec![0; dirty as usize]);
        (printed, dirty)
    }
}

/// The format's index in the message at an offset.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at + 4)?;
    (u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize).checked_sub(1)
}

/// The string at an address, up to its NUL or the end of the buffer it is in.
fn string(memory: &DeviceMemory, address: u64) -> Option<Vec<u8>> {
    let rest = memory.find(address, 1)?.end() - address;
    let mut bytes = memory.read(address, rest as usize)?;
    bytes.truncate(bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len()));
    Some(bytes)
}

/// Appends the text of a message. `string`: the string at a device address.
fn render(format: &Format, message: &[u8], string: &dyn Fn(u64) -> Option<Vec<u8>>, out: &mut Vec<u8>) {
    let mut arguments = format.types.iter().zip(&format.layout.offsets);
    for piece in &format.pieces {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text),
            Piece::Conversion(c) => {
                let Some((ty, offset)) = arguments.next() else { return };
                for k in 0..ty.count {
                    if k > 0 {
                        out.push(b',');
                    }
                    let size = ty.element_bytes();
                    let start = (offset + k * size) as usize;
                    let bytes = message.get(start..start + size as usize).unwrap_or_default();
                    let bits = bytes.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
                    one(c, ty.element, bits, string, out);
                }
            }
        }
    }
}

/// Appends one value.
fn one(c: &Conversion, element: Element, bits: u64, string: &dyn Fn(u64) -> Option<Vec<u8>>, out: &mut Vec<u8>) {
    let takes = c.takes();
    let (element, bits) = match (takes, element) {
        (Takes::Float, Element::Integer(bytes)) => (Element::Float(8), (resized(bits, bytes) as f64).to_bits()),
        (Takes::Signed | Takes::Unsigned | Takes::Character, Element::Float(_)) => {
            (Element::Integer(8), float(element, bits) as i64 as u64)
        }
        same => (same.1, bits),
    };
    match takes {
        Takes::Signed => {
            // The argument's own value first, then what the length modifier says of it.
            let value = resized(bits, element_bytes(element));
            print(c, "ll", resized(value as u64, c.length.bytes()), out);
        }
        Takes::Unsigned => {
            let value = resized(bits, element_bytes(element)) as u64;
            let mask = u64::MAX >> (64 - 8 * c.length.bytes());
            print(c, "ll", value & mask, out);
        }
        Takes::Character => print(c, "", bits as i32, out),
        Takes::Pointer => print(c, "", bits as usize as *const libc::c_void, out),
        Takes::Text => match if bits == 0 { Some(b"(null)".to_vec()) } else { string(bits) } {
            Some(text) => {
                // It has no NUL, it ends at the first.
                let text = CString::new(text).unwrap_or_default();
                print(c, "", text.as_ptr(), out);
            }
            None => out.extend_from_slice(format!("(no string at {bits:#x})").as_bytes()),
        },
        Takes::Float => print(c, "", float(element, bits), out),
    }
}

/// A floating-point number by its bits.
fn float(element: Element, bits: u64) -> f64 {
    match element {
        Element::Float(2) => f64::from(f16::from_bits(bits as u16)),
        Element::Float(4) => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn element_bytes(element: Element) -> u32 {
    match element {
        Element::Integer(n) | Element::Float(n) => n,
        Element::Pointer(_) => 8,
    }
}

/// The low `bytes` bytes, sign-extended.
fn resized(bits: u64, bytes: u32) -> i64 {
    let unused = 64 - 8 * bytes;
    (bits << unused) as i64 >> unused
}

/// Types that may be passed for a variable argument.
trait Variadic: Copy {
    /// Calls `snprintf` with this value behind the format.
    ///
    /// # Safety
    /// The format has exactly one conversion, for this type; the buffer has `size` bytes.
    unsafe fn snprintf(self, buffer: *mut libc::c_char, size: usize, format: *const libc::c_char) -> libc::c_int;
}

macro_rules! variadic {
    ($($t:ty),*) => {$(
        impl Variadic for $t {
            unsafe fn snprintf(self, buffer: *mut libc::c_char, size: usize, format: *const libc::c_char) -> libc::c_int {
                // SAFETY: as the trait says.
                unsafe { libc::snprintf(buffer, size, format, self) }
            }
        }
    )*};
}

variadic!(i32, i64, u64, f64, *const libc::c_void, *const libc::c_char);

/// Formats one value with the C library. `length`: C's length modifier for the value's type.
fn print(c: &Conversion, length: &str, value: impl Variadic, out: &mut Vec<u8>) {
    let plain = Conversion { vector: None, length: Length::None, ..c.clone() }.to_string();
    // The letter is the last, and a byte.
    let (head, letter) = plain.split_at(plain.len() - 1);
    let Ok(format) = CString::new(format!("{head}{length}{letter}")) else { return };
    let mut buffer = vec![0u8; 128];
    for _ in 0..2 {
        // SAFETY: the format was made here of one checked conversion, with the length of the value's type.
        let n = unsafe { value.snprintf(buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr()) };
        let Ok(n) = usize::try_from(n) else { return };
        if n < buffer.len() {
            out.extend_from_slice(&buffer[..n]);
            return;
        }
        buffer.resize(n + 1, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_object::printf::PrintfFormat;

    /// The text of a message with these arguments, each as its bytes in memory.
    fn text(format: &str, types: &str, arguments: &[&[u8]]) -> String {
        let spec = PrintfFormat { format: format.into(), arguments: types.into() };
        let format = spec.parsed().unwrap();
        let mut message = vec![0; format.layout.bytes as usize];
        for (bytes, offset) in arguments.iter().zip(&format.layout.offsets) {
            message[*offset as usize..*offset as usize + bytes.len()].copy_from_slice(bytes);
        }
        let mut out = Vec::new();
        let string = |address: u64| (address == 16).then(|| b"a string".to_vec());
        render(&format, &message, &string, &mut out);
        String::from_utf8(out).unwrap()
    }

    // Expected texts are from the C standard's descriptions and the tables of OpenCL's conformance tests (test_printf).
    #[test]
    fn numbers_are_printed_as_c_does() {
        let i = |f: &str, v: i32| text(f, "i32", &[&v.to_le_bytes()]);
        assert_eq!(i("%d|", 10), "10|");
        assert_eq!(i("%5d", 10), "   10");
        assert_eq!(i("%-5d|", 10), "10   |");
        assert_eq!(i("%05d", 10), "00010");
        assert_eq!(i("%+5d", 10), "  +10");
        assert_eq!(i("%-+5d|", 10), "+10  |");
        assert_eq!(i("%.5d", 100), "00100");
        assert_eq!(i("%6.4d", 100), "  0100");
        assert_eq!(i("%#o", 100), "0144");
        assert_eq!(i("%#x", 184), "0xb8");
        assert_eq!(i("%#X", 184), "0XB8");
        assert_eq!(i("%08x", -1), "ffffffff");
        assert_eq!(i("%u", -1), "4294967295");
        assert_eq!(i("%hhd", 255), "-1");
        assert_eq!(i("%hu", -1), "65535");
        assert_eq!(i("%c%%", 65), "A%");
        assert_eq!(i("%.1f", -3), "-3.0");
        assert_eq!(
            text("%d %lld %zu", "f64 i64 i64", &[&2.7f64.to_le_bytes(), &(-5i64).to_le_bytes(), &7u64.to_le_bytes()]),
            "2 -5 7"
        );
        let d = |f: &str, v: f64| text(f, "f64", &[&v.to_le_bytes()]);
        assert_eq!(d("%f", 10.3456), "10.345600");
        assert_eq!(d("%.3f", 10.3456), "10.346");
        assert_eq!(d("%8.3f", 10.3456), "  10.346");
        assert_eq!(d("%08.2f", 123.456), "00123.46");
        assert_eq!(d("%-8.2f|", 123.456), "123.46  |");
        assert_eq!(d("%+f", -10.3456), "-10.345600");
        assert_eq!(d("%g", 10.3456), "10.3456");
        assert_eq!(d("%g", 1e20), "1e+20");
        assert_eq!(d("%#g", 0.1), "0.100000");
        assert_eq!(d("%E", 0.001), "1.000000E-03");
        assert_eq!(d("%a", 0.1), "0x1.999999999999ap-4");
        assert_eq!(d("%.2a", 1.0), "0x1.00p+0");
        assert_eq!(d("%f %%", f64::INFINITY), "inf %");
        assert_eq!(d("%8.2e", f64::NEG_INFINITY), "    -inf");
        assert_eq!(d("%G", f64::NAN), "NAN");
        assert_eq!(text("%ld %lx", "i64 i64", &[&(-5i64).to_le_bytes(), &u64::MAX.to_le_bytes()]), "-5 ffffffffffffffff");
        // The argument's own width counts first.
        assert_eq!(
            text("%d %ld %u", "i64 i32 i64", &[&(1i64 << 32 | 7).to_le_bytes(), &(-3i32).to_le_bytes(), &[255; 8]]),
            "7 -3 4294967295"
        );
    }

    #[test]
    fn vectors_have_commas() {
        let floats: Vec<u8> = [1.0f32, 2.5, -3.0, f32::INFINITY].iter().flat_map(|f| f.to_le_bytes()).collect();
        assert_eq!(text("%v4hlf\n", "f32x4", &[&floats]), "1.000000,2.500000,-3.000000,inf\n");
        assert_eq!(text("%5.1v4hlf", "f32x4", &[&floats]), "  1.0,  2.5, -3.0,  inf");
        assert_eq!(text("%v4hhd %d", "i8x4 i32", &[&[1, 255, 128, 127], &[9, 0, 0, 0]]), "1,-1,-128,127 9");
        assert_eq!(text("%#v3hhx", "i8x3", &[&[1, 255, 16]]), "0x1,0xff,0x10");
        let longs: Vec<u8> = [-1i64, 1 << 40].iter().flat_map(|f| f.to_le_bytes()).collect();
        assert_eq!(text("%v2ld", "i64x2", &[&longs]), "-1,1099511627776");
        let halves: Vec<u8> = [1.5f32, -0.25].iter().flat_map(|f| f16::from_f32(*f).to_le_bytes()).collect();
        assert_eq!(text("%v2hg", "f16x2", &[&halves]), "1.5,-0.25");
    }

    #[test]
    fn strings_and_pointers() {
        let p = 16u64.to_le_bytes();
        assert_eq!(text("%s|%10s|%-10s|%.3s", "p4 p4 p4 p4", &[&p, &p, &p, &p]), "a string|  a string|a string  |a s");
        assert_eq!(text("%s %s", "p4 p4", &[&[0; 8], &[1; 8]]), "(null) (no string at 0x101010101010101)");
        assert_eq!(text("%p", "p1", &[&0x1234u64.to_le_bytes()]), "0x1234");
    }

    #[test]
    fn a_full_buffer_keeps_the_first_messages() {
        let mut memory = DeviceMemory::new(1 << 20);
        let buffer = Buffer::new(&mut memory, 20).unwrap();
        let formats = [PrintfFormat { format: "%d\n".into(), arguments: "i32".into() }.parsed().unwrap()];
        let mut bytes = Vec::new();
        // Three messages of 8 bytes were asked for, two fit.
        bytes.extend(24u64.to_le_bytes());
        bytes.extend(1u64.to_le_bytes());
        for n in [1u32, 7, 1, 8] {
            bytes.extend(n.to_le_bytes());
        }
        assert!(memory.write(buffer.address, &bytes));
        let (printed, dirty) = buffer.take(&mut memory, &formats);
        assert_eq!(printed, Printed { text: b"7\n8\n".to_vec(), messages: 2, dropped: 1, dropped_bytes: 8 });
        assert_eq!(dirty, 36);
        assert_eq!(buffer.take(&mut memory, &formats), (Printed::default(), 0));
    }
}
