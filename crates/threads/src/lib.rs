//! Threads of the host, kept for whoever has work for them: one that begins takes as long as many launches do.
//!
//! Rayon's own pool is made once for a process and those forked off it, where its threads do not exist: who gives it work
//! there waits for ever. Here each process has a pool of its own, made when it is first asked for. (Python forks when
//! `multiprocessing` is told to.) Where the host makes no more threads, the caller does the work alone.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads that the host runs at once. It is asked once: the answer takes longer than many a launch.
pub fn host_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// What a process keeps.
struct Process {
    id: u32,
    pool: Mutex<Option<Arc<ThreadPool>>>,
}

/// That of this process, or, behind a fork, of the one that it was forked off.
static PROCESS: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// That of this process. A forked one makes its own, so that it never meets a lock that one of its parent's threads had at that
/// moment; what the parent kept stays as it was, since the threads that could end it do not exist.
fn this_process() -> &'static Process {
    let id = std::process::id();
    loop {
        let known = PROCESS.load(Ordering::Acquire);
        // SAFETY: what `PROCESS` has pointed to is never freed.
        if let Some(process) = unsafe { known.as_ref() }.filter(|p| p.id == id) {
            return process;
        }
        let own = Box::into_raw(Box::new(Process { id, pool: Mutex::new(None) }));
        if PROCESS.compare_exchange(known, own, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            // SAFETY: made above, and nobody else has seen it.
            drop(unsafe { Box::from_raw(own) });
        }
    }
}

/// A pool of `threads` threads at least, and of as many as the host runs at once; `None` where it cannot be made.
pub fn pool(threads: usize) -> Option<Arc<ThreadPool>> {
    let mut kept = this_process().pool.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = kept.as_ref().filter(|p| p.current_num_threads() >= threads) {
        return Some(pool.clone());
    }
    let builder = ThreadPoolBuilder::new().num_threads(threads.max(host_threads()));
    let made = builder.thread_name(|i| format!("heddle {i}")).build().ok().map(Arc::new)?;
    // Whoever uses a smaller one still has it: its threads end when that is done.
    *kept = Some(made.clone());
    Some(made)
}

/// What `f` makes of each item, in their order, side by side on this thread and on others that are kept: what this one has
/// allocated before it need not get from the system again. Items that are mapped in a thread of a pool stay in that pool.
pub fn map<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    if items.len() < 2 {
        return items.into_iter().map(f).collect();
    }
    if rayon::current_thread_index().is_some() {
        return items.into_par_iter().map(f).collect();
    }
    let Some(pool) = pool(host_threads()) else { return items.into_iter().map(f).collect() };
    let others = host_threads().min(items.len()) - 1;
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some((number, item)) = next() {
            let result = f(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        }
    };
    pool.in_place_scope(|scope| {
        (0..others).for_each(|_| scope.spawn(|_| work()));
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn a_pool_has_as_many_threads_as_are_asked_for() {
        // Fewer would wait for each other for ever.
        for threads in [1, host_threads() + 3, 2, host_threads() + 5] {
            let pool = pool(threads).unwrap();
            let (all, mut sum) = (Barrier::new(threads + 1), 0);
            pool.in_place_scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|_| _ = all.wait());
                }
                all.wait();
                sum += threads;
            });
            assert_eq!(sum, threads);
        }
    }

    #[test]
    fn items_keep_their_order() {
        let mut items: Vec<u32> = (0..100).collect();
        let inner = |i: &mut u32| {
            *i += 1;
            map(vec![*i; 3], |x| x).into_iter().sum::<u32>()
        };
        assert_eq!(map(items.iter_mut().collect(), inner), (1..=100).map(|i| 3 * i).collect::<Vec<_>>());
        assert_eq!(items, (1..=100).collect::<Vec<_>>());
        assert_eq!(map(Vec::<u32>::new(), |x| x), []);
    }
}
