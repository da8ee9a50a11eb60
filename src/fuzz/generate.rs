//! Random well-defined OpenCL C kernels.
//!
//! A program is a tree of statements over variables that are all declared and initialised at its start, so that any statement can be removed and the
//! rest still compiles: that is what the reducer needs. Nothing in it is undefined or unspecified: signed arithmetic goes through unsigned types, shift
//! amounts and indices are masked, divisors are odd and positive, barriers stand in uniform control flow, work-items exchange data only across
//! barriers, and atomics whose order could matter have cells of their own. The idea is Csmith's (Yang et al., PLDI 2011) and CLsmith's (Lidbury et
//! al., PLDI 2015).

use std::fmt::Write as _;

use rand::prelude::*;
use rand_pcg::Pcg64Mcg;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// Text of one or more whole statements.
    Line(String),
    /// Bodies with their heads (`if (…)`, `else`, `for (…)`, `case 1:` …).
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

/// Elements of the input buffer.
pub const INPUTS: u64 = 64;
/// Cells that atomics change: eight for each of six operations.
pub const CELLS: u64 = 48;

impl Program {
    /// OpenCL C text. The kernel is `k(in, out, cells, n)`.
    pub fn text(&self) -> String {
        let mut s = self.prologue.clone();
        s += "__kernel void k(__global const uint *in, __global uint *out, __global uint *cells, uint n) {\n";
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
                    *s += &format!("{indent}{head} {{\n");
                    write_statements(body, depth + 1, s);
                    *s += &format!("{indent}}}\n");
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

struct Variable {
    name: String,
    ty: Ty,
}

struct Generator {
    random: Pcg64Mcg,
    variables: Vec<Variable>,
    loops: u32,
    /// Statements that may still be made.
    budget: i32,
    barriers: bool,
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
    let mut g = Generator { random, variables: Vec::new(), loops: 0, budget: 0, barriers };
    g.budget = g.random.random_range(6..40);
    let mut declarations = vec![
        "uint gid = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);"
            .to_string(),
        "uint lid = get_local_linear_id(), size = get_local_size(0) * get_local_size(1) * get_local_size(2);".to_string(),
        "uint a[8] = {1, 2, 3, 4, gid, 6, 7, n};".to_string(),
        "struct S s = {1, 2, 3, {4, 5, 6, 7}}, t = {gid, 0, 1, {n, 1, 2, 3}};".to_string(),
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
        declarations.push("shared[lid] = gid; barrier(CLK_LOCAL_MEM_FENCE);".into());
    }
    let mut body = Vec::new();
    while g.budget > 0 {
        body.push(g.statement(Place { uniform: true, in_loop: false, depth: 0 }));
    }
    let mut epilogue = String::from("  ulong hash = 17;\n");
    for v in g.variables.iter().skip(2) {
        for lane in 0..v.ty.lanes {
            let part = if v.ty.lanes == 1 { String::new() } else { format!(".s{lane:x}") };
            let _ = writeln!(epilogue, "  hash = hash * 31 + (ulong){}{part};", v.name);
        }
    }
    epilogue += "  for (int i = 0; i < 8; i++) hash = hash * 31 + a[i];\n";
    epilogue += "  hash = hash * 31 + s.x + (ulong)s.y + s.z + s.w[0] + s.w[3] + t.x * 3 + (ulong)t.y + t.z + t.w[1];\n";
    epilogue += "  out[gid] = (uint)(hash ^ hash >> 32);\n";
    let prologue = "struct S { uint x; short y; ulong z; uchar w[4]; };\n\
        __constant uint table[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n\
        uint mix(uint a, uint b) { return (a ^ b >> 7) * 2654435761u; }\n"
        .to_string();
    Program { prologue, declarations, body, epilogue, global, local, seed }
}

impl Generator {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.random_range(0..from.len())]
    }

