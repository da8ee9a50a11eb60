use heddle_frontend::source::Source;
use heddle_target::Machine;

use super::*;
use crate::build::{Builder, Executable, LinkOptions, Linked, Translations};
use heddle_sim::TranslationStore;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn cache(&self) -> Cache {
        Cache::new(self.0.path(), DEFAULT_LIMIT)
    }

    fn builder(&self) -> Builder {
        Builder::new(Machine::default_machine()).with_cache(Some(self.cache()))
    }

    fn entries(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.0.path().join("builds")).into_iter().flatten().flatten();
        let files = folders.filter_map(|f| fs::read_dir(f.path()).ok()).flatten().flatten();
        files.map(|f| f.path()).collect()
    }
}

fn build(builder: &Builder, text: &str, options: &str) -> Executable {
    let headers: [(&str, &[u8]); 0] = [];
    let source = Source { name: "p.cl", text: text.as_bytes(), headers: &headers };
    builder.build(&source, &BuildOptions::parse(options).unwrap()).unwrap()
}

const TEXT: &str = "kernel void k(global int *a) { int unused; *a += 1; }";

#[test]
fn what_was_built_is_found_with_its_log() {
    let place = Place::new();
    let first = build(&place.builder(), TEXT, "-Wall");
    assert!(!first.cached && first.log.contains("unused variable"));
    let second = build(&place.builder(), TEXT, "-Wall");
    assert_eq!(second, Executable { cached: true, ..first });
}

#[test]
fn anything_that_is_asked_for_otherwise_is_another_program() {
    let place = Place::new();
    assert!(!build(&place.builder(), TEXT, "").cached);
    assert!(!build(&place.builder(), TEXT, "-D A").cached);
    assert!(!build(&place.builder(), TEXT, "-cl-opt-disable").cached);
    assert!(!build(&place.builder(), &TEXT.replace('1', "2"), "").cached);
    let mut options = CompileOptions::default();
    options.select.scalarize = false;
    assert!(!build(&place.builder().with_options(options), TEXT, "").cached);
    let wide = CompileOptions { wide_ids: true, ..CompileOptions::default() };
    assert!(!build(&place.builder().with_options(wide), TEXT, "").cached);
    let named = Source { name: "q.cl", text: TEXT.as_bytes(), headers: &[] };
    assert!(!place.builder().build(&named, &BuildOptions::default()).unwrap().cached);
    assert!(build(&place.builder(), TEXT, "").cached);
}

#[test]
fn the_machine_counts_as_far_as_the_compiler_reads_it() {
    let place = Place::new();
    let on = |change: fn(&mut Machine)| {
        let mut machine = Machine::default_machine();
        change(&mut machine);
        build(&Builder::new(machine).with_cache(Some(place.cache())), TEXT, "").cached
    };
    assert!(!on(|_| {}));
    assert!(!on(|m| m.sm.max_main_registers -= 8));
    assert!(on(|m| m.memory.device_bytes *= 2));
}

#[test]
fn headers_count_with_their_contents() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("b/n.h", "#define N 1\n");
    let options = format!("-I {0}/a -I{0}/b", folder.path().display());
    let text = "#include <n.h>\nkernel void k(global int *a) { *a += N; }";
    let again = || build(&place.builder(), text, &options);
    let first = again();
    assert!(!first.cached && again().cached);
    write("b/n.h", "#define N 2\n");
    let second = again();
    assert!(!second.cached && second.object != first.object && again().cached);
    // One that clang would find before.
    write("a/n.h", "#define N 3\n");
    assert!(!again().cached && again().cached);
    fs::remove_file(folder.path().join("a/n.h")).unwrap();
    assert_eq!(again().object, second.object);
}

#[test]
fn embedded_headers_count() {
    let place = Place::new();
    let cached = |header: &str| {
        let headers: [(&str, &[u8]); 1] = [("n.h", header.as_bytes())];
        let text = b"#include \"n.h\"\nkernel void k(global int *a) { *a += N; }";
        let source = Source { name: "p.cl", text, headers: &headers };
        place.builder().build(&source, &BuildOptions::default()).unwrap().cached
    };
    assert!(!cached("#define N 1\n") && cached("#define N 1\n") && !cached("#define N 2\n"));
}

#[test]
fn what_passes_is_not_kept() {
    let place = Place::new();
    for text in ["constant char t[] = __TIME__; kernel void k() {}", "#if __has_include(\"n.h\")\n#endif\nkernel void k() {}"] {
        assert!(!build(&place.builder(), text, "").cached && !build(&place.builder(), text, "").cached, "{text}");
    }
    assert!(place.entries().is_empty());
}

