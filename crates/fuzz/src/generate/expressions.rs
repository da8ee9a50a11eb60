//! Expressions: integers of every width and vector size, and floating-point numbers whose results the standard fixes to the last bit.
//!
//! Of floating point only correctly rounded operations are used, on values that neither overflow nor come near subnormal numbers; where the standard
//! leaves the sign of a zero open (`fmin`, `fmax`), a zero is added.

use rand::prelude::*;
use rand_pcg::Pcg64Mcg;

use super::{Generator, Ty};

impl Generator {
    /// A value of exactly this type.
    pub(super) fn expr(&mut self, ty: Ty, depth: u32) -> String {
        if depth == 0 || self.random.random_bool(0.2) {
            return self.leaf(ty);
        }
        let name = ty.name();
        let unsigned = ty.unsigned().name();
        let d = depth - 1;
        match self.random.random_range(0..28) {
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
                let f = self.pick(&["clz", "popcount", "abs"]);
                if f == "abs" { format!("as_{name}(abs(({name})({a})))") } else { format!("{f}(({name})({a}))") }
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
            19 => {
                let (a, b, c) = (self.expr(ty, d), self.expr(ty, d), self.expr(ty, d));
                let f = self.pick(&["bitselect", "mad_hi", "mad_sat"]);
                format!("{f}(({name})({a}), ({name})({b}), ({name})({c}))")
            }
            20 => {
                let (low, high) = if ty.signed { (-100, 101) } else { (3, 101) };
                format!("clamp(({name})({}), ({name})({low}), ({name})({high}))", self.expr(ty, d))
            }
            21 if ty.bits > 8 => {
                let half = Ty { bits: ty.bits / 2, ..ty };
                let (high, low) = (self.expr(half, d), self.expr(half.unsigned(), d));
                format!("upsample(({})({high}), ({})({low}))", half.name(), half.unsigned().name())
            }
            22 if ty.bits == 32 => {
                let (a, b, c) = (self.expr(ty, d), self.expr(ty, d), self.expr(ty, d));
                format!("mad24(({a}) & ({name})(8191), ({b}) & ({name})(8191), ({c}) & ({name})(65535))")
            }
            23 if [2, 4, 8, 16].contains(&ty.lanes) => {
                let from = Ty { lanes: [2, 4, 8, 16][self.random.random_range(0..4)], ..ty };
                let (a, mask) = (self.expr(from, d.min(1)), self.expr(ty.unsigned(), d));
                format!("shuffle(({})({a}), ({unsigned})({mask}))", from.name())
            }
            24..26 => self.float_to_integer(ty, d),
            _ => {
                let a = self.expr(ty, d);
                if ty.lanes > 1 { format!("(~({a}))") } else { format!("({name})(~({a}))") }
            }
        }
    }

