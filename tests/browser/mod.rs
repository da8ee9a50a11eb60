//! Pages in a real browser: Chromium from `HEDDLE_CHROMIUM` or the PATH. Tests that need one say so if there is none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The browser.
pub fn chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("HEDDLE_CHROMIUM") {
        return Some(path.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let found = names.iter().flat_map(|n| folders.iter().map(move |f| f.join(n))).find(|p| p.is_file());
    if found.is_none() {
        eprintln!("skipped: no Chromium (set HEDDLE_CHROMIUM, or install chromium)");
    }
    found
}

/// The page's elements after its script has run, as text. A browser that ends without a page is started again.
pub fn dom(browser: &Path, page: &Path, width: u32) -> String {
    let mut output = headless(browser, page, width);
    for _ in 0..2 {
        if String::from_utf8_lossy(&output.stdout).contains("<html") {
            break;
        }
        output = headless(browser, page, width);
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("data-ready"),
        "the script did not run: {}\n{}",
        String::from_utf8_lossy(&output.stderr),
        &text[..text.len().min(600)]
    );
    text
}

/// Loads a page in a browser that shows nothing.
fn headless(browser: &Path, page: &Path, width: u32) -> Output {
    let profile = tempfile::tempdir().unwrap();
    Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--disable-component-update",
            "--disable-sync",
            "--disable-extensions",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={width},1000"))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap()
}

/// An attribute of the page's root element.
pub fn attribute<'a>(dom: &'a str, name: &str) -> Option<&'a str> {
    let root = dom.split_once("<html")?.1.split_once('>')?.0;
    root.split_once(&format!("{name}=\""))?.1.split_once('"').map(|x| x.0)
}

/// What each chart says it has drawn, and the marks that are there.
pub fn charts(dom: &str) -> BTreeMap<String, (String, usize)> {
    let mut result = BTreeMap::new();
    for part in dom.split("data-chart=\"").skip(1) {
        let (name, rest) = part.split_once('"').unwrap();
        let drawn = rest.split_once("data-drawn=\"").unwrap().1.split_once('"').unwrap().0;
        result.insert(name.to_string(), (drawn.to_string(), rest.matches("class=\"mark").count()));
    }
    result
}
