//! Kernels that functional mode has translated to the host's instructions, beside programs that were built: the same
//! folder, limit and switches ([`super::cache`]).

use std::sync::{Arc, OnceLock};

use heddle_sim::TranslationStore;

use super::cache::{Cache, Entry, Key};

/// Translations in a cache.
#[derive(Clone, Debug)]
pub struct Translations(Cache);

impl Translations {
    /// In a cache.
    pub fn new(cache: Cache) -> Translations {
        Translations(cache)
    }
}

// SAFETY: an entry's name is a hash of the key and of this build of Heddle; it has its name and a hash of its bytes in it, and
// counts only if both are right and nobody else can have written the file (`Cache::get_own`).
unsafe impl TranslationStore for Translations {
    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        Some(self.0.get_own(&Key::translation(key))?.bytes)
    }

    fn put(&self, key: &[u8], object: &[u8]) {
        self.0.put(&Key::translation(key), &Entry::new(object.to_vec(), String::new()));
    }
}

/// Where the environment wants translations to be kept ([`Cache::from_environment`]), asked once in a process. `None` also if
/// what it says makes no sense.
pub fn translations() -> Option<Arc<dyn TranslationStore>> {
    static STORE: OnceLock<Option<Arc<Translations>>> = OnceLock::new();
    let store = STORE.get_or_init(|| Some(Arc::new(Translations(Cache::from_environment().ok()??))));
    store.clone().map(|s| s as Arc<dyn TranslationStore>)
}
