//! Programs that are compiled and not linked, in memory and as bytes that hosts keep as program binaries.

use heddle_frontend::OptLevel;
use serde::{Deserialize, Serialize};

use crate::hash::Hasher;

/// What the bytes of a unit begin with.
const MAGIC: &[u8] = b"heddle-unit ";
/// Version of the format, and of what the bitcode means to the front end.
const VERSION: u32 = 2;

/// A program that is compiled, or a library that was linked: LLVM bitcode that can be linked further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    pub(super) header: Header,
    pub(super) bitcode: Vec<u8>,
    /// What clang had to say: warnings.
    pub log: String,
}

/// What is known of a unit beside its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    version: u32,
    /// What messages call it.
    pub name: String,
    /// Made by linking with `-create-library`.
    pub library: bool,
    /// Compiled with `-cl-opt-disable`.
    pub unoptimised: bool,
    /// Compiled for checking mode, before clang's passes.
    pub checked: bool,
    /// clang's passes have not run, and want these options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_left: Option<Vec<String>>,
    /// Of the bitcode.
    hash: String,
}

/// Bytes that are no unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no compiled program of Heddle: {0}")]
pub struct NotAUnit(String);

impl Unit {
    pub(super) fn new(name: String, bitcode: Vec<u8>, opt: OptLevel, checked: bool, log: String) -> Unit {
        let hash = Hasher::default().part(&bitcode).finish().to_string();
        let unoptimised = opt == OptLevel::O0;
        let header = Header { version: VERSION, name, library: false, unoptimised, checked, passes_left: None, hash };
        Unit { header, bitcode, log }
    }

    /// Whether it was linked with `-create-library`.
    pub fn is_library(&self) -> bool {
        self.header.library
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.header.name
    }

    /// As bytes, without the log.
    pub fn to_bytes(&self) -> Vec<u8> {
        // A header has strings and numbers only.
        let header = serde_json::to_string(&self.header).unwrap_or_default();
        [MAGIC, header.as_bytes(), b"\n", &self.bitcode].concat()
    }

    /// Whether bytes begin as those of a unit do.
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads what [`Unit::to_bytes`] wrote.
    ///
    /// # Errors
    /// What is wrong with the bytes: foreign, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Unit, NotAUnit> {
        let fail = |what: &str| NotAUnit(what.into());
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| fail("it begins otherwise"))?;
        let end = rest.iter().position(|b| *b == b'\n').ok_or_else(|| fail("its header has no end"))?;
        let header: Header = serde_json::from_slice(&rest[..end]).map_err(|e| fail(&format!("its header: {e}")))?;
        let bitcode = rest[end + 1..].to_vec();
        if header.version != VERSION {
            return Err(fail(&format!("it is of version {}, this Heddle reads {VERSION}", header.version)));
        }
        // LLVM does not survive all bytes.
        if Hasher::default().part(&bitcode).finish().to_string() != header.hash {
            return Err(fail("its code is damaged"));
        }
        Ok(Unit { header, bitcode, log: String::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_survive_as_bytes() {
        let unit = Unit::new("a.cl".into(), b"BC\n\xc0".to_vec(), OptLevel::O0, true, String::new());
        let bytes = unit.to_bytes();
        assert!(Unit::begins(&bytes));
        assert_eq!(Unit::from_bytes(&bytes).unwrap(), unit);
        assert!(Unit::from_bytes(&bytes[..bytes.len() - 1]).unwrap_err().to_string().contains("damaged"));
        assert!(Unit::from_bytes(b"\x7fELF").is_err());
        assert!(Unit::from_bytes(&bytes[..20]).is_err());
        let newer = String::from_utf8_lossy(&bytes).replace("\"version\":2", "\"version\":3");
        assert!(Unit::from_bytes(newer.as_bytes()).unwrap_err().to_string().contains("version 3"));
    }
}
