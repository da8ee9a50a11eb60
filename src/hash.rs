//! Hashes of contents, for what is kept on disk under them.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A SHA-256, cut to 128 bits: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hash(String);

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<[u8]> for Hash {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Hashes parts; their borders count.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds a part.
    #[must_use]
    pub fn part(mut self, bytes: impl AsRef<[u8]>) -> Hasher {
        let bytes = bytes.as_ref();
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// The hash.
    pub fn finish(self) -> Hash {
        Hash(self.0.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_borders() {
        assert_ne!(Hasher::default().part("ab").part("c").finish(), Hasher::default().part("a").part("bc").finish());
        assert_eq!(Hasher::default().part("x").finish().to_string().len(), 32);
    }
}
