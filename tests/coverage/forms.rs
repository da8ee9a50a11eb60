//! The forms of OpenCL C's built-in functions: for each function and type a kernel that calls it.

mod integers;

use super::{functions, values};

/// What a work-item can ask about its sub-group.
pub const SUB_GROUP_QUERIES: [&str; 6] = [
    "get_sub_group_size",
    "get_max_sub_group_size",
    "get_num_sub_groups",
    "get_enqueued_num_sub_groups",
    "get_sub_group_id",
    "get_sub_group_local_id",
];

/// Operations of the functions that combine values of some lanes: of all types, and of integers.
pub const NUMERIC: [&str; 4] = ["add", "mul", "min", "max"];
/// As above.
pub const BITWISE: [&str; 3] = ["and", "or", "xor"];

/// Functions of ballots, with their arguments in terms of `x`, a ballot, and `i`, the work-item.
pub const BALLOTS: [(&str, &str); 13] = [
    ("sub_group_ballot", "x.s0 & 1"),
    ("sub_group_inverse_ballot", "x"),
    ("sub_group_ballot_bit_extract", "x, i & 31"),
    ("sub_group_ballot_bit_count", "x"),
    ("sub_group_ballot_inclusive_scan", "x"),
    ("sub_group_ballot_exclusive_scan", "x"),
    ("sub_group_ballot_find_lsb", "x"),
    ("sub_group_ballot_find_msb", "x"),
    ("get_sub_group_eq_mask", ""),
    ("get_sub_group_ge_mask", ""),
    ("get_sub_group_gt_mask", ""),
    ("get_sub_group_le_mask", ""),
    ("get_sub_group_lt_mask", ""),
];

/// What is known of a form that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The kernel compares the vector form with the scalar one, component by component.
    Components,
    /// The kernel compares what it gets with what plain loads, stores and operators give.
    Checked,
    /// Another test runs it and compares values with the host's.
    Values,
    /// It compiles.
    Compiles,
}

/// One function with arguments of certain types.
#[derive(Clone, Debug)]
pub struct Form {
    /// The section of the page.
    pub section: &'static str,
    /// The function.
    pub function: String,
    /// The type, without the width.
    pub ty: String,
    /// The width, or what tells this form from the others.
    pub width: String,
    /// The kernel's statements, on one line. `d`: data, `w`: room for results, `l`: local memory, `c`: the data again, `i`: the work-item, `bad`: counts
    /// what is wrong.
    pub body: String,
    /// What is known if it compiles (and counts nothing wrong).
    pub evidence: Evidence,
}

const WIDTHS: [usize; 6] = [1, 2, 3, 4, 8, 16];
const INTEGERS: [&str; 8] = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"];
const FLOATS: [&str; 3] = ["half", "float", "double"];

fn vector(ty: &str, n: usize) -> String {
    if n == 1 { ty.to_string() } else { format!("{ty}{n}") }
}

fn signed(ty: &str) -> &'static str {
    match ty {
        "half" | "short" | "ushort" => "short",
        "float" | "int" | "uint" => "int",
        "double" | "long" | "ulong" => "long",
        _ => "char",
    }
}

fn unsigned(ty: &str) -> String {
    format!("u{}", signed(ty))
}

fn wider(ty: &str) -> &'static str {
    match ty {
        "char" => "short",
        "uchar" => "ushort",
        "short" => "int",
        "ushort" => "uint",
        "int" => "long",
        _ => "ulong",
    }
}

