//! Random well-defined OpenCL C kernels.
//!
//! A program is a tree of statements over variables that are all declared and initialised at its start, so that any statement can be removed and the
//! rest still compiles: that is what the reducer needs. Nothing in it is undefined or unspecified: signed arithmetic goes through unsigned types, shift
//! amounts and indices are masked, divisors are odd and positive, barriers stand in uniform control flow, work-items exchange data only across
//! barriers, and atomics whose order could matter have cells of their own, as has every work-item. The idea is Csmith's (Yang et al., PLDI 2011) and CLsmith's (Lidbury et
//! al., PLDI 2015).

mod expressions;

use std::fmt::Write as _;

use rand::prelude::*;
use rand_pcg::Pcg64Mcg;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// Text of one or more whole statements.
    Line(String),
    /// Bodies with their heads (`if (…)`, `else`, `for (…)`, `case 1:`, `do … while (…);`).
    Blocks(Vec<(String, Vec<Stmt>)>),
}

/// A kernel with its launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Types, program-scope constants and the functions it calls.
    pub prologue: String,
    /// Declarations at the start of the kernel.
    pub declarations: Vec<String>,
    /// Statements.
    pub body: Vec<Stmt>,
    /// What the kernel writes at its end.
    pub epilogue: String,
    /// Work-items and work-group size in each dimension.
    pub global: Vec<u64>,
    /// Work-group size.
    pub local: Vec<u64>,
    /// Seed of the input buffer.
    pub seed: u64,
}

/// Elements of the input buffer, besides one for each work-item.
pub const INPUTS: u64 = 64;
/// Cells that atomics change: eight for each of six operations.
pub const CELLS: u64 = 48;
/// The same of 64 bits: eight for each of three operations.
pub const WIDE_CELLS: u64 = 24;
/// Bytes of `struct N`.
pub const STRUCT_N: usize = 72;
/// Bytes of `struct P`.
pub const STRUCT_P: usize = 28;

impl Program {
    /// OpenCL C text of the kernel `k`, with arguments as [`case_json`](crate::case_json) gives them.
    pub fn text(&self) -> String {
        let mut s = self.prologue.clone();
        s += "__kernel void k(__global const uint *in, __global uint *out, __global uint *cells, __global ulong *wide, __global short *narrow, uint n, struct N whole, struct P tight) {\n";
        self.declarations.iter().for_each(|d| s += &format!("  {d}\n"));
        write_statements(&self.body, 1, &mut s);
        s += &self.epilogue;
        s += "}\n";
        s
    }

    /// Statements, nested ones included.
    pub fn size(&self) -> usize {
        fn count(body: &[Stmt]) -> usize {
            body.iter()
                .map(|s| match s {
                    Stmt::Line(_) => 1,
                    Stmt::Blocks(b) => 1 + b.iter().map(|(_, body)| count(body)).sum::<usize>(),
                })
                .sum()
        }
        count(&self.body)
    }

    /// Whether all work-groups are of the same size.
    pub fn has_whole_groups(&self) -> bool {
        self.global.iter().zip(&self.local).all(|(g, l)| g.is_multiple_of(*l))
    }

    /// The program with global sizes rounded up, so that all work-groups are of the same size.
    pub fn with_whole_groups(&self) -> Program {
        let global = self.global.iter().zip(&self.local).map(|(g, l)| g.next_multiple_of(*l)).collect();
        Program { global, ..self.clone() }
    }

    /// The bytes of the structures that it takes by value, `struct N` and `struct P`.
    pub fn structures(&self) -> [Vec<u8>; 2] {
        let mut random = Pcg64Mcg::seed_from_u64(!self.seed);
        [STRUCT_N, STRUCT_P].map(|bytes| (0..bytes).map(|_| random.random()).collect())
    }

    /// Work-items.
    pub fn items(&self) -> u64 {
        self.global.iter().product()
    }
}

