//! Heddle as a library: `cargo run --release --example saxpy`.
//!
//! Compiles one kernel with and without register renaming, runs both on the default machine and compares results and cost.

use heddle::codegen::Rename;
use heddle::driver::CompileOptions;
use heddle::{Device, NdRange, Program};

const SOURCE: &str = "
__kernel void saxpy(__global const float *x, __global float *y, float a) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}";

fn main() -> Result<(), heddle::Error> {
    let n = 1 << 14;
    let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
    for (name, rename) in [("with renaming", Rename::Auto), ("without renaming", Rename::Never)] {
        let mut device = Device::default();
        let mut options = CompileOptions::default();
        options.codegen.rename = rename;
        let program = Program::compile_with(&device, SOURCE, &options)?;
        let (x, y) = (device.buffer(&values)?, device.buffer(&vec![1.0f32; n])?);
        let range = NdRange::new(&[n as u64]).local(&[256]);
        let statistics = program.kernel("saxpy")?.launch(&mut device, range, &[&x, &y, &2.0f32])?;
        assert_eq!(device.read(&y)?[100], 201.0);
        let energy: f64 = statistics.energy_pj.values().sum();
        println!(
            "{name}: {} warp instructions, {} cycles, {:.2} µJ",
            statistics.instructions,
            statistics.cycles().unwrap_or(0),
            energy / 1e6
        );
    }
    Ok(())
}