/// A component-wise function. The signature's first letter is the result, the others the arguments: `g` the type, `s` its scalar, `i` int, `j` scalar
/// int, `u` unsigned and `x` signed integers of the same size, `o` the next wider type, `r` the result of a relation, `P` and `Q` pointers to `g` and `i`
/// in the given address space.
fn componentwise(section: &'static str, function: &str, signature: &str, ty: &str, n: usize, space: &str) -> Form {
    let of = |letter: char, n: usize| match letter {
        'g' | 'P' => vector(ty, n),
        's' => ty.to_string(),
        'i' | 'Q' => vector("int", n),
        'j' => "int".to_string(),
        'u' => vector(&unsigned(ty), n),
        'x' => vector(signed(ty), n),
        'o' => vector(wider(ty), n),
        'r' if n == 1 => "int".to_string(),
        _ => vector(signed(ty), n),
    };
    let letters: Vec<char> = signature.chars().collect();
    let mut body = String::new();
    let (mut call, mut element) = (Vec::new(), Vec::new());
    // What a pointer has got, and what it should have.
    let mut stored = Vec::new();
    for (k, letter) in letters[1..].iter().enumerate() {
        let t = of(*letter, n);
        if matches!(letter, 'P' | 'Q') {
            let scalar = of(*letter, 1);
            body += &match space {
                "private" => format!("{t} v{k}; {scalar} e{k}; "),
                _ => format!("{scalar} e{k}; "),
            };
            call.push(match space {
                "private" => format!("&v{k}"),
                "local" => format!("(local {t} *)l + i"),
                _ => format!("(global {t} *)w + i"),
            });
            element.push(format!("&e{k}"));
            let place = call[call.len() - 1].clone();
            let load = if n == 1 { format!("*({place})") } else { format!("((T *)({place}))[k]") };
            let pointer = if space == "private" { format!("{scalar} *") } else { format!("{space} {scalar} *") };
            stored.push((load.replace("T *", &pointer), format!("e{k}")));
        } else {
            body += &format!("{t} a{k} = ((global const {t} *)d)[i + {}]; ", 3 * k);
            call.push(format!("a{k}"));
            if n > 1 && !matches!(letter, 's' | 'j') {
                body += &format!("{} b{k}[16]; vstore{n}(a{k}, 0, b{k}); ", of(*letter, 1));
                element.push(format!("b{k}[k]"));
            } else {
                element.push(format!("a{k}"));
            }
        }
    }
    let result = of(letters[0], n);
    body += &format!("{result} r = {function}({}); ", call.join(", "));
    let checks: String = stored.iter().map(|(got, want)| format!(" if (DIFFER({got}, {want})) atomic_inc(bad);")).collect();
    if n == 1 && (space.is_empty() || space == "private") {
        body += &format!("((global {result} *)w)[i] = r;");
    } else if n == 1 {
        body += &format!("{result} s = {function}({}); if (DIFFER(r, s)) atomic_inc(bad);{checks}", element.join(", "));
    } else {
        // A relation is 1 for scalars and -1 for components. The function is called with the scalar types.
        let one = if letters[0] == 'r' { signed(ty).to_string() } else { of(letters[0], 1) };
        let sign = if letters[0] == 'r' { "-" } else { "" };
        body += &format!(
            "{one} rs[16]; vstore{n}(r, 0, rs); for (int k = 0; k < {n}; k++) {{ {one} e = {sign}{function}({}); \
             if (DIFFER(e, rs[k])) atomic_inc(bad);{checks} }}",
            element.join(", ")
        );
    }
    let name = if space.is_empty() { vector("", n).replace(' ', "") } else { space.to_string() };
    let width = match (n, space) {
        (1, "") => "1".to_string(),
        (_, "") => name,
        (n, space) => format!("{n} {space}"),
    };
    let evidence = match n {
        1 if matches!(space, "" | "private") => scalar_evidence(function, ty),
        1 => Evidence::Checked,
        _ => Evidence::Components,
    };
    Form { section, function: function.into(), ty: ty.into(), width, body, evidence }
}

/// Whether a test compares the values of a scalar form: asked of the tests' own tables.
fn scalar_evidence(function: &str, ty: &str) -> Evidence {
    let index = FLOATS.iter().position(|t| *t == ty);
    let has = |call: &str| call.strip_prefix(function).is_some_and(|rest| rest.starts_with('('));
    let tested = match index {
        Some(k) => {
            functions::FUNCTIONS.iter().any(|f| f.name == function && f.bounds[k] != functions::Bound::Absent)
                || values::RELATIONS.iter().any(|(call, _)| has(call))
                || values::COMMON.iter().any(|(call, ..)| has(call))
                || function == "bitselect"
        }
        None => {
            values::INTEGERS.iter().any(|(call, _)| has(call))
                || (function == "upsample" && !ty.ends_with("long"))
                || (matches!(function, "mul24" | "mad24") && ty.ends_with("int"))
        }
    };
    if tested { Evidence::Values } else { Evidence::Compiles }
}

fn plain(section: &'static str, function: &str, ty: &str, width: &str, body: String, evidence: Evidence) -> Form {
    Form { section, function: function.into(), ty: ty.into(), width: width.into(), body, evidence }
}