fn write_statements(body: &[Stmt], depth: usize, s: &mut String) {
    let indent = "  ".repeat(depth);
    for statement in body {
        match statement {
            Stmt::Line(text) => text.lines().for_each(|l| *s += &format!("{indent}{l}\n")),
            Stmt::Blocks(blocks) => {
                for (head, body) in blocks {
                    let (head, tail) =
                        head.split_once(" … ").map_or((head.as_str(), String::new()), |(h, t)| (h, format!(" {t}")));
                    *s += &format!("{indent}{head} {{\n");
                    write_statements(body, depth + 1, s);
                    *s += &format!("{indent}}}{tail}\n");
                }
            }
        }
    }
}

/// An integer type: bits, signedness, vector elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ty {
    bits: u32,
    signed: bool,
    lanes: u32,
}

impl Ty {
    const UINT: Ty = Ty { bits: 32, signed: false, lanes: 1 };

    fn name(self) -> String {
        let base = match self.bits {
            8 => "char",
            16 => "short",
            32 => "int",
            _ => "long",
        };
        let lanes = if self.lanes == 1 { String::new() } else { self.lanes.to_string() };
        format!("{}{base}{lanes}", if self.signed { "" } else { "u" })
    }
    fn unsigned(self) -> Ty {
        Ty { signed: false, ..self }
    }
    fn scalar(self) -> Ty {
        Ty { lanes: 1, ..self }
    }
}

/// Types, constants and functions that all programs have.
const PROLOGUE: &str = "\
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
struct S { uint x; short y; ulong z; uchar w[4]; };
struct N { char tag; struct S in[2]; short4 v; long z; };
struct __attribute__((packed)) P { char c; uint x; short h[2]; ulong z; uchar w[3]; long last; };
__constant uint table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant long table64[4] = {-1, 0x123456789abcdef, 42, -0x7000000000000000};
__constant char4 bytes[5] = {(char4)(1, 2, 3, 4), (char4)(-1, -2, -3, -4), (char4)(100, 0, 7, 9), (char4)(5), (char4)(-128, 127, 0, 1)};
uint mix(uint a, uint b) { return (a ^ b >> 7) * 2654435761u; }
struct S turn(struct S s, uint k) { s.x ^= k; s.w[k & 3] += (uchar)s.y; s.z = s.z << 9 | s.z >> 55; return s; }
void bump(uint *p, uint v) { *p = *p * 3 + v; }
ulong total(const struct N *p) {
  ulong t = (ulong)p->tag + (ulong)p->z * 7 + (ulong)p->v.s0 + (ulong)p->v.s3 * 11;
  for (int i = 0; i < 2; i++) t = t * 31 + p->in[i].x + p->in[i].z + p->in[i].w[i] + (ulong)p->in[i].y;
  return t;
}
";

/// Work-group functions for implementations without them, by way of work-group memory.
const COLLECTIVES: &str = "\
#ifdef NO_COLLECTIVES
#define GROUP(T, NAME, START, EXPRESSION) __attribute__((overloadable)) T group_##NAME(T x, __local ulong *s, int mode) { \\
    uint lid = get_local_linear_id(), size = get_local_size(0) * get_local_size(1) * get_local_size(2); \\
    barrier(CLK_LOCAL_MEM_FENCE); s[lid] = (ulong)x; barrier(CLK_LOCAL_MEM_FENCE); \\
    uint end = mode == 0 ? size : lid + (mode == 1); T a = START; \\
    for (uint i = 0; i < end; i++) { T b = (T)s[i]; a = EXPRESSION; } \\
    barrier(CLK_LOCAL_MEM_FENCE); return a; }
