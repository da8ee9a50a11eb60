//! Reads of images: the same cycles, counts and bytes whether the levels that all SMs share answer at once or later.

use heddle_sim::hierarchy::Hierarchy;
use heddle_sim::image::Image;
use heddle_sim::statistics::TimingStatistics;
use heddle_sim::{Descriptor, DeviceMemory, Launch, Options, Program, Simulation};

const HEADER: &str = r#".object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}
.kernel {"name":"k","text_offset":0,"text_size":0,"args":[{"name":"b","type_name":"int*","kind":"global","offset":16,"size":8,"align":8},{"name":"in","type_name":"image2d_t","kind":"image","offset":32,"size":24,"align":4,"access":"read_only"}],"local_bytes":0,"private_bytes":0,"main_registers":24,"fixed_registers":24,"shared_demand":0,"surfaces":[{"argument":1,"kind":"typed-image","strides":["0","0","0"],"base":"0"}],"local_registers":[0,0,0,0],"scalar_registers":8,"predicate_registers":2,"required_work_group":null,"warp_size":32}
"#;

/// Each work-item reads four texels around a place by a generator of its own, so that a warp's texels take several accesses,
/// and then one channel of a texel near its neighbours'. What held sampler and coordinates is overwritten while the texels are on
/// their way.
const BODY: &str = "  mul.b32 m4, gid.x, 1640531527
  mov.b32 m5, 0
  mov.b32 s1, 0
LOOP:
  mul.b32 m4, m4, 1664525
  add.b32 m4, m4, 1013904223
  shr.u32 m1, m4, 25
  cvt.f32.u32 m8, m1
  shr.u32 m1, m4, 11
  and.b32 m1, m1, 127
  cvt.f32.u32 m9, m1
  mov.b32 s0, 34
  c3 sample.f32 m[12:15], s0, m[8:11], 256
  mov.b32 m8, gid.x
  mov.b32 m9, s1
  mov.b32 s0, 36
  c3 sample.f32 m17, s0, m[8:9], 21248
  mov.b32 m8, 77
  mov.b32 m9, 78
  mov.b32 s0, 0
  add.b32 m5, m5, m12
  xor.b32 m5, m5, m15
  add.b32 m5, m5, m17
  add.b32 s1, s1, 1
  cmp.lt.u32 s3, s1, 5
  bras s3, LOOP
  shl.b32 m7, gid.x, 2
  c3 st.global.b32 [c[0x10] + u32 m7], m5
  exit
";

const ITEMS: u32 = 1024;

/// What the work-items store, and the statistics.
fn execute(more: &[&str], options: &Options) -> (Vec<u8>, TimingStatistics) {
    let small = ["sm.count=4", "memory.uniform.bytes=2048", "memory.uniform.ways=4", "memory.l15.bytes=8192"];
    let set: Vec<String> = small.iter().chain(more).map(ToString::to_string).collect();
    let machine = heddle_target::testing::mixed(&set);
    let image = heddle_object::asm::assemble(&format!("{HEADER}{BODY}")).unwrap_or_else(|e| panic!("{e}"));
    let program = Program::from_image(&image, image.kernel("k").unwrap(), &machine).unwrap();
    let mut memory = DeviceMemory::new(1 << 20);
    let texels = memory.allocate("image", 1 << 16).unwrap();
    let out = memory.allocate("b", u64::from(4 * ITEMS)).unwrap();
    let bytes: Vec<u8> = (0..1u32 << 14).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()).collect();
    assert!(memory.write(texels, &bytes));
    let mut launch = Launch::new(&program, [ITEMS, 1, 1], [64, 1, 1]);
    launch.set_argument(16, &out.to_le_bytes());
    launch.descriptors.push(Descriptor {
        start: texels,
        bounds: (texels, texels + (1 << 16)),
        name: "image".into(),
        image: Some(Image {
            dimensions: 2,
            array: false,
            size: [128, 128, 1],
            layers: 1,
            format: "RGBA_UNORM8".parse().unwrap(),
        }),
        ..Descriptor::default()
    });
    let mut hierarchy = Hierarchy::new(&machine);
    let statistics = Simulation::new(&launch, &memory, &machine, options).timing(&mut hierarchy).unwrap();
    (memory.read(out, 4 * ITEMS as usize).unwrap(), statistics.timing.unwrap())
}

#[test]
fn late_texels_cost_what_texels_at_once_do() {
    let policies: [&[&str]; 4] =
        [&[], &["memory.uniform.merges=1"], &["memory.tlb.entries=16"], &["memory.dram.scheduler=fr-fcfs"]];
    for more in policies {
        let (bytes, turns) = execute(more, &Options { in_turns: true, ..Options::default() });
        assert!(bytes.chunks(4).any(|word| word != &bytes[..4]), "they read different texels");
        assert!(turns.hierarchy.uniform.misses > 1000, "texels come late");
        for threads in [1, 2, 4] {
            let (same, many) = execute(more, &Options { threads, ..Options::default() });
            assert_eq!(
                (turns.cycles, &turns.hierarchy, &turns.stalls, &turns.profile),
                (many.cycles, &many.hierarchy, &many.stalls, &many.profile),
                "{more:?}, {threads} threads"
            );
            assert_eq!(bytes, same, "{more:?}, {threads} threads");
        }
    }
}