#[test]
fn damaged_entries_are_built_anew() {
    let place = Place::new();
    let first = build(&place.builder(), TEXT, "");
    let [path] = place.entries().try_into().unwrap();
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [&flipped[..], &whole[..whole.len() / 2], &[], b"\n", b"{}\n"] {
        fs::write(&path, damaged).unwrap();
        let again = build(&place.builder(), TEXT, "");
        assert!(!again.cached && again.object == first.object);
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
    // An entry under another's name.
    let other = "kernel void k(global int *a) { *a += 9; }";
    let second = build(&place.builder(), other, "");
    let changed = place.entries().into_iter().find(|p| *p != path).unwrap();
    fs::copy(&path, &changed).unwrap();
    let again = build(&place.builder(), other, "");
    assert!(!again.cached && again.object == second.object);
}

#[test]
fn the_oldest_go_when_there_are_too_many() {
    let place = Place::new();
    let cache = Cache::new(place.0.path(), 10_000);
    let key = |n: u32| Key { hasher: Hasher::default().part(n.to_le_bytes()), lasting: true };
    for n in 0..8 {
        cache.put(&key(n), &Entry::new(vec![n as u8; 1000], String::new()));
        // Times of files may be coarse.
        let path = cache.path(&key(n).hasher.finish().to_string());
        let time = SystemTime::now() - Duration::from_secs(u64::from(100 - n));
        File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    }
    assert!(cache.get(&key(0)).is_some());
    for n in 8..12 {
        cache.put(&key(n), &Entry::new(vec![n as u8; 1000], String::new()));
    }
    let kept: Vec<u32> = (0..12).filter(|n| cache.get(&key(*n)).is_some()).collect();
    assert!(kept.contains(&0) && !kept.contains(&1) && kept.ends_with(&[8, 9, 10, 11]), "{kept:?}");
    let size: u64 = place.entries().iter().map(|p| fs::metadata(p).unwrap().len()).sum();
    assert!(size <= 10_000, "{size}");
    // What alone is too large.
    cache.put(&key(99), &Entry::new(vec![0; 20_000], String::new()));
    assert!(cache.get(&key(99)).is_none());
}

#[test]
fn files_of_lost_processes_go() {
    let place = Place::new();
    let folder = place.0.path().join("builds/ab");
    fs::create_dir_all(&folder).unwrap();
    let [old, new] = ["old", "new"].map(|n| folder.join(format!("{TEMPORARY}{n}")));
    [&old, &new].iter().for_each(|p| fs::write(p, "x").unwrap());
    File::options().append(true).open(&old).unwrap().set_modified(SystemTime::now() - 2 * LOST).unwrap();
    build(&place.builder(), TEXT, "");
    assert!(!old.exists() && new.exists());
}

#[test]
fn a_folder_that_cannot_be_written_only_keeps_nothing() {
    let place = Place::new();
    let file = place.0.path().join("file");
    fs::write(&file, "").unwrap();
    let builder = Builder::new(Machine::default_machine()).with_cache(Some(Cache::new(file.join("x"), DEFAULT_LIMIT)));
    assert!(!build(&builder, TEXT, "").cached && !build(&builder, TEXT, "").cached);
}

#[test]
fn many_at_once() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..3 {
                    let text = format!("kernel void k(global int *a) {{ *a += {n}; }}");
                    let program = build(&place.builder(), &text, "");
                    let image = heddle_object::read::parse(&program.object).unwrap();
                    assert_eq!(image.metadata.kernels.len(), 1);
                }
            });
        }
    });
    assert_eq!(place.entries().len(), 3);
    assert!(build(&place.builder(), "kernel void k(global int *a) { *a += 1; }", "").cached);
}

#[test]
fn linking_and_compiling_alone_are_kept_too() {
    let place = Place::new();
    let unit = |text: &str| {
        let source = Source { name: "u.cl", text: text.as_bytes(), headers: &[] };
        place.builder().compile_source(&source, &BuildOptions::parse("-Wall").unwrap()).unwrap()
    };
    let [a, b] = [unit(TEXT), unit(TEXT)];
    assert_eq!(a, b);
    assert!(b.log.contains("unused variable"));
    let link = || match place.builder().link(&[&a], &LinkOptions::default()).unwrap() {
        Linked::Executable(program) => program,
        Linked::Library(_) => panic!("no library was asked for"),
    };
    assert!(!link().cached && link().cached);
    assert_eq!(place.entries().len(), 2);
}

#[test]
fn sizes_are_read() {
    assert_eq!(["7", "2K", "3m", "1G"].map(|t| bytes_of(t).unwrap()), [7, 2 << 10, 3 << 20, 1 << 30]);
    for bad in ["", "x", "-1", "1T", "99999999999G", "M"] {
        assert!(bytes_of(bad).is_err(), "{bad}");
    }
}

#[test]
fn translations_are_found_by_all_that_they_depend_on() {
    let place = Place::new();
    let store = Translations::new(place.cache());
    assert_eq!(store.get(b"key"), None);
    store.put(b"key", b"object");
    assert_eq!(store.get(b"key").as_deref(), Some(&b"object"[..]));
    assert_eq!(store.get(b"key "), None);
    assert_eq!(Translations::new(place.cache()).get(b"key").as_deref(), Some(&b"object"[..]));
}

/// They are run: nothing that is damaged, or that others might have written.
#[test]
fn a_translation_that_is_damaged_or_that_others_may_write_is_absent() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let store = Translations::new(place.cache());
    store.put(b"key", b"object");
    let path = place.entries().pop().unwrap();
    let allow = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o620);
    assert_eq!(store.get(b"key"), None);
    allow(0o644);
    assert!(store.get(b"key").is_some());
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(store.get(b"key"), None);
    store.put(b"key", b"object");
    assert!(store.get(b"key").is_some());
}