#define GROUPS(T, LOW, HIGH) GROUP(T, add, 0, (T)((ulong)a + (ulong)b)) GROUP(T, min, HIGH, min(a, b)) GROUP(T, max, LOW, max(a, b))
GROUPS(int, INT_MIN, INT_MAX) GROUPS(uint, 0, UINT_MAX) GROUPS(long, LONG_MIN, LONG_MAX) GROUPS(ulong, 0, ULONG_MAX)
#define work_group_reduce_add(x) group_add(x, scratch, 0)
#define work_group_reduce_min(x) group_min(x, scratch, 0)
#define work_group_reduce_max(x) group_max(x, scratch, 0)
#define work_group_scan_inclusive_add(x) group_add(x, scratch, 1)
#define work_group_scan_inclusive_min(x) group_min(x, scratch, 1)
#define work_group_scan_inclusive_max(x) group_max(x, scratch, 1)
#define work_group_scan_exclusive_add(x) group_add(x, scratch, 2)
#define work_group_scan_exclusive_min(x) group_min(x, scratch, 2)
#define work_group_scan_exclusive_max(x) group_max(x, scratch, 2)
#define work_group_any(x) group_max((int)((x) != 0), scratch, 0)
#define work_group_all(x) group_min((int)((x) != 0), scratch, 0)
#endif
";

/// Operations on cells in work-group memory; each has two.
const LOCAL_OPERATIONS: [&str; 8] = ["add", "sub", "xor", "min", "max", "or", "and", "inc"];

/// Statements on structures.
const STRUCTS: &[&str] = &[
    "s = t;",
    "t = s;",
    "t.w[s.x & 3] = (uchar)s.z;",
    "s.w[2] += t.w[0];",
    "s = turn(t, s.x);",
    "u.in[gid & 1] = turn(s, n);",
    "s = u.in[1];",
    "u.v = u.v.s1302;",
    "s.z += total(&u);",
    "u.z = (long)s.z; u.tag = (char)t.x;",
    "u = whole;",
    "s = turn(whole.in[gid & 1], tight.x); s.z += total(&whole);",
    "{ struct P other = tight; other.h[n & 1] = (short)gid; t.x ^= other.x; t.z += (ulong)other.h[gid & 1] + other.w[2]; }",
    "{ struct N other = u; other.in[n & 1].x = gid; t = other.in[0]; }",
];

struct Variable {
    name: String,
    ty: Ty,
}