fn math(forms: &mut Vec<Form>) {
    let section = "Math functions";
    let one = "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erf erfc exp exp2 exp10 expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma trunc";
    let two = "atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr remainder";
    let mut table: Vec<(&str, &str)> = one.split(' ').map(|f| (f, "gg")).chain(two.split(' ').map(|f| (f, "ggg"))).collect();
    table.extend([
        ("fma", "gggg"),
        ("mad", "gggg"),
        ("ilogb", "ig"),
        ("ldexp", "ggi"),
        ("pown", "ggi"),
        ("rootn", "ggi"),
        ("nan", "gu"),
    ]);
    for ty in FLOATS {
        for n in WIDTHS {
            // The library makes a vector of two halves: where the width does not matter otherwise, one of the wide ones is enough.
            if matches!((ty, n), ("half", 16) | ("double", 8)) {
                continue;
            }
            forms.extend(table.iter().map(|(f, s)| componentwise(section, f, s, ty, n, "")));
            if n > 1 {
                for (f, s) in [("fmax", "ggs"), ("fmin", "ggs"), ("ldexp", "ggj")] {
                    let mut form = componentwise(section, f, s, ty, n, "");
                    form.width += " with scalar";
                    forms.push(form);
                }
            }
            for (f, s) in
                [("fract", "ggP"), ("modf", "ggP"), ("sincos", "ggP"), ("frexp", "ggQ"), ("lgamma_r", "ggQ"), ("remquo", "gggQ")]
            {
                // What is done with the pointer does not depend on the width.
                for space in &["private", "local", "global"][..if n <= 2 { 3 } else { 1 }] {
                    forms.push(componentwise(section, f, s, ty, n, space));
                }
            }
        }
    }
    let of_float = "cos exp exp2 exp10 log log2 log10 recip rsqrt sin sqrt tan";
    for n in WIDTHS {
        for prefix in ["half", "native"] {
            forms.extend(of_float.split(' ').map(|f| componentwise(section, &format!("{prefix}_{f}"), "gg", "float", n, "")));
            forms.extend(["divide", "powr"].map(|f| componentwise(section, &format!("{prefix}_{f}"), "ggg", "float", n, "")));
        }
    }
}

fn common(forms: &mut Vec<Form>) {
    for ty in FLOATS {
        for n in WIDTHS {
            let table = [
                ("clamp", "gggg"),
                ("degrees", "gg"),
                ("max", "ggg"),
                ("min", "ggg"),
                ("mix", "gggg"),
                ("radians", "gg"),
                ("step", "ggg"),
                ("smoothstep", "gggg"),
                ("sign", "gg"),
            ];
            forms.extend(table.iter().map(|(f, s)| componentwise("Common functions", f, s, ty, n, "")));
            if n > 1 {
                for (f, s) in
                    [("clamp", "ggss"), ("max", "ggs"), ("min", "ggs"), ("mix", "gggs"), ("step", "gsg"), ("smoothstep", "gssg")]
                {
                    let mut form = componentwise("Common functions", f, s, ty, n, "");
                    form.width += " with scalar";
                    forms.push(form);
                }
            }
            let relations = [
                ("isequal", "rgg"),
                ("isnotequal", "rgg"),
                ("isgreater", "rgg"),
                ("isgreaterequal", "rgg"),
                ("isless", "rgg"),
                ("islessequal", "rgg"),
                ("islessgreater", "rgg"),
                ("isfinite", "rg"),
                ("isinf", "rg"),
                ("isnan", "rg"),
                ("isnormal", "rg"),
                ("isordered", "rgg"),
                ("isunordered", "rgg"),
                ("signbit", "rg"),
                ("bitselect", "gggg"),
            ];
            forms.extend(relations.iter().map(|(f, s)| componentwise("Relational functions", f, s, ty, n, "")));
        }
    }
    for ty in INTEGERS {
        forms.extend(WIDTHS.map(|n| componentwise("Relational functions", "bitselect", "gggg", ty, n, "")));
        for n in WIDTHS {
            for f in ["any", "all"] {
                if matches!(ty, "char" | "short" | "int" | "long") {
                    let t = vector(ty, n);
                    let body = format!("((global int *)w)[i] = {f}(((global const {t} *)d)[i]);");
                    forms.push(plain("Relational functions", f, ty, &n.to_string(), body, Evidence::Values));
                }
            }
        }
    }
    for ty in INTEGERS.iter().chain(&FLOATS) {
        for n in WIDTHS {
            for c in [signed(ty).to_string(), unsigned(ty)] {
                let (t, c) = (vector(ty, n), vector(&c, n));
                let body = format!(
                    "{t} x = ((global const {t} *)d)[i], y = ((global const {t} *)d)[i + 3]; ((global {t} *)w)[i] = select(x, y, ((global const {c} *)d)[i + 7]);"
                );
                forms.push(plain("Relational functions", "select", ty, &format!("{n} by {c}"), body, Evidence::Values));
            }
        }
    }
    for ty in FLOATS {
        for n in [1, 2, 3, 4] {
            let t = vector(ty, n);
            let load = format!("{t} x = ((global const {t} *)d)[i], y = ((global const {t} *)d)[i + 3];");
            for f in ["dot", "distance", "fast_distance", "length", "fast_length", "normalize", "fast_normalize", "cross"] {
                let fast = f.starts_with("fast");
                if (fast && ty != "float") || (f == "cross" && n < 3) {
                    continue;
                }
                let two = matches!(f, "dot" | "distance" | "fast_distance" | "cross");
                let result = if f.ends_with("normalize") || f == "cross" { t.clone() } else { ty.to_string() };
                let body = format!("{load} ((global {result} *)w)[i] = {f}(x{});", if two { ", y" } else { "" });
                forms.push(plain("Geometric functions", f, ty, &n.to_string(), body, Evidence::Values));
            }
        }
    }
}

