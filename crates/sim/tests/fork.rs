//! A process that was forked off by one that has run launches has none of its threads, and runs launches all the same.

#![cfg(unix)]

use std::time::{Duration, Instant};

use heddle_sim::{DeviceMemory, Jit, Launch, Options, Program, Simulation};
use heddle_target::Machine;

const KERNEL: &str = concat!(
    r#".object {"version":1,"machine":"heddle","clusters":2,"kernels":[],"data_relocations":[],"data_align":1}"#,
    "\n",
    r#".kernel {"name":"k","text_offset":0,"text_size":0,"local_bytes":0,"private_bytes":0,"args":[],"#,
    r#""main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0],"#,
    r#""scalar_registers":1,"predicate_registers":0,"required_work_group":null,"warp_size":32}"#,
    "\n  mov.b32 s0, 2000\nL0:\n  sub.b32 s0, s0, 1\n  bras s0, L0\n  exit\n",
);

/// Work-groups that take longer than one host thread works alone.
fn launch_groups() -> Option<u64> {
    let machine = Machine::default_machine();
    let image = heddle_object::asm::assemble(KERNEL).ok()?;
    let program = Program::from_image(&image, 0, &machine).ok()?;
    let memory = DeviceMemory::new(1 << 20);
    let launch = Launch::new(&program, [64 * 64, 1, 1], [64, 1, 1]);
    let options = Options { jit: Jit::Never, threads: 4, ..Options::default() };
    Simulation::new(&launch, &memory, &machine, &options).functional().ok().map(|s| s.work_groups)
}

/// Forks; returns whether the child's launch has ended well before its time.
fn child_launches(depth: u32) -> bool {
    // SAFETY: the child calls nothing that another thread of this process could have locked: its only other threads are those
    // that launches keep.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let good = launch_groups() == Some(64) && (depth == 0 || child_launches(depth - 1));
        // SAFETY: ends the child without what the test's harness would do at its end.
        unsafe { libc::_exit(i32::from(!good)) };
    }
    assert!(child > 0, "{}", std::io::Error::last_os_error());
    let deadline = Instant::now() + Duration::from_secs(300);
    let mut status = 0;
    loop {
        // SAFETY: waits for the child that was made above.
        match unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } {
            0 if Instant::now() > deadline => {
                // SAFETY: as above; the child has not been waited for, so that the number is still its own.
                unsafe {
                    libc::kill(child, libc::SIGKILL);
                    libc::waitpid(child, &raw mut status, 0);
                }
                return false;
            }
            0 => std::thread::sleep(Duration::from_millis(5)),
            _ => return libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        }
    }
}

#[test]
fn forked_processes_launch() {
    assert_eq!(launch_groups(), Some(64));
    assert!(child_launches(1), "a launch of a forked process did not end");
    // Those of this process are still there.
    assert_eq!(launch_groups(), Some(64));
}
