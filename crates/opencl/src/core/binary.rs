//! Binaries of executables: the object, with what it was built from behind it.
//!
//! Programs keep binaries and come back with them under other options. So a binary says which compiler made it,
//! for which machine and with which techniques: one of another is refused, as by a driver of another version,
//! and the program builds its source again. And it has its source, from which recorded launches are built.
//! Behind the object stand bitcode, a description, the description's length and a mark; readers of objects do
//! not look there.

use heddle::session::SourceText;
use serde::{Deserialize, Serialize};

const MARK: &[u8; 8] = b"\x7fHeddleB";

#[derive(Serialize, Deserialize)]
struct Description {
    /// Of [`heddle::build::Builder::fingerprint`].
    compiler: String,
    files: Vec<(String, String)>,
    options: Vec<String>,
    /// Bytes of bitcode, if there is any.
    bitcode: Option<usize>,
}

/// A binary.
pub fn write(object: &[u8], source: &SourceText, compiler: &str) -> Vec<u8> {
    let SourceText { files, options, bitcode } = source.clone();
    let description = Description { compiler: compiler.into(), files, options, bitcode: bitcode.as_ref().map(Vec::len) };
    // It has strings and numbers only.
    let description = serde_json::to_vec(&description).unwrap_or_default();
    let length = (description.len() as u64).to_le_bytes();
    [object, bitcode.as_deref().unwrap_or_default(), &description, &length, MARK].concat()
}

/// The object of a binary, and what it was built from. A mere object has no source.
///
/// # Errors
/// A sentence: it is damaged, or of another compiler.
pub fn read(binary: &[u8], compiler: &str) -> Result<(Vec<u8>, SourceText), String> {
    let Some(rest) = binary.strip_suffix(MARK) else { return Ok((binary.to_vec(), SourceText::default())) };
    let damaged = || "the binary is damaged".to_string();
    let (rest, length) = rest.split_last_chunk::<8>().ok_or_else(damaged)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
    let split = rest.len().checked_sub(length).ok_or_else(damaged)?;
    let (rest, description) = rest.split_at(split);
    let description: Description = serde_json::from_slice(description).map_err(|_| damaged())?;
    if description.compiler != compiler {
        return Err("the binary was built by another Heddle, for another machine or with other options of Heddle".into());
    }
    let split = rest.len().checked_sub(description.bitcode.unwrap_or(0)).ok_or_else(damaged)?;
    let (object, bitcode) = rest.split_at(split);
    let bitcode = description.bitcode.map(|_| bitcode.to_vec());
    Ok((object.to_vec(), SourceText { files: description.files, options: description.options, bitcode }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_keep_object_and_source() {
        let files = vec![("a.cl".into(), "kernel void f() {}".into())];
        for bitcode in [None, Some(Vec::new()), Some(b"BC".to_vec())] {
            let source = SourceText { files: files.clone(), options: vec!["-O2".into()], bitcode };
            let binary = write(b"\x7fELF", &source, "x");
            assert_eq!(read(&binary, "x"), Ok((b"\x7fELF".to_vec(), source)));
            assert!(read(&binary, "y").is_err_and(|why| why.contains("another")));
            let cut: Vec<u8> = binary[binary.len() - 20..].to_vec();
            assert!(read(&cut, "x").is_err_and(|why| why.contains("damaged")));
        }
        assert_eq!(read(b"\x7fELF", "x"), Ok((b"\x7fELF".to_vec(), SourceText::default())));
        assert!(read(MARK, "x").is_err());
    }
}