struct Generator {
    random: Pcg64Mcg,
    variables: Vec<Variable>,
    loops: u32,
    /// Counters of `do` loops.
    counters: u32,
    /// Statements that may still be made.
    budget: i32,
    /// Work-items meet: barriers, work-group memory, work-group functions. Otherwise they may end early.
    barriers: bool,
    dims: usize,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Place {
    /// All work-items of the group come here.
    uniform: bool,
    /// `break` and `continue` are allowed.
    in_loop: bool,
    depth: u32,
}

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut random = Pcg64Mcg::seed_from_u64(seed ^ 0x6865_6464_6c65);
    let dims = *[1, 1, 1, 2, 2, 3].choose(&mut random).unwrap_or(&1);
    let (mut global, mut local) = (Vec::new(), Vec::new());
    for _ in 0..dims {
        let l = random.random_range(1..=[72u64, 9, 4][dims - 1]);
        let groups = random.random_range(1..=[6u64, 3, 2][dims - 1]);
        // Sometimes the last work-group is smaller.
        let cut = if random.random_bool(0.3) { random.random_range(0..l) } else { 0 };
        local.push(l);
        global.push((l * groups - cut).max(1));
    }
    let barriers = random.random_bool(0.7);
    let mut g = Generator { random, variables: Vec::new(), loops: 0, counters: 0, budget: 0, barriers, dims };
    g.budget = g.random.random_range(6..40);
    let by_hand = [0, 1, 2].map(|d| hand_made_id(d, &mut g));
    let mut declarations = vec![
        "uint gid = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);"
            .to_string(),
        format!("uint hand = ({} * get_global_size(1) + {}) * get_global_size(0) + {};", by_hand[2], by_hand[1], by_hand[0]),
        "uint lid = get_local_linear_id(), size = get_local_size(0) * get_local_size(1) * get_local_size(2);".to_string(),
        "uint a[8] = {1, 2, 3, 4, gid, 6, 7, n};".to_string(),
        "struct S s = {1, 2, 3, {4, 5, 6, 7}}, t = {gid, 0, 1, {n, 1, 2, 3}};".to_string(),
        "struct N u = {1, {s, t}, (short4)(1, 2, 3, (short)gid), -5};".to_string(),
        "float f0 = (float)(gid & 255), f1 = 2.5f; double d0 = 0.25;".to_string(),
    ];
    g.variables.push(Variable { name: "gid".into(), ty: Ty::UINT });
    g.variables.push(Variable { name: "n".into(), ty: Ty::UINT });
    for i in 0..g.random.random_range(4..10) {
        let ty = g.ty(if i < 2 { Some(1) } else { None });
        let start = g.expr(ty, 1);
        declarations.push(format!("{} v{i} = {start};", ty.name()));
        g.variables.push(Variable { name: format!("v{i}"), ty });
    }
    if g.barriers {
        declarations.push("__local uint shared[128];".into());
        declarations.push("__local ulong scratch[128];".into());
        declarations.push("__local short small[128];".into());
        declarations.push(format!("__local uint tally[{}];", 2 * LOCAL_OPERATIONS.len()));
        declarations.push(format!("for (uint i = lid; i < {}; i += size) tally[i] = i * 77;", 2 * LOCAL_OPERATIONS.len()));
        declarations.push("shared[lid] = gid; scratch[lid] = gid; small[lid] = (short)gid; barrier(CLK_LOCAL_MEM_FENCE);".into());
    }
    let mut body = Vec::new();
    while g.budget > 0 {
        body.push(g.statement(Place { uniform: true, in_loop: false, depth: 0 }));
    }
    for i in 0..g.counters {
        declarations.push(format!("uint c{i} = 0;"));
    }
    let mut epilogue = String::from("  ulong hash = 17;\n");
    if g.barriers {
        let _ = writeln!(epilogue, "  barrier(CLK_LOCAL_MEM_FENCE);\n  hash += tally[lid % {}];", 2 * LOCAL_OPERATIONS.len());
    }
    for v in g.variables.iter().skip(2) {
        for lane in 0..v.ty.lanes {
            let part = if v.ty.lanes == 1 { String::new() } else { format!(".s{lane:x}") };
            let _ = writeln!(epilogue, "  hash = hash * 31 + (ulong){}{part};", v.name);
        }
    }
    epilogue += "  for (int i = 0; i < 8; i++) hash = hash * 31 + a[i];\n";
    epilogue += "  hash = hash * 31 + s.x + (ulong)s.y + s.z + s.w[0] + s.w[3] + t.x * 3 + (ulong)t.y + t.z + t.w[1];\n";
    epilogue += "  hash = hash * 31 + total(&u) + as_uint(f0) + as_uint(f1) * 3 + as_ulong(d0) * 5;\n";
    epilogue += "  out[gid] = (uint)(hash ^ hash >> 32);\n";
    let prologue = if g.barriers { format!("{PROLOGUE}{COLLECTIVES}") } else { PROLOGUE.to_string() };
    Program { prologue, declarations, body, epilogue, global, local, seed }
}

/// A global id as programs make it of work-group and local ids; in a smaller last work-group it is another
/// one, but below the global size.
fn hand_made_id(d: u32, g: &mut Generator) -> String {
    g.pick(&[
        "(get_group_id(D) * get_local_size(D) + get_local_id(D))",
        "((uint)get_local_id(D) + (uint)get_local_size(D) * (uint)get_group_id(D))",
        "(uint)((int)get_group_id(D) * (int)get_local_size(D) + (int)get_local_id(D))",
        "(get_local_id(D) + n + get_local_size(D) * get_group_id(D) - n)",
    ])
    .replace('D', &d.to_string())
}

