//! Work on many items, one per core at a time, and how far it came.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// The cores that work is spread over.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Applies `work` to all items, one per core at a time, and keeps their order.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let (next, progress) = (AtomicUsize::new(0), Progress::new(items.len()));
    let results: Vec<Mutex<Option<Result<R>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..cores() {
            scope.spawn(|| {
                while let Some(i) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < items.len()) {
                    let result = work(&items[i]);
                    *results[i].lock().unwrap_or_else(|e| e.into_inner()) = Some(result);
                    progress.step();
                }
            });
        }
    });
    let taken = results.into_iter().map(|r| r.into_inner().unwrap_or_else(|e| e.into_inner()));
    taken.map(|r| r.unwrap_or_else(|| bail!("a worker stopped"))).collect()
}

/// Says on standard error how far long work came: on a terminal in one line, else from time to
/// time.
pub struct Progress {
    /// None where it is not known.
    total: Option<usize>,
    state: Mutex<(usize, Instant)>,
}

impl Progress {
    /// None of so many is done.
    pub fn new(total: usize) -> Progress {
        Progress { total: Some(total), state: Mutex::new((0, Instant::now())) }
    }

    /// None is done of a number that is not known.
    pub fn open() -> Progress {
        Progress { total: None, state: Mutex::new((0, Instant::now())) }
    }

    /// One more is done.
    pub fn step(&self) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.0 += 1;
        self.show(&mut state);
    }

    /// So many are done.
    pub fn at(&self, done: usize) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.0 = done;
        self.show(&mut state);
    }

    fn show(&self, state: &mut (usize, Instant)) {
        let (done, terminal) = (state.0, std::io::stderr().is_terminal());
        let every = Duration::from_millis(if terminal { 100 } else { 20_000 });
        if state.1.elapsed() >= every {
            let of = self.total.map_or(" done".to_string(), |total| format!(" of {total}"));
            eprint!("{}  {done}{of}{}", if terminal { "\r" } else { "" }, if terminal { "" } else { "\n" });
            state.1 = Instant::now();
        }
        if self.total == Some(done) && terminal {
            eprint!("\r                    \r");
        }
    }
}