    fn ty(&mut self, lanes: Option<u32>) -> Ty {
        let bits = [8, 16, 32, 32, 32, 64][self.random.random_range(0..6)];
        let lanes = lanes.unwrap_or_else(|| [1, 1, 1, 2, 3, 4, 8][self.random.random_range(0..7)]);
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
        let ty = self.ty(Some(1));
        let (a, b) = (self.expr(ty, 1), self.expr(ty, 1));
        (format!("{a} {} {b}", self.pick(&["<", "<=", ">", ">=", "==", "!="])), false)
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
            60..72 => {
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
                for i in 0..self.random.random_range(1..4) {
                    let mut body = self.body(inside);
                    if self.random.random_bool(0.8) {
                        body.push(Stmt::Line("break;".into()));
                    }
                    cases.push((format!("case {i}:"), body));
                }
                cases.push(("default:".into(), self.body(inside)));
                Stmt::Blocks(vec![(format!("switch ({e} & 3)"), vec![Stmt::Blocks(cases)])])
            }
            77..82 if place.in_loop => {
                let (c, _) = self.condition(place);
                let what = self.pick(&["break;", "continue;"]);
                Stmt::Blocks(vec![(format!("if ({c})"), vec![Stmt::Line(what.into())])])
            }
            82..92 if place.uniform && self.barriers => {
                let (value, index) = (self.expr(Ty::UINT, 1), self.expr(Ty::UINT, 1));
                let to = self.scalar_target();
                Stmt::Line(format!(
                    "barrier(CLK_LOCAL_MEM_FENCE);\nshared[lid] = {value};\nbarrier(CLK_LOCAL_MEM_FENCE);\n{} = ({})shared[{index} % size];",
                    to.0, to.1
                ))
            }
            92..96 => {
                let operations = ["add", "xor", "min", "max", "or", "and"];
                let i = self.random.random_range(0..operations.len());
                let (index, value) = (self.expr(Ty::UINT, 1), self.expr(Ty::UINT, 1));
                Stmt::Line(format!("atomic_{}(&cells[{} + ({index} & 7)], {value});", operations[i], 8 * i))
            }
            96..98 => Stmt::Line(self.pick(&["s = t;", "t = s;", "t.w[s.x & 3] = (uchar)s.z;", "s.w[2] += t.w[0];"]).into()),
            _ => self.assignment(),
        }
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

