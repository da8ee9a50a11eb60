//! The built-in library as files that clang can link: libclc's functions and ours, prepared by `build.rs`
//! and embedded here; and which of them a program can need.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::FrontendError;
use crate::error::io;

/// The library's bitcode.
pub(crate) static BUILTINS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/builtins.bc"));
/// The same without the largest families of functions.
static CORE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/core.bc"));

/// Names of the functions in each, one a line.
static BUILTIN_NAMES: &str = include_str!(concat!(env!("OUT_DIR"), "/builtins.names"));
static CORE_NAMES: &str = include_str!(concat!(env!("OUT_DIR"), "/core.names"));

/// Functions of similar names in a library of their own, which has copies of what they call.
struct Family {
    name: &'static str,
    bitcode: &'static [u8],
    /// One a line.
    names: &'static str,
}

/// The families that [`CORE`] lacks.
static FAMILIES: &[Family] = include!(concat!(env!("OUT_DIR"), "/families.rs"));

/// As much of the library as a program can need: what is not needed costs time. A set: of all but the largest families of
/// functions, and of each of these; or everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part(u32);

impl Part {
    /// Nothing: ids and barriers are instructions.
    pub const NOTHING: Part = Part(0);
    /// All but the largest families.
    pub const CORE: Part = Part(1);
    /// Everything.
    pub const WHOLE: Part = Part(u32::MAX);

    /// A family, by its place among all; its functions may be used with others.
    const fn family(index: usize) -> Part {
        Part(Part::CORE.0 | 2 << index)
    }

    /// Both.
    pub const fn and(self, other: Part) -> Part {
        Part(self.0 | other.0)
    }

    /// Whether all of another part is in this one.
    pub const fn contains(self, other: Part) -> bool {
        other.0 & !self.0 == 0
    }

    /// What text may call, if it calls it by its name. A macro can put names together, so this is a guess,
    /// for which [`Part::suffices`] is the proof.
    pub fn for_text(text: &[u8]) -> Part {
        let identifier = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let words = text.split(|b| !identifier(b)).filter_map(|w| std::str::from_utf8(w).ok());
        words.map(Part::with).fold(Part::NOTHING, Part::and)
    }

    /// What a module needs, by the symbols that it declares.
    pub fn for_symbols<'a>(symbols: impl Iterator<Item = &'a str>) -> Part {
        let own = |symbol: &'a str| {
            let rest = symbol.strip_prefix("_Z")?;
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let length: usize = rest[..digits].parse().ok()?;
            rest.get(digits..digits.checked_add(length)?)
        };
        symbols.filter_map(own).map(Part::with).fold(Part::NOTHING, Part::and)
    }

    /// The smallest part that has the functions of this name, if there are any.
    fn with(name: &str) -> Part {
        static PARTS: OnceLock<FxHashMap<&str, Part>> = OnceLock::new();
        let parts = PARTS.get_or_init(|| {
            let mut parts: FxHashMap<&str, Part> = BUILTIN_NAMES.lines().map(|n| (n, Part::WHOLE)).collect();
            parts.extend(CORE_NAMES.lines().map(|n| (n, Part::CORE)));
            for (i, family) in FAMILIES.iter().enumerate() {
                parts.extend(family.names.lines().map(|n| (n, Part::family(i))));
            }
            parts
        });
        parts.get(name).copied().unwrap_or(Part::NOTHING)
    }

    /// The libraries of which it is made: names and bitcode.
    fn libraries(self) -> Vec<(&'static str, &'static [u8])> {
        if self == Part::WHOLE {
            return vec![("builtins", BUILTINS)];
        }
        let families = FAMILIES.iter().enumerate().filter(|(i, _)| self.contains(Part::family(*i)));
        let mut libraries: Vec<(&str, &[u8])> = families.map(|(_, f)| (f.name, f.bitcode)).collect();
        libraries.extend(self.contains(Part::CORE).then_some(("core", CORE)));
        libraries
    }

    /// Whether bitcode that was linked with this part calls nothing of the rest. Names of functions stand in
    /// bitcode as they are, one behind the other.
    pub fn suffices(self, bitcode: &[u8]) -> bool {
        let mut rest = bitcode;
        while let Some(at) = rest.windows(2).position(|w| w == b"_Z") {
            rest = &rest[at + 2..];
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            let length = std::str::from_utf8(&rest[..digits]).ok().and_then(|d| d.parse::<usize>().ok());
            let name = length.and_then(|n| rest.get(digits..digits.checked_add(n)?)).unwrap_or_default();
            if std::str::from_utf8(name).is_ok_and(|n| !self.contains(Part::with(n))) {
                return false;
            }
        }
        true
    }
}

/// A part of the built-in library as a file.
pub(crate) enum Library {
    /// In the user's cache folder, shared by all runs of this build.
    Cached(PathBuf),
    /// A temporary file, removed with this value: there is no cache folder that can be written.
    Own(tempfile::TempPath),
}

