//! Work of a process that was forked off is done, although the threads of its parent do not exist there.

#![cfg(unix)]

use std::time::{Duration, Instant};

fn sum() -> u64 {
    heddle_threads::map((0..1000u64).collect(), |x| 2 * x).into_iter().sum()
}

#[test]
fn forked_processes_have_threads_of_their_own() {
    assert_eq!(sum(), 999_000);
    // SAFETY: the child calls nothing that another thread of this process could have locked.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let good = sum() == 999_000 && heddle_threads::pool(3).is_some_and(|p| p.install(|| true));
        // SAFETY: ends the child without what the test's harness would do at its end.
        unsafe { libc::_exit(i32::from(!good)) };
    }
    assert!(child > 0, "{}", std::io::Error::last_os_error());
    let deadline = Instant::now() + Duration::from_secs(300);
    let mut status = 0;
    // SAFETY: waits for the child that was made above.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if Instant::now() > deadline {
            // SAFETY: the child has not been waited for, so that the number is still its own.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "the child ended with {status:#x}");
    assert_eq!(sum(), 999_000);
}