    fn assignment(&mut self) -> Stmt {
        let text = match self.random.random_range(0..12) {
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

    /// A value of exactly this type.
    fn expr(&mut self, ty: Ty, depth: u32) -> String {
        if depth == 0 || self.random.random_bool(0.2) {
            return self.leaf(ty);
        }
        let name = ty.name();
        let unsigned = ty.unsigned().name();
        let d = depth - 1;
        match self.random.random_range(0..20) {
            0..7 => {
                let (a, b) = (self.expr(ty, d), self.expr(ty, d));
                let op = self.pick(&["+", "-", "*", "&", "|", "^"]);
                if ty.lanes > 1 {
                    format!("as_{name}(as_{unsigned}({a}) {op} as_{unsigned}({b}))")
                } else if ty.bits < 64 {
                    format!("({name})((uint)({a}) {op} (uint)({b}))")
                } else {
                    format!("({name})((ulong)({a}) {op} (ulong)({b}))")
                }
            }
            7 => {
                let (a, b) = (self.expr(ty, d), self.expr(ty, d));
                let mask = ty.bits - 1;
                if ty.lanes > 1 {
                    format!("as_{name}(as_{unsigned}({a}) << (as_{unsigned}({b}) & ({unsigned})({mask})))")
                } else if ty.bits < 64 {
                    format!("({name})((uint)({a}) << ((uint)({b}) & {mask}))")
                } else {
                    format!("({name})((ulong)({a}) << ((uint)({b}) & {mask}))")
                }
            }
            8 => {
                let (a, b) = (self.expr(ty, d), self.expr(ty, d));
                let mask = ty.bits - 1;
                if ty.lanes > 1 {
                    format!("(({a}) >> (({b}) & ({name})({mask})))")
                } else {
                    format!("({name})(({a}) >> ((uint)({b}) & {mask}))")
                }
            }
            9 => {
                let (a, b) = (self.expr(ty, d), self.expr(ty, d));
                let op = self.pick(&["/", "%"]);
                format!("({name})(({a}) {op} ({name})((({b}) & ({name})(63)) | ({name})(1)))")
            }
            10 => {
                let (a, b, x, y) = (self.expr(ty, d), self.expr(ty, d), self.expr(ty, d), self.expr(ty, d));
                let op = self.pick(&["<", ">=", "==", "!="]);
                if ty.lanes > 1 {
                    format!("select({x}, {y}, ({a}) {op} ({b}))")
                } else {
                    format!("({name})(({a}) {op} ({b}) ? ({x}) : ({y}))")
                }
            }
            11..15 => {
                let (a, b) = (self.expr(ty, d), self.expr(ty, d));
                let f = self.pick(&["min", "max", "add_sat", "sub_sat", "mul_hi", "hadd", "rhadd", "rotate"]);
                format!("{f}(({name})({a}), ({name})({b}))")
            }
            15 => {
                let a = self.expr(ty, d);
                let f = self.pick(&["clz", "popcount"]);
                format!("{f}(({name})({a}))")
            }
            16 => {
                let (a, b) = (self.expr(ty, d), self.expr(ty, d));
                format!("as_{name}(abs_diff(({name})({a}), ({name})({b})))")
            }
            17 => {
                let from = self.ty(Some(ty.lanes));
                let a = self.expr(from, d);
                let sat = self.pick(&["", "_sat"]);
                format!("convert_{name}{sat}(({})({a}))", from.name())
            }
            18 if ty.lanes > 1 => {
                let parts: Vec<String> = (0..ty.lanes).map(|_| self.expr(ty.scalar(), d.min(1))).collect();
                format!("({name})({})", parts.join(", "))
            }
            18 if ty == Ty::UINT => format!("mix({}, {})", self.expr(ty, d), self.expr(ty, d)),
            _ => {
                let a = self.expr(ty, d);
                if ty.lanes > 1 { format!("(~({a}))") } else { format!("({name})(~({a}))") }
            }
        }
    }

    fn leaf(&mut self, ty: Ty) -> String {
        let name = ty.name();
        let same: Vec<String> = self.variables.iter().filter(|v| v.ty == ty).map(|v| v.name.clone()).collect();
        if !same.is_empty() && self.random.random_bool(0.7) {
            return same[self.random.random_range(0..same.len())].clone();
        }
        let wider: Vec<(String, Ty)> = self.variables.iter().filter(|v| v.ty.lanes > 1).map(|v| (v.name.clone(), v.ty)).collect();
        let constant = |random: &mut Pcg64Mcg| {
            let v: u64 = match random.random_range(0..4) {
                0 => random.random_range(0..4),
                1 => u64::MAX >> random.random_range(0..64),
                2 => 1 << random.random_range(0..64),
                _ => random.random(),
            };
            v & (u64::MAX >> (64 - ty.bits))
        };
        if ty.lanes > 1 {
            let c = constant(&mut self.random);
            return format!("({name})(({}){c}ul)", ty.scalar().name());
        }
        match self.random.random_range(0..8) {
            0 => format!("({name})in[gid & 63]"),
            1 => format!("({name})in[{} & 63]", self.random.random_range(0..64)),
            2 => format!("({name})a[{}]", self.random.random_range(0..8)),
            3 => format!("({name})table[gid & 7]"),
            4 => format!("({name}){}", self.pick(&["s.x", "t.y", "s.z", "t.w[1]", "s.w[gid & 3]"])),
            5 if !wider.is_empty() => {
                let (v, t) = &wider[self.random.random_range(0..wider.len())];
                format!("({name}){v}.s{:x}", self.random.random_range(0..t.lanes))
            }
            _ => format!("({name}){}ul", constant(&mut self.random)),
        }
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
}
