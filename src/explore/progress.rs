//! How far a long run is: a bar on a terminal, a line now and then elsewhere; both on standard error.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Progress of a run of many points.
pub struct Progress {
    bar: ProgressBar,
    lines: Option<Mutex<Instant>>,
    total: u64,
    what: &'static str,
}

impl Progress {
    /// Of `total` things.
    pub fn new(total: usize, what: &'static str) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new(total as u64) } else { ProgressBar::hidden() };
        bar.set_length(total as u64);
        if let Ok(style) = ProgressStyle::with_template("[{bar:40}] {pos}/{len} {msg}, {eta} left") {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar, lines: (!terminal).then(|| Mutex::new(Instant::now())), total: total as u64, what }
    }

    /// One more is done.
    pub fn step(&self) {
        self.bar.inc(1);
        let Some(last) = &self.lines else { return };
        let mut last = last.lock().unwrap_or_else(|e| e.into_inner());
        if last.elapsed() >= BETWEEN_LINES {
            *last = Instant::now();
            heddle_report::say!("{} of {} {}", self.bar.position(), self.total, self.what);
        }
    }

    /// A line above the bar.
    pub fn note(&self, line: &str) {
        if self.lines.is_some() {
            heddle_report::say!("{line}");
        } else {
            self.bar.println(line);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
