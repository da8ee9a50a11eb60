//! What a session keeps of launches. The only test of its program, because it looks at the memory of the whole process.

#[allow(dead_code)]
mod launches;

use std::time::Instant;

use heddle::Mode;
use launches::{launch, run_first, session};

/// Bytes of the process that are in memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Of a million launches a session keeps sums, not a record for each.
#[test]
fn many_launches_take_no_memory() {
    const LAUNCHES: u32 = 1_000_000;
    let session = session(&[], None);
    let (_, image, ran) = run_first("test-kernels/saxpy/case.json", Mode::Functional, None);
    launch(&session, &image, Ok(&ran.total), 0);
    let (before, started) = (resident(), Instant::now());
    for _ in 0..LAUNCHES {
        launch(&session, &image, Ok(&ran.total), 0);
    }
    let more = resident().saturating_sub(before);
    eprintln!("{} ns a launch, {} KiB more", (started.elapsed() / LAUNCHES).as_nanos(), more >> 10);
    assert!(more < 64 << 20, "{more} bytes for {LAUNCHES} launches");
}