    pub(super) fn leaf(&mut self, ty: Ty) -> String {
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
            let same_base: Vec<String> = wider
                .iter()
                .filter(|(_, t)| t.scalar() == ty.scalar())
                .map(|(n, t)| {
                    let lanes: String = (0..ty.lanes)
                        .map(|_| char::from(b"0123456789abcdef"[self.random.random_range(0..t.lanes as usize)]))
                        .collect();
                    format!("{n}.s{lanes}")
                })
                .collect();
            if !same_base.is_empty() && self.random.random_bool(0.5) {
                return same_base[self.random.random_range(0..same_base.len())].clone();
            }
            if self.random.random_bool(0.3) {
                let (l, count) = (ty.lanes, u64::from(256 / 4 / ty.lanes));
                return match ty.bits {
                    8 => format!("as_{name}(vload{l}({}, (__global const uchar *)in))", self.random.random_range(0..4 * count)),
                    32 => format!("as_{name}(vload{l}((gid + {}) % {count}, in))", self.random.random_range(0..64)),
                    64 => format!("convert_{name}(vload{l}({}, in))", self.random.random_range(0..count)),
                    _ => format!("convert_{name}(vload{l}({}, a))", self.random.random_range(0..(8 / l.min(8)).max(1)))
                        .replace("vload16(0, a)", "vload16(1, in)"),
                };
            }
            let c = constant(&mut self.random);
            return format!("({name})(({}){c}ul)", ty.scalar().name());
        }
        match self.random.random_range(0..16) {
            15 => format!(
                "({name}){}",
                self.pick(&[
                    "whole.tag",
                    "whole.in[1].y",
                    "whole.in[gid & 1].w[2]",
                    "whole.v.s3",
                    "tight.c",
                    "tight.x",
                    "tight.h[1]",
                    "tight.h[gid & 1]",
                    "tight.z",
                    "tight.w[1]",
                    "tight.last",
                ])
            ),
            13 => {
                let index = self.pick(&["gid", "hand", "lid", "(uint)get_local_id(0) + (uint)get_group_id(0)"]);
                format!("({name})in[{index} + {}]", self.random.random_range(0..50))
            }
            14 => format!("({name})hand"),
            8 => format!("({name})wide[{} + gid]", super::WIDE_CELLS),
            9 => format!("({name})narrow[gid]"),
            10 => format!("({name})table64[{} & 3]", self.pick(&["gid", "lid", "a[1]", "n"])),
            11 => format!("({name})bytes[gid % 5].s{}", self.random.random_range(0..4)),
            12 => format!(
                "({name}){}",
                self.pick(&["u.in[1].x", "u.in[gid & 1].z", "u.v.s2", "u.z", "u.tag", "*(n > a[1] ? &a[0] : &s.x)"])
            ),
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

    /// Floating point brought to an integer type.
    fn float_to_integer(&mut self, ty: Ty, depth: u32) -> String {
        let name = ty.name();
        let double = self.random.random_bool(0.3);
        let f = self.float(ty.lanes, double, depth.min(3));
        if ty.bits == if double { 64 } else { 32 } && self.random.random_bool(0.6) {
            return format!("as_{name}({f})");
        }
        let rounding = self.pick(&["", "", "_rte", "_rtz", "_rtp", "_rtn"]);
        format!("convert_{name}_sat{rounding}({f})")
    }

    /// A floating-point value below 2^100 in magnitude, with an integer of at most 12 bits at each leaf.
    pub(super) fn float(&mut self, lanes: u32, double: bool, depth: u32) -> String {
        let base = if double { "double" } else { "float" };
        let suffix = if double { "" } else { "f" };
        let name = if lanes == 1 { base.to_string() } else { format!("{base}{lanes}") };
        if depth == 0 || self.random.random_bool(0.15) {
            if lanes == 1 && self.random.random_bool(0.4) {
                return if double { "d0".into() } else { self.pick(&["f0", "f1"]).to_string() };
            }
            if self.random.random_bool(0.2) {
                let c = self.pick(&["0.5", "1.5", "-3.0", "1024.25", "7.0", "0.0"]);
                return format!("({name})({c}{suffix})");
            }
            let ty = Ty { bits: [16, 32, 64][self.random.random_range(0..3)], signed: self.random.random_bool(0.5), lanes };
            let value = self.leaf(ty);
            return format!("(convert_{name}(({value}) & ({})(4095)) - ({name})(1000.0{suffix}))", ty.name());
        }
        let d = depth - 1;
        match self.random.random_range(0..12) {
            0..6 => {
                let (a, b) = (self.float(lanes, double, d), self.float(lanes, double, d));
                format!("({a} {} {b})", self.pick(&["+", "-", "*"]))
            }
            6 => {
                let (a, b, c) = (self.float(lanes, double, d), self.float(lanes, double, d), self.float(lanes, double, d));
                format!("fma({a}, {b}, {c})")
            }
            7 => {
                let (a, b) = (self.float(lanes, double, d), self.float(lanes, double, d));
                format!("({}({a}, {b}) + ({name})(0.0{suffix}))", self.pick(&["fmin", "fmax"]))
            }
            8 => {
                let (a, f) = (self.float(lanes, double, d), self.pick(&["floor", "ceil", "trunc", "rint", "round"]));
                format!("{f}({a})")
            }
            9 => {
                let (a, b) = (self.float(lanes, double, d), self.float(lanes, double, d));
                format!("copysign({a}, {b})")
            }
            10 if double => {
                let (a, b) = (self.float(lanes, double, d), self.float(lanes, double, d));
                format!("({a} / (fabs({b}) + ({name})(1.0)))")
            }
            10 if lanes == 1 => {
                let (a, b) = (self.float(lanes, double, d), self.float(lanes, double, d));
                let (x, y) = (self.float(lanes, double, d), self.float(lanes, double, d));
                format!("({a} {} {b} ? {x} : {y})", self.pick(&["<", ">=", "==", "!="]))
            }
            _ => format!("fabs({})", self.float(lanes, double, d)),
        }
    }
}
