//! Compiles the registration of the passes, which is C++ (`src/registration.cpp`), against the LLVM
//! that `llvm-sys` found.
//!
//! clang++ of that LLVM does it: it comes with the clang that Heddle needs anyway, and Debian's
//! package brings the headers of libstdc++. `CXX` names another compiler.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/registration.cpp");
    println!("cargo:rerun-if-env-changed=CXX");
    let Some(config) = env::var_os("DEP_LLVM_19_CONFIG_PATH") else { fail("llvm-sys did not say where llvm-config is") };
    let config = PathBuf::from(config);
    let mut build = cc::Build::new();
    build.cpp(true).file("src/registration.cpp").warnings(true);
    let own = Path::new(llvm_config(&config, "--bindir").trim()).join("clang++");
    if env::var_os("CXX").is_none() && own.is_file() {
        build.compiler(own);
    }
    // LLVM's headers are not ours to warn about.
    build.flag("-isystem").flag(llvm_config(&config, "--includedir").trim());
    for flag in llvm_config(&config, "--cxxflags").split_whitespace().filter(|f| !f.starts_with("-I")) {
        build.flag(flag);
    }
    if llvm_config(&config, "--has-rtti").trim() == "NO" {
        build.flag("-fno-rtti");
    }
    if let Err(e) = build.try_compile("heddle_registration") {
        fail(&format!("could not compile src/registration.cpp: {e}"));
    }
}

/// What llvm-config answers.
fn llvm_config(config: &Path, what: &str) -> String {
    match Command::new(config).arg(what).output() {
        Ok(o) if o.status.success() => String::from_utf8_lossy(&o.stdout).into_owned(),
        other => fail(&format!("{} {what}: {other:?}", config.display())),
    }
}

fn fail(message: &str) -> ! {
    eprintln!(
        "error: {message}\n\nThe plug-in needs LLVM 19's headers and a C++17 compiler with its library.\n\
         Debian/Ubuntu: apt-get install llvm-19-dev clang-19 (or g++, with CXX=g++)\n\
         or run `cargo xtask setup`. Heddle itself (`cargo build -p heddle`) does without."
    );
    std::process::exit(1)
}