fn memory(forms: &mut Vec<Form>) {
    let section = "Vector loads and stores";
    for ty in INTEGERS.iter().chain(&FLOATS) {
        for n in [2, 3, 4, 8, 16] {
            for space in ["private", "local", "global", "constant"] {
                let from = match space {
                    "private" => format!("{ty} p[64]; for (int k = 0; k < 64; k++) p[k] = ((global const {ty} *)d)[k]; "),
                    "local" => format!(
                        "local {ty} *p = (local {ty} *)l; for (int k = 0; k < 64; k++) p[k] = ((global const {ty} *)d)[k]; "
                    ),
                    "constant" => format!("constant {ty} *p = (constant {ty} *)c; "),
                    _ => format!("global const {ty} *p = (global const {ty} *)d; "),
                };
                let components: String =
                    (0..n).map(|k| format!(" if (DIFFER(v.s{k:x}, p[1 + (i & 1) * {n} + {k}])) atomic_inc(bad);")).collect();
                let body = format!("{from}{ty}{n} v = vload{n}(i & 1, p + 1);{components}");
                forms.push(plain(section, "vloadn", ty, &format!("{n} {space}"), body, Evidence::Checked));
                if space != "constant" {
                    let to = match space {
                        "private" => format!("{ty} q[64]; "),
                        "local" => format!("local {ty} *q = (local {ty} *)l; "),
                        _ => format!("global {ty} *q = (global {ty} *)w; "),
                    };
                    let body = format!(
                        "{to}global const {ty} *p = (global const {ty} *)d; {ty}{n} v = (({ty}{n})0); {set} vstore{n}(v, 1, q); \
                         for (int k = 0; k < {n}; k++) if (DIFFER(q[{n} + k], p[k])) atomic_inc(bad);",
                        set = (0..n).map(|k| format!("v.s{k:x} = p[{k}];")).collect::<String>()
                    );
                    forms.push(plain(section, "vstoren", ty, &format!("{n} {space}"), body, Evidence::Checked));
                }
            }
        }
    }
    for n in WIDTHS {
        let t = vector("float", n);
        let name = |f: &str| if n == 1 { f.to_string() } else { format!("{f}{n}") };
        for f in ["vload_half", "vloada_half"] {
            let body = format!("{t} v = {}(i, (global const half *)d); ((global {t} *)w)[i] = v;", name(f));
            forms.push(plain(section, f, "half", &format!("{n} global"), body, Evidence::Values));
            for (space, memory) in [("private", "half p[64]"), ("local", "local half *p = (local half *)l"), ("constant", "")] {
                let fill = match space {
                    "constant" => "constant half *p = (constant half *)c;".to_string(),
                    _ => format!("{memory}; for (int k = 0; k < 64; k++) p[k] = ((global const half *)d)[k];"),
                };
                // An aligned vector of 3 takes the room of 4.
                let stride = if n == 3 && f == "vloada_half" { 4 } else { n };
                let body = if n == 1 {
                    format!("{fill} float v = {f}(5 + i, p); if (DIFFER(v, (float)p[5 + i])) atomic_inc(bad);")
                } else {
                    let components: String = (0..n)
                        .map(|k| format!(" if (DIFFER(v.s{k:x}, (float)p[(i & 1) * {stride} + {k}])) atomic_inc(bad);"))
                        .collect();
                    format!("{fill} {t} v = {}(i & 1, p);{components}", name(f))
                };
                forms.push(plain(section, f, "half", &format!("{n} {space}"), body, Evidence::Checked));
            }
        }
        for f in ["vstore_half", "vstorea_half"] {
            for mode in ["", "_rte", "_rtz", "_rtp", "_rtn"] {
                for ty in ["float", "double"] {
                    let load = format!("((global const {} *)d)[i]", vector(ty, n));
                    let call = format!("{}{mode}", name(f));
                    let body = format!("{call}({load}, i, (global half *)w);");
                    forms.push(plain(section, &format!("{f}{mode}"), ty, &format!("{n} global"), body, Evidence::Values));
                    let stride = if n == 3 && f == "vstorea_half" { 4 } else { n };
                    for (space, memory) in [("private", "half p[32]"), ("local", "local half *p = (local half *)l + 32 * i")] {
                        let body = format!(
                            "{memory}; global half *q = (global half *)w + 32 * i; {call}({load}, 1, p); {call}({load}, 1, q); \
                             for (int k = {stride}; k < {stride} + {n}; k++) if (DIFFER(p[k], q[k])) atomic_inc(bad);"
                        );
                        forms.push(plain(section, &format!("{f}{mode}"), ty, &format!("{n} {space}"), body, Evidence::Checked));
                    }
                }
            }
        }
    }
    for ty in INTEGERS.iter().chain(&FLOATS) {
        for m in [2, 4, 8, 16] {
            for n in [2, 4, 8, 16] {
                let (a, r, k) = (vector(ty, m), vector(ty, n), vector(&unsigned(ty), n));
                for (f, second) in [("shuffle", ""), ("shuffle2", &*format!(", ((global const {a} *)d)[i + 5]"))] {
                    let body = format!(
                        "((global {r} *)w)[i] = {f}(((global const {a} *)d)[i]{second}, ((global const {k} *)d)[i + 9]);"
                    );
                    forms.push(plain("Shuffles", f, ty, &format!("{m} to {n}"), body, Evidence::Values));
                }
            }
        }
    }
    let all: Vec<&str> = INTEGERS.iter().chain(&FLOATS).copied().collect();
    for from in &all {
        for to in &all {
            for n in WIDTHS {
                let (a, r) = (vector(from, n), vector(to, n));
                for suffix in ["", "_rte", "_rtz", "_rtp", "_rtn", "_sat", "_sat_rte", "_sat_rtz", "_sat_rtp", "_sat_rtn"] {
                    if suffix.contains("sat") && FLOATS.contains(to)
                        || (n > 1 && !(suffix.is_empty() || (n == 4 && matches!(suffix, "_rtz" | "_sat_rte"))))
                    {
                        continue;
                    }
                    let call = format!("convert_{r}{suffix}(((global const {a} *)d)[i])");
                    let (body, evidence) = if n == 1 {
                        (format!("((global {r} *)w)[i] = {call};"), Evidence::Values)
                    } else {
                        let body = format!(
                            "{r} r = {call}; {to} rs[16]; vstore{n}(r, 0, rs); {from} a[16]; vstore{n}(((global const {a} *)d)[i], 0, a); \
                             for (int k = 0; k < {n}; k++) if (DIFFER(rs[k], convert_{to}{suffix}(a[k]))) atomic_inc(bad);"
                        );
                        (body, Evidence::Components)
                    };
                    forms.push(plain("Conversions", &format!("convert_{to}{suffix}"), from, &n.to_string(), body, evidence));
                }
            }
        }
    }
    for ty in &all {
        for n in WIDTHS {
            let t = vector(ty, n);
            for (f, stride) in [("async_work_group_copy", ""), ("async_work_group_strided_copy", ", 2")] {
                // To local memory and back: every second vector of one side if strided, and all bytes of a vector but the fourth of three.
                let strided = !stride.is_empty();
                let (from, to) = if strided { ("2 * k", "4 * k") } else { ("k", "k") };
                let size = "sizeof(a)";
                let compare = format!(
                    "{t} a = ((global const {t} *)d)[{from}], b = ((global const {t} *)w)[{to}]; uchar *p = (uchar *)&a, *q = (uchar *)&b; \
                     for (int j = 0; j < {size} / {} * {n}; j++) if (p[j] != q[j]) atomic_inc(bad);",
                    if n == 3 { 4 } else { n }
                );
                let back = if strided { ", 4" } else { "" };
                let body = format!(
                    "event_t e = {f}((local {t} *)l, (global const {t} *)d, 4{stride}, 0); wait_group_events(1, &e); \
                     e = {f}((global {t} *)w, (local const {t} *)l, 4{back}, 0); wait_group_events(1, &e); \
                     barrier(CLK_GLOBAL_MEM_FENCE); for (int k = 0; k < 4; k++) {{ {compare} }}"
                );
                forms.push(plain("Copies and prefetch", f, ty, &n.to_string(), body, Evidence::Checked));
            }
            forms.push(plain(
                "Copies and prefetch",
                "prefetch",
                ty,
                &n.to_string(),
                format!("prefetch((global const {t} *)d, 4);"),
                Evidence::Compiles,
            ));
        }
    }
}