impl Library {
    /// Finds a part of the library in the user's cache, or writes it there, where it appears whole or not at
    /// all. There are none for [`Part::NOTHING`].
    pub fn find(part: Part) -> Result<Vec<Library>, FrontendError> {
        part.libraries().into_iter().map(|(name, bitcode)| Library::find_one(name, bitcode)).collect()
    }

    fn find_one(name: &str, bitcode: &[u8]) -> Result<Library, FrontendError> {
        const HASH: &str = env!("HEDDLE_BUILTINS_HASH");
        if let Some(folder) = cache_folder() {
            let path = folder.join(format!("{name}-{HASH}.bc"));
            if is_whole(&path, bitcode) || write_to_cache(&folder, &path, bitcode).is_ok() {
                return Ok(Library::Cached(path));
            }
        }
        own_file(bitcode).map(Library::Own).map_err(io("writing the built-in library"))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        match self {
            Library::Cached(path) => path,
            Library::Own(path) => path,
        }
    }
}

/// Heddle's folder in the user's cache: below `XDG_CACHE_HOME`, else below `HOME`.
pub fn cache_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?;
    // A relative one means another folder for every process.
    cache.is_absolute().then(|| cache.join("heddle"))
}

fn is_whole(path: &Path, bitcode: &[u8]) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() == bitcode.len() as u64)
}

fn write_to_cache(folder: &Path, path: &Path, bitcode: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bitcode)?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

fn own_file(bitcode: &[u8]) -> std::io::Result<tempfile::TempPath> {
    let mut file = tempfile::Builder::new().prefix("heddle-builtins-").suffix(".bc").tempfile()?;
    file.write_all(bitcode)?;
    Ok(file.into_temp_path())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part with core and some families.
    fn families(names: &[&str]) -> Part {
        let index = |name: &&str| FAMILIES.iter().position(|f| f.name == *name).expect("a family");
        names.iter().map(|n| Part::family(index(n))).fold(Part::CORE, Part::and)
    }

    #[test]
    fn a_program_gets_what_it_names() {
        let part = |text: &str| Part::for_text(text.as_bytes());
        assert_eq!(part("kernel void k(global int *a) { a[get_global_id(0)] = 1; barrier(1); }"), Part::NOTHING);
        assert_eq!(part("float f(float x) { return sqrt(x); }"), Part::CORE);
        assert_eq!(part("#define G(x) convert_int4_rte(sin(x))"), families(&["convert_int"]));
        assert_eq!(part("atomic_add vload_half native_exp"), families(&["atomic", "vector_memory", "approximate"]));
        assert_eq!(part("sqrtx asqrt"), Part::NOTHING);
    }

    #[test]
    fn a_module_gets_what_it_declares() {
        let part = |symbols: &[&str]| Part::for_symbols(symbols.iter().copied());
        assert_eq!(part(&["_Z13get_global_idj", "llvm.fma.f32", "sqrt"]), Part::NOTHING);
        assert_eq!(part(&["_Z4sqrtf", "_Z7barrierj"]), Part::CORE);
        assert_eq!(part(&["_Z12convert_int4Dv4_f", "_Z4sqrtf"]), families(&["convert_int"]));
        assert_eq!(part(&["_Z99999999999999999999f", "_Z5sqrt", "_Z"]), Part::NOTHING);
    }

    #[test]
    fn names_in_bitcode_are_seen() {
        let calls = b"BC\xc0_Z13get_global_idj_Z4sqrtf_Z_Z99_Z5";
        assert!(!Part::NOTHING.suffices(calls) && Part::CORE.suffices(calls));
        let converts = b"k_Z12convert_int4Dv4_f";
        assert!(!Part::CORE.suffices(converts) && !families(&["convert_uint"]).suffices(converts));
        assert!(families(&["convert_int"]).suffices(converts) && Part::WHOLE.suffices(converts));
        assert!(Part::NOTHING.suffices(b"_Z13get_global_idj") && Part::NOTHING.suffices(b""));
    }

    #[test]
    fn the_smaller_library_is_closed() {
        // What it calls of the whole one's functions it has.
        assert!(Part::CORE.suffices(CORE));
        assert!(CORE_NAMES.lines().count() > 100 && BUILTIN_NAMES.lines().count() > 2 * CORE_NAMES.lines().count());
    }

    #[test]
    fn every_function_of_opencl_c_is_in_one_small_library() {
        let own = |name: &&str| !name.starts_with("__") && !name.starts_with("libclc_");
        let elsewhere: Vec<&str> = BUILTIN_NAMES.lines().filter(own).filter(|n| Part::with(n) == Part::WHOLE).collect();
        assert!(elsewhere.is_empty(), "{elsewhere:?}");
        let names: Vec<&str> = FAMILIES.iter().flat_map(|f| f.names.lines()).chain(CORE_NAMES.lines()).collect();
        let distinct: std::collections::HashSet<&&str> = names.iter().collect();
        assert_eq!(names.len(), distinct.len());
        assert_eq!(
            families(&["group", "atomic"]).libraries().iter().map(|l| l.0).collect::<Vec<_>>(),
            ["atomic", "group", "core"]
        );
    }
}
