//! Where translations to the host's instructions are kept from process to process.
//!
//! The simulator touches no files: who has a place for translations offers it here ([`crate::Options::translations`]).

use std::fmt::Debug;

/// A place for translations.
///
/// # Safety
/// What [`TranslationStore::get`] returns is run as machine code. It must be what [`TranslationStore::put`] was given for the
/// same key, whole, by the same build of Heddle; or nothing. A key says what the translation depends on of the program and of
/// the host, but not which build made it. Nobody may be able to write to the place who may not run programs as this user.
pub unsafe trait TranslationStore: Debug + Send + Sync {
    /// What was kept for a key. May be called by several host threads.
    fn get(&self, key: &[u8]) -> Option<Vec<u8>>;

    /// Keeps an object. One that cannot be kept is not kept, and nobody is told. May be called by several host threads.
    fn put(&self, key: &[u8], object: &[u8]);
}