fn together(forms: &mut Vec<Form>) {
    let old = "add sub xchg min max and or xor inc dec cmpxchg";
    for ty in ["int", "uint", "long", "ulong", "float"] {
        for space in ["global", "local"] {
            let memory = if space == "global" { "w" } else { "l" };
            for name in old.split(' ') {
                for prefix in ["atomic", "atom"] {
                    let wide = matches!(ty, "long" | "ulong");
                    if (ty == "float" && (name != "xchg" || prefix == "atom")) || (wide && prefix == "atomic") {
                        continue;
                    }
                    let arguments = match name {
                        "inc" | "dec" => "",
                        "cmpxchg" => ", 1, 2",
                        _ => ", 3",
                    };
                    let body =
                        format!("((global {ty} *)w)[64 + i] = {prefix}_{name}((volatile {space} {ty} *){memory}{arguments});");
                    forms.push(plain("Atomics of OpenCL C 1.2", &format!("{prefix}_{name}"), ty, space, body, Evidence::Values));
                }
            }
        }
    }
    for ty in ["int", "uint", "long", "ulong", "float", "double"] {
        for space in ["global", "local", "generic"] {
            let memory = if space == "global" { "w" } else { "l" };
            let qualifier = if space == "generic" { "" } else { space };
            let p = if space == "generic" {
                format!("(volatile atomic_{ty} *)(local atomic_{ty} *)l")
            } else {
                format!("(volatile {qualifier} atomic_{ty} *){memory}")
            };
            let names = "init store load exchange compare_exchange_strong compare_exchange_weak fetch_add fetch_sub fetch_or fetch_xor fetch_and fetch_min fetch_max";
            for name in names.split(' ') {
                let real = matches!(ty, "float" | "double");
                // Arithmetic of floats is an extension (cl_ext_float_atomics).
                if name.starts_with("fetch") && real {
                    continue;
                }
                for explicit in ["", "_explicit"] {
                    if name == "init" && explicit == "_explicit" {
                        continue;
                    }
                    let (order, orders) = (
                        ", memory_order_relaxed, memory_scope_device",
                        ", memory_order_acq_rel, memory_order_relaxed, memory_scope_device",
                    );
                    let order = match (explicit, name.starts_with("compare")) {
                        ("", _) => "",
                        (_, true) => orders,
                        _ => order,
                    };
                    let out = format!("((global {ty} *)w)[64 + i]");
                    let body = match name {
                        "init" | "store" => format!("atomic_{name}{explicit}({p}, ({ty})3{order});"),
                        "load" => format!("{out} = atomic_load{explicit}({p}{order});"),
                        _ if name.starts_with("compare") => {
                            format!("{ty} e = 1; {out} = atomic_{name}{explicit}({p}, &e, 2{order});")
                        }
                        _ => format!("{out} = atomic_{name}{explicit}({p}, ({ty})3{order});"),
                    };
                    forms.push(plain(
                        "Atomics of OpenCL C 2.0",
                        &format!("atomic_{name}{explicit}"),
                        &format!("atomic_{ty}"),
                        space,
                        body,
                        Evidence::Values,
                    ));
                }
            }
        }
    }
    for space in ["global", "local", "generic"] {
        let p = match space {
            "global" => "(volatile global atomic_uintptr_t *)w",
            "local" => "(volatile local atomic_uintptr_t *)l",
            _ => "(volatile atomic_uintptr_t *)(volatile local atomic_uintptr_t *)l",
        };
        for name in ["atomic_fetch_add", "atomic_fetch_sub"] {
            for (explicit, order) in [("", ""), ("_explicit", ", memory_order_relaxed, memory_scope_device")] {
                let body = format!("((global ulong *)w)[64 + i] = {name}{explicit}({p}, (ptrdiff_t)-3{order});");
                let name = format!("{name}{explicit}");
                forms.push(plain("Atomics of OpenCL C 2.0", &name, "atomic_uintptr_t", space, body, Evidence::Values));
            }
        }
    }
    for space in ["global", "local", "generic"] {
        let p = match space {
            "global" => "(volatile global atomic_flag *)w",
            "local" => "(volatile local atomic_flag *)l",
            _ => "(volatile atomic_flag *)(volatile local atomic_flag *)l",
        };
        for (explicit, order) in [("", ""), ("_explicit", ", memory_order_acq_rel, memory_scope_device")] {
            let set = format!("((global int *)w)[64 + i] = atomic_flag_test_and_set{explicit}({p}{order});");
            let clear = format!("atomic_flag_clear{explicit}({p}{});", order.replace("acq_rel", "release"));
            for (name, body) in [("test_and_set", set), ("clear", clear)] {
                let name = format!("atomic_flag_{name}{explicit}");
                forms.push(plain("Atomics of OpenCL C 2.0", &name, "atomic_flag", space, body, Evidence::Values));
            }
        }
    }
    let fence = "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);";
    forms.push(plain("Atomics of OpenCL C 2.0", "atomic_work_item_fence", "", "", fence.into(), Evidence::Compiles));
    for (section, scope) in [("Work-group functions", "work_group"), ("Sub-group functions", "sub_group")] {
        for f in ["all", "any"] {
            let body = format!("((global int *)w)[i] = {scope}_{f}(((global const int *)d)[i]);");
            forms.push(plain(section, &format!("{scope}_{f}"), "int", "1", body, Evidence::Values));
        }
        for ty in ["half", "int", "uint", "long", "ulong", "float", "double"] {
            let mut call = |f: String, more: &str| {
                let body = format!("((global {ty} *)w)[i] = {f}(((global const {ty} *)d)[i]{more});");
                forms.push(plain(section, &f, ty, "1", body, Evidence::Values));
            };
            call(format!("{scope}_broadcast"), ", 3");
            for op in ["add", "min", "max"] {
                for kind in ["reduce", "scan_inclusive", "scan_exclusive"] {
                    call(format!("{scope}_{kind}_{op}"), "");
                }
            }
        }
    }
    for ty in INTEGERS.iter().chain(&FLOATS) {
        let section = "Sub-group functions";
        let small = matches!(*ty, "char" | "uchar" | "short" | "ushort");
        let mut calls: Vec<(String, usize, &str)> =
            WIDTHS.iter().filter(|n| **n > 1 || small).map(|n| ("broadcast".to_string(), *n, ", 3")).collect();
        calls.extend(
            [
                ("shuffle", ", i"),
                ("shuffle_xor", ", 1"),
                ("shuffle_up", ", 1"),
                ("shuffle_down", ", 1"),
                ("rotate", ", 1"),
                ("clustered_rotate", ", 1, 4"),
            ]
            .map(|(f, more)| (f.to_string(), 1, more)),
        );
        calls.extend(WIDTHS.iter().map(|n| ("non_uniform_broadcast".to_string(), *n, ", 3")));
        calls.push(("broadcast_first".into(), 1, ""));
        for op in NUMERIC.iter().chain(BITWISE.iter().filter(|_| INTEGERS.contains(ty))) {
            calls.push((format!("clustered_reduce_{op}"), 1, ", 4"));
            calls.extend(["reduce", "scan_inclusive", "scan_exclusive"].map(|kind| (format!("non_uniform_{kind}_{op}"), 1, "")));
        }
        let body = format!("((global int *)w)[i] = sub_group_non_uniform_all_equal(((global const {ty} *)d)[i]);");
        forms.push(plain(section, "sub_group_non_uniform_all_equal", ty, "1", body, Evidence::Values));
        for op in ["add", "min", "max"].iter().filter(|_| small) {
            calls.extend(["reduce", "scan_inclusive", "scan_exclusive"].map(|kind| (format!("{kind}_{op}"), 1, "")));
        }
        for (f, n, more) in calls {
            let t = vector(ty, n);
            let body = format!("((global {t} *)w)[i] = sub_group_{f}(((global const {t} *)d)[i]{more});");
            forms.push(plain(section, &format!("sub_group_{f}"), ty, &n.to_string(), body, Evidence::Values));
        }
    }
    let mut int = |f: &str, body: String| forms.push(plain("Sub-group functions", f, "int", "1", body, Evidence::Values));
    for f in ["non_uniform_all", "non_uniform_any"] {
        int(&format!("sub_group_{f}"), format!("((global int *)w)[i] = sub_group_{f}(((global const int *)d)[i]);"));
    }
    int("sub_group_elect", "((global int *)w)[i] = sub_group_elect();".into());
    for op in ["logical_and", "logical_or", "logical_xor"] {
        for (f, more) in ["non_uniform_reduce", "non_uniform_scan_inclusive", "non_uniform_scan_exclusive", "clustered_reduce"]
            .map(|f| (format!("sub_group_{f}_{op}"), if f.starts_with('c') { ", 4" } else { "" }))
        {
            int(&f, format!("((global int *)w)[i] = {f}(((global const int *)d)[i]{more});"));
        }
    }
    for (f, arguments) in BALLOTS {
        let (ty, width) = if f.ends_with("mask") || f == "sub_group_ballot" { ("uint4", "4") } else { ("uint", "1") };
        let body = format!("uint4 x = ((global const uint4 *)d)[i]; ((global {ty} *)w)[i] = {f}({arguments});");
        forms.push(plain("Sub-group functions", f, "uint", width, body, Evidence::Values));
    }
    for f in SUB_GROUP_QUERIES {
        forms.push(plain("Sub-group functions", f, "uint", "1", format!("((global uint *)w)[i] = {f}();"), Evidence::Values));
    }
    for (f, body) in [
        ("barrier", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"),
        ("work_group_barrier", "work_group_barrier(CLK_LOCAL_MEM_FENCE);"),
        ("work_group_barrier with scope", "work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);"),
        ("sub_group_barrier", "sub_group_barrier(CLK_LOCAL_MEM_FENCE);"),
        ("mem_fence", "mem_fence(CLK_GLOBAL_MEM_FENCE);"),
        ("read_mem_fence", "read_mem_fence(CLK_GLOBAL_MEM_FENCE);"),
        ("write_mem_fence", "write_mem_fence(CLK_GLOBAL_MEM_FENCE);"),
    ] {
        // A fence alone has no result.
        let evidence = if f.contains("barrier") { Evidence::Values } else { Evidence::Compiles };
        forms.push(plain("Synchronization", f, "", "", body.into(), evidence));
    }
    for f in
        ["global_size", "global_id", "local_size", "enqueued_local_size", "local_id", "num_groups", "group_id", "global_offset"]
    {
        let body = format!("((global size_t *)w)[i] = get_{f}(0) + get_{f}(i);");
        forms.push(plain("Work-item functions", &format!("get_{f}"), "", "", body, Evidence::Values));
    }
    for f in ["get_work_dim", "get_global_linear_id", "get_local_linear_id"] {
        forms.push(plain("Work-item functions", f, "", "", format!("((global size_t *)w)[i] = {f}();"), Evidence::Values));
    }
    for (f, body) in [
        ("printf", "printf(\"%d %v4f %s\\n\", (int)i, ((global const float4 *)d)[0], \"text\");"),
        (
            "generic address space",
            "float *p = (float *)(global float *)w; float *q = (float *)(local float *)l; *(i & 1 ? p : q) = 1;",
        ),
        ("to_global", "int *p = (int *)(global int *)w; global int *q = to_global(p); if (q) *q = 1;"),
        ("to_local", "int *p = (int *)(local int *)l; local int *q = to_local(p); if (q) *q = 1;"),
        (
            "to_private",
            "int v, *p = i & 1 ? &v : (int *)(local int *)l; private int *q = to_private(p); ((global int *)w)[i] = q != 0;",
        ),
        ("get_fence", "int *p = (int *)(global int *)w; ((global int *)w)[i] = get_fence(p);"),
    ] {
        forms.push(plain("Miscellaneous", f, "", "", body.into(), Evidence::Values));
    }
    types(forms);
}

/// `vec_step` and `as_type`, for all types; a form of `as_type` goes through all types of the same size.
fn types(forms: &mut Vec<Form>) {
    let all: Vec<(&str, usize)> = [
        (1, &["char", "uchar"][..]),
        (2, &["short", "ushort", "half"]),
        (4, &["int", "uint", "float"]),
        (8, &["long", "ulong", "double"]),
    ]
    .iter()
    .flat_map(|(size, types)| types.iter().map(|t| (*t, *size)))
    .collect();
    let room = |n: usize| if n == 3 { 4 } else { n };
    for (from, size) in &all {
        for n in WIDTHS {
            let a = vector(from, n);
            let step = format!("{a} a; if (vec_step(a) != {0} || vec_step({a}) != {0}) atomic_inc(bad);", room(n));
            forms.push(plain("Miscellaneous", "vec_step", from, &n.to_string(), step, Evidence::Checked));
            let mut body = format!("{a} a = ((global const {a} *)d)[i]; uchar *p = (uchar *)&a; ");
            for (to, other) in &all {
                // Of three components only to three, and four of the same size to three.
                let same = |m: &usize| size * room(n) == other * room(*m) && ((n == 3) == (*m == 3) || (n == 4 && size == other));
                for m in WIDTHS.into_iter().filter(same) {
                    let bytes = (size * n).min(other * m);
                    body += &format!(
                        "{{ {r} r = as_{r}(a); uchar *q = (uchar *)&r; for (int k = 0; k < {bytes}; k++) if (p[k] != q[k]) atomic_inc(bad); }} ",
                        r = vector(to, m)
                    );
                }
            }
            forms.push(plain("Miscellaneous", "as_type", from, &n.to_string(), body, Evidence::Checked));
        }
    }
}

/// All forms.
pub fn all() -> Vec<Form> {
    let mut forms = Vec::new();
    math(&mut forms);
    integers::integer(&mut forms);
    common(&mut forms);
    memory(&mut forms);
    together(&mut forms);
    forms
}
