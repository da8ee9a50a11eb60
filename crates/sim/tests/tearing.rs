//! Aligned accesses of up to 64 bits do not tear: work-groups on other host threads see one of the values written, however
//! the lanes' addresses lie, interpreted and translated.

use heddle_sim::{DeviceMemory, Jit, Launch, Options, Program, Simulation};
use heddle_target::Machine;

const HEAD: &str = concat!(
    r#".object {"version":1,"machine":"heddle","clusters":2,"kernels":[],"data_relocations":[],"data_align":1}"#,
    "\n",
    r#".kernel {"name":"k","text_offset":0,"text_size":0,"local_bytes":0,"private_bytes":0,"#,
    r#""args":[{"name":"a","type_name":"ulong*","kind":"global","offset":8,"size":8,"align":8}],"#,
    r#""main_registers":8,"fixed_registers":8,"shared_demand":0,"local_registers":[0,0],"#,
    r#""scalar_registers":8,"predicate_registers":0,"required_work_group":null,"warp_size":32}"#,
    "\n",
);

const GROUPS: u32 = 64;
const LANES: u32 = 32;
/// Where the work-items put what they found, behind what they share.
const FOUND: usize = 1 << 12;

/// Runs a kernel whose work-groups of odd numbers store words with equal halves to a place, and whose others `load` from
/// there; returns how many work-items have seen halves that differ.
fn torn(place: &str, load: &str, store: &str, jit: Jit) -> usize {
    let body = format!(
        "  mul.b32 m6, gid.x, 4\n  {place}\n  mov.b32 m4, 0\n  mov.b32 s1, 4000\n  and.b32 s0, group.x, 1\n  bras s0, L1\n\
         L0:\n{load}  or.b32 m4, m4, m2\n  sub.b32 s1, s1, 1\n  bras s1, L0\n  \
         st.global.b32 [c[0x8] + u32 m6 + {FOUND}], m4\n  exit\n\
         L1:\n  mov.b32 m2, 0\n  mov.b32 m3, 0\n\
         L2:\n  {store}\n  xor.b32 m2, m2, -1\n  xor.b32 m3, m3, -1\n  sub.b32 s1, s1, 1\n  bras s1, L2\n  exit\n"
    );
    let machine = Machine::load(None, &["warp-size=32".to_string()]).unwrap();
    let image = heddle_object::asm::assemble(&format!("{HEAD}{body}")).unwrap_or_else(|e| panic!("{}\n{body}", e.message));
    let program = Program::from_image(&image, 0, &machine).unwrap();
    let mut memory = DeviceMemory::new(1 << 20);
    let items = GROUPS * LANES;
    let a = memory.allocate("a", (FOUND + 4 * items as usize) as u64).unwrap();
    let mut launch = Launch::new(&program, [items, 1, 1], [LANES, 1, 1]);
    launch.set_argument(8, &a.to_le_bytes());
    let options = Options { jit, threads: 4, ..Options::default() };
    Simulation::new(&launch, &memory, &machine, &options).functional().unwrap();
    let found = memory.read(a + FOUND as u64, 4 * items as usize).unwrap();
    found.chunks(4).filter(|word| word.iter().any(|b| *b != 0)).count()
}

#[test]
fn words_of_64_bits_do_not_tear() {
    const LOAD: &str = "  ld.global.b64 m[2:3], [PLACE]\n  xor.b32 m2, m2, m3\n";
    const SCALAR: &str = "  ld.global.b64 s[2:3], [PLACE]\n  xor.b32 s2, s2, s3\n  mov.b32 m2, s2\n";
    const QUAD: &str = "  ld.global.b128 m[0:3], [PLACE]\n  xor.b32 m2, m2, m3\n  xor.b32 m0, m0, m1\n  or.b32 m2, m2, m0\n";
    let places = [
        ("mov.b32 s4, 0", "c[0x8] + u32 s4", SCALAR),
        ("mov.b32 s4, 0", "c[0x8] + u32 s4", LOAD),
        ("mov.b32 s4, 0", "c[0x8] + u32 s4", QUAD),
        ("mov.b32 m5, 0", "c[0x8] + u32 m5", LOAD),
        ("mul.b32 m5, lane, 8", "c[0x8] + u32 m5", LOAD),
        ("mul.b32 m5, lane, 16", "c[0x8] + u32 m5", QUAD),
        ("mul.b32 m5, lane, 24", "c[0x8] + u32 m5", LOAD),
    ];
    for (setup, place, load) in places {
        for jit in [Jit::Never, Jit::Always] {
            let store = format!("st.global.b64 [{place}], m[2:3]");
            let torn = torn(setup, &load.replace("PLACE", place), &store, jit);
            assert_eq!(torn, 0, "[{place}], {setup}, {load}, --jit {jit}");
        }
    }
}
