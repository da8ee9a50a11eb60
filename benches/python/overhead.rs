//! What a launch costs through the library: the median of many, for `overhead.py`, which does the same from Python.

use std::time::Instant;

use heddle::{Device, Error, Machine, Mode, NdRange, Program};

fn main() -> Result<(), Error> {
    for mode in [Mode::Functional, Mode::Timing] {
        let mut device = Device::new(Machine::default_machine()).with_mode(mode);
        let program = Program::compile(&device, "kernel void one(global float *a, float f) { *a = f; }")?;
        let kernel = program.kernel("one")?;
        let a = device.zeros::<f32>(64)?;
        let mut times = Vec::new();
        for _ in 0..2000 {
            let started = Instant::now();
            kernel.launch(&mut device, NdRange::new(&[1]).local(&[1]), &[&a, &2.0f32])?;
            times.push(started.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let name = if mode == Mode::Timing { "timing" } else { "functional" };
        println!("{name} {:.1}", times[times.len() / 2] * 1e6);
    }
    Ok(())
}