impl Generator {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.random_range(0..from.len())]
    }

    fn ty(&mut self, lanes: Option<u32>) -> Ty {
        let bits = [8, 16, 32, 32, 32, 64][self.random.random_range(0..6)];
        let lanes = lanes.unwrap_or_else(|| [1, 1, 1, 1, 2, 3, 4, 8, 16][self.random.random_range(0..9)]);
        Ty { bits, signed: self.random.random_bool(0.5), lanes }
    }

    fn body(&mut self, place: Place) -> Vec<Stmt> {
        let count = self.random.random_range(1..4);
        (0..count).map(|_| self.statement(place)).collect()
    }

    fn condition(&mut self, place: Place) -> (String, bool) {
        // A condition on arguments is uniform.
        if place.uniform && self.random.random_bool(0.3) {
            return (format!("(n & {}) == 0", self.random.random_range(0..4)), true);
        }
        let compare = |g: &mut Self| {
            if g.random.random_bool(0.15) {
                let (a, b) = (g.float(1, false, 2), g.float(1, false, 2));
                return format!("{a} {} {b}", g.pick(&["<", "<=", ">", ">=", "==", "!="]));
            }
            let ty = g.ty(Some(1));
            let (a, b) = (g.expr(ty, 1), g.expr(ty, 1));
            format!("{a} {} {b}", g.pick(&["<", "<=", ">", ">=", "==", "!="]))
        };
        let mut text = compare(self);
        while self.random.random_bool(0.2) {
            let (op, other) = (self.pick(&["&&", "||"]), compare(self));
            text = format!("({text}) {op} ({other})");
        }
        if place.uniform && self.barriers && self.random.random_bool(0.1) {
            return (format!("{}({text})", self.pick(&["work_group_any", "work_group_all"])), true);
        }
        (text, false)
    }

    fn statement(&mut self, place: Place) -> Stmt {
        self.budget -= 1;
        let deeper = Place { depth: place.depth + 1, ..place };
        let choice = self.random.random_range(0..100);
        if place.depth >= 4 || self.budget <= 0 || choice < 45 {
            return self.assignment();
        }
        match choice {
            45..60 => {
                let (c, uniform) = self.condition(place);
                let inside = Place { uniform: place.uniform && uniform, ..deeper };
                let mut blocks = vec![(format!("if ({c})"), self.body(inside))];
                if self.random.random_bool(0.5) {
                    blocks.push(("else".into(), self.body(inside)));
                }
                Stmt::Blocks(blocks)
            }
            60..64 => {
                let name = format!("c{}", self.counters);
                self.counters += 1;
                let uniform = place.uniform && self.random.random_bool(0.5);
                // The counter has a value at the start that depends on how often the loop ran; it ends at a multiple of 4 at the latest.
                let limit = if uniform { "3".into() } else { format!("({} & 3)", self.expr(Ty::UINT, 1)) };
                let inside = Place { uniform, in_loop: !uniform, ..deeper };
                Stmt::Blocks(vec![(format!("do … while (++{name} & {limit});"), self.body(inside))])
            }
            64..66 => {
                // The only way out is in the middle, behind a `continue` that only some work-items take.
                let name = format!("i{}", self.loops);
                self.loops += 1;
                let inside = Place { uniform: false, in_loop: false, ..deeper };
                self.variables.push(Variable { name: name.clone(), ty: Ty::UINT });
                let mut body = self.body(inside);
                let (early, _) = self.condition(inside);
                body.push(Stmt::Line(format!("if (({early}) && {name} < limit{name}) continue;")));
                body.extend(self.body(inside));
                let (late, _) = self.condition(inside);
                body.push(Stmt::Line(format!("if ({name} >= limit{name} || ({late})) break;")));
                self.variables.retain(|v| v.name != name);
                let head = format!("for (uint {name} = 0, limit{name} = ({} & 7);; {name}++)", self.expr(Ty::UINT, 1));
                Stmt::Blocks(vec![(head, body)])
            }
            66..72 => {
                let name = format!("i{}", self.loops);
                self.loops += 1;
                let uniform = place.uniform && self.random.random_bool(0.5);
                let (limit, inside) = if uniform {
                    // No way out of it, so that barriers may stand in it.
                    let limit = if self.random.random_bool(0.5) { "3".into() } else { "(n & 3) + 1".to_string() };
                    (limit, Place { in_loop: false, ..deeper })
                } else {
                    (format!("({} & 7)", self.expr(Ty::UINT, 1)), Place { uniform: false, in_loop: true, ..deeper })
                };
                let head = format!("for (uint {name} = 0, limit{name} = {limit}; {name} < limit{name}; {name}++)");
                self.variables.push(Variable { name: name.clone(), ty: Ty::UINT });
                let body = self.body(inside);
                self.variables.retain(|v| v.name != name);
                Stmt::Blocks(vec![(head, body)])
            }
            72..77 => {
                let e = self.expr(Ty::UINT, 1);
                let inside = Place { uniform: false, in_loop: false, ..deeper };
                let mut cases = Vec::new();
                let sparse = self.random.random_bool(0.3);
                for i in 0..self.random.random_range(1..4usize) {
                    let i = if sparse { [-100, 7, 40][i] } else { i as i32 };
                    let mut body = self.body(inside);
                    if self.random.random_bool(0.8) {
                        body.push(Stmt::Line("break;".into()));
                    }
                    cases.push((format!("case {i}:"), body));
                }
                cases.push(("default:".into(), self.body(inside)));
                let e = if sparse { format!("(char)({e})") } else { format!("{e} & 3") };
                Stmt::Blocks(vec![(format!("switch ({e})"), vec![Stmt::Blocks(cases)])])
            }
            77..82 if place.in_loop => {
                let (c, _) = self.condition(place);
                let what = self.pick(&["break;", "continue;"]);
                Stmt::Blocks(vec![(format!("if ({c})"), vec![Stmt::Line(what.into())])])
            }
            77..79 if !self.barriers && place.depth > 0 => {
                let (c, _) = self.condition(place);
                let value = self.expr(Ty::UINT, 1);
                Stmt::Blocks(vec![(format!("if ({c})"), vec![Stmt::Line(format!("out[gid] = {value}; return;"))])])
            }
            82..92 if place.uniform && self.barriers => self.meeting(),
            92..96 => self.atomic(),
            96..98 => Stmt::Line(self.pick(STRUCTS).into()),
            _ => self.assignment(),
        }
    }

    /// Work-items exchange values: all of the group come here.
    fn meeting(&mut self) -> Stmt {
        let (to, to_type) = self.scalar_target();
        let index = self.expr(Ty::UINT, 1);
        let text = match self.random.random_range(0..8) {
            0..3 => {
                let (array, bits, signed) =
                    [("shared", 32, false), ("small", 16, true), ("scratch", 64, false)][self.random.random_range(0..3)];
                let value = self.expr(Ty { bits, signed, lanes: 1 }, 1);
                format!(
                    "barrier(CLK_LOCAL_MEM_FENCE);\n{array}[lid] = {value};\nbarrier(CLK_LOCAL_MEM_FENCE);\n{to} = ({to_type}){array}[({index}) % size];"
                )
            }
            3 => {
                let cells = 2 * LOCAL_OPERATIONS.len();
                format!(
                    "barrier(CLK_LOCAL_MEM_FENCE);\n{to} = ({to_type})tally[({index}) % {cells}];\nbarrier(CLK_LOCAL_MEM_FENCE);"
                )
            }
            // In one dimension the group's global ids follow one another.
            4 if self.dims == 1 => {
                let value = self.expr(Ty::UINT, 1);
                let fence = "barrier(CLK_GLOBAL_MEM_FENCE);";
                format!("{fence}\nout[gid] = {value};\n{fence}\n{to} = ({to_type})out[gid - lid + ({index}) % size];\n{fence}")
            }
            _ => {
                let ty = Ty { bits: [32, 64][self.random.random_range(0..2)], signed: self.random.random_bool(0.5), lanes: 1 };
                let (how, what) = (self.pick(&["reduce", "scan_inclusive", "scan_exclusive"]), self.pick(&["add", "min", "max"]));
                format!("{to} = ({to_type})work_group_{how}_{what}(({})({}));", ty.name(), self.expr(ty, 2))
            }
        };
        Stmt::Line(text)
    }

    /// An atomic operation whose order does not matter, or one on a cell of the work-item's own, whose old value is used.
    fn atomic(&mut self) -> Stmt {
        const ULONG: Ty = Ty { bits: 64, signed: false, lanes: 1 };
        let (to, to_type) = self.scalar_target();
        let (index, value) = (self.expr(Ty::UINT, 1), self.expr(Ty::UINT, 1));
        let text = match self.random.random_range(0..7) {
            0 | 1 => {
                let operations = ["add", "xor", "min", "max", "or", "and"];
                let i = self.random.random_range(0..operations.len());
                format!("atomic_{}(&cells[{} + ({index} & 7)], {value});", operations[i], 8 * i)
            }
            2 | 3 if self.barriers => {
                let i = self.random.random_range(0..LOCAL_OPERATIONS.len());
                let operation = LOCAL_OPERATIONS[i];
                let value = if operation == "inc" { String::new() } else { format!(", {value}") };
                format!("atomic_{operation}(&tally[{} + ({index} & 1)]{value});", 2 * i)
            }
            4 => {
                let i = self.random.random_range(0..3usize);
                format!("atom_{}(&wide[{} + ({index} & 7)], {});", ["add", "max", "xor"][i], 8 * i, self.expr(ULONG, 1))
            }
            5 => {
                let (operation, value) = (self.pick(&["add", "xchg", "min", "or"]), self.expr(ULONG, 1));
                format!("{to} = ({to_type})atom_{operation}(&wide[{WIDE_CELLS} + gid], {value});")
            }
            _ => match self.random.random_range(0..3) {
                0 => format!("{to} = ({to_type})atomic_cmpxchg(&out[gid], {index}, {value});"),
                1 => format!("{to} = ({to_type})atomic_{}(&out[gid]);", self.pick(&["inc", "dec"])),
                _ => {
                    format!("{to} = ({to_type})atomic_{}(&out[gid], {value});", self.pick(&["add", "sub", "xchg", "max", "and"]))
                }
            },
        };
        Stmt::Line(text)
    }

    /// A scalar lvalue and its type's name.
    fn scalar_target(&mut self) -> (String, String) {
        let i = self.random.random_range(2..self.variables.len());
        let v = &self.variables[i];
        if v.name.starts_with('i') {
            return ("a[3]".into(), "uint".into());
        }
        let part = if v.ty.lanes == 1 { String::new() } else { format!(".s{:x}", self.random.random_range(0..v.ty.lanes)) };
        (format!("{}{part}", self.variables[i].name), self.variables[i].ty.scalar().name())
    }

    /// Several elements of a vector at once.
    fn swizzled(&mut self) -> String {
        let vectors: Vec<usize> = (0..self.variables.len()).filter(|i| self.variables[*i].ty.lanes > 2).collect();
        let Some(&i) = vectors.choose(&mut self.random) else { return format!("s.x += {};", self.expr(Ty::UINT, 2)) };
        let ty = self.variables[i].ty;
        let lanes = if ty.lanes > 4 { [2, 3, 4][self.random.random_range(0..3)] } else { 2 };
        let mut elements: Vec<u32> = (0..ty.lanes).collect();
        elements.shuffle(&mut self.random);
        let elements: String = elements[..lanes as usize].iter().map(|e| format!("{e:x}")).collect();
        let value = self.expr(Ty { lanes, ..ty }, 2);
        format!("{}.s{elements} = {value};", self.variables[i].name)
    }

    fn assignment(&mut self) -> Stmt {
        let text = match self.random.random_range(0..20) {
            5 => format!("{} = rint(clamp({}, -4096.0f, 4096.0f));", self.pick(&["f0", "f1"]), self.float(1, false, 3)),
            6 => format!("d0 = rint(clamp({}, -4096.0, 4096.0));", self.float(1, true, 3)),
            7 => format!("wide[{WIDE_CELLS} + gid] = {};", self.expr(Ty { bits: 64, signed: false, lanes: 1 }, 2)),
            8 => format!("narrow[gid] = {};", self.expr(Ty { bits: 16, signed: true, lanes: 1 }, 2)),
            9 => {
                let (at, value) =
                    (self.pick(&["&a[gid & 7]", "&s.x", "(n & 1) ? &t.x : &a[3]", "&u.in[lid & 1].x"]), self.expr(Ty::UINT, 1));
                format!("bump({at}, {value});")
            }
            10 => {
                let (lanes, at) = [(2, 3), (4, 1), (8, 0), (3, 1)][self.random.random_range(0..4)];
                format!("vstore{lanes}({}, {at}, a);", self.expr(Ty { lanes, ..Ty::UINT }, 2))
            }
            11 => self.swizzled(),
            0 => format!("a[{} & 7] = {};", self.expr(Ty::UINT, 1), self.expr(Ty::UINT, 2)),
            1 => format!("s.x = {};", self.expr(Ty::UINT, 2)),
            2 => format!("t.y = {};", self.expr(Ty { bits: 16, signed: true, lanes: 1 }, 2)),
            3 => format!("s.z = {};", self.expr(Ty { bits: 64, signed: false, lanes: 1 }, 2)),
            4 => {
                let (to, ty) = self.scalar_target();
                format!("{to} = ({ty}){};", self.expr(Ty::UINT, 2))
            }
            _ => {
                let writable: Vec<usize> =
                    (2..self.variables.len()).filter(|i| self.variables[*i].name.starts_with('v')).collect();
                let i = writable[self.random.random_range(0..writable.len())];
                let ty = self.variables[i].ty;
                let value = self.expr(ty, 3);
                format!("{} = {value};", self.variables[i].name)
            }
        };
        Stmt::Line(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_program() {
        for seed in 0..50 {
            let p = program(seed);
            assert_eq!(p, program(seed));
            assert!(p.size() > 0 && p.items() > 0);
            assert_eq!(p.text().matches('{').count(), p.text().matches('}').count());
        }
        assert_ne!(program(1).text(), program(2).text());
    }

    #[test]
    fn programs_use_what_they_are_to_test() {
        let all: String =
            (0..400).map(|seed| program(seed).body.iter().fold(String::new(), |s, b| s + &format!("{b:?}"))).collect();
        let types = ["char", "short", "int", "long"].iter().flat_map(|t| [t.to_string(), format!("u{t}")]);
        let vectors = types.flat_map(|t| ["2", "3", "4", "8", "16"].map(|n| format!("({t}{n})")));
        let others = [
            "if (",
            "else",
            "for (",
            ") continue;",
            "do … while",
            "switch (",
            "case -100:",
            "break;",
            "continue;",
            "return;",
            "&& ",
            "|| ",
            "barrier(CLK_LOCAL_MEM_FENCE)",
            "barrier(CLK_GLOBAL_MEM_FENCE)",
            "shared[",
            "small[",
            "scratch[",
            "tally[",
            "atomic_add(&cells",
            "atomic_cmpxchg(&out",
            "atomic_inc(&tally",
            "atom_add(&wide",
            "atom_xchg(&wide",
            "narrow[gid] =",
            "work_group_reduce_add",
            "work_group_scan_exclusive_max",
            "work_group_any",
            "turn(",
            "total(",
            "bump(",
            "struct N other",
            "fma(",
            "convert_",
            "_sat_rtz(",
            "shuffle(",
            "vload3(",
            "vstore4(",
            "upsample(",
            "bitselect(",
            "double",
        ];
        let missing: Vec<String> =
            vectors.chain(others.iter().map(ToString::to_string)).filter(|word| !all.contains(word)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
